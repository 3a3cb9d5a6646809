//! Aggregate functions: one value for many rows, with a state for each of many groups.

use super::item::{Input, Item, Reading, Vocabulary};
use super::operator;
use super::output::Output;
use super::sorted::Sorted;
use super::statistic::{self as st, Use};
use super::summary::Summary;
use crate::function::{Aggregate, Argument, Form, Function, NO_SLOT, Picked, Result};
use data::{Column, Paged, Type};

type Bind = fn(&[Argument]) -> Result<Box<dyn Aggregate>>;

const fn aggregate(
    name: &'static str,
    parameters: &'static str,
    summary: &'static str,
    example: (&'static str, &'static str),
    bind: Bind,
) -> Function {
    Function { name, parameters, summary, example, form: Form::Aggregate(bind) }
}

pub(super) static FUNCTIONS: &[Function] = &[
    aggregate("count", "X", "How many values, NULLs left out.", ("count([3,,5,6])", "3"), |a| st::count(a, Grouping)),
    aggregate("sum", "X", "The sum; LONG for whole numbers.", ("sum([1,2,3,,4])", "10"), |a| st::sum(a, Grouping)),
    aggregate("sum2", "X", "The sum of squares.", ("sum2([1.5,4.6,7.8])", "84.25"), |a| st::sum2(a, Grouping)),
    aggregate("sum3", "X", "The sum of cubes.", ("sum3(1 2 3)", "36"), |a| st::sum3(a, Grouping)),
    aggregate("sum4", "X", "The sum of fourth powers.", ("sum4(1 2 3)", "98"), |a| st::sum4(a, Grouping)),
    aggregate("prod", "X", "The product.", ("prod([1,2,,3])", "6"), |a| st::prod(a, Grouping)),
    aggregate("avg", "X", "The mean.", ("avg([1,2,3,])", "2"), |a| st::avg(a, Grouping)),
    aggregate("mean", "X", "The mean.", ("mean([1,5,9,])", "5"), |a| st::avg(a, Grouping)),
    aggregate("std", "X", "The sample standard deviation.", ("std(1 2 3)", "1"), |a| st::std(a, Grouping)),
    aggregate("stdp", "X", "The population standard deviation.", ("stdp(2 2)", "0"), |a| st::stdp(a, Grouping)),
    aggregate("var", "X", "The sample variance.", ("var(1 4 7 10 13)", "22.5"), |a| st::var(a, Grouping)),
    aggregate("varp", "X", "The population variance.", ("varp(1 4 7 10 13)", "18"), |a| st::varp(a, Grouping)),
    aggregate("sem", "X", "The standard error of the mean.", ("sem(1 1)", "0"), |a| st::sem(a, Grouping)),
    aggregate("first", "X", "The first row's value, NULL or not.", ("first(1 2 3)", "1"), |a| st::first(a, Grouping)),
    aggregate("last", "X", "The last row's value, NULL or not.", ("last(1 2 3)", "3"), |a| st::last(a, Grouping)),
    aggregate(
        "firstNot",
        "X, [k]",
        "The first value that is neither NULL nor `k`.",
        ("firstNot([,0,3], 0)", "3"),
        |a| st::first_not(a, Grouping),
    ),
    aggregate("lastNot", "X, [k]", "The last value that is neither NULL nor `k`.", ("lastNot(1 6 0, 0)", "6"), |a| {
        st::last_not(a, Grouping)
    }),
    aggregate(
        "ifirstNot",
        "X...",
        "The place of the first value, -1 for none; of several vectors, of the first row with a value in each.",
        ("ifirstNot([,,2])", "2"),
        |a| st::ifirst_not(a, Grouping),
    ),
    aggregate(
        "ilastNot",
        "X...",
        "The place of the last value, -1 for none; of several vectors, of the last row with a value in each.",
        ("ilastNot([1,2,])", "1"),
        |a| st::ilast_not(a, Grouping),
    ),
    aggregate("hasNull", "X", "Is there a NULL?", ("hasNull([1,,3])", "true"), |a| st::has_null(a, Grouping)),
    aggregate("searchK", "X, k", "The `k`-th smallest value, from 1.", ("searchK([7,,3,5], 2)", "5"), |a| {
        st::search_k(a, Grouping)
    }),
    Function {
        name: "min",
        parameters: "X, [Y]",
        summary: "The smallest value; of two arguments the smaller one in each row.",
        example: ("min(3 1 2)", "1"),
        form: Form::ByArity(&[Form::Aggregate(|a| st::min(a, Grouping)), Form::Row(operator::smaller)]),
    },
    Function {
        name: "max",
        parameters: "X, [Y]",
        summary: "The greatest value; of two arguments the greater one in each row.",
        example: ("max(1 2 3, 2)", "[2,2,3]"),
        form: Form::ByArity(&[Form::Aggregate(|a| st::max(a, Grouping)), Form::Row(operator::greater)]),
    },
    aggregate("imin", "X", "The first place of the smallest value, -1 for none.", ("imin(4 2 3 1)", "3"), |a| {
        st::imin(a, Grouping)
    }),
    aggregate("imax", "X", "The first place of the greatest value, -1 for none.", ("imax(4 2 4 1)", "0"), |a| {
        st::imax(a, Grouping)
    }),
    aggregate("iminLast", "X", "The last place of the smallest value, -1 for none.", ("iminLast(1 2 1)", "2"), |a| {
        st::imin_last(a, Grouping)
    }),
    aggregate("imaxLast", "X", "The last place of the greatest value, -1 for none.", ("imaxLast(4 2 4)", "2"), |a| {
        st::imax_last(a, Grouping)
    }),
    aggregate("atImax", "X, Y", "Y where X is greatest.", ("atImax(3 5 1 2, 9 7 5 3)", "7"), |a| {
        st::at_imax(a, Grouping)
    }),
    aggregate("atImin", "X, Y", "Y where X is smallest.", ("atImin(3 5 1 2, 9 7 5 3)", "5"), |a| {
        st::at_imin(a, Grouping)
    }),
    aggregate("med", "X", "The median.", ("med(3 6 1 5 9)", "5"), |a| st::med(a, Grouping)),
    aggregate(
        "percentile",
        "X, percent, [interpolation=`linear]",
        "The value below which `percent` percent of all lie.",
        ("percentile(1 2 3 4 5, 25)", "2"),
        |a| st::percentile(a, Grouping, 2, 100.0),
    ),
    aggregate(
        "quantile",
        "X, q, [interpolation=`linear]",
        "The value below which the part `q` of all lies.",
        ("quantile(1 2 3 4 5, 0.25)", "2"),
        |a| st::percentile(a, Grouping, 2, 1.0),
    ),
    aggregate("mode", "X", "The most frequent value, the smallest of several.", ("mode(1 3 3 5 5 5)", "5"), |a| {
        st::mode(a, Grouping)
    }),
    aggregate(
        "nunique",
        "X, [ignoreNull=false]",
        "How many different values; NULL is one unless ignored.",
        ("nunique([1,3,1,])", "3"),
        |a| st::nunique(a, Grouping),
    ),
    aggregate(
        "mad",
        "X, [useMedian=false]",
        "The mean absolute deviation, or the median one.",
        ("mad(2 4)", "1"),
        |a| st::mad(a, Grouping, 1),
    ),
    aggregate("skew", "X, [biased=true]", "The skewness.", ("skew(1 2 3)", "0"), |a| st::skew(a, Grouping, 1)),
    aggregate(
        "kurtosis",
        "X, [biased=true]",
        "The kurtosis, 3 for a normal distribution.",
        ("kurtosis(1 1 3 3)", "1"),
        |a| st::kurtosis(a, Grouping, 1),
    ),
    aggregate("covar", "X, Y", "The sample covariance.", ("covar(1 2 3, 2 4 6)", "2"), |a| st::covar(a, Grouping)),
    aggregate("covarp", "X, Y", "The population covariance.", ("covarp(1 3, 2 6)", "2"), |a| st::covarp(a, Grouping)),
    aggregate("corr", "X, Y", "The correlation.", ("corr(1 2 3, 2 4 6)", "1"), |a| st::corr(a, Grouping)),
    aggregate("beta", "Y, X", "The slope of Y on X.", ("beta(2 4 6, 1 2 3)", "2"), |a| st::beta(a, Grouping)),
    aggregate("wsum", "X, Y", "The sum of X weighted by Y.", ("wsum(7 8 9, 1 2 3)", "50"), |a| st::wsum(a, Grouping)),
    aggregate("wavg", "X, Y", "The mean of X weighted by Y.", ("wavg(1 3, 1 3)", "2.5"), |a| st::wavg(a, Grouping)),
    aggregate(
        "maxDrawdown",
        "X, [ratio=true]",
        "The greatest fall from a peak, as a part of it or as a difference.",
        ("maxDrawdown(100 25 64)", "0.75"),
        |a| st::drawdown(a, Grouping),
    ),
];

