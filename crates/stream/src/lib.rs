//! Stream: tables that grow, the journal of what graphs took in, and the tasks that run graphs over them.
//!
//! A [`Table`] keeps rows by offset and each writer's sequence numbers; a [`Journal`] keeps what each graph took in, in
//! epochs. Both lie on a log, so that whatever was answered is there after a crash, once. A [`Flow`] is a graph at work:
//! its ingress cuts epochs, its [`Task`]s take them through their nodes, and the [`Scheduler`] gives each its turn.

mod clock;
mod codec;
mod commit;
mod error;
mod flow;
mod ingress;
mod journal;
mod log;
mod merge;
mod scheduler;
mod subscription;
mod table;
mod task;

pub use clock::{ClockStep, JournalClock};
pub use error::{Error, Kind, Result};
pub use flow::{ChannelEnd, Flow, FlowParts};
pub use ingress::{EpochCap, Ingress};
pub use journal::{CommandRecord, Entry, Journal, JournalId, Life, Run};
pub use log::{Flush, Log, Opened, Place};
pub use merge::merge;
pub use scheduler::{HostFactory, Scheduler};
pub use subscription::{Cursor, Start};
pub use table::{Appended, Listener, Table, TableKind, TableOptions, TableSpec, Writer, check_of};
pub use task::{Edge, Feed, Header, Node, NodeCounts, NodeLate, Packet, SourceRun, Target, Task, TaskError, Work};
