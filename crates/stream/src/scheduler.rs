//! The scheduler of a node: turns of all flows, in the order in which they became ready.
//!
//! Invariants:
//! - A turn is one epoch of one task, or one cut of one ingress, so flows share the threads fairly.
//! - The same turns run on a pool of threads, or one after another on the caller's thread, as tests do.

use crate::flow::Flow;
use crate::task::TaskError;
use env::Clock as WorldClock;
use lang::Host;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// How long an idle pool thread sleeps at the most before it looks for engines that are due.
const NAP: Duration = Duration::from_millis(10);

/// How often a pool thread looks for engines that are due.
const LOOK_NS: u64 = 10_000_000;

/// One turn to take.
enum Turn {
    Ingress(Arc<Flow>),
    Task(Arc<Flow>, usize),
}

/// Gives each turn the world it may ask.
pub type HostFactory = Box<dyn Fn(&Flow) -> Box<dyn Host> + Send + Sync>;

/// Takes the turns of all flows of a node.
pub struct Scheduler {
    state: Mutex<State>,
    wake: Condvar,
    clock: Arc<dyn WorldClock>,
    host: HostFactory,
}

#[derive(Default)]
struct State {
    turns: VecDeque<Turn>,
    running: usize,
    flows: Vec<Arc<Flow>>,
    closed: bool,
}

impl Scheduler {
    /// A scheduler without flows.
    pub fn new(clock: Arc<dyn WorldClock>, host: HostFactory) -> Arc<Scheduler> {
        Arc::new(Scheduler { state: Mutex::default(), wake: Condvar::new(), clock, host })
    }

    /// Takes up a flow: its sources wake it from now on, and what has arrived already is cut.
    pub fn open(self: &Arc<Scheduler>, flow: &Arc<Flow>) {
        for (source, (table, from)) in flow.sources().iter().enumerate() {
            let (scheduler, flow) = (Arc::downgrade(self), Arc::downgrade(flow));
            table.listen(
                *from,
                Box::new(move |offsets| {
                    let Some(flow) = flow.upgrade().filter(|flow| !flow.is_stopped()) else { return false };
                    flow.arrived(source as u32, offsets.start, offsets.end);
                    if let Some(scheduler) = scheduler.upgrade() {
                        scheduler.wake_ingress(&flow);
                    }
                    true
                }),
            );
        }
        self.state.lock().flows.push(flow.clone());
        self.wake_ingress(flow);
    }

    /// Lets go of a flow.
    pub fn close(&self, flow: &Arc<Flow>) {
        flow.stop();
        self.state.lock().flows.retain(|other| !Arc::ptr_eq(other, flow));
    }

    /// Gives the ingress of a flow a turn.
    pub fn wake_ingress(&self, flow: &Arc<Flow>) {
        if flow.queue_cut() {
            self.state.lock().turns.push_back(Turn::Ingress(flow.clone()));
            self.wake.notify_one();
        }
    }

    /// Takes one turn on this thread; false if there is none.
    pub fn turn(&self) -> bool {
        let turn = {
            let mut state = self.state.lock();
            let Some(turn) = state.turns.pop_front() else { return false };
            state.running += 1;
            turn
        };
        let flow = match &turn {
            Turn::Ingress(flow) | Turn::Task(flow, _) => flow.clone(),
        };
        // A broken invariant ends its own graph and no other.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.take(turn))) {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
            let reason = format!("the program broke off: {text}");
            flow.fail(TaskError { node: "unknown".into(), epoch: flow.epoch(), reason });
        }
        let mut state = self.state.lock();
        state.running -= 1;
        if state.running == 0 && state.turns.is_empty() {
            self.wake.notify_all();
        }
        true
    }

    /// Takes turns on this thread until there is none.
    pub fn run(&self) {
        while self.turn() {}
    }

    /// Takes turns until the scheduler is closed: the body of a pool thread.
    pub fn work(&self) {
        let mut looked_ns = self.clock.monotonic_ns();
        while !self.state.lock().closed {
            if !self.turn() {
                let mut state = self.state.lock();
                if state.turns.is_empty() && !state.closed {
                    self.wake.wait_for(&mut state, NAP);
                }
            }
            // A graph that is always busy must not keep another one's windows open.
            let now = self.clock.monotonic_ns();
            if now - looked_ns >= LOOK_NS {
                looked_ns = now;
                self.wake_due();
            }
        }
    }

    /// Gives every ingress a turn whose engines are due.
    pub fn wake_due(&self) {
        let flows = self.state.lock().flows.clone();
        let now = self.clock.monotonic_ns();
        for flow in flows.iter().filter(|flow| !flow.is_stopped() && flow.is_due(now)) {
            self.wake_ingress(flow);
        }
    }

    /// Waits, on a thread that is not of the pool, until no turn is left or running.
    pub fn wait(&self) {
        let mut state = self.state.lock();
        while state.running > 0 || !state.turns.is_empty() {
            self.wake.wait_for(&mut state, NAP);
        }
    }

    /// Rows that have arrived at the flows and are not journaled yet.
    pub fn waiting_rows(&self) -> u64 {
        let flows = self.state.lock().flows.clone();
        flows.iter().filter(|flow| !flow.is_stopped()).map(|flow| flow.waiting_rows()).sum()
    }

    /// Sleeps until something changes, or a moment.
    pub fn rest(&self) {
        let mut state = self.state.lock();
        if state.turns.is_empty() {
            self.wake.wait_for(&mut state, Duration::from_millis(1));
        }
    }

    /// Ends all pool threads after the turns they are in.
    pub fn shut(&self) {
        self.state.lock().closed = true;
        self.wake.notify_all();
    }

    fn take(&self, turn: Turn) {
        match turn {
            Turn::Ingress(flow) => {
                let now = (self.clock.wall_ms(), self.clock.monotonic_ns());
                let (ready, more) = flow.turn_ingress(now);
                self.enqueue(&flow, &ready);
                if more {
                    self.wake_ingress(&flow);
                }
            }
            Turn::Task(flow, task) => {
                let mut host = (self.host)(&flow);
                let before = flow.finished();
                let ready = flow.turn_task(task, host.as_mut());
                self.enqueue(&flow, &ready);
                // Room in flight may have come free.
                if flow.finished() > before {
                    self.wake_ingress(&flow);
                }
            }
        }
    }

    fn enqueue(&self, flow: &Arc<Flow>, tasks: &[usize]) {
        if tasks.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        state.turns.extend(tasks.iter().map(|&task| Turn::Task(flow.clone(), task)));
        for _ in tasks {
            self.wake.notify_one();
        }
    }
}