/// Use as an aggregate.
struct Grouping;

impl Use for Grouping {
    type Made = Box<dyn Aggregate>;
    fn summary<S: Summary>(self, summary: S, ty: Type) -> Box<dyn Aggregate> {
        Box::new(Grouped { summary, ty, slots: Paged::new(), vocabulary: Vocabulary::default() })
    }
    fn sorted<S: Sorted>(self, sorted: S) -> Box<dyn Aggregate> {
        self.summary(Collect(sorted), Type::Double)
    }
}

/// A summary for each slot.
struct Grouped<S: Summary> {
    summary: S,
    ty: Type,
    slots: Paged<S::Slot>,
    vocabulary: Vocabulary,
}

impl<S: Summary> Aggregate for Grouped<S> {
    fn ty(&self) -> Type {
        self.ty
    }

    fn grow(&mut self, slots: usize) {
        self.slots.grow(slots, S::Slot::default());
    }

    fn fold(&mut self, slots: &[u32], args: &[Picked]) -> Result<()> {
        let picks = args.first().and_then(|arg| arg.rows);
        if args.iter().any(|arg| arg.rows.is_some() != picks.is_some()) {
            let columns: Vec<Column> = args.iter().map(Picked::compact).collect();
            let args: Vec<Picked> = columns.iter().map(|column| Picked { column, rows: None }).collect();
            return self.fold(slots, &args);
        }
        let columns: Vec<&Column> = args.iter().map(|arg| arg.column).collect();
        let fold = Fold { summary: &self.summary, states: &mut self.slots, slots, picks };
        S::In::rows(&columns, &mut self.vocabulary, fold)
    }

