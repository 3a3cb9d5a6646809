//! What a server lists, as rows that are printed like those of a query.

use super::Format;
use crate::failure::Failure;
use data::{ColumnBuilder, Field, Scalar, Type};
use query::Answer;
use serde_json::Value as Json;
use std::io::Write;

/// A column: its name, which is that of the facts in it, and its type.
pub type Column = (&'static str, Type);

/// Objects as rows with these columns; what an object lacks is NULL.
pub fn answer(columns: &[Column], objects: &[Json]) -> Answer {
    let batch = columns.iter().map(|(name, ty)| {
        let mut column = ColumnBuilder::new(*ty);
        objects.iter().for_each(|object| column.push(&scalar(*ty, &object[*name])));
        column.finish()
    });
    let fields: Vec<Field> = columns.iter().map(|(name, ty)| Field::new(*name, *ty)).collect();
    let schema = data::Schema::new(fields.clone()).expect("columns of different names");
    let batch = data::Batch::new(schema.into(), batch.collect()).expect("a value of its type a column");
    Answer { fields, batches: vec![batch.to_arrow()] }
}

/// Prints objects as rows with these columns.
pub fn print(format: Format, columns: &[Column], objects: &[Json]) -> Result<(), Failure> {
    print_answer(format, &answer(columns, objects))
}

/// Prints rows.
pub fn print_answer(format: Format, answer: &Answer) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    query::format::write(answer, format.into(), &mut out)?;
    Ok(out.flush()?)
}

/// Prints one object: a row for each of its facts, or as JSON the object itself.
pub fn print_one(format: Format, object: &Json) -> Result<(), Failure> {
    if format == Format::Json {
        println!("{object}");
        return Ok(());
    }
    let fact = |(name, value): (&String, &Json)| serde_json::json!({ "fact": name, "value": text(value) });
    let facts: Vec<Json> = object.as_object().into_iter().flatten().map(fact).collect();
    print(format, &[("fact", Type::String), ("value", Type::String)], &facts)
}

fn scalar(ty: Type, value: &Json) -> Scalar {
    match value {
        Json::Null => Scalar::Null,
        Json::Bool(value) if ty == Type::Bool => Scalar::Bool(*value),
        Json::Number(number) if ty == Type::Long => number.as_i64().map_or(Scalar::Null, Scalar::Int),
        Json::Number(number) if ty == Type::Double => number.as_f64().map_or(Scalar::Null, Scalar::Float),
        value => text(value).map_or(Scalar::Null, |text| Scalar::Text(text.into())),
    }
}

/// A value as a person reads it.
fn text(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        Json::Array(items) => Some(items.iter().filter_map(text).collect::<Vec<_>>().join(", ")),
        other => Some(other.to_string()),
    }
}
