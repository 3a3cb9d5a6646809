//! A flow: one graph's tasks and channels on this node, fed by its ingress.
//!
//! Invariants:
//! - Only the ingress holds rows back: an epoch that was cut is never refused by a channel.
//! - A task never waits. It is ready when each input channel holds a packet; the packets at the heads of all its
//!   channels are of one epoch.

use crate::ingress::{Arrivals, EpochCap, Ingress};
use crate::journal::{CommandRecord, Entry, Journal, JournalId};
use crate::table::Table;
use crate::task::{Header, NodeCounts, NodeLate, Packet, Task, TaskError};
use engine::Clock;
use lang::Host;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// How many epochs may be under way in a flow, beside one for each task in a row.
const EPOCHS_IN_FLIGHT: u64 = 4;

/// Where a channel ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelEnd {
    /// The task that reads it.
    pub task: usize,
    /// The place among that task's input channels.
    pub input: usize,
}

/// A graph's tasks on this node.
pub struct Flow {
    /// The graph's full name.
    pub name: Arc<str>,
    cells: Vec<Cell>,
    channels: Vec<ChannelEnd>,
    sources: Vec<(Arc<Table>, u64)>,
    arrivals: Arrivals,
    ingress: Mutex<Ingress>,
    cut: AtomicU64,
    cut_queued: AtomicBool,
    stopped: AtomicBool,
    failure: Mutex<Option<TaskError>>,
}

struct Cell {
    task: Mutex<Task>,
    inbox: Mutex<Inbox>,
    queued: AtomicBool,
    finished: AtomicU64,
    due: AtomicI64,
}

/// What waits for a task: headers where it has no input channel, else packets.
struct Inbox {
    headers: VecDeque<Arc<Header>>,
    channels: Vec<VecDeque<Packet>>,
}

impl Inbox {
    fn take(&mut self) -> Option<(Arc<Header>, Vec<Packet>)> {
        if self.channels.is_empty() {
            return self.headers.pop_front().map(|header| (header, vec![]));
        }
        if self.channels.iter().any(VecDeque::is_empty) {
            return None;
        }
        let packets: Vec<Packet> = self.channels.iter_mut().filter_map(VecDeque::pop_front).collect();
        let header = packets[0].header.clone();
        assert!(packets.iter().all(|packet| packet.header.epoch == header.epoch), "channels end epochs in order");
        Some((header, packets))
    }

    fn ready(&self) -> bool {
        match self.channels.is_empty() {
            true => !self.headers.is_empty(),
            false => self.channels.iter().all(|channel| !channel.is_empty()),
        }
    }
}

/// What a flow is made of.
pub struct FlowParts {
    /// The graph's full name.
    pub name: Arc<str>,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Where each channel ends, by the numbers that the tasks' edges use.
    pub channels: Vec<ChannelEnd>,
    /// The tables of the sources, by source number.
    pub sources: Vec<Arc<Table>>,
    /// The offset at which each source is first read.
    pub starts: Vec<u64>,
    /// The node's journal.
    pub journal: Arc<Journal>,
    /// The graph's own journal in it.
    pub id: JournalId,
    /// Which attempt at running the graph this is; a lower one can write no more.
    pub attempt: u64,
    /// Entries of the journal that must run again, in order.
    pub entries: Vec<Entry>,
    /// Wall clock in milliseconds and monotonic clock in nanoseconds, now.
    pub now: (i64, u64),
}

impl Flow {
    /// A flow that is connected but not fed yet: [`crate::Scheduler::open`] does that.
    pub fn new(parts: FlowParts) -> Result<Arc<Flow>, String> {
        let FlowParts { name, tasks, channels, sources, starts, journal, id, attempt, entries, now } = parts;
        let started = Ingress::start(journal, id, attempt, sources.clone(), entries, &starts, now);
        let (ingress, journaled) = started?;
        let before = ingress.epoch();
        let cell = |task: Task| {
            let channels = (0..task.inputs()).map(|_| VecDeque::new()).collect();
            Cell {
                due: AtomicI64::new(task.next_due().map_or(i64::MAX, |due| due.0)),
                task: Mutex::new(task),
                inbox: Mutex::new(Inbox { headers: VecDeque::new(), channels }),
                queued: AtomicBool::new(false),
                finished: AtomicU64::new(before),
            }
        };
        Ok(Arc::new(Flow {
            name,
            cells: tasks.into_iter().map(cell).collect(),
            channels,
            sources: sources.into_iter().zip(journaled).collect(),
            arrivals: Arrivals::default(),
            ingress: Mutex::new(ingress),
            cut: AtomicU64::new(before),
            cut_queued: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            failure: Mutex::new(None),
        }))
    }

    /// The tables of its sources, each with the offset from which on its rows are not journaled yet.
    pub(crate) fn sources(&self) -> &[(Arc<Table>, u64)] {
        &self.sources
    }

    /// Notes an append at a source. Called by the source's table, in the order of its appends.
    pub(crate) fn arrived(&self, source: u32, from: u64, to: u64) {
        self.arrivals.note(source, from, to);
    }

    /// Sets what an epoch may hold from now on.
    pub fn set_cap(&self, cap: EpochCap) {
        self.ingress.lock().set_cap(cap);
    }

