//! Queries, and INSERT.

use super::Front;
use super::answers::{self, Form};
use super::described::{Binary, SqlAnswer};
use super::problem::{Problem, Problems};
use super::request::{self, Query};
use crate::failure::Failure;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use connect::Cells;
use data::{Scalar, Type};
use env::Kind;
use futures::StreamExt;
use lang::{Diagnostic, Source, Span};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// The greatest query.
const BYTES_MAX: usize = 16 << 20;

/// How a query is answered.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// How rows are written; by the `Accept` header if left out, and JSON without one.
    #[param(inline)]
    format: Option<Form>,
    /// The catalog of names without one; the only one there is if left out.
    catalog: Option<String>,
}

/// A query with parameters.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The query; `$1` or `?` stands for a parameter.
    sql: String,
    /// The parameters: numbers, texts, true, false or null.
    #[serde(default)]
    parameters: Vec<Value>,
}

/// What an INSERT inserted.
#[derive(Serialize, ToSchema)]
pub struct Inserted {
    /// How many rows.
    rows: u64,
}

/// Answer a query, or insert its rows
///
/// The body is the query, as text or as JSON with parameters. Rows are streamed as they come; a client that goes away ends the
/// query. What fails after the first rows breaks the body off.
#[utoipa::path(
    post, path = "/v1/sql", tag = "sql", operation_id = "sql",
    params(Asking),
    request_body(content((String = "text/plain"), (Statement = "application/json"))),
    responses(
        (status = 200, description = "The rows, or how many an INSERT inserted.", content(
            (SqlAnswer = "application/json"), (String = "text/csv"), (Binary = "application/vnd.apache.arrow.stream"),
            (String = "text/plain")
        )),
        Problems
    )
)]
pub(super) async fn sql(
    State(front): State<Arc<Front>>,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let media = request::media(&headers)?;
    let text = request::text(&headers, body, BYTES_MAX).await?;
    let statement = match media.as_str() {
        "" | "text/plain" => Statement { sql: text, parameters: vec![] },
        "application/json" => serde_json::from_str(&text)
            .map_err(|error| Problem::invalid(format!("body is no query in JSON: {error}")))?,
        other => return Err(request::unsupported(other, &["text/plain", "application/json"])),
    };
    let source = Source::new("query", statement.sql);
    let orca = front.server.orca();
    let mut session = orca.queries().clone();
    if let Some(catalog) = asking.catalog {
        let own = orca.with_master(|master| master.catalog(&catalog).map(String::from));
        let own = own.ok_or_else(|| Failure::of(Kind::NotFound, format!("no such catalog: catalog=`{catalog}`")))?;
        session = session.in_catalog(Some(own));
    }
    let prepared = session.prepare(&source.text).await.map_err(|error| placed(error, &source))?;
    let parameters = parameters(&statement.parameters, prepared.parameters())?;
    let rows = prepared.execute(parameters).await.map_err(|error| placed(error, &source))?;
    match rows.insert().cloned() {
        // All at once.
        Some(table) => {
            let rows = rows.map(|batch| batch.map_err(|error| placed(error, &source)));
            Ok(Json(Inserted { rows: front.server.insert(&table, rows).await? }).into_response())
        }
        None => {
            let form = Form::of(asking.format, &headers);
            Ok(answers::stream(rows, form).await.map_err(|error| placed(error, &source))?)
        }
    }
}

/// An error of a query with its place in the text.
fn placed(error: query::Error, source: &Arc<Source>) -> Failure {
    let place = match &error {
        query::Error::Unknown { place, .. } | query::Error::Invalid { place, .. } => *place,
        _ => None,
    };
    let (kind, text) = (error.kind(), error.to_string());
    let Some(place) = place else { return Failure::of(kind, text) };
    let line = source.text.lines().nth(place.line.saturating_sub(1) as usize).unwrap_or("");
    let before: usize =
        source.text.split_inclusive('\n').take(place.line.saturating_sub(1) as usize).map(str::len).sum();
    let column: usize = line.chars().take(place.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    let start = (before + column) as u32;
    let message = text.strip_prefix(&format!("{place}: ")).unwrap_or(&text);
    Failure::placed(kind, Diagnostic::at(Span { start, end: start }, message).in_source(source))
}

/// The values of parameters, each of the type that the query wants.
fn parameters(given: &[Value], wanted: &[Option<Type>]) -> Result<Vec<(Type, Scalar)>, Failure> {
    if given.len() != wanted.len() {
        let (given, wanted) = (given.len(), wanted.len());
        return Err(Failure::new(format!(
            "not as many parameters as the query has: given=`{given}`, wanted=`{wanted}`"
        )));
    }
    given.iter().zip(wanted).enumerate().map(|(place, (value, wanted))| parameter(place + 1, value, *wanted)).collect()
}

fn parameter(number: usize, value: &Value, wanted: Option<Type>) -> Result<(Type, Scalar), Failure> {
    let own = match value {
        Value::Null => return Ok((wanted.unwrap_or(Type::Void), Scalar::Null)),
        Value::Bool(_) => Type::Bool,
        Value::Number(number) if number.is_f64() => Type::Double,
        Value::Number(_) => Type::Long,
        _ => Type::String,
    };
    let ty = wanted.filter(|ty| *ty != Type::Void).unwrap_or(own);
    if ty.is_text()
        && let Value::String(text) = value
    {
        // An empty text is no NULL here.
        return Ok((ty, text.as_str().into()));
    }
    let mut cells = Cells::new(ty);
    let pushed = match value {
        Value::Number(number) if number.is_i64() => cells.push_int(number.as_i64().unwrap_or_default()),
        Value::Number(number) if number.is_f64() => cells.push_float(number.as_f64().unwrap_or_default()),
        Value::String(text) => cells.push(text.as_bytes()),
        other => cells.push(other.to_string().as_bytes()),
    };
    match pushed {
        Ok(()) => Ok((ty, cells.take().get(0))),
        Err(_) => Err(Failure::new(format!(
            "parameter is none of its type: parameter=`${number}`, value=`{value}`, type=`{ty}`"
        ))),
    }
}