    fn merge(&mut self, into: u32, from: u32) {
        let from = self.slots[from as usize].clone();
        self.summary.merge(&mut self.slots[into as usize], &from);
    }

    fn grows(&self) -> bool {
        S::GROWS
    }

    fn emit(&self, slots: &[u32]) -> Result<Column> {
        let mut output = Output::of(slots.len());
        slots.iter().for_each(|&slot| output.push(self.summary.result(&self.slots[slot as usize])));
        Ok(output.column(self.ty, &self.vocabulary))
    }

    fn reset(&mut self, slots: &[u32]) {
        slots.iter().for_each(|&slot| self.slots[slot as usize] = S::Slot::default());
    }

    fn snapshot(&mut self) -> Box<dyn Aggregate> {
        let (summary, slots) = (self.summary.clone(), self.slots.freeze());
        Box::new(Grouped { summary, ty: self.ty, slots, vocabulary: self.vocabulary.freeze() })
    }

    fn encode(&self, slot: u32, bytes: &mut Vec<u8>) {
        self.vocabulary.encode(&self.slots[slot as usize], bytes);
    }

    fn decode(&mut self, slot: u32, bytes: &mut &[u8]) -> Result<()> {
        self.slots.grow(slot as usize + 1, S::Slot::default());
        self.slots[slot as usize] = self.vocabulary.decode(bytes)?;
        Ok(())
    }
}

/// Adds each row to its slot.
struct Fold<'a, S: Summary> {
    summary: &'a S,
    states: &'a mut Paged<S::Slot>,
    slots: &'a [u32],
    picks: Option<&'a [u32]>,
}

impl<S: Summary> Reading<S::In> for Fold<'_, S> {
    fn read(self, value: impl Fn(usize) -> Option<S::In>) -> Result<()> {
        for (place, &slot) in self.slots.iter().enumerate() {
            if slot == NO_SLOT {
                continue;
            }
            match value(self.picks.map_or(place, |rows| rows[place] as usize)) {
                Some(value) => self.summary.add(&mut self.states[slot as usize], value),
                None if S::NULLS => self.summary.add_null(&mut self.states[slot as usize]),
                None => {}
            }
        }
        Ok(())
    }
}

/// All values, for a statistic that needs them sorted.
#[derive(Clone)]
pub(super) struct Collect<S>(pub S);

impl<S: Sorted> Summary for Collect<S> {
    type In = f64;
    type Slot = Vec<f64>;
    type Out = f64;
    const GROWS: bool = true;
    fn add(&self, slot: &mut Vec<f64>, value: f64) {
        slot.push(value);
    }
    fn merge(&self, into: &mut Vec<f64>, from: &Vec<f64>) {
        into.extend_from_slice(from);
    }
    fn result(&self, slot: &Vec<f64>) -> Option<f64> {
        let mut sorted = slot.clone();
        sorted.sort_unstable_by(Item::order);
        self.0.of(&sorted[..])
    }
}
