//! Batches: columns of equal length under one schema.

use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::Schema;
use std::sync::Arc;

/// Rows as columns. Cheap to clone: columns share their buffers.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    schema: Arc<Schema>,
    columns: Arc<[Column]>,
    rows: usize,
}

impl Batch {
    /// A batch; the columns must have the schema's types and one length.
    pub fn new(schema: Arc<Schema>, columns: Vec<Column>) -> Result<Batch> {
        let rows = columns.first().map_or(0, Column::len);
        if columns.len() != schema.len() {
            let (wanted, found) = (format!("{} columns", schema.len()), format!("{} columns", columns.len()));
            return Err(Error::Type { wanted, found });
        }
        for (field, column) in schema.fields().iter().zip(&columns) {
            if column.ty() != field.ty {
                let (wanted, found) = (format!("{} {}", field.name, field.ty), column.ty().to_string());
                return Err(Error::Type { wanted, found });
            }
            if column.len() != rows {
                return Err(Error::Length { column: field.name.to_string(), rows: column.len(), wanted: rows });
            }
        }
        Ok(Batch { schema, columns: columns.into(), rows })
    }

    /// No rows under this schema.
    pub fn empty(schema: Arc<Schema>) -> Batch {
        let columns: Vec<Column> = schema.fields().iter().map(|field| Column::nulls(field.ty, 0)).collect();
        Batch { schema, columns: columns.into(), rows: 0 }
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// One column by its place.
    pub fn column(&self, index: usize) -> &Column {
        &self.columns[index]
    }

    /// One column by its name, matched without regard to case.
    pub fn column_named(&self, name: &str) -> Option<&Column> {
        self.schema.index_of(name).map(|index| &self.columns[index])
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// `rows` rows from `offset` on, without copying.
    pub fn slice(&self, offset: usize, rows: usize) -> Batch {
        if offset == 0 && rows == self.rows {
            return self.clone();
        }
        let columns = self.columns.iter().map(|column| column.slice(offset, rows)).collect();
        Batch { schema: self.schema.clone(), columns, rows }
    }

    /// The rows at these places, in this order.
    pub fn take(&self, rows: &[u32]) -> Batch {
        let columns = self.columns.iter().map(|column| column.take(rows)).collect();
        Batch { schema: self.schema.clone(), columns, rows: rows.len() }
    }

    /// The rows of several batches one after another; all must have the types of `schema`.
    pub fn concat(schema: Arc<Schema>, batches: &[Batch]) -> Result<Batch> {
        match batches {
            [] => Ok(Batch::empty(schema)),
            [one] => Batch::new(schema, one.columns.to_vec()),
            _ => {
                let columns = (0..schema.len())
                    .map(|index| {
                        let parts: Vec<&Column> = batches.iter().map(|batch| batch.column(index)).collect();
                        Column::concat(&parts)
                    })
                    .collect::<Result<Vec<_>>>()?;
                Batch::new(schema, columns)
            }
        }
    }

    /// The same columns under another schema of the same types.
    pub fn with_schema(&self, schema: Arc<Schema>) -> Result<Batch> {
        Batch::new(schema, self.columns.to_vec())
    }

    /// About how many bytes the rows take in memory.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// The batch as the outside world sees it.
    pub fn to_arrow(&self) -> arrow_array::RecordBatch {
        let arrays = self.columns.iter().map(Column::to_arrow).collect();
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(self.rows));
        arrow_array::RecordBatch::try_new_with_options(Arc::new(self.schema.to_arrow()), arrays, &options)
            .expect("a batch's columns have its schema's types")
    }
}
