//! Functions over a moving stretch of time: of the rows of the key so far, those with T in (T now - window, T now].
//!
//! As with [`super::moving`], nothing is ever taken away from a summary: the rows since a turn are summed from their
//! start, those before it to their end, so that the oldest can be dropped.

use super::cumulative::Rank;
use super::entry::state;
use super::item::{Item, Reader, Timed, Wire, Writer, by_class, wire};
use super::keyed::{Gives, Keyed, Step, refuse};
use super::math::duration_in;
use super::moving::array_of;
use super::output::Lists;
use super::settings::{choice, flag, need_number, setting, whole};
use super::sorted::{InOrder, Sorted, Values};
use super::statistic::{self as st, Use};
use super::summary::Summary;
use crate::function::{Argument, Function, Result, State};
use crate::value::Value;
use data::Type;
use std::collections::VecDeque;

const ONE: &str = "T, X, window";
const TWO: &str = "T, X, Y, window";

pub(super) static FUNCTIONS: &[Function] = &[
    state("tmsum", ONE, "The sum.", ("tmsum(1 1 3 5, 5 2 4 1, 3)", "[5,7,11,5]"), |a| st::sum(&a[1..], over(a, 2)?)),
    state("tmsum2", ONE, "The sum of squares.", ("tmsum2(1 1 5, 5 2 4, 3)", "[25,29,16]"), |a| {
        st::sum2(&a[1..], over(a, 2)?)
    }),
    state("tmavg", ONE, "The mean.", ("tmavg(1 1 5, 1 4 2, 3)", "[1,2.5,2]"), |a| st::avg(&a[1..], over(a, 2)?)),
    state("tmcount", ONE, "How many values.", ("tmcount(1 1 5, [1,4,], 3)", "[1,2,0]"), |a| {
        st::count(&a[1..], over(a, 2)?.also_empty())
    }),
    state("tmprod", ONE, "The product.", ("tmprod(1 1 5, 5 2 4, 3)", "[5,10,4]"), |a| st::prod(&a[1..], over(a, 2)?)),
    state("tmmin", ONE, "The minimum.", ("tmmin(1 1 5, 5 2 4, 3)", "[5,2,4]"), |a| st::min(&a[1..], over(a, 2)?)),
    state("tmmax", ONE, "The maximum.", ("tmmax(1 1 5, 5 2 4, 3)", "[5,5,4]"), |a| st::max(&a[1..], over(a, 2)?)),
    state("tmvar", ONE, "The sample variance.", ("tmvar(1 1 5, 5 2 4, 3)", "[,4.5,]"), |a| {
        st::var(&a[1..], over(a, 2)?)
    }),
    state("tmvarp", ONE, "The population variance.", ("tmvarp(1 1 5, 5 2 4, 3)", "[0,2.25,0]"), |a| {
        st::varp(&a[1..], over(a, 2)?)
    }),
    state("tmstd", ONE, "The sample standard deviation.", ("tmstd(1 1 5, 4 4 4, 3)", "[,0,]"), |a| {
        st::std(&a[1..], over(a, 2)?)
    }),
    state("tmstdp", ONE, "The population standard deviation.", ("tmstdp(1 1 5, 5 2 4, 3)", "[0,1.5,0]"), |a| {
        st::stdp(&a[1..], over(a, 2)?)
    }),
    state("tmskew", ONE, "The skewness.", ("tmskew(1 1 5, 5 2 4, 3)", "[,0,]"), |a| st::skew(&a[1..], over(a, 2)?, 9)),
    state("tmkurtosis", ONE, "The kurtosis.", ("tmkurtosis(1 1 2, 1 2 3, 3)", "[,,1.5]"), |a| {
        st::kurtosis(&a[1..], over(a, 2)?, 9)
    }),
    state("tmfirst", ONE, "The first row's value, NULL or not.", ("tmfirst(1 1 5, 5 2 4, 3)", "[5,5,4]"), |a| {
        st::first(&a[1..], over(a, 2)?.also_empty())
    }),
    state("tmlast", ONE, "The last row's value, NULL or not.", ("tmlast(1 1 5, 5 2 4, 3)", "[5,2,4]"), |a| {
        st::last(&a[1..], over(a, 2)?.also_empty())
    }),
    state("tmmed", ONE, "The median.", ("tmmed(1 1 5, 5 2 4, 3)", "[5,3.5,4]"), |a| st::med(&a[1..], over(a, 2)?)),
    state(
        "tmpercentile",
        "T, X, percent, window, [interpolation=`linear]",
        "The percentile.",
        ("tmpercentile(1 1 5, 5 2 4, 50, 3)", "[5,3.5,4]"),
        |a| st::percentile(&a[1..], over(a, 3)?, 3, 100.0),
    ),
    state(
        "tmrank",
        "T, X, ascending, window, [ignoreNA=true], [tiesMethod=`min], [percent=false]",
        "The rank of a value, from 0.",
        ("tmrank(1 1 3 5, 5 2 4 1, true, 3)", "[0,0,1,0]"),
        |a| {
            need_number(a, 1)?;
            let rank = Rank {
                ascending: flag(a, 2, "ascending", true)?,
                ignore_null: flag(a, 4, "ignoreNA", true)?,
                ties: choice(a, 5, "tiesMethod", Rank::TIES)?.unwrap_or(0),
                percent: flag(a, 6, "percent", false)?,
            };
            let ty = rank.ty();
            Ok(Keyed::state(TimedRank { rank, span: over(a, 3)?.span }, ty))
        },
    ),
    state("tmcovar", TWO, "The sample covariance.", ("tmcovar(1 1 5, 1 2 3, 2 4 6, 3)", "[,1,]"), |a| {
        st::covar(&a[1..], over(a, 3)?)
    }),
    state("tmcovarp", TWO, "The population covariance.", ("tmcovarp(1 1 5, 1 3 5, 2 6 1, 3)", "[0,2,0]"), |a| {
        st::covarp(&a[1..], over(a, 3)?)
    }),
    state("tmcorr", TWO, "The correlation.", ("tmcorr(1 1 5, 1 2 3, 2 4 6, 3)", "[,1,]"), |a| {
        st::corr(&a[1..], over(a, 3)?)
    }),
    state("tmbeta", "T, Y, X, window", "The slope of Y on X.", ("tmbeta(1 1 5, 2 4 6, 1 2 3, 3)", "[,2,]"), |a| {
        st::beta(&a[1..], over(a, 3)?)
    }),
    state("tmwsum", TWO, "The sum of X weighted by Y.", ("tmwsum(1 1 5, 1 2 3, 4 5 6, 3)", "[4,14,18]"), |a| {
        st::wsum(&a[1..], over(a, 3)?)
    }),
    state("tmwavg", TWO, "The mean of X weighted by Y.", ("tmwavg(1 1 5, 1 3 3, 1 3 6, 3)", "[1,2.5,3]"), |a| {
        st::wavg(&a[1..], over(a, 3)?)
    }),
    state(
        "tmove",
        ONE,
        "X at the time `window` before, or at the nearest time before that.",
        ("tmove(1 2 5 6, 10 20 30 40, 3)", "[,,20,20]"),
        |a| {
            let (span, ty) = (over(a, 2)?.span, a[1].ty);
            by_class!(ty, T => Ok(Keyed::state(TimedMove::<T> { span, class: std::marker::PhantomData }, ty)))
        },
    ),
    state(
        "tmovingWindowData",
        "T, X, window, [leftClosed=false]",
        "The values, as an array vector; `leftClosed`: those at T now - window too.",
        ("tmovingWindowData(1 1 3 4, 5 2 4 1, 3)", "[[5],[5,2],[5,2,4],[4,1]]"),
        |a| {
            let (span, left_closed, ty) = (over(a, 2)?.span, flag(a, 3, "leftClosed", false)?, a[1].ty);
            let array = array_of(ty)?;
            by_class!(ty, T => {
                Ok(Keyed::state(TimedData::<T> { span, left_closed, class: std::marker::PhantomData }, array))
            })
        },
    ),
];

