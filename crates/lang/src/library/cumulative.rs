//! Cumulative functions: one value per input row, over all rows of its key so far. A NULL changes nothing.

use super::entry::state;
use super::item::{Input, Item, wire};
use super::keyed::{Keyed, Several, Step, refuse};
use super::settings::{choice, flag, need_number, whole};
use super::sorted::{InOrder, Sorted, Values};
use super::statistic::{self as st, Use};
use super::summary::Summary;
use crate::function::{Argument, Function, Result, State};
use data::Type;

pub(super) static FUNCTIONS: &[Function] = &[
    state("cumsum", "X", "The sum so far.", ("cumsum([1,2,,3])", "[1,3,3,6]"), |a| st::sum(a, Running)),
    state("cumsum2", "X", "The sum of squares so far.", ("cumsum2(4 5)", "[16,41]"), |a| st::sum2(a, Running)),
    state("cumsum3", "X", "The sum of cubes so far.", ("cumsum3(2 3)", "[8,35]"), |a| st::sum3(a, Running)),
    state("cumsum4", "X", "The sum of fourth powers so far.", ("cumsum4(2 3)", "[16,97]"), |a| st::sum4(a, Running)),
    state("cumavg", "X", "The mean so far.", ("cumavg([2,3,,4])", "[2,2.5,2.5,3]"), |a| st::avg(a, Running)),
    state("cumcount", "X", "How many values so far.", ("cumcount([1,,3])", "[1,1,2]"), |a| st::count(a, Running)),
    state("cumprod", "X", "The product so far.", ("cumprod(2 3 4)", "[2,6,24]"), |a| st::prod(a, Running)),
    state("cummin", "X", "The smallest so far.", ("cummin([7,4,,9])", "[7,4,4,4]"), |a| st::min(a, Running)),
    state("cummax", "X", "The greatest so far.", ("cummax(7 4 8)", "[7,7,8]"), |a| st::max(a, Running)),
    state("cumvar", "X", "The sample variance so far.", ("cumvar(2 3 4)", "[,0.5,1]"), |a| st::var(a, Running)),
    state("cumvarp", "X", "The population variance so far.", ("cumvarp(2 4)", "[0,1]"), |a| st::varp(a, Running)),
    state("cumstd", "X", "The sample standard deviation so far.", ("cumstd(2 3 4)", "[,0.707107,1]"), |a| {
        st::std(a, Running)
    }),
    state("cumstdp", "X", "The population standard deviation so far.", ("cumstdp(2 4)", "[0,1]"), |a| {
        st::stdp(a, Running)
    }),
    state("cumskew", "X, [biased=true]", "The skewness so far.", ("cumskew(1 2 3)", "[,0,0]"), |a| {
        st::skew(a, Running, 1)
    }),
    state("cumkurtosis", "X, [biased=true]", "The kurtosis so far.", ("cumkurtosis(1 2 3)", "[,,1.5]"), |a| {
        st::kurtosis(a, Running, 1)
    }),
    state("cumcovar", "X, Y", "The sample covariance so far.", ("cumcovar(1 2 3, 2 4 6)", "[,1,2]"), |a| {
        st::covar(a, Running)
    }),
    state("cumcovarp", "X, Y", "The population covariance so far.", ("cumcovarp(1 3, 2 6)", "[0,2]"), |a| {
        st::covarp(a, Running)
    }),
    state("cumcorr", "X, Y", "The correlation so far.", ("cumcorr(1 2 3, 2 4 6)", "[,1,1]"), |a| st::corr(a, Running)),
    state("cumbeta", "Y, X", "The slope of Y on X so far.", ("cumbeta(2 4 6, 1 2 3)", "[,2,2]"), |a| {
        st::beta(a, Running)
    }),
    state("cumwsum", "X, Y", "The sum of X weighted by Y so far.", ("cumwsum(1 2, 3 4)", "[3,11]"), |a| {
        st::wsum(a, Running)
    }),
    state("cumwavg", "X, Y", "The mean of X weighted by Y so far.", ("cumwavg(1 3, 1 3)", "[1,2.5]"), |a| {
        st::wavg(a, Running)
    }),
    state(
        "cumfirstNot",
        "X, [k]",
        "The first value so far that is neither NULL nor `k`.",
        ("cumfirstNot([,1,2,6], 1)", "[,,2,2]"),
        |a| st::first_not(a, Running),
    ),
    state(
        "cumlastNot",
        "X, [k]",
        "The last value so far that is neither NULL nor `k`.",
        ("cumlastNot([1,2,,4])", "[1,2,2,4]"),
        |a| st::last_not(a, Running),
    ),
    state("cummed", "X", "The median so far.", ("cummed(7 9 5)", "[7,8,7]"), |a| st::med(a, Running)),
    state(
        "cumpercentile",
        "X, percent, [interpolation=`linear]",
        "The percentile so far.",
        ("cumpercentile(1 2 3, 25)", "[1,1.25,1.5]"),
        |a| st::percentile(a, Running, 2, 100.0),
    ),
    state(
        "cumnunique",
        "X, [ignoreNull=false]",
        "How many different values so far; NULL is one unless ignored.",
        ("cumnunique([,1,1,2])", "[1,2,2,3]"),
        |a| st::nunique(a, Running),
    ),
    state(
        "cummdd",
        "X, [ratio=true]",
        "The greatest fall from a peak so far, as a part of it or as a difference.",
        ("cummdd(100 25 64)", "[0,0.75,0.75]"),
        |a| st::drawdown(a, Running),
    ),
    state(
        "cumPositiveStreak",
        "X",
        "The sum of the positive values since the last one that is not; 0 at one that is not.",
        ("cumPositiveStreak(1 0 -1 1 2)", "[1,0,0,1,3]"),
        |a| {
            need_number(a, 0)?;
            let streak = |ty| if ty == Type::Double { Keyed::state(Streak, ty) } else { Keyed::state(WholeStreak, ty) };
            Ok(streak(if a[0].ty.is_integer() || a[0].ty == Type::Bool { Type::Long } else { Type::Double }))
        },
    ),
    state(
        "cumrank",
        "X, [ascending=true], [ignoreNA=true], [tiesMethod=`min], [percent=false]",
        "The rank of a value among all so far, from 0.",
        ("cumrank(1 3 2 3 4)", "[0,1,1,2,4]"),
        |a| {
            need_number(a, 0)?;
            let rank = Rank {
                ascending: flag(a, 1, "ascending", true)?,
                ignore_null: flag(a, 2, "ignoreNA", true)?,
                ties: choice(a, 3, "tiesMethod", Rank::TIES)?.unwrap_or(0),
                percent: flag(a, 4, "percent", false)?,
            };
            let ty = rank.ty();
            Ok(Keyed::state(RunningRank(rank), ty))
        },
    ),
    state(
        "cumdenseRank",
        "X, [ascending=true], [ignoreNA=true], [percent=false], [norm=`max]",
        "The rank of a value among all different ones so far, from 0; as a part of their number, or with `minmax` of \
         the greatest rank.",
        ("cumdenseRank(1 3 2 3 4)", "[0,1,1,2,3]"),
        |a| {
            need_number(a, 0)?;
            let rank = DenseRank {
                ascending: flag(a, 1, "ascending", true)?,
                ignore_null: flag(a, 2, "ignoreNA", true)?,
                percent: flag(a, 3, "percent", false)?,
                minmax: choice(a, 4, "norm", &["max", "minmax"])? == Some(1),
            };
            let ty = if rank.percent { Type::Double } else { Type::Int };
            Ok(Keyed::state(rank, ty))
        },
    ),
    state(
        "dynamicGroupCumsum",
        "CumValue, PrevCumValue, Membership, PrevMembership, groupCount",
        "The sum of the values that are now in each of 2 to 8 groups, numbered from 0. A member's value before is taken \
         from the group it was in, the one now added to the group it is in.",
        ("dynamicGroupCumsum(2 4 8, [,,2], 0 0 1, [,,0], 2)", "([2,6,4],[0,0,8])"),
        |a| match a[..4].iter().any(|value| value.ty.is_float()) {
            true => groups(a, 4, |group| {
                let (plus, minus) = (|a, b| a + b, |a, b| a - b);
                Keyed::state(GroupSum::<f64> { group: group as f64, plus, minus }, Type::Double)
            }),
            false => groups(a, 4, |group| {
                Keyed::state(GroupSum { group, plus: i64::wrapping_add, minus: i64::wrapping_sub }, Type::Long)
            }),
        },
    ),
    state(
        "dynamicGroupCumcount",
        "Membership, PrevMembership, groupCount",
        "How many members are now in each of 2 to 8 groups, numbered from 0.",
        ("dynamicGroupCumcount(0 0 1, [,,0], 2)", "([1,2,1],[0,0,1])"),
        |a| groups(a, 2, |group| Keyed::state(GroupCount { group: group as f64 }, Type::Int)),
    ),
];

