//! Arrow batches to batches of a schema: columns by name, values changed where nothing is lost.

use crate::arrays::{Converter, Misfit};
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, RecordBatch};
use data::{Batch, Column, Field, Schema, Type};
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
        for (place, column) in columns.iter().enumerate() {
            Error::known(name, column, schema)?;
            if columns[..place].iter().any(|before| before.to_lowercase() == column.to_lowercase()) {
                let reason = format!("column comes twice: column=`{column}`");
                return Err(Error::Malformed { file: name.to_string(), reason });
            }
        }
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
            let (array, field) = (rows.column(place), &self.schema.fields()[column]);
            let converted = converter.convert(array);
            columns.push(converted.map_err(|misfit| told(misfit, &self.name, field, array, self.rows_before))?);
        }
        self.rows_before += rows.num_rows() as u64;
        Ok(Batch::new(self.schema.clone(), columns).expect("each column was made of its type"))
    }
}

/// One array as a column of this type, changed where nothing is lost by it; errors call it by `name`.
pub fn column(name: &str, ty: Type, array: &ArrayRef) -> Result<Column> {
    let converted = Converter::new(ty).convert(array);
    converted.map_err(|misfit| told(misfit, "request", &Field::new(name, ty), array, 0))
}

fn told(misfit: Misfit, file: &str, field: &Field, array: &ArrayRef, rows_before: u64) -> Error {
    let (file, column, ty) = (file.to_string(), field.name.to_string(), field.ty.to_string());
    match misfit {
        Misfit::Type => Error::Type { file, column, wanted: ty, found: array.data_type().to_string() },
        Misfit::Value { row, value } => Error::Value { file, row: rows_before + row as u64 + 1, column, value, ty },
        Misfit::Data(error) => Error::Data { file, error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float64Array, Int64Array, StringArray};

    fn convert(columns: Vec<(&str, ArrayRef)>) -> Result<Batch> {
        let schema = Schema::of(&[("sym", Type::Symbol), ("qty", Type::Int)]);
        let names: Vec<String> = columns.iter().map(|(name, _)| name.to_string()).collect();
        // Two columns of one name are no record batch, so those get other names there.
        let placed = columns.into_iter().enumerate().map(|(place, (_, array))| (place.to_string(), array));
        let rows = RecordBatch::try_from_iter(placed).expect("columns of one length");
        ArrowRows::new("body", &names, &schema)?.convert(&rows)
    }

    #[test]
    fn columns_go_by_name_and_types_by_what_loses_nothing() {
        let texts = || Arc::new(StringArray::from(vec!["A", "B"])) as ArrayRef;
        let whole = |first| Arc::new(Int64Array::from(vec![first, 2])) as ArrayRef;
        let batch = convert(vec![("QTY", whole(1)), ("Sym", texts())]).expect("it fits");
        assert_eq!(batch.column(0).get(1), data::Scalar::from("B"));
        assert_eq!(batch.column(1).get(0), data::Scalar::Int(1));
        let told = |columns| convert(columns).expect_err("it does not fit").to_string();
        for (columns, want) in [
            (vec![("sym", texts())], "column=`qty`"),
            (vec![("sym", texts()), ("qtty", whole(1))], "did you mean `qty`?"),
            (vec![("sym", texts()), ("SYM", texts()), ("qty", whole(1))], "column comes twice: column=`SYM`"),
            (
                vec![("sym", texts()), ("qty", whole(1 << 40))],
                "not a INT value: value=`1099511627776`, column=`qty`, row=`1`",
            ),
            (
                vec![("sym", texts()), ("qty", Arc::new(Float64Array::from(vec![1.0, 0.5])))],
                "not a INT value: value=`0.5`",
            ),
        ] {
            let told = told(columns);
            assert!(told.contains(want), "{want} in {told}");
        }
    }
}
