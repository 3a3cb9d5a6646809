//! An append-only log in segments: records in, records out, in order, each whole or not there.
//!
//! ```text
//! folder   := 00000000000000000000.log 00000000000067108901.log …    Named by the place of their first byte.
//! segment  := record…
//! record   := magic   2 bytes  "oL"
//!             version 1 byte   1
//!             zero    1 byte
//!             length  4 bytes  of the payload
//!             crc     4 bytes  CRC-32 of length and payload
//!             payload
//! ```
//! Numbers are little-endian. A record's *place* is its first byte, counted from the start of the log; places stay
//! when old segments are dropped.
//!
//! Invariants:
//! - A record lies in one segment. A segment is synced before the next one is begun, so only the last can be torn.
//! - A failed write leaves the log as it was, or closed.

use crate::error::{Error, Result};
use env::{Append, Disk};
use std::ops::Range;
use std::sync::Arc;

const MAGIC: [u8; 2] = *b"oL";
const VERSION: u8 = 1;
const HEAD: usize = 12;

/// The greatest payload of one record.
const PAYLOAD_MAX: usize = 1 << 30;

/// When what was appended is safe, and from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flush {
    /// Never: nothing goes to disk.
    Off,
    /// Handed to the operating system before it is visible: a killed process loses nothing, a power loss the tail.
    #[default]
    Async,
    /// Synced before it is visible: a power loss loses nothing.
    Fsync,
}

/// What was found when a log was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opened {
    /// How many whole records.
    pub records: u64,
    /// How many bytes of a torn record were cut off its end.
    pub cut_bytes: u64,
}

/// An append-only log.
pub struct Log {
    disk: Arc<dyn Disk>,
    folder: String,
    flush: Flush,
    segment_bytes: u64,
    segments: Vec<Segment>,        // In order; at least one.
    file: Option<Box<dyn Append>>, // The last segment, once something was written to it.
    buffer: Vec<u8>,
    closed: bool,
}

/// Where a record is: its segment, and its bytes counted from the start of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The place at which its segment begins.
    pub segment: u64,
    /// Its bytes.
    pub bytes: Range<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    base: u64,
    len: u64,
}

impl Segment {
    fn end(&self) -> u64 {
        self.base + self.len
    }
}

impl Log {
    /// Opens the log in this folder, or begins one, and gives each record's place and payload to `each`. Segments
    /// are closed once they have `segment_bytes`.
    pub fn open(
        disk: Arc<dyn Disk>,
        folder: &str,
        flush: Flush,
        segment_bytes: u64,
        mut each: impl FnMut(Place, &[u8]) -> Result<()>,
    ) -> Result<(Log, Opened)> {
        let mut segments: Vec<Segment> = vec![];
        let mut opened = Opened::default();
        let names = disk.list(folder)?;
        let bases: Vec<u64> = names.iter().filter_map(|name| name.strip_suffix(".log")?.parse().ok()).collect();
        for (number, &base) in bases.iter().enumerate() {
            let path = path(folder, base);
            if let Some(before) = segments.last().filter(|before| before.end() != base) {
                let reason = format!("segment does not follow the one before: wanted=`{}`", before.end());
                return Err(Error::Damaged { path, place: base, reason });
            }
            let bytes = disk.read(&path)?;
            let mut whole = 0;
            let wrong = loop {
                match parse(&bytes[whole..]) {
                    Ok(None) => break None,
                    Ok(Some(payload)) => {
                        let end = whole + HEAD + payload.len();
                        let bytes = base + whole as u64..base + end as u64;
                        each(Place { segment: base, bytes }, payload)?;
                        opened.records += 1;
                        whole = end;
                    }
                    Err(Torn::Version(version)) => return Err(Error::Version { path, version }),
                    Err(Torn::Record(reason)) => break Some(reason),
                }
            };
            if let Some(reason) = wrong {
                // What an ended process leaves half written is the last thing in the log.
                let follows = (whole + 1..bytes.len()).any(|from| matches!(parse(&bytes[from..]), Ok(Some(_))));
                if number + 1 < bases.len() || follows {
                    return Err(Error::Damaged { path, place: base + whole as u64, reason: reason.to_string() });
                }
                disk.truncate(&path, whole as u64)?;
                opened.cut_bytes = (bytes.len() - whole) as u64;
            }
            segments.push(Segment { base, len: whole as u64 });
        }
        if segments.is_empty() {
            segments.push(Segment { base: 0, len: 0 });
        }
        let folder = folder.to_string();
        Ok((Log { disk, folder, flush, segment_bytes, segments, file: None, buffer: vec![], closed: false }, opened))
    }

    /// The place of the first record there is.
    pub fn start(&self) -> u64 {
        self.segments[0].base
    }

    /// The place of the next record.
    pub fn end(&self) -> u64 {
        self.last().end()
    }

    /// How many bytes are on disk.
    pub fn bytes(&self) -> u64 {
        self.end() - self.start()
    }

    fn last(&self) -> Segment {
        *self.segments.last().expect("a log has a segment")
    }

