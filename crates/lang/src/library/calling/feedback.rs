//! Functions whose value depends on their own value at the row of the key before.
//!
//! Rows are taken in waves: the first rows of all keys of a batch together, then the second ones, and so on, so that
//! columns are as wide as there are keys.

use super::called::{Called, fitted, grouped, sample};
use super::{columns, function, single};
use crate::diagnostic::{Diagnostic, Source};
use crate::function::{Argument, Operands, Result, State};
use crate::library::item::{Other, Vocabulary, Wire, wire};
use crate::library::keyed::{Picture, refuse};
use crate::library::settings::{flag, numbers, setting, whole};
use crate::library::time_moving::span;
use crate::parser::parse;
use crate::program::{Place, Program};
use crate::tree::StatementKind;
use crate::value::{Callee, UserFunction, Value, vector_type};
use data::arrow::buffer::BooleanBuffer;
use data::{Column, Paged, Scalar, Type};
use std::collections::VecDeque;
use std::sync::Arc;

/// The most rows that are filled or looked back on.
const ROWS_MAX: i64 = 102_400;

/// `accumulate`
pub(super) fn accumulate(operands: &Operands) -> Result<Box<dyn State>> {
    let [x] = columns(operands, 1, "X")? else { return refuse("one column is wanted: parameter=`X`") };
    let args = single(operands);
    let f = Argument::constant(function(operands, 0, "func")?.clone());
    match setting(&args, 2) {
        None => {
            let step = "def step(past, early, x, f) { return iif(early, x, f(past, x)) }";
            Feedback::state(step, &[x.clone(), f], x.ty, 1, Place::Row)
        }
        Some(init) => {
            let step = "def step(past, early, x, init, f) { return f(iif(early, init, past), x) }";
            let init = Argument::constant(init.clone());
            Feedback::state(step, &[x.clone(), init.clone(), f], init.ty, 1, Place::Row)
        }
    }
}

/// `conditionalIterate`
pub(super) fn conditional_iterate(operands: &Operands) -> Result<Box<dyn State>> {
    let [condition, value, f] = &single(operands)[..] else { return refuse("3 arguments are wanted") };
    function(operands, 2, "falseIterFunc")?;
    let step = "def step(past, early, condition, value, f) {
        factor = iif(condition, value, past)
        return factor, f(factor)
    }";
    Feedback::state(step, &[condition.clone(), value.clone(), f.clone()], value.ty, 0, Place::Reactive)
}

/// `stateIterate`
pub(super) fn state_iterate(operands: &Operands) -> Result<Box<dyn State>> {
    let args = single(operands);
    let [x, initial, _, f, _] = &args[..] else { return refuse("5 arguments are wanted") };
    function(operands, 3, "iterateFunc")?;
    let rows = rows_wanted(&args, 2, "initialWindow", 1)?;
    let coefficients = numbers(&args, 4, "combineCoeff")?.unwrap_or_default();
    let [own, past] = coefficients[..] else { return refuse("two numbers are wanted: parameter=`combineCoeff`") };
    let number = |value| Argument::constant(Value::double(value));
    let step = "def step(past, early, x, initial, f, c0, c1) {
        factor = iif(early, initial, c0 * x + c1 * past)
        return factor, f(factor)
    }";
    let args = [x.clone(), initial.clone(), f.clone(), number(own), number(past)];
    Feedback::state(step, &args, Type::Double, rows, Place::Reactive)
}

/// `genericStateIterate`
pub(super) fn generic_state_iterate(operands: &Operands) -> Result<Box<dyn State>> {
    let (args, xs) = (single(operands), optional(&operands.places[0]));
    let (rows, f) = (rows_wanted(&args, 2, "window", 0)?, function(operands, 3, "func")?);
    let initial = args[1].clone();
    if rows > 0 {
        return Recalling::state(None, xs, initial, f, rows, false);
    }
    let names: String = (0..xs.len()).map(|place| format!(", x{place}")).collect();
    let step = format!("def step(past, early{names}, initial, f) {{ return f(iif(early, initial, past){names}) }}");
    let args = [xs, &[initial.clone(), Argument::constant(f.clone())]].concat();
    Feedback::state(&step, &args, initial.ty, 1, Place::Row)
}

