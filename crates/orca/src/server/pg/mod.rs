//! The PostgreSQL front.

use crate::server::Server;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Serves until the server stops.
pub(super) async fn serve(server: Arc<Server>, listener: TcpListener) {
    let _ = listener;
    server.stopped().await;
}
