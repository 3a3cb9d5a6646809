//! The ingress of a graph: cuts its input into epochs, and writes each into the journal before anything acts on it.
//!
//! Invariants:
//! - Rows stand in an epoch in the order in which their appends arrived, over all sources.
//! - An epoch takes whole appends: at least one, more up to its cap.
//! - After a restart the journal's entries come again first, as they were; new epochs follow.

use crate::clock::{ClockStep, JournalClock};
use crate::journal::{CommandRecord, Entry, Journal, JournalId, Run};
use crate::table::Table;
use crate::task::{Header, SourceRun};
use engine::Clock;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What an epoch may hold at the most.
#[derive(Debug, Clone, Copy)]
pub struct EpochCap {
    /// Rows, unless a single append has more.
    pub rows: u32,
    /// Appends.
    pub appends: usize,
}

impl Default for EpochCap {
    fn default() -> EpochCap {
        EpochCap { rows: 32_768, appends: 4_096 }
    }
}

/// One append that has arrived at a source and is not journaled yet.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    source: u32,
    from: u64,
    to: u64,
}

/// Appends in the order of their arrival; the sources' tables add to it while they hold their own lock.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    queue: Mutex<VecDeque<Arrival>>,
    rows: AtomicU64,
}

impl Arrivals {
    /// Notes an append.
    pub(crate) fn note(&self, source: u32, from: u64, to: u64) {
        if from < to {
            self.rows.fetch_add(to - from, Ordering::Relaxed);
            self.queue.lock().push_back(Arrival { source, from, to });
        }
    }

    /// Is nothing waiting?
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.lock().is_empty()
    }

    /// How many rows wait.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }
}

/// The ingress of one graph.
pub struct Ingress {
    journal: Arc<Journal>,
    id: JournalId,
    attempt: u64,
    epoch: u64,
    clock: JournalClock,
    /// Steps of the wall clock that no epoch has told yet.
    steps: Vec<ClockStep>,
    cap: EpochCap,
    replay: VecDeque<Entry>,
    commands: Vec<CommandRecord>,
    sources: Vec<Arc<Table>>,
}

impl Ingress {
    /// An ingress that first replays these entries of its journal, then goes on, and the offset of each source up to
    /// which the journal has its rows. `wall_ms` and `mono_ns` are the time now.
    pub(crate) fn start(
        journal: Arc<Journal>,
        id: JournalId,
        attempt: u64,
        sources: Vec<Arc<Table>>,
        entries: Vec<Entry>,
        starts: &[u64],
        (wall_ms, mono_ns): (i64, u64),
    ) -> Result<(Ingress, Vec<u64>), String> {
        let mut journaled: Vec<u64> = starts.to_vec();
        for entry in &entries {
            for run in &entry.runs {
                let end = run.from + run.rows as u64;
                let source = sources.get(run.source as usize);
                if source.is_none_or(|table| table.end() < end || run.from < table.start()) {
                    return Err(format!("journaled rows are gone: epoch=`{}`, source=`{}`", entry.epoch, run.source));
                }
                journaled[run.source as usize] = end;
            }
        }
        let last = entries.last().map(|entry| Clock(entry.clock_ms));
        let clock = JournalClock::start(last, wall_ms, mono_ns);
        // The epoch before the first one to come: of a replay, or of a journal that goes on.
        let last_epoch = journal.life(id).map_or(0, |life| life.epoch);
        let epoch = entries.first().map_or(last_epoch, |entry| entry.epoch - 1);
        let ingress = Ingress {
            journal,
            id,
            attempt,
            epoch,
            clock,
            steps: vec![],
            cap: EpochCap::default(),
            replay: entries.into(),
            commands: vec![],
            sources,
        };
        Ok((ingress, journaled))
    }

    /// Sets what an epoch may hold from now on.
    pub fn set_cap(&mut self, cap: EpochCap) {
        self.cap = cap;
    }

    /// Adds a command to the next epoch.
    pub fn command(&mut self, command: CommandRecord) {
        self.commands.push(command);
    }