/// Use over a stretch of time.
struct OverTime {
    span: i64,
    valid_min: u32,
}

/// The window at this place.
fn over(args: &[Argument], place: usize) -> Result<OverTime> {
    Ok(OverTime { span: span(args, place)?, valid_min: 1 })
}

/// The length of the window at this place, in the units of the first argument. Over times finer than an hour `4h` is four
/// hours, though elsewhere it is the SHORT 4.
pub(super) fn span(args: &[Argument], place: usize) -> Result<i64> {
    let ty = args[0].ty;
    if !(ty.is_integer() || ty.is_temporal()) {
        return refuse(format!("a time or a whole number is wanted: parameter=`T`, type=`{ty}`"));
    }
    let span = match setting(args, place) {
        Some(Value::Duration(count, unit)) => duration_in(ty, *count, unit),
        Some(Value::Scalar(Type::Short, hours)) if ty.units_per_day().is_some_and(|units| units > 24) => {
            hours.as_i64().and_then(|hours| duration_in(ty, hours, "H"))
        }
        _ => whole(args, place, "window")?,
    };
    match span {
        Some(span) if span > 0 => Ok(span),
        _ => refuse("a length of time above 0, of a fixed number of units of T, is wanted: parameter=`window`"),
    }
}

impl OverTime {
    fn also_empty(self) -> OverTime {
        OverTime { valid_min: 0, ..self }
    }
}

