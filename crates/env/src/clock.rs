//! Time: the wall's, which may jump, and a monotonic one, which may not.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Where time comes from.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01, as the machine believes; it may be set back.
    fn wall_ms(&self) -> i64;
    /// Nanoseconds since some moment before; never runs backwards.
    fn monotonic_ns(&self) -> u64;
}

/// The machine's clock.
#[derive(Debug, Clone)]
pub struct RealClock {
    start: Instant,
}

impl RealClock {
    /// The machine's clock; its monotonic time starts now.
    pub fn new() -> RealClock {
        RealClock { start: Instant::now() }
    }
}

impl Default for RealClock {
    fn default() -> RealClock {
        RealClock::new()
    }
}

impl Clock for RealClock {
    fn wall_ms(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_millis() as i64,
            Err(before) => -(before.duration().as_millis() as i64),
        }
    }

    fn monotonic_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// A clock that stands still until it is moved. Clones are one clock.
#[derive(Debug, Clone, Default)]
pub struct SimClock {
    times: Arc<(AtomicI64, AtomicU64)>,
}

impl SimClock {
    /// A clock that shows this wall time; its monotonic time is 0.
    pub fn at(wall_ms: i64) -> SimClock {
        SimClock { times: Arc::new((AtomicI64::new(wall_ms), AtomicU64::new(0))) }
    }

    /// Lets time pass, by both clocks.
    pub fn advance_ms(&self, ms: u64) {
        self.times.0.fetch_add(ms as i64, Ordering::SeqCst);
        self.times.1.fetch_add(ms * 1_000_000, Ordering::SeqCst);
    }

    /// Sets the wall clock alone, as an operator would, forwards or back.
    pub fn set_wall_ms(&self, wall_ms: i64) {
        self.times.0.store(wall_ms, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn wall_ms(&self) -> i64 {
        self.times.0.load(Ordering::SeqCst)
    }

    fn monotonic_ns(&self) -> u64 {
        self.times.1.load(Ordering::SeqCst)
    }
}
