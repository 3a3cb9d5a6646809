//! Functions of each pair: of the elements of two values, or of the columns of a matrix.

use super::containers::{given, unfit, wanted};
use super::index::{element, length};
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::{find, gathered, script};
use crate::matrix::{Labels, Matrix};
use crate::value::{Args, Host, Value};
use data::{Column, Type};
use std::sync::Arc;

pub(crate) static FUNCTIONS: &[Function] = &[
    script(
        "cross",
        "func, X, [Y]",
        "The function of each element of X with each of Y, or with each of X itself; the elements of a matrix or table \
         are its columns. A matrix with a row for each of X and a column for each of Y where the function gives \
         scalars, else a tuple for each of X. Also written `X f:C Y`.",
        ("flatten(cross(add, 1 2, 10 20))", "[11,12,21,22]"),
        cross,
    ),
    script(
        "pcross",
        "func, X, [Y]",
        "The same as `cross`: all pairs are taken in one thread.",
        ("flatten(pcross(mul, 1 2, 3 4))", "[3,6,4,8]"),
        cross,
    ),
    script(
        "corrMatrix",
        "X",
        "The correlation of each column of a matrix with each.",
        ("flatten(corrMatrix(matrix(1 2 3, 3 2 1)))", "[1,-1,-1,1]"),
        |host, args| of_columns("corrMatrix", "corr", host, args),
    ),
    script(
        "covarMatrix",
        "X",
        "The sample covariance of each column of a matrix with each.",
        ("flatten(covarMatrix(matrix(1 2 3, 6 4 2)))", "[1,-2,-2,4]"),
        |host, args| of_columns("covarMatrix", "covar", host, args),
    ),
];

/// The elements of a value, and what labels them.
fn elements(value: &Value) -> Result<(Vec<Value>, Option<Column>)> {
    match value {
        Value::Table(table) => {
            let batch = table.batch();
            let names = Column::of_texts(batch.schema().fields().iter().map(|field| Some(&*field.name)));
            Ok((batch.columns().iter().cloned().map(Value::Vector).collect(), Some(names)))
        }
        value => {
            let labels = match value {
                Value::Vector(column) if column.ty().element().is_none() => Some(column.clone()),
                Value::Matrix(matrix) => matrix.column_labels().cloned(),
                _ => None,
            };
            match length(value) {
                Some(count) => {
                    let all = (0..count).map(|place| element(value, place)).collect::<Result<_>>()?;
                    Ok((all, labels))
                }
                None => Ok((vec![value.clone()], None)),
            }
        }
    }
}

/// How many elements.
fn count(value: &Value) -> usize {
    match value {
        Value::Table(table) => table.batch().columns().len(),
        value => length(value).unwrap_or(1),
    }
}

fn cross(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let (function, x) = (wanted(args, 0, "func")?, wanted(args, 1, "X")?);
    let y = given(args, 2, "Y").unwrap_or(x);
    let (rows, width) = (count(x), count(y));
    let values = rows.saturating_mul(width).saturating_add(rows).saturating_add(width);
    host.reserve(values.saturating_mul(size_of::<Value>()))?;
    let ((left, row_labels), (right, column_labels)) = (elements(x)?, elements(y)?);
    let mut columns: Vec<Vec<Value>> = vec![];
    for y in &right {
        let cells = left.iter().map(|x| host.apply(function, vec![x.clone(), y.clone()]));
        columns.push(cells.collect::<Result<_>>()?);
    }
    let scalars = columns.iter().flatten().all(|cell| matches!(cell, Value::Scalar(..)));
    if !scalars || columns.is_empty() || left.is_empty() {
        let of = |place: usize| Value::vector(columns.iter().map(|cells| cells[place].clone()).collect());
        return Ok(Value::Tuple((0..left.len()).map(of).collect()));
    }
    let labels = Labels { rows: row_labels.as_ref(), columns: column_labels.as_ref() };
    gathered(columns.into_iter().map(Value::vector).collect(), labels)
}

/// The function of each column of a matrix with each; it does not matter which of two is the first.
fn of_columns(name: &str, of_two: &str, host: &mut dyn Host, args: &Args) -> Result<Value> {
    let Value::Matrix(matrix) = wanted(args, 0, "X")? else { return Err(unfit(name, wanted(args, 0, "X")?)) };
    let function = find(of_two).expect("a function of the library");
    let columns = matrix.columns();
    let width = columns.len();
    host.reserve(width.saturating_mul(width).saturating_mul(size_of::<Option<f64>>()))?;
    let mut cells: Vec<Vec<Option<f64>>> = vec![vec![None; width]; width];
    for (place, first) in columns.iter().enumerate() {
        for (other, second) in columns.iter().enumerate().take(place + 1) {
            // The work of a pair is that of its rows.
            host.reserve(matrix.rows() * size_of::<f64>())?;
            let values = vec![Some(Value::Vector(first.clone())), Some(Value::Vector(second.clone()))];
            let value = match crate::library::call(function, &Args { values, ..Args::default() }, host)? {
                Value::Scalar(_, value) => value.as_f64(),
                other => return Err(Diagnostic::new(format!("not a number: function=`{of_two}`, found=`{other}`"))),
            };
            (cells[place][other], cells[other][place]) = (value, value);
        }
    }
    let column = |cells: &Vec<Option<f64>>| {
        let valid = cells.iter().map(Option::is_some).collect::<Vec<bool>>();
        Column::of_f64(
            Type::Double,
            cells.iter().map(|cell| cell.unwrap_or(0.0)).collect::<Vec<_>>(),
            Some(valid.into()),
        )
    };
    let result = Matrix::new(Type::Double, width, cells.iter().map(column).collect());
    let labels = matrix.column_labels();
    Ok(Value::Matrix(Arc::new(result.with_labels(labels.cloned(), labels.cloned())?)))
}
