//! The rows of a table: appending them, and reading a page.

use super::Front;
use super::answers::{self, ARROW, Form};
use super::described::{Binary, Row};
use super::json_rows;
use super::problem::{Problem, Problems};
use super::request::{self, Path, Query};
use super::tables::find;
use crate::failure::Failure;
use crate::server::subscription::parse_start;
use crate::server::{Append, numbered};
use arrow::ipc::reader::StreamReader;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use connect::ArrowRows;
use data::{Batch, Schema};
use env::Kind;
use serde::{Deserialize, Serialize};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use stream::Start;
use utoipa::{IntoParams, ToSchema};

/// The greatest body of an append.
const BYTES_MAX: usize = 256 << 20;

/// The media types of rows.
const MEDIA: [&str; 4] = ["application/x-ndjson", "application/json", "text/csv", ARROW];

/// What errors call the body.
const BODY: &str = "body";

/// Rows of a text that are read together.
const BATCH_ROWS: usize = 65_536;

/// The greatest page.
const LIMIT_MAX: u64 = 100_000;

/// Who appends.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Appending {
    /// The writer's name, with `seq`.
    #[param(min_length = 1, max_length = 256)]
    writer: Option<String>,
    /// The number of this append among the writer's: what is appended again under a number is not appended. From 1 on, and
    /// rising.
    #[param(minimum = 1, maximum = 9223372036854775807i64)]
    seq: Option<u64>,
}

/// What became of an append.
#[derive(Serialize, ToSchema)]
pub struct AppendAnswer {
    /// How many rows the table took, or holds for the number.
    rows: u64,
    /// The number of the append.
    seq: u64,
    /// Was it there already?
    held: bool,
    /// Where its rows are.
    offsets: Offsets,
}

/// A stretch of rows.
#[derive(Serialize, ToSchema)]
pub struct Offsets {
    /// The offset of the first row.
    start: u64,
    /// The offset after the last row.
    end: u64,
}

/// Append rows
///
/// The body is one append, whole or not at all: JSON lines, a JSON array of objects, CSV with a header, or an Arrow stream.
/// Columns are matched by name without regard to case; a name that the table has not is an error. With `writer` and `seq` a
/// request that is tried again appends nothing twice.
#[utoipa::path(
    post, path = "/v1/tables/{name}/rows", tag = "tables", operation_id = "append_rows",
    params(("name" = String, Path, description = "The table."), Appending),
    request_body(content(
        (String = "application/x-ndjson"), (Vec<Row> = "application/json"), (String = "text/csv"),
        (Binary = "application/vnd.apache.arrow.stream")
    )),
    responses((status = 200, description = "The table holds the rows.", body = AppendAnswer), Problems)
)]
pub(super) async fn append(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
    Query(appending): Query<Appending>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<AppendAnswer>, Problem> {
    let writer = match (appending.writer, appending.seq) {
        (None, None) => None,
        (Some(writer), Some(seq)) => Some(numbered(&writer, seq)?),
        _ => return Err(Problem::invalid("writer and seq go together")),
    };
    let media = request::media(&headers)?;
    if !MEDIA.contains(&media.as_str()) {
        return Err(request::unsupported(&media, &MEDIA));
    }
    let (name, table) = find(&front, &name)?;
    let (bytes, here) = request::whole(&headers, body, BYTES_MAX).await?;
    let server = front.server.clone();
    let taken = request::blocking(move || {
        // Here as long as this runs, even if the client goes.
        let _here = here;
        let rows = read(&media, bytes, table.schema())?;
        server.append(Append { table: name, writer, rows })
    })
    .await?;
    let (start, end) = (taken.offsets.start, taken.offsets.end);
    Ok(Json(AppendAnswer { rows: end - start, seq: taken.seq, held: taken.held, offsets: Offsets { start, end } }))
}

/// The rows of a body.
fn read(media: &str, bytes: Vec<u8>, schema: &Arc<Schema>) -> Result<Batch, Failure> {
    let rows = match media {
        "application/x-ndjson" => json_rows::lines(BODY, &bytes, schema),
        "application/json" => json_rows::array(BODY, &bytes, schema),
        "text/csv" => csv(bytes, schema),
        _ => arrow(bytes, schema),
    };
    rows.map_err(|error| match error {
        connect::Error::Malformed { .. } => Failure::new(error.to_string()),
        other => Failure::of(Kind::Data, other.to_string()),
    })
}

fn csv(bytes: Vec<u8>, schema: &Arc<Schema>) -> Result<Batch, connect::Error> {
    let batches = connect::csv(BODY, Box::new(Cursor::new(bytes)), schema, BATCH_ROWS)?;
    concat(batches.collect::<Result<Vec<_>, _>>()?, schema)
}

fn arrow(bytes: Vec<u8>, schema: &Arc<Schema>) -> Result<Batch, connect::Error> {
    let malformed = |reason: String| connect::Error::Malformed { file: BODY.to_string(), reason };
    // The reader checks what it reads; what it overlooks must not end more than the request.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).map_err(|error| malformed(error.to_string()))?;
        let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let mut rows = ArrowRows::new(BODY, &names, schema)?;
        let batches = reader.map(|batch| rows.convert(&batch.map_err(|error| malformed(error.to_string()))?));
        batches.collect::<Result<Vec<_>, _>>()
    }));
    concat(read.unwrap_or_else(|_| Err(malformed("no Arrow stream".to_string())))?, schema)
}

