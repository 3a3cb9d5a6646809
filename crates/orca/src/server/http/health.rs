//! Whether the server is there, and whether it takes requests.

use super::Front;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The server is there.
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    status: String,
    /// The program's version.
    version: String,
    /// How long it has been there.
    uptime_s: u64,
}

/// Whether the server takes requests.
#[derive(Serialize, ToSchema)]
pub struct Readiness {
    /// `ready` or `not ready`.
    status: String,
    /// Why not.
    reasons: Vec<String>,
}

/// The server is there
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, description = "It is there.", body = Health)))]
pub(super) async fn health(State(front): State<Arc<Front>>) -> Json<Health> {
    let (status, version) = ("ok".to_string(), env!("CARGO_PKG_VERSION").to_string());
    Json(Health { status, version, uptime_s: front.server.uptime().as_secs() })
}

/// The server takes requests, or why it does not
#[utoipa::path(
    get, path = "/readyz", tag = "server",
    responses((status = 200, description = "It takes requests.", body = Readiness), (status = 503, description = "It takes none.", body = Readiness))
)]
pub(super) async fn ready(State(front): State<Arc<Front>>) -> (StatusCode, Json<Readiness>) {
    let reasons = front.server.not_ready();
    match reasons.is_empty() {
        true => (StatusCode::OK, Json(Readiness { status: "ready".into(), reasons })),
        false => (StatusCode::SERVICE_UNAVAILABLE, Json(Readiness { status: "not ready".into(), reasons })),
    }
}
