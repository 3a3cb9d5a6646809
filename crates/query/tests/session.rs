//! Names without regard to case, rows in the order of their offsets, errors that name the thing.

mod common;

use common::Tables;
use data::{Batch, Column, Scalar, Schema, Type, parse_table};
use futures::StreamExt;
use lang::Diagnostic;
use query::format::{Format, write};
use query::{Error, Kind, MemoryScan, Picture, Scan, Session};
use std::sync::Arc;

fn table(fields: &[(&str, Type)], text: &str) -> MemoryScan {
    let schema = Schema::of(fields);
    MemoryScan::new(schema.clone(), vec![parse_table(&schema, text).unwrap()])
}

fn demo() -> Tables {
    let trades = table(
        &[("sym", Type::Symbol), ("Price", Type::Double), ("concatDateTime", Type::Timestamp), ("sum1m", Type::Long)],
        r#"
        sym  Price  concatDateTime           sum1m
        A    10.5   2024.01.02T09:30:00.000  1
        B    20     2024.01.02T09:30:01.000  .
        A    11.5   2024.01.02T09:30:02.000  3
        .    .      2024.01.02T09:30:03.000  4
        "#,
    );
    let names = table(&[("SYM", Type::Symbol), ("price", Type::Int)], "SYM price\n A 1\n B 2");
    let graphs = table(&[("name", Type::String), ("started", Type::Minute)], "name started\n g 09:30m");
    Tables::of(&["Demo"])
        .with("orca_table", "Trades", trades)
        .with("orca_table", "names", names)
        .with("orca_sys", "graphs", graphs)
}

fn csv(session: &Session, sql: &str) -> Result<String, Error> {
    let mut out = vec![];
    write(&session.query(sql)?, Format::Csv, &mut out).unwrap();
    Ok(String::from_utf8(out).unwrap())
}

/// The answer to a query over the demo tables, as CSV with `|` for line ends.
fn check(sql: &str, want: &str) {
    let session = Session::new(Arc::new(demo()), None);
    assert_eq!(csv(&session, sql).map(|text| text.trim_end().replace('\n', "|")), Ok(want.to_string()), "{sql}");
}

fn refused(sql: &str) -> Error {
    Session::new(Arc::new(demo()), None).query(sql).expect_err(sql)
}

#[test]
fn names_match_without_regard_to_case_and_are_shown_in_the_schemas_own() {
    check("select SYM, price from demo.ORCA_TABLE.trades limit 1", "sym,Price|A,10.5");
    check("select CONCATDATETIME from trades limit 1", "concatDateTime|2024-01-02T09:30:00.000");
    check("select \"SUM1M\", T.\"PRICE\" from orca_table.TRADES t where t.Sum1m > 1", "sum1m,Price|3,11.5|4,");
    check(
        "select * from trades where PRICE > 11 order by sUm1M desc nulls last",
        "sym,Price,concatDateTime,sum1m|A,11.5,2024-01-02T09:30:02.000,3|B,20,2024-01-02T09:30:01.000,",
    );
}

#[test]
fn an_alias_is_shown_as_it_was_written_and_matched_without_regard_to_case() {
    check("select price as PRICE, Price Px from trades order by px desc nulls last limit 1", "PRICE,Px|20,20");
    check("with T as (select price as P from trades) select p from t where P > 15", "P|20");
    check("select p.Total from (select sum(price) as total from trades) P", "total|42");
}

#[test]
fn an_expression_without_alias_is_named_by_its_text() {
    check("select max(Price), count(*) from trades", "max(Price),count(*)|20,4");
    check("select *, Price + 1 from names order by sym", "SYM,price,Price + 1|A,1,2|B,2,3");
}

#[test]
fn two_tables_may_spell_one_name_differently() {
    let want = "sym,Price,SYM,price|A,10.5,A,1|A,11.5,A,1|B,20,B,2";
    check("select t.sym, t.price, n.sym, n.price from trades t join names n on t.sym = n.SYM order by 1, 2", want);
}

#[test]
fn queries_group_sort_and_window() {
    check("select sym, count(*) as n, avg(price) m from trades group by SYM", "sym,n,m|A,2,11|B,1,20|,1,");
    check("select sym from trades order by sym nulls first limit 2", "sym|\"\"|A");
    check("select sum1m, lag(sum1m) over (order by concatdatetime) l from trades", "sum1m,l|1,|,1|3,|4,3");
    check("select distinct sym from trades where sym is not null", "sym|A|B");
}