/// A state for each of the groups whose number stands behind so many columns.
fn groups(args: &[Argument], columns: usize, of: impl Fn(i64) -> Box<dyn State>) -> Result<Box<dyn State>> {
    (0..columns).try_for_each(|place| need_number(args, place))?;
    match whole(args, columns, "groupCount")? {
        Some(count @ 2..=8) => Ok(Box::new(Several((0..count).map(of).collect()))),
        _ => refuse("a whole number from 2 to 8 is wanted: parameter=`groupCount`"),
    }
}

/// The sum of the values in one group, of rows of value, value before, group and group before.
#[derive(Clone)]
struct GroupSum<T> {
    group: T,
    plus: fn(T, T) -> T,
    minus: fn(T, T) -> T,
}

impl<T: Item + Copy> Step for GroupSum<T>
where
    [Option<T>; 4]: Input,
{
    type In = [Option<T>; 4];
    type Key = T;
    type Out = T;
    fn step(&self, key: &mut T, row: Option<[Option<T>; 4]>) -> Option<T> {
        let [value, before, group, group_before] = row?;
        if group == Some(self.group) {
            *key = value.map_or(*key, |value| (self.plus)(*key, value));
        }
        if group_before == Some(self.group) {
            *key = before.map_or(*key, |before| (self.minus)(*key, before));
        }
        Some(*key)
    }
}

