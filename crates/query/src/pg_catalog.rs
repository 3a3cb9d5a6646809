//! The catalog as PostgreSQL clients ask for it: `pg_catalog`, `information_schema`, and the functions only PostgreSQL has.
//!
//! What no installation changes (types, operators, functions) comes from `datafusion-pg-catalog`, and so do the rules that
//! rewrite what DataFusion cannot plan. Schemas, tables and columns are those of the session's catalog.
//!
//! Invariants:
//! - A client sees the tables of its database alone; `pg_database` lists all databases.
//! - A table has the same oid as long as the process lives.

mod constants;
mod information_schema;
mod rewrites;

use crate::catalog::{Catalog, DEFAULT_SCHEMA};
use crate::error::{self, Error};
use crate::names::{Headings, Spelling, Text, syntax};
use crate::prepared::Planned;
use crate::provider::{QueryCatalog, own_case};
use crate::session::{ANY_CATALOG, NewState, check_is_legal};
use arrow::array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    new_null_array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use data::Type;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, MemTable, SchemaProvider, TableProvider};
use datafusion::common::DataFusionError;
use datafusion::execution::FunctionRegistry;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::setup_pg_catalog;
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

const PG_CATALOG: &str = "pg_catalog";
const INFORMATION_SCHEMA: &str = "information_schema";

/// Schemas and their oids. `orca_table` has the one of PostgreSQL's `public`, whose place it takes.
const NAMESPACES: &[(&str, i32)] =
    &[(PG_CATALOG, 11), (DEFAULT_SCHEMA, 2200), ("orca_sys", 2201), (INFORMATION_SCHEMA, 13_000)];

/// Tables of `pg_catalog` whose oids other tables of it name.
const KNOWN: &[(&str, i32)] = &[
    ("pg_attribute", 1249),
    ("pg_class", 1259),
    ("pg_constraint", 2606),
    ("pg_database", 1262),
    ("pg_description", 2609),
    ("pg_namespace", 2615),
    ("pg_proc", 1255),
    ("pg_type", 1247),
];

/// Oids of tables of the system begin here, those of public tables at [`USER_OID`].
const SYSTEM_OID: i32 = 12_000;

/// As in PostgreSQL, where oids below belong to the system.
const USER_OID: i32 = 16_384;

/// The oid of the one role.
const OWNER: i32 = 10;

/// How PostgreSQL describes a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PgType {
    /// Its oid.
    pub oid: u32,
    /// The oid of arrays of it; 0 if it is an array.
    pub array_oid: u32,
    /// Bytes of a value, -1 if they differ.
    pub bytes: i16,
    /// Its name in `pg_type`.
    pub name: &'static str,
    /// Its name in SQL.
    pub sql_name: &'static str,
}

impl PgType {
    /// The type in which PostgreSQL clients get values of a type of the language.
    pub fn of(ty: Type) -> PgType {
        let plain = |oid, array_oid, bytes, name, sql_name| PgType { oid, array_oid, bytes, name, sql_name };
        match ty {
            Type::Bool => plain(16, 1000, 1, "bool", "boolean"),
            Type::Char | Type::Short => plain(21, 1005, 2, "int2", "smallint"),
            Type::Int => plain(23, 1007, 4, "int4", "integer"),
            Type::Long => plain(20, 1016, 8, "int8", "bigint"),
            Type::Float => plain(700, 1021, 4, "float4", "real"),
            Type::Double => plain(701, 1022, 8, "float8", "double precision"),
            Type::Date | Type::Month => plain(1082, 1182, 4, "date", "date"),
            Type::Time | Type::Minute | Type::Second | Type::Nanotime => {
                plain(1083, 1183, 8, "time", "time without time zone")
            }
            Type::Datehour | Type::Datetime | Type::Timestamp | Type::Nanotimestamp => {
                plain(1114, 1115, 8, "timestamp", "timestamp without time zone")
            }
            Type::Symbol | Type::String | Type::Void => plain(25, 1009, -1, "text", "text"),
            // PostgreSQL's own types of these names are written otherwise.
            Type::Ipaddr | Type::Int128 | Type::Complex | Type::Point => plain(25, 1009, -1, "text", "text"),
            Type::Blob => plain(17, 1001, -1, "bytea", "bytea"),
            Type::Uuid => plain(2950, 2951, 16, "uuid", "uuid"),
            Type::Decimal32(_) | Type::Decimal64(_) | Type::Decimal128(_) => {
                plain(1700, 1231, -1, "numeric", "numeric")
            }
            Type::Array(element) => {
                let element = PgType::of(*element);
                let name = match element.name {
                    "bool" => "_bool",
                    "int2" => "_int2",
                    "int4" => "_int4",
                    "int8" => "_int8",
                    "float4" => "_float4",
                    "float8" => "_float8",
                    "date" => "_date",
                    "time" => "_time",
                    "timestamp" => "_timestamp",
                    "uuid" => "_uuid",
                    _ => "_text",
                };
                plain(element.array_oid, 0, -1, name, "ARRAY")
            }
        }
    }

