//! Whether the server is there, and whether it takes requests.

use crate::server::Server;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn routes(server: Arc<Server>) -> Router {
    Router::new().route("/healthz", get(health)).route("/readyz", get(ready)).with_state(server)
}

/// It is there.
async fn health(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION"), "uptime_s": server.uptime().as_secs() }))
}

/// It takes requests, or why it does not.
async fn ready(State(server): State<Arc<Server>>) -> (StatusCode, Json<Value>) {
    let reasons = server.not_ready();
    match reasons.is_empty() {
        true => (StatusCode::OK, Json(json!({ "status": "ready", "reasons": [] }))),
        false => (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": "not ready", "reasons": reasons }))),
    }
}
