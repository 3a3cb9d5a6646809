//! What there is: catalogs, schemas, tables, keys, types and facts about the server, as Flight SQL asks for them.

use super::encode::outgoing;
use super::status::{arrow_status, status};
use crate::failure::Failure;
use crate::server::Server;
use ::stream::TableKind;
use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray, UInt8Array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow_flight::sql::metadata::{
    SqlInfoData, SqlInfoDataBuilder, XdbcTypeInfo, XdbcTypeInfoData, XdbcTypeInfoDataBuilder,
};
use arrow_flight::sql::{
    CommandGetDbSchemas, CommandGetPrimaryKeys, CommandGetTableTypes, CommandGetTables, Nullable, Searchable, SqlInfo,
    SqlNullOrdering, SqlSupportedCaseSensitivity, SqlSupportedTransaction, XdbcDataType,
};
use graph::{FullName, NameKind};
use std::sync::{Arc, LazyLock};
use tonic::Status;

/// What a client calls a table that it can append to.
const PUBLIC: &str = "TABLE";

/// What a client calls a table of the system's own facts.
const SYSTEM: &str = "SYSTEM TABLE";

fn type_of(schema: &str) -> &'static str {
    if schema == NameKind::Table.schema() { PUBLIC } else { SYSTEM }
}

/// The name in `known` that a client means, who need not know its case; else what it wrote, which may be a pattern.
fn own_case(known: &[String], written: String) -> String {
    let lower = written.to_lowercase();
    known.iter().find(|name| name.to_lowercase() == lower).cloned().unwrap_or(written)
}

/// The catalogs.
pub(super) fn catalogs(server: &Server) -> Result<RecordBatch, Status> {
    let mut builder = arrow_flight::sql::CommandGetCatalogs {}.into_builder();
    server.orca().queries().catalog().catalogs().into_iter().for_each(|name| builder.append(name));
    builder.build().map_err(Status::from)
}

/// The schemas of all catalogs, or of those that are asked for.
pub(super) fn schemas(server: &Server, mut wanted: CommandGetDbSchemas) -> Result<RecordBatch, Status> {
    let known = server.orca().queries().catalog().clone();
    let catalogs = known.catalogs();
    wanted.catalog = wanted.catalog.map(|written| own_case(&catalogs, written));
    let mut builder = wanted.into_builder();
    for catalog in catalogs {
        known.schemas(&catalog).iter().for_each(|schema| builder.append(&catalog, schema));
    }
    builder.build().map_err(Status::from)
}

/// The tables, with their columns if these are asked for.
pub(super) fn tables(server: &Server, mut wanted: CommandGetTables) -> Result<RecordBatch, Status> {
    let known = server.orca().queries().catalog().clone();
    let catalogs = known.catalogs();
    wanted.catalog = wanted.catalog.map(|written| own_case(&catalogs, written));
    let mut names = vec![];
    for catalog in catalogs {
        for schema in known.schemas(&catalog) {
            let tables = known.tables(&catalog, &schema);
            names.extend(tables.into_iter().map(|table| (catalog.clone(), schema.clone(), table)));
        }
    }
    let tables: Vec<String> = names.iter().map(|(_, _, table)| table.clone()).collect();
    wanted.table_name_filter_pattern = wanted.table_name_filter_pattern.map(|written| own_case(&tables, written));
    let with_columns = wanted.include_schema;
    let mut builder = wanted.into_builder();
    for (catalog, schema, table) in names {
        let columns = match with_columns {
            // One that has been dropped meanwhile is not there.
            true => match known.table(&catalog, &schema, &table) {
                Some(scan) => outgoing(&scan.schema().to_arrow()),
                None => continue,
            },
            false => Arc::new(Schema::empty()),
        };
        builder.append(&catalog, &schema, &table, type_of(&schema), &columns).map_err(Status::from)?;
    }
    builder.build().map_err(Status::from)
}

