//! Who connects to a listener.

use super::Server;
use futures::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// How long a listener that cannot accept waits, say for want of files.
const PAUSE: Duration = Duration::from_millis(50);

/// Has each client that connects attended to until the server stops, and then until all are done.
pub(super) async fn serve<F>(server: &Server, listener: TcpListener, attend: impl Fn(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut clients = JoinSet::new();
    loop {
        match select(pin!(server.stopped()), pin!(listener.accept())).await {
            Either::Left(_) => break,
            Either::Right((Ok((socket, _)), _)) => {
                // Answers go out at once: a small one held back until the client acknowledges what came before costs 40 ms.
                if let Err(error) = socket.set_nodelay(true) {
                    tracing::debug!(%error, "a socket holds small answers back");
                }
                clients.spawn(attend(socket));
                // Those that are gone are forgotten.
                while clients.try_join_next().is_some() {}
            }
            Either::Right((Err(error), _)) => {
                tracing::warn!(%error, "a client cannot be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    while clients.join_next().await.is_some() {}
}
