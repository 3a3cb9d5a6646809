//! Tests of the library as a whole: functions of one statistic against one another, whatever the cut.

use super::{all, call, find};
use crate::diagnostic::Source;
use crate::function::{Argument, Form, Picked};
use crate::interpreter::Session;
use crate::value::{Args, Host, Value};
use data::{Column, ColumnBuilder, Scalar, Type};
use std::ops::Range;

struct NoHost;
impl Host for NoHost {}

/// What a script comes to.
#[track_caller]
pub(super) fn run(script: &str) -> Value {
    let result = Session::new().run(&Source::new("test", script), &mut NoHost);
    result.unwrap_or_else(|errors| panic!("{script}: {errors:?}"))
}

/// Why a script is refused.
#[track_caller]
pub(super) fn refusal(script: &str) -> String {
    match Session::new().run(&Source::new("test", script), &mut NoHost) {
        Ok(value) => panic!("{script}: {value:?}"),
        Err(errors) => errors[0].message.clone(),
    }
}

/// A vector's values as floats.
pub(super) fn floats(column: &Column) -> Vec<Option<f64>> {
    (0..column.len()).map(|row| column.get(row).as_f64()).collect()
}

/// Runs a script and compares the vector it gives, or the vectors, with printed ones.
#[track_caller]
pub(super) fn check(script: &str, expected: &[&str]) {
    let found = match run(script) {
        Value::Tuple(values) => values,
        value => vec![value],
    };
    assert_eq!(found.len(), expected.len(), "{script}");
    for (found, expected) in found.iter().zip(expected) {
        let Value::Vector(found) = found else { panic!("{script}: {found:?}") };
        let expected: Vec<Scalar> = expected
            .split_whitespace()
            .map(|cell| if cell == "." { Scalar::Null } else { Scalar::Float(cell.parse().expect("a number")) })
            .collect();
        assert_eq!(found.len(), expected.len(), "{script}");
        for (row, expected) in expected.iter().enumerate() {
            assert!(close(&found.get(row), expected), "{script}, row {row}: {:?}, not {expected:?}", found.get(row));
        }
    }
}

pub(super) fn value(name: &str, values: Vec<Value>) -> Value {
    let args = Args { values: values.into_iter().map(Some).collect(), ..Args::default() };
    call(find(name).expect("a function of the library"), &args, &mut NoHost).unwrap()
}

pub(super) fn column(name: &str, values: Vec<Value>) -> Column {
    match value(name, values) {
        Value::Vector(column) => column,
        other => panic!("a vector is wanted: {other:?}"),
    }
}

fn int(value: i64) -> Value {
    Value::Scalar(Type::Int, Scalar::Int(value))
}

/// Numbers that look random and are the same in every run.
pub(super) struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// A column of small numbers and NULLs; of floats, also with NaN and infinities if `wild`.
    pub fn column(&mut self, ty: Type, rows: usize, wild: bool) -> Column {
        let mut builder = ColumnBuilder::new(ty);
        for _ in 0..rows {
            let value = self.below(40) as i64 - 20;
            builder.push(&match self.below(40) {
                0..6 => Scalar::Null,
                6 if wild => Scalar::Float(f64::NAN),
                7 if wild => Scalar::Float(f64::INFINITY),
                8 if wild => Scalar::Float(f64::NEG_INFINITY),
                _ if ty.is_float() => Scalar::Float(value as f64 / 8.0),
                _ => Scalar::Int(value),
            });
        }
        builder.finish()
    }
}

/// Equal up to rounding; what is no finite number equals any such.
pub(super) fn close(a: &Scalar, b: &Scalar) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) if a.is_finite() && b.is_finite() => (a - b).abs() <= 1e-7 * (1.0 + a.abs()),
        (Some(a), Some(b)) => !a.is_finite() && !b.is_finite(),
        (a, b) => a.is_none() && b.is_none(),
    }
}

