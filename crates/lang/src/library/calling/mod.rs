//! Functions of streams that call a function: over windows, within segments, and on their own results.
//!
//! A function that is given as an argument is bound like a metric, to the types of what it is called with, so it is
//! computed in columns as a metric is. One over a window that cannot be bound so is called through the interpreter.

mod called;
mod feedback;
mod segments;
mod windows;

pub(crate) use called::kept_rows;
pub(super) use segments::{NullsUntilAll, Started};

use super::keyed::refuse;
use crate::function::{Argument, Form, Function, Operands, Result, Script, State};
use crate::interpreter;
use crate::value::Value;

type Bind = fn(&Operands) -> Result<Box<dyn State>>;

const fn calling(
    name: &'static str,
    parameters: &'static str,
    summary: &'static str,
    example: (&'static str, &'static str),
    bind: Bind,
    script: Option<Script>,
) -> Function {
    Function { name, parameters, summary, example, form: Form::Calling(bind, script) }
}

pub(super) static FUNCTIONS: &[Function] = &[
    calling(
        "moving",
        "func, Args, window, [minPeriods]",
        "The function of the last `window` rows at each row, from the row on that has `minPeriods` of them. Of array \
         vectors it takes all elements of these rows in a row.",
        ("moving(sum, 1 2 3, 2)", "[,3,5]"),
        windows::moving,
        Some(interpreter::moving),
    ),
    calling(
        "tmoving",
        "func, T, Args, window",
        "The function, at each row, of the rows so far with T in (T now - window, T now].",
        ("tmoving(sum, 1 1 3 5, 5 2 4 1, 3)", "[5,7,11,5]"),
        windows::tmoving,
        None,
    ),
    calling(
        "window",
        "func, Args, range",
        "The function of the rows that far from each row. A stream has no rows after the last one: there `range` ends at \
         0 or before.",
        ("window(sum, 1 2 3, -1:0)", "[1,3,5]"),
        windows::window,
        Some(interpreter::window),
    ),
    calling(
        "segmentby",
        "func, Args, Segment",
        "The function within each run of equal values of Segment.",
        ("segmentby(cumsum, 1 2 3, 0 0 1)", "[1,3,3]"),
        segments::segmentby,
        Some(interpreter::segment_by),
    ),
    calling(
        "talib",
        "func, Args, ...",
        "The function from the row on by which each argument has had a value; rows before it are NULL.",
        ("talib(msum, [NULL, 1, 2, 3], 2)", "[,,3,5]"),
        segments::talib,
        Some(interpreter::talib),
    ),
    calling(
        "byColumn",
        "func, X, ...",
        "The function of each column; of an array vector, of the elements at each place.",
        ("byColumn(cumsum, movingWindowData(1 2 3, 2))", "[[1],[2,2],[4,5]]"),
        segments::by_column,
        Some(interpreter::by_column),
    ),
    calling(
        "accumulate",
        "func, X, [init]",
        "The function of what came of it before and the next element, at each one. Without `init` the first value is X \
         itself.",
        ("accumulate(add, 1 2 3)", "[1,3,6]"),
        feedback::accumulate,
        Some(interpreter::accumulate),
    ),
    calling(
        "conditionalIterate",
        "Cond, TrueValue, falseIterFunc",
        "TrueValue where Cond is true, else what `falseIterFunc` of all results before came to at the row before.",
        ("conditionalIterate(true false false, 10 20 30, cumsum)", "[10,10,20]"),
        feedback::conditional_iterate,
        None,
    ),
    calling(
        "stateIterate",
        "X, Initial, initialWindow, iterateFunc, combineCoeff",
        "Initial in the first `initialWindow` rows; then X and what `iterateFunc` of all results before came to at the \
         row before, added with the two coefficients.",
        ("stateIterate(1 2 3 4 5 6, 10 10 10 10 10 10, 3, msum{, 3}, [0.5, 0.5])", "[10,10,10,17,21,27]"),
        feedback::state_iterate,
        None,
    ),
    calling(
        "genericStateIterate",
        "X, Initial, window, func",
        "Initial in the first `window` rows; then the function of the last `window` results, as a vector, and of each \
         column of X. With a window of 0: of the result before, which is Initial at the first row.",
        ("genericStateIterate(310 280 300, 1.5 1.6 1.7, 2, (x, w) -> sum(x * w))", "[1.5,1.6,930]"),
        feedback::generic_state_iterate,
        None,
    ),
    calling(
        "genericTStateIterate",
        "T, X, Initial, window, func, [leftClosed=false]",
        "Initial in the first `window` of T; then the function of the results, as a vector, with T in (T before - window, \
         T before], and of each column of X. `leftClosed`: of those at T before - window too.",
        ("genericTStateIterate(1 2 4, 310 280 300, 1.5 1.6 1.7, 3, (x, w) -> sum(x * w))", "[1.5,1.6,930]"),
        feedback::generic_time_state_iterate,
        None,
    ),
];

/// One of each parameter's arguments, for those that take one.
fn single(operands: &Operands) -> Vec<Argument> {
    operands.places.iter().map(|place| place[0].clone()).collect()
}

/// The function that is given at a place.
fn function<'a>(operands: &'a Operands, place: usize, name: &str) -> Result<&'a Value> {
    match &operands.places[place][0].constant {
        Some(function @ (Value::Builtin(_) | Value::Function(_))) => Ok(function),
        _ => refuse(format!("a function is wanted: parameter=`{name}`")),
    }
}

/// The columns that are given at a place.
fn columns<'a>(operands: &'a Operands, place: usize, name: &str) -> Result<&'a [Argument]> {
    let columns = &operands.places[place];
    match columns.iter().all(|column| column.constant.is_none()) {
        true => Ok(columns),
        false => refuse(format!("a column is wanted, or several: parameter=`{name}`")),
    }
}

/// Dense numbers, handed out and taken back.
#[derive(Debug, Clone, Default)]
struct Numbers {
    end: u32,
    free: Vec<u32>,
}

impl Numbers {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.end += 1;
            self.end - 1
        })
    }

    fn give_back(&mut self, numbers: impl IntoIterator<Item = u32>) {
        self.free.extend(numbers);
    }
}

#[cfg(test)]
mod tests;
