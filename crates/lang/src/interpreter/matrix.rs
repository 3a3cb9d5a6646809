//! Matrices: made, labelled, turned and put together.

use super::containers::{ELEMENTS_MAX, column_of, given, unfit, wanted};
use super::index::length;
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::{common_type, script};
use crate::matrix::{COLUMN_BYTES, Matrix};
use crate::value::{Args, Host, Value};
use data::{Column, Scalar, Type};
use std::sync::Arc;

pub(crate) static FUNCTIONS: &[Function] = &[
    script(
        "matrix",
        "X...",
        "A matrix of columns of one length: vectors, or those of a tuple or table, whose names become labels. \
         `matrix(type, rows, cols, [capacity], [default])` has the default in each cell: 0 for numbers, else NULL.",
        ("sum(matrix(1 2, 3 4))", "[3,7]"),
        matrix,
    ),
    script(
        "transpose",
        "X",
        "A matrix with its rows as columns. Of a tuple of vectors, a tuple.",
        ("flatten(transpose(matrix(1 2, 3 4)))", "[1,3,2,4]"),
        transpose,
    ),
    script("shape", "X", "How many rows and columns, as a pair.", ("shape(matrix(1 2 3, 4 5 6))", "3:2"), |_, args| {
        let value = wanted(args, 0, "X")?;
        let (rows, columns) = match value {
            Value::Table(table) => (table.batch().rows(), table.batch().columns().len()),
            Value::Matrix(matrix) => (matrix.rows(), matrix.columns().len()),
            Value::Tuple(_) => {
                let columns = columns_of(value)?;
                (columns.first().map_or(0, Column::len), columns.len())
            }
            value => (length(value).unwrap_or(1), 1),
        };
        Ok(Value::Pair(Box::new(Value::int(rows as i32)), Box::new(Value::int(columns as i32))))
    }),
    script(
        "reshape",
        "X, [shape]",
        "The elements, column by column, as a matrix of so many rows and columns; without a shape as a vector.",
        ("shape(reshape(1..6, 3:2))", "3:2"),
        |_, args| {
            let value = wanted(args, 0, "X")?;
            match given(args, 1, "shape") {
                Some(Value::Pair(rows, columns)) => shaped(value, rows, columns),
                Some(other) => Err(unfit("reshape", other)),
                None => Ok(Value::Vector(column_of(value, None)?)),
            }
        },
    ),
    script(
        "concatMatrix",
        "matrices, [horizontal=true]",
        "Matrices in one: side by side, or below one another.",
        ("shape(concatMatrix([matrix(1 2, 3 4), matrix(5 6)]))", "2:3"),
        |host, args| {
            let value = wanted(args, 0, "matrices")?;
            let Value::Tuple(values) = value else { return Err(unfit("concatMatrix", value)) };
            host.reserve(value.bytes())?;
            let matrices = values.iter().map(|value| match value {
                Value::Matrix(matrix) => Ok(matrix.clone()),
                other => Err(unfit("concatMatrix", other)),
            });
            let matrices = matrices.collect::<Result<Vec<_>>>()?;
            match given(args, 1, "horizontal").and_then(Value::as_bool) {
                Some(false) => below(&matrices),
                _ => beside(&matrices),
            }
        },
    ),
    script(
        "rowNames",
        "X",
        "The labels of a matrix's rows; NULL if there are none.",
        ("rowNames(rename!(matrix(1 2, 3 4), `a`b, `x`y))", "[\"a\",\"b\"]"),
        |_, args| match wanted(args, 0, "X")? {
            Value::Matrix(matrix) => Ok(labels(matrix.row_labels())),
            other => Err(unfit("rowNames", other)),
        },
    ),
    script(
        "colNames",
        "X",
        "The labels of a matrix's columns, NULL if there are none; the names of a table's columns.",
        ("colNames(matrix(table(1 2 as a, 3 4 as b)))", "[\"a\",\"b\"]"),
        |_, args| column_names("colNames", wanted(args, 0, "X")?),
    ),
];

fn labels(labels: Option<&Column>) -> Value {
    labels.map_or(Value::NULL, |labels| Value::Vector(labels.clone()))
}

/// The names of the columns of a table, or the labels of those of a matrix.
pub(super) fn column_names(function: &str, value: &Value) -> Result<Value> {
    match value {
        Value::Table(table) => Ok(super::containers::names(&table.batch())),
        Value::Matrix(matrix) => Ok(labels(matrix.column_labels())),
        other => Err(unfit(function, other)),
    }
}

