//! The HTTP front: REST, Flight SQL and metrics on one port.

mod health;

use crate::server::Server;
use axum::Router;
use std::sync::Arc;
use tokio::net::TcpListener;

/// All that is served over HTTP.
pub fn router(server: Arc<Server>) -> Router {
    Router::new().merge(health::routes(server.clone())).merge(super::flight::routes(server))
}

/// Serves until the server stops.
pub(super) async fn serve(server: Arc<Server>, listener: TcpListener) {
    let router = router(server.clone());
    let served = axum::serve(listener, router).with_graceful_shutdown(async move { server.stopped().await });
    if let Err(error) = served.await {
        tracing::error!(%error, "HTTP is served no more");
    }
}
