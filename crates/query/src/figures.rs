//! How many queries there were, and how long they took.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The upper bounds of the classes of durations, in seconds; what is longer is in one more class.
pub const BOUNDS_S: [f64; 14] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Counts durations by class.
#[derive(Debug, Default)]
pub struct Durations {
    classes: [AtomicU64; BOUNDS_S.len() + 1],
    sum_ns: AtomicU64,
}

impl Durations {
    /// Counts one more.
    pub fn note(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let class = BOUNDS_S.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS_S.len());
        self.classes[class].fetch_add(1, Relaxed);
        self.sum_ns.fetch_add(duration.as_nanos() as u64, Relaxed);
    }

    /// How many are in each class.
    pub fn classes(&self) -> [u64; BOUNDS_S.len() + 1] {
        std::array::from_fn(|class| self.classes[class].load(Relaxed))
    }

    /// All of them together, in seconds.
    pub fn sum_s(&self) -> f64 {
        self.sum_ns.load(Relaxed) as f64 / 1e9
    }
}

/// What a session, and all that share its pool, has answered.
#[derive(Debug, Default)]
pub struct Figures {
    /// From the start of a query to its last row, or to the end of whoever asked.
    pub durations: Durations,
    failed: AtomicU64,
}

impl Figures {
    /// How many queries failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Relaxed)
    }

    pub(crate) fn note_failure(&self) {
        self.failed.fetch_add(1, Relaxed);
    }
}

/// Notes how long it lived.
pub(crate) struct Stopwatch {
    figures: Arc<Figures>,
    begun: Instant,
}

impl Stopwatch {
    pub(crate) fn start(figures: &Arc<Figures>) -> Stopwatch {
        Stopwatch { figures: figures.clone(), begun: Instant::now() }
    }

    /// The result, counted if it is a failure.
    pub(crate) fn check<T, E>(&self, result: Result<T, E>) -> Result<T, E> {
        result.inspect_err(|_| self.figures.note_failure())
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        self.figures.durations.note(self.begun.elapsed());
    }
}