/// The kinds of tables.
pub(super) fn table_types() -> Result<RecordBatch, Status> {
    let mut builder = CommandGetTableTypes {}.into_builder();
    [PUBLIC, SYSTEM].into_iter().for_each(|name| builder.append(name));
    builder.build().map_err(Status::from)
}

/// The key columns of a keyed table; none of others.
pub(super) fn primary_keys(server: &Server, wanted: &CommandGetPrimaryKeys) -> Result<RecordBatch, Status> {
    let is_public =
        wanted.db_schema.as_deref().is_none_or(|schema| schema.eq_ignore_ascii_case(NameKind::Table.schema()));
    let mut keys: Vec<String> = vec![];
    let mut name: Option<FullName> = None;
    if is_public {
        let full = server.orca().table_name(&wanted.table, wanted.catalog.as_deref()).map_err(status)?;
        let table = server.orca().table_of(&full).map_err(status)?;
        if let TableKind::Keyed { keys: places } | TableKind::LatestKeyed { keys: places, .. } = &table.spec().kind {
            keys = places.iter().map(|place| table.schema().fields()[*place].name.to_string()).collect();
        }
        name = Some(full);
    }
    let texts = |text: &str| Arc::new(StringArray::from(vec![text; keys.len()])) as ArrayRef;
    let (catalog, table) = name.as_ref().map_or(("", ""), |name| (name.catalog(), name.name()));
    batch(
        &[
            ("catalog_name", DataType::Utf8, true),
            ("db_schema_name", DataType::Utf8, true),
            ("table_name", DataType::Utf8, false),
            ("column_name", DataType::Utf8, false),
            ("key_name", DataType::Utf8, true),
            ("key_sequence", DataType::Int32, false),
        ],
        vec![
            texts(catalog),
            texts(NameKind::Table.schema()),
            texts(table),
            Arc::new(StringArray::from(keys.clone())),
            texts("key"),
            Arc::new(Int32Array::from_iter_values(1..=keys.len() as i32)),
        ],
    )
}

/// Keys that point to other tables: there are none.
pub(super) fn foreign_keys() -> Result<RecordBatch, Status> {
    let text = || Arc::new(StringArray::from(Vec::<&str>::new())) as ArrayRef;
    let rule = || Arc::new(UInt8Array::from(Vec::<u8>::new())) as ArrayRef;
    batch(
        &[
            ("pk_catalog_name", DataType::Utf8, true),
            ("pk_db_schema_name", DataType::Utf8, true),
            ("pk_table_name", DataType::Utf8, false),
            ("pk_column_name", DataType::Utf8, false),
            ("fk_catalog_name", DataType::Utf8, true),
            ("fk_db_schema_name", DataType::Utf8, true),
            ("fk_table_name", DataType::Utf8, false),
            ("fk_column_name", DataType::Utf8, false),
            ("key_sequence", DataType::Int32, false),
            ("fk_key_name", DataType::Utf8, true),
            ("pk_key_name", DataType::Utf8, true),
            ("update_rule", DataType::UInt8, false),
            ("delete_rule", DataType::UInt8, false),
        ],
        vec![
            text(),
            text(),
            text(),
            text(),
            text(),
            text(),
            text(),
            text(),
            Arc::new(Int32Array::from(Vec::<i32>::new())),
            text(),
            text(),
            rule(),
            rule(),
        ],
    )
}

fn batch(fields: &[(&str, DataType, bool)], columns: Vec<ArrayRef>) -> Result<RecordBatch, Status> {
    let fields = fields.iter().map(|(name, ty, nullable)| Field::new(*name, ty.clone(), *nullable));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns).map_err(arrow_status)
}

