//! The rules of the reactive state engine, one by one.

use crate::check::{Chance, Columns, NoHost, Run, Step, bind, check, check_rows, check_steps, refuse};
use crate::{Chunk, Command, Output, Port, Split};
use data::{Batch, Column, Scalar, Schema, Type, parse_table, print_table};
use lang::{Table, Value};

const QUOTES: Columns = &[("sym", Type::Symbol), ("price", Type::Double)];

#[test]
fn each_row_gives_one_with_the_state_of_its_key() {
    check(
        &[("sym", Type::Symbol), ("venue", Type::Symbol), ("price", Type::Double)],
        "reactiveStateEngine(<[mavg(price, 2) as mean, cumcount(price) as n, price * 2]>, `sym`venue)",
        "
        sym  venue  price
        A    X      1
        A    Y      10
        A    X      3
        B    X      7
        A    Y      .
        A    X      4
        ",
        "
        sym  venue  mean  n  price_mul
        A    X      .     1  2
        A    Y      .     1  20
        A    X      2     2  6
        B    X      .     1  14
        A    Y      10    1  .
        A    X      3.5   3  8
        ",
    );
}

#[test]
fn without_a_key_all_rows_share_one_state() {
    check(
        &[("id", Type::Int), ("value", Type::Int), ("stamp", Type::Time)],
        "reactiveStateEngine([<cumsum(value)>, <stamp>])",
        "
        id  value  stamp
        1   1      09:29:00.000
        2   2      09:29:00.001
        3   3      09:29:00.002
        ",
        "
        cumsum_value  stamp
        1             09:29:00.000
        3             09:29:00.001
        6             09:29:00.002
        ",
    );
}

#[test]
fn a_filter_may_use_state_and_drops_rows_that_have_changed_the_state() {
    let counts = check(
        QUOTES,
        "reactiveStateEngine(<[price, deltas(price) as change]>, `sym, filter=<prev(price) != price>)",
        "
        sym  price
        A    10
        A    10
        A    11
        B    5
        B    5
        A    11
        A    9
        ",
        "
        sym  price  change
        A    10     .
        A    11     1
        B    5      .
        A    9      -2
        ",
    );
    assert_eq!((counts.rows_in, counts.rows_out), (7, 4));
}

#[test]
fn purged_keys_start_from_nothing() {
    let call =
        "reactiveStateEngine(<[cumsum(price) as total]>, `sym, keyPurgeFilter=<total > 10>, keyPurgeFreqInSecond=5)";
    check_steps(
        QUOTES,
        call,
        &[
            Step::Tick(0),
            Step::Rows("sym price\n A 20\n B 1"), // Not yet: no time has gone by.
            Step::Tick(5_000),
            Step::Rows("sym price\n A 1\n B 1"), // A is forgotten after this append.
            Step::Tick(6_000),
            Step::Rows("sym price\n A 1\n B 1"),
        ],
        "
        sym  total
        A    20
        B    1
        A    21
        B    2
        A    1
        B    3
        ",
    );
    let facts = bind(QUOTES, call).unwrap_or_else(|errors| panic!("{errors:?}")).facts();
    assert!(facts.reads_clock && facts.reads_batches && matches!(facts.split, Split::Never(_)));
}

#[test]
fn keys_that_are_few_among_all_are_not_purged() {
    let rows = |first: f64| {
        let names = (0..11).map(|number| format!("K{number}"));
        let lines: Vec<String> = names
            .enumerate()
            .map(|(number, name)| format!("{name} {}", if number == 0 { first } else { 1.0 }))
            .collect();
        format!("sym price\n{}", lines.join("\n"))
    };
    let spec = bind(QUOTES, "reactiveStateEngine(<[cumsum(price) as total]>, `sym, keyPurgeFilter=<total > 10>)");
    let spec = spec.unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut run = Run::new(spec.as_ref(), 1);
    let schema = Schema::of(QUOTES);
    for first in [20.0, 1.0] {
        run.tick(0);
        run.push(&parse_table(&schema, &rows(first)).unwrap(), 0);
    }
    assert_eq!(run.rows().column(1).get(11), Scalar::Float(21.0));
}

