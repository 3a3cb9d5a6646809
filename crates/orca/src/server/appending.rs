//! Appends from outside: with the writer and number that a client names, or with the server's own.

use crate::embedded::Embedded;
use crate::failure::Failure;
use data::Batch;
use env::Kind;
use graph::FullName;
use parking_lot::Mutex;
use query::Durations;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use stream::{Appended, Writer};

/// The writer of appends whose client names none.
const NAMELESS: &str = "server";

/// Rows for a public table.
pub struct Append {
    /// The table.
    pub table: FullName,
    /// Who writes, and the number of this piece; without, a repeat appends again.
    pub writer: Option<(Writer, u64)>,
    /// The rows, with the table's columns.
    pub rows: Batch,
}

/// The writer and number that a client gives; names of the system's own writers are not for clients.
pub fn numbered(writer: &str, seq: u64) -> Result<(Writer, u64), Failure> {
    if writer.is_empty() || writer.len() > 256 {
        return Err(Failure::new("a writer's name has 1 to 256 bytes"));
    }
    let known = Writer::named(writer);
    if known.is_node() || writer == NAMELESS {
        return Err(Failure::of(Kind::Denied, format!("the writer is not a client: writer=`{writer}`")));
    }
    match (1..=i64::MAX as u64).contains(&seq) {
        true => Ok((known, seq)),
        false => Err(Failure::new(format!("a number of an append is from 1 on: seq=`{seq}`, max=`{}`", i64::MAX))),
    }
}

/// What became of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The offsets of its rows.
    pub offsets: Range<u64>,
    /// The number it has.
    pub seq: u64,
    /// Was it there already?
    pub held: bool,
}

/// Nameless appends go one at a time for each table, so that each gets a number of its own.
#[derive(Default)]
pub(super) struct Appending {
    turns: Mutex<BTreeMap<String, Arc<Mutex<()>>>>,
    figures: AppendFigures,
}

/// What was appended so far.
#[derive(Debug, Default)]
pub struct AppendFigures {
    /// How long each append took, with the wait for graphs that are behind.
    pub durations: Durations,
    /// Appends that brought rows.
    pub new: AtomicU64,
    /// Appends that were there already.
    pub held: AtomicU64,
    /// Appends that were refused.
    pub failed: AtomicU64,
    /// Rows that the tables took.
    pub rows: AtomicU64,
}

impl Appending {
    pub(super) fn figures(&self) -> &AppendFigures {
        &self.figures
    }

    pub(super) fn append(&self, orca: &Embedded, append: Append) -> Result<Taken, Failure> {
        let begun = Instant::now();
        let taken = self.try_append(orca, append);
        let figures = &self.figures;
        figures.durations.note(begun.elapsed());
        match &taken {
            Ok(Taken { held: false, offsets, .. }) => {
                figures.new.fetch_add(1, Relaxed);
                figures.rows.fetch_add(offsets.end - offsets.start, Relaxed);
            }
            Ok(_) => drop(figures.held.fetch_add(1, Relaxed)),
            Err(_) => drop(figures.failed.fetch_add(1, Relaxed)),
        }
        taken
    }

    fn try_append(&self, orca: &Embedded, append: Append) -> Result<Taken, Failure> {
        let table = orca.table_of(&append.table)?;
        orca.make_room();
        let (appended, seq) = match append.writer {
            Some((writer, seq)) => (table.append(&writer, seq, stream::check_of(&append.rows), &append.rows)?, seq),
            None => {
                let turn = self.turns.lock().entry(append.table.to_string()).or_default().clone();
                let _turn = turn.lock();
                let writer = Writer::named(NAMELESS);
                let seq = table.writer_seq(&writer).unwrap_or(0) + 1;
                (table.append(&writer, seq, 0, &append.rows)?, seq)
            }
        };
        Ok(match appended {
            Appended::New { offsets, .. } => Taken { offsets, seq, held: false },
            Appended::Held { offsets, .. } => Taken { offsets, seq, held: true },
        })
    }
}
