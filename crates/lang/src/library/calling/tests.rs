//! Tests of functions that call a function: printed answers, scripts against streams, fast ways against plain ones.

use crate::diagnostic::Source;
use crate::interpreter::Session;
use crate::library::tests::{Numbers, check, close, refusal, run};
use crate::parser::{parse, parse_expr};
use crate::program::{NoHost, Program, Scope};
use crate::tree::{FunctionDef, StatementKind};
use crate::value::{Code, Value};
use data::{Batch, Column, Scalar, Schema, Type};
use std::sync::Arc;

const DEFS: &str = "
    defg spread(x) { return avg(var(x)) }
    defg reach(x, by) { return (max(x) - min(x)) * by }
    defg middle(x) { sorted = sort(x); return avg(sorted) }
    def decay(past, x, rate=0.5) { return iif(isNull(x), past, past * rate + x) }
    @state def swing(x, y) { return cumsum(x) - prev(y) }
    def weigh(x, w) { return sum(x * w) }
    def twice(f, x) { return f(x) * 2 }
";

const METRICS: &[&str] = &[
    "moving(sum, x, 5)",
    "moving(sum, y, 1)",
    "moving(avg, x, 4, 2)",
    "moving(beta, [y, x], 6)",
    "moving(percentile{, 50}, x, 7)",
    "moving(a -> max(a) - min(a), x, 3, 1)",
    "moving(reach{, 2}, y, 4)",
    "moving(middle, y, 4, 1)",
    "moving(last, s, 20)",
    "moving(count, x, 40, 3)",
    "moving(sum, cells, 3)",
    "moving(spread, cells, 3, 1)",
    "tmoving(sum, t, x, 4)",
    "tmoving(std, t, y, 9)",
    "tmoving(med, t, x, 4)",
    "window(sum, x, -4:-2)",
    "window(max, y, -2:0)",
    "window(middle, y, -3:-1)",
    "segmentby(cumsum, x, s)",
    "segmentby(msum{, 3}, x, s)",
    "segmentby(swing, [x, y], s)",
    "segmentby(abs, y, s)",
    "talib(msum, x, 3)",
    "talib(mcorr, x, y, 4)",
    "talib(swing, y, x)",
    "byColumn(cumsum, cells)",
    "byColumn(msum{, 2}, cells)",
    "accumulate(add, y)",
    "accumulate(decay, x)",
    "accumulate(decay{, , 0.25}, x, 1.0)",
    "accumulate((a, b) -> a * 0.5 + nullFill(b, 0), y, 1)",
    "conditionalIterate(y > 3, x, msum{, 3})",
    "conditionalIterate(y > 3, y, a -> cumsum(a) + prev(a))",
    "stateIterate(x, y, 3, mavg{, 2}, [0.5, 0.25])",
    "genericStateIterate([x, y], x, 3, (past, a, b) -> sum(past) * 0.1 + a)",
    "genericStateIterate(y, x, 0, decay)",
    "genericStateIterate([], y, 2, (past) -> sum(past) % 7)",
    "genericTStateIterate(t, y, x, 5, (past, a) -> avg(past) * 0.5 + a)",
    "genericTStateIterate(t, y, x, 5, weigh, true)",
    "twice(cumsum, y)",
    "talibNull(x, y)",
    "dynamicGroupCumsum(y, prev(y), s, prev(s), 3)",
    "dynamicGroupCumcount(s, prev(s), 3)",
];

fn functions() -> Arc<Vec<Arc<FunctionDef>>> {
    let defs = parse(&Source::new("test", DEFS)).statements.into_iter();
    Arc::new(defs.filter_map(|def| if let StatementKind::Def(def) = def.kind { Some(def) } else { None }).collect())
}

fn code(text: &str, names: usize) -> Code {
    let expr = Arc::new(parse_expr(&Source::new("test", text)).unwrap());
    let names = (0..names).filter(|_| names > 1).map(|name| format!("c{name}").into()).collect();
    Code { expr, names, functions: functions() }
}

fn schema() -> Arc<Schema> {
    let cells = Type::Double.array_of().unwrap();
    let columns = [("x", Type::Double), ("y", Type::Int), ("s", Type::Int), ("t", Type::Int), ("cells", cells)];
    Schema::of(&columns)
}

fn rows(numbers: &mut Numbers, count: usize) -> Batch {
    let x = numbers.column(Type::Double, count, true);
    let y = numbers.column(Type::Int, count, false);
    let s: Vec<i32> = (0..count).map(|_| (numbers.below(5) / 2) as i32).collect();
    let mut time = 0;
    let times = (0..count).map(|_| {
        time += numbers.below(3) as i32;
        time
    });
    let t: Vec<i32> = times.collect();
    let mut offsets = vec![0];
    (0..count).for_each(|row| offsets.push(offsets[row] + numbers.below(4) as i32));
    let elements = numbers.column(Type::Double, offsets[count] as usize, false);
    let whole = |values| Column::of_i32(Type::Int, values, None);
    Batch::new(schema(), vec![x, y, whole(s), whole(t), Column::of_lists(offsets, elements, None)]).unwrap()
}

