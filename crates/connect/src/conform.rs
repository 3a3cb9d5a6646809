//! Record batches that come by another way than a file, as batches of a table's schema: by the rules of the files.

use crate::arrays::{Converter, Misfit};
use arrow::array::{ArrayRef, RecordBatch};
use data::{Batch, Column, Schema, Type};
use std::sync::Arc;

/// Why rows do not fit a table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unfit {
    /// A column that the table has and the rows have not.
    #[error("missing column: column=`{column}`, columns given=`{given}`{near}")]
    Missing {
        /// The column.
        column: String,
        /// The columns that are there.
        given: String,
        /// A mend: the name that may be meant.
        near: String,
    },
    /// A column that the rows have and the table has not.
    #[error("unknown column: column=`{column}`{near}")]
    Unknown {
        /// The column.
        column: String,
        /// A mend: the name that may be meant.
        near: String,
    },
    /// Two columns of one name.
    #[error("column comes twice: column=`{column}`")]
    Twice {
        /// The column.
        column: String,
    },
    /// A column whose values are of a kind that the wanted type cannot take.
    #[error("column cannot be read: column=`{column}`, wanted=`{wanted}`, found=`{found}`")]
    Type {
        /// The column.
        column: String,
        /// The type wanted.
        wanted: String,
        /// The type found.
        found: String,
    },
    /// A value that is none of its column's type.
    #[error("not a {ty} value: value=`{value}`, column=`{column}`, row=`{row}`")]
    Value {
        /// The row, from 1.
        row: u64,
        /// The column.
        column: String,
        /// The value as it was given.
        value: String,
        /// The type wanted.
        ty: String,
    },
    /// Data that do not go together.
    #[error("{0}")]
    Data(data::Error),
}

/// Turns record batches, one after another, into batches of a schema: columns by name without regard to case, in any
/// order, none missing and none besides; types by what loses nothing.
pub struct Conform {
    schema: Arc<Schema>,
    converters: Vec<Converter>,
}

impl Conform {
    /// For batches of this schema.
    pub fn new(schema: &Arc<Schema>) -> Conform {
        let converters = schema.fields().iter().map(|field| Converter::new(field.ty)).collect();
        Conform { schema: schema.clone(), converters }
    }

    /// The rows under the schema.
    pub fn conform(&mut self, rows: &RecordBatch) -> Result<Batch, Unfit> {
        let given = rows.schema();
        let names: Vec<String> = given.fields().iter().map(|field| field.name().clone()).collect();
        let mut places = vec![None; self.schema.len()];
        for (place, name) in names.iter().enumerate() {
            let Some(index) = self.schema.index_of(name) else {
                let near = lang::nearest(name, self.schema.fields().iter().map(|field| &*field.name));
                return Err(Unfit::Unknown { column: name.clone(), near: meant(near) });
            };
            if places[index].replace(place).is_some() {
                return Err(Unfit::Twice { column: self.schema.fields()[index].name.to_string() });
            }
        }
        let mut columns = Vec::with_capacity(places.len());
        for ((field, converter), place) in self.schema.fields().iter().zip(&mut self.converters).zip(places) {
            let Some(place) = place else {
                let near = lang::nearest(&field.name, names.iter().map(String::as_str));
                let (column, given) = (field.name.to_string(), names.join(", "));
                return Err(Unfit::Missing { column, given, near: meant(near) });
            };
            columns.push(converted(converter, &field.name, field.ty, rows.column(place))?);
        }
        Batch::new(self.schema.clone(), columns).map_err(Unfit::Data)
    }
}

/// One array as a column of this type; errors call it by `name`.
pub fn conform_column(name: &str, ty: Type, array: &ArrayRef) -> Result<Column, Unfit> {
    converted(&mut Converter::new(ty), name, ty, array)
}

fn converted(converter: &mut Converter, name: &str, ty: Type, array: &ArrayRef) -> Result<Column, Unfit> {
    let (column, wanted) = (name.to_string(), ty.to_string());
    converter.convert(array).map_err(|misfit| match misfit {
        Misfit::Type => Unfit::Type { column, wanted, found: array.data_type().to_string() },
        Misfit::Value { row, value } => Unfit::Value { row: row as u64 + 1, column, value, ty: wanted },
        Misfit::Data(error) => Unfit::Data(error),
    })
}

fn meant(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float64Array, Int64Array, StringArray};

    fn rows(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter(columns).expect("columns of one length")
    }

    fn conform(columns: Vec<(&str, ArrayRef)>) -> Result<Batch, Unfit> {
        let schema = Schema::of(&[("sym", Type::Symbol), ("qty", Type::Int)]);
        Conform::new(&schema).conform(&rows(columns))
    }

    #[test]
    fn columns_go_by_name_and_types_by_what_loses_nothing() {
        let texts = || Arc::new(StringArray::from(vec!["A", "B"])) as ArrayRef;
        let whole = |first| Arc::new(Int64Array::from(vec![first, 2])) as ArrayRef;
        let batch = conform(vec![("QTY", whole(1)), ("Sym", texts())]).expect("it fits");
        assert_eq!(batch.column(0).get(1), data::Scalar::from("B"));
        assert_eq!(batch.column(1).get(0), data::Scalar::Int(1));

        let told = |columns| conform(columns).expect_err("it does not fit").to_string();
        assert_eq!(told(vec![("sym", texts())]), "missing column: column=`qty`, columns given=`sym`");
        assert_eq!(
            told(vec![("sym", texts()), ("qtty", whole(1))]),
            "unknown column: column=`qtty` (did you mean `qty`?)"
        );
        assert_eq!(
            told(vec![("sym", texts()), ("SYM", texts()), ("qty", whole(1))]),
            "column comes twice: column=`sym`"
        );
        assert_eq!(
            told(vec![("sym", texts()), ("qty", whole(1 << 40))]),
            "not a INT value: value=`1099511627776`, column=`qty`, row=`1`"
        );
        let half = Arc::new(Float64Array::from(vec![1.0, 0.5])) as ArrayRef;
        assert!(told(vec![("sym", texts()), ("qty", half)]).starts_with("not a INT value: value=`0.5`"));
    }
}