    /// The journal's clock, about now.
    pub fn about(&self, mono_ns: u64) -> Clock {
        self.clock.about(mono_ns)
    }

    /// The number of the last epoch cut or replayed.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Are entries of the journal still to come again?
    pub fn replaying(&self) -> bool {
        !self.replay.is_empty()
    }

    /// The next epoch: the journal's next entry if it replays, else one of what has arrived, if anything has or if an
    /// engine is due. It is in the journal when this returns.
    pub(crate) fn cut(
        &mut self,
        arrivals: &Arrivals,
        due: Option<Clock>,
        (wall_ms, mono_ns): (i64, u64),
    ) -> Result<Option<Arc<Header>>, String> {
        if let Some(entry) = self.replay.pop_front() {
            self.epoch = entry.epoch;
            return Ok(Some(Arc::new(self.header(entry))));
        }
        let (clock, step) = self.clock.read(wall_ms, mono_ns);
        self.steps.extend(step);
        if arrivals.is_empty() && due.is_none_or(|due| due > clock) && self.commands.is_empty() {
            return Ok(None);
        }
        let (runs, append_ends) = self.take(arrivals);
        let mut commands = std::mem::take(&mut self.commands);
        for step in self.steps.drain(..) {
            let arguments = format!("{} ms", step.0);
            commands.push(CommandRecord { node: String::new(), name: "clockStep".into(), arguments });
        }
        let entry = Entry {
            journal: self.id,
            attempt: self.attempt,
            epoch: self.epoch + 1,
            runs,
            clock_ms: clock.0,
            commands,
            barrier: false,
            chain: 0,
        };
        let entry = self.journal.append(entry).map_err(|error| error.to_string())?;
        self.epoch += 1;
        let runs = numbered(&entry.runs);
        Ok(Some(Arc::new(Header {
            epoch: entry.epoch,
            clock,
            append_ends,
            runs,
            commands: entry.commands,
            barrier: entry.barrier,
        })))
    }

    /// Takes appends from the queue, whole ones, up to the cap.
    fn take(&self, arrivals: &Arrivals) -> (Vec<Run>, Vec<u32>) {
        let mut queue = arrivals.queue.lock();
        let (mut runs, mut ends, mut rows) = (Vec::<Run>::new(), vec![], 0u32);
        while let Some(next) = queue.front() {
            let count = u32::try_from(next.to - next.from).expect("an append has fewer than 2^32 rows");
            if rows > 0 && (rows as u64 + count as u64 > self.cap.rows as u64 || ends.len() >= self.cap.appends) {
                break;
            }
            rows += count;
            ends.push(rows);
            match runs.last_mut() {
                Some(run) if run.source == next.source && run.from + run.rows as u64 == next.from => run.rows += count,
                _ => runs.push(Run { source: next.source, from: next.from, rows: count }),
            }
            queue.pop_front();
        }
        arrivals.rows.fetch_sub(rows as u64, Ordering::Relaxed);
        (runs, ends)
    }

    fn header(&self, entry: Entry) -> Header {
        let runs = numbered(&entry.runs);
        let mut append_ends = vec![];
        for run in &runs {
            let table = &self.sources[run.source as usize];
            let end = run.from + run.rows as u64;
            let ends = table.append_ends(run.from..end);
            append_ends.extend(ends.iter().map(|end| run.start + (end - run.from) as u32));
            // An append is never cut in two, so a run ends where its last append does.
            assert!(ends.last() == Some(&end), "a run of the journal is made of whole appends");
        }
        Header {
            epoch: entry.epoch,
            clock: Clock(entry.clock_ms),
            append_ends,
            runs,
            commands: entry.commands,
            barrier: entry.barrier,
        }
    }
}

fn numbered(runs: &[Run]) -> Vec<SourceRun> {
    let mut start = 0;
    let mut number = |run: &Run| {
        let numbered = SourceRun { source: run.source, start, from: run.from, rows: run.rows };
        start += run.rows;
        numbered
    };
    runs.iter().map(&mut number).collect()
}
