//! Records of a table's log.
//!
//! ```text
//! record  := 1 commit | 2 cut                                 The first byte says which.
//! commit  := era  wall_ms  first  entries  entries  appends  columns
//!            Many small appends at once: the first row's offset, new writers, new symbols, all rows.
//! entries := first code  count  text…                         Of a dictionary, those not in a record before.
//! appends := count  (writer  seq  check  rows)…               The writer by its code, the check in 8 bytes.
//! columns   as in `columns.rs`
//! cut     := era  wall_ms  offset                             Rows from this offset on are void; the new era.
//! base    := era  start  place  entries  entries  count  (writer  seq)…
//!            A file beside the log: the first row kept, the place of its record, and what the records before it had
//!            said of writers and symbols.
//! ```
//! A text is its length and its UTF-8 bytes; numbers are in groups of seven bits.

use super::columns;
use crate::codec::{Decoder, Encoder, Wrong};
use data::{Batch, Dictionary, Schema};
use std::ops::Range;
use std::sync::Arc;

const COMMIT: u8 = 1;
const CUT: u8 = 2;

/// One record.
#[derive(Debug)]
pub(super) enum Record {
    Commit(Commit),
    Cut { era: u64, offset: u64 },
}

/// Appends written at once.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) era: u64,
    pub(super) wall_ms: i64,
    pub(super) first: u64,
    pub(super) appends: Vec<LoggedAppend>,
    pub(super) rows: Batch,
}

/// One append of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoggedAppend {
    pub(super) writer: u32,
    pub(super) seq: u64,
    pub(super) check: u64,
    pub(super) rows: u64,
}

/// What a table had before the first record that is kept.
#[derive(Debug, Default)]
pub(super) struct Base {
    pub(super) era: u64,
    pub(super) start: u64,
    pub(super) place: u64,
    pub(super) last_seqs: Vec<(u32, u64)>,
}

/// The dictionaries of a table's log.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) writers: Arc<Dictionary>,
    pub(super) symbols: Arc<Dictionary>,
}

/// Which entries of the dictionaries the log has: those before these codes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Logged {
    pub(super) writers: usize,
    pub(super) symbols: usize,
}

impl Names {
    pub(super) fn new() -> Names {
        Names { writers: Dictionary::new(), symbols: Dictionary::new() }
    }

    /// How far the dictionaries go now.
    pub(super) fn len(&self) -> Logged {
        Logged { writers: self.writers.len(), symbols: self.symbols.len() }
    }

    fn encode(&self, from: Logged, to: Logged, bytes: &mut Encoder) {
        encode_entries(&self.writers, from.writers..to.writers, bytes);
        encode_entries(&self.symbols, from.symbols..to.symbols, bytes);
    }

    fn decode(&self, from: &mut Decoder<'_>) -> Result<(), Wrong> {
        decode_entries(from, &self.writers)?;
        decode_entries(from, &self.symbols)
    }
}

fn encode_entries(dictionary: &Dictionary, codes: Range<usize>, to: &mut Encoder) {
    to.uint(codes.start as u64);
    to.uint(codes.len() as u64);
    if !codes.is_empty() {
        let texts = dictionary.read();
        codes.for_each(|code| to.text(texts.text(code as u32)));
    }
}

/// Adds entries to a dictionary; those it has already were read before.
fn decode_entries(from: &mut Decoder<'_>, dictionary: &Dictionary) -> Result<(), Wrong> {
    let first = from.uint()?;
    let count = from.count()?;
    let known = dictionary.len() as u64;
    for place in 0..count as u64 {
        let (code, text) = (first.wrapping_add(place), from.text()?);
        if code >= known && dictionary.intern(text).map_err(|_| "too many entries")? as u64 != code {
            return Err("entry of a dictionary is missing");
        }
    }
    Ok(())
}

impl Commit {
    /// The record's bytes, with the entries of the dictionaries between `from` and `to`.
    pub(super) fn encode(&self, names: &Names, from: Logged, to: Logged, compress: bool) -> Vec<u8> {
        let mut bytes = Encoder::default();
        bytes.u8(COMMIT);
        bytes.uint(self.era);
        bytes.int(self.wall_ms);
        bytes.uint(self.first);
        names.encode(from, to, &mut bytes);
        bytes.uint(self.appends.len() as u64);
        for append in &self.appends {
            bytes.uint(append.writer as u64);
            bytes.uint(append.seq);
            bytes.fixed(append.check);
            bytes.uint(append.rows);
        }
        columns::encode(&self.rows, compress, &mut bytes);
        bytes.bytes
    }

    /// The offset after its last row.
    pub(super) fn end(&self) -> u64 {
        self.first + self.rows.rows() as u64
    }
}

pub(super) fn encode_cut(era: u64, wall_ms: i64, offset: u64) -> Vec<u8> {
    let mut bytes = Encoder::default();
    bytes.u8(CUT);
    bytes.uint(era);
    bytes.int(wall_ms);
    bytes.uint(offset);
    bytes.bytes
}

impl Record {
    /// Reads a record; what it adds to the dictionaries is in them afterwards.
    pub(super) fn decode(bytes: &[u8], schema: &Arc<Schema>, names: &Names) -> Result<Record, Wrong> {
        let mut from = Decoder::new(bytes);
        let kind = from.u8()?;
        let (era, wall_ms, first) = (from.uint()?, from.int()?, from.uint()?);
        match kind {
            COMMIT => {}
            CUT => return from.done().map(|()| Record::Cut { era, offset: first }),
            _ => return Err("unknown kind of record"),
        }
        names.decode(&mut from)?;
        let writers = names.writers.len() as u64;
        let (mut appends, mut rows) = (vec![], 0u64);
        for _ in 0..from.count()? {
            let (writer, seq, check, count) = (from.uint()?, from.uint()?, from.fixed()?, from.uint()?);
            if writer >= writers {
                return Err("writer without a name");
            }
            rows = rows.checked_add(count).ok_or("too many rows")?;
            appends.push(LoggedAppend { writer: writer as u32, seq, check, rows: count });
        }
        first.checked_add(rows).ok_or("too many rows")?;
        let rows = columns::decode(&mut from, schema, &names.symbols, rows as usize)?;
        Ok(Record::Commit(Commit { era, wall_ms, first, appends, rows }))
    }
}

impl Base {
    pub(super) fn encode(&self, names: &Names, to: Logged) -> Vec<u8> {
        let mut bytes = Encoder::default();
        bytes.uint(self.era);
        bytes.uint(self.start);
        bytes.uint(self.place);
        names.encode(Logged::default(), to, &mut bytes);
        bytes.uint(self.last_seqs.len() as u64);
        for (writer, seq) in &self.last_seqs {
            bytes.uint(*writer as u64);
            bytes.uint(*seq);
        }
        bytes.bytes
    }

    pub(super) fn decode(bytes: &[u8], names: &Names) -> Result<Base, Wrong> {
        let mut from = Decoder::new(bytes);
        let (era, start, place) = (from.uint()?, from.uint()?, from.uint()?);
        names.decode(&mut from)?;
        let mut last_seqs = vec![];
        for _ in 0..from.count()? {
            let (writer, seq) = (from.uint()?, from.uint()?);
            if writer >= names.writers.len() as u64 {
                return Err("writer without a name");
            }
            last_seqs.push((writer as u32, seq));
        }
        from.done()?;
        Ok(Base { era, start, place, last_seqs })
    }
}