#[test]
fn a_moving_function_is_its_aggregate_over_each_window() {
    let one = ["sum", "sum2", "avg", "min", "max", "prod", "std", "stdp", "var", "varp", "med", "mad"];
    let places = ["imin", "imax", "iminLast", "imaxLast"];
    let two = ["covar", "covarp", "corr", "beta", "wsum", "wavg"];
    let mut numbers = Numbers(7);
    for name in one.into_iter().chain(places).chain(two) {
        let moving = format!("m{name}");
        for (ty, window) in [(Type::Double, 3), (Type::Int, 5), (Type::Double, 16), (Type::Long, 40)] {
            let x = numbers.column(ty, 100, ty == Type::Double && !two.contains(&name));
            let y = numbers.column(ty, 100, false);
            let args = if two.contains(&name) { vec![x, y] } else { vec![x] };
            let vectors = |args: &[Column]| args.iter().cloned().map(Value::Vector).collect::<Vec<_>>();
            let results = column(&moving, [vectors(&args), vec![int(window)]].concat());
            for row in 0..100usize {
                let expected = match (row + 1).checked_sub(window as usize) {
                    None => Scalar::Null,
                    Some(start) => {
                        let part: Vec<Column> = args.iter().map(|arg| arg.slice(start, window as usize)).collect();
                        let valid = (0..window as usize).any(|row| part.iter().all(|column| !column.is_null(row)));
                        match value(name, vectors(&part)) {
                            Value::Scalar(_, value) if valid => value,
                            _ => Scalar::Null,
                        }
                    }
                };
                let found = results.get(row);
                // Between values that hardly differ, rounding decides whether there is a slope.
                let flat = matches!(name, "corr" | "beta") && (found.is_null() || expected.is_null());
                assert!(flat || close(&found, &expected), "{moving}, {window}, row {row}: {found:?}, not {expected:?}");
            }
        }
    }
}

#[test]
fn nothing_depends_on_how_rows_are_cut_nor_on_being_written_and_read() {
    let mut numbers = Numbers(11);
    for function in all() {
        let signature = function.signature();
        let required = match function.name {
            "ewmMean" | "ewmVar" | "ewmStd" => 2,
            "ewmCov" | "ewmCorr" => 9,
            _ => signature.parameters.iter().filter(|parameter| !parameter.optional).count(),
        };
        let times = || Column::of_i32(Type::Int, (0..120).map(|row| row / 3).collect::<Vec<_>>(), None);
        let columns: Vec<Column> = (0..required)
            .filter(|place| signature.by_row(*place))
            .map(|place| match signature.parameters[place].name {
                "T" => times(),
                _ => numbers.column(Type::Double, 120, true),
            })
            .collect();
        let setting = |place: usize| match signature.parameters[place].name {
            "init" | "coeffs" => Argument::constant(Value::Scalar(Type::Double, Scalar::Float(0.5))),
            "alpha" | "q" if !signature.parameters[place].optional => {
                Argument::constant(Value::Scalar(Type::Double, Scalar::Float(0.25)))
            }
            "maType" => Argument::constant(int(3)),
            name if signature.parameters[place].optional && name != "com" => Argument::left_out(),
            _ => Argument::constant(int(4)),
        };
        let argument = |place: usize| match signature.parameters[place].name {
            "T" => Argument::of(Type::Int),
            _ if signature.by_row(place) => Argument::of(Type::Double),
            _ => setting(place),
        };
        let args: Vec<Argument> = (0..required).map(argument).collect();
        let keys: Vec<u32> = (0..120).map(|_| numbers.below(5) as u32).collect();
        let mut cuts = vec![0, 1, 2, 30, 31, 77];
        cuts.push(120);
        match function.form(required) {
            Form::State(bind) => {
                let whole = bind(&args).unwrap().push(&keys, &columns).unwrap();
                let mut state = bind(&args).unwrap();
                let mut parts: Vec<Vec<Column>> = vec![];
                for ends in cuts.windows(2) {
                    let part: Vec<Column> = columns.iter().map(|c| c.slice(ends[0], ends[1] - ends[0])).collect();
                    parts.push(state.push(&keys[ends[0]..ends[1]], &part).unwrap());
                    // The state goes on from its bytes.
                    let picture = state.snapshot();
                    state = bind(&args).unwrap();
                    for key in 0..5 {
                        let mut bytes = vec![];
                        picture.encode(key, &mut bytes);
                        let mut left = bytes.as_slice();
                        state.decode(key, &mut left).unwrap();
                        assert!(left.is_empty(), "{}", function.name);
                    }
                }
                for (result, whole) in whole.iter().enumerate() {
                    let parts: Vec<&Column> = parts.iter().map(|part| &part[result]).collect();
                    assert_eq!(Column::concat(&parts).unwrap(), *whole, "{}", function.name);
                }
            }
            Form::Aggregate(bind) => {
                let mut whole = bind(&args).unwrap();
                whole.grow(5);
                let all: Vec<Picked> = columns.iter().map(|column| Picked { column, rows: None }).collect();
                whole.fold(&keys, &all).unwrap();
                let mut state = bind(&args).unwrap();
                state.grow(5);
                for ends in cuts.windows(2) {
                    // Picked rows of the whole batch must do the same as a batch of their own.
                    let rows: Vec<u32> = (ends[0] as u32..ends[1] as u32).collect();
                    let all: Vec<Picked> = columns.iter().map(|column| Picked { column, rows: Some(&rows) }).collect();
                    state.fold(&keys[ends[0]..ends[1]], &all).unwrap();
                    let picture = state.snapshot();
                    state = bind(&args).unwrap();
                    state.grow(5);
                    for slot in 0..5 {
                        let mut bytes = vec![];
                        picture.encode(slot, &mut bytes);
                        state.decode(slot, &mut bytes.as_slice()).unwrap();
                    }
                }
                let slots = [4, 0, 2, 1, 3];
                assert_eq!(state.emit(&slots).unwrap(), whole.emit(&slots).unwrap(), "{}", function.name);
            }
            _ => {}
        }
    }
}

