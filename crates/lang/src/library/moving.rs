//! Moving functions: one value per input row, over the last `window` rows of its key.
//!
//! A window's summary is put together from two stretches, without taking anything away: rows are counted in blocks of
//! `window`; the window of a row is the rest of the block before and the start of its own. So a NaN or an infinity
//! leaves with its row, no error adds up, and each row costs the same.

use super::cumulative::Rank;
use super::entry::state;
use super::item::{Item, Reader, Wire, Writer, by_class, wire};
use super::keyed::{Gives, Keyed, Several, Step, refuse};
use super::output::{Lists, Output};
use super::settings::{choice, flag, need_number, numbers, setting, whole, window};
use super::sorted::{InOrder, Sorted, Values};
use super::statistic::{self as st, Use};
use super::summary::Summary;
use crate::function::{Argument, Function, Result, State};
use crate::value::Value;
use data::Type;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Range;

const ONE: &str = "X, window, [minPeriods]";
const TWO: &str = "X, Y, window, [minPeriods]";

pub(super) static FUNCTIONS: &[Function] = &[
    state("msum", ONE, "The moving sum.", ("msum(2 1 3 7, 3)", "[,,6,11]"), |a| st::sum(a, Moving::of(a, 1, 2)?)),
    state("msum2", ONE, "The moving sum of squares.", ("msum2(2 1 3, 3)", "[,,14]"), |a| {
        st::sum2(a, Moving::of(a, 1, 2)?)
    }),
    state(
        "mavg",
        ONE,
        "The moving mean; `window` may be a vector of weights, then `minPeriods` means nothing.",
        ("mavg(7 4 6 0 -5, 4)", "[,,,4.25,1.25]"),
        |a| match setting(a, 1) {
            Some(Value::Vector(_)) => {
                need_number(a, 0)?;
                let weights = numbers(a, 1, "window")?.unwrap_or_default();
                Ok(Keyed::state(WeightedMean { weights, skip_leading: false }, Type::Double))
            }
            _ => st::avg(a, Moving::of(a, 1, 2)?),
        },
    ),
    state("mcount", ONE, "The moving number of values.", ("mcount([1,2,,5], 3)", "[1,2,2,2]"), |a| {
        st::count(a, Moving::of(a, 1, 2)?.at_once(0))
    }),
    state("mmin", ONE, "The moving minimum.", ("mmin(2 1 3 7, 3)", "[,,1,1]"), |a| st::min(a, Moving::of(a, 1, 2)?)),
    state("mmax", ONE, "The moving maximum.", ("mmax(2 1 3 7, 3)", "[,,3,7]"), |a| st::max(a, Moving::of(a, 1, 2)?)),
    state("mprod", ONE, "The moving product.", ("mprod(2 1 3 7, 3)", "[,,6,21]"), |a| {
        st::prod(a, Moving::of(a, 1, 2)?)
    }),
    state("mstd", ONE, "The moving sample standard deviation.", ("mstd(4 3 2, 3)", "[,,1]"), |a| {
        st::std(a, Moving::of(a, 1, 2)?)
    }),
    state("mstdp", ONE, "The moving population standard deviation.", ("mstdp(2 4, 2)", "[,1]"), |a| {
        st::stdp(a, Moving::of(a, 1, 2)?)
    }),
    state("mvar", ONE, "The moving sample variance.", ("mvar(1 2 3 4, 3)", "[,,1,1]"), |a| {
        st::var(a, Moving::of(a, 1, 2)?)
    }),
    state("mvarp", ONE, "The moving population variance.", ("mvarp(2 4, 2)", "[,1]"), |a| {
        st::varp(a, Moving::of(a, 1, 2)?)
    }),
    state("mfirst", ONE, "The first row's value in the window.", ("mfirst(2 1 3 7, 3)", "[,,2,1]"), |a| {
        st::first(a, Moving::of(a, 1, 2)?.also_empty())
    }),
    state("mlast", ONE, "The last row's value in the window.", ("mlast(2 1 3 7, 3)", "[,,3,7]"), |a| {
        st::last(a, Moving::of(a, 1, 2)?.also_empty())
    }),
    state(
        "mfirstNot",
        "X, window, [k], [minPeriods=1]",
        "The first value in the window that is neither NULL nor `k`.",
        ("mfirstNot([,2,,4,5], 2)", "[,2,2,4,4]"),
        |a| st::moving_first_not(a, Moving::with_periods(a, 1, 2, 3)?.at_once(1)),
    ),
    state(
        "mlastNot",
        "X, window, [k], [minPeriods=1]",
        "The last value in the window that is neither NULL nor `k`.",
        ("mlastNot([,2,,4,5], 2)", "[,2,2,4,5]"),
        |a| st::moving_last_not(a, Moving::with_periods(a, 1, 2, 3)?.at_once(1)),
    ),
    state(
        "mifirstNot",
        ONE,
        "The place in the window of its first value, -1 for none.",
        ("mifirstNot([,,2,3], 3)", "[,,2,1]"),
        |a| st::ifirst_not(a, Moving::of(a, 1, 2)?.also_empty()),
    ),
    state(
        "milastNot",
        ONE,
        "The place in the window of its last value, -1 for none.",
        ("milastNot([1,,2,], 3)", "[,,2,1]"),
        |a| st::ilast_not(a, Moving::of(a, 1, 2)?.also_empty()),
    ),
    state("mimin", ONE, "The first place in the window of its minimum.", ("mimin(2 1 3 7, 3)", "[,,1,0]"), |a| {
        st::imin(a, Moving::of(a, 1, 2)?)
    }),
    state("mimax", ONE, "The first place in the window of its maximum.", ("mimax(2 1 3 7, 3)", "[,,2,2]"), |a| {
        st::imax(a, Moving::of(a, 1, 2)?)
    }),
    state("miminLast", ONE, "The last place in the window of its minimum.", ("miminLast(3 2 2, 3)", "[,,2]"), |a| {
        st::imin_last(a, Moving::of(a, 1, 2)?)
    }),
    state("mimaxLast", ONE, "The last place in the window of its maximum.", ("mimaxLast(3 2 3, 3)", "[,,2]"), |a| {
        st::imax_last(a, Moving::of(a, 1, 2)?)
    }),
    state("mmed", ONE, "The moving median.", ("mmed(2 1 3 7, 3)", "[,,2,3]"), |a| st::med(a, Moving::of(a, 1, 2)?)),
    state(
        "mpercentile",
        "X, percent, window, [interpolation=`linear], [minPeriods]",
        "The moving percentile.",
        ("mpercentile(2 1 3 7, 50, 3)", "[,,2,3]"),
        |a| st::percentile(a, Moving::with_periods(a, 2, 2, 4)?, 3, 100.0),
    ),
    state(
        "mmad",
        "X, window, [useMedian=false], [minPeriods]",
        "The moving mean absolute deviation, or the median one.",
        ("mmad(85 90 95, 2)", "[,2.5,2.5]"),
        |a| st::mad(a, Moving::with_periods(a, 1, 2, 3)?, 2),
    ),
    state(
        "mskew",
        "X, window, [biased=true], [minPeriods]",
        "The moving skewness.",
        ("mskew(1 2 3, 3)", "[,,0]"),
        |a| st::skew(a, Moving::with_periods(a, 1, 2, 3)?, 2),
    ),
    state(
        "mkurtosis",
        "X, window, [biased=true], [minPeriods]",
        "The moving kurtosis, 3 for a normal distribution.",
        ("mkurtosis(1 3 1 3, 4)", "[,,,1]"),
        |a| st::kurtosis(a, Moving::with_periods(a, 1, 2, 3)?, 2),
    ),
    state(
        "mrank",
        "X, ascending, window, [ignoreNA=true], [tiesMethod=`min], [percent=false], [minPeriods]",
        "The rank of a value in its window, from 0.",
        ("mrank(1 2 5 3 4, true, 3)", "[,,2,1,1]"),
        |a| {
            need_number(a, 0)?;
            let rank = Rank {
                ascending: flag(a, 1, "ascending", true)?,
                ignore_null: flag(a, 3, "ignoreNA", true)?,
                ties: choice(a, 4, "tiesMethod", Rank::TIES)?.unwrap_or(0),
                percent: flag(a, 5, "percent", false)?,
            };
            let when = Moving::with_periods(a, 2, 2, 6)?;
            let ty = rank.ty();
            Ok(Keyed::state(MovingRank { rank, when }, ty))
        },
    ),
    state("mcovar", TWO, "The moving sample covariance.", ("mcovar(1 2 3, 2 4 6, 3)", "[,,2]"), |a| {
        st::covar(a, Moving::of(a, 2, 2)?)
    }),
    state("mcovarp", TWO, "The moving population covariance.", ("mcovarp(1 3, 2 6, 2)", "[,2]"), |a| {
        st::covarp(a, Moving::of(a, 2, 2)?)
    }),
    state("mcorr", TWO, "The moving correlation.", ("mcorr(1 2 3, 2 4 6, 3)", "[,,1]"), |a| {
        st::corr(a, Moving::of(a, 2, 2)?)
    }),
    state(
        "mbeta",
        "Y, X, window, [minPeriods]",
        "The moving slope of Y on X.",
        ("mbeta(2 4 6, 1 2 3, 3)", "[,,2]"),
        |a| st::beta(a, Moving::of(a, 2, 2)?),
    ),
    state(
        "mslr",
        "Y, X, window, [minPeriods]",
        "Intercept and slope of the moving line of Y on X.",
        ("mslr(3 5 7, 1 2 3, 3)", "([,,1],[,,2])"),
        |a| {
            let when = Moving::of(a, 2, 2)?;
            Ok(Box::new(Several(vec![st::intercept(a, when.clone())?, st::beta(a, when)?])))
        },
    ),
    state(
        "mmse",
        "Y, X, window, [minPeriods]",
        "Slope and mean squared error of the moving line of Y on X.",
        ("mmse(1 3 2, 1 2 3, 3)", "([,,0.5],[,,0.5])"),
        |a| {
            let when = Moving::of(a, 2, 2)?;
            Ok(Box::new(Several(vec![st::beta(a, when.clone())?, st::error(a, when)?])))
        },
    ),
    state("mwsum", TWO, "The moving sum of X weighted by Y.", ("mwsum(2 1 3, 1 0.5 1, 3)", "[,,5.5]"), |a| {
        st::wsum(a, Moving::of(a, 2, 2)?)
    }),
    state("mwavg", TWO, "The moving mean of X weighted by Y.", ("mwavg(1 3, 1 3, 2)", "[,2.5]"), |a| {
        st::wavg(a, Moving::of(a, 2, 2)?)
    }),
    state(
        "mTopRange",
        ONE,
        "How many rows in a row before, within the window, have a smaller value; NULL is the smallest.",
        ("mTopRange(3 1 2 5 4, 3)", "[,,1,2,0]"),
        |a| range(a, Ordering::Greater),
    ),
    state(
        "mLowRange",
        ONE,
        "How many rows in a row before, within the window, have a greater value; NULL is the smallest.",
        ("mLowRange(3 4 2 1 5, 3)", "[,,2,2,0]"),
        |a| range(a, Ordering::Less),
    ),
    state(
        "mmaxPositiveStreak",
        "X, window",
        "The greatest sum of positive values that follow one another in the window.",
        ("mmaxPositiveStreak(1 -1 1 10 3, 3)", "[,,1,11,14]"),
        |a| st::best_streak(a, Moving::of(a, 1, 2)?),
    ),
    state(
        "movingWindowData",
        "X, window, [fixed=false]",
        "The values in the window, as an array vector; `fixed`: always as many as the window has, with NULLs before the \
         first.",
        ("movingWindowData(1 2 3, 2)", "[[1],[1,2],[2,3]]"),
        |a| {
            let (rows, fixed, ty) = (window(a, 1, 2)?, flag(a, 2, "fixed", false)?, a[0].ty);
            let array = array_of(ty)?;
            by_class!(ty, T => Ok(Keyed::state(WindowData::<T> { rows, fixed, class: PhantomData }, array)))
        },
    ),
];

