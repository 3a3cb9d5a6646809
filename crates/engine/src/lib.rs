//! The streaming engines: rows in, rows out, state to bytes and back.
//!
//! An engine is a plain value. It knows no table, channel, thread or clock: rows come by [`Engine::push`], time by
//! [`Engine::tick`], whatever else changes it by [`Engine::command`]. Adding an engine is one file and its line in
//! [`KINDS`].

mod arguments;
mod kind;
mod rows;

pub use arguments::{Arguments, Parameter};
pub use kind::{Clock, Command, Engine, EngineKind, Facts, Frozen, FrozenEngine, Input, Port, Spec, Split};
pub use rows::{Chunk, ClockOrigin, Counts, LateRow, Origins, Output};

/// Every engine, in the order of the manual.
pub static KINDS: &[&EngineKind] = &[];

/// The engine of this name, as scripts write it.
pub fn find(name: &str) -> Option<&'static EngineKind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}