#[test]
fn an_offset_is_selected_by_name_and_is_no_part_of_all_columns() {
    check("select _offset, sum1m from trades where _offset >= 2", "_offset,sum1m|2,3|3,4");
    check("select * from names where _OFFSET = 1", "SYM,price|B,2");
    check("select *, _offset from names n", "SYM,price,_offset|A,1,0|B,2,1");
    check("select * from (select _offset from names) x", "_offset|0|1");
}

#[test]
fn the_catalog_is_told_by_sql() {
    check("select name, started from ORCA_SYS.Graphs", "name,started|g,09:30:00");
    check(
        "select table_name from Information_Schema.TABLES where table_schema like 'orca%' order by Table_Name",
        "table_name|Trades|graphs|names",
    );
    check(
        "select column_name from information_schema.columns where table_name = 'Trades' order by ordinal_position",
        "column_name|sym|Price|concatDateTime|sum1m",
    );
    let shown = csv(&Session::new(Arc::new(demo()), None), "show tables").unwrap();
    assert!(shown.contains("Demo,orca_table,Trades,BASE TABLE"), "{shown}");
    assert!(csv(&Session::new(Arc::new(demo()), None), "explain select * from trades").is_ok());
    assert!(csv(&Session::new(Arc::new(demo()), None), "show columns from trades").unwrap().contains("sum1m"));
}

#[test]
fn an_unknown_name_is_shown_with_its_place_and_the_nearest_one() {
    let cases = [
        ("select * from trade", "1:15: unknown table: table=`trade` (did you mean `Trades`?)"),
        ("select * from orca_tabel.trades", "1:15: unknown schema: schema=`orca_tabel` (did you mean `orca_table`?)"),
        ("select * from dem.orca_table.trades", "1:15: unknown catalog: catalog=`dem` (did you mean `Demo`?)"),
        ("select *\nfrom trades\nwhere prise > 1", "3:7: unknown column: column=`prise` (did you mean `Price`?)"),
        ("select t.prise from trades t", "1:8: unknown column: column=`t.prise` (did you mean `Price`?)"),
    ];
    for (sql, want) in cases {
        let error = refused(sql);
        assert_eq!(error.kind(), Kind::NotFound, "{error}");
        assert_eq!(error.to_string(), want);
    }
    let error = refused("select mx(price) from trades");
    assert!(error.to_string().starts_with("1:8: unknown function: function=`mx`"), "{error}");
}

#[test]
fn what_is_no_query_is_refused() {
    assert_eq!(refused("drop table trades").kind(), Kind::Invalid);
    assert_eq!(refused("insert into trades values (1)").kind(), Kind::Invalid);
    assert_eq!(refused("create table x as select 1").kind(), Kind::Invalid);
    assert_eq!(refused("").kind(), Kind::Invalid);
    assert_eq!(refused("select 1; select 2").kind(), Kind::Invalid);
    let error = refused("select sym from trades where )");
    assert!(matches!(error, Error::Invalid { place: Some(_), .. }), "{error:?}");
    assert_eq!(refused("select 'open").kind(), Kind::Invalid);
    assert_eq!(refused("select sym + interval '1' day from trades").kind(), Kind::Invalid);
    assert_eq!(refused("select price from trades t join names n on t.sym = n.sym").kind(), Kind::Invalid);
}

#[test]
fn a_row_that_cannot_be_computed_is_an_error_of_the_data() {
    assert_eq!(refused("select 1 / (sum1m - 1) from trades").kind(), Kind::Data);
    assert_eq!(refused("select cast(sym as int) from trades").kind(), Kind::Data);
}

struct Broken;

impl Scan for Broken {
    fn schema(&self) -> Arc<Schema> {
        Schema::of(&[("n", Type::Int)])
    }

    fn picture(&self) -> Result<Picture, Diagnostic> {
        Err(Diagnostic::new("segment is gone"))
    }
}

#[test]
fn a_table_that_cannot_be_read_fails_the_query_that_reads_it() {
    let session = Session::new(Arc::new(demo().with("orca_table", "broken", Broken)), None);
    let error = session.query("select * from broken").unwrap_err();
    assert_eq!(error.to_string(), "segment is gone");
    assert!(session.query("select * from names").is_ok());
}

/// A table of thousands of batches of uneven length, its first offset not 0.
struct Long;

const LONG_ROWS: i64 = 200_000;
const LONG_FIRST: i64 = 1_000;

impl Scan for Long {
    fn schema(&self) -> Arc<Schema> {
        Schema::of(&[("k", Type::Int), ("n", Type::Long), ("x", Type::Double)])
    }