/// The array-vector type for values of a type.
pub(super) fn array_of(ty: Type) -> Result<Type> {
    match ty.array_of() {
        Some(array) => Ok(array),
        None => refuse(format!("no array vectors of this type: type=`{ty}`")),
    }
}

fn range(args: &[Argument], wanted: Ordering) -> Result<Box<dyn State>> {
    need_number(args, 0)?;
    Ok(Keyed::state(MovingRange { wanted, when: Moving::of(args, 1, 2)? }, Type::Int))
}

/// Use as a moving function: how long the window is, and which windows give a value.
#[derive(Clone)]
pub(super) struct Moving {
    rows: usize,
    /// Only full windows give a value?
    full: bool,
    /// How many values a window must have to give one.
    valid_min: u32,
    /// Do rows before the first value not count?
    skip_leading: bool,
}

impl Moving {
    /// With the window at this place, at least so long, and `minPeriods` behind it.
    pub fn of(args: &[Argument], place: usize, rows_min: i64) -> Result<Moving> {
        Moving::with_periods(args, place, rows_min, place + 1)
    }

    fn with_periods(args: &[Argument], place: usize, rows_min: i64, periods: usize) -> Result<Moving> {
        let rows = window(args, place, rows_min)?;
        let when = Moving { rows, full: true, valid_min: 1, skip_leading: false };
        Ok(match whole(args, periods, "minPeriods")? {
            Some(periods) => when.at_once(periods.clamp(1, rows as i64) as u32),
            None => when,
        })
    }

