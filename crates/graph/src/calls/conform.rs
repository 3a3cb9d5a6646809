//! Rows that a script appends, brought into the columns of a table by position.

use data::{Batch, Column, ColumnBuilder, Scalar, Schema, Type};
use std::sync::Arc;

/// The same rows under another schema; an error says which column does not fit.
pub(super) fn conform(rows: &Batch, schema: &Arc<Schema>) -> Result<Batch, String> {
    if rows.schema().len() != schema.len() {
        return Err(format!("{} columns given, {} wanted", rows.schema().len(), schema.len()));
    }
    let columns = rows.columns().iter().zip(schema.fields()).map(|(column, field)| {
        cast(column, field.ty).ok_or_else(|| {
            format!(
                "column `{}` is {} there, and what is given does not fit: type=`{}`",
                field.name,
                field.ty,
                column.ty()
            )
        })
    });
    let columns = columns.collect::<Result<Vec<Column>, String>>()?;
    Batch::new(schema.clone(), columns).map_err(|error| error.to_string())
}

/// Numbers become wider or narrower if every value fits, texts become symbols and back; nothing else is changed.
fn cast(column: &Column, to: Type) -> Option<Column> {
    let from = column.ty();
    let number = |ty: Type| ty.is_integer() || ty.is_float();
    let alike = from == to || from == Type::Void || from.is_text() && to.is_text() || number(from) && number(to);
    if from == to || !alike {
        return (from == to).then(|| column.clone());
    }
    let mut builder = ColumnBuilder::new(to);
    for row in 0..column.len() {
        builder.push(&fit(column.get(row), to)?);
    }
    Some(builder.finish())
}

/// The value in the other type, if that has it.
fn fit(value: Scalar, to: Type) -> Option<Scalar> {
    let (low, high) = to.range();
    match value {
        Scalar::Int(_) | Scalar::Float(_) if to.is_integer() => {
            let whole = value.as_i64().filter(|whole| (low..=high).contains(whole));
            whole.map(Scalar::Int)
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(ty: Type, values: &[Scalar]) -> Batch {
        let schema = Schema::of(&[("x", ty)]);
        Batch::new(schema, vec![Column::of_scalars(ty, values)]).unwrap()
    }

    #[test]
    fn numbers_and_texts_are_brought_into_the_tables_types() {
        let to = |ty, rows: &Batch| conform(rows, &Schema::of(&[("y", ty)]));
        let ints = batch(Type::Int, &[Scalar::Int(1), Scalar::Null]);
        assert_eq!(to(Type::Double, &ints).unwrap().column(0).get(0), Scalar::Float(1.0));
        assert!(to(Type::Long, &ints).unwrap().column(0).is_null(1));
        assert!(to(Type::Date, &ints).is_err());
        assert!(to(Type::Char, &batch(Type::Int, &[Scalar::Int(300)])).is_err());
        assert!(to(Type::Int, &batch(Type::Double, &[Scalar::Float(1.5)])).is_err());
        let texts = batch(Type::String, &[Scalar::from("A")]);
        assert_eq!(to(Type::Symbol, &texts).unwrap().column(0).get(0), Scalar::from("A"));
    }
}
