//! Rows on their way through a graph, each with the origin that fixes its place in the order of all.
//!
//! The origin of a row is the number in its epoch of the row that caused it. Several rows may have one cause; where a
//! section splits them, each also gets its *place* among them, so that they find back into their order.
//!
//! Invariants:
//! - The rows of a chunk are in the order of their origins.
//! - Rows that the clock caused and rows that rows caused never share a chunk.

use data::Batch;
use lang::Host;
use std::sync::Arc;

/// The origin of a row that the clock caused. Such rows come before the rows of their epoch, by the end of their
/// window, then by the birth of their key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockOrigin {
    /// When the row was due, in the unit of the engine's time column.
    pub due: i64,
    /// A number that orders the keys: that of the row that first brought the key, over the whole journal.
    pub birth: u128,
    /// The place among the rows of one due time and birth where a section split them.
    pub place: u32,
}

/// An origin from the number of a row in its epoch and a place among the rows that it caused.
pub const fn origin_of(number: u32, place: u32) -> u64 {
    (number as u64) << 32 | place as u64
}

/// The number in its epoch of the row that an origin names.
pub const fn number_of(origin: u64) -> u32 {
    (origin >> 32) as u32
}

/// The origins of a chunk's rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Origins {
    /// Row `i` of the batch is row `start + i` of the epoch.
    Range(u32),
    /// One origin ([`origin_of`]) for each row of the batch, never falling.
    Rows(Arc<[u64]>),
    /// One origin of the clock for each row of the batch, never falling.
    Clock(Arc<[ClockOrigin]>),
}

/// Some rows of a batch. The branches of a section share the batch and differ in the selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The columns.
    pub batch: Batch,
    /// Which rows are meant, rising; `None` for all.
    pub selection: Option<Arc<[u32]>>,
    /// Where each row of the batch comes from.
    pub origins: Origins,
}

impl Chunk {
    /// All rows of a batch that stand at `start` and after in their epoch.
    pub fn whole(batch: Batch, start: u32) -> Chunk {
        Chunk { batch, selection: None, origins: Origins::Range(start) }
    }

    /// Which rows are meant; `None` for all.
    pub fn rows(&self) -> Option<&[u32]> {
        self.selection.as_deref()
    }

    /// How many rows are meant.
    pub fn len(&self) -> usize {
        self.selection.as_ref().map_or(self.batch.rows(), |selection| selection.len())
    }

    /// No row?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The origin of a row of the batch. Panics on rows that the clock caused.
    #[inline]
    pub fn origin(&self, row: u32) -> u64 {
        match &self.origins {
            Origins::Range(start) => origin_of(start + row, 0),
            Origins::Rows(rows) => rows[row as usize],
            Origins::Clock(_) => panic!("a row that the clock caused has no number in the epoch"),
        }
    }

    /// The number in the epoch of the row that caused a row of the batch. Panics on rows that the clock caused.
    #[inline]
    pub fn number(&self, row: u32) -> u32 {
        number_of(self.origin(row))
    }

    /// Did the clock cause these rows?
    pub fn by_clock(&self) -> bool {
        matches!(self.origins, Origins::Clock(_))
    }

    /// The same rows as a batch of their own, with the origin of each.
    pub fn compact(&self) -> Chunk {
        let Some(selection) = &self.selection else { return self.clone() };
        Chunk { batch: self.batch.take(selection), selection: None, origins: self.compact_origins() }
    }

    /// The origins of the rows that are meant, one after another.
    pub fn compact_origins(&self) -> Origins {
        let Some(selection) = &self.selection else { return self.origins.clone() };
        match &self.origins {
            Origins::Range(start) => Origins::Rows(selection.iter().map(|row| origin_of(start + row, 0)).collect()),
            Origins::Rows(rows) => Origins::Rows(selection.iter().map(|&row| rows[row as usize]).collect()),
            Origins::Clock(rows) => Origins::Clock(selection.iter().map(|&row| rows[row as usize]).collect()),
        }
    }

    /// The rows whose places in the list of meant rows are `from..to`, without copying.
    pub fn slice(&self, from: usize, to: usize) -> Chunk {
        match &self.selection {
            Some(selection) => Chunk { selection: Some(selection[from..to].into()), ..self.clone() },
            None => {
                let origins = match &self.origins {
                    Origins::Range(start) => Origins::Range(start + from as u32),
                    Origins::Rows(rows) => Origins::Rows(rows[from..to].into()),
                    Origins::Clock(rows) => Origins::Clock(rows[from..to].into()),
                };
                Chunk { batch: self.batch.slice(from, to - from), selection: None, origins }
            }
        }
    }
}

/// Row counts of an engine for the audit. What came in is folded into state that later gives rows, pending, late or
/// rejected; nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows taken in.
    pub rows_in: u64,
    /// Rows given out.
    pub rows_out: u64,
    /// Rows dropped because they came too late.
    pub late: u64,
    /// Rows dropped for another reason, such as a NULL time.
    pub rejected: u64,
}

/// A row that was dropped because it came too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateRow {
    /// Its number in the epoch.
    pub origin: u32,
    /// Its time.
    pub time: i64,
    /// The time before which it is late.
    pub bound: i64,
}

/// Where an engine puts what it makes, and the world it may ask while it runs.
pub struct Output<'a> {
    /// Rows given out, in order.
    pub chunks: Vec<Chunk>,
    /// The first late rows of this push; all of them are in the counts.
    pub late: Vec<LateRow>,
    /// The counts, summed over the engine's life by whoever runs it.
    pub counts: Counts,
    /// What a user function or a lookup reads.
    pub host: &'a mut dyn Host,
}

/// How many late rows of one push are kept with their places.
const LATE_ROWS_MAX: usize = 16;

impl<'a> Output<'a> {
    /// An empty output.
    pub fn new(host: &'a mut dyn Host) -> Output<'a> {
        Output { chunks: vec![], late: vec![], counts: Counts::default(), host }
    }

    /// Gives out all rows of a batch; an empty one is left out.
    pub fn push(&mut self, batch: Batch, origins: Origins) {
        if batch.rows() > 0 {
            self.counts.rows_out += batch.rows() as u64;
            self.chunks.push(Chunk { batch, selection: None, origins });
        }
    }

    /// Notes a row that came too late.
    pub fn late(&mut self, row: LateRow) {
        self.counts.late += 1;
        if self.late.len() < LATE_ROWS_MAX {
            self.late.push(row);
        }
    }
}