    /// Windows that are not full give a value too, unless `minPeriods` was given.
    fn at_once(self, valid_min: u32) -> Moving {
        if self.full { Moving { full: false, valid_min, ..self } } else { self }
    }

    /// Full windows without a value give one too, unless `minPeriods` was given.
    fn also_empty(self) -> Moving {
        if self.full { Moving { valid_min: 0, ..self } } else { self }
    }

    /// Rows before the first value do not count.
    pub fn skip_leading(self) -> Moving {
        Moving { skip_leading: true, ..self }
    }

    fn gives(&self, rows: usize, valid: u32) -> bool {
        (!self.full || rows == self.rows) && valid >= self.valid_min
    }
}

impl Use for Moving {
    type Made = Box<dyn State>;
    fn summary<S: Summary>(self, summary: S, ty: Type) -> Box<dyn State> {
        Keyed::state(InBlocks { summary, when: self }, ty)
    }
    fn sorted<S: Sorted>(self, sorted: S) -> Box<dyn State> {
        Keyed::state(SortedWindow { sorted, when: self }, Type::Double)
    }
}

/// A summary over windows.
#[derive(Clone)]
pub(super) struct InBlocks<S> {
    pub summary: S,
    pub when: Moving,
}

/// The summaries of one key, each with its number of values.
///
/// `entries[..at]` are single rows of the block now open, `entries[at..]` what is left of the block before: each the
/// summary from its row to that block's end. The vector grows to `window` as rows arrive, and no further.
#[derive(Clone)]
pub(super) struct Blocks<E> {
    entries: Vec<(u32, E)>,
    at: u32,
    start: (u32, E),
    full: bool,
}

