//! The PostgreSQL front: `psql`, drivers and tools of PostgreSQL read and append here.
//!
//! One task a connection: it reads frames, does what they ask, and gathers the answers. What is about tables goes to
//! [`query::Session`] as it was written; what only PostgreSQL has goes to the same session's PostgreSQL side.
//!
//! Invariants:
//! - Nothing a client sends ends more than its own connection, and it takes bounded memory: one frame, one row, one piece.
//! - A client that reads slowly holds its own query back, which reads on as there is room.

mod cancel;
mod connection;
mod copy;
mod error;
mod frames;
mod rows;
mod startup;
mod values;
mod variables;

use crate::server::{Server, clients};
use cancel::Keys;
use connection::Connection;
use error::{PgError, Trouble};
use frames::{Input, Output};
use futures::future::{Either, select};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// How many connections there may be.
const CONNECTIONS_MAX: usize = 1_000;

/// How long a client may take to say who it is.
const STARTUP: Duration = Duration::from_secs(30);

/// Serves until the server stops, and those that are busy are done.
pub(super) async fn serve(server: Arc<Server>, listener: TcpListener) {
    let keys = Arc::new(Keys::default());
    clients::serve(&server, listener, |socket| attend(server.clone(), keys.clone(), socket)).await;
}

/// Serves one client.
async fn attend(server: Arc<Server>, keys: Arc<Keys>, socket: TcpStream) {
    let (read, write) = socket.into_split();
    let (mut input, mut output) = (Input::new(read), Output::new(write));
    let client = {
        let letting_in = pin!(startup::let_in(&server, &keys, &mut input, &mut output));
        match tokio::time::timeout(STARTUP, select(letting_in, pin!(server.stopped()))).await {
            Ok(Either::Left((client, _))) => client,
            Ok(Either::Right(_)) | Err(_) => return,
        }
    };
    let client = match client {
        Ok(Some(client)) if keys.count() < CONNECTIONS_MAX => client,
        Ok(Some(_)) => {
            let text = format!("too many connections: connections_max=`{CONNECTIONS_MAX}`");
            return refuse(&mut output, PgError::fatal("53300", text)).await;
        }
        Ok(None) | Err(Trouble::Gone) => return,
        Err(Trouble::Told(error)) => return refuse(&mut output, PgError { severity: "FATAL", ..error }).await,
    };
    tracing::debug!(user = client.user, database = client.database, "a PostgreSQL client has come");
    Connection::new(server, keys.give(), client, output).run(input).await;
}

async fn refuse(output: &mut Output, error: PgError) {
    output.tell(&error);
    // It may be gone.
    let _ = output.flush().await;
}
