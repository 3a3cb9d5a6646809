//! Answers as streams of messages.

use super::encode::Encoder;
use super::status::status;
use crate::failure::Failure;
use crate::server::Server;
use arrow::array::RecordBatch;
use arrow_flight::FlightData;
use env::Kind;
use futures::future::{self, Either};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use std::sync::Arc;
use tonic::Status;

/// What a `DoGet` gives.
pub(super) type Messages = BoxStream<'static, Result<FlightData, Status>>;

/// One batch.
pub(super) fn whole(batch: RecordBatch) -> Result<Messages, Status> {
    let (mut encoder, opening) = Encoder::new(&batch.schema());
    let messages = encoder.encode(&batch)?;
    Ok(stream::iter(std::iter::once(opening).chain(messages).map(Ok)).boxed())
}

/// The rows of a query, as they come.
pub(super) fn rows(rows: query::Rows) -> Messages {
    let (encoder, opening) = Encoder::new(&rows.schema());
    with_opening(opening, encoder, rows)
}

/// The rows of several runs of one query, one after another.
pub(super) fn rows_of_runs(
    schema: &arrow::datatypes::Schema,
    runs: impl Stream<Item = Result<RecordBatch, query::Error>> + Send + 'static,
) -> Messages {
    let (encoder, opening) = Encoder::new(schema);
    with_opening(opening, encoder, runs)
}

fn with_opening(
    opening: FlightData,
    mut encoder: Encoder,
    batches: impl Stream<Item = Result<RecordBatch, query::Error>> + Send + 'static,
) -> Messages {
    let pieces = batches.flat_map(move |batch| {
        stream::iter(match batch.map_err(status).and_then(|batch| encoder.encode(&batch)) {
            Ok(messages) => messages.into_iter().map(Ok).collect(),
            Err(status) => vec![Err(status)],
        })
    });
    stream::once(future::ready(Ok(opening))).chain(pieces).boxed()
}

/// The messages, broken off with an error when `broken` resolves.
pub(super) fn until<T: Send + 'static>(
    messages: BoxStream<'static, Result<T, Status>>,
    broken: impl Future<Output = Status> + Send + 'static,
) -> BoxStream<'static, Result<T, Status>> {
    let broken = Box::pin(broken);
    stream::unfold(Some((messages, broken)), |state| async move {
        let (mut messages, broken) = state?;
        match future::select(broken, messages.next()).await {
            Either::Left((status, _)) => Some((Err(status), None)),
            Either::Right((Some(message), broken)) => Some((message, Some((messages, broken)))),
            Either::Right((None, _)) => None,
        }
    })
    .boxed()
}

/// Resolves when the server begins to stop.
pub(super) async fn stop(server: Arc<Server>) -> Status {
    server.stopped().await;
    status(Failure::of(Kind::Unavailable, "server is stopping"))
}
