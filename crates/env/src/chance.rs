//! Chance, for ids and for spreading things; not for secrets.

use std::sync::atomic::{AtomicU64, Ordering};

/// Where random numbers come from.
pub trait Chance: Send + Sync {
    /// The next number, any of all 64-bit ones.
    fn next(&self) -> u64;
}

/// Chance seeded by the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsChance;

impl Chance for OsChance {
    fn next(&self) -> u64 {
        getrandom::u64().expect("the operating system gives random numbers")
    }
}

/// Chance that is the same for the same seed.
#[derive(Debug)]
pub struct SeededChance {
    state: AtomicU64,
}

impl SeededChance {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> SeededChance {
        SeededChance { state: AtomicU64::new(seed) }
    }
}

impl Chance for SeededChance {
    /// SplitMix64: a counter, well mixed.
    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_sequence_and_the_system_gives_another_each_time() {
        let (one, same) = (SeededChance::new(7), SeededChance::new(7));
        let drawn: Vec<u64> = (0..4).map(|_| one.next()).collect();
        assert_eq!(drawn, (0..4).map(|_| same.next()).collect::<Vec<_>>());
        assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]));
        assert_ne!(OsChance.next(), OsChance.next());
    }
}
