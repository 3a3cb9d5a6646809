//! What went wrong, as JSON of RFC 9457, and the status that goes with its kind.

use crate::failure::Failure;
use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use env::Kind;
use lang::Diagnostic;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::openapi::{Content, RefOr, Response as Described, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

/// The content type of a problem.
pub(super) const MEDIA: &str = "application/problem+json";

/// Seconds after which a client may try again what is unavailable now.
const RETRY_AFTER_S: &str = "1";

/// Why a request did not come about.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    about: &'static str,
    /// The status in words.
    title: String,
    /// The HTTP status.
    pub(super) status: u16,
    /// What went wrong, in a sentence.
    pub(super) detail: String,
    /// What the caller can do: `invalid`, `denied`, `not_found`, `conflict`, `unavailable`, `data` or `internal`.
    #[schema(value_type = String)]
    kind: &'static str,
    /// Each thing that is wrong, with its place where it has one.
    errors: Vec<Fault>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Fault {
    /// What is wrong.
    message: String,
    /// The line of the script or query, from 1.
    line: Option<usize>,
    /// The character in the line, from 1.
    column: Option<usize>,
    /// How many characters of the line are at fault.
    length: Option<usize>,
    /// The line's text.
    source_line: Option<String>,
    /// What would mend it.
    help: Option<String>,
    /// The name of the script.
    name: Option<String>,
}

impl Fault {
    fn of(error: &Diagnostic) -> Fault {
        let place = error.span.zip(error.source.as_ref()).map(|(span, source)| (source.place(span.start), source));
        Fault {
            message: error.message.clone(),
            line: place.map(|((line, _), _)| line),
            column: place.map(|((_, column), _)| column),
            length: place.map(|((line, column), source)| {
                let (start, end) = error.span.map_or((0, 0), |span| (span.start as usize, span.end as usize));
                let meant = source.text.get(start..end.max(start)).unwrap_or_default();
                let in_line = source.line(line).chars().skip(column - 1).count();
                meant.chars().take_while(|letter| *letter != '\n').count().min(in_line)
            }),
            source_line: place.map(|((line, _), source)| source.line(line).to_string()),
            help: error.help.clone(),
            name: place.map(|(_, source)| source.name.clone()),
        }
    }
}

impl Problem {
    /// A problem of this status.
    pub(super) fn of(status: StatusCode, kind: Kind, message: impl Into<String>) -> Problem {
        Problem::with_status(status, Failure::of(kind, message))
    }

    /// A request that is wrong.
    pub(super) fn invalid(message: impl Into<String>) -> Problem {
        Failure::new(message).into()
    }

    fn with_status(status: StatusCode, failure: Failure) -> Problem {
        Problem {
            about: "about:blank",
            title: status.canonical_reason().unwrap_or("Error").to_string(),
            status: status.as_u16(),
            detail: failure.to_string(),
            kind: kind_name(failure.kind()),
            errors: failure.diagnostics().iter().map(Fault::of).collect(),
        }
    }

    /// The problem as JSON.
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a problem is plain data")
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "invalid",
        Kind::Denied => "denied",
        Kind::NotFound => "not_found",
        Kind::Conflict => "conflict",
        Kind::Unavailable => "unavailable",
        Kind::Data => "data",
        Kind::Internal => "internal",
    }
}

fn status_of(kind: Kind) -> StatusCode {
    match kind {
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::Denied => StatusCode::FORBIDDEN,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Data => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl<E: Into<Failure>> From<E> for Problem {
    fn from(error: E) -> Problem {
        let failure = error.into();
        Problem::with_status(status_of(failure.kind()), failure)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).expect("a problem has a status of HTTP");
        let mut response = (status, Json(self)).into_response();
        let mut put = |name: HeaderName, value: &'static str| {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        };
        put(header::CONTENT_TYPE, MEDIA);
        match status {
            StatusCode::SERVICE_UNAVAILABLE => put(header::RETRY_AFTER, RETRY_AFTER_S),
            StatusCode::UNAUTHORIZED => put(header::WWW_AUTHENTICATE, "Basic realm=\"orca\", charset=\"UTF-8\""),
            _ => {}
        }
        response
    }
}

/// Every request may end in one of these.
pub(super) struct Problems;

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let all = [
            (400, "The request is wrong, and will be wrong again."),
            (401, "A login is required."),
            (403, "The caller may not do it."),
            (404, "What it speaks of is not there."),
            (405, "The resource knows no such method."),
            (409, "It clashes with what is there."),
            (413, "The body is larger than the server takes."),
            (415, "The body's media type is none that is read here."),
            (422, "Rows that the request brings, or works on, are not what they should be."),
            (500, "The program is wrong."),
            (503, "It may go well later."),
        ];
        let schema = || utoipa::openapi::Ref::from_schema_name(Problem::name());
        let described = all.map(|(status, text)| {
            let content = Content::new(Some(schema()));
            let response = ResponseBuilder::new().description(text).content(MEDIA, content).build();
            (status.to_string(), RefOr::T(response))
        });
        described.into()
    }
}