fn concat(batches: Vec<Batch>, schema: &Arc<Schema>) -> Result<Batch, connect::Error> {
    Batch::concat(schema.clone(), &batches).map_err(|error| connect::Error::Data { file: BODY.to_string(), error })
}

/// Which rows.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Page {
    /// Where to begin: `first`, or an offset.
    #[serde(default = "first")]
    #[param(default = "first", pattern = "^(first|[0-9]{1,19})$")]
    from: String,
    /// How many rows at most.
    #[serde(default = "limit")]
    #[param(default = 1000, minimum = 1, maximum = 100000)]
    limit: u64,
    /// How rows are written; by the `Accept` header if left out, and JSON without one.
    #[param(inline)]
    format: Option<Form>,
}

fn first() -> String {
    "first".to_string()
}

fn limit() -> u64 {
    1_000
}

/// Read a page of rows
///
/// The header `Orca-Next` names the offset to go on from, `Orca-Era` its era.
#[utoipa::path(
    get, path = "/v1/tables/{name}/rows", tag = "tables", operation_id = "read_rows",
    params(("name" = String, Path, description = "The table."), Page),
    responses(
        (status = 200, description = "The rows.",
            headers(("Orca-Next" = u64, description = "The offset to go on from."), ("Orca-Era" = u64, description = "Its era.")),
            content(
                (Vec<Row> = "application/json"), (String = "text/csv"), (Binary = "application/vnd.apache.arrow.stream"),
                (String = "text/plain")
            )
        ),
        Problems
    )
)]
pub(super) async fn page(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
    Query(page): Query<Page>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if !(1..=LIMIT_MAX).contains(&page.limit) {
        return Err(Problem::invalid(format!("a page has 1 to {LIMIT_MAX} rows: limit=`{}`", page.limit)));
    }
    let (_, table) = find(&front, &name)?;
    let (rows, next, era) = request::blocking(move || {
        let (era, first, end) = table.extent();
        let from = match parse_start(&page.from)? {
            Start::First => first,
            Start::Next => {
                return Err(Failure::new(format!("a page begins at first or a number: from=`{}`", page.from)));
            }
            Start::At(offset) => offset,
        };
        let to = from.saturating_add(page.limit).min(end.max(from));
        let batches: Vec<Batch> = table.read(from..to)?.into_iter().map(|(_, batch)| batch).collect();
        Ok((Batch::concat(table.schema().clone(), &batches)?, to, era))
    })
    .await?;
    let mut response = answers::whole(&rows, Form::of(page.format, &headers))?;
    response.headers_mut().insert("orca-next", HeaderValue::from(next));
    response.headers_mut().insert("orca-era", HeaderValue::from(era));
    Ok(response)
}