    /// Adds a command to the next epoch.
    pub fn command(&self, command: CommandRecord) {
        self.ingress.lock().command(command);
    }

    /// Takes no further epoch and no further turn.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Was it stopped, or has it failed?
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Why it failed, if it has.
    pub fn failure(&self) -> Option<TaskError> {
        self.failure.lock().clone()
    }

    /// Rows that have arrived and are not journaled yet.
    pub fn waiting_rows(&self) -> u64 {
        self.arrivals.rows()
    }

    /// The last epoch that is in the journal.
    pub fn epoch(&self) -> u64 {
        self.cut.load(Ordering::SeqCst)
    }

    /// The last epoch that every task has finished.
    pub fn finished(&self) -> u64 {
        self.cells.iter().map(|cell| cell.finished.load(Ordering::SeqCst)).min().unwrap_or(0)
    }

    /// When the next engine is due.
    pub fn next_due(&self) -> Option<Clock> {
        let due = self.cells.iter().map(|cell| cell.due.load(Ordering::SeqCst)).min();
        due.filter(|&due| due < i64::MAX).map(Clock)
    }

    /// What each node has seen, over all tasks.
    pub fn counts(&self) -> Vec<(Arc<str>, NodeCounts)> {
        let counts = |cell: &Cell| cell.task.lock().counts().map(|(name, counts)| (name.clone(), counts)).collect();
        self.cells.iter().flat_map::<Vec<_>, _>(counts).collect()
    }

    /// The newest late rows of each task: node, epoch, row.
    pub fn late(&self) -> Vec<NodeLate> {
        self.cells.iter().flat_map(|cell| cell.task.lock().late().clone()).collect()
    }

    /// Is an engine due by the journal's clock, as it is at this monotonic time?
    pub(crate) fn is_due(&self, mono_ns: u64) -> bool {
        self.next_due().is_some_and(|due| due <= self.ingress.lock().about(mono_ns))
    }

    /// Marks the ingress as waiting for a turn; false if it is already.
    pub(crate) fn queue_cut(&self) -> bool {
        !self.cut_queued.swap(true, Ordering::SeqCst)
    }

    /// A turn of the ingress: cuts one epoch if there is one to cut and room for it. Gives the tasks that became ready
    /// and whether the ingress has more to do at once.
    pub(crate) fn turn_ingress(&self, now: (i64, u64)) -> (Vec<usize>, bool) {
        self.cut_queued.store(false, Ordering::SeqCst);
        if self.is_stopped() {
            return (vec![], false);
        }
        let mut ingress = self.ingress.lock();
        if ingress.epoch() - self.finished() >= EPOCHS_IN_FLIGHT + self.cells.len() as u64 {
            return (vec![], false);
        }
        match ingress.cut(&self.arrivals, self.next_due(), now) {
            Err(reason) => {
                self.fail(TaskError { node: "ingress".into(), epoch: ingress.epoch() + 1, reason });
                (vec![], false)
            }
            Ok(None) => (vec![], false),
            Ok(Some(header)) => {
                self.cut.store(header.epoch, Ordering::SeqCst);
                let mut ready = vec![];
                for (task, cell) in self.cells.iter().enumerate() {
                    let mut inbox = cell.inbox.lock();
                    if inbox.channels.is_empty() {
                        inbox.headers.push_back(header.clone());
                        if !cell.queued.swap(true, Ordering::SeqCst) {
                            ready.push(task);
                        }
                    }
                }
                let more = ingress.replaying() || !self.arrivals.is_empty();
                (ready, more)
            }
        }
    }

    /// A turn of a task: one epoch, if its inputs have ended one. Gives the tasks that became ready, itself included if
    /// it has another epoch.
    pub(crate) fn turn_task(&self, task: usize, host: &mut dyn Host) -> Vec<usize> {
        let cell = &self.cells[task];
        let mut body = cell.task.lock();
        let taken = cell.inbox.lock().take();
        let mut ready = vec![];
        if let Some((header, packets)) = taken.filter(|_| !self.is_stopped()) {
            match body.turn(&header, &packets, host) {
                Err(error) => self.fail(error),
                Ok(sent) => {
                    cell.due.store(body.next_due().map_or(i64::MAX, |due| due.0), Ordering::SeqCst);
                    for (channel, packet) in sent {
                        let end = self.channels[channel];
                        let target = &self.cells[end.task];
                        let mut inbox = target.inbox.lock();
                        inbox.channels[end.input].push_back(packet);
                        if inbox.ready() && !target.queued.swap(true, Ordering::SeqCst) {
                            ready.push(end.task);
                        }
                    }
                    cell.finished.store(header.epoch, Ordering::SeqCst);
                }
            }
        }
        // Whoever sends after this sees that the task is not queued; what was sent before is seen here.
        let inbox = cell.inbox.lock();
        cell.queued.store(false, Ordering::SeqCst);
        if !self.is_stopped() && inbox.ready() {
            cell.queued.store(true, Ordering::SeqCst);
            ready.push(task);
        }
        ready
    }

    /// Stops the flow for good; the first reason counts.
    pub(crate) fn fail(&self, error: TaskError) {
        self.failure.lock().get_or_insert(error);
        self.stop();
    }
}
