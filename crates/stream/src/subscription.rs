//! Reading a table from an offset on, as it grows.

use crate::error::{Error, Result};
use crate::table::Table;
use data::Batch;
use std::sync::Arc;

/// Where to begin to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At the first row there is.
    First,
    /// At the next row to come.
    Next,
    /// At this offset.
    At(u64),
}

/// A reader's place in a table. An offset means rows of one era: a table that is cut back has a new one.
#[derive(Debug, Clone)]
pub struct Cursor {
    table: Arc<Table>,
    era: u64,
    offset: u64,
}

impl Cursor {
    /// A cursor into the table as it is now; an error if the offset lies behind its end or is no longer kept.
    pub fn new(table: Arc<Table>, start: Start) -> Result<Cursor> {
        let (era, first, end) = table.extent();
        let offset = match start {
            Start::First => first,
            Start::Next => end,
            Start::At(offset) => offset,
        };
        Cursor::resume(table, era, offset)
    }

    /// A cursor that was at this offset in this era.
    pub fn resume(table: Arc<Table>, era: u64, offset: u64) -> Result<Cursor> {
        let cursor = Cursor { table, era, offset };
        cursor.end()?;
        // Reading nothing there tells whether the table has the offset.
        cursor.table.read(offset..offset)?;
        Ok(cursor)
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The era of its offset.
    pub fn era(&self) -> u64 {
        self.era
    }

    /// The offset of the next row to read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The table's end; an error if it was cut back since this cursor was made.
    pub fn end(&self) -> Result<u64> {
        let (now, _, end) = self.table.extent();
        if now != self.era {
            let (table, era, offset) = (self.table.name().to_string(), self.era, self.offset);
            return Err(Error::Era { table, era, now, offset, end });
        }
        Ok(end)
    }

    /// Goes on behind rows of its era that were read by another cursor.
    pub fn pass(&mut self, rows: &Batch) {
        self.offset += rows.rows() as u64;
    }

    /// The next rows, at most `rows_max`; `None` if there is none yet.
    pub fn next(&mut self, rows_max: usize) -> Result<Option<Batch>> {
        let end = self.end()?.min(self.offset.saturating_add(rows_max as u64));
        if end <= self.offset {
            return Ok(None);
        }
        let batches: Vec<Batch> = self.table.read(self.offset..end)?.into_iter().map(|(_, batch)| batch).collect();
        // A cut between the two looks may have put other rows there.
        self.end()?;
        self.offset = end;
        Ok(Some(Batch::concat(self.table.schema().clone(), &batches)?))
    }
}
