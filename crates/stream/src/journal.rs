//! The journal: what each graph took in, in epochs; one log on a node for all its graphs.
//!
//! ```text
//! record   := item…                              One group commit.
//! item     := 1 entry | 2 life | 3 journal       3 ends a journal.
//! entry    := length  fields  chain 8 bytes
//! fields   := journal  attempt  epoch  clock_ms  barrier 1 byte  count run…  count command…
//! run      := source  from  rows
//! command  := node  name  arguments
//! life     := journal  attempt  epoch  chain 8 bytes  graph
//!             A journal begins, is taken up by a later attempt, is said again before older segments are dropped, or
//!             is cut back to an epoch.
//! ```
//! Texts are after their lengths; numbers are in groups of seven bits.
//!
//! Invariants:
//! - Epochs of a journal follow each other without a gap; attempts never fall. After a cut they go on from it.
//! - `chain` is the hash of an entry's fields and of the chain before it, so that equal chains mean equal histories.

use crate::codec::{Decoder, Encoder, Wrong};
use crate::commit::GroupCommit;
use crate::error::{Error, Result};
use crate::log::{Flush, Log, Opened, Place, read_stretch};
use env::Disk;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const ENTRY: u8 = 1;
const LIFE: u8 = 2;
const END: u8 = 3;

/// At which size a segment of the log is closed.
const SEGMENT_BYTES: u64 = 64 << 20;

/// Entries this near to each other are read at once, with what lies between.
const READ_GAP_BYTES: u64 = 16 << 10;
const READ_BYTES: u64 = 4 << 20;

/// Which journal: new at each submit that starts one, kept by stop and start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JournalId(pub u64);

impl fmt::Display for JournalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One epoch of one graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The journal.
    pub journal: JournalId,
    /// Which start of the graph wrote it.
    pub attempt: u64,
    /// Its number.
    pub epoch: u64,
    /// The rows it takes in, in the order of their arrival.
    pub runs: Vec<Run>,
    /// The journal's clock.
    pub clock_ms: i64,
    /// What changes the graph's state and is no row.
    pub commands: Vec<CommandRecord>,
    /// Does the epoch end with a snapshot?
    pub barrier: bool,
    /// The hash of the journal up to it; the journal computes it.
    pub chain: u64,
}

/// Rows of a source that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which of the graph's sources.
    pub source: u32,
    /// The first row's offset.
    pub from: u64,
    /// How many.
    pub rows: u32,
}

/// A command to a node of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRecord {
    /// The node.
    pub node: String,
    /// What to do.
    pub name: String,
    /// With what.
    pub arguments: String,
}

/// What the journal knows of one graph's journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Life {
    /// The graph.
    pub graph: String,
    /// The last attempt that wrote.
    pub attempt: u64,
    /// The last epoch; 0 before the first.
    pub epoch: u64,
    /// The hash of the journal up to it.
    pub chain: u64,
}

/// The journals of all graphs of a node.
pub struct Journal {
    disk: Option<(Arc<dyn Disk>, String)>,
    writing: GroupCommit<Writing, Entry, Result<Entry>>,
}

struct Writing {
    log: Option<Log>,
    lives: Lives,
}

#[derive(Debug, Default)]
struct Lives {
    known: BTreeMap<JournalId, Known>,
}

#[derive(Debug, Default)]
struct Known {
    life: Life,
    kept: VecDeque<Kept>, // The last ones, up to `life.epoch`.
}

/// An entry that may be asked for: where it is, or itself if there is no disk.
#[derive(Debug)]
enum Kept {
    At(Place),
    Here(Entry),
}

impl Known {
    /// The epoch of the first entry that is kept.
    fn first_kept(&self) -> u64 {
        self.life.epoch + 1 - self.kept.len() as u64
    }

    /// Takes up a life; entries after its epoch are void.
    fn cut(&mut self, life: Life) {
        let void = self.life.epoch.saturating_sub(life.epoch).min(self.kept.len() as u64) as usize;
        self.kept.truncate(self.kept.len() - void);
        self.life = life;
    }
}

impl Journal {
    /// Opens the journal in this folder, or begins one.
    pub fn open(disk: Arc<dyn Disk>, folder: &str, flush: Flush) -> Result<(Journal, Opened)> {
        Journal::open_segmented(disk, folder, flush, SEGMENT_BYTES)
    }