impl Use for OverTime {
    type Made = Box<dyn State>;
    fn summary<S: Summary>(self, summary: S, ty: Type) -> Box<dyn State> {
        Keyed::state(InTurns { summary, span: self.span, valid_min: self.valid_min }, ty)
    }
    fn sorted<S: Sorted>(self, sorted: S) -> Box<dyn State> {
        Keyed::state(TimedSorted { sorted, span: self.span }, Type::Double)
    }
}

#[derive(Clone)]
struct InTurns<S> {
    summary: S,
    span: i64,
    valid_min: u32,
}

/// The rows of one key that are still within the window.
///
/// `before[gone..]` are the rows before the last turn, each summed up to the turn; `since` those after it, single, and
/// `start` their sum.
#[derive(Clone)]
struct Turns<E> {
    before: Vec<(i64, u32, E)>,
    /// How many of `before` have left the window.
    gone: usize,
    since: Vec<(i64, u32, E)>,
    start: (u32, E),
}

impl<E: Default> Default for Turns<E> {
    fn default() -> Turns<E> {
        Turns { before: vec![], gone: 0, since: vec![], start: (0, E::default()) }
    }
}

impl<E: Wire> Wire for Turns<E> {
    fn put(&self, to: &mut Writer) {
        to.put_all(self.before[self.gone..].iter());
        self.since.put(to);
        self.start.put(to);
    }
    fn get(from: &mut Reader) -> Result<Turns<E>> {
        Ok(Turns { before: Vec::get(from)?, gone: 0, since: Vec::get(from)?, start: Wire::get(from)? })
    }
}

impl<E: Default> Turns<E> {
    /// Lets the rows go that are so old, as far as they stand before the turn.
    #[inline(always)]
    fn let_go(&mut self, is_old: impl Fn(i64) -> bool) {
        while self.before.get(self.gone).is_some_and(|(time, ..)| is_old(*time)) {
            if std::mem::needs_drop::<E>() {
                self.before[self.gone].2 = E::default();
            }
            self.gone += 1;
        }
    }

    /// A turn: all rows since the last one are summed from the newest to the oldest.
    #[inline(always)]
    fn turn(&mut self, summary: &impl Summary<Slot = E>) {
        std::mem::swap(&mut self.before, &mut self.since);
        self.since.clear();
        (self.gone, self.start) = (0, (0, E::default()));
        for place in (1..self.before.len()).rev() {
            let (older, newer) = self.before.split_at_mut(place);
            let older = &mut older[place - 1];
            older.1 += newer[0].1;
            summary.merge(&mut older.2, &newer[0].2);
        }
    }
}

