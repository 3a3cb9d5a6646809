//! Public tables: what there is, and what a writer has written.

use super::Front;
use super::problem::{Problem, Problems};
use super::request::Path;
use crate::failure::Failure;
use axum::Json;
use axum::extract::State;
use graph::FullName;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A public table.
#[derive(Serialize, ToSchema)]
pub struct TableInfo {
    /// Its full name.
    table: String,
    /// `log`, `keyed(…)` or `latest-keyed(…)`.
    kind: String,
    /// How many rows it keeps.
    rows: u64,
    /// The offset of the first row it keeps.
    start: u64,
    /// The offset of the next row to come.
    end: u64,
    /// The era of its offsets: a table that is cut back has a new one.
    era: u64,
    /// The graphs that read or write it.
    used_by: Vec<String>,
    /// Its columns; not in a list of tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<ColumnInfo>>,
}

/// A column.
#[derive(Serialize, ToSchema)]
pub struct ColumnInfo {
    /// Its name.
    name: String,
    /// Its type, as scripts write it.
    #[serde(rename = "type")]
    ty: String,
}

impl TableInfo {
    fn of(front: &Front, name: &FullName, table: &stream::Table) -> TableInfo {
        let info = front.server.orca().with_master(|master| master.table_info(name));
        let (era, start, end) = table.extent();
        TableInfo {
            table: name.to_string(),
            kind: info.as_ref().map_or(String::new(), |info| info.kind.to_string()),
            rows: end - start,
            start,
            end,
            era,
            used_by: info.iter().flat_map(|info| &info.used_by).map(FullName::to_string).collect(),
            columns: None,
        }
    }
}

/// Every public table
#[utoipa::path(
    get, path = "/v1/tables", tag = "tables", operation_id = "list_tables",
    responses((status = 200, description = "The tables, by name.", body = Vec<TableInfo>), Problems)
)]
pub(super) async fn list(State(front): State<Arc<Front>>) -> Json<Vec<TableInfo>> {
    let all = front
        .server
        .orca()
        .with_worker(|worker| worker.tables().map(|(name, table)| (name.clone(), table.clone())).collect::<Vec<_>>());
    Json(all.iter().map(|(name, table)| TableInfo::of(&front, name, table)).collect())
}

/// One public table, with its columns
#[utoipa::path(
    get, path = "/v1/tables/{name}", tag = "tables", operation_id = "show_table",
    params(("name" = String, Path, description = "Its name; a bare one belongs to the only catalog there is.")),
    responses((status = 200, description = "The table.", body = TableInfo), Problems)
)]
pub(super) async fn show(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
) -> Result<Json<TableInfo>, Problem> {
    let (name, table) = find(&front, &name)?;
    let column = |field: &data::Field| ColumnInfo { name: field.name.to_string(), ty: field.ty.to_string() };
    let columns = table.schema().fields().iter().map(column).collect();
    Ok(Json(TableInfo { columns: Some(columns), ..TableInfo::of(&front, &name, &table) }))
}

/// The table of this name, and its full name in the table's own case.
pub(super) fn find(front: &Front, name: &str) -> Result<(FullName, Arc<stream::Table>), Failure> {
    let name = front.server.table_name(name)?;
    let table = front.server.orca().table_of(&name)?;
    let own = front.server.orca().with_master(|master| master.table(&name).map(|entry| entry.record.name.clone()));
    Ok((own.unwrap_or(name), table))
}

/// How far a writer is.
#[derive(Serialize, ToSchema)]
pub struct WriterInfo {
    /// Its name.
    writer: String,
    /// The number of its last append that the table holds.
    seq: Option<u64>,
}

/// The last append of a writer
#[utoipa::path(
    get, path = "/v1/tables/{name}/writers/{writer}", tag = "tables", operation_id = "show_writer",
    params(
        ("name" = String, Path, description = "The table."),
        ("writer" = String, Path, description = "The writer's name.")
    ),
    responses((status = 200, description = "How far it is.", body = WriterInfo), Problems)
)]
pub(super) async fn writer(
    State(front): State<Arc<Front>>,
    Path((name, writer)): Path<(String, String)>,
) -> Result<Json<WriterInfo>, Problem> {
    let (_, table) = find(&front, &name)?;
    let seq = table.writer_seq(&stream::Writer::named(&writer));
    Ok(Json(WriterInfo { writer, seq }))
}