    fn open_segmented(
        disk: Arc<dyn Disk>,
        folder: &str,
        flush: Flush,
        segment_bytes: u64,
    ) -> Result<(Journal, Opened)> {
        if flush == Flush::Off {
            return Ok((Journal::in_memory(), Opened::default()));
        }
        let mut lives = Lives::default();
        let (log, opened) = Log::open(disk.clone(), folder, flush, segment_bytes, |place, payload| {
            let start = place.bytes.start;
            lives.replay(place, payload).map_err(|reason| damaged(folder, start, reason))
        })?;
        let writing = Writing { log: Some(log), lives };
        let disk = Some((disk, folder.to_string()));
        Ok((Journal { disk, writing: GroupCommit::new(writing) }, opened))
    }

    /// A journal that is gone with the process.
    pub fn in_memory() -> Journal {
        Journal { disk: None, writing: GroupCommit::new(Writing { log: None, lives: Lives::default() }) }
    }

    /// Begins a journal, or takes one up by a later attempt. From then on entries of lower attempts are refused.
    pub fn begin(&self, journal: JournalId, graph: &str, attempt: u64) -> Result<Life> {
        let mut writing = self.writing.lock();
        let known = writing.lives.known.get(&journal);
        let mut life = known.map(|known| known.life.clone()).unwrap_or_default();
        refuse_lower(journal, attempt, &life)?;
        life.graph = graph.to_string();
        life.attempt = attempt;
        let mut item = Encoder::default();
        encode_life(journal, &life, &mut item);
        writing.write(&item.bytes)?;
        writing.lives.known.entry(journal).or_default().life = life.clone();
        Ok(life)
    }

    /// What is known of a journal.
    pub fn life(&self, journal: JournalId) -> Option<Life> {
        self.writing.lock().lives.known.get(&journal).map(|known| known.life.clone())
    }

    /// All journals.
    pub fn lives(&self) -> BTreeMap<JournalId, Life> {
        let writing = self.writing.lock();
        writing.lives.known.iter().map(|(journal, known)| (*journal, known.life.clone())).collect()
    }

    /// Writes an entry, and gives it with its chain. It must be of the next epoch and of no lower attempt.
    pub fn append(&self, entry: Entry) -> Result<Entry> {
        self.writing.run(entry, Writing::commit)
    }

    /// The entries of a journal from this epoch on.
    pub fn entries(&self, journal: JournalId, from: u64) -> Result<Vec<Entry>> {
        let (mut entries, stretches) = {
            let writing = self.writing.lock();
            let known = writing.lives.known.get(&journal).ok_or(Error::NoJournal { journal: journal.0 })?;
            if from < known.first_kept() && from <= known.life.epoch {
                return Err(Error::Epoch { journal: journal.0, epoch: from, wanted: known.first_kept() });
            }
            let skipped = (from - known.first_kept()).min(known.kept.len() as u64);
            let mut entries = vec![];
            let mut stretches: Vec<Place> = vec![];
            for kept in known.kept.range(skipped as usize..) {
                match kept {
                    Kept::Here(entry) => entries.push(entry.clone()),
                    Kept::At(place) => join(&mut stretches, place),
                }
            }
            (entries, stretches)
        };
        for stretch in stretches {
            let (disk, folder) = self.disk.as_ref().expect("entries that are not in memory are on disk");
            read_stretch(disk.as_ref(), folder, &stretch, |payload| {
                let wanted = |item| match item {
                    Item::Entry(entry) if entry.journal == journal && entry.epoch >= from => {
                        // What was cut stands before what took its place.
                        while entries.last().is_some_and(|last: &Entry| last.epoch >= entry.epoch) {
                            entries.pop();
                        }
                        entries.push(entry);
                    }
                    _ => {}
                };
                let read = Item::decode_all(payload).map(|items| items.into_iter().for_each(wanted));
                read.map_err(|reason| damaged(folder, stretch.bytes.start, reason))
            })?;
        }
        Ok(entries)
    }