    /// Appends one record, its payload in pieces, by one write.
    pub fn append(&mut self, pieces: &[&[u8]]) -> Result<Place> {
        if self.closed {
            return Err(Error::Closed { folder: self.folder.clone() });
        }
        let len: usize = pieces.iter().map(|piece| piece.len()).sum();
        if len > PAYLOAD_MAX {
            return Err(Error::TooLarge { bytes: len, limit: PAYLOAD_MAX });
        }
        self.roll()?;
        frame(pieces, &mut self.buffer);
        let Segment { base, .. } = self.last();
        if self.file.is_none() {
            self.file = Some(self.disk.append(&path(&self.folder, base))?);
        }
        let file = self.file.as_mut().expect("opened just now");
        if let Err(error) = file.write(&self.buffer) {
            self.undo();
            return Err(error.into());
        }
        if self.flush == Flush::Fsync {
            // After a failed sync nobody knows what is on disk, so nothing more is written after it.
            file.sync().inspect_err(|_| self.closed = true)?;
        }
        let start = self.end();
        self.segments.last_mut().expect("a log has a segment").len += self.buffer.len() as u64;
        // One huge append is no reason to hold its memory for ever.
        self.buffer.clear();
        self.buffer.shrink_to(1 << 20);
        Ok(Place { segment: base, bytes: start..self.end() })
    }

    /// Begins a new segment if the last one is full.
    fn roll(&mut self) -> Result<()> {
        let last = self.last();
        if last.len < self.segment_bytes {
            return Ok(());
        }
        self.sync()?;
        self.file = None;
        self.segments.push(Segment { base: last.end(), len: 0 });
        Ok(())
    }

    /// Takes back what a failed write may have left.
    fn undo(&mut self) {
        let last = self.last();
        self.file = None;
        if self.disk.truncate(&path(&self.folder, last.base), last.len).is_err() {
            self.closed = true;
        }
    }

    /// Returns when all that was appended survives a power loss.
    pub fn sync(&mut self) -> Result<()> {
        if self.closed {
            return Err(Error::Closed { folder: self.folder.clone() });
        }
        if let Some(file) = &mut self.file {
            file.sync().inspect_err(|_| self.closed = true)?;
        } else if self.last().len > 0 {
            // Written by a process before this one, which may have died before it synced.
            self.disk.append(&path(&self.folder, self.last().base))?.sync()?;
        }
        Ok(())
    }

    /// Would [`Log::drop_before`] drop a segment?
    pub fn drops_before(&self, place: u64) -> bool {
        self.segments.len() > 1 && self.segments[0].end() <= place
    }

    /// Drops the segments that end at or before this place; the one that is written to stays.
    pub fn drop_before(&mut self, place: u64) -> Result<()> {
        while self.drops_before(place) {
            self.disk.remove(&path(&self.folder, self.segments[0].base))?;
            self.segments.remove(0);
        }
        Ok(())
    }
}

/// Reads records that follow each other in one segment, without the log that wrote them.
pub(crate) fn read_stretch(
    disk: &dyn Disk,
    folder: &str,
    stretch: &Place,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let path = path(folder, stretch.segment);
    let Range { start, end } = stretch.bytes;
    let bytes = disk.read_range(&path, start - stretch.segment, end - start)?;
    let mut at = 0;
    while start + (at as u64) < end {
        let payload = expect_record(&path, start + at as u64, &bytes[at..])?;
        each(payload)?;
        at += HEAD + payload.len();
    }
    Ok(())
}

/// The payload of a file that is one record.
pub(crate) fn read_file(disk: &dyn Disk, path: &str, then: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
    then(expect_record(path, 0, &disk.read(path)?)?)
}

/// Puts a file in place that is one record.
pub(crate) fn replace_file(disk: &dyn Disk, path: &str, payload: &[u8]) -> Result<()> {
    let mut bytes = vec![];
    frame(&[payload], &mut bytes);
    Ok(disk.replace(path, &bytes)?)
}

fn expect_record<'a>(path: &str, place: u64, bytes: &'a [u8]) -> Result<&'a [u8]> {
    let damaged = |reason: &str| Error::Damaged { path: path.to_string(), place, reason: reason.to_string() };
    match parse(bytes) {
        Ok(payload) => payload.ok_or_else(|| damaged("record is missing")),
        Err(Torn::Version(version)) => Err(Error::Version { path: path.to_string(), version }),
        Err(Torn::Record(reason)) => Err(damaged(reason)),
    }
}

fn path(folder: &str, base: u64) -> String {
    format!("{folder}/{base:020}.log")
}

/// The record with this payload, in place of what `to` held.
fn frame(payload: &[&[u8]], to: &mut Vec<u8>) {
    let len: usize = payload.iter().map(|piece| piece.len()).sum();
    let length = (len as u32).to_le_bytes();
    let mut crc = crc32fast::Hasher::new();
    crc.update(&length);
    payload.iter().for_each(|piece| crc.update(piece));
    to.clear();
    to.reserve(HEAD + len);
    to.extend_from_slice(&MAGIC);
    to.extend_from_slice(&[VERSION, 0]);
    to.extend_from_slice(&length);
    to.extend_from_slice(&crc.finalize().to_le_bytes());
    payload.iter().for_each(|piece| to.extend_from_slice(piece));
}

