-- What tools of PostgreSQL send when they connect and look around; one statement a paragraph. Each must be answered.

-- grafana

SELECT
        CASE WHEN
              quote_ident(table_schema) IN (
              SELECT
                CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
              FROM
                generate_series(
                  array_lower(string_to_array(current_setting('search_path'),','),1),
                  array_upper(string_to_array(current_setting('search_path'),','),1)
                ) as i,
                string_to_array(current_setting('search_path'),',') s
              )
          THEN quote_ident(table_name)
          ELSE quote_ident(table_schema) || '.' || quote_ident(table_name)
        END AS "table"
        FROM information_schema.tables
        WHERE quote_ident(table_schema) NOT IN ('information_schema',
                                 'pg_catalog',
                                 '_timescaledb_cache',
                                 '_timescaledb_catalog',
                                 '_timescaledb_internal',
                                 '_timescaledb_config',
                                 'timescaledb_information',
                                 'timescaledb_experimental')
        ORDER BY CASE WHEN
              quote_ident(table_schema) IN (
              SELECT
                CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
              FROM
                generate_series(
                  array_lower(string_to_array(current_setting('search_path'),','),1),
                  array_upper(string_to_array(current_setting('search_path'),','),1)
                ) as i,
                string_to_array(current_setting('search_path'),',') s
              ) THEN 0 ELSE 1 END, 1;

SELECT quote_ident(column_name) AS "column", data_type AS "type"
        FROM information_schema.columns
        WHERE
          CASE WHEN array_length(parse_ident('public.games'),1) = 2
            THEN quote_ident(table_schema) = (parse_ident('public.games'))[1]
              AND quote_ident(table_name) = (parse_ident('public.games'))[2]
            ELSE quote_ident(table_name) = 'public.games'
              AND
              quote_ident(table_schema) IN (
              SELECT
                CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
              FROM
                generate_series(
                  array_lower(string_to_array(current_setting('search_path'),','),1),
                  array_upper(string_to_array(current_setting('search_path'),','),1)
                ) as i,
                string_to_array(current_setting('search_path'),',') s
              )
          END;

-- dbeaver

SET extra_float_digits = 3;

SET application_name = 'PostgreSQL JDBC Driver';

SET application_name = 'DBeaver 25.1.5 - Main <postgres>';

SELECT current_schema(),session_user;

SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass ORDER BY nspname;

SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = 1034;

SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid   FROM pg_catalog.pg_type   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  WHERE pg_type.oid = 1034  ORDER BY sp.r, pg_type.oid DESC;

SHOW search_path;

SELECT db.oid,db.* FROM pg_catalog.pg_database db WHERE datname='postgres';

SELECT * FROM pg_catalog.pg_settings where name='standard_conforming_strings';

