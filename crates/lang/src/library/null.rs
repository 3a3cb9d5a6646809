//! Choices between values, and NULL.

use super::cast::convert;
use super::entry::row;
use super::operator::{common_type, truths};
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Function, Result};
use data::arrow::buffer::BooleanBuffer;
use data::{Column, Type};

pub(super) static FUNCTIONS: &[Function] = &[
    row(
        "iif",
        "Condition, Yes, No",
        "One of two values by a condition; NULL where that is NULL.",
        ("iif(1 2 3 == 3, 1, 2)", "[2,2,1]"),
        iif,
    ),
    row("nullFill", "X, Y", "Y where X is NULL.", ("nullFill([1,,6], 0)", "[1,0,6]"), |args| {
        let ty = if args[0].ty == Type::Void { args[1].ty } else { args[0].ty };
        common_type(args[0].ty, args[1].ty).ok_or_else(|| unlike("nullFill", args))?;
        Ok(BoundRow { ty, kernel: Box::new(move |columns| fill(&columns[0], &columns[1], ty)) })
    }),
    row(
        "coalesce",
        "X, Y, ...",
        "The first argument that is not NULL.",
        ("coalesce([1,,], [2,3,])", "[1,3,]"),
        |args| {
            let common = args.iter().try_fold(Type::Void, |ty, arg| common_type(ty, arg.ty));
            let ty = common.ok_or_else(|| unlike("coalesce", args))?;
            let kernel = move |columns: &[Column]| {
                columns[1..].iter().try_fold(convert(&columns[0], ty)?, |filled, column| fill(&filled, column, ty))
            };
            Ok(BoundRow { ty, kernel: Box::new(kernel) })
        },
    ),
    row("isNull", "X", "Is it NULL?", ("isNull([1,])", "[false,true]"), |_| Ok(validity(true))),
    row("isValid", "X", "Is it a value?", ("isValid([1,])", "[true,false]"), |_| Ok(validity(false))),
    row("nanInfFill", "X, Y", "Y where X is NaN or infinite.", ("nanInfFill(1.5 2.5, 0)", "[1.5,2.5]"), |args| {
        let ty = args[0].ty;
        if !ty.is_float() {
            return Err(Diagnostic::new(format!("a FLOAT or DOUBLE is wanted: function=`nanInfFill`, type=`{ty}`")));
        }
        let kernel = move |columns: &[Column]| {
            let values = columns[0].to_f64s().expect("a column of floats");
            let (finite, other) = (columns[0].with_type(ty), convert(&columns[1], ty)?);
            let valid = |row: usize| columns[0].is_null(row) || values[row].is_finite();
            pick(&BooleanBuffer::collect_bool(values.len(), valid), None, &finite, &other)
        };
        Ok(BoundRow { ty, kernel: Box::new(kernel) })
    }),
];

fn unlike(name: &str, args: &[Argument]) -> Diagnostic {
    let types: Vec<String> = args.iter().map(|arg| arg.ty.to_string()).collect();
    Diagnostic::new(format!("{name} expects values of one kind: types=`{}`", types.join(", ")))
}

fn validity(null: bool) -> BoundRow {
    let kernel = move |columns: &[Column]| {
        let rows = columns[0].len();
        let bits = match columns[0].validity() {
            _ if columns[0].ty() == Type::Void => BooleanBuffer::collect_bool(rows, |_| null),
            None => BooleanBuffer::collect_bool(rows, |_| !null),
            Some(valid) if null => !valid.inner(),
            Some(valid) => valid.inner().clone(),
        };
        Ok(Column::of_bools(bits, None))
    };
    BoundRow { ty: Type::Bool, kernel: Box::new(kernel) }
}

fn fill(column: &Column, other: &Column, ty: Type) -> Result<Column> {
    let column = convert(column, ty)?;
    match column.validity() {
        None => Ok(column.clone()),
        Some(valid) => pick(valid.inner(), None, &column, &convert(other, ty)?),
    }
}

/// The first column where the bit is set, else the second; NULL where `condition` is NULL. Both are of one type.
fn pick(bits: &BooleanBuffer, condition: Option<&Column>, yes: &Column, no: &Column) -> Result<Column> {
    let null = Column::nulls(yes.ty(), 1);
    let place = |row: usize| match condition.is_some_and(|condition| condition.is_null(row)) {
        true => (2, 0),
        false => (!bits.value(row) as usize, row),
    };
    let places: Vec<(usize, usize)> = (0..bits.len()).map(place).collect();
    Ok(Column::interleave(&[yes, no, &null], &places)?)
}

fn iif(args: &[Argument]) -> Result<BoundRow> {
    let condition = args[0].ty;
    if !(condition.is_number() || condition == Type::Void) {
        return Err(Diagnostic::new(format!("a truth value is wanted: function=`iif`, type=`{condition}`")));
    }
    let ty = common_type(args[1].ty, args[2].ty).ok_or_else(|| unlike("iif", &args[1..]))?;
    let kernel = move |columns: &[Column]| {
        let (yes, no) = (convert(&columns[1], ty)?, convert(&columns[2], ty)?);
        pick(&truths(&columns[0])?, Some(&columns[0]), &yes, &no)
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}
