//! Where in the log a table's rows are: one entry for many small records.
//!
//! Invariant: entries stand in the order of their offsets, and cover every row of the table that is on disk.

use crate::log::Place;
use std::collections::VecDeque;
use std::ops::Range;

/// From this size on an entry takes in no further record.
const STRETCH_BYTES: u64 = 64 << 10;

/// A sparse index of the log by offset.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: VecDeque<Entry>,
}

/// Some records that follow each other.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) place: Place,
    pub(super) offsets: Range<u64>, // Fewer than its records have, after a cut.
    pub(super) era: u64,
    wall_ms: i64, // Of its last record.
}

impl Index {
    /// Is nothing on disk?
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Notes a record.
    pub(super) fn push(&mut self, place: Place, offsets: Range<u64>, era: u64, wall_ms: i64) {
        if let Some(last) = self.entries.back_mut() {
            let follows = last.place.segment == place.segment && last.place.bytes.end == place.bytes.start;
            if follows && last.place.bytes.end - last.place.bytes.start < STRETCH_BYTES {
                last.place.bytes.end = place.bytes.end;
                last.offsets.end = offsets.end;
                last.wall_ms = wall_ms;
                return;
            }
        }
        self.entries.push_back(Entry { place, offsets, era, wall_ms });
    }

    /// The stretches of the log that have these offsets, and which of them each has.
    pub(super) fn stretches(&self, offsets: Range<u64>) -> Vec<(Place, Range<u64>)> {
        let from = self.entries.partition_point(|entry| entry.offsets.end <= offsets.start);
        let wanted = self.entries.range(from..).take_while(|entry| entry.offsets.start < offsets.end);
        let part = |entry: &Entry| entry.offsets.start.max(offsets.start)..entry.offsets.end.min(offsets.end);
        wanted.map(|entry| (entry.place.clone(), part(entry))).filter(|(_, part)| !part.is_empty()).collect()
    }

    /// Forgets the rows from this offset on.
    pub(super) fn cut(&mut self, offset: u64) {
        while self.entries.back().is_some_and(|entry| entry.offsets.start >= offset) {
            self.entries.pop_back();
        }
        if let Some(last) = self.entries.back_mut() {
            last.offsets.end = last.offsets.end.min(offset);
        }
    }

    /// The first entry to keep when the segments go whose rows are all older than a time and end before `held`; `None`
    /// if none goes. The last segment stays.
    pub(super) fn droppable(&self, wall_ms_min: i64, held: u64) -> Option<&Entry> {
        let old = |entry: &Entry| entry.wall_ms < wall_ms_min && entry.offsets.end <= held;
        let young = self.entries.iter().find(|entry| !old(entry)).or(self.entries.back())?;
        let first = self.entries.iter().find(|entry| entry.place.segment == young.place.segment)?;
        (self.entries.front()?.place.segment < first.place.segment).then_some(first)
    }

    /// Forgets the entries whose rows lie before this offset.
    pub(super) fn drop_before(&mut self, offset: u64) {
        while self.entries.front().is_some_and(|entry| entry.offsets.end <= offset) {
            self.entries.pop_front();
        }
    }
}
