//! What is measured, as the text that Prometheus reads.

use super::Front;
use super::problem::{Problem, Problems};
use super::request::blocking;
use crate::failure::Failure;
use crate::metrics;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use env::Kind;
use std::sync::Arc;

/// Everything that is measured, for Prometheus
#[utoipa::path(
    get, path = "/metrics", tag = "server", operation_id = "metrics",
    responses((status = 200, description = "The metrics.", content_type = "text/plain", body = String), Problems)
)]
pub(super) async fn show(State(front): State<Arc<Front>>) -> Result<Response, Problem> {
    let server = front.server.clone();
    let text = blocking(move || {
        let text = metrics::text(metrics::collect(&server));
        text.map_err(|error| Failure::of(Kind::Internal, format!("metrics cannot be written: {error}")))
    });
    Ok(([(header::CONTENT_TYPE, metrics::MEDIA)], text.await?).into_response())
}
