//! The streaming engines: rows in, rows out, state to bytes and back.
//!
//! An engine is a plain value. It knows no table, channel, thread or clock: rows come by [`Engine::push`], time by
//! [`Engine::tick`], whatever else changes it by [`Engine::command`]. Adding an engine is one file and its line in
//! [`KINDS`].

mod arguments;
mod birth;
#[cfg(test)]
mod check;
mod duration;
mod encoding;
mod frozen_keys;
mod key_cells;
mod key_ordinals;
mod kind;
mod map;
mod reactive_state;
mod rows;
mod time_series;
mod typed_arguments;

pub use arguments::{Arguments, Parameter};
pub use kind::{Bound, Clock, Command, Engine, EngineKind, Facts, Frozen, FrozenEngine, Input, Port, Spec, Split};
pub use map::map;
pub use rows::{Chunk, ClockOrigin, Counts, LateRow, Origins, Output, number_of, origin_of};

/// Every engine, in the order of the manual.
pub static KINDS: &[&EngineKind] = &[&time_series::KIND, &reactive_state::KIND];

/// The engine of this name, as scripts write it.
pub fn find(name: &str) -> Option<&'static EngineKind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}
