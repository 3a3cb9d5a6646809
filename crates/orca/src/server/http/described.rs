//! Schemas of what is streamed, and so has no type of its own here.

use super::sql::Inserted;
use std::borrow::Cow;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat,
};
use utoipa::openapi::{Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A row of any columns.
pub(super) struct Row;

impl PartialSchema for Row {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("A value for each column: a number, a text, true, false, null or an array."))
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
            .into()
    }
}

impl ToSchema for Row {
    fn name() -> Cow<'static, str> {
        "Row".into()
    }
}

/// Bytes.
pub(super) struct Binary;

impl PartialSchema for Binary {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

impl ToSchema for Binary {
    fn name() -> Cow<'static, str> {
        "Binary".into()
    }
}

/// The rows of a query, or how many an INSERT inserted.
pub(super) struct SqlAnswer;

impl PartialSchema for SqlAnswer {
    fn schema() -> RefOr<Schema> {
        let rows = ArrayBuilder::new().items(Ref::from_schema_name(Row::name()));
        OneOfBuilder::new().item(rows).item(Ref::from_schema_name(Inserted::name())).into()
    }
}

impl ToSchema for SqlAnswer {
    fn name() -> Cow<'static, str> {
        "SqlAnswer".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Row::name().into(), Row::schema()));
        schemas.push((Inserted::name().into(), Inserted::schema()));
    }
}
