//! Rows as the body of an answer: JSON, CSV, Arrow or a table for people.

use super::problem::Problem;
use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use data::{Batch, Field};
use futures::StreamExt;
use query::format::{Format, Writer};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The content type of an Arrow stream.
pub(super) const ARROW: &str = "application/vnd.apache.arrow.stream";

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// An array of objects.
    Json,
    /// A header and a line a row.
    Csv,
    /// An Arrow IPC stream.
    Arrow,
    /// Columns under one another, for people.
    Table,
}

impl Form {
    /// The form that is asked for: by parameter, else by the `Accept` header, else JSON.
    pub(super) fn of(asked: Option<Form>, headers: &HeaderMap) -> Form {
        let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("");
        let known = accepted.split(',').filter_map(|media| match media.split(';').next().unwrap_or("").trim() {
            "application/json" => Some(Form::Json),
            "text/csv" => Some(Form::Csv),
            ARROW => Some(Form::Arrow),
            "text/plain" => Some(Form::Table),
            _ => None,
        });
        asked.or_else(|| known.into_iter().next()).unwrap_or(Form::Json)
    }

    fn media(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Form::Json => "application/json",
            Form::Csv => "text/csv; charset=utf-8",
            Form::Arrow => ARROW,
            Form::Table => "text/plain; charset=utf-8",
        })
    }
}

/// Writes rows part by part.
enum Encoder {
    Text(Writer),
    Arrow(Box<StreamWriter<Vec<u8>>>),
}

impl Encoder {
    fn new(fields: &[Field], form: Form) -> Result<Encoder, ArrowError> {
        let format = match form {
            Form::Json => Format::Json,
            Form::Csv => Format::Csv,
            Form::Table => Format::Table,
            Form::Arrow => {
                let fields: Vec<_> = fields.iter().map(Field::to_arrow).collect();
                let schema = Arc::new(arrow::datatypes::Schema::new(fields));
                return Ok(Encoder::Arrow(Box::new(StreamWriter::try_new(vec![], &schema)?)));
            }
        };
        Ok(Encoder::Text(Writer::new(fields.to_vec(), format)))
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
        match self {
            Encoder::Text(writer) => {
                let mut text = String::new();
                writer.write(rows, &mut text);
                Ok(text.into_bytes())
            }
            Encoder::Arrow(writer) => {
                writer.write(rows)?;
                Ok(std::mem::take(writer.get_mut()))
            }
        }
    }

    fn finish(self) -> Result<Vec<u8>, ArrowError> {
        match self {
            Encoder::Text(writer) => {
                let mut text = String::new();
                writer.finish(&mut text);
                Ok(text.into_bytes())
            }
            Encoder::Arrow(mut writer) => {
                writer.finish()?;
                Ok(std::mem::take(writer.get_mut()))
            }
        }
    }
}

fn internal(error: ArrowError) -> Problem {
    crate::failure::Failure::of(env::Kind::Internal, format!("rows cannot be written: {error}")).into()
}

/// An answer of rows that are at hand.
pub(super) fn whole(rows: &Batch, form: Form) -> Result<Response, Problem> {
    let mut encoder = Encoder::new(rows.schema().fields(), form).map_err(internal)?;
    let mut bytes = match rows.rows() {
        0 => vec![],
        _ => encoder.write(&rows.to_arrow()).map_err(internal)?,
    };
    bytes.extend(encoder.finish().map_err(internal)?);
    Ok(([(header::CONTENT_TYPE, form.media())], bytes).into_response())
}

/// An answer of rows as they come. What fails before the first of them is `Err`; what fails later breaks the body off. The
/// client that goes away ends the query.
pub(super) async fn stream(mut rows: query::Rows, form: Form) -> Result<Response, query::Error> {
    let first = rows.next().await.transpose()?;
    let encoder = Encoder::new(rows.fields(), form);
    let encoder = encoder.map_err(|error| query::Error::Internal { reason: error.to_string() })?;
    let batches = futures::stream::iter(first.map(Ok)).chain(rows);
    let body = futures::stream::try_unfold((Box::pin(batches), Some(encoder)), |(mut batches, encoder)| async move {
        let Some(mut encoder) = encoder else { return Ok(None) };
        loop {
            let (bytes, encoder) = match batches.next().await {
                Some(batch) => {
                    let bytes = encoder.write(&batch?)?;
                    if bytes.is_empty() {
                        continue;
                    }
                    (bytes, Some(encoder))
                }
                None => (encoder.finish()?, None),
            };
            return Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Some((bytes, (batches, encoder))));
        }
    });
    Ok(([(header::CONTENT_TYPE, form.media())], Body::from_stream(body)).into_response())
}