    /// Cuts a journal back to this epoch, as after a power loss that took rows it names: later entries are void.
    pub fn cut_to(&self, journal: JournalId, epoch: u64) -> Result<()> {
        let chain = match epoch {
            0 => 0,
            epoch => self.entries(journal, epoch)?.first().map_or(0, |entry| entry.chain),
        };
        let mut writing = self.writing.lock();
        let known = writing.lives.known.get(&journal).ok_or(Error::NoJournal { journal: journal.0 })?;
        if epoch >= known.life.epoch {
            return Ok(());
        }
        let life = Life { epoch, chain, ..known.life.clone() };
        let mut item = Encoder::default();
        encode_life(journal, &life, &mut item);
        writing.write(&item.bytes)?;
        writing.lives.known.get_mut(&journal).expect("known just now").cut(life);
        Ok(())
    }

    /// Says that entries before this epoch will not be asked for again.
    pub fn release(&self, journal: JournalId, before: u64) -> Result<()> {
        let mut writing = self.writing.lock();
        let known = writing.lives.known.get_mut(&journal).ok_or(Error::NoJournal { journal: journal.0 })?;
        let released = before.saturating_sub(known.first_kept()).min(known.kept.len() as u64);
        known.kept.drain(..released as usize);
        writing.drop_segments()
    }

    /// Ends a journal.
    pub fn end(&self, journal: JournalId) -> Result<()> {
        let mut writing = self.writing.lock();
        if writing.lives.known.contains_key(&journal) {
            let mut item = Encoder::default();
            item.u8(END);
            item.uint(journal.0);
            writing.write(&item.bytes)?;
            writing.lives.known.remove(&journal);
        }
        writing.drop_segments()
    }

    /// Returns when all entries up to now survive a power loss.
    pub fn sync(&self) -> Result<()> {
        self.writing.lock().log.as_mut().map_or(Ok(()), Log::sync)
    }
}

impl Writing {
    fn write(&mut self, record: &[u8]) -> Result<Option<Place>> {
        self.log.as_mut().map(|log| log.append(&[record])).transpose()
    }

    /// Writes the entries that may be written, as one record.
    fn commit(&mut self, entries: Vec<Entry>) -> Vec<Result<Entry>> {
        let mut record = Encoder::default();
        let mut before = vec![];
        let mut answers: Vec<Result<Entry>> = vec![];
        for entry in entries {
            answers.push(self.lives.admit(entry).map(|(entry, fields, life)| {
                encode_entry(&fields, entry.chain, &mut record);
                before.push((entry.journal, life));
                entry
            }));
        }
        if before.is_empty() {
            return answers;
        }
        match self.write(&record.bytes) {
            Ok(place) => {
                for entry in answers.iter().flatten() {
                    let kept = place.clone().map_or_else(|| Kept::Here(entry.clone()), Kept::At);
                    self.lives.known.get_mut(&entry.journal).expect("admitted just now").kept.push_back(kept);
                }
            }
            Err(error) => {
                for (journal, life) in before.into_iter().rev() {
                    self.lives.known.get_mut(&journal).expect("admitted just now").life = life;
                }
                answers.iter_mut().filter(|answer| answer.is_ok()).for_each(|answer| *answer = Err(error.clone()));
            }
        }
        answers
    }

    /// Drops the segments that have no entry anyone may ask for.
    fn drop_segments(&mut self) -> Result<()> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let first = self.lives.known.values().filter_map(|known| match known.kept.front()? {
            Kept::At(place) => Some(place.segment),
            Kept::Here(_) => None,
        });
        let first = first.min().unwrap_or(log.end());
        if !log.drops_before(first) {
            return Ok(());
        }
        // What dropped segments said of journals is said again first.
        let mut record = Encoder::default();
        self.lives.known.iter().for_each(|(journal, known)| encode_life(*journal, &known.life, &mut record));
        if !record.bytes.is_empty() {
            log.append(&[&record.bytes])?;
            log.sync()?;
        }
        log.drop_before(first)
    }
}

fn refuse_lower(journal: JournalId, attempt: u64, life: &Life) -> Result<()> {
    if attempt < life.attempt {
        return Err(Error::Attempt { journal: journal.0, attempt, now: life.attempt });
    }
    Ok(())
}