/// `genericTStateIterate`
pub(super) fn generic_time_state_iterate(operands: &Operands) -> Result<Box<dyn State>> {
    let (args, xs) = (single(operands), optional(&operands.places[1]));
    let [time] = columns(operands, 0, "T")? else { return refuse("one column is wanted: parameter=`T`") };
    let (span, left_closed) = (span(&args, 3)?, flag(&args, 5, "leftClosed", false)?);
    Recalling::state(Some(time), xs, args[2].clone(), function(operands, 4, "func")?, span, left_closed)
}

fn rows_wanted(args: &[Argument], place: usize, name: &str, least: i64) -> Result<i64> {
    match whole(args, place, name)? {
        Some(rows) if (least..=ROWS_MAX).contains(&rows) => Ok(rows),
        found => {
            let found = found.map_or(String::new(), |found| found.to_string());
            let wanted = format!("a whole number from {least} to {ROWS_MAX} is wanted");
            refuse(format!("{wanted}: parameter=`{name}`, value=`{found}`"))
        }
    }
}

/// The arguments at a place where an empty list stands for none.
fn optional(place: &[Argument]) -> &[Argument] {
    match place.first().and_then(|arg| arg.constant.as_ref()) {
        Some(Value::Tuple(values)) if values.is_empty() => &[],
        Some(Value::Vector(column)) if column.is_empty() => &[],
        Some(value) if value.is_null() => &[],
        _ => place,
    }
}

/// A function that takes its last result at the row before, whether the row is one of the first, and its arguments.
/// Its first result is put out.
struct Feedback {
    program: Program,
    /// The type of what is taken from the row before.
    ty: Type,
    /// How many rows of a key are the first ones.
    early: i64,
    keys: Paged<Past>,
}

/// What a key has come to.
#[derive(Clone)]
struct Past {
    rows: i64,
    value: Other,
}
wire!(Past { rows, value });

impl Default for Past {
    fn default() -> Past {
        Past { rows: 0, value: Other(Scalar::Null) }
    }
}

impl Feedback {
    /// Binds a step, written as a function of the language. The type of the past follows from the step itself.
    fn state(step: &str, args: &[Argument], start: Type, early: i64, place: Place) -> Result<Box<dyn State>> {
        let parsed = parse(&Source::new("step", step));
        let Some(StatementKind::Def(def)) = parsed.statements.first().map(|statement| &statement.kind) else {
            unreachable!("a step is a function");
        };
        let callee = Callee::Defined(def.clone());
        let function = Value::Function(UserFunction { callee, given: vec![], functions: Arc::default() });
        let mut ty = if start == Type::Void { Type::Double } else { start };
        for _ in 0..4 {
            let of_row = [Argument::of(ty), Argument::of(Type::Bool)];
            // Where in the step an error is says nothing to who called it.
            let program = Program::of_function(&function, &[&of_row, args].concat(), place)
                .map_err(|error| Diagnostic { span: None, ..error })?;
            let found = *program.types().last().expect("a step has a value");
            if found == ty {
                return Ok(Box::new(Feedback { program, ty, early, keys: Paged::new() }));
            }
            ty = found;
        }
        refuse(format!("the function's results have no one type: type=`{ty}`"))
    }
}

