//! How functions take matrices: the one place where a matrix is taken apart and results become one again.
//!
//! Invariants:
//! - A function of vectors goes through the columns, whatever its form: what it gives for the columns of a matrix is
//!   what it gives for each alone.
//! - A function across rows takes the columns together, as it does those of a tuple.
//! - Labels stay where the number of rows, or of columns, does.

use super::cast::convert;
use super::operator::common_type;
use super::signature::Signature;
use crate::diagnostic::Diagnostic;
use crate::function::{Form, Function, Result};
use crate::matrix::{Labels, Matrix};
use crate::value::{Args, Host, Value};
use data::{Column, Type};
use std::sync::Arc;

/// How many bytes are made before the host is asked for them.
const BYTES_UNASKED: usize = 1 << 16;

/// Calls a function that has a matrix among its arguments; `None` if there is none, or if it takes it as it is.
pub(super) fn call(
    function: &'static Function,
    signature: &Signature,
    args: &Args,
    host: &mut dyn Host,
) -> Result<Option<Value>> {
    let given = || args.values.iter().flatten().chain(args.named.iter().map(|(_, value)| value));
    if !given().any(|value| matches!(value, Value::Matrix(_)))
        || matches!(function.form, Form::Script(_)) && !super::is_of_vectors(function)
    {
        return Ok(None);
    }
    let matrices = of_rows(signature, args);
    let Some((_, first)) = matrices.first() else { return Ok(None) };
    let labelled = |matrix: &&Arc<Matrix>| matrix.row_labels().is_some() || matrix.column_labels().is_some();
    let like = matrices.iter().map(|(_, matrix)| matrix).find(labelled).unwrap_or(first);
    let together = |(place, _): &(usize, Arc<Matrix>)| match function.form {
        Form::Across(_) => true,
        Form::Calling(..) => signature.name(*place) == "X",
        _ => false,
    };
    if matrices.iter().any(together) {
        let result = super::call(function, &with(signature, args, Matrix::to_tuple), host)?;
        let arrays = given().any(|value| matches!(value, Value::Vector(column) if column.ty().element().is_some()));
        return Ok(Some(match result {
            Value::Tuple(values) => gathered(values, like.labels())?,
            Value::Vector(rows) if !arrays => of_array(rows, like)?,
            value => value,
        }));
    }
    if let Some((_, other)) = matrices.iter().find(|(_, other)| other.shape() != first.shape()) {
        let shapes = format!("shapes=`{}, {}`", first.shape(), other.shape());
        return Err(Diagnostic::new(format!("{}: matrices of different shape: {shapes}", function.name)));
    }
    let width = first.columns().len();
    let (mut results, mut made) = (vec![], 0);
    // Without a column, one of NULLs tells the type of the result.
    for place in 0..width.max(1) {
        let column = |matrix: &Matrix| match matrix.columns().get(place) {
            Some(column) => Value::Vector(column.clone()),
            None => Value::Vector(Column::nulls(matrix.ty(), matrix.rows())),
        };
        let result = super::call(function, &with(signature, args, column), host)?;
        made += result.bytes();
        if made >= BYTES_UNASKED {
            host.reserve(made)?;
            made = 0;
        }
        results.push(result);
    }
    let several = match &results[0] {
        Value::Tuple(parts) => parts.len(),
        _ => 0,
    };
    let all_several = results.iter().all(|result| matches!(result, Value::Tuple(parts) if parts.len() == several));
    if several == 0 || !all_several {
        return whole(results, width, like).map(Some);
    }
    // A function with several results gives as many matrices.
    let mut by_result: Vec<Vec<Value>> = vec![vec![]; several];
    for result in results {
        let Value::Tuple(parts) = result else { unreachable!("looked at just now") };
        by_result.iter_mut().zip(parts).for_each(|(own, part)| own.push(part));
    }
    let matrices = by_result.into_iter().map(|own| whole(own, width, like));
    Ok(Some(Value::Tuple(matrices.collect::<Result<_>>()?)))
}

/// The matrices among the arguments that have a value for each row, with the places of their parameters.
fn of_rows(signature: &Signature, args: &Args) -> Vec<(usize, Arc<Matrix>)> {
    let by_place = args.values.iter().enumerate().filter_map(|(place, value)| Some((place, value.as_ref()?)));
    let by_name = args.named.iter().filter_map(|(name, value)| Some((signature.place(name)?, value)));
    let matrix = |(place, value): (usize, &Value)| match value {
        Value::Matrix(matrix) if signature.by_row(place) => Some((place, matrix.clone())),
        _ => None,
    };
    by_place.chain(by_name).filter_map(matrix).collect()
}

