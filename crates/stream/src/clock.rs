//! The clock of a journal: monotonic time, slewed gently to the wall clock, never backwards.
//!
//! Invariants:
//! - A reading is never less than the one before.
//! - The wall clock pulls by at most one part in a hundred of the time that passed; what is further off than a second
//!   is a step, which is taken at once if it leads forwards, and is reported.

use engine::Clock;

/// How far the wall clock may be off before it is a step.
const STEP_MS: i64 = 1_000;

/// Reads time for one journal.
#[derive(Debug, Clone, Copy)]
pub struct JournalClock {
    last_ms: i64,
    /// Monotonic time of the last reading; the fraction of a millisecond stays in the difference.
    last_mono_ns: u64,
    /// How far the wall clock is behind since a step backwards, a negative number; slewed away.
    behind_ms: i64,
    /// Time that has passed and is too short for a pull of a millisecond.
    unpulled_ms: i64,
}

/// A step of the wall clock, in milliseconds; negative for one backwards, which is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStep(pub i64);

impl JournalClock {
    /// A clock that goes on from the journal's last reading, if it has one, but not before the wall clock.
    pub fn start(last: Option<Clock>, wall_ms: i64, mono_ns: u64) -> JournalClock {
        let last_ms = last.map_or(wall_ms, |last| last.0.max(wall_ms));
        JournalClock { last_ms, last_mono_ns: mono_ns, behind_ms: wall_ms - last_ms, unpulled_ms: 0 }
    }

    /// The time now, and the wall clock's step if it made one. A step is told once.
    pub fn read(&mut self, wall_ms: i64, mono_ns: u64) -> (Clock, Option<ClockStep>) {
        let passed_ms = (mono_ns.saturating_sub(self.last_mono_ns) / 1_000_000) as i64;
        self.last_mono_ns += passed_ms as u64 * 1_000_000;
        let ahead = self.last_ms + passed_ms;
        let off = wall_ms - ahead;
        let step = off - self.behind_ms;
        if step.abs() > STEP_MS {
            self.last_ms = ahead.max(wall_ms);
            self.behind_ms = off.min(0);
            return (Clock(self.last_ms), Some(ClockStep(step)));
        }
        self.unpulled_ms += passed_ms;
        let pull_max = self.unpulled_ms / 100;
        self.unpulled_ms %= 100;
        self.last_ms = (ahead + off.clamp(-pull_max, pull_max)).max(self.last_ms);
        self.behind_ms = (wall_ms - self.last_ms).min(0);
        (Clock(self.last_ms), None)
    }

    /// What a reading at this monotonic time would be about.
    pub fn about(&self, mono_ns: u64) -> Clock {
        Clock(self.last_ms + (mono_ns.saturating_sub(self.last_mono_ns) / 1_000_000) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_follows_the_wall_gently_and_never_goes_back() {
        let mut clock = JournalClock::start(Some(Clock(500)), 1_000, 0);
        assert_eq!(clock.read(1_100, 100_000_000), (Clock(1_100), None));
        // 50 ms ahead of the wall: slowed by one part in a hundred.
        assert_eq!(clock.read(1_150, 200_000_000), (Clock(1_199), None));
        assert_eq!(clock.read(1_150, 200_000_000), (Clock(1_199), None));
    }

    #[test]
    fn a_step_forwards_is_taken_and_a_step_backwards_is_not() {
        let mut clock = JournalClock::start(None, 1_000, 0);
        assert_eq!(clock.read(9_000, 1_000_000), (Clock(9_000), Some(ClockStep(7_999))));
        assert_eq!(clock.read(1_000, 2_000_000), (Clock(9_001), Some(ClockStep(-8_001))));
        // It is told once; then the clock goes slower until the wall has caught up.
        assert_eq!(clock.read(1_001, 3_000_000), (Clock(9_002), None));
        assert_eq!(clock.read(2_001, 1_003_000_000), (Clock(9_992), None));
    }
}
