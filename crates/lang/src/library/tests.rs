//! Tests of the library as a whole: functions of one statistic against one another, whatever the cut.

use super::{all, call, find};
use crate::function::{Argument, Form, Picked};
use crate::value::{Args, Host, Value};
use data::{Column, ColumnBuilder, Scalar, Type};

struct NoHost;
impl Host for NoHost {}

fn value(name: &str, values: Vec<Value>) -> Value {
    let args = Args { values: values.into_iter().map(Some).collect(), ..Args::default() };
    call(find(name).expect("a function of the library"), &args, &mut NoHost).unwrap()
}

fn column(name: &str, values: Vec<Value>) -> Column {
    match value(name, values) {
        Value::Vector(column) => column,
        other => panic!("a vector is wanted: {other:?}"),
    }
}

fn int(value: i64) -> Value {
    Value::Scalar(Type::Int, Scalar::Int(value))
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// A column of small numbers and NULLs; of floats, also with NaN and infinities if `wild`.
    fn column(&mut self, ty: Type, rows: usize, wild: bool) -> Column {
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
fn close(a: &Scalar, b: &Scalar) -> bool {
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
        let required = signature.parameters.iter().filter(|parameter| !parameter.optional).count();
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
            "alpha" | "q" => Argument::constant(Value::Scalar(Type::Double, Scalar::Float(0.25))),
            "maType" => Argument::constant(int(3)),
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
                assert_eq!(state.emit(&slots), whole.emit(&slots), "{}", function.name);
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
        let merged = aggregate.emit(&[0]).get(0);
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
    let refusal = |name: &str, values: Vec<Value>, named: Vec<(&str, Value)>| {
        let named = named.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let args = Args { values: values.into_iter().map(Some).collect(), named, ..Args::default() };
        call(find(name).unwrap(), &args, &mut NoHost).unwrap_err().message
    };
    assert_eq!(refusal("mavg", vec![int(1)], vec![]), "mavg expects 2 to 3 arguments: found=`1`");
    assert_eq!(refusal("abs", vec![int(1), int(2)], vec![]), "abs expects 1 argument: found=`2`");
    let named = refusal("mavg", vec![int(1)], vec![("windows", int(3))]);
    assert_eq!(named, "mavg has no such parameter: parameter=`windows`");
    let short = refusal("mavg", vec![int(1), int(1)], vec![]);
    assert_eq!(short, "a whole number from 2 to 102400 is wanted: parameter=`window`, value=`1`");
}