impl<E: Default> Default for Blocks<E> {
    fn default() -> Blocks<E> {
        Blocks { entries: vec![], at: 0, start: (0, E::default()), full: false }
    }
}

impl<E: Wire> Wire for Blocks<E> {
    fn put(&self, to: &mut Writer) {
        self.entries.put(to);
        self.at.put(to);
        self.start.put(to);
        self.full.put(to);
    }
    fn get(from: &mut Reader) -> Result<Blocks<E>> {
        Ok(Blocks { entries: Vec::get(from)?, at: u32::get(from)?, start: Wire::get(from)?, full: bool::get(from)? })
    }
}

impl<S: Summary> InBlocks<S> {
    /// The summary of one row, which is added to that of the open block as well.
    #[inline(always)]
    fn row(&self, start: &mut (u32, S::Slot), value: Option<S::In>) -> (u32, S::Slot) {
        let mut row = (0, S::Slot::default());
        match value {
            Some(value) => {
                row.0 = 1;
                self.summary.add(&mut row.1, value.clone());
                start.0 += 1;
                self.summary.add(&mut start.1, value);
            }
            None if S::NULLS => {
                self.summary.add_null(&mut row.1);
                self.summary.add_null(&mut start.1);
            }
            None => {}
        }
        row
    }

    /// What a full window comes to that is the rest of the block before and the open block.
    #[inline(always)]
    fn window(&self, (valid, rest): &(u32, S::Slot), start: &(u32, S::Slot)) -> Option<S::Out> {
        if !self.when.gives(self.when.rows, valid + start.0) {
            return None;
        }
        let mut window = rest.clone();
        self.summary.merge(&mut window, &start.1);
        self.summary.result(&window)
    }