SELECT string_agg(word, ',' ) from pg_catalog.pg_get_keywords() where word <> ALL ('{a,abs,absolute,action,ada,add,admin,after,all,allocate,alter,aIways,and,any,are,array,as,asc,asenstitive,assertion,assignment,asymmetric,at,atomic,attribute,attributes,authorization,avg,before,begin,bernoulli,between,bigint,binary,blob,boolean,both,breaadth,by,c,call,called,cardinaliity,cascade,cascaded,case,cast,catalog,catalog_name,ceil,ceiling,chain,char,char_length,character,character_length,character_set_catalog,character_set_name,character_set_schema,characteristics,characters,check,checkeed,class_origin,clob,close,coalesce,coboI,code_units,collate,collation,collaition_catalog,collaition_name,collaition_schema,collect,colum,column_name,command_function,command_function_code,commit,committed,condiition,condiition_number,connect,connection_name,constraint,constraint_catalog,constraint_name,constraint_schema,constraints,constructors,contains,continue,convert,corr,correspondiing,count,covar_pop,covar_samp,create,cross,cube,cume_dist,current,current_collation,current_date,current_default_transfom_group,current_path,current_role,current_time,current_timestamp,current_transfom_group_for_type,current_user,cursor,cursor_name,cycle,data,date,datetime_interval_code,datetime_interval_precision,day,deallocate,dec,decimaI,declare,default,defaults,not,null,nullable,nullif,nulls,number,numeric,object,octeet_length,octets,of,old,on,only,open,option,options,or,order,ordering,ordinaliity,others,out,outer,output,over,overlaps,overlay,overriding,pad,parameter,parameter_mode,parameter_name,parameter_ordinal_position,parameter_speciific_catalog,parameter_speciific_name,parameter_speciific_schema,partiaI,partitioon,pascal,path,percent_rank,percentile_cont,percentile_disc,placing,pli,position,power,preceding,precision,prepare,preseerv,primary,prior,privileges,procedure,public,range,rank,read,reads,real,recursivve,ref,references,referencing,regr_avgx,regr_avgy,regr_count,regr_intercept,regr_r2,regr_slope,regr_sxx,regr_sxy,regr_sy y,relative,release,repeatable,restart,result,retun,returned_cardinality,returned_length,returned_octeet_length,returned_sqlstate,returns,revoe,right,role,rollback,rollup,routine,routine_catalog,routine_name,routine_schema,row,row_count,row_number,rows,savepoint,scale,schema,schema_name,scope_catalog,scope_name,scope_schema,scroll,search,second,section,security,select,self,sensitive,sequence,seriializeable,server_name,session,session_user,set,sets,similar,simple,size,smalIint,some,source,space,specifiic,speciific_name,speciifictype,sql,sqlexception,sqlstate,sqlwarning,sqrt,start,state,statement,static,stddev_pop,stddev_samp,structure,style,subclass_origin,submultiset,substring,sum,symmetric,system,system_user,table,table_name,tablesample,temporary,then,ties,time,timesamp,timezone_hour,timezone_minute,to,top_level_count,trailing,transaction,transaction_active,transactions_committed,transactions_rolled_back,transfor,transforms,translate,translation,treat,trigger,trigger_catalog,trigger_name,trigger_schema,trim,true,type,unbounde,undefined,uncommitted,under,union,unique,unknown,unnaamed,unnest,update,upper,usage,user,user_defined_type_catalog,user_defined_type_code,user_defined_type_name,user_defined_type_schema,using,value,values,var_pop,var_samp,varchar,varying,view,when,whenever,where,width_bucket,window,with,within,without,work,write,year,zone}'::text[]);

SELECT version();

SELECT * FROM pg_catalog.pg_enum WHERE 1<>1 LIMIT 1;

SELECT reltype FROM pg_catalog.pg_class WHERE 1<>1 LIMIT 1;

SELECT t.oid,t.*,c.relkind,format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid=t.typelem LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid=t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid=d.objoid WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C');

SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,  pg_catalog.pg_get_partkeydef(c.oid) as partition_key
    FROM pg_catalog.pg_class c
    LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass
    WHERE c.relnamespace=11 AND c.relkind not in ('i','I','c');

select c.oid,pg_catalog.pg_total_relation_size(c.oid) as total_rel_size,pg_catalog.pg_relation_size(c.oid) as rel_size
     FROM pg_class c
     WHERE c.relnamespace='public';

SELECT i.*,i.indkey as keys,c.relname,c.relnamespace,c.relam,c.reltablespace,tc.relname as tabrelname,dsc.description,pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr,pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) as expr,pg_catalog.pg_relation_size(i.indexrelid) as index_rel_size,pg_catalog.pg_stat_get_numscans(i.indexrelid) as index_num_scans FROM pg_catalog.pg_index i
    INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid
    INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid
    LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid
    WHERE  i.indrelid=1 ORDER BY tabrelname, c.relname;

SELECT c.oid,c.*,t.relname as tabrelname,rt.relnamespace as refnamespace,d.description, case when c.contype='c' then "substring"(pg_get_constraintdef(c.oid), 7) else null end consrc_copy
    FROM pg_catalog.pg_constraint c
    INNER JOIN pg_catalog.pg_class t ON t.oid=c.conrelid
    LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid=c.confrelid
    LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_constraint'::regclass
    WHERE c.conrelid=1
    ORDER BY c.oid;

-- metabase

SET extra_float_digits = 2;

SET application_name = 'Metabase v0.55.1 [f8f63fdf-d8f8-4573-86ea-4fe4a9548041]';

SHOW TRANSACTION ISOLATION LEVEL;

SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;

