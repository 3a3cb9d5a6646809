//! PostgreSQL's functions whose value a client's connection fixes, and those that tell of what is not here.

use crate::provider::own_case;
use arrow::array::{Array, ArrayRef, BooleanArray, Int32Array, ListBuilder, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::arrow::datatypes::Field;
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use datafusion::sql::sqlparser::ast::ObjectNamePart;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Token;
use std::sync::Arc;

/// What the server says it is; clients read the number.
pub const SERVER_VERSION: &str = "16.6";

/// Functions that answer the same whatever they are asked.
const FIXED: &[(&str, Value)] = &[
    ("col_description", Value::Text(None)),
    ("current_schema", Value::Text(Some("orca_table"))),
    ("has_any_column_privilege", Value::Truth(true)),
    ("has_column_privilege", Value::Truth(true)),
    ("has_database_privilege", Value::Truth(true)),
    ("has_function_privilege", Value::Truth(true)),
    ("has_schema_privilege", Value::Truth(true)),
    ("has_sequence_privilege", Value::Truth(true)),
    ("has_table_privilege", Value::Truth(true)),
    ("has_tablespace_privilege", Value::Truth(true)),
    ("has_type_privilege", Value::Truth(true)),
    ("inet_client_addr", Value::Text(None)),
    ("inet_server_addr", Value::Text(None)),
    ("inet_server_port", Value::Whole(None)),
    ("json_build_object", Value::Text(None)),
    ("obj_description", Value::Text(None)),
    ("pg_char_to_encoding", Value::Whole(Some(6))),
    ("pg_client_encoding", Value::Text(Some("UTF8"))),
    ("pg_collation_is_visible", Value::Truth(true)),
    ("pg_conversion_is_visible", Value::Truth(true)),
    ("pg_database_size", Value::Whole(Some(0))),
    ("pg_function_is_visible", Value::Truth(true)),
    ("pg_get_function_arguments", Value::Text(Some(""))),
    ("pg_get_function_identity_arguments", Value::Text(Some(""))),
    ("pg_get_function_result", Value::Text(Some(""))),
    ("pg_get_functiondef", Value::Text(None)),
    ("pg_get_indexdef", Value::Text(None)),
    ("pg_get_ruledef", Value::Text(None)),
    ("pg_get_serial_sequence", Value::Text(None)),
    ("pg_get_triggerdef", Value::Text(None)),
    ("pg_get_viewdef", Value::Text(None)),
    ("pg_has_role", Value::Truth(true)),
    ("pg_indexes_size", Value::Whole(Some(0))),
    ("pg_is_in_recovery", Value::Truth(false)),
    ("pg_is_other_temp_schema", Value::Truth(false)),
    ("pg_my_temp_schema", Value::Whole(Some(0))),
    ("pg_opclass_is_visible", Value::Truth(true)),
    ("pg_operator_is_visible", Value::Truth(true)),
    ("pg_relation_is_updatable", Value::Whole(Some(0))),
    ("pg_sequence_last_value", Value::Whole(None)),
    ("pg_size_pretty", Value::Text(Some("0 bytes"))),
    ("pg_table_size", Value::Whole(Some(0))),
    ("pg_tablespace_location", Value::Text(Some(""))),
    ("pg_type_is_visible", Value::Truth(true)),
    ("row_security_active", Value::Truth(false)),
    ("shobj_description", Value::Text(None)),
    ("to_regclass", Value::Whole(None)),
    ("to_regtype", Value::Whole(None)),
    ("txid_current", Value::Whole(Some(1))),
];

#[derive(Clone, Copy)]
enum Value {
    Text(Option<&'static str>),
    Truth(bool),
    Whole(Option<i32>),
}

/// The functions of a client of this database, its user and tables of these names.
pub(super) fn functions(database: &str, user: &str, tables: Vec<String>) -> Vec<ScalarUDF> {
    let fixed = FIXED.iter().map(|(name, value)| {
        Told::fixed(
            name,
            match value {
                Value::Text(text) => ScalarValue::Utf8(text.map(str::to_string)),
                Value::Truth(truth) => ScalarValue::Boolean(Some(*truth)),
                Value::Whole(whole) => ScalarValue::Int32(*whole),
            },
        )
    });
    let text = |text: &str| ScalarValue::Utf8(Some(text.to_string()));
    let own = [
        Told::fixed("current_database", text(database)),
        Told::fixed("session_user", text(user)),
        Told::fixed("pg_get_userbyid", text(user)),
        Told::fixed("version", text(&format!("PostgreSQL {SERVER_VERSION} (Orca {})", env!("CARGO_PKG_VERSION")))),
        Told { name: "current_schemas", signature: any(), how: How::Schemas },
        Told { name: "current_setting", signature: any(), how: How::Setting },
        Told { name: "parse_ident", signature: any(), how: How::Parts(tables) },
        Told { name: "pg_table_is_visible", signature: any(), how: How::IsVisible },
        Told { name: "set_config", signature: any(), how: How::Second },
    ];
    fixed.chain(own).map(ScalarUDF::from).collect()
}

fn any() -> Signature {
    Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], Volatility::Stable)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Told {
    name: &'static str,
    signature: Signature,
    how: How,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum How {
    Fixed(ScalarValue),
    /// The schemas that bare names are looked for in; also the implicit one if asked.
    Schemas,
    /// The value of a setting.
    Setting,
    /// The parts of a name; the last as one of these tables spells it.
    Parts(Vec<String>),
    /// Is a bare name enough for this table?
    IsVisible,
    /// The second argument.
    Second,
}

impl Told {
    fn fixed(name: &'static str, value: ScalarValue) -> Told {
        Told { name, signature: any(), how: How::Fixed(value) }
    }
}

impl ScalarUDFImpl for Told {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match &self.how {
            How::Fixed(value) => value.data_type(),
            How::Schemas | How::Parts(_) => DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))),
            How::Setting | How::Second => DataType::Utf8,
            How::IsVisible => DataType::Boolean,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let argument = |place: usize, ty: &DataType| -> Result<Option<ArrayRef>> {
            let Some(argument) = args.args.get(place) else { return Ok(None) };
            Ok(Some(cast(&argument.to_array(args.number_rows)?, ty)?))
        };
        match &self.how {
            How::Fixed(value) => Ok(ColumnarValue::Scalar(value.clone())),
            How::Schemas => {
                let implicit = argument(0, &DataType::Boolean)?;
                let implicit = implicit.as_ref().and_then(|array| array.as_any().downcast_ref::<BooleanArray>());
                let names = match implicit.is_some_and(|array| !array.is_empty() && array.value(0)) {
                    true => vec!["pg_catalog", "orca_table"],
                    false => vec!["orca_table"],
                };
                let list = SingleRowListArrayBuilder::new(Arc::new(StringArray::from(names)));
                Ok(ColumnarValue::Scalar(list.build_list_scalar()))
            }
            How::Setting => {
                let names = argument(0, &DataType::Utf8)?;
                let names = names.as_ref().and_then(|array| array.as_any().downcast_ref::<StringArray>());
                let values: StringArray = names.into_iter().flatten().map(|name| name.and_then(setting)).collect();
                Ok(ColumnarValue::Array(Arc::new(values)))
            }
            How::Parts(tables) => {
                let names = argument(0, &DataType::Utf8)?;
                let names = names.as_ref().and_then(|array| array.as_any().downcast_ref::<StringArray>());
                let mut lists = ListBuilder::new(StringBuilder::new());
                for name in names.into_iter().flatten() {
                    lists.append_option(
                        name.and_then(|name| parts(name, tables)).map(|parts| parts.into_iter().map(Some)),
                    );
                }
                Ok(ColumnarValue::Array(Arc::new(lists.finish())))
            }
            How::IsVisible => {
                let oids = argument(0, &DataType::Int32)?;
                let oids = oids.as_ref().and_then(|array| array.as_any().downcast_ref::<Int32Array>());
                let is_visible = |oid: i32| !(super::SYSTEM_OID..super::USER_OID).contains(&oid);
                let values: BooleanArray = oids.into_iter().flatten().map(|oid| oid.map(is_visible)).collect();
                Ok(ColumnarValue::Array(Arc::new(values)))
            }
            How::Second => match argument(1, &DataType::Utf8)? {
                Some(value) => Ok(ColumnarValue::Array(value)),
                None => Ok(ColumnarValue::Scalar(ScalarValue::Utf8(None))),
            },
        }
    }
}