    fn picture(&self) -> Result<Picture, Diagnostic> {
        let (mut batches, mut start) = (vec![], 0);
        while start < LONG_ROWS {
            let end = (start + 1 + start % 97).min(LONG_ROWS);
            let n: Vec<i64> = (start..end).collect();
            let k: Vec<i32> = n.iter().map(|n| (n * 7 % 13) as i32).collect();
            let x: Vec<f64> = n.iter().map(|n| 1.0 / (*n as f64 + 1.0)).collect();
            let columns = vec![
                Column::of_i32(Type::Int, k, None),
                Column::of_i64(Type::Long, n, None),
                Column::of_f64(Type::Double, x, None),
            ];
            batches.push(Batch::new(self.schema(), columns)?);
            start = end;
        }
        Ok(Picture { first_offset: LONG_FIRST as u64, batches })
    }
}

fn numbers(session: &Session, sql: &str) -> Vec<i64> {
    let answer = session.query(sql).expect(sql);
    let column = |batch: &data::arrow::array::RecordBatch| {
        Column::from_arrow(answer.fields[0].ty, batch.column(0)).unwrap().to_i64s().unwrap().to_vec()
    };
    answer.batches.iter().flat_map(column).collect()
}

#[test]
fn rows_come_in_the_order_of_their_offsets_at_any_number_of_partitions() {
    for partitions in [1, 2, 8] {
        let tables = Tables::of(&["Demo"]).with("orca_table", "long", Long);
        let session = Session::with_partitions(Arc::new(tables), None, partitions);
        let check = |sql: &str, want: Vec<i64>| assert!(numbers(&session, sql) == want, "{sql} at {partitions}");
        let (all, odd) = (|| 0..LONG_ROWS, |n: &i64| n % 2 == 1);
        check("select n from long", all().collect());
        check("select n from long where n % 2 = 1", all().filter(odd).collect());
        check("select n * 2 from (select n from long where n % 2 = 1) s", all().filter(odd).map(|n| n * 2).collect());
        check("select n from long limit 5", (0..5).collect());
        check("select n from long where n % 2 = 1 limit 70000", all().filter(odd).take(70_000).collect());
        check("select n from long limit 10 offset 150000", (150_000..150_010).collect());
        check("select n from (select * from long limit 150000) s where n > 149990", (149_991..150_000).collect());
        check("select n from long union all select n from long", all().chain(all()).collect());
        check(
            "select n from (select n from long where n >= 100 union all select n from long) s limit 199901",
            (100..LONG_ROWS).chain([0]).collect(),
        );
        check("select _offset from long where k = 7", {
            all().filter(|n| n * 7 % 13 == 7).map(|n| n + LONG_FIRST).collect()
        });
        check("select n from long order by _offset desc limit 3", vec![199_999, 199_998, 199_997]);
        check("select n from long where n in (select max(n) from long group by k) limit 2", vec![199_987, 199_988]);
        check("select sum(n) from (select n from long limit 10) s", vec![45]);
        check("select count(*) from long where n % 2 = 1", vec![LONG_ROWS / 2]);
        check("select sum(n) from long", vec![LONG_ROWS * (LONG_ROWS - 1) / 2]);
        check("select k from long group by k", (0..13).map(|n| n * 7 % 13).collect());
        let sum = |session: &Session| csv(session, "select sum(x) from long").unwrap();
        let one = Session::with_partitions(Arc::new(Tables::of(&["Demo"]).with("orca_table", "long", Long)), None, 1);
        assert_eq!(sum(&session), sum(&one), "the same to the last bit");
    }
}

#[test]
fn a_session_may_be_used_and_dropped_on_a_thread_that_must_not_wait() {
    let pool = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let rows = pool.block_on(async {
        let session = Session::new(Arc::new(demo()), Some("DEMO".into()));
        session.query("select * from trades").unwrap().rows()
    });
    assert_eq!(rows, 4);
}

#[test]
fn a_query_is_counted_before_its_last_row_is_given() {
    let session = Session::new(Arc::new(demo()), Some("Demo".into()));
    let counted = || session.figures().durations.classes().iter().sum::<u64>();
    for count in 0..200 {
        session.query("select * from trades").unwrap();
        assert_eq!(counted(), count * 3 + 1);
        session.query("select nothing from trades").unwrap_err();
        assert_eq!((counted(), session.figures().failed()), (count * 3 + 2, count + 1));
        futures::executor::block_on(async {
            let mut rows = session.run("select * from trades").await.unwrap();
            while rows.next().await.is_some() {}
        });
        assert_eq!(counted(), count * 3 + 3);
    }
}

/// What a query that was prepared before gives for these parameters, columns after one another.
fn again(prepared: &query::Prepared, parameters: &[(Type, Scalar)]) -> Result<String, Error> {
    futures::executor::block_on(async {
        let mut rows = prepared.execute(parameters.to_vec()).await?;
        let mut text = String::new();
        while let Some(batch) = rows.next().await {
            for column in batch?.columns() {
                text += &format!("{:?} ", array_values(column));
            }
        }
        Ok(text.trim_end().to_string())
    })
}

