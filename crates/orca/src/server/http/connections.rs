//! The connections of the HTTP port, and the threads they are served on.
//!
//! A connection begins on the threads of the fronts. When a reader of a table subscribes over it, it is served from then on
//! where the readers' messages are made: on threads that give way to graphs, so that what goes to many readers is neither
//! made nor sent at the cost of the graphs.

use crate::server::Server;
use axum::Router;
use axum::body::Body;
use futures::future::{Either, select};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use tokio::net::TcpStream;
use tower::ServiceExt;

/// Has the connection that a request came over go aside; there is one with each request of HTTP/1.
#[derive(Debug, Clone, Default)]
pub(super) struct Aside(Arc<AtomicBool>);

impl Aside {
    /// As soon as the connection waits, it is served with the readers.
    pub(super) fn go(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_asked_for(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Serves one client.
pub(super) async fn attend(server: Arc<Server>, socket: TcpStream, router: Router) {
    let aside = Aside::default();
    let asked = aside.clone();
    let answer = router.into_service::<Body>().map_request(move |mut request: hyper::Request<Incoming>| {
        if request.version() <= hyper::Version::HTTP_11 {
            request.extensions_mut().insert(asked.clone());
        }
        request.map(Body::new)
    });
    let builder = Builder::new(TokioExecutor::new());
    let connection = builder.serve_connection(TokioIo::new(socket), TowerToHyperService::new(answer)).into_owned();
    let stopping = server.clone();
    let mut served = Box::pin(async move {
        let mut connection = pin!(connection);
        // A client that goes in the middle is no news.
        if let Either::Right(_) = select(connection.as_mut(), pin!(stopping.stopped())).await {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    });
    let is_over = poll_fn(|context| match served.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(true),
        Poll::Pending if aside.is_asked_for() => Poll::Ready(false),
        Poll::Pending => Poll::Pending,
    });
    if !is_over.await {
        let _ = server.readers.spawn(served).await;
    }
}
