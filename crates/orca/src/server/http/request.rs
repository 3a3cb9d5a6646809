//! What handlers take of a request, refused as a problem where it is not what it should be.

use super::problem::Problem;
use crate::failure::Failure;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path as AxumPath, Query as AxumQuery};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use env::Kind;
use futures::StreamExt;
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The parts of the path.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Path<T>, Problem> {
        match AxumPath::from_request_parts(parts, state).await {
            Ok(AxumPath(path)) => Ok(Path(path)),
            Err(refused) => Err(Problem::invalid(format!("bad path: {}", lower(&refused.body_text())))),
        }
    }
}

/// The parameters behind the question mark.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Query<T>, Problem> {
        match AxumQuery::try_from_uri(&parts.uri) {
            Ok(AxumQuery(query)) => Ok(Query(query)),
            Err(refused) => {
                let text = refused.body_text();
                let reason = text.trim_start_matches("Failed to deserialize query string: ");
                Err(Problem::invalid(format!("bad parameter: {}", lower(reason))))
            }
        }
    }
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// The media type of the body, without its parameters; nothing if none is named.
pub(super) fn media(headers: &HeaderMap) -> Result<String, Problem> {
    let text = |name| headers.get(name).map_or(Ok(""), |value: &axum::http::HeaderValue| value.to_str());
    let refused = |found: &str| {
        Problem::of(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Kind::Invalid,
            format!("the body must not be encoded: content-encoding=`{found}`"),
        )
    };
    match text(header::CONTENT_ENCODING).unwrap_or("?") {
        "" | "identity" => {}
        other => return Err(refused(other)),
    }
    let media = text(header::CONTENT_TYPE).map_err(|_| unsupported("?", &[]))?;
    Ok(media.split(';').next().unwrap_or("").trim().to_ascii_lowercase())
}

/// A media type that is not read here.
pub(super) fn unsupported(found: &str, known: &[&str]) -> Problem {
    Problem::of(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Kind::Invalid,
        format!("media type is not read here: content-type=`{found}`, known=`{}`", known.join(", ")),
    )
}

/// How many bytes of bodies may be here at once.
const HERE_MAX: usize = 2 << 30;

/// How many are.
static HERE: AtomicUsize = AtomicUsize::new(0);

/// Bytes of a body, counted as long as this lives.
pub(super) struct Here(usize);

impl Here {
    /// Counts so many more; an error if there are too many then.
    fn add(&mut self, bytes: usize) -> Result<(), Problem> {
        self.0 += bytes;
        if HERE.fetch_add(bytes, Ordering::Relaxed) + bytes <= HERE_MAX {
            return Ok(());
        }
        let text = format!("too many rows are under way: bytes_max=`{HERE_MAX}`; try again");
        Err(Failure::of(Kind::Unavailable, text).into())
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        HERE.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// The whole body, if it is not larger than it may be; it counts as here until what comes with it is dropped.
pub(super) async fn whole(headers: &HeaderMap, body: Body, bytes_max: usize) -> Result<(Vec<u8>, Here), Problem> {
    let too_large = || {
        let message = format!("body is too large: bytes_max=`{bytes_max}`");
        Problem::of(StatusCode::PAYLOAD_TOO_LARGE, Kind::Invalid, message)
    };
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if stated.is_some_and(|length| length > bytes_max) {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(stated.unwrap_or(0).min(bytes_max));
    let (mut pieces, mut here) = (body.into_data_stream(), Here(0));
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| Problem::invalid(format!("body broke off: {error}")))?;
        if bytes.len() + piece.len() > bytes_max {
            return Err(too_large());
        }
        here.add(piece.len())?;
        bytes.extend_from_slice(&piece);
    }
    Ok((bytes, here))
}

/// The whole body as text.
pub(super) async fn text(headers: &HeaderMap, body: Body, bytes_max: usize) -> Result<String, Problem> {
    let (bytes, _here) = whole(headers, body, bytes_max).await?;
    String::from_utf8(bytes)
        .map_err(|error| Problem::invalid(format!("body is not UTF-8: byte=`{}`", error.utf8_error().valid_up_to())))
}

/// Does what blocks on a thread that may.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Problem> {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Failure::of(Kind::Internal, "the request's thread broke off").into()),
    }
}
