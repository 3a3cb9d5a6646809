//! The births of keys: numbers that order keys alike in every branch of a section.

use crate::rows::{Chunk, Origins};

/// The birth of a key that this row of a chunk brings, in the epoch of this number.
///
/// Rows that the clock caused come before all rows of their epoch, and carry on the birth of the key they came from.
pub(crate) fn birth(epoch: u64, chunk: &Chunk, row: u32) -> u128 {
    match &chunk.origins {
        Origins::Clock(origins) => origins[row as usize].birth,
        _ => (epoch as u128) << 64 | chunk.origin(row) as u128,
    }
}