/// `rename!` of a matrix: `rename!(m, colLabels)` or `rename!(m, rowLabels, colLabels)`; NULL takes labels away.
pub(super) fn renamed(matrix: &Matrix, args: &Args) -> Result<Value> {
    let labels = |value: &Value| match value {
        value if value.is_null() => Ok(None),
        Value::Vector(column) => Ok(Some(column.clone())),
        Value::Scalar(ty, label) => Ok(Some(Column::of_scalars(*ty, [label]))),
        other => Err(unfit("rename!", other)),
    };
    let first = labels(wanted(args, 1, "colNames")?)?;
    let (rows, columns) = match given(args, 2, "newNames") {
        Some(second) => (first, labels(second)?),
        None => (matrix.row_labels().cloned(), first),
    };
    Ok(Value::Matrix(Arc::new(matrix.clone().with_labels(rows, columns)?)))
}

/// The columns of a matrix, or of a tuple that could be one.
fn columns_of(value: &Value) -> Result<Vec<Column>> {
    let unfit = || Diagnostic::new(format!("a matrix is wanted: found=`{}`", value.kind()));
    let values = match value {
        Value::Matrix(matrix) => return Ok(matrix.columns().to_vec()),
        Value::Tuple(values) => values,
        _ => return Err(unfit()),
    };
    let column = |value: &Value| match value {
        Value::Vector(column) if column.ty().element().is_none() => Some(column.clone()),
        _ => None,
    };
    let columns: Vec<Column> = values.iter().map(column).collect::<Option<_>>().ok_or_else(unfit)?;
    match columns.windows(2).all(|two| two[0].len() == two[1].len()) {
        true => Ok(columns),
        false => Err(unfit()),
    }
}

fn transpose(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let value = wanted(args, 0, "X")?;
    if let Value::Matrix(matrix) = value {
        host.reserve(matrix.bytes().saturating_add(matrix.rows() * COLUMN_BYTES))?;
        return Ok(Value::Matrix(Arc::new(matrix.transposed()?)));
    }
    let columns = columns_of(value)?;
    let rows = columns.first().map_or(0, Column::len);
    let row = |row: usize| Value::vector(columns.iter().map(|column| Value::of_row(column, row)).collect());
    Ok(Value::Tuple((0..rows).map(row).collect()))
}

/// The elements of a vector, or of another matrix, as a matrix of so many rows and columns, column by column.
pub(super) fn shaped(value: &Value, rows: &Value, columns: &Value) -> Result<Value> {
    let wanted = || Diagnostic::new(format!("whole numbers above 0 are wanted: shape=`{rows}:{columns}`"));
    let count = |value: &Value| value.as_i64().and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
    let (rows, columns) = (count(rows).ok_or_else(wanted)?, count(columns).ok_or_else(wanted)?);
    let elements = column_of(value, None)?;
    if elements.ty().element().is_some() {
        return Err(unfit("matrix", value));
    }
    if rows.checked_mul(columns) != Some(elements.len()) {
        let found = elements.len();
        return Err(Diagnostic::new(format!(
            "not as many elements as the shape has: shape=`{rows}:{columns}`, elements=`{found}`"
        )));
    }
    let columns = (0..columns).map(|place| elements.slice(place * rows, rows)).collect();
    Ok(Value::Matrix(Arc::new(Matrix::new(elements.ty(), rows, columns))))
}

/// Columns of one length in their common type.
pub(super) fn of_columns(function: &str, columns: Vec<Column>) -> Result<Matrix> {
    let Some(rows) = columns.first().map(Column::len) else {
        return Err(Diagnostic::new(format!("{function} expects columns: found=`0`")));
    };
    if let Some(other) = columns.iter().find(|column| column.len() != rows) {
        let found = other.len();
        return Err(Diagnostic::new(format!(
            "columns of different length: function=`{function}`, rows=`{rows}, {found}`"
        )));
    }
    let types = || columns.iter().map(|column| column.ty().to_string()).collect::<Vec<_>>().join(", ");
    let ty = columns.iter().try_fold(Type::Void, |ty, column| common_type(ty, column.ty()));
    let ty = ty.filter(|ty| ty.element().is_none());
    let ty = ty.ok_or_else(|| Diagnostic::new(format!("columns of one kind are wanted: types=`{}`", types())))?;
    let columns = columns.iter().map(|column| crate::library::convert(column, ty)).collect::<Result<_>>()?;
    Ok(Matrix::new(ty, rows, columns))
}

fn matrix(host: &mut dyn Host, args: &Args) -> Result<Value> {
    if let Some(Value::Type(ty)) = given(args, 0, "dataType") {
        return filled(host, *ty, args);
    }
    host.reserve(args.values.iter().flatten().map(Value::bytes).sum())?;
    let (mut columns, mut labels): (Vec<Column>, Vec<Arc<str>>) = (vec![], vec![]);
    for value in args.values.iter().flatten().chain(args.named.iter().map(|(_, value)| value)) {
        match value {
            Value::Vector(column) if column.ty().element().is_none() => columns.push(column.clone()),
            Value::Tuple(values) => {
                for value in values {
                    let Value::Vector(column) = value else { return Err(unfit("matrix", value)) };
                    columns.push(column.clone());
                }
            }
            Value::Matrix(matrix) => columns.extend(matrix.columns().iter().cloned()),
            Value::Table(table) => {
                let batch = table.batch();
                labels.extend(batch.schema().fields().iter().map(|field| field.name.clone()));
                columns.extend(batch.columns().iter().cloned());
            }
            other => return Err(unfit("matrix", other)),
        }
    }
    let matrix = of_columns("matrix", columns)?;
    // Names are labels where all columns have one.
    let labels =
        (labels.len() == matrix.columns().len()).then(|| Column::of_texts(labels.iter().map(|label| Some(&**label))));
    Ok(Value::Matrix(Arc::new(matrix.with_labels(None, labels)?)))
}

