//! The language's functions in SQL give what they give in scripts.

mod common;

use common::Tables;
use data::{Schema, Type, parse_table};
use query::format::{Format, write};
use query::{Error, MemoryScan, Session};
use std::sync::Arc;

fn answer(sql: &str) -> Result<String, Error> {
    let schema = Schema::of(&[
        ("sym", Type::Symbol),
        ("n", Type::Int),
        ("price", Type::Double),
        ("qty", Type::Int),
        ("time", Type::Timestamp),
    ]);
    let text = r#"
        sym n price qty time
        A   1 10    1   2024.01.02T09:30:10.000
        B   2 20    .   2024.01.02T09:30:20.000
        A   3 30    3   2024.01.02T09:31:10.000
        A   4 .     4   2024.01.02T09:32:10.000
        B   5 50    5   2024.01.02T09:33:10.000
    "#;
    let rows = parse_table(&schema, text).unwrap();
    // In pieces, so that every function sees its rows in several batches.
    let pieces = (0..rows.rows()).map(|row| rows.slice(row, 1)).collect();
    let tables = Tables::of(&["demo"]).with("orca_table", "t", MemoryScan::new(schema, pieces));
    let session = Session::with_partitions(Arc::new(tables), None, 4);
    let mut out = vec![];
    write(&session.query(sql)?, Format::Csv, &mut out).unwrap();
    Ok(String::from_utf8(out).unwrap().trim_end().replace('\n', "|"))
}

fn check(sql: &str, want: &str) {
    assert_eq!(answer(sql), Ok(want.to_string()), "{sql}");
}

#[test]
fn a_row_function_takes_each_row() {
    check("select bar(time, 60000) b from t limit 2", "b|2024-01-02T09:30:00.000|2024-01-02T09:30:00.000");
    check("select iif(price > 15, 1, 0) x from t where price is not null", "x|0|1|1|1");
    check("select nullFill(qty, 0) q from t", "q|1|0|3|4|5");
    check("select minute(time) m from t limit 1", "m|09:30:00");
    check("select log(1) l", "l|0");
    check("select n from t where NULLFILL(price, 0) = 0", "n|4");
}

#[test]
fn an_aggregate_takes_groups_or_all_rows() {
    check("select sym, last(price) p, wavg(price, qty) w from t group by sym", "sym,p,w|A,,25|B,50,50");
    check("select first(sym) f, last(n) l, med(price) m from t", "f,l,m|A,5,25");
    check("select percentile(price, 50) p from t", "p|25");
    check("select wsum(price, qty) w from t where sym = 'none'", "w|\"\"");
    check("select std(price) filter (where n < 3) s from t", "s|7.0710678118654755");
    check("select last(n) x from (select n from t union all select n + 10 as n from t) u", "x|15");
    check(
        "select sym, last(n) x from (select * from t union all select * from t limit 6) u group by sym",
        "sym,x|A,1|B,5",
    );
}

#[test]
fn a_state_function_takes_the_rows_of_a_partition_in_order() {
    check("select n, msum(n, 2) over (order by time) s from t order by n", "n,s|1,|2,3|3,5|4,7|5,9");
    check("select n, cumsum(n) over (partition by sym order by time) s from t order by n", "n,s|1,1|2,2|3,4|4,8|5,7");
    check("select n, last(qty) over (order by n desc) p from t order by n limit 2", "n,p|1,1|2,");
    check("select n, prev(sym) over (order by n) p from t limit 2", "n,p|1,|2,A");
    check("select gema(n, 2, 0.5) over (order by n) g from t limit 3", "g|\"\"|1.5|2.25");
    check("select tmsum(time, n, interval '1 minute') over (order by time) s from t limit 2", "s|1|3");
}

#[test]
fn sqls_own_aggregates_stay() {
    check("select count(*) c, sum(qty) s, min(price) l, max(price) h, avg(n) a from t", "c,s,l,h,a|5,13,10,50,3");
    check("select count(distinct sym) c from t", "c|2");
}

#[test]
fn a_wrong_call_is_refused_by_name() {
    for (sql, want) in [
        ("select wavg(price) from t", "wavg expects 2 arguments: found=`1`"),
        ("select percentile(price, n) from t", "percentile: an argument must be constant"),
        ("select last(n order by price) from t", "not supported: ORDER BY in last"),
        ("select msum(price, 3) from t", "1:8: a function of rows in order needs OVER: function=`msum`"),
        ("select gema(price, 3, 7) over (order by time) from t", "a number from 0 to 1 is wanted"),
        ("select msum(price, 1) over (order by time) from t", "window"),
    ] {
        let error = answer(sql).unwrap_err().to_string();
        assert!(error.contains(want), "{sql}: {error}");
    }
}