enum Torn {
    Version(u64),
    Record(&'static str),
}

/// The payload of the record at the start of these bytes; `None` at their end.
fn parse(bytes: &[u8]) -> std::result::Result<Option<&[u8]>, Torn> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (head, rest) = bytes.split_at_checked(HEAD).ok_or(Torn::Record("record ends early"))?;
    if head[..2] != MAGIC {
        return Err(Torn::Record("no record begins here"));
    }
    let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let payload = rest.get(..number(4) as usize);
    if head[2] != VERSION {
        return Err(Torn::Version(head[2] as u64));
    }
    let payload = payload.ok_or(Torn::Record("record ends early"))?;
    let mut crc = crc32fast::Hasher::new();
    crc.update(&head[4..8]);
    crc.update(payload);
    if crc.finalize() != number(8) {
        return Err(Torn::Record("crc does not fit"));
    }
    Ok(Some(payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::{Kill, SimDisk};

    fn open(disk: &SimDisk, flush: Flush) -> Result<(Log, Vec<String>, Opened)> {
        let mut records = vec![];
        let (log, opened) = Log::open(Arc::new(disk.clone()), "log", flush, 60, |_, payload| {
            records.push(String::from_utf8_lossy(payload).into_owned());
            Ok(())
        })?;
        Ok((log, records, opened))
    }

    fn append_until_killed(disk: &SimDisk, flush: Flush) -> usize {
        let Ok((mut log, _, _)) = open(disk, flush) else { return 0 };
        (0..9).take_while(|number| log.append(&[b"record ", number.to_string().as_bytes()]).is_ok()).count()
    }

    #[test]
    fn records_come_back_over_segments_and_places_stay_when_old_ones_are_dropped() {
        let disk = SimDisk::new();
        assert_eq!(append_until_killed(&disk, Flush::Async), 9);
        let (mut log, records, opened) = open(&disk, Flush::Async).unwrap();
        assert_eq!(records, (0..9).map(|number| format!("record {number}")).collect::<Vec<_>>());
        assert_eq!(opened, Opened { records: 9, cut_bytes: 0 });
        assert_eq!(disk.list("log").unwrap().len(), 3);
        log.drop_before(80).unwrap();
        assert_eq!((log.start(), log.end()), (60, 180));
        assert_eq!(log.append(&[b"record 9"]).unwrap(), Place { segment: 180, bytes: 180..200 });
        let mut found = vec![];
        let stretch = Place { segment: 60, bytes: 80..120 };
        read_stretch(&disk, "log", &stretch, |payload| {
            found.push(payload.to_vec());
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [b"record 4", b"record 5"]);
        assert_eq!(open(&disk, Flush::Async).unwrap().1[0], "record 3");
    }

    #[test]
    fn a_kill_at_any_write_loses_no_record_that_was_answered_and_leaves_no_half_one() {
        for flush in [Flush::Async, Flush::Fsync] {
            let whole = SimDisk::new();
            append_until_killed(&whole, flush);
            for boundary in 0..whole.boundaries() {
                for kill in [Kill::Before, Kill::Half, Kill::After] {
                    let disk = SimDisk::new();
                    disk.kill_at(boundary, kill);
                    let answered = append_until_killed(&disk, flush);
                    let left = if flush == Flush::Fsync { disk.power_loss() } else { disk.revive() };
                    let (mut log, records, opened) = open(&left, flush).unwrap();
                    assert!((answered..=answered + 1).contains(&records.len()), "{boundary} {kill:?}");
                    assert_eq!(opened.cut_bytes > 0, kill == Kill::Half && opened.cut_bytes == 10);
                    log.append(&[b"next"]).unwrap();
                    assert_eq!(open(&left, flush).unwrap().1.last().unwrap(), "next");
                }
            }
        }
    }

    #[test]
    fn damage_before_the_last_segment_is_an_error_and_not_cut_away() {
        let disk = SimDisk::new();
        append_until_killed(&disk, Flush::Async);
        let name = "log/00000000000000000000.log";
        let mut bytes = disk.read(name).unwrap();
        bytes[15] ^= 1;
        disk.replace(name, &bytes).unwrap();
        assert!(matches!(open(&disk, Flush::Async), Err(Error::Damaged { place: 0, .. })));
    }

    #[test]
    fn a_record_of_a_later_version_is_refused_and_not_cut_away() {
        let disk = SimDisk::new();
        append_until_killed(&disk, Flush::Async);
        let name = "log/00000000000000000120.log";
        let mut bytes = disk.read(name).unwrap();
        bytes[2] = 9;
        disk.replace(name, &bytes).unwrap();
        assert!(matches!(open(&disk, Flush::Async), Err(Error::Version { version: 9, .. })));
    }
}