impl State for Feedback {
    fn types(&self) -> Vec<Type> {
        self.program.types()[..1].to_vec()
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        let Some(&last) = keys.iter().max() else { return Ok(vec![Column::nulls(self.types()[0], 0)]) };
        self.keys.grow(last as usize + 1, Past::default());
        // Keys with more rows come first, so each wave is of the first so many keys.
        let mut groups = grouped(keys);
        groups.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
        let past = groups.iter().map(|(key, _)| &self.keys[*key as usize].value.0);
        let mut past = Column::of_scalars(self.ty, past);
        let (mut made, mut places) = (vec![], vec![(0, 0); keys.len()]);
        let mut open = groups.len();
        for wave in 0..groups[0].1.len() {
            open = groups[..open].partition_point(|(_, rows)| rows.len() > wave);
            let wide = &groups[..open];
            let rows: Vec<u32> = wide.iter().map(|(_, rows)| rows[wave]).collect();
            let inner: Vec<u32> = wide.iter().map(|(key, _)| *key).collect();
            let early = BooleanBuffer::collect_bool(open, |place| {
                self.keys[inner[place] as usize].rows.saturating_add(wave as i64) < self.early
            });
            let mut columns = vec![past.slice(0, open), Column::of_bools(early, None)];
            columns.extend(args.iter().map(|arg| arg.take(&rows)));
            let mut results = self.program.push(&inner, &columns)?;
            past = results.pop().expect("a step has a value");
            for (place, &row) in rows.iter().enumerate() {
                places[row as usize] = (made.len(), place);
            }
            made.push(results.pop().unwrap_or_else(|| past.clone()));
            for (place, (key, rows)) in wide.iter().enumerate().filter(|(_, (_, rows))| rows.len() == wave + 1) {
                let key = &mut self.keys[*key as usize];
                key.rows = key.rows.saturating_add(rows.len() as i64);
                key.value = Other(past.get(place));
            }
        }
        Ok(vec![Column::interleave(&made.iter().collect::<Vec<_>>(), &places)?])
    }

    fn reset(&mut self, keys: &[u32]) {
        for &key in keys {
            if let Some(state) = self.keys.get_mut(key as usize) {
                *state = Past::default();
            }
        }
        self.program.reset(keys);
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        let (keys, states) = (self.keys.freeze(), self.program.snapshot());
        Box::new(Picture(move |key: u32, bytes: &mut Vec<u8>| {
            put(&keys, key, bytes);
            states.encode(key, bytes);
        }))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        put(&self.keys, key, bytes);
        self.program.encode(key, bytes);
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.keys.grow(key as usize + 1, Past::default());
        self.keys[key as usize] = Vocabulary::default().decode(bytes)?;
        self.program.decode(key, bytes)
    }
}

fn put<T: Clone + Default + Wire>(keys: &Paged<T>, key: u32, bytes: &mut Vec<u8>) {
    match keys.get(key as usize) {
        Some(state) => Vocabulary::default().encode(state, bytes),
        None => Vocabulary::default().encode(&T::default(), bytes),
    }
}

/// A function of the results of a window before the row, as a vector. It is called row by row.
struct Recalling {
    called: Called,
    /// Does a time column come first? Else rows are counted.
    timed: bool,
    /// The arguments after the window, and the initial value behind them.
    args: Vec<Argument>,
    span: i64,
    left_closed: bool,
    keys: Paged<Recalled>,
}

/// What a key has come to: its first time, its last one, and the results that are within the window of the next row.
#[derive(Clone, Default)]
struct Recalled {
    first: Option<i64>,
    last: i64,
    results: VecDeque<(i64, Other)>,
}
wire!(Recalled { first, last, results });

