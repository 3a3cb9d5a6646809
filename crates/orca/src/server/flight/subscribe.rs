//! Rows of a table as they come: an answer that goes on until somebody ends it.

use super::answer::Messages;
use super::encode::Encoder;
use super::status::status;
use super::ticket::Subscribe;
use crate::server::Server;
use crate::server::subscription::{News, Subscription};
use arrow_flight::FlightData;
use bytes::Bytes;
use data::Batch;
use futures::stream::{self, StreamExt};
use serde_json::json;
use tonic::Status;

/// The rows as messages. Each carries a note that tells where to go on; the first has no rows and tells where the reading
/// begins.
pub(super) fn subscribe(server: &Server, ticket: &Subscribe) -> Result<Messages, Status> {
    let table = server.table_name(&ticket.subscribe).map_err(status)?;
    let subscription = server.subscribe(&table, ticket.wanted().map_err(status)?).map_err(status)?;
    let schema = subscription.table().schema().clone();
    let (mut encoder, opening) = Encoder::new(&schema.to_arrow());
    let (era, from) = (subscription.era(), subscription.offset());
    let place = News { era, from, next: from, missed: 0, rows: Batch::empty(schema) };
    let place = encode(&mut encoder, &place)?;
    let beginning = stream::iter(std::iter::once(opening).chain(place).map(Ok));
    let news = stream::unfold(Some((subscription, encoder)), |state| async move {
        let (mut subscription, mut encoder): (Subscription, Encoder) = state?;
        let messages = match subscription.next().await {
            Ok(news) => encode(&mut encoder, &news),
            Err(failure) => Err(status(failure)),
        };
        match messages {
            Ok(messages) => {
                Some((stream::iter(messages.into_iter().map(Ok).collect::<Vec<_>>()), Some((subscription, encoder))))
            }
            Err(status) => Some((stream::iter(vec![Err(status)]), None)),
        }
    });
    Ok(beginning.chain(server.aside(news.flatten())).boxed())
}

fn encode(encoder: &mut Encoder, news: &News) -> Result<Vec<FlightData>, Status> {
    let note = json!({ "era": news.era, "next": news.next, "missed": news.missed });
    encoder.encode_noted(&news.rows.to_arrow(), Bytes::from(note.to_string()))
}