#[test]
fn functions_of_whole_vectors_are_what_going_through_all_pairs_gives() {
    use std::cmp::Ordering;
    let order = |a: &Scalar, b: &Scalar| super::item::order_scalars(a, b);
    let mut numbers = Numbers(17);
    for (ty, rows) in [(Type::Double, 60), (Type::Int, 60), (Type::Double, 1), (Type::Long, 0)] {
        let x = numbers.column(ty, rows, ty == Type::Double);
        let values: Vec<Scalar> = (0..rows).map(|row| x.get(row)).collect();
        let vector = || Value::Vector(x.clone());
        let less = |row: usize| values.iter().filter(|other| order(other, &values[row]).is_lt()).count();
        let nulls = values.iter().filter(|value| value.is_null()).count();
        let whole = |count: usize| Scalar::Int(count as i64);
        let (ranks, sorted) = (column("rank", vec![vector()]), column("sort", vec![vector()]));
        let places = column("isort", vec![vector(), Value::bool(false)]);
        let (again, differ) = (column("isDuplicated", vec![vector()]), column("differ", vec![vector()]));
        let found = column("find", vec![vector(), vector()]);
        for row in 0..rows {
            let rank = if values[row].is_null() { Scalar::Null } else { whole(less(row) - nulls) };
            assert_eq!(ranks.get(row), rank, "{ty}, row {row}");
            assert!(row == 0 || order(&sorted.get(row - 1), &sorted.get(row)).is_le(), "{ty}, row {row}");
            let Scalar::Int(place) = places.get(row) else { panic!("a place") };
            assert!(order(&values[place as usize], &sorted.get(rows - 1 - row)).is_eq(), "{ty}, row {row}");
            let first = values.iter().position(|other| order(other, &values[row]) == Ordering::Equal).unwrap();
            assert_eq!(again.get(row), Scalar::Bool(first < row), "{ty}, row {row}");
            assert_eq!(found.get(row), whole(first), "{ty}, row {row}");
            let same = row > 0 && order(&values[row - 1], &values[row]).is_eq();
            assert_eq!(differ.get(row), Scalar::Bool(!same), "{ty}, row {row}");
            if let Value::Scalar(_, kth) = value("searchK", vec![vector(), int(row as i64 + 1)]) {
                let wanted = if row + nulls < rows { sorted.get(row + nulls) } else { Scalar::Null };
                assert!(order(&kth, &wanted).is_eq(), "{ty}, row {row}");
            }
        }
        for steps in [1, 3] {
            let ahead = column("move", vec![vector(), int(-steps)]);
            let changes = column("deltas", vec![vector(), int(-steps)]);
            for row in 0..rows {
                let other = values.get(row + steps as usize).unwrap_or(&Scalar::Null);
                assert!(order(&ahead.get(row), other).is_eq(), "{ty}, row {row}");
                let change = values[row].as_f64().zip(other.as_f64()).map(|(a, b)| a - b);
                assert!(close(&changes.get(row), &change.map_or(Scalar::Null, Scalar::Float)), "{ty}, row {row}");
            }
        }
        let has = value("hasNull", vec![vector()]);
        assert_eq!(has.as_bool(), Some(nulls > 0), "{ty}");
    }
}