/// The arguments with something in the place of each such matrix.
fn with(signature: &Signature, args: &Args, of: impl Fn(&Matrix) -> Value) -> Args {
    let replaced = |place: Option<usize>, value: &Value| match value {
        Value::Matrix(matrix) if place.is_some_and(|place| signature.by_row(place)) => of(matrix),
        value => value.clone(),
    };
    let values = args.values.iter().enumerate();
    let values = values.map(|(place, value)| value.as_ref().map(|value| replaced(Some(place), value))).collect();
    let named = args.named.iter().map(|(name, value)| (name.clone(), replaced(signature.place(name), value))).collect();
    Args { values, named, spans: args.spans.clone(), span: args.span }
}

/// The results for the columns of a matrix of that many; without any there is one result, for no column.
fn whole(results: Vec<Value>, width: usize, like: &Matrix) -> Result<Value> {
    let all = gathered(results, like.labels())?;
    Ok(match all {
        all if width > 0 => all,
        Value::Matrix(one) => Value::Matrix(Arc::new(Matrix::new(one.ty(), one.rows(), vec![]))),
        Value::Vector(one) => Value::Vector(one.slice(0, 0)),
        _ => Value::Tuple(vec![]),
    })
}

/// Results for the columns of a matrix as one value: a matrix of vectors of one kind and length, a bare NULL among
/// them being a column of NULLs; a vector of scalars; else a tuple. Labels are given where there are as many as rows or
/// columns.
pub(crate) fn gathered(results: Vec<Value>, labels: Labels) -> Result<Value> {
    let mut shape: Option<(Type, usize)> = None;
    for result in &results {
        shape = match (result, shape) {
            (Value::Vector(column), _) if column.ty().element().is_some() => return Ok(Value::vector(results)),
            (Value::Vector(column), None) => Some((column.ty(), column.len())),
            (Value::Vector(column), Some((ty, rows))) if column.len() == rows => match common_type(ty, column.ty()) {
                Some(ty) => Some((ty, rows)),
                None => return Ok(Value::vector(results)),
            },
            (result, shape) if result.is_null() => shape,
            _ => return Ok(Value::vector(results)),
        };
    }
    let Some((ty, rows)) = shape else { return Ok(Value::vector(results)) };
    let column = |result: &Value| match result {
        Value::Vector(column) if column.ty() == ty => Ok(column.clone()),
        Value::Vector(column) if column.ty() != Type::Void => convert(column, ty),
        _ => Ok(Column::nulls(ty, rows)),
    };
    let columns = results.iter().map(column).collect::<Result<Vec<_>>>()?;
    let row_labels = labels.rows.filter(|labels| labels.len() == rows);
    let column_labels = labels.columns.filter(|labels| labels.len() == columns.len());
    let matrix = Matrix::new(ty, rows, columns).with_labels(row_labels.cloned(), column_labels.cloned())?;
    Ok(Value::Matrix(Arc::new(matrix)))
}

/// An array vector with an element for each column in each row, as `rowCumsum` gives it, as a matrix.
fn of_array(rows: Column, like: &Matrix) -> Result<Value> {
    let (Some(ty), width) = (rows.ty().element(), like.columns().len()) else { return Ok(Value::Vector(rows)) };
    let offsets = rows.list_offsets();
    let full = rows.null_count() == 0 && offsets.windows(2).all(|ends| (ends[1] - ends[0]) as usize == width);
    if !full || rows.len() != like.rows() {
        return Ok(Value::Vector(rows));
    }
    let (start, elements) = (offsets[0] as usize, rows.list_elements());
    let column = |at: usize| {
        let places: Vec<u32> = (0..like.rows()).map(|row| (start + row * width + at) as u32).collect();
        elements.take(&places)
    };
    let matrix = Matrix::new(ty, like.rows(), (0..width).map(column).collect());
    let matrix = matrix.with_labels(like.row_labels().cloned(), like.column_labels().cloned())?;
    Ok(Value::Matrix(Arc::new(matrix)))
}