impl Lives {
    /// Checks an entry and takes it in; gives it with its chain, its fields as bytes and the life before it.
    fn admit(&mut self, mut entry: Entry) -> Result<(Entry, Vec<u8>, Life)> {
        let journal = entry.journal.0;
        let life = &mut self.known.get_mut(&entry.journal).ok_or(Error::NoJournal { journal })?.life;
        refuse_lower(entry.journal, entry.attempt, life)?;
        if entry.epoch != life.epoch + 1 {
            return Err(Error::Epoch { journal, epoch: entry.epoch, wanted: life.epoch + 1 });
        }
        let fields = entry.fields();
        entry.chain = xxh3_64_with_seed(&fields, life.chain);
        let before = life.clone();
        life.attempt = entry.attempt;
        life.epoch = entry.epoch;
        life.chain = entry.chain;
        Ok((entry, fields, before))
    }

    fn replay(&mut self, place: Place, record: &[u8]) -> std::result::Result<(), Wrong> {
        for item in Item::decode_all(record)? {
            match item {
                Item::Entry(entry) => {
                    let known = self.known.entry(entry.journal).or_default();
                    // A first entry may follow others in segments that were dropped.
                    if !known.kept.is_empty() || known.life.epoch > 0 {
                        if entry.epoch != known.life.epoch + 1 {
                            return Err("epoch does not follow the one before");
                        }
                        if entry.chain != xxh3_64_with_seed(&entry.fields(), known.life.chain) {
                            return Err("chain does not fit the entries");
                        }
                    }
                    known.life.attempt = entry.attempt;
                    known.life.epoch = entry.epoch;
                    known.life.chain = entry.chain;
                    known.kept.push_back(Kept::At(place.clone()));
                }
                Item::Life(journal, life) => {
                    self.known.entry(journal).or_default().cut(life);
                }
                Item::End(journal) => {
                    self.known.remove(&journal);
                }
            }
        }
        Ok(())
    }
}

/// Adds a place to stretches to be read, as part of the last one if it is near.
fn join(stretches: &mut Vec<Place>, place: &Place) {
    if let Some(last) = stretches.last_mut().filter(|last| last.segment == place.segment) {
        let (gap, bytes) = (place.bytes.start.saturating_sub(last.bytes.end), place.bytes.end - last.bytes.start);
        if gap <= READ_GAP_BYTES && bytes <= READ_BYTES || place.bytes.end <= last.bytes.end {
            last.bytes.end = last.bytes.end.max(place.bytes.end);
            return;
        }
    }
    stretches.push(place.clone());
}

fn damaged(folder: &str, place: u64, reason: Wrong) -> Error {
    Error::Damaged { path: folder.to_string(), place, reason: reason.to_string() }
}

impl Entry {
    /// All but its chain, as bytes.
    fn fields(&self) -> Vec<u8> {
        let mut fields = Encoder::default();
        fields.uint(self.journal.0);
        fields.uint(self.attempt);
        fields.uint(self.epoch);
        fields.int(self.clock_ms);
        fields.u8(self.barrier as u8);
        fields.uint(self.runs.len() as u64);
        for run in &self.runs {
            fields.uint(run.source as u64);
            fields.uint(run.from);
            fields.uint(run.rows as u64);
        }
        fields.uint(self.commands.len() as u64);
        for command in &self.commands {
            fields.text(&command.node);
            fields.text(&command.name);
            fields.text(&command.arguments);
        }
        fields.bytes
    }

    fn decode(fields: &[u8], chain: u64) -> std::result::Result<Entry, Wrong> {
        let mut from = Decoder::new(fields);
        let (journal, attempt, epoch) = (JournalId(from.uint()?), from.uint()?, from.uint()?);
        let (clock_ms, barrier) = (from.int()?, from.u8()? != 0);
        let mut runs = vec![];
        for _ in 0..from.count()? {
            let (source, offset, rows) = (narrow(from.uint()?)?, from.uint()?, narrow(from.uint()?)?);
            runs.push(Run { source, from: offset, rows });
        }
        let mut commands = vec![];
        for _ in 0..from.count()? {
            let (node, name, arguments) = (from.text()?.into(), from.text()?.into(), from.text()?.into());
            commands.push(CommandRecord { node, name, arguments });
        }
        from.done()?;
        Ok(Entry { journal, attempt, epoch, runs, clock_ms, commands, barrier, chain })
    }
}

