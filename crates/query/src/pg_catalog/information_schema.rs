//! The views of the SQL standard that clients read: tables and their columns, in PostgreSQL's words.

use super::{Client, NAMESPACES, PG_CATALOG, PgType, filled, ints, texts};
use crate::catalog::DEFAULT_SCHEMA;
use arrow::array::{Int32Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use data::Type;
use datafusion::common::DataFusionError;
use std::sync::Arc;

/// The views there are.
pub(super) const NAMES: &[&str] = &[
    "columns",
    "constraint_column_usage",
    "key_column_usage",
    "parameters",
    "referential_constraints",
    "routines",
    "schemata",
    "sequences",
    "table_constraints",
    "table_privileges",
    "tables",
    "triggers",
    "views",
];

/// The rows of a view.
pub(super) fn table(client: &Client, name: &str) -> Result<Option<RecordBatch>, DataFusionError> {
    let text =
        |names: &[&str]| -> Vec<Field> { names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect() };
    let batch = match name {
        "tables" => tables(client)?,
        "columns" => columns(client)?,
        "schemata" => {
            let count = NAMESPACES.len();
            let names = ["catalog_name", "schema_name", "schema_owner", "default_character_set_catalog"];
            let more = ["default_character_set_schema", "default_character_set_name", "sql_path"];
            let fields = text(&[&names[..], &more[..]].concat());
            filled(
                Arc::new(Schema::new(fields)),
                count,
                &[
                    ("catalog_name", texts(vec![&client.database; count])),
                    ("schema_name", texts(NAMESPACES.iter().map(|(name, _)| *name))),
                    ("schema_owner", texts(vec![&client.user; count])),
                ],
            )?
        }
        // Nothing of this kind is here: the views have their columns and no rows.
        "table_constraints" => none(text(&[
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
            "table_catalog",
            "table_schema",
            "table_name",
            "constraint_type",
            "is_deferrable",
            "initially_deferred",
        ])),
        "key_column_usage" => {
            let mut fields = text(&[
                "constraint_catalog",
                "constraint_schema",
                "constraint_name",
                "table_catalog",
                "table_schema",
                "table_name",
                "column_name",
            ]);
            fields.push(Field::new("ordinal_position", DataType::Int32, true));
            fields.push(Field::new("position_in_unique_constraint", DataType::Int32, true));
            none(fields)
        }
        "constraint_column_usage" => none(text(&[
            "table_catalog",
            "table_schema",
            "table_name",
            "column_name",
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
        ])),
        "referential_constraints" => none(text(&[
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
            "unique_constraint_catalog",
            "unique_constraint_schema",
            "unique_constraint_name",
            "match_option",
            "update_rule",
            "delete_rule",
        ])),
        "views" => none(text(&["table_catalog", "table_schema", "table_name", "view_definition", "is_updatable"])),
        "routines" => none(text(&[
            "specific_catalog",
            "specific_schema",
            "specific_name",
            "routine_catalog",
            "routine_schema",
            "routine_name",
            "routine_type",
            "data_type",
            "routine_definition",
        ])),
        "parameters" => none(text(&[
            "specific_catalog",
            "specific_schema",
            "specific_name",
            "parameter_mode",
            "parameter_name",
            "data_type",
        ])),
        "sequences" => none(text(&["sequence_catalog", "sequence_schema", "sequence_name", "data_type"])),
        "triggers" => none(text(&[
            "trigger_catalog",
            "trigger_schema",
            "trigger_name",
            "event_manipulation",
            "event_object_schema",
            "event_object_table",
        ])),
        "table_privileges" => none(text(&[
            "grantor",
            "grantee",
            "table_catalog",
            "table_schema",
            "table_name",
            "privilege_type",
            "is_grantable",
        ])),
        _ => return Ok(None),
    };
    Ok(Some(batch))
}

fn none(fields: Vec<Field>) -> RecordBatch {
    RecordBatch::new_empty(Arc::new(Schema::new(fields)))
}

fn tables(client: &Client) -> Result<RecordBatch, DataFusionError> {
    let names = [
        "table_catalog",
        "table_schema",
        "table_name",
        "table_type",
        "self_referencing_column_name",
        "reference_generation",
        "is_insertable_into",
        "is_typed",
        "commit_action",
    ];
    let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
    let relations = client.relations();
    let count = relations.len();
    let takes = |schema: &str| if schema == DEFAULT_SCHEMA { "YES" } else { "NO" };
    filled(
        Arc::new(Schema::new(fields)),
        count,
        &[
            ("table_catalog", texts(vec![&client.database; count])),
            ("table_schema", texts(relations.iter().map(|relation| &relation.schema_name))),
            ("table_name", texts(relations.iter().map(|relation| &relation.name))),
            ("table_type", texts(vec!["BASE TABLE"; count])),
            ("is_insertable_into", texts(relations.iter().map(|relation| takes(&relation.schema_name)))),
            ("is_typed", texts(vec!["NO"; count])),
        ],
    )
}

fn columns(client: &Client) -> Result<RecordBatch, DataFusionError> {
    let (text, whole) = (DataType::Utf8, DataType::Int32);
    let fields: Vec<Field> = [
        ("table_catalog", &text),
        ("table_schema", &text),
        ("table_name", &text),
        ("column_name", &text),
        ("ordinal_position", &whole),
        ("column_default", &text),
        ("is_nullable", &text),
        ("data_type", &text),
        ("character_maximum_length", &whole),
        ("character_octet_length", &whole),
        ("numeric_precision", &whole),
        ("numeric_precision_radix", &whole),
        ("numeric_scale", &whole),
        ("datetime_precision", &whole),
        ("interval_type", &text),
        ("character_set_name", &text),
        ("collation_name", &text),
        ("domain_catalog", &text),
        ("domain_schema", &text),
        ("domain_name", &text),
        ("udt_catalog", &text),
        ("udt_schema", &text),
        ("udt_name", &text),
        ("is_self_referencing", &text),
        ("is_identity", &text),
        ("identity_generation", &text),
        ("is_generated", &text),
        ("generation_expression", &text),
        ("is_updatable", &text),
    ]
    .into_iter()
    .map(|(name, ty)| Field::new(name, ty.clone(), true))
    .collect();
    let relations = client.relations();
    let all: Vec<(&super::Relation, usize, &data::Field)> = relations
        .iter()
        .flat_map(|relation| {
            let fields = relation.columns.fields().iter().enumerate();
            fields.map(move |(place, field)| (relation, place, field))
        })
        .collect();
    let count = all.len();
    let types: Vec<Type> = all.iter().map(|(.., field)| field.ty).collect();
    let figures = |of: fn(Type) -> Option<i32>| Arc::new(types.iter().map(|ty| of(*ty)).collect::<Int32Array>());
    filled(
        Arc::new(Schema::new(fields)),
        count,
        &[
            ("table_catalog", texts(vec![&client.database; count])),
            ("table_schema", texts(all.iter().map(|(relation, ..)| &relation.schema_name))),
            ("table_name", texts(all.iter().map(|(relation, ..)| &relation.name))),
            ("column_name", texts(all.iter().map(|(.., field)| &*field.name))),
            ("ordinal_position", ints(all.iter().map(|(_, place, _)| *place as i32 + 1))),
            ("is_nullable", texts(vec!["YES"; count])),
            ("data_type", texts(types.iter().map(|ty| PgType::of(*ty).sql_name))),
            ("character_maximum_length", figures(|_| None)),
            ("character_octet_length", figures(|_| None)),
            ("numeric_precision", figures(|ty| digits(ty).map(|(precision, ..)| precision))),
            ("numeric_precision_radix", figures(|ty| digits(ty).map(|(_, radix, _)| radix))),
            ("numeric_scale", figures(|ty| digits(ty).and_then(|(.., scale)| scale))),
            ("datetime_precision", figures(|ty| (ty.is_temporal() && PgType::of(ty).name != "date").then_some(6))),
            ("udt_catalog", texts(vec![&client.database; count])),
            ("udt_schema", texts(vec![PG_CATALOG; count])),
            ("udt_name", texts(types.iter().map(|ty| PgType::of(*ty).name))),
            ("is_self_referencing", texts(vec!["NO"; count])),
            ("is_identity", texts(vec!["NO"; count])),
            ("is_generated", texts(vec!["NEVER"; count])),
            ("is_updatable", texts(vec!["NO"; count])),
        ],
    )
}

/// Precision, its radix, and the scale of a number.
fn digits(ty: Type) -> Option<(i32, i32, Option<i32>)> {
    Some(match ty {
        Type::Char | Type::Short => (16, 2, Some(0)),
        Type::Int => (32, 2, Some(0)),
        Type::Long => (64, 2, Some(0)),
        Type::Float => (24, 2, None),
        Type::Double => (53, 2, None),
        Type::Decimal32(scale) => (9, 10, Some(scale.into())),
        Type::Decimal64(scale) => (18, 10, Some(scale.into())),
        Type::Decimal128(scale) => (38, 10, Some(scale.into())),
        _ => return None,
    })
}