    /// What `atttypmod` says: precision and scale of a decimal, else -1.
    pub fn modifier(ty: Type) -> i32 {
        let of = |precision: i32, scale: u8| ((precision << 16) | scale as i32) + 4;
        match ty {
            Type::Decimal32(scale) => of(9, scale),
            Type::Decimal64(scale) => of(18, scale),
            Type::Decimal128(scale) => of(38, scale),
            _ => -1,
        }
    }
}

/// Reads a text by the rules that rewrite it.
type Parse = Box<dyn Fn(&str) -> Result<Vec<Statement>, ParserError> + Send + Sync>;

/// What is the same for every client and made once.
pub(crate) struct PgCatalog {
    parse: Parse,
    new_state: NewState,
    fixed: Arc<dyn SchemaProvider>,
    oids: Mutex<BTreeMap<[String; 2], i32>>,
}

impl PgCatalog {
    pub(crate) fn new() -> error::Result<PgCatalog> {
        let inside = |reason: String| Error::Internal { reason };
        let mut config = SessionConfig::new().with_information_schema(false).with_target_partitions(1);
        config.options_mut().sql_parser.map_string_types_to_utf8view = false;
        let context = SessionContext::new_with_config(config);
        let catalog = context.state().config_options().catalog.default_catalog.clone();
        setup_pg_catalog(&context, &catalog, EmptyContextProvider).map_err(|error| inside(error.to_string()))?;
        let fixed = context.catalog(&catalog).and_then(|catalog| catalog.schema(PG_CATALOG));
        let fixed = fixed.ok_or_else(|| inside("no pg_catalog".into()))?;
        let (parser, base) = (PostgresCompatibilityParser::new(), context.state());
        Ok(PgCatalog {
            parse: Box::new(move |text| parser.parse(text)),
            new_state: Box::new(move || base.clone()),
            fixed,
            oids: Mutex::default(),
        })
    }

    /// How a statement runs for a client of this database and user.
    pub(crate) async fn plan(
        self: &Arc<PgCatalog>,
        tables: &Arc<dyn Catalog>,
        database: &str,
        user: &str,
        sql: &str,
    ) -> error::Result<Planned> {
        let text = Text::read(sql)?;
        let mut statements = (self.parse)(&rewrites::text(sql)).map_err(|error| syntax(&error))?;
        let mut statement = match (statements.pop(), statements.is_empty()) {
            (Some(statement), true) => statement,
            _ => return Err(Error::Invalid { reason: "one query is wanted".into(), place: None }),
        };
        check_is_legal(&statement)?;
        rewrites::statement(&mut statement);
        // As it was written, if it can be read without the rules.
        let headings = Headings::of_postgres(text.parse().as_ref().unwrap_or(&statement));
        let client = Client {
            catalog: self.clone(),
            tables: tables.clone(),
            database: own_case(tables.catalogs(), database).unwrap_or_else(|| database.to_string()),
            user: user.to_string(),
        };
        let database = client.database.clone();
        let mut state = (self.new_state)();
        state.mark_start_execution();
        let names = tables.schemas(&database).iter().flat_map(|schema| tables.tables(&database, schema)).collect();
        for function in constants::functions(&database, user, names) {
            state.register_udf(Arc::new(function)).map_err(|error| Error::of(&error, |_| None))?;
        }
        state.register_catalog_list(Arc::new(Databases(client)));
        let options = &mut state.config_mut().options_mut().catalog;
        options.default_catalog = database;
        options.default_schema = DEFAULT_SCHEMA.to_string();
        let plan = state.statement_to_plan(Parsed::Statement(Box::new(statement))).await;
        let plan = plan.map_err(|error| Error::of(&error, |name| text.place(name)))?;
        Ok(Planned { text: Arc::new(text), headings, state, plan, insert: None, target: None })
    }