fn bind(metric: &str) -> Program {
    let bound = |names| Program::bind(&[code(metric, names)], &Scope::of(&schema()));
    (1..4).find_map(|names| bound(names).ok()).unwrap_or_else(|| panic!("{metric}: {:?}", bound(1).err()))
}

/// What a script gives for the rows of one key.
fn script(metric: &str, rows: &Batch) -> Vec<Column> {
    let mut session = Session::new();
    for (field, column) in rows.schema().fields().iter().zip(rows.columns()) {
        session.set(&field.name, Value::Vector(column.clone()));
    }
    let source = Source::new("test", format!("{DEFS}\n{metric}"));
    let results = match session.run(&source, &mut NoHost).unwrap_or_else(|errors| panic!("{metric}: {errors:?}")) {
        Value::Tuple(values) => values,
        value => vec![value],
    };
    let column = |value| match value {
        Value::Vector(column) => column,
        other => panic!("{metric}: {other:?}"),
    };
    results.into_iter().map(column).collect()
}

#[test]
fn streams_and_scripts_give_the_same_whatever_the_cut_and_through_bytes() {
    let mut numbers = Numbers(23);
    for metric in METRICS {
        for count in [0, 1, 90] {
            let rows = rows(&mut numbers, count);
            let keys: Vec<u32> = (0..count).map(|_| numbers.below(4) as u32 * 3).collect();
            let whole = bind(metric).run(&rows, None, &keys, &mut NoHost).unwrap();
            let mut program = bind(metric);
            let mut parts: Vec<Vec<Column>> = vec![];
            let mut start = 0;
            while start < count {
                let end = count.min(start + numbers.below(12) as usize);
                let taken: Vec<u32> = (start as u32..end as u32).collect();
                parts.push(program.run(&rows, Some(&taken), &keys[start..end], &mut NoHost).unwrap());
                let picture = program.snapshot();
                let live = program;
                program = bind(metric);
                for key in 0..10 {
                    let (mut bytes, mut same) = (vec![], vec![]);
                    picture.encode(key, &mut bytes);
                    live.encode(key, &mut same);
                    assert_eq!(bytes, same, "{metric}");
                    let mut left = bytes.as_slice();
                    program.decode(key, &mut left).unwrap();
                    assert!(left.is_empty(), "{metric}");
                }
                start = end;
            }
            for (result, whole) in whole.iter().enumerate() {
                if count > 0 {
                    let parts: Vec<&Column> = parts.iter().map(|part| &part[result]).collect();
                    same(metric, &Column::concat(&parts).unwrap(), whole);
                }
                for key in [0, 3, 6, 9] {
                    let own: Vec<u32> = (0..count as u32).filter(|row| keys[*row as usize] == key).collect();
                    if !own.is_empty() {
                        same(metric, &script(metric, &rows.take(&own))[result], &whole.take(&own));
                    }
                }
            }
        }
    }
}

#[track_caller]
fn same(metric: &str, found: &Column, expected: &Column) {
    assert_eq!(found.len(), expected.len(), "{metric}");
    for row in 0..found.len() {
        // Bit for bit; a NaN is a NaN.
        let (found, expected) = (format!("{:?}", found.get(row)), format!("{:?}", expected.get(row)));
        assert_eq!(found, expected, "{metric}, row {row}");
    }
}

#[test]
fn a_key_that_is_reset_starts_anew() {
    let mut numbers = Numbers(29);
    for metric in METRICS {
        let rows = rows(&mut numbers, 40);
        let mut program = bind(metric);
        let first = program.run(&rows, None, &[1; 40], &mut NoHost).unwrap();
        program.reset(&[0, 1, 7]);
        let second = program.run(&rows, None, &[1; 40], &mut NoHost).unwrap();
        first.iter().zip(&second).for_each(|(first, second)| same(metric, second, first));
    }
}

#[test]
fn windows_put_together_are_those_computed_at_once() {
    let mut numbers = Numbers(31);
    let rows = rows(&mut numbers, 300);
    for name in
        ["sum", "avg", "std", "min", "max", "count", "first", "last", "prod", "imax", "skew", "firstNot", "size"]
    {
        for call in ["moving(f, x, 7)", "moving(f, y, 16, 1)", "tmoving(f, t, x, 6)", "window(f, y, -9:-2)"] {
            let fast = script(&call.replace('f', name), &rows).remove(0);
            // A loop cannot be bound, so this one is called with each window.
            let slow =
                format!("def slow(x) {{ for (i in 0..0) {{ }}\n return {name}(x) }}\n{}", call.replace('f', "slow"));
            let slow = script(&slow, &rows).remove(0);
            for row in 0..300 {
                let (fast, slow) = (fast.get(row), slow.get(row));
                assert!(close(&fast, &slow), "{call} of {name}, row {row}: {fast:?}, not {slow:?}");
            }
        }
    }
}