#[test]
fn a_rank_in_a_row_is_the_rank_among_its_elements() {
    let mut numbers = Numbers(19);
    let columns: Vec<Column> = (0..7).map(|_| numbers.column(Type::Double, 30, true)).collect();
    let ranks = column("rowRank", vec![Value::Tuple(columns.iter().cloned().map(Value::Vector).collect())]);
    for row in 0..30 {
        let elements: Vec<Scalar> = columns.iter().map(|column| column.get(row)).collect();
        let wanted = column("rank", vec![Value::Vector(Column::of_scalars(Type::Double, &elements))]);
        let Scalar::List(found) = ranks.get(row) else { panic!("an array") };
        assert_eq!(*found, wanted, "row {row}");
    }
}

#[test]
fn panes_put_together_are_the_window() {
    let mut numbers = Numbers(13);
    for name in ["sum", "count", "first", "last", "min", "max", "med", "mode", "nunique", "std", "kurtosis", "imax"] {
        let Form::Aggregate(bind) = find(name).unwrap().form(1) else { panic!("{name}") };
        let rows = numbers.column(Type::Int, 60, false);
        let mut aggregate = bind(&[Argument::of(Type::Int)]).unwrap();
        aggregate.grow(4);
        for (slot, start) in [0, 20, 40].into_iter().enumerate() {
            let pane = rows.slice(start, 20);
            aggregate.fold(&[slot as u32 + 1; 20], &[Picked { column: &pane, rows: None }]).unwrap();
        }
        [1, 2, 3].into_iter().for_each(|pane| aggregate.merge(0, pane));
        let merged = aggregate.emit(&[0]).unwrap().get(0);
        let Value::Scalar(_, whole) = value(name, vec![Value::Vector(rows)]) else { panic!("{name}") };
        assert!(close(&merged, &whole), "{name}: {merged:?}, not {whole:?}");
    }
}

#[test]
fn symbols_of_another_dictionary_keep_their_texts() {
    let Form::State(bind) = find("prev").unwrap().form(1) else { panic!("prev has a state") };
    let symbols = |texts: [&str; 2]| {
        let texts: Vec<Scalar> = texts.into_iter().map(Scalar::from).collect();
        Column::of_scalars(Type::Symbol, &texts)
    };
    let mut state = bind(&[Argument::of(Type::Symbol)]).unwrap();
    state.push(&[0, 1], &[symbols(["a", "b"])]).unwrap();
    let mut bytes = vec![];
    state.encode(0, &mut bytes);
    let mut other = bind(&[Argument::of(Type::Symbol)]).unwrap();
    other.decode(0, &mut bytes.as_slice()).unwrap();
    let found = other.push(&[0, 0], &[symbols(["b", "a"])]).unwrap();
    assert_eq!(found[0], symbols(["a", "b"]));
    let found = state.push(&[1, 1], &[symbols(["c", "a"])]).unwrap();
    assert_eq!(found[0], symbols(["b", "c"]));
}