impl Recalling {
    fn state(
        time: Option<&Argument>,
        xs: &[Argument],
        initial: Argument,
        function: &Value,
        span: i64,
        left_closed: bool,
    ) -> Result<Box<dyn State>> {
        let rows_max = span.clamp(1, 64) as usize;
        let mut ty = if initial.ty == Type::Void { Type::Double } else { initial.ty };
        for _ in 0..4 {
            let samples = [1, rows_max].map(|rows| {
                let x = |x: &Argument| match &x.constant {
                    Some(value) => value.clone(),
                    None => Value::Scalar(x.ty, sample(x.ty)),
                };
                let window = Value::Vector(Column::repeat(ty, &sample(ty), rows));
                [window].into_iter().chain(xs.iter().map(x)).collect()
            });
            let called = Called::on_samples(function, samples)?;
            let [found] = called.types() else {
                return refuse("a function with one value is wanted: parameter=`func`");
            };
            match vector_type(ty, *found) {
                Some(wide) if wide == ty => {
                    let (called, timed) = (called.widened(ty), time.is_some());
                    let args = xs.iter().cloned().chain([initial]).collect();
                    return Ok(Box::new(Recalling { called, timed, args, span, left_closed, keys: Paged::new() }));
                }
                Some(wide) => ty = wide,
                None => return refuse(format!("the function and `initial` differ in type: types=`{found}, {ty}`")),
            }
        }
        refuse(format!("the function's results have no one type: type=`{ty}`"))
    }
}

impl State for Recalling {
    fn types(&self) -> Vec<Type> {
        self.called.types().to_vec()
    }

    fn push(&mut self, keys: &[u32], columns: &[Column]) -> Result<Vec<Column>> {
        let ty = self.called.types()[0];
        if let Some(&last) = keys.iter().max() {
            self.keys.grow(last as usize + 1, Recalled::default());
        }
        let (times, columns) = if self.timed { (Some(&columns[0]), &columns[1..]) } else { (None, columns) };
        let whole = times.and_then(Column::to_i64s);
        let mut results = self.called.builders();
        for (row, &key) in keys.iter().enumerate() {
            let recalled = &mut self.keys[key as usize];
            let time = match (&whole, times) {
                (Some(whole), Some(times)) => (!times.is_null(row)).then(|| whole[row]),
                _ => Some(recalled.first.map_or(0, |_| recalled.last.saturating_add(1))),
            };
            // A row without a time, or before the last one, is passed over.
            let Some(time) = time.filter(|time| recalled.first.is_none() || recalled.last <= *time) else {
                results[0].push(&Scalar::Null);
                continue;
            };
            let first = *recalled.first.get_or_insert(time);
            let mut columns = columns.iter();
            let mut value = |arg: &Argument| match &arg.constant {
                Some(value) => value.clone(),
                None => Value::of_row(columns.next().expect("a column for each"), row),
            };
            let mut args: Vec<Value> = self.args.iter().map(&mut value).collect();
            let initial = args.pop().expect("the initial value is the last one");
            let mut result = self.called.builders();
            if time.saturating_sub(first) < self.span {
                result[0].push(&fitted(initial, ty)?);
            } else {
                let window = Column::of_scalars(ty, recalled.results.iter().map(|(_, result)| &result.0));
                args.insert(0, Value::Vector(window));
                self.called.add_to(&mut result, args)?;
            }
            let result = result.remove(0).finish().get(0);
            results[0].push(&result);
            recalled.last = time;
            recalled.results.push_back((time, Other(result)));
            let start = time.saturating_sub(self.span);
            let gone = |oldest: i64| if self.left_closed { oldest < start } else { oldest <= start };
            while recalled.results.front().is_some_and(|(oldest, _)| gone(*oldest)) {
                recalled.results.pop_front();
            }
        }
        Ok(vec![results.remove(0).finish()])
    }

    fn reset(&mut self, keys: &[u32]) {
        for &key in keys {
            if let Some(state) = self.keys.get_mut(key as usize) {
                *state = Recalled::default();
            }
        }
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        let keys = self.keys.freeze();
        Box::new(Picture(move |key: u32, bytes: &mut Vec<u8>| put(&keys, key, bytes)))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        put(&self.keys, key, bytes);
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.keys.grow(key as usize + 1, Recalled::default());
        self.keys[key as usize] = Vocabulary::default().decode(bytes)?;
        Ok(())
    }
}