    fn oid(&self, database: &str, table: &str) -> i32 {
        let mut oids = self.oids.lock();
        let next = USER_OID + oids.len() as i32;
        *oids.entry([database.to_string(), table.to_string()]).or_insert(next)
    }
}

/// The catalog as one client sees it.
#[derive(Clone)]
struct Client {
    catalog: Arc<PgCatalog>,
    tables: Arc<dyn Catalog>,
    database: String,
    user: String,
}

/// A table of the client's database.
struct Relation {
    oid: i32,
    namespace: i32,
    schema_name: String,
    name: String,
    columns: Arc<data::Schema>,
}

impl Client {
    fn relations(&self) -> Vec<Relation> {
        let mut relations = vec![];
        for schema in self.tables.schemas(&self.database) {
            let namespace = NAMESPACES.iter().find(|(name, _)| *name == schema).map_or(0, |(_, oid)| *oid);
            for (place, name) in self.tables.tables(&self.database, &schema).into_iter().enumerate() {
                let Some(table) = self.tables.table(&self.database, &schema, &name) else { continue };
                let oid = match schema == DEFAULT_SCHEMA {
                    true => self.catalog.oid(&self.database, &name),
                    false => SYSTEM_OID + place as i32,
                };
                let (schema_name, columns) = (schema.clone(), table.schema());
                relations.push(Relation { oid, namespace, schema_name, name, columns });
            }
        }
        relations
    }