/// How many members one group has, of rows of group and group before.
#[derive(Clone)]
struct GroupCount {
    group: f64,
}

impl Step for GroupCount {
    type In = [Option<f64>; 2];
    type Key = i64;
    type Out = i64;
    fn step(&self, key: &mut i64, row: Option<[Option<f64>; 2]>) -> Option<i64> {
        let [group, before] = row?;
        *key += (group == Some(self.group)) as i64 - (before == Some(self.group)) as i64;
        Some(*key)
    }
}

/// Use as a cumulative function.
pub(super) struct Running;

impl Use for Running {
    type Made = Box<dyn State>;
    fn summary<S: Summary>(self, summary: S, ty: Type) -> Box<dyn State> {
        Keyed::state(SoFar(summary), ty)
    }
    fn sorted<S: Sorted>(self, sorted: S) -> Box<dyn State> {
        Keyed::state(SortedSoFar(sorted), Type::Double)
    }
}

#[derive(Clone)]
struct SoFar<S>(S);

impl<S: Summary> Step for SoFar<S> {
    type In = S::In;
    type Key = S::Slot;
    type Out = S::Out;
    #[inline(always)]
    fn step(&self, key: &mut S::Slot, value: Option<S::In>) -> Option<S::Out> {
        match value {
            Some(value) => self.0.add(key, value),
            None if S::NULLS => self.0.add_null(key),
            None => {}
        }
        self.0.result(key)
    }
}

#[derive(Clone)]
struct SortedSoFar<S>(S);

impl<S: Sorted> Step for SortedSoFar<S> {
    type In = f64;
    type Key = InOrder;
    type Out = f64;
    fn step(&self, key: &mut InOrder, value: Option<f64>) -> Option<f64> {
        if let Some(value) = value {
            key.insert(value);
        }
        self.0.of(key)
    }
}

/// A running sum of positive values.
#[derive(Clone)]
struct Streak;

