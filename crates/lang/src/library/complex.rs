//! COMPLEX and POINT: two doubles as one value.
//!
//! Invariant: a part that is NULL, or no finite number, makes the whole NULL.

use super::cast::convert;
use super::entry::row;
use super::settings::need_number;
use crate::function::{Argument, BoundRow, Function, Result};
use data::arrow::buffer::NullBuffer;
use data::{Column, Type, bytes_of_pair, pair_of};

pub(super) static FUNCTIONS: &[Function] = &[
    row(
        "complex",
        "X, Y",
        "The complex number of a real and an imaginary part; NULL where one of them is. `+`, `-`, `*`, `\\` and `==` take it.",
        ("complex(1, -2) * complex(0, 1)", "2+1i"),
        |a| of_parts(a, Type::Complex),
    ),
    row(
        "point",
        "X, Y",
        "The point of the plane at X and Y; NULL where one of them is.",
        ("point(1, 2)", "(1, 2)"),
        |a| of_parts(a, Type::Point),
    ),
];

type Pair = (f64, f64);

/// What an operator makes of two complex numbers.
type Operation = fn(Pair, Pair) -> Option<Pair>;

fn of_parts(args: &[Argument], ty: Type) -> Result<BoundRow> {
    need_number(args, 0)?;
    need_number(args, 1)?;
    let kernel = move |columns: &[Column]| {
        let parts = |column: &Column| column.to_f64s().expect("a column of numbers");
        let (x, y) = (parts(&columns[0]), parts(&columns[1]));
        Ok(column(ty, columns, |row| Some((x[row], y[row]))))
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

/// Numbers as complex ones.
pub(super) fn of_numbers(numbers: &Column) -> Column {
    let values = numbers.to_f64s().expect("a column of numbers");
    column(Type::Complex, std::slice::from_ref(numbers), |row| Some((values[row], 0.0)))
}

/// A pair for each row in which all arguments are valid.
fn column(ty: Type, arguments: &[Column], pair: impl Fn(usize) -> Option<Pair>) -> Column {
    let nulls = arguments.iter().fold(None, |all, column| NullBuffer::union(all.as_ref(), column.validity()));
    let rows = arguments[0].len();
    let (mut values, mut valid) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for row in 0..rows {
        let given = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        let pair = if given { pair(row) } else { None };
        let pair = pair.filter(|(first, second)| first.is_finite() && second.is_finite());
        valid.push(pair.is_some());
        let (first, second) = pair.unwrap_or_default();
        values.push(bytes_of_pair(first, second));
    }
    Column::of_bytes16(ty, values, Some(NullBuffer::from(valid)))
}

/// An operator of which one side at least is complex; `None` for all other types.
pub(super) fn arithmetic(args: &[Argument], operation: Operation) -> Option<BoundRow> {
    let fits = |arg: &Argument| arg.ty == Type::Complex || arg.ty.is_number() || arg.ty == Type::Void;
    if !args.iter().all(fits) || args.iter().all(|arg| arg.ty != Type::Complex) {
        return None;
    }
    let kernel = move |columns: &[Column]| {
        let both = [convert(&columns[0], Type::Complex)?, convert(&columns[1], Type::Complex)?];
        let [x, y] = [both[0].bytes16s(), both[1].bytes16s()];
        Ok(column(Type::Complex, &both, |row| operation(pair_of(&x[row]), pair_of(&y[row]))))
    };
    Some(BoundRow { ty: Type::Complex, kernel: Box::new(kernel) })
}

pub(super) fn add(x: Pair, y: Pair) -> Option<Pair> {
    Some((x.0 + y.0, x.1 + y.1))
}

pub(super) fn subtract(x: Pair, y: Pair) -> Option<Pair> {
    Some((x.0 - y.0, x.1 - y.1))
}

pub(super) fn multiply(x: Pair, y: Pair) -> Option<Pair> {
    Some((x.0 * y.0 - x.1 * y.1, x.0 * y.1 + x.1 * y.0))
}

pub(super) fn divide(x: Pair, y: Pair) -> Option<Pair> {
    let size = y.0 * y.0 + y.1 * y.1;
    (size != 0.0).then(|| ((x.0 * y.0 + x.1 * y.1) / size, (x.1 * y.0 - x.0 * y.1) / size))
}