SELECT nspname AS "TABLE_SCHEM", current_database() AS "TABLE_CATALOG" FROM pg_catalog.pg_namespace  WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_'  OR nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~ '^pg_toast_temp_'  OR nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_'))  ORDER BY "TABLE_SCHEM";

with table_privileges as (
         select
           NULL as role,
           t.schemaname as schema,
           t.objectname as table,
           pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',  'update') as update,
           pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',  'select') as select,
           pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',  'insert') as insert,
           pg_catalog.has_table_privilege(     current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',  'delete') as delete
         from (
           select schemaname, tablename as objectname from pg_catalog.pg_tables
           union
           select schemaname, viewname as objectname from pg_catalog.pg_views
           union
           select schemaname, matviewname as objectname from pg_catalog.pg_matviews
         ) t
         where t.schemaname !~ '^pg_'
           and t.schemaname <> 'information_schema'
           and pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage')
        )
        select t.*
        from table_privileges t;

SELECT "n"."nspname" AS "schema", "c"."relname" AS "name", CASE "c"."relkind" WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS "type", "d"."description" AS "description", "stat"."n_live_tup" AS "estimated_row_count" FROM "pg_catalog"."pg_class" AS "c" INNER JOIN "pg_catalog"."pg_namespace" AS "n" ON "c"."relnamespace" = "n"."oid" LEFT JOIN "pg_catalog"."pg_description" AS "d" ON ("c"."oid" = "d"."objoid") AND ("d"."objsubid" = '0') AND ("d"."classoid" = 'pg_class'::regclass) LEFT JOIN "pg_stat_user_tables" AS "stat" ON ("n"."nspname" = "stat"."schemaname") AND ("c"."relname" = "stat"."relname") WHERE ("c"."relnamespace" = "n"."oid") AND ("n"."nspname" !~ '^pg_') AND ("n"."nspname" <> 'information_schema') AND c.relkind in ('r', 'p', 'v', 'f', 'm') AND ("n"."nspname" IN ('public')) ORDER BY "type" ASC, "schema" ASC, "name" ASC;

SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;

SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;

show timezone;

-- pgcli

SELECT 1;

show time zone;

set time zone "Asia/Shanghai";

SELECT * FROM unnest(current_schemas(true));

SELECT  nspname
                FROM    pg_catalog.pg_namespace
                ORDER BY 1;

SELECT  n.nspname schema_name,
                        c.relname table_name
                FROM    pg_catalog.pg_class c
                        LEFT JOIN pg_catalog.pg_namespace n
                            ON n.oid = c.relnamespace
                WHERE   c.relkind = ANY('{r,p,f}')
                ORDER BY 1,2;

SELECT  nsp.nspname schema_name,
                                cls.relname table_name,
                                att.attname column_name,
                                att.atttypid::regtype::text type_name,
                                att.atthasdef AS has_default,
                                pg_catalog.pg_get_expr(def.adbin, def.adrelid, true) as default
                        FROM    pg_catalog.pg_attribute att
                                INNER JOIN pg_catalog.pg_class cls
                                    ON att.attrelid = cls.oid
                                INNER JOIN pg_catalog.pg_namespace nsp
                                    ON cls.relnamespace = nsp.oid
                                LEFT OUTER JOIN pg_attrdef def
                                    ON def.adrelid = att.attrelid
                                    AND def.adnum = att.attnum
                        WHERE   cls.relkind = ANY('{r,p,f}')
                                AND NOT att.attisdropped
                                AND att.attnum  > 0
                        ORDER BY 1, 2, att.attnum;

SELECT s_p.nspname AS parentschema,
                               t_p.relname AS parenttable,
                               unnest((
                                select
                                    array_agg(attname ORDER BY i)
                                from
                                    (select unnest(confkey) as attnum, generate_subscripts(confkey, 1) as i) x
                                    JOIN pg_catalog.pg_attribute c USING(attnum)
                                    WHERE c.attrelid = fk.confrelid
                                )) AS parentcolumn,
                               s_c.nspname AS childschema,
                               t_c.relname AS childtable,
                               unnest((
                                select
                                    array_agg(attname ORDER BY i)
                                from
                                    (select unnest(conkey) as attnum, generate_subscripts(conkey, 1) as i) x
                                    JOIN pg_catalog.pg_attribute c USING(attnum)
                                    WHERE c.attrelid = fk.conrelid
                                )) AS childcolumn
                        FROM pg_catalog.pg_constraint fk
                        JOIN pg_catalog.pg_class      t_p ON t_p.oid = fk.confrelid
                        JOIN pg_catalog.pg_namespace  s_p ON s_p.oid = t_p.relnamespace
                        JOIN pg_catalog.pg_class      t_c ON t_c.oid = fk.conrelid
                        JOIN pg_catalog.pg_namespace  s_c ON s_c.oid = t_c.relnamespace
                        WHERE fk.contype = 'f';

SELECT  n.nspname schema_name,
                        c.relname table_name
                FROM    pg_catalog.pg_class c
                        LEFT JOIN pg_catalog.pg_namespace n
                            ON n.oid = c.relnamespace
                WHERE   c.relkind = ANY('{v,m}')
                ORDER BY 1,2;

SELECT  nsp.nspname schema_name,
                                cls.relname table_name,
                                att.attname column_name,
                                att.atttypid::regtype::text type_name,
                                att.atthasdef AS has_default,
                                pg_catalog.pg_get_expr(def.adbin, def.adrelid, true) as default
                        FROM    pg_catalog.pg_attribute att
                                INNER JOIN pg_catalog.pg_class cls
                                    ON att.attrelid = cls.oid
                                INNER JOIN pg_catalog.pg_namespace nsp
                                    ON cls.relnamespace = nsp.oid
                                LEFT OUTER JOIN pg_attrdef def
                                    ON def.adrelid = att.attrelid
                                    AND def.adnum = att.attnum
                        WHERE   cls.relkind = ANY('{v,m}')
                                AND NOT att.attisdropped
                                AND att.attnum  > 0
                        ORDER BY 1, 2, att.attnum;

SELECT n.nspname schema_name,
                                   t.typname type_name
                            FROM   pg_catalog.pg_type t
                                   INNER JOIN pg_catalog.pg_namespace n
                                      ON n.oid = t.typnamespace
                            WHERE ( t.typrelid = 0  -- non-composite types
                                    OR (  -- composite type, but not a table
                                          SELECT c.relkind = 'c'
                                          FROM pg_catalog.pg_class c
                                          WHERE c.oid = t.typrelid
                                        )
                                  )
                                  AND NOT EXISTS( -- ignore array types
                                        SELECT  1
                                        FROM    pg_catalog.pg_type el
                                        WHERE   el.oid = t.typelem AND el.typarray = t.oid
                                      )
                                  AND n.nspname <> 'pg_catalog'
                                  AND n.nspname <> 'information_schema'
                            ORDER BY 1, 2;

SELECT d.datname
                FROM pg_catalog.pg_database d
                ORDER BY 1;

SELECT n.nspname schema_name,
                                p.proname func_name,
                                p.proargnames,
                                COALESCE(proallargtypes::regtype[], proargtypes::regtype[])::text[],
                                p.proargmodes,
                                prorettype::regtype::text return_type,
                                p.prokind = 'a' is_aggregate,
                                p.prokind = 'w' is_window,
                                p.proretset is_set_returning,
                                d.deptype = 'e' is_extension,
                                pg_get_expr(proargdefaults, 0) AS arg_defaults
                        FROM pg_catalog.pg_proc p
                                INNER JOIN pg_catalog.pg_namespace n
                                    ON n.oid = p.pronamespace
                        LEFT JOIN pg_depend d ON d.objid = p.oid and d.deptype = 'e'
                        WHERE p.prorettype::regtype != 'trigger'::regtype
                        ORDER BY 1, 2;

-- pgadmin

SELECT version();

SELECT CASE
        WHEN (SELECT count(extname) FROM pg_catalog.pg_extension WHERE extname='bdr') > 0
        THEN 'pgd'
        WHEN (SELECT COUNT(*) FROM pg_replication_slots) > 0
        THEN 'log'
        ELSE NULL
    END as type;

-- pgadbc

SELECT attname, atttypid FROM pg_catalog.pg_class AS cls INNER JOIN pg_catalog.pg_attribute AS attr ON cls.oid = attr.attrelid INNER JOIN pg_catalog.pg_type AS typ ON attr.atttypid = typ.oid WHERE attr.attnum >= 0 AND cls.oid = 'clubs'::regclass::oid ORDER BY attr.attnum;