    async fn pg_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let name = name.to_lowercase();
        if name == "pg_roles" || name == "pg_user" {
            return self.roles(&name).map(Some);
        }
        let Some(fixed) = self.catalog.fixed.table(&name).await? else { return Ok(None) };
        let schema = fixed.schema();
        let batch = match name.as_str() {
            "pg_class" => self.pg_class(with_texts(&schema, &["reloptions", "relacl"])),
            // There are none; clients take their arrays apart.
            "pg_index" => {
                Ok(RecordBatch::new_empty(with_lists(&schema, &["indkey", "indcollation", "indclass", "indoption"])))
            }
            "pg_constraint" => {
                Ok(RecordBatch::new_empty(with_lists(&schema, &["conkey", "confkey", "confdelsetcols"])))
            }
            "pg_attribute" => self.pg_attribute(schema),
            "pg_namespace" => {
                let names = texts(NAMESPACES.iter().map(|(name, _)| *name));
                let oids = ints(NAMESPACES.iter().map(|(_, oid)| *oid));
                filled(
                    schema,
                    NAMESPACES.len(),
                    &[("oid", oids), ("nspname", names), ("nspowner", ints(vec![OWNER; NAMESPACES.len()]))],
                )
            }
            "pg_database" => {
                let mut names = self.tables.catalogs();
                // Clients look for the database they named: also the one that stands for the only catalog there is.
                for name in [&self.database, ANY_CATALOG] {
                    if !names.iter().any(|known| known == name) {
                        names.push(name.to_string());
                    }
                }
                let count = names.len();
                filled(
                    schema,
                    count,
                    &[
                        ("oid", ints((0..count).map(|place| 1 + place as i32))),
                        ("datname", texts(&names)),
                        ("datdba", ints(vec![OWNER; count])),
                        ("encoding", ints(vec![6; count])),
                        ("datlocprovider", texts(vec!["c"; count])),
                        ("datcollate", texts(vec!["C.UTF-8"; count])),
                        ("datctype", texts(vec!["C.UTF-8"; count])),
                        ("datallowconn", Arc::new(BooleanArray::from(vec![true; count]))),
                        ("datconnlimit", ints(vec![-1; count])),
                    ],
                )
            }
            "pg_tables" => {
                let relations = self.relations();
                filled(
                    schema,
                    relations.len(),
                    &[
                        ("schemaname", texts(relations.iter().map(|relation| &relation.schema_name))),
                        ("tablename", texts(relations.iter().map(|relation| &relation.name))),
                        ("tableowner", texts(vec![&self.user; relations.len()])),
                    ],
                )
            }
            _ => return Ok(Some(fixed)),
        };
        batch.and_then(in_memory).map(Some)
    }

    fn pg_class(&self, schema: SchemaRef) -> Result<RecordBatch, DataFusionError> {
        let relations = self.relations();
        let (known, count) = (KNOWN.len(), relations.len() + KNOWN.len());
        let of_all = |of: fn(&Relation) -> i32, known: fn(&(&str, i32)) -> i32| {
            ints(relations.iter().map(of).chain(KNOWN.iter().map(known)))
        };
        let names = relations.iter().map(|relation| relation.name.as_str()).chain(KNOWN.iter().map(|(name, _)| *name));
        let columns = relations.iter().map(|relation| relation.columns.len() as i16);
        filled(
            schema,
            count,
            &[
                ("oid", of_all(|relation| relation.oid, |known| known.1)),
                ("relname", texts(names)),
                ("relnamespace", of_all(|relation| relation.namespace, |_| 11)),
                ("relowner", ints(vec![OWNER; count])),
                ("relfilenode", of_all(|relation| relation.oid, |known| known.1)),
                ("relnatts", Arc::new(Int16Array::from_iter_values(columns.chain(vec![0; known])))),
                ("relkind", texts(vec!["r"; count])),
                ("relpersistence", texts(vec!["p"; count])),
                ("relispopulated", Arc::new(BooleanArray::from(vec![true; count]))),
                ("relreplident", texts(vec!["d"; count])),
            ],
        )
    }

    fn pg_attribute(&self, schema: SchemaRef) -> Result<RecordBatch, DataFusionError> {
        let relations = self.relations();
        let columns: Vec<(i32, usize, &data::Field)> = relations
            .iter()
            .flat_map(|relation| {
                let fields = relation.columns.fields().iter().enumerate();
                fields.map(|(place, field)| (relation.oid, place, field))
            })
            .collect();
        let types: Vec<PgType> = columns.iter().map(|(_, _, field)| PgType::of(field.ty)).collect();
        let count = columns.len();
        filled(
            schema,
            count,
            &[
                ("attrelid", ints(columns.iter().map(|(oid, ..)| *oid))),
                ("attname", texts(columns.iter().map(|(.., field)| &*field.name))),
                ("atttypid", ints(types.iter().map(|ty| ty.oid as i32))),
                ("attstattarget", ints(vec![-1; count])),
                ("attlen", Arc::new(Int16Array::from_iter_values(types.iter().map(|ty| ty.bytes)))),
                (
                    "attnum",
                    Arc::new(Int16Array::from_iter_values(columns.iter().map(|(_, place, _)| *place as i16 + 1))),
                ),
                ("attcacheoff", ints(vec![-1; count])),
                ("atttypmod", ints(columns.iter().map(|(.., field)| PgType::modifier(field.ty)))),
                ("attndims", ints(columns.iter().map(|(.., field)| field.ty.element().is_some() as i32))),
                ("attalign", texts(vec!["i"; count])),
                ("attstorage", texts(vec!["p"; count])),
                ("attislocal", Arc::new(BooleanArray::from(vec![true; count]))),
            ],
        )
    }

    fn roles(&self, table: &str) -> Result<Arc<dyn TableProvider>, DataFusionError> {
        let field = |name: &str, ty: DataType| Field::new(name, ty, true);
        let (text, truth, whole) = (DataType::Utf8, DataType::Boolean, DataType::Int32);
        let yes: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
        let batch = match table {
            "pg_user" => filled(
                Arc::new(Schema::new(vec![
                    field("usename", text.clone()),
                    field("usesysid", whole),
                    field("usecreatedb", truth.clone()),
                    field("usesuper", truth.clone()),
                    field("userepl", truth.clone()),
                    field("usebypassrls", truth),
                    field("passwd", text.clone()),
                    field("valuntil", text.clone()),
                    field("useconfig", text),
                ])),
                1,
                &[("usename", texts([&self.user])), ("usesysid", ints([OWNER])), ("usesuper", yes)],
            ),
            _ => filled(
                Arc::new(Schema::new(vec![
                    field("rolname", text.clone()),
                    field("rolsuper", truth.clone()),
                    field("rolinherit", truth.clone()),
                    field("rolcreaterole", truth.clone()),
                    field("rolcreatedb", truth.clone()),
                    field("rolcanlogin", truth.clone()),
                    field("rolreplication", truth.clone()),
                    field("rolconnlimit", whole.clone()),
                    field("rolpassword", text.clone()),
                    field("rolvaliduntil", text.clone()),
                    field("rolbypassrls", truth),
                    field("rolconfig", text),
                    field("oid", whole),
                ])),
                1,
                &[
                    ("rolname", texts([&self.user])),
                    ("rolsuper", yes.clone()),
                    ("rolinherit", yes.clone()),
                    ("rolcanlogin", yes),
                    ("rolconnlimit", ints([-1])),
                    ("oid", ints([OWNER])),
                ],
            ),
        };
        in_memory(batch?)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("database", &self.database).finish_non_exhaustive()
    }
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn texts(values: impl IntoIterator<Item = impl AsRef<str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// The columns and these, which hold nothing.
fn with_texts(schema: &Schema, names: &[&str]) -> SchemaRef {
    let more = names.iter().map(|name| Arc::new(Field::new(*name, DataType::Utf8, true)));
    Arc::new(Schema::new(schema.fields().iter().cloned().chain(more).collect::<Vec<_>>()))
}

/// The columns, those of these names as arrays of numbers.
fn with_lists(schema: &Schema, names: &[&str]) -> SchemaRef {
    let list = DataType::List(Arc::new(Field::new("item", DataType::Int16, true)));
    let fields = schema.fields().iter().map(|field| match names.contains(&field.name().as_str()) {
        true => Arc::new(Field::new(field.name(), list.clone(), true)),
        false => field.clone(),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Rows of these columns; those that are not given are NULL, or nothing (0, false, an empty text) where NULL is not
/// allowed.
fn filled(schema: SchemaRef, rows: usize, given: &[(&str, ArrayRef)]) -> Result<RecordBatch, DataFusionError> {
    let column = |field: &Arc<Field>| -> ArrayRef {
        if let Some((_, array)) = given.iter().find(|(name, _)| name == field.name()) {
            return array.clone();
        }
        match field.data_type() {
            DataType::Boolean => Arc::new(BooleanArray::from(vec![false; rows])),
            DataType::Int16 => Arc::new(Int16Array::from(vec![0; rows])),
            DataType::Int32 => Arc::new(Int32Array::from(vec![0; rows])),
            DataType::Int64 => Arc::new(Int64Array::from(vec![0; rows])),
            DataType::Float32 => Arc::new(Float32Array::from(vec![0.0; rows])),
            DataType::Float64 => Arc::new(Float64Array::from(vec![0.0; rows])),
            DataType::Utf8 if !field.is_nullable() => texts(vec![""; rows]),
            other => new_null_array(other, rows),
        }
    };
    let columns = schema.fields().iter().map(column).collect();
    Ok(RecordBatch::try_new(schema, columns)?)
}

fn in_memory(batch: RecordBatch) -> Result<Arc<dyn TableProvider>, DataFusionError> {
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}

/// All databases; a query may name another one's tables.
#[derive(Debug)]
struct Databases(Client);

impl CatalogProviderList for Databases {
    fn register_catalog(&self, _: String, _: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        self.0.tables.catalogs()
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        // The client's database is there even if it has no tables yet.
        let name = match own_case(self.0.tables.catalogs(), name) {
            Some(name) => name,
            None if name == self.0.database => name.to_string(),
            None => return None,
        };
        Some(Arc::new(Database(Client { database: name, ..self.0.clone() })))
    }
}

#[derive(Debug)]
struct Database(Client);

impl CatalogProvider for Database {
    fn schema_names(&self) -> Vec<String> {
        NAMESPACES.iter().map(|(name, _)| name.to_string()).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        match name.to_lowercase().as_str() {
            PG_CATALOG | INFORMATION_SCHEMA => {
                Some(Arc::new(SystemSchema { client: self.0.clone(), name: name.to_lowercase() }))
            }
            // Where clients look for tables whose schema they were not told.
            name => {
                let name = if name == "public" { DEFAULT_SCHEMA } else { name };
                let mut spelling = Spelling::default();
                // Unquoted names come in small letters.
                for relation in self.0.relations() {
                    relation.columns.names().iter().for_each(|name| spelling.add(&name.to_lowercase()));
                }
                let all = QueryCatalog::new(self.0.tables.clone(), Arc::new(spelling));
                all.catalog(&self.0.database)?.schema(name)
            }
        }
    }
}

#[derive(Debug)]
struct SystemSchema {
    client: Client,
    name: String,
}

#[async_trait]
impl SchemaProvider for SystemSchema {
    fn table_names(&self) -> Vec<String> {
        match self.name.as_str() {
            PG_CATALOG => self.client.catalog.fixed.table_names(),
            _ => information_schema::NAMES.iter().map(|name| name.to_string()).collect(),
        }
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        match self.name.as_str() {
            PG_CATALOG => self.client.pg_table(name).await,
            _ => information_schema::table(&self.client, &name.to_lowercase())?.map(in_memory).transpose(),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        name == "pg_user" || self.table_names().contains(&name)
    }
}