    /// Makes a whole block the block before, and gives what it comes to.
    #[inline(always)]
    fn turn(&self, key: &mut Blocks<S::Slot>) -> Option<S::Out> {
        let start = std::mem::take(&mut key.start);
        let last = self.when.rows - 1;
        if std::mem::needs_drop::<S::Slot>() {
            for place in (0..last).rev() {
                let (head, tail) = key.entries.split_at_mut(place + 1);
                head[place].0 += tail[0].0;
                self.summary.merge(&mut head[place].1, &tail[0].1);
            }
        } else {
            // A summary that is cheap to copy need not be read back.
            let mut rest = key.entries[last].clone();
            for entry in key.entries[..last].iter_mut().rev() {
                entry.0 += rest.0;
                self.summary.merge(&mut entry.1, &rest.1);
                rest = entry.clone();
            }
        }
        (key.at, key.full) = (0, true);
        if self.when.gives(self.when.rows, start.0) { self.summary.result(&start.1) } else { None }
    }
}

impl<S: Summary> Step for InBlocks<S> {
    type In = S::In;
    type Key = Blocks<S::Slot>;
    type Out = S::Out;

    #[inline(always)]
    fn step(&self, key: &mut Blocks<S::Slot>, value: Option<S::In>) -> Option<S::Out> {
        if self.when.skip_leading && value.is_none() && key.entries.is_empty() {
            return None;
        }
        let row = self.row(&mut key.start, value);
        let at = key.at as usize;
        match key.entries.get_mut(at) {
            Some(entry) => *entry = row,
            None => key.entries.push(row),
        }
        key.at += 1;
        if at + 1 == self.when.rows {
            return self.turn(key);
        }
        if !key.full {
            let gives = self.when.gives(at + 1, key.start.0);
            return if gives { self.summary.result(&key.start.1) } else { None };
        }
        self.window(&key.entries[at + 1], &key.start)
    }

    #[inline(always)]
    fn steps(
        &self,
        key: &mut Blocks<S::Slot>,
        mut rows: Range<usize>,
        value: &impl Fn(usize) -> Option<S::In>,
        out: &mut Output<S::Out>,
    ) {
        while !rows.is_empty() {
            // Rows within a block need not ask where it ends.
            let within = if key.full { (self.when.rows - 1 - key.at as usize).min(rows.len()) } else { 0 };
            let entries = &mut key.entries[key.at as usize..][..within + key.full as usize];
            let mut start = std::mem::take(&mut key.start);
            out.extend(0..within, |place| {
                entries[place] = self.row(&mut start, value(rows.start + place));
                self.window(&entries[place + 1], &start)
            });
            key.start = start;
            key.at += within as u32;
            rows.start += within;
            if let Some(row) = rows.next() {
                out.push(self.step(key, value(row)));
            }
        }
    }
}

/// The last rows of one key, and their values sorted.
#[derive(Clone, Default)]
struct InWindow {
    rows: VecDeque<Option<f64>>,
    sorted: InOrder,
}
wire!(InWindow { rows, sorted });

impl InWindow {
    fn push(&mut self, value: Option<f64>, rows: usize) {
        let gone = if self.rows.len() == rows { self.rows.pop_front().flatten() } else { None };
        self.rows.push_back(value);
        match (gone, value) {
            (Some(gone), Some(value)) => self.sorted.replace(gone, value),
            (Some(gone), None) => self.sorted.remove(gone),
            (None, Some(value)) => self.sorted.insert(value),
            (None, None) => {}
        }
    }
}

#[derive(Clone)]
struct SortedWindow<S> {
    sorted: S,
    when: Moving,
}