#[test]
fn warm_up_changes_the_state_and_gives_nothing() {
    let spec =
        bind(QUOTES, "reactiveStateEngine(<[cumsum(price)]>, `sym)").unwrap_or_else(|errors| panic!("{errors:?}"));
    let rows = |text| parse_table(&Schema::of(QUOTES), text).unwrap();
    let mut engine = spec.start(None);
    let mut host = NoHost;
    let mut out = Output::new(&mut host);
    let warm_up = |rows: Batch| Command { name: "warmup".into(), arguments: vec![Value::Table(Table::new(rows))] };
    engine.command(&warm_up(rows("sym price\n A 5\n B 7")), &mut out).unwrap();
    assert!(out.chunks.is_empty());
    engine.push(Port(0), &Chunk::whole(rows("sym price\n A 1"), 0), &mut out).unwrap();
    assert_eq!(print_table(&out.chunks[0].batch), "sym  cumsum_price\nA    6.0\n");
    let other = parse_table(&Schema::of(&[("sym", Type::Symbol)]), "sym\n A").unwrap();
    assert!(engine.command(&warm_up(other), &mut out).unwrap_err().message.contains("columns of the input"));
    let unknown = Command { name: "stop".into(), arguments: vec![] };
    assert!(engine.command(&unknown, &mut out).is_err());
}

#[test]
fn wrong_arguments_are_refused() {
    let refuse = |arguments: &str, words: &[&str]| refuse(QUOTES, &format!("reactiveStateEngine({arguments})"), words);
    refuse("<[cumsum(price) as total, cumsum(price) as total]>, `sym", &["duplicate column: column=`total`"]);
    refuse("<[sym, cumsum(price)]>, `sym", &["duplicate column: column=`sym`"]);
    refuse("<[cumsum(price)]>, `symbol", &["unknown column: column=`symbol`", "sym"]);
    refuse("<[mavg(prise, 3)]>, `sym", &["prise", "unknown"]);
    refuse("<[first(price)]>, `sym", &["first"]);
    refuse("<[next(price)]>, `sym", &["next"]);
    refuse("<[price]>, `sym, filter=<price + 1>", &["filter must be a condition"]);
    refuse("<[price]>, keyPurgeFilter=<price > 1>", &["keyPurgeFilter needs keyColumn"]);
    refuse("<[price]>, `sym, parallelism=0", &["parallelism must be from 1 to 63"]);
    refuse("5, `sim, parallelism=64", &["metrics must be metacode", "sim", "parallelism"]);
}

#[test]
fn any_cut_any_number_of_parts_and_any_restore_give_the_same_rows() {
    for more in [
        "<[price, cumsum(price), mavg(price, 3), prev(price), ema(price, 4)]>, `sym",
        "<[msum(price, 4), deltas(price)]>, `sym, filter=<price > prev(price)>",
        "<[mmax(mavg(price, 2), 3)]>",
    ] {
        let spec = bind(QUOTES, &format!("reactiveStateEngine({more})")).unwrap_or_else(|errors| panic!("{errors:?}"));
        for seed in 1..3 {
            let mut chance = Chance(seed * 77);
            let (mut symbols, mut prices) = (vec![], vec![]);
            for _ in 0..40 {
                symbols.push(Scalar::from(["A", "B", "C", ""][chance.below(4)]));
                let price = Scalar::Float(chance.below(100) as f64 / 8.0);
                prices.push(if chance.below(10) == 0 { Scalar::Null } else { price });
            }
            let columns = vec![Column::of_scalars(Type::Symbol, &symbols), Column::of_scalars(Type::Double, &prices)];
            let rows = Batch::new(Schema::of(QUOTES), columns).unwrap();
            let mut run = Run::new(spec.as_ref(), 1);
            run.tick(0);
            run.push(&rows, 0);
            check_rows(spec.as_ref(), &rows, &run.rows());
        }
    }
}