#[test]
fn each_name_stands_once() {
    let mut names: Vec<&str> = all().map(|function| function.name).collect();
    names.sort_unstable();
    for pair in names.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn a_wrong_call_names_function_parameter_and_count() {
    let refused = |name: &str, values: Vec<Value>, named: Vec<(&str, Value)>| {
        let named = named.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let args = Args { values: values.into_iter().map(Some).collect(), named, ..Args::default() };
        call(find(name).unwrap(), &args, &mut NoHost).unwrap_err().message
    };
    assert_eq!(refused("mavg", vec![int(1)], vec![]), "mavg expects 2 to 3 arguments: found=`1`");
    assert_eq!(refused("abs", vec![int(1), int(2)], vec![]), "abs expects 1 argument: found=`2`");
    let named = refused("mavg", vec![int(1)], vec![("windows", int(3))]);
    assert_eq!(named, "mavg has no such parameter: parameter=`windows`");
    let short = refused("mavg", vec![int(1), int(1)], vec![]);
    assert_eq!(short, "a whole number from 2 to 102400 is wanted: parameter=`window`, value=`1`");
}

#[test]
fn a_top_n_function_takes_the_rows_that_a_sort_puts_first() {
    let mut numbers = Numbers(7);
    for rows in [0, 1, 2, 50, 300] {
        let (x, s) = (numbers.column(Type::Long, rows, false), numbers.column(Type::Double, rows, true));
        let times: Vec<i64> = (0..rows as i64).map(|row| row + row / 3).collect();
        let t = Column::of_i64(Type::Long, times.clone(), None);
        for (ascending, ties) in [(true, "oldest"), (true, "latest"), (true, "all"), (false, "latest"), (false, "all")]
        {
            let settings = |mut values: Vec<Value>| {
                values.push(Value::Scalar(Type::Bool, Scalar::Bool(ascending)));
                values.push(Value::Scalar(Type::String, ties.into()));
                values
            };
            let sorted = |from: usize, to: usize| {
                let mut window: Vec<usize> = (from..=to).filter(|row| !s.is_null(*row)).collect();
                if ties == "latest" {
                    window.reverse();
                }
                let place = |row: &usize| match s.get(*row) {
                    Scalar::Float(value) => value,
                    other => panic!("{other:?}"),
                };
                let order = |a: &f64, b: &f64| a.partial_cmp(b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()));
                window.sort_by(|a, b| {
                    let order = order(&place(a), &place(b));
                    if ascending { order } else { order.reverse() }
                });
                (window.clone(), window.iter().map(|row| place(row).to_string()).collect::<Vec<_>>())
            };
            let sum = |from: usize, to: usize, top: &dyn Fn(usize) -> usize| {
                let (window, places) = sorted(from, to);
                let mut count = top(window.len()).min(window.len());
                while ties == "all" && count > 0 && count < window.len() && places[count] == places[count - 1] {
                    count += 1;
                }
                let values: Vec<i64> = window[..count].iter().filter_map(|row| x.get(*row).as_i64()).collect();
                if values.is_empty() { Scalar::Null } else { Scalar::Int(values.iter().sum()) }
            };
            let check = |name: &str, settings: Vec<Value>, want: &dyn Fn(usize) -> Scalar| {
                let got = column(name, settings);
                for row in 0..rows {
                    assert_eq!(got.get(row), want(row), "{name}, row {row} of {rows}, {ascending}, {ties}");
                }
            };
            let (x, s, t) = (Value::Vector(x.clone()), Value::Vector(s.clone()), Value::Vector(t.clone()));
            let moving = settings(vec![x.clone(), s.clone(), int(7), int(3)]);
            check("msumTopN", moving, &|row| sum((row + 1).saturating_sub(7), row, &|_| 3));
            check("cumsumTopN", settings(vec![x.clone(), s.clone(), int(5)]), &|row| sum(0, row, &|_| 5));
            let first = |row: usize| times.iter().position(|time| *time > times[row] - 9).unwrap();
            let timed = settings(vec![t.clone(), x.clone(), s.clone(), int(9), int(2)]);
            check("tmsumTopN", timed, &|row| sum(first(row), row, &|_| 2));
            let part = Value::Scalar(Type::Double, Scalar::Float(0.4));
            let timed = settings(vec![t, x, s, int(9), part]);
            let top = |rows: usize| ((rows as f64 * 0.4) as usize).max(1);
            check("tmsumTopN", timed, &|row| sum(first(row), row, &top));
        }
    }
}