impl<S: Sorted> Step for SortedWindow<S> {
    type In = f64;
    type Key = InWindow;
    type Out = f64;
    fn step(&self, key: &mut InWindow, value: Option<f64>) -> Option<f64> {
        key.push(value, self.when.rows);
        let gives = self.when.gives(key.rows.len(), key.sorted.count() as u32);
        if gives { self.sorted.of(&key.sorted) } else { None }
    }
}

#[derive(Clone)]
struct MovingRank {
    rank: Rank,
    when: Moving,
}

impl Step for MovingRank {
    type In = f64;
    type Key = InWindow;
    type Out = f64;
    fn step(&self, key: &mut InWindow, value: Option<f64>) -> Option<f64> {
        key.push(value, self.when.rows);
        let valid = key.sorted.count();
        // Where NULL has a rank, a window of NULLs has one too.
        let counted = if self.rank.ignore_null { valid } else { valid.max(1) };
        let gives = self.when.gives(key.rows.len(), counted as u32);
        if gives { self.rank.of(&key.sorted, key.rows.len() - valid, value) } else { None }
    }
}

/// The mean of full windows by weights of their rows, without the weights of NULLs.
#[derive(Clone)]
pub(super) struct WeightedMean {
    /// The weights, that of the oldest row first: as many as a window has rows.
    pub weights: Vec<f64>,
    /// Do rows before the first value not count?
    pub skip_leading: bool,
}

impl Step for WeightedMean {
    type In = f64;
    type Key = VecDeque<Option<f64>>;
    type Out = f64;
    fn step(&self, key: &mut VecDeque<Option<f64>>, value: Option<f64>) -> Option<f64> {
        let rows = self.weights.len();
        if self.skip_leading && value.is_none() && key.is_empty() {
            return None;
        }
        if key.len() == rows {
            key.pop_front();
        }
        key.push_back(value);
        if key.len() < rows {
            return None;
        }
        let pairs = key.iter().zip(&self.weights).filter_map(|(value, weight)| Some(((*value)?, weight)));
        let (sum, weights) = pairs.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
        (weights != 0.0).then(|| sum / weights)
    }
}

/// How many rows in a row before, within the window, this one's value stands so to.
#[derive(Clone)]
struct MovingRange {
    wanted: Ordering,
    when: Moving,
}

/// The values that stop the count of a row to come, with their rows, and the rows in the window that have a value.
#[derive(Clone, Default)]
struct Standing {
    row: i64,
    values: VecDeque<(i64, Option<f64>)>,
    valid: VecDeque<i64>,
}
wire!(Standing { row, values, valid });

/// The order of values, NULL before all.
fn order(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.order(&b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

impl Step for MovingRange {
    type In = f64;
    type Key = Standing;
    type Out = i64;
    fn step(&self, key: &mut Standing, value: Option<f64>) -> Option<i64> {
        key.row += 1;
        let gone = (key.row - self.when.rows as i64).max(0);
        while key.values.front().is_some_and(|(row, _)| *row <= gone) {
            key.values.pop_front();
        }
        while key.valid.front().is_some_and(|row| *row <= gone) {
            key.valid.pop_front();
        }
        while key.values.back().is_some_and(|(_, other)| order(value, *other) == self.wanted) {
            key.values.pop_back();
        }
        let stop = key.values.back().map_or(gone, |(row, _)| *row);
        key.values.push_back((key.row, value));
        if value.is_some() {
            key.valid.push_back(key.row);
        }
        let gives = self.when.gives((key.row - gone) as usize, key.valid.len() as u32);
        gives.then_some(key.row - stop - 1)
    }
}

/// The last rows as a list.
#[derive(Clone)]
struct WindowData<T> {
    rows: usize,
    fixed: bool,
    class: PhantomData<T>,
}

impl<T: Item> Gives for WindowData<T> {
    type In = T;
    type Key = VecDeque<Option<T>>;
    type Out = Lists<T>;
    fn give(&self, key: &mut VecDeque<Option<T>>, value: Option<T>, out: &mut Lists<T>) {
        if key.len() == self.rows {
            key.pop_front();
        }
        key.push_back(value);
        let missing = if self.fixed { self.rows - key.len() } else { 0 };
        out.push(Some(std::iter::repeat_n(None, missing).chain(key.iter().cloned())));
    }
}
