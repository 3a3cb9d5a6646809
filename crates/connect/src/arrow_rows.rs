//! Arrow batches to batches of a schema: columns by name, values changed where nothing is lost.

use crate::arrays::{Converter, Misfit};
use crate::error::{Error, Result};
use arrow::array::RecordBatch;
use data::{Batch, Schema};
use std::sync::Arc;

/// Turns the record batches of one source, one after another, into batches of a schema.
pub struct ArrowRows {
    name: String,
    schema: Arc<Schema>,
    /// The place of each column of the schema among those of the batches.
    places: Vec<usize>,
    converters: Vec<Converter>,
    rows_before: u64,
}

impl ArrowRows {
    /// A converter of batches with these columns, `name` being what errors call them. A column that the schema has and
    /// they have not is an error, and the other way round.
    pub fn new(name: &str, columns: &[String], schema: &Arc<Schema>) -> Result<ArrowRows> {
        columns.iter().try_for_each(|column| Error::known(name, column, schema))?;
        let place = |field: &data::Field| {
            let lower = field.name.to_lowercase();
            let place = columns.iter().position(|column| column.to_lowercase() == lower);
            place.ok_or_else(|| Error::missing(name, &field.name, columns))
        };
        let places = schema.fields().iter().map(place).collect::<Result<Vec<_>>>()?;
        Ok(ArrowRows::at(name, places, schema))
    }

    /// A converter of batches with this many columns, each of which stands where the schema's does.
    pub fn in_order(name: &str, columns: usize, schema: &Arc<Schema>) -> Result<ArrowRows> {
        if columns != schema.len() {
            let reason = format!("columns=`{columns}`, wanted=`{}`", schema.len());
            return Err(Error::Malformed { file: name.to_string(), reason });
        }
        Ok(ArrowRows::at(name, (0..columns).collect(), schema))
    }

    /// A converter of batches whose columns are known to stand at these places.
    pub(crate) fn at(name: &str, places: Vec<usize>, schema: &Arc<Schema>) -> ArrowRows {
        let converters = schema.fields().iter().map(|field| Converter::new(field.ty)).collect();
        ArrowRows { name: name.to_string(), schema: schema.clone(), places, converters, rows_before: 0 }
    }

    /// The next rows.
    pub fn convert(&mut self, rows: &RecordBatch) -> Result<Batch> {
        let mut columns = Vec::with_capacity(self.places.len());
        for (column, (&place, converter)) in self.places.iter().zip(&mut self.converters).enumerate() {
            let array = rows.column(place);
            let (file, field) = (self.name.clone(), &self.schema.fields()[column]);
            let (column, ty) = (field.name.to_string(), field.ty.to_string());
            columns.push(converter.convert(array).map_err(|misfit| match misfit {
                Misfit::Type => Error::Type { file, column, wanted: ty, found: array.data_type().to_string() },
                Misfit::Value { row, value } => {
                    Error::Value { file, row: self.rows_before + row as u64 + 1, column, value, ty }
                }
                Misfit::Data(error) => Error::Data { file, error },
            })?);
        }
        self.rows_before += rows.num_rows() as u64;
        Ok(Batch::new(self.schema.clone(), columns).expect("each column was made of its type"))
    }
}