impl<S: Summary> Step for InTurns<S> {
    type In = Timed<S::In>;
    type Key = Turns<S::Slot>;
    type Out = S::Out;
    #[inline(always)]
    fn step(&self, key: &mut Turns<S::Slot>, row: Option<Timed<S::In>>) -> Option<S::Out> {
        let summary = &self.summary;
        let Timed { time, value } = row?;
        let mut single = (0, S::Slot::default());
        match value {
            Some(value) => {
                single.0 = 1;
                summary.add(&mut single.1, value.clone());
                key.start.0 += 1;
                summary.add(&mut key.start.1, value);
            }
            None if S::NULLS => {
                summary.add_null(&mut single.1);
                summary.add_null(&mut key.start.1);
            }
            None => {}
        }
        key.since.push((time, single.0, single.1));
        let is_old = |oldest: i64| oldest <= time.saturating_sub(self.span);
        key.let_go(is_old);
        if key.gone == key.before.len() && key.since.first().is_some_and(|(oldest, ..)| is_old(*oldest)) {
            key.turn(summary);
            key.let_go(is_old);
        }
        let (valid, rest) = match key.before.get(key.gone) {
            Some((_, valid, rest)) => (*valid, rest.clone()),
            None => (0, S::Slot::default()),
        };
        if valid + key.start.0 < self.valid_min {
            return None;
        }
        let mut window = rest;
        summary.merge(&mut window, &key.start.1);
        summary.result(&window)
    }
}

#[derive(Clone, Default)]
struct InWindow {
    rows: VecDeque<(i64, Option<f64>)>,
    sorted: InOrder,
}
wire!(InWindow { rows, sorted });

impl InWindow {
    fn push(&mut self, time: i64, value: Option<f64>, span: i64) {
        let mut coming = value;
        while let Some((oldest, gone)) = self.rows.front().copied()
            && oldest <= time.saturating_sub(span)
        {
            self.rows.pop_front();
            if let Some(gone) = gone {
                match coming.take() {
                    Some(value) => self.sorted.replace(gone, value),
                    None => self.sorted.remove(gone),
                }
            }
        }
        if let Some(value) = coming {
            self.sorted.insert(value);
        }
        self.rows.push_back((time, value));
    }
}

#[derive(Clone)]
struct TimedSorted<S> {
    sorted: S,
    span: i64,
}

impl<S: Sorted> Step for TimedSorted<S> {
    type In = Timed<f64>;
    type Key = InWindow;
    type Out = f64;
    fn step(&self, key: &mut InWindow, row: Option<Timed<f64>>) -> Option<f64> {
        let Timed { time, value } = row?;
        key.push(time, value, self.span);
        self.sorted.of(&key.sorted)
    }
}

#[derive(Clone)]
struct TimedRank {
    rank: Rank,
    span: i64,
}

impl Step for TimedRank {
    type In = Timed<f64>;
    type Key = InWindow;
    type Out = f64;
    fn step(&self, key: &mut InWindow, row: Option<Timed<f64>>) -> Option<f64> {
        let Timed { time, value } = row?;
        key.push(time, value, self.span);
        self.rank.of(&key.sorted, key.rows.len() - key.sorted.count(), value)
    }
}

#[derive(Clone)]
struct TimedMove<T> {
    span: i64,
    class: std::marker::PhantomData<T>,
}

impl<T: Item> Step for TimedMove<T> {
    type In = Timed<T>;
    type Key = VecDeque<(i64, Option<T>)>;
    type Out = T;
    fn step(&self, key: &mut VecDeque<(i64, Option<T>)>, row: Option<Timed<T>>) -> Option<T> {
        let Timed { time, value } = row?;
        let wanted = time.saturating_sub(self.span);
        key.push_back((time, value));
        while key.get(1).is_some_and(|(time, _)| *time <= wanted) {
            key.pop_front();
        }
        let (oldest, value) = key.front().expect("the row itself at least");
        if *oldest <= wanted { value.clone() } else { None }
    }
}

/// The rows within the window as a list.
#[derive(Clone)]
struct TimedData<T> {
    span: i64,
    left_closed: bool,
    class: std::marker::PhantomData<T>,
}

impl<T: Item> Gives for TimedData<T> {
    type In = Timed<T>;
    type Key = VecDeque<(i64, Option<T>)>;
    type Out = Lists<T>;
    fn give(&self, key: &mut VecDeque<(i64, Option<T>)>, row: Option<Timed<T>>, out: &mut Lists<T>) {
        let rows = row.map(|Timed { time, value }| {
            key.push_back((time, value));
            let start = time.checked_sub(self.span);
            let gone = |oldest: i64| match start {
                Some(start) if self.left_closed => oldest < start,
                Some(start) => oldest <= start,
                None => false,
            };
            while key.front().is_some_and(|(oldest, _)| gone(*oldest)) {
                key.pop_front();
            }
            key.iter().map(|(_, value)| value.clone())
        });
        out.push(rows);
    }
}