impl Step for Streak {
    type In = f64;
    type Key = f64;
    type Out = f64;
    fn step(&self, key: &mut f64, value: Option<f64>) -> Option<f64> {
        *key = if value? > 0.0 { *key + value? } else { 0.0 };
        Some(*key)
    }
}

/// A running sum of positive whole values.
#[derive(Clone)]
struct WholeStreak;

impl Step for WholeStreak {
    type In = i64;
    type Key = i64;
    type Out = i64;
    fn step(&self, key: &mut i64, value: Option<i64>) -> Option<i64> {
        *key = if value? > 0 { key.wrapping_add(value?) } else { 0 };
        Some(*key)
    }
}

/// How a value ranks among others.
#[derive(Clone)]
pub(super) struct Rank {
    /// The smallest first?
    pub ascending: bool,
    /// Does a NULL have no rank, rather than the lowest?
    pub ignore_null: bool,
    /// A place in [`Rank::TIES`].
    pub ties: usize,
    /// The part of all that it is at or above, rather than its place?
    pub percent: bool,
}

impl Rank {
    /// Which of the places of equal values counts.
    pub const TIES: &'static [&'static str] = &["min", "max", "average"];

    /// The type of ranks.
    pub fn ty(&self) -> Type {
        if self.percent || self.ties == 2 { Type::Double } else { Type::Int }
    }

    /// The rank of a value, itself among the sorted ones; NULL comes before all numbers.
    pub fn of(&self, sorted: &InOrder, nulls: usize, value: Option<f64>) -> Option<f64> {
        let nulls = if self.ignore_null { 0 } else { nulls };
        let (below, equal) = match value {
            None if self.ignore_null => return None,
            None => (0, nulls),
            Some(value) => {
                let below = sorted.below(value);
                (below + nulls, sorted.equal(value, below))
            }
        };
        let all = sorted.count() + nulls;
        let before = if self.ascending { below } else { all - below - equal };
        let rank = match self.ties {
            0 => before as f64,
            1 => (before + equal - 1) as f64,
            _ => before as f64 + (equal - 1) as f64 / 2.0,
        };
        Some(if self.percent { (rank + 1.0) / all as f64 } else { rank })
    }
}

/// The sorted values and the number of NULLs so far.
#[derive(Clone, Default)]
struct Ranked {
    sorted: InOrder,
    nulls: u64,
}
wire!(Ranked { sorted, nulls });

#[derive(Clone)]
struct RunningRank(Rank);

impl Step for RunningRank {
    type In = f64;
    type Key = Ranked;
    type Out = f64;
    fn step(&self, key: &mut Ranked, value: Option<f64>) -> Option<f64> {
        match value {
            Some(value) => key.sorted.insert(value),
            None => key.nulls += 1,
        }
        self.0.of(&key.sorted, key.nulls as usize, value)
    }
}

/// How a value ranks among all different ones so far.
#[derive(Clone)]
struct DenseRank {
    /// The smallest first?
    ascending: bool,
    /// Does a NULL have no rank, rather than the lowest?
    ignore_null: bool,
    /// The part of all that it is at or above, rather than its place?
    percent: bool,
    /// As a part from 0 to 1, the greatest rank being 1?
    minmax: bool,
}

/// The different values so far, sorted, and whether NULL is one.
#[derive(Clone, Default)]
struct Different {
    sorted: InOrder,
    null: bool,
}
wire!(Different { sorted, null });

impl Step for DenseRank {
    type In = f64;
    type Key = Different;
    type Out = f64;
    fn step(&self, key: &mut Different, value: Option<f64>) -> Option<f64> {
        let below = match value {
            None if self.ignore_null => return None,
            None => {
                key.null = true;
                0
            }
            Some(value) => {
                let below = key.sorted.below(value);
                if key.sorted.equal(value, below) == 0 {
                    key.sorted.insert(value);
                }
                below + key.null as usize
            }
        };
        let all = key.sorted.count() + key.null as usize;
        let rank = if self.ascending { below } else { all - 1 - below } as f64;
        Some(match all {
            _ if !self.percent => rank,
            1 => 1.0,
            _ if self.minmax => rank / (all - 1) as f64,
            _ => (rank + 1.0) / all as f64,
        })
    }
}