/// `matrix(type, rows, cols, [capacity], [default])`
fn filled(host: &mut dyn Host, ty: Type, args: &Args) -> Result<Value> {
    let (rows, width) = (
        super::containers::size_of(wanted(args, 1, "rows")?)?,
        super::containers::size_of(wanted(args, 2, "columns")?)?,
    );
    if ty.element().is_some() || rows.saturating_mul(width) > ELEMENTS_MAX {
        let shape = format!("type=`{ty}`, shape=`{rows}:{width}`, limit=`{ELEMENTS_MAX}`");
        return Err(Diagnostic::new(format!("matrix cannot be made: {shape}")));
    }
    host.reserve(rows * width * size_of::<i64>() + width * COLUMN_BYTES)?;
    let value = match given(args, 4, "defaultValue") {
        Some(Value::Scalar(of, value)) => Column::of_scalars(*of, [value]),
        Some(other) => return Err(unfit("matrix", other)),
        None if ty.is_number() => Column::of_scalars(Type::Int, [&Scalar::Int(0)]),
        None => Column::nulls(ty, 1),
    };
    let value = super::containers::cast(host, &value, ty)?.get(0);
    let columns = vec![Column::repeat(ty, &value, rows); width];
    Ok(Value::Matrix(Arc::new(Matrix::new(ty, rows, columns))))
}

/// Labels of several matrices in a row, where all have some of one kind.
fn labels_in_a_row<'a>(labels: impl Iterator<Item = Option<&'a Column>>) -> Result<Option<Column>> {
    let Some(labels) = labels.collect::<Option<Vec<_>>>() else { return Ok(None) };
    match labels.windows(2).all(|two| two[0].ty() == two[1].ty()) && !labels.is_empty() {
        true => Ok(Some(Column::concat(&labels)?)),
        false => Ok(None),
    }
}

/// Matrices side by side.
fn beside(matrices: &[Arc<Matrix>]) -> Result<Value> {
    let columns = matrices.iter().flat_map(|matrix| matrix.columns().iter().cloned()).collect();
    let labels = labels_in_a_row(matrices.iter().map(|matrix| matrix.column_labels()))?;
    let rows = matrices.iter().find_map(|matrix| matrix.row_labels()).cloned();
    Ok(Value::Matrix(Arc::new(of_columns("concatMatrix", columns)?.with_labels(rows, labels)?)))
}

/// Matrices below one another.
fn below(matrices: &[Arc<Matrix>]) -> Result<Value> {
    let width = matrices.first().map_or(0, |matrix| matrix.columns().len());
    if let Some(other) = matrices.iter().find(|matrix| matrix.columns().len() != width) {
        let found = other.columns().len();
        return Err(Diagnostic::new(format!(
            "matrices of different width: function=`concatMatrix`, columns=`{width}, {found}`"
        )));
    }
    let ty = matrices.iter().try_fold(Type::Void, |ty, matrix| common_type(ty, matrix.ty()));
    let ty = ty.ok_or_else(|| Diagnostic::new("matrices of one kind are wanted: function=`concatMatrix`"))?;
    let column = |place: usize| {
        let parts = matrices.iter().map(|matrix| crate::library::convert(&matrix.columns()[place], ty));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(Column::concat(&parts.iter().collect::<Vec<_>>())?)
    };
    let columns = (0..width).map(column).collect::<Result<Vec<_>>>()?;
    let rows = labels_in_a_row(matrices.iter().map(|matrix| matrix.row_labels()))?;
    let labels = matrices.iter().find_map(|matrix| matrix.column_labels()).cloned();
    Ok(Value::Matrix(Arc::new(of_columns("concatMatrix", columns)?.with_labels(rows, labels)?)))
}

/// A matrix with further columns: a vector's, or those of another matrix; also with the matrix behind the vector.
pub(super) fn joined(left: &Value, right: &Value) -> Result<Value> {
    let matrix = |value: &Value| match value {
        Value::Matrix(matrix) => Ok(matrix.clone()),
        Value::Vector(column) if column.ty().element().is_none() => {
            Ok(Arc::new(Matrix::new(column.ty(), column.len(), vec![column.clone()])))
        }
        other => Err(unfit("join", other)),
    };
    beside(&[matrix(left)?, matrix(right)?])
}
