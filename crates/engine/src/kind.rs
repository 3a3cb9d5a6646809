//! What an engine is: its kind, its checked arguments, its four facts, and the running value.

use crate::arguments::{Arguments, Parameter};
use crate::rows::{Chunk, Output};
use data::{KeyGroup, Schema};
use lang::{Diagnostic, Value};
use std::sync::Arc;

/// Milliseconds since 1970-01-01 by the clock of a graph's journal, the only time an engine knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Clock(pub i64);

/// Which input of an engine rows come in by; the left one of a join is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub usize);

/// Whatever changes an engine's state and is neither rows nor time. Commands come through the journal.
#[derive(Debug, Clone)]
pub struct Command {
    /// What to do, such as `warmup`, `updateRule`.
    pub name: String,
    /// With what.
    pub arguments: Vec<Value>,
}

/// A kind of engine: what its list entry says.
pub struct EngineKind {
    /// The name, as scripts write it: `timeSeriesEngine`.
    pub name: &'static str,
    /// How many inputs it has; for a join the second one is the parameter `rightStream`.
    pub inputs: usize,
    /// Its parameters in the order of the script's call, without streams.
    pub parameters: &'static [Parameter],
    /// Checks arguments against the schemas of the inputs. All that is wrong is reported at once.
    pub bind: fn(&Arguments, &[Input]) -> Bound,
}

/// What binding gives.
pub type Bound = Result<Box<dyn Spec>, Vec<Diagnostic>>;

/// What an engine knows of an input when it is bound.
#[derive(Debug, Clone)]
pub struct Input {
    /// The columns.
    pub schema: Arc<Schema>,
    /// The name by which metrics may address its columns: that of the table it comes from.
    pub name: Option<String>,
}

impl Input {
    /// The names that metrics may put before a column.
    pub(crate) fn prefixes(&self) -> Vec<&str> {
        self.name.iter().map(String::as_str).collect()
    }
}

/// Checked arguments of one engine.
pub trait Spec: Send + Sync {
    /// The columns it gives.
    fn schema(&self) -> Arc<Schema>;
    /// What a planner must know of it.
    fn facts(&self) -> Facts;
    /// An engine with empty state. `part_by` names the column by whose values a section is split: keyed state is
    /// encoded in the key groups of that column; `None` where the engine runs unsplit.
    fn start(&self, part_by: Option<&str>) -> Box<dyn Engine>;
    /// The engine's share in the load of its task, counted in operators.
    fn complexity(&self) -> u32 {
        1
    }
}

/// The four facts of an engine, computed from its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// May its rows be split over tasks?
    pub split: Split,
    /// Does the journal's clock reach its output?
    pub reads_clock: bool,
    /// Does it matter which rows were appended together at the source?
    pub reads_batches: bool,
    /// Does the order in which rows of different inputs arrive matter?
    pub reads_arrival: bool,
}

/// How an engine's rows may be split over tasks without a change in what it gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// In any way: each row stands for itself.
    Any,
    /// By the values of one of these columns.
    By(Vec<String>),
    /// By the values of one of these columns, the right side being given whole to every task.
    Broadcast(Vec<String>),
    /// Not at all, for this reason.
    Never(String),
}

/// A running engine.
pub trait Engine: Send {
    /// Takes rows of one input, in order. Where the facts say `reads_batches`, each call brings the rows of one append.
    fn push(&mut self, port: Port, rows: &Chunk, out: &mut Output) -> Result<(), Diagnostic>;

    /// The clock moves to `now`: gives out what is due. Called once an epoch, before its rows, after the rows that the
    /// tick caused upstream; never with an earlier time than before.
    fn tick(&mut self, now: Clock, out: &mut Output) -> Result<(), Diagnostic> {
        let _ = (now, out);
        Ok(())
    }

    /// When the next tick has something to do; `None` if never without further rows.
    fn next_due(&self) -> Option<Clock> {
        None
    }

    /// Carries out a command of the journal.
    fn command(&mut self, command: &Command, out: &mut Output) -> Result<(), Diagnostic> {
        let _ = out;
        Err(Diagnostic::new(format!("engine does not support the command: command=`{}`", command.name)))
    }

    /// A copy-on-write picture of the state, made in the time of a page table and encoded elsewhere.
    fn freeze(&mut self) -> Box<dyn FrozenEngine>;

    /// Takes up the state of these groups, of one or several parts. Called on an empty engine only.
    fn thaw(&mut self, frozen: &[Frozen]) -> Result<(), Diagnostic>;
}

/// A picture of an engine's state, not yet encoded.
pub trait FrozenEngine: Send {
    /// The state as bytes: values, never symbol codes.
    fn encode(&self) -> Frozen;
}

/// An engine's state as bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frozen {
    /// The version of the encoding.
    pub version: u16,
    /// What belongs to no key.
    pub shared: Vec<u8>,
    /// The state of each key group that has any, by rising group.
    pub groups: Vec<(KeyGroup, Vec<u8>)>,
}