/// Facts about the server.
pub(super) static SQL_INFO: LazyLock<SqlInfoData> = LazyLock::new(|| {
    let mut facts = SqlInfoDataBuilder::new();
    facts.append(SqlInfo::FlightSqlServerName, "Orca");
    facts.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
    facts.append(SqlInfo::FlightSqlServerArrowVersion, "1.4");
    facts.append(SqlInfo::FlightSqlServerReadOnly, false);
    facts.append(SqlInfo::FlightSqlServerSql, true);
    facts.append(SqlInfo::FlightSqlServerSubstrait, false);
    facts.append(SqlInfo::FlightSqlServerTransaction, SqlSupportedTransaction::None as i32);
    facts.append(SqlInfo::FlightSqlServerCancel, true);
    facts.append(SqlInfo::FlightSqlServerBulkIngestion, true);
    facts.append(SqlInfo::FlightSqlServerIngestTransactionsSupported, false);
    facts.append(SqlInfo::SqlDdlCatalog, false);
    facts.append(SqlInfo::SqlDdlSchema, false);
    facts.append(SqlInfo::SqlDdlTable, false);
    let any_case = SqlSupportedCaseSensitivity::SqlCaseSensitivityCaseInsensitive as i32;
    facts.append(SqlInfo::SqlIdentifierCase, any_case);
    facts.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
    facts.append(SqlInfo::SqlQuotedIdentifierCase, any_case);
    facts.append(SqlInfo::SqlAllTablesAreSelectable, true);
    facts.append(SqlInfo::SqlNullOrdering, SqlNullOrdering::SqlNullsSortedHigh as i32);
    facts.build().expect("facts of the kinds that Flight SQL knows")
});

/// The types of columns.
pub(super) static TYPES: LazyLock<XdbcTypeInfoData> = LazyLock::new(|| {
    use XdbcDataType as X;
    let mut types = XdbcTypeInfoDataBuilder::new();
    let all = [
        ("BOOL", X::XdbcBit, 1, None, None),
        ("CHAR", X::XdbcTinyint, 3, None, Some(10)),
        ("SHORT", X::XdbcSmallint, 5, None, Some(10)),
        ("INT", X::XdbcInteger, 10, None, Some(10)),
        ("LONG", X::XdbcBigint, 19, None, Some(10)),
        ("FLOAT", X::XdbcReal, 24, None, Some(2)),
        ("DOUBLE", X::XdbcDouble, 53, None, Some(2)),
        ("DECIMAL", X::XdbcDecimal, 38, None, Some(10)),
        ("DATE", X::XdbcDate, 10, Some("'"), None),
        ("TIME", X::XdbcTime, 12, Some("'"), None),
        ("TIMESTAMP", X::XdbcTimestamp, 23, Some("'"), None),
        ("NANOTIMESTAMP", X::XdbcTimestamp, 29, Some("'"), None),
        ("SYMBOL", X::XdbcVarchar, i32::MAX, Some("'"), None),
        ("STRING", X::XdbcVarchar, i32::MAX, Some("'"), None),
        ("BLOB", X::XdbcVarbinary, i32::MAX, Some("x'"), None),
    ];
    for (name, ty, size, quote, radix) in all {
        types.append(XdbcTypeInfo {
            type_name: name.to_string(),
            data_type: ty,
            column_size: Some(size),
            literal_prefix: quote.map(str::to_string),
            literal_suffix: quote.map(|_| "'".to_string()),
            create_params: None,
            nullable: Nullable::NullabilityNullable,
            case_sensitive: quote.is_some(),
            searchable: Searchable::Full,
            unsigned_attribute: radix.map(|_| false),
            fixed_prec_scale: false,
            auto_increment: Some(false),
            local_type_name: Some(name.to_string()),
            minimum_scale: None,
            maximum_scale: None,
            sql_data_type: ty,
            datetime_subcode: None,
            num_prec_radix: radix,
            interval_precision: None,
        });
    }
    types.build().expect("types of the kinds that Flight SQL knows")
});

/// A failure to find a table by the path of a descriptor.
pub(super) fn table_of_path(server: &Server, path: &[String]) -> Result<FullName, Status> {
    match path {
        [name] => server.table_name(name).map_err(status),
        other => Err(status(Failure::new(format!("a path names one table: path=`{}`", other.join("/"))))),
    }
}
