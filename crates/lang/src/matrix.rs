//! Matrices: columns of one type and length, which may have labels.
//!
//! Invariants:
//! - All columns have the type and the number of rows of the matrix. The type is no array vector's.
//! - There are as many labels as rows, or as columns, or none at all.

use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::value::{Value, column_bytes};
use data::{Column, Type};

/// About what a column takes beside its values.
pub(crate) const COLUMN_BYTES: usize = 128;

/// A matrix.
#[derive(Debug, Clone)]
pub struct Matrix {
    ty: Type,
    rows: usize,
    columns: Vec<Column>,
    row_labels: Option<Column>,
    column_labels: Option<Column>,
}

/// The labels of rows and columns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Labels<'a> {
    pub(crate) rows: Option<&'a Column>,
    pub(crate) columns: Option<&'a Column>,
}

impl Matrix {
    /// A matrix of columns that fit, without labels.
    pub fn new(ty: Type, rows: usize, columns: Vec<Column>) -> Matrix {
        assert!(ty.element().is_none(), "a matrix of array vectors");
        assert!(
            columns.iter().all(|column| column.ty() == ty && column.len() == rows),
            "columns of one type and length"
        );
        Matrix { ty, rows, columns, row_labels: None, column_labels: None }
    }

    /// The same cells with other labels.
    pub fn with_labels(self, rows: Option<Column>, columns: Option<Column>) -> Result<Matrix> {
        let fit = |labels: &Option<Column>, count: usize, what: &str| match labels {
            Some(labels) if labels.len() != count => {
                let found = labels.len();
                Err(Diagnostic::new(format!("not as many labels as {what}: {what}=`{count}`, labels=`{found}`")))
            }
            _ => Ok(()),
        };
        fit(&rows, self.rows, "rows")?;
        fit(&columns, self.columns.len(), "columns")?;
        Ok(Matrix { row_labels: rows, column_labels: columns, ..self })
    }

    /// The type of the cells.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The labels of the rows.
    pub fn row_labels(&self) -> Option<&Column> {
        self.row_labels.as_ref()
    }

    /// The labels of the columns.
    pub fn column_labels(&self) -> Option<&Column> {
        self.column_labels.as_ref()
    }

    /// All labels.
    pub(crate) fn labels(&self) -> Labels<'_> {
        Labels { rows: self.row_labels(), columns: self.column_labels() }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let labels = self.row_labels.iter().chain(&self.column_labels);
        let columns = self.columns.iter().map(|column| COLUMN_BYTES + column_bytes(column));
        columns.sum::<usize>() + labels.map(column_bytes).sum::<usize>()
    }

    /// Rows and columns, as scripts write them.
    pub(crate) fn shape(&self) -> String {
        format!("{}:{}", self.rows, self.columns.len())
    }

    /// The columns as a tuple.
    pub(crate) fn to_tuple(&self) -> Value {
        Value::Tuple(self.columns.iter().cloned().map(Value::Vector).collect())
    }

    /// All cells in one column, column by column.
    pub(crate) fn elements(&self) -> Result<Column> {
        match self.columns.is_empty() {
            true => Ok(Column::nulls(self.ty, 0)),
            false => Ok(Column::concat(&self.columns.iter().collect::<Vec<_>>())?),
        }
    }

    /// The cells of a row.
    pub(crate) fn row(&self, row: usize) -> Result<Column> {
        if self.columns.is_empty() {
            return Ok(Column::nulls(self.ty, 0));
        }
        let places: Vec<(usize, usize)> = (0..self.columns.len()).map(|column| (column, row)).collect();
        Ok(Column::interleave(&self.columns.iter().collect::<Vec<_>>(), &places)?)
    }

    /// Rows at these places, in this order, with their labels.
    pub(crate) fn take_rows(&self, rows: &[u32]) -> Matrix {
        Matrix {
            ty: self.ty,
            rows: rows.len(),
            columns: self.columns.iter().map(|column| column.take(rows)).collect(),
            row_labels: self.row_labels.as_ref().map(|labels| labels.take(rows)),
            column_labels: self.column_labels.clone(),
        }
    }

    /// Columns at these places, in this order, with their labels.
    pub(crate) fn take_columns(&self, columns: &[u32]) -> Matrix {
        Matrix {
            columns: columns.iter().map(|&place| self.columns[place as usize].clone()).collect(),
            column_labels: self.column_labels.as_ref().map(|labels| labels.take(columns)),
            row_labels: self.row_labels.clone(),
            ..*self
        }
    }

    /// Its rows as columns.
    pub(crate) fn transposed(&self) -> Result<Matrix> {
        let (rows, width) = (self.rows, self.columns.len());
        let places: Vec<u32> = (0..rows).flat_map(|row| (0..width).map(move |at| (at * rows + row) as u32)).collect();
        let cells = self.elements()?.take(&places);
        Ok(Matrix {
            ty: self.ty,
            rows: width,
            columns: (0..rows).map(|row| cells.slice(row * width, width)).collect(),
            row_labels: self.column_labels.clone(),
            column_labels: self.row_labels.clone(),
        })
    }
}
