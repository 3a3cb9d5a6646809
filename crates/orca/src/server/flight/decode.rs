//! Rows on their way in. Whatever a client sends is refused or read; nothing it sends ends more than its own request.

use super::status::{arrow_status, invalid};
use arrow::array::RecordBatch;
use arrow_flight::decode::{DecodedFlightData, DecodedPayload, FlightDataDecoder};
use arrow_flight::error::FlightError;
use arrow_flight::sql::server::PeekableFlightDataStream;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, future};
use std::any::Any;
use std::panic::AssertUnwindSafe;
use tonic::Status;

/// The rows of one message; a message says how many it has, whatever its bytes.
const ROWS_MAX: usize = 1 << 24;

/// One batch that came, and the note beside it.
pub(super) struct Came {
    /// The rows.
    pub(super) rows: RecordBatch,
    /// What the client says of them.
    pub(super) note: Bytes,
}

/// The batches of a request.
pub(super) fn batches(messages: PeekableFlightDataStream) -> BoxStream<'static, Result<Came, Status>> {
    let decoder = FlightDataDecoder::new(messages.map_err(|status| FlightError::Tonic(Box::new(status))));
    // A message may contradict itself in a way that breaks an assertion of the reader.
    let guarded = AssertUnwindSafe(decoder).catch_unwind();
    let mut schemas = 0;
    guarded.filter_map(move |message| future::ready(came(message, &mut schemas))).boxed()
}

fn came(
    message: Result<Result<DecodedFlightData, FlightError>, Box<dyn Any + Send>>,
    schemas: &mut usize,
) -> Option<Result<Came, Status>> {
    let decoded = match message {
        Ok(Ok(decoded)) => decoded,
        Ok(Err(FlightError::Tonic(status))) => return Some(Err(*status)),
        Ok(Err(error)) => return Some(Err(arrow_status(error))),
        Err(_) => return Some(Err(invalid("not as Arrow has it: the message contradicts itself"))),
    };
    let note = decoded.inner.app_metadata;
    match decoded.payload {
        DecodedPayload::RecordBatch(rows) if rows.num_rows() > ROWS_MAX => {
            Some(Err(invalid(format!("too many rows in one batch: rows=`{}`, most=`{ROWS_MAX}`", rows.num_rows()))))
        }
        DecodedPayload::RecordBatch(rows) => Some(Ok(Came { rows, note })),
        // Columns are found by their names once, for all batches.
        DecodedPayload::Schema(_) if *schemas > 0 => Some(Err(invalid("the rows of a request have one schema"))),
        DecodedPayload::Schema(_) => {
            *schemas += 1;
            None
        }
        DecodedPayload::None => None,
    }
}