fn array_values(column: &arrow::array::ArrayRef) -> Vec<String> {
    let options = Default::default();
    let formatter = arrow::util::display::ArrayFormatter::try_new(column.as_ref(), &options).unwrap();
    (0..column.len()).map(|row| formatter.value(row).to_string()).collect()
}

#[test]
fn a_kept_query_sees_the_tables_of_the_moment_and_takes_parameters_for_what_they_are() {
    let tables = Arc::new(Tables::of(&["demo"]));
    let set = |scan| tables.set("orca_table", "t", scan);
    let fields = [("k", Type::String), ("v", Type::Long)];
    set(Some(table(&fields, "k v\n a 1\n b 2\n c 300")));
    let session = Session::new(tables.clone(), None);
    let prepare = |sql: &str| futures::executor::block_on(session.prepare(sql)).unwrap();
    let by_v = prepare("select k from t where v = $1");
    let whole = |value: i64| (Type::Int, Scalar::Int(value));
    assert_eq!(again(&by_v, &[whole(2)]), Ok(r#"["b"]"#.into()));
    assert_eq!(again(&by_v, &[(Type::Long, Scalar::Int(300))]), Ok(r#"["c"]"#.into()));
    // A real number is not cut to a whole one, and NULL equals nothing.
    assert_eq!(again(&by_v, &[(Type::Double, Scalar::Float(1.5))]), Ok(String::new()));
    assert_eq!(again(&by_v, &[(Type::Double, Scalar::Float(2.0))]), Ok(r#"["b"]"#.into()));
    assert_eq!(again(&by_v, &[(Type::Long, Scalar::Null)]), Ok(String::new()));
    assert!(again(&by_v, &[]).is_err(), "a parameter is missing");
    // One row more; then another table of that name, then none.
    set(Some(table(&fields, "k v\n a 1\n b 2\n d 2")));
    assert_eq!(again(&by_v, &[whole(2)]), Ok(r#"["b", "d"]"#.into()));
    set(Some(table(&[("v", Type::Int), ("x", Type::Int), ("k", Type::Int)], "v x k\n 2 5 7")));
    assert_eq!(again(&by_v, &[whole(2)]), Ok(r#"["7"]"#.into()));
    set(Some(table(&[("x", Type::Int)], "x\n 2")));
    assert!(again(&by_v, &[whole(2)]).is_err_and(|error| error.to_string().contains("unknown column")));
    set(None);
    assert!(again(&by_v, &[whole(2)]).is_err_and(|error| error.to_string().contains("unknown table")));
    set(Some(table(&fields, "k v\n a 1\n b 2")));
    // One picture of a table that is named twice; a subquery is of now as well.
    let twice =
        prepare("select count(*) n from t x join t y on x.k = y.k where x.v >= $1 and y.v < (select max(v) from t)");
    assert_eq!(again(&twice, &[whole(1)]), Ok(r#"["1"]"#.into()));
    set(Some(table(&fields, "k v\n a 1\n b 2\n c 3")));
    assert_eq!(again(&twice, &[whole(1)]), Ok(r#"["2"]"#.into()));
    // The time is that of each run.
    let time = prepare("select now() = now() same, now() as time");
    let first = again(&time, &[]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2));
    let second = again(&time, &[]).unwrap();
    assert!(first != second && first.contains("true"), "{first} {second}");
}

#[test]
fn tables_of_the_system_are_there_without_a_catalog() {
    let bare = Tables::of(&[]).with("orca_sys", "graphs", table(&[("graph", Type::String)], "graph"));
    let session = Session::new(Arc::new(bare), None);
    assert_eq!(session.query("select count(*) n from orca_sys.graphs").unwrap().rows(), 1);
    assert!(session.query("select * from trades").is_err_and(|error| error.to_string().contains("unknown table")));
}

#[test]
fn the_text_tells_the_type_of_a_parameter() {
    let tables = demo();
    let session = Session::new(Arc::new(tables), None);
    let types = |sql: &str| futures::executor::block_on(session.prepare(sql)).unwrap().parameters().to_vec();
    let texts = Some(Type::Array(&Type::String));
    assert_eq!(types("select sym from trades where sym = any($1)"), [texts]);
    assert_eq!(types("select sym from trades where sym = any($1::text[])"), [texts]);
    assert_eq!(types("select $1::bigint, $2::double"), [Some(Type::Long), Some(Type::Double)]);
    assert_eq!(types("select sym from trades where price > $1"), [Some(Type::Double)]);
    assert_eq!(types("select $1"), [None]);
}