/// The parts of a name like `schema . "Table"`; the last as a table spells it, for names know no case. `None` if it is no
/// such name.
fn parts(name: &str, tables: &[String]) -> Option<Vec<String>> {
    let mut parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(name).ok()?;
    let read = parser.parse_object_name(false).ok().filter(|_| parser.peek_token().token == Token::EOF)?;
    let part = |part: &ObjectNamePart| {
        let ident = part.as_ident()?;
        Some(if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() })
    };
    let mut parts = read.0.iter().map(part).collect::<Option<Vec<_>>>()?;
    let last = parts.last_mut()?;
    if let Some(own) = own_case(tables.to_vec(), last) {
        *last = own;
    }
    Some(parts)
}

fn setting(name: &str) -> Option<&'static str> {
    Some(match name.to_lowercase().as_str() {
        "search_path" => "orca_table",
        "server_version" => SERVER_VERSION,
        "server_version_num" => "160006",
        "server_encoding" | "client_encoding" => "UTF8",
        "standard_conforming_strings" | "integer_datetimes" => "on",
        "max_index_keys" => "32",
        "block_size" => "8192",
        "timezone" => "UTC",
        "datestyle" => "ISO, MDY",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_apart() {
        let tables = ["Trade".to_string()];
        for (name, wanted) in [
            ("trade", Some(vec!["Trade"])),
            (" Orca_Table . \"TRADE\" ", Some(vec!["orca_table", "Trade"])),
            ("\"a \"\"b\"\" . c\".D", Some(vec!["a \"b\" . c", "d"])),
            ("", None),
            ("a..b", None),
            ("a.", None),
            ("\"a", None),
            ("\"a\" b", None),
        ] {
            assert_eq!(
                parts(name, &tables),
                wanted.map(|parts| parts.into_iter().map(String::from).collect()),
                "{name}"
            );
        }
    }
}
