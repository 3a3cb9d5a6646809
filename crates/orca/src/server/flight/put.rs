//! Rows that clients append: a batch is an append, with the writer and number beside it or with the server's own.
//!
//! Invariants:
//! - The appends of a stream are made in its order, one after another; an error ends the stream.
//! - While one batch is being appended the next ones are read, a few ahead.

use super::decode::{Came, batches};
use super::status::{invalid, status};
use crate::failure::Failure;
use crate::server::{Append, Server, numbered};
use ::stream::Writer;
use arrow::array::RecordBatch;
use arrow_flight::PutResult;
use arrow_flight::sql::server::PeekableFlightDataStream;
use connect::ArrowRows;
use data::{Batch, Schema};
use env::Kind;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, future};
use graph::FullName;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tonic::Status;

/// How many batches are read ahead of the one being appended.
const BATCHES_AHEAD: usize = 4;

/// How many answers wait for a client that does not read them.
const ANSWERS_AHEAD: usize = 4_096;

/// How long rows are read that are refused already.
const REFUSED_FOR_MAX: Duration = Duration::from_secs(10);

/// What a client says beside a batch.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    writer: Option<String>,
    seq: Option<u64>,
}

impl Note {
    fn read(bytes: &[u8]) -> Result<Option<(Writer, u64)>, Status> {
        let note: Note = match bytes {
            [] => Note::default(),
            bytes => serde_json::from_slice(bytes)
                .map_err(|error| invalid(format!("not a note: {error}; known=`{{\"writer\": …, \"seq\": …}}`")))?,
        };
        match (note.writer, note.seq) {
            (None, None) => Ok(None),
            (Some(writer), Some(seq)) => Ok(Some(numbered(&writer, seq).map_err(status)?)),
            (writer, seq) => Err(invalid(format!(
                "writer and seq go together: writer=`{}`, seq=`{}`",
                writer.unwrap_or_default(),
                seq.map_or(String::new(), |seq| seq.to_string())
            ))),
        }
    }
}

/// What became of one batch.
pub(super) struct Put {
    /// How many rows the table has of it.
    pub(super) rows: u64,
    answer: PutResult,
}

/// When a client is told that it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refuse {
    /// At once: it waits for the answer to each batch.
    AtOnce,
    /// When it has sent everything: it looks for an answer only then, and takes an earlier one for a broken connection.
    AtTheEnd,
}

/// Refuses a request of a client that looks for an answer when it has sent everything.
pub(super) async fn refuse_at_the_end(messages: PeekableFlightDataStream, status: Status) -> Status {
    // One that goes on for longer hears it as it may.
    let _ = tokio::time::timeout(REFUSED_FOR_MAX, messages.for_each(|_| future::ready(()))).await;
    status
}

/// Appends the batches of a request to a table; an answer for each.
pub(super) fn append(
    server: Arc<Server>,
    table: FullName,
    messages: PeekableFlightDataStream,
    refuse: Refuse,
) -> Result<BoxStream<'static, Result<Put, Status>>, Status> {
    let schema = server.orca().table_of(&table).map_err(status)?.schema().clone();
    let (read, mut came) = mpsc::channel::<Result<Came, Status>>(BATCHES_AHEAD);
    tokio::spawn(async move {
        let mut batches = batches(messages);
        while let Some(batch) = batches.next().await {
            if read.send(batch).await.is_err() {
                return;
            }
        }
    });
    let (put, answers) = mpsc::channel(ANSWERS_AHEAD);
    tokio::spawn(async move {
        let mut rows = Rows { schema, converter: None };
        while let Some(batch) = came.recv().await {
            let answer = match batch {
                Ok(batch) => {
                    let (server, table) = (server.clone(), table.clone());
                    let work = tokio::task::spawn_blocking(move || {
                        let answer = append_one(&server, table, &mut rows, batch);
                        (rows, answer)
                    });
                    match work.await {
                        Ok((back, answer)) => {
                            rows = back;
                            answer
                        }
                        Err(_) => {
                            let failure = Failure::of(Kind::Internal, "append broke off");
                            let _ = put.send(Err(status(failure))).await;
                            return;
                        }
                    }
                }
                Err(status) => Err(status),
            };
            let failed = answer.is_err();
            if failed && refuse == Refuse::AtTheEnd {
                let rest = async { while came.recv().await.is_some() {} };
                let _ = tokio::time::timeout(REFUSED_FOR_MAX, rest).await;
            }
            if put.send(answer).await.is_err() || failed {
                return;
            }
        }
    });
    Ok(stream::unfold(answers, |mut answers| async { answers.recv().await.map(|answer| (answer, answers)) }).boxed())
}

/// The answers as the client gets them.
pub(super) fn answers(puts: BoxStream<'static, Result<Put, Status>>) -> BoxStream<'static, Result<PutResult, Status>> {
    puts.map(|put| put.map(|put| put.answer)).boxed()
}

/// The rows of one request, which have one schema, as those of the table.
struct Rows {
    schema: Arc<Schema>,
    converter: Option<ArrowRows>,
}

impl Rows {
    fn convert(&mut self, rows: &RecordBatch) -> Result<Batch, Failure> {
        if self.converter.is_none() {
            let names: Vec<String> = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
            self.converter = Some(ArrowRows::new("request", &names, &self.schema)?);
        }
        Ok(self.converter.as_mut().expect("made above").convert(rows)?)
    }
}

fn append_one(server: &Server, table: FullName, rows: &mut Rows, batch: Came) -> Result<Put, Status> {
    let writer = Note::read(&batch.note)?;
    let rows = rows.convert(&batch.rows).map_err(status)?;
    let taken = server.append(Append { table, writer, rows }).map_err(status)?;
    let (start, end) = (taken.offsets.start, taken.offsets.end);
    let rows = end - start;
    let answer = json!({ "seq": taken.seq, "rows": rows, "held": taken.held, "start": start, "end": end });
    Ok(Put { rows, answer: PutResult { app_metadata: answer.to_string().into() } })
}

/// Appends what an INSERT inserts, as one append; gives how many rows the table took. `runs` are the rows of each of its
/// runs, all of one statement.
pub(super) async fn insert(server: &Arc<Server>, runs: Vec<query::Rows>) -> Result<i64, Failure> {
    let Some(target) = runs.first().map(|rows| rows.insert().cloned()) else { return Ok(0) };
    let target = target.expect("whoever calls knows that it is an INSERT");
    let rows = stream::iter(runs).flatten().map(|batch| batch.map_err(Failure::from));
    Ok(server.insert(&target, rows).await? as i64)
}