#[test]
fn printed_answers() {
    check("moving(avg, 1 2 3 4, 3)", &[". . 2 3"]);
    check("moving(avg, 1 2 3 4, 3, 1)", &["1 1.5 2 3"]);
    check("moving(percentile{, 50}, 1..12, 10)", &[". . . . . . . . . 5.5 6.5 7.5"]);
    check("segmentby(cumsum, 1 2 3 0 3 2 1 4 5, 1 1 1 -1 -1 -1 1 1 1)", &["1 3 6 0 3 5 1 5 10"]);
    check("accumulate(sub, 1 2 3, 2)", &["1 -1 -4"]);
    check("window(min, [5, 4, , -1, 2, 4], 1:3)", &["-1 -1 -1 2 4 ."]);
    check("talib(msum, [, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3)", &[". . . 6 9 12 15 18 21 24"]);
    check("talib(msum, [, , , 1, 2, 3, 4, 5, 6, , 8, 9], 3)", &[". . . . . 6 9 12 15 11 14 17"]);
    check("conditionalIterate(1 3 6 1 3 6 1 3 6 1 > 5, take(10, 10), msum{, 3})", &[". . 10 10 20 10 40 70 10 120"]);
    check("stateIterate(7..12, take(10, 6), 3, msum{, 3}, [0.5, 0.5])", &["10 10 10 20 25.5 33.75"]);
    let weigh = "def weigh(x, w) { return sum(x * w) }";
    let times = "2021.09.09T09:28:00.000 + 0 30000 120000 180000 240000";
    let call = format!("genericTStateIterate({times}, 310 280 300 290 240, 1.5 1.6 1.7 1.6 1.5, 2m, weigh{{,}}");
    check(&format!("{weigh}\n{call})"), &["1.5 1.6 930 270164 65062560"]);
    check(&format!("{weigh}\n{call}, true)"), &["1.5 1.6 930 270599 65166960"]);
    check("genericStateIterate(1 2 3, 10 10 10, 0, (past, x) -> past + x)", &["11 13 16"]);
    check("dynamicGroupCumsum(2 4 8, [, , 2], 0 0 1, [, , 0], 3)", &["2 6 4", "0 0 8", "0 0 0"]);
    check("dynamicGroupCumcount(0 0 1, [, , 0], 3)", &["1 2 1", "0 0 1", "0 0 0"]);
    assert_eq!(run("moving(x -> sort(x), 3 1 2, 2)[2]").to_string(), "[1, 2]");
}

#[test]
fn the_elements_of_array_vectors_stand_in_a_row() {
    let elements = [10.06, 10.06, 10.04, 10.05, 10.06, 10.05, 10.08, 10.02, 10.01].to_vec();
    let cells = Column::of_lists(vec![0, 2, 3, 7, 9], Column::of_f64(Type::Double, elements, None), None);
    let schema = Schema::of(&[("cells", Type::Double.array_of().unwrap())]);
    let found = script("moving(spread, cells, 3, 1)", &Batch::new(schema, vec![cells]).unwrap()).remove(0);
    for (row, expected) in [0.0, 0.000133333333333, 0.000157142857143, 0.000561904761905].into_iter().enumerate() {
        assert!(close(&found.get(row), &Scalar::Float(expected)), "row {row}: {:?}", found.get(row));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (script, error) in [
        ("stateIterate(1 2, 1 2, 0, msum{, 3}, [1, 1])", "a whole number from 1"),
        ("stateIterate(1 2, 1 2, 1, msum{, 3}, [1])", "two numbers are wanted: parameter=`combineCoeff`"),
        ("stateIterate(1 2, 1 2, 1, 5, [1, 1])", "a function is wanted: parameter=`iterateFunc`"),
        ("conditionalIterate(true false, 1 2, sum)", "sum is an aggregate function"),
        ("genericStateIterate(1 2, 1 2, -1, add)", "a whole number from 0"),
        ("genericStateIterate(1 2, 1 2, 1, (past, x) -> past)", "differ in type"),
        ("genericTStateIterate(1 2, 1 2, 1 2, 0, add)", "a length of time above 0"),
        ("tmoving(sum, 1 2, 1 2, -1)", "a length of time above 0"),
        ("tmoving(sum, 1 2, 1 2 3, 1)", "vectors of one length are wanted"),
        ("moving(sum, 1 2, 0)", "a whole number above 0 is wanted"),
        ("dynamicGroupCumsum(1, 1, 1, 1, 9)", "a whole number from 2 to 8 is wanted"),
    ] {
        assert!(refusal(script).contains(error), "{script}: {}", refusal(script));
    }
}
