//! What a function's arguments must be, and its settings as plain values.

use crate::diagnostic::Diagnostic;
use crate::function::{Argument, Result};
use crate::value::Value;
use data::{Scalar, Type};

/// The value of a setting; `None` where it is left out.
pub(super) fn setting(args: &[Argument], place: usize) -> Option<&Value> {
    let value = args.get(place)?.constant.as_ref()?;
    (!matches!(value, Value::Scalar(Type::Void, Scalar::Null))).then_some(value)
}

fn wanted(kind: &str, name: &str) -> Diagnostic {
    Diagnostic::new(format!("{kind} is wanted: parameter=`{name}`"))
}

/// A whole number.
pub(super) fn whole(args: &[Argument], place: usize, name: &str) -> Result<Option<i64>> {
    match setting(args, place) {
        None => Ok(None),
        Some(Value::Scalar(_, value)) => value.as_i64().map(Some).ok_or_else(|| wanted("a whole number", name)),
        Some(_) => Err(wanted("a whole number", name)),
    }
}

/// A number.
pub(super) fn number(args: &[Argument], place: usize, name: &str) -> Result<Option<f64>> {
    match setting(args, place) {
        None => Ok(None),
        Some(Value::Scalar(_, value)) => value.as_f64().map(Some).ok_or_else(|| wanted("a number", name)),
        Some(_) => Err(wanted("a number", name)),
    }
}

/// A vector of numbers.
pub(super) fn numbers(args: &[Argument], place: usize, name: &str) -> Result<Option<Vec<f64>>> {
    match setting(args, place) {
        None => Ok(None),
        Some(Value::Vector(column)) if column.null_count() == 0 => {
            let values = column.to_f64s().ok_or_else(|| wanted("a vector of numbers", name))?;
            Ok(Some(values.to_vec()))
        }
        Some(_) => Err(wanted("a vector of numbers", name)),
    }
}

/// A truth value.
pub(super) fn flag(args: &[Argument], place: usize, name: &str, default: bool) -> Result<bool> {
    match setting(args, place) {
        None => Ok(default),
        Some(Value::Scalar(_, value)) => value.as_i64().map(|v| v != 0).ok_or_else(|| wanted("true or false", name)),
        Some(_) => Err(wanted("true or false", name)),
    }
}

/// One of some words, by its place among them.
pub(super) fn choice(args: &[Argument], place: usize, name: &str, words: &[&str]) -> Result<Option<usize>> {
    let Some(value) = setting(args, place) else { return Ok(None) };
    let text = match value {
        Value::Scalar(_, Scalar::Text(text)) => text.as_ref(),
        _ => "",
    };
    match words.iter().position(|word| *word == text) {
        Some(found) => Ok(Some(found)),
        None => Err(wanted(&format!("one of {}", words.join(", ")), name).suggest(text, words.iter().copied())),
    }
}

/// The greatest window of a moving function.
const WINDOW_MAX: i64 = 102_400;

/// A moving function's window, in rows.
pub(super) fn window(args: &[Argument], place: usize, rows_min: i64) -> Result<usize> {
    let rows = whole(args, place, "window")?.unwrap_or(0);
    if !(rows_min..=WINDOW_MAX).contains(&rows) {
        let range = format!("a whole number from {rows_min} to {WINDOW_MAX} is wanted");
        return Err(Diagnostic::new(format!("{range}: parameter=`window`, value=`{rows}`")));
    }
    Ok(rows as usize)
}

/// Makes sure that an argument has numbers.
pub(super) fn need_number(args: &[Argument], place: usize) -> Result<()> {
    match args[place].ty {
        ty if ty.is_number() || ty == Type::Void => Ok(()),
        ty => Err(Diagnostic::new(format!("a number is wanted: argument=`{}`, type=`{ty}`", place + 1))),
    }
}
