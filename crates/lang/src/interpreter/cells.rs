//! Cells, rows, columns and blocks of matrices: read and written.
//!
//! Invariants:
//! - The index of a matrix is `[column]`, `[row, column]` with either left out for all of them, or a matrix of truth
//!   values for the cells where it is true.
//! - A place that the matrix does not have is an error.

use super::Interpreter;
use super::containers::{cast, column_of};
use super::index::{NOWHERE, Places, met, places};
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::matrix::{COLUMN_BYTES, Matrix};
use crate::value::{Host, Value};
use data::{Column, Type};
use std::sync::Arc;

/// Which rows or columns an index means.
enum Chosen {
    One(u32),
    Many(Vec<u32>),
}

impl Chosen {
    fn len(&self) -> usize {
        match self {
            Chosen::One(_) => 1,
            Chosen::Many(places) => places.len(),
        }
    }

    fn list(self) -> Vec<u32> {
        match self {
            Chosen::One(place) => vec![place],
            Chosen::Many(places) => places,
        }
    }
}

/// The rows or columns of a place; all of them where it is left out.
fn chosen(place: Option<&Value>, count: usize, what: &str) -> Result<Chosen> {
    let Some(place) = place else { return Ok(Chosen::Many((0..count as u32).collect())) };
    let none = || Diagnostic::new(format!("no such {what} of a matrix: index=`{place}`, {what}s=`{count}`"));
    if let Value::Pair(from, to) = place {
        let outside = |end: &Value| end.as_i64().is_some_and(|end| !(0..=count as i64).contains(&end));
        if outside(from) || outside(to) {
            return Err(none());
        }
    }
    match places(place, count)? {
        Places::One(Some(place)) => Ok(Chosen::One(place as u32)),
        Places::Many(places) if !places.contains(&NOWHERE) => Ok(Chosen::Many(places)),
        _ => Err(none()),
    }
}

/// The rows and columns of an index.
fn of_index(matrix: &Matrix, index: &[Option<Value>]) -> Result<(Chosen, Chosen)> {
    let (row, column) = match index {
        [] => (None, None),
        [column] => (None, column.as_ref()),
        [row, column] => (row.as_ref(), column.as_ref()),
        more => {
            let found = more.len();
            let error = Diagnostic::new(format!("a matrix has a row and a column as index: found=`{found}`"));
            return Err(error.help("write m[row, column], or m[column]"));
        }
    };
    Ok((chosen(row, matrix.rows(), "row")?, chosen(column, matrix.columns().len(), "column")?))
}

/// The truth values of a matrix that stands as an index.
fn truths<'a>(matrix: &Matrix, index: &'a [Option<Value>]) -> Option<&'a Matrix> {
    match index {
        [Some(Value::Matrix(truths))] if truths.ty() == Type::Bool && truths.shape() == matrix.shape() => Some(truths),
        _ => None,
    }
}

/// `matrix[index]`
pub(super) fn get(host: &mut dyn Host, matrix: &Matrix, index: &[Option<Value>]) -> Result<Value> {
    if let Some(truths) = truths(matrix, index) {
        let cells = matrix.elements()?;
        return Ok(Value::Vector(cells.take(&met(&truths.elements()?))));
    }
    let (rows, places) = of_index(matrix, index)?;
    host.reserve(
        places.len().saturating_mul(rows.len().saturating_mul(size_of::<i64>()).saturating_add(COLUMN_BYTES)),
    )?;
    let columns = matrix.columns();
    Ok(match (rows, places) {
        (Chosen::One(row), Chosen::One(column)) => Value::of_row(&columns[column as usize], row as usize),
        (Chosen::One(row), Chosen::Many(places)) => Value::Vector(matrix.take_columns(&places).row(row as usize)?),
        (Chosen::Many(rows), Chosen::One(column)) => Value::Vector(columns[column as usize].take(&rows)),
        (Chosen::Many(rows), Chosen::Many(places)) => {
            let part = matrix.take_columns(&places);
            let all = index.len() < 2 || index[0].is_none();
            Value::Matrix(Arc::new(if all { part } else { part.take_rows(&rows) }))
        }
    })
}

/// `matrix[index] = value`: the changed matrix. The value is one for all cells, or a vector or matrix with one for
/// each, column by column.
pub(super) fn set(
    host: &mut Interpreter,
    matrix: &Arc<Matrix>,
    index: &[Option<Value>],
    value: &Value,
) -> Result<Value> {
    let (rows, places, truths) = match truths(matrix, index) {
        Some(truths) => (vec![], (0..truths.columns().len() as u32).collect(), Some(truths)),
        None => {
            let (rows, places) = of_index(matrix, index)?;
            (rows.list(), places.list(), None)
        }
    };
    let count = match truths {
        Some(truths) => truths.columns().iter().map(|column| met(column).len()).sum(),
        None => rows.len().saturating_mul(places.len()),
    };
    host.make(count.saturating_mul(size_of::<i64>()).saturating_add(matrix.bytes()))?;
    let new = cast(host, &column_of(value, Some(count))?, matrix.ty())?;
    let mut columns = matrix.columns().to_vec();
    let (mut from, mut next) = (vec![], 0);
    for place in places {
        let own = truths.map(|truths| met(&truths.columns()[place as usize]));
        from.clear();
        from.extend((0..matrix.rows()).map(|row| (0, row)));
        for &row in own.as_ref().unwrap_or(&rows) {
            from[row as usize] = (1, next);
            next += 1;
        }
        columns[place as usize] = Column::interleave(&[&columns[place as usize], &new], &from)?;
    }
    let changed = Matrix::new(matrix.ty(), matrix.rows(), columns);
    let changed = changed.with_labels(matrix.row_labels().cloned(), matrix.column_labels().cloned())?;
    Ok(Value::Matrix(Arc::new(changed)))
}