#[test]
fn functions_of_windows_and_sequences_give_what_is_printed() {
    let streak = "mmaxPositiveStreak";
    check(&format!("{streak}(1 -1 1 -2 10 3 3 9 0 6 5, 5)"), &[". . . . 10 13 16 25 25 15 12"]);
    let x = "[5,,3,2,1,5,10,9,,9,10,-1,]";
    check(&format!("{streak}({x}, 5)"), &[". . . . 6 11 21 27 25 24 19 19 19"]);
    check(&format!("{streak}(signum({x}), 5)"), &[". . . . 3 4 5 5 4 3 2 2 2"]);
    let x = "[,3.1,,3.0,2.9,2.8,3.1,,3.2]";
    check(&format!("mTopRange({x}, 3)"), &[". . 0 1 0 0 2 0 2"]);
    check(&format!("mTopRange({x}, 3, 1)"), &[". 1 0 1 0 0 2 0 2"]);
    check(&format!("mLowRange({x}, 3)"), &[". . 1 0 1 2 0 2 0"]);
    check(&format!("mLowRange({x}, 3, 2)"), &[". . . 0 1 2 0 2 0"]);
    let slope = "0.818181818182 1.69237918216 1.18853240152";
    let error = "5.45672727273e-05 0.000231468401487 0.000332408481576";
    let yx = "y = [0.016,0.009,-0.012,0.022,0.003,-0.056,0.002]; x = [0.011,0.006,-0.008,0.012,-0.016,-0.023,0.018]; ";
    check(&format!("{yx}mmse(y, x, 5)"), &[&format!(". . . . {slope}"), &format!(". . . . {error}")]);
    let slope = format!(". . 1.4793814433 1.59470068695 {slope}");
    let error = format!(". . 2.80641466208e-08 2.72571148184e-06 {error}");
    check(&format!("{yx}mmse(y, x, 5, 3)"), &[&slope, &error]);
    let lines = [". . . 0.177051671733 0.712556732224 0.15", ". . . 0.101823708207 0.0844175491679 0.0784615384615"];
    check("mslr(1 4 3 9 5 4, 12 31 29 88 67 76, 4)", &lines);
    let hlc = "11.48 12.26 12.24 12.3 12.24, 10.91 11.18 11.71 11.62 11.1, 11.38 12.1 11.89 12.13 11.35";
    check(&format!("trueRange({hlc})"), &[". 1.08 0.53 0.68 1.14"]);
    let x = "100 150 80 120 220 200 180 90 100 125";
    check(&format!("sumbars({x}, 300)"), &["0 0 3 3 2 2 2 3 3 3"]);
    check(&format!("sumbars({x}, [100,300,,400,220,10,180,470,471,2000])"), &["1 0 . 4 1 1 1 3 4 0"]);
    let x = "51.65 81.18 43.37 11.26 82.79 13.4 81.87 63.53 21.28 94.23";
    let kama = ". . . . . 81.0061440504 81.0099074249 80.7936257397 80.3445716484 80.4567884799";
    check(&format!("kama({x}, 5)"), &[kama]);
    check(&format!("ma({x}, 5, 6)"), &[kama]);
    check("cumdenseRank(1 3 2 3 4)", &["0 1 1 2 3"]);
    check("cumdenseRank(1 3 2 3 4, true, true, true, \"max\")", &["1 1 0.666666666667 1 1"]);
    check("cumdenseRank(1 3 2 3 4, true, true, true, \"minmax\")", &["1 1 0.5 1 1"]);
    check("cumdenseRank([3,,1,3], false, false)", &["0 1 1 0"]);
    let hours = |days: [&str; 10], at: [u32; 10]| {
        let times = days.iter().zip(at).map(|(day, hour)| format!("2019.06.{day}T{hour}:00:00"));
        times.collect::<Vec<_>>().join(" ")
    };
    let x = "[1,,3,4,5,,3,,5,3]";
    let at = [13, 13, 13, 13, 14, 15, 16, 17, 18, 19];
    let t = hours(["13"; 10], at);
    check(&format!("tmsum2({t}, {x}, 4h)"), &["1 1 10 26 51 51 60 34 34 43"]);
    check(&format!("tmsum2({t}, {x}, 4H)"), &["1 1 10 26 51 51 60 34 34 43"]);
    check(&format!("tmsum2({t}, {x}, 1d)"), &["1 1 10 26 51 51 60 60 85 94"]);
    let t = hours(["13", "13", "13", "13", "14", "14", "14", "14", "14", "14"], at);
    check(&format!("tmrank({t}, {x}, true, 4h)"), &["0 . 1 2 0 . 0 . 1 0"]);
    check(&format!("tmrank({t}, {x}, true, 2d)"), &["0 . 1 2 3 . 1 . 4 1"]);
}

