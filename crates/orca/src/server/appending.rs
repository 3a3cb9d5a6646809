//! Appends from outside: with the writer and number that a client names, or with the server's own.

use crate::embedded::Embedded;
use crate::failure::Failure;
use data::Batch;
use graph::FullName;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
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
}

impl Appending {
    pub(super) fn append(&self, orca: &Embedded, append: Append) -> Result<Taken, Failure> {
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