fn narrow(number: u64) -> std::result::Result<u32, Wrong> {
    u32::try_from(number).map_err(|_| "number of more than 32 bits")
}

fn encode_entry(fields: &[u8], chain: u64, to: &mut Encoder) {
    to.u8(ENTRY);
    to.uint(fields.len() as u64);
    to.bytes.extend_from_slice(fields);
    to.fixed(chain);
}

fn encode_life(journal: JournalId, life: &Life, to: &mut Encoder) {
    to.u8(LIFE);
    to.uint(journal.0);
    to.uint(life.attempt);
    to.uint(life.epoch);
    to.fixed(life.chain);
    to.text(&life.graph);
}

enum Item {
    Entry(Entry),
    Life(JournalId, Life),
    End(JournalId),
}

impl Item {
    fn decode_all(record: &[u8]) -> std::result::Result<Vec<Item>, Wrong> {
        let mut from = Decoder::new(record);
        let mut items = vec![];
        while !from.rest().is_empty() {
            items.push(match from.u8()? {
                ENTRY => {
                    let len = from.count()?;
                    let fields = from.take(len)?;
                    Item::Entry(Entry::decode(fields, from.fixed()?)?)
                }
                LIFE => {
                    let (journal, attempt, epoch) = (JournalId(from.uint()?), from.uint()?, from.uint()?);
                    let (chain, graph) = (from.fixed()?, from.text()?.to_string());
                    Item::Life(journal, Life { graph, attempt, epoch, chain })
                }
                END => Item::End(JournalId(from.uint()?)),
                _ => return Err("unknown kind of item"),
            });
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::{Kill, SimDisk};

    const GRAPH: JournalId = JournalId(7);
    const OTHER: JournalId = JournalId(8);

    fn open(disk: &SimDisk) -> Result<Journal> {
        Ok(Journal::open_segmented(Arc::new(disk.clone()), "journal", Flush::Async, 300)?.0)
    }

    fn entry(journal: JournalId, attempt: u64, epoch: u64) -> Entry {
        let runs = vec![Run { source: 0, from: epoch * 10, rows: 10 }, Run { source: 1, from: epoch, rows: 1 }];
        let command = CommandRecord { node: "rules".into(), name: "updateRule".into(), arguments: "1".into() };
        let commands = if epoch.is_multiple_of(3) { vec![command] } else { vec![] };
        let barrier = epoch.is_multiple_of(2);
        Entry { journal, attempt, epoch, runs, clock_ms: 1_700_000_000_000, commands, barrier, chain: 0 }
    }

    fn epochs(journal: &Journal, id: JournalId, from: u64) -> Vec<u64> {
        journal.entries(id, from).unwrap().iter().map(|entry| entry.epoch).collect()
    }

    #[test]
    fn entries_come_back_by_journal_with_their_chain() {
        let disk = SimDisk::new();
        let journal = open(&disk).unwrap();
        journal.begin(GRAPH, "graph", 1).unwrap();
        journal.begin(OTHER, "other", 1).unwrap();
        let mut written = vec![];
        for epoch in 1..=20 {
            written.push(journal.append(entry(GRAPH, 1, epoch)).unwrap());
            journal.append(entry(OTHER, 1, epoch)).unwrap();
        }
        for journal in [journal, open(&disk).unwrap()] {
            assert_eq!(journal.entries(GRAPH, 1).unwrap(), written);
            assert_eq!(epochs(&journal, OTHER, 19), [19, 20]);
            assert!(epochs(&journal, GRAPH, 21).is_empty());
            let life = Life { graph: "graph".into(), attempt: 1, epoch: 20, chain: written[19].chain };
            assert_eq!(journal.life(GRAPH), Some(life));
        }
        let bytes: u64 = disk.list("journal").unwrap().iter().map(|n| disk.len(&format!("journal/{n}")).unwrap()).sum();
        assert!(bytes / 40 <= 60, "an entry takes {} bytes", bytes / 40);
    }

    #[test]
    fn a_lower_attempt_a_gap_and_an_unknown_journal_are_refused() {
        for journal in [open(&SimDisk::new()).unwrap(), Journal::in_memory()] {
            assert!(matches!(journal.append(entry(GRAPH, 1, 1)), Err(Error::NoJournal { .. })));
            journal.begin(GRAPH, "graph", 1).unwrap();
            journal.append(entry(GRAPH, 1, 1)).unwrap();
            assert_eq!(journal.begin(GRAPH, "graph", 2).unwrap().epoch, 1);
            assert!(matches!(journal.append(entry(GRAPH, 1, 2)), Err(Error::Attempt { now: 2, .. })));
            assert!(matches!(journal.begin(GRAPH, "graph", 1), Err(Error::Attempt { .. })));
            assert!(matches!(journal.append(entry(GRAPH, 2, 3)), Err(Error::Epoch { wanted: 2, .. })));
            assert!(matches!(journal.append(entry(GRAPH, 2, 1)), Err(Error::Epoch { wanted: 2, .. })));
            journal.append(entry(GRAPH, 2, 2)).unwrap();
            assert_eq!(epochs(&journal, GRAPH, 1), [1, 2]);
        }
    }

    #[test]
    fn released_segments_go_and_lives_stay() {
        let disk = SimDisk::new();
        let journal = open(&disk).unwrap();
        journal.begin(GRAPH, "graph", 1).unwrap();
        journal.begin(OTHER, "other", 1).unwrap();
        journal.append(entry(OTHER, 1, 1)).unwrap();
        let last = (1..=40).map(|epoch| journal.append(entry(GRAPH, 1, epoch)).unwrap()).last().unwrap();
        journal.release(GRAPH, 30).unwrap();
        assert!(disk.list("journal").unwrap()[0].starts_with("00000000000000000000"));
        journal.end(OTHER).unwrap();
        assert!(!disk.list("journal").unwrap()[0].starts_with("00000000000000000000"));
        let journal = open(&disk).unwrap();
        assert_eq!(epochs(&journal, GRAPH, 30), (30..=40).collect::<Vec<_>>());
        assert!(matches!(journal.entries(GRAPH, 1), Err(Error::Epoch { .. })));
        assert_eq!(journal.life(OTHER), None);
        let life = Life { graph: "graph".into(), attempt: 1, epoch: 40, chain: last.chain };
        assert_eq!(journal.life(GRAPH), Some(life));
        journal.release(GRAPH, 41).unwrap();
        let journal = open(&disk).unwrap();
        assert_eq!(journal.append(entry(GRAPH, 1, 41)).unwrap().epoch, 41);
    }

    #[test]
    fn a_kill_at_any_write_leaves_a_prefix_that_goes_on() {
        let run = |disk: &SimDisk| -> Result<()> {
            let journal = open(disk)?;
            journal.begin(GRAPH, "graph", 1)?;
            for epoch in journal.life(GRAPH).expect("begun").epoch + 1..=12 {
                journal.append(entry(GRAPH, 1, epoch))?;
                journal.release(GRAPH, epoch.saturating_sub(3))?;
            }
            Ok(())
        };
        let whole = SimDisk::new();
        run(&whole).unwrap();
        let wanted = open(&whole).unwrap().life(GRAPH);
        for boundary in 0..whole.boundaries() {
            for kill in [Kill::Before, Kill::Half, Kill::After] {
                let disk = SimDisk::new();
                disk.kill_at(boundary, kill);
                assert!(run(&disk).is_err());
                let left = disk.revive();
                run(&left).unwrap();
                assert_eq!(open(&left).unwrap().life(GRAPH), wanted, "{boundary} {kill:?}");
            }
        }
    }

    #[test]
    fn many_threads_write_at_once() {
        let disk = SimDisk::new();
        let journal = open(&disk).unwrap();
        std::thread::scope(|threads| {
            for id in 0..8 {
                let journal = &journal;
                threads.spawn(move || {
                    journal.begin(JournalId(id), "graph", 1).unwrap();
                    (1..=50).for_each(|epoch| drop(journal.append(entry(JournalId(id), 1, epoch)).unwrap()));
                });
            }
        });
        let journal = open(&disk).unwrap();
        (0..8).for_each(|id| assert_eq!(epochs(&journal, JournalId(id), 1), (1..=50).collect::<Vec<_>>()));
    }
}