#[test]
fn windows_as_lists_are_what_is_printed() {
    let shown = |script: &str| run(script).show();
    let x = "-1 3 -4 0 5 10 9 7";
    let lists = "[[-1],[-1,3],[-1,3,-4],[3,-4,0],[-4,0,5],[0,5,10],[5,10,9],[10,9,7]]";
    assert_eq!(shown(&format!("movingWindowData({x}, 3)")), lists);
    assert_eq!(shown("movingWindowData([1,,3], 3, fixed=true)"), "[[,,1],[,1,],[1,,3]]");
    assert_eq!(shown("movingWindowData([\"a\", \"b\"], 2)"), "[[\"a\"],[\"a\",\"b\"]]");
    let t = "2022.01.01T09:00:00 + 1 1 2 3 6 7 9 10 13 14";
    let open = "[[1],[1,2],[1,2,3],[1,2,3,4],[5],[5,6],[6,7],[7,8],[9],[9,10]]";
    assert_eq!(shown(&format!("tmovingWindowData({t}, 1 2 3 4 5 6 7 8 9 10, 3s)")), open);
    let closed = "[[1],[1,2],[1,2,3],[1,2,3,4],[4,5],[5,6],[5,6,7],[6,7,8],[8,9],[9,10]]";
    assert_eq!(shown(&format!("tmovingWindowData({t}, 1 2 3 4 5 6 7 8 9 10, 3s, true)")), closed);
    let refused = refusal("movingWindowData(symbol([\"a\"]), 2)");
    assert_eq!(refused, "no array vectors of this type: type=`SYMBOL`");
}

/// Values of columns of numbers that hold NULLs and, if `wild`, also NaN and infinities.
fn vectors<const N: usize>(numbers: &mut Numbers, rows: usize, wild: bool) -> [Column; N] {
    std::array::from_fn(|_| numbers.column(Type::Double, rows, wild))
}

#[track_caller]
fn same(name: &str, found: &[Option<f64>], expected: impl Iterator<Item = Option<f64>>) {
    let scalar = |value: Option<f64>| value.map_or(Scalar::Null, Scalar::Float);
    for (row, expected) in expected.enumerate() {
        let (found, expected) = (scalar(found[row]), scalar(expected));
        assert!(close(&found, &expected), "{name}, row {row}: {found:?}, not {expected:?}");
    }
}

/// The rows of each full window; `None` before the first.
fn windows(rows: usize, window: usize) -> impl Iterator<Item = Option<Range<usize>>> {
    (1..=rows).map(move |end| Some(end.checked_sub(window)?..end))
}

/// NULL before all, then NaN.
fn lower(a: Option<f64>, b: Option<f64>) -> bool {
    let class = |value: Option<f64>| value.map_or(0, |value| if value.is_nan() { 1 } else { 2 });
    (class(a), a.unwrap_or(0.0)) < (class(b), b.unwrap_or(0.0))
}

#[test]
fn functions_of_a_window_are_what_its_rows_say() {
    let mut numbers = Numbers(17);
    for window in [2, 3, 7, 40] {
        let [x] = vectors(&mut numbers, 150, true);
        let v = floats(&x);
        let call = |name: &str| floats(&column(name, vec![Value::Vector(x.clone()), int(window as i64)]));
        let filled = |part: &Range<usize>| v[part.clone()].iter().any(Option::is_some);
        for (name, top) in [("mTopRange", true), ("mLowRange", false)] {
            let range = |part: Range<usize>| {
                let last = v[part.end - 1];
                let passed = |other: &&Option<f64>| if top { lower(**other, last) } else { lower(last, **other) };
                v[part.start..part.end - 1].iter().rev().take_while(passed).count() as f64
            };
            same(name, &call(name), windows(150, window).map(|part| part.filter(filled).map(range)));
        }
        let streak = |part: Range<usize>| {
            let runs = v[part].split(|value| value.is_none_or(|value| value.is_nan() || value <= 0.0));
            runs.map(|run| run.iter().flatten().sum::<f64>()).fold(0.0, f64::max)
        };
        let expected = windows(150, window).map(|part| part.filter(filled).map(streak));
        same("mmaxPositiveStreak", &call("mmaxPositiveStreak"), expected);

        // The average goes on from the value before the first it gives, over values alone.
        let [x] = vectors(&mut numbers, 150, false);
        let found = floats(&column("kama", vec![Value::Vector(x.clone()), int(window as i64)]));
        let (mut values, mut average) = (vec![], None);
        let expected = floats(&x).into_iter().map(|value| {
            values.push(value?);
            let steps = values.len().checked_sub(window + 1)?;
            let part = &values[steps..];
            let way: f64 = part.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
            let straight = if way == 0.0 { 1.0 } else { (part[window] - part[0]).abs() / way };
            let factor = (straight * (2.0 / 3.0 - 2.0 / 31.0) + 2.0 / 31.0).powi(2);
            let before = average.unwrap_or(part[window - 1]);
            average = Some(before + factor * (value? - before));
            average
        });
        same("kama", &found, expected.collect::<Vec<_>>().into_iter());

        let [y, x] = vectors(&mut numbers, 150, true);
        let lines = |name: &str| match value(
            name,
            vec![Value::Vector(y.clone()), Value::Vector(x.clone()), int(window as i64)],
        ) {
            Value::Tuple(values) => values,
            other => panic!("{other:?}"),
        };
        let pairs: Vec<Option<(f64, f64)>> = floats(&y).into_iter().zip(floats(&x)).map(|(y, x)| y.zip(x)).collect();
        let line = |part: Range<usize>| {
            let points: Vec<(f64, f64)> = pairs[part].iter().flatten().copied().collect();
            let n = points.len() as f64;
            let (my, mx) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
            let xx: f64 = points.iter().map(|p| (p.1 - mx).powi(2)).sum();
            let xy: f64 = points.iter().map(|p| (p.1 - mx) * (p.0 - my)).sum();
            let (slope, n_min) = (xy / xx, 2.0);
            let intercept = my - slope * mx;
            let error = points.iter().map(|p| (p.0 - intercept - slope * p.1).powi(2)).sum::<f64>() / n;
            (n >= n_min && (xx > 1e-9 || xx.is_nan())).then_some([intercept, slope, error])
        };
        let lined: Vec<Option<[f64; 3]>> = windows(150, window).map(|part| line(part?)).collect();
        for (name, which) in [("mslr", [0, 1]), ("mmse", [1, 2])] {
            for (found, which) in lines(name).iter().zip(which) {
                let Value::Vector(found) = found else { panic!("{found:?}") };
                // Between values that hardly differ, rounding decides whether there is a slope.
                let found: Vec<Option<f64>> =
                    floats(found).into_iter().zip(&lined).map(|(found, line)| line.and(found)).collect();
                same(name, &found, lined.iter().map(|line| line.map(|line| line[which])));
            }
        }
    }
}

