//! The grid of window ends: one for all keys, laid by the first row of the stream.
//!
//! Invariants:
//! - Window ends are `step` apart. Windows are made of panes; `step` is a whole number of panes.
//! - Where the alignment is a multiple of the step, the grid does not depend on the first row.

use data::Type;

/// Where windows and panes end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    /// From one window end to the next.
    pub(crate) step: i64,
    /// The length of a pane.
    pub(crate) pane: i64,
    /// The first row's time is cut to a multiple of this.
    pub(crate) alignment: i64,
    /// How far windows end from where the alignment puts them.
    pub(crate) offset: i64,
    /// Window ends are this and multiples of the step; less than the step, `None` until the first row.
    pub(crate) anchor: Option<i64>,
}

impl Grid {
    /// A grid that no row has laid yet.
    pub(crate) fn new(ty: Type, step: i64, pane: i64, round_time: bool, offset: i64) -> Grid {
        assert!(step > 0 && pane > 0 && step % pane == 0, "a step is a whole number of panes");
        let alignment = alignment(ty, step, round_time);
        let mut grid = Grid { step, pane, alignment, offset, anchor: None };
        if grid.is_fixed() {
            grid.lay(0);
        }
        grid
    }

    /// Is it the same whatever the first row?
    pub(crate) fn is_fixed(&self) -> bool {
        self.alignment % self.step == 0
    }

    /// Lays the grid, if this is the first row.
    pub(crate) fn lay(&mut self, time: i64) {
        let (alignment, offset, step) = (self.alignment, self.offset, self.step);
        self.anchor.get_or_insert_with(|| (time.div_euclid(alignment) * alignment + offset).rem_euclid(step));
    }

    fn end_after(&self, time: i64, length: i64) -> i64 {
        let anchor = self.anchor.expect("laid by the first row");
        time - (time - anchor).rem_euclid(length) + length
    }

    /// The end of the first window that is still open at this time.
    pub(crate) fn window_end(&self, time: i64) -> i64 {
        self.end_after(time, self.step)
    }

    /// The end of the pane that a time falls in.
    pub(crate) fn pane_end(&self, time: i64) -> i64 {
        self.end_after(time, self.pane)
    }
}

/// To a multiple of what the time of the first row is cut, by the table of the language.
fn alignment(ty: Type, step: i64, round_time: bool) -> i64 {
    const SECONDS: &[i64] = &[2, 3, 5, 10, 15, 20, 30];
    const SECONDS_ROUND: &[i64] = &[60, 120, 180, 300, 600, 900, 1_200, 1_800];
    const MILLIS: &[i64] =
        &[2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 15_000, 20_000, 30_000];
    const MILLIS_ROUND: &[i64] = &[60_000, 120_000, 180_000, 300_000, 600_000, 900_000, 1_200_000, 1_800_000];
    const NANOS: &[i64] = &[2, 5, 10, 20, 25, 50, 100, 200, 250, 500];
    const SECOND: i64 = 1_000_000_000;
    const NANOS_ROUND: &[i64] = &[
        1_000,
        SECOND / 1_000,
        SECOND / 100,
        SECOND / 10,
        SECOND,
        2 * SECOND,
        3 * SECOND,
        5 * SECOND,
        10 * SECOND,
        15 * SECOND,
        20 * SECOND,
        30 * SECOND,
    ];
    // The bounds for short steps, the alignment of longer ones, and with roundTime further bounds and their end.
    let (short, long, round, longest) = match ty {
        Type::Month => return 12,
        Type::Date | Type::Datehour => return 1,
        Type::Minute | Type::Second | Type::Datetime => (SECONDS, 60, SECONDS_ROUND, 3_600),
        Type::Time | Type::Timestamp => (MILLIS, 60_000, MILLIS_ROUND, 3_600_000),
        _ => (NANOS, 1_000, NANOS_ROUND, 60 * SECOND),
    };
    let least = |bounds: &[i64]| bounds.iter().copied().find(|&bound| step <= bound);
    match least(short) {
        Some(bound) => bound,
        None if round_time => least(round).unwrap_or(longest),
        None => long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignment_follows_the_table_of_each_precision() {
        for (ty, step, round, wanted) in [
            (Type::Second, 1, true, 2),
            (Type::Second, 3, true, 3),
            (Type::Datetime, 7, true, 10),
            (Type::Datetime, 31, false, 60),
            (Type::Datetime, 61, true, 120),
            (Type::Datetime, 7_200, true, 3_600),
            (Type::Minute, 240, true, 300),
            (Type::Timestamp, 3, true, 5),
            (Type::Timestamp, 60_000, false, 60_000),
            (Type::Timestamp, 120_000, false, 60_000),
            (Type::Timestamp, 120_000, true, 120_000),
            (Type::Timestamp, 150_000, true, 180_000),
            (Type::Time, 7_200_000, true, 3_600_000),
            (Type::Nanotimestamp, 501, true, 1_000),
            (Type::Nanotimestamp, 2_000, false, 1_000),
            (Type::Nanotimestamp, 2_000, true, 1_000_000),
            (Type::Nanotime, 40_000_000_000, true, 60_000_000_000),
            (Type::Month, 5, true, 12),
            (Type::Date, 5, true, 1),
        ] {
            assert_eq!(alignment(ty, step, round), wanted, "{ty} {step} {round}");
        }
    }

    #[test]
    fn the_first_row_lays_a_grid_that_the_alignment_leaves_open() {
        let mut grid = Grid::new(Type::Timestamp, 7, 7, true, 0);
        assert!(!grid.is_fixed());
        grid.lay(23);
        grid.lay(999);
        // 23 is cut to 20, so windows end at 20 + 7n.
        assert_eq!((grid.window_end(23), grid.window_end(27), grid.window_end(-1)), (27, 34, 6));
        assert!(Grid::new(Type::Timestamp, 3_600_000, 3_600_000, true, 0).is_fixed());
        assert!(!Grid::new(Type::Timestamp, 7_200_000, 7_200_000, true, 0).is_fixed());
    }

    #[test]
    fn months_are_counted_from_january_of_the_first_row() {
        let mut grid = Grid::new(Type::Month, 5, 5, true, 0);
        let january = 2024 * 12;
        grid.lay(january + 6);
        assert_eq!(grid.window_end(january + 6), january + 10);
    }
}