#[test]
fn functions_of_a_sequence_are_what_its_rows_say() {
    let mut numbers = Numbers(19);
    let [high, low, close, x, y] = vectors(&mut numbers, 300, true);
    let v = |column: &Column| floats(column);
    let (h, l, c) = (v(&high), v(&low), v(&close));
    let found = v(&column("trueRange", [high, low, close].map(Value::Vector).to_vec()));
    let expected = (0..300).map(|row| {
        let (h, l, c) = (h[row]?, l[row]?, c[row.checked_sub(1)?]?);
        [(h - l).abs(), (h - c).abs(), (c - l).abs()].into_iter().reduce(f64::max)
    });
    same("trueRange", &found, expected);

    let (xs, ys) = (v(&x), v(&y));
    let bars = |row: usize, wanted: f64| {
        let mut sum = 0.0;
        let reached = (0..=row).rev().position(|row| {
            sum += xs[row].unwrap_or(0.0).max(0.0);
            sum >= wanted
        });
        reached.map_or(0.0, |rows| rows as f64 + 1.0)
    };
    let found = v(&column("sumbars", vec![Value::Vector(x.clone()), Value::Vector(y)]));
    same("sumbars", &found, (0..300).map(|row| Some(bars(row, ys[row]?))));
    for wanted in [-1.0, 0.0, 0.125, 2.0, 9.5, 60.0, 1e9, f64::NAN, f64::INFINITY] {
        let constant = Value::Scalar(Type::Double, Scalar::Float(wanted));
        let found = v(&column("sumbars", vec![Value::Vector(x.clone()), constant]));
        same("sumbars", &found, (0..300).map(|row| Some(bars(row, wanted))));
    }

    let flag = |value| Value::Scalar(Type::Bool, Scalar::Bool(value));
    for (ascending, ignore_null) in [(true, true), (true, false), (false, true), (false, false)] {
        let found = v(&column("cumdenseRank", vec![Value::Vector(x.clone()), flag(ascending), flag(ignore_null)]));
        let expected = (0..300).map(|row| {
            if ignore_null && xs[row].is_none() {
                return None;
            }
            let mut before: Vec<Option<f64>> = vec![];
            for &other in xs[..=row].iter().filter(|other| !(ignore_null && other.is_none())) {
                let passes = if ascending { lower(other, xs[row]) } else { lower(xs[row], other) };
                if passes && before.iter().all(|known| lower(*known, other) || lower(other, *known)) {
                    before.push(other);
                }
            }
            Some(before.len() as f64)
        });
        same("cumdenseRank", &found, expected);
    }
}
