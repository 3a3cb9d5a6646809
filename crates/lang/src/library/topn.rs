//! TopN functions: a statistic of those rows of a window that come first when it is sorted by another column.
//!
//! The rows of a window stand sorted. A row costs a search for its place, and the statistic of the first `top` anew. Rows
//! whose S is NULL are none of them; a row whose value is NULL takes its place and counts for nothing.

use super::entry::state;
use super::item::{Beside, Input, Item, Reader, Reading, Timed, Vocabulary, Wire, Writer};
use super::keyed::{Keyed, Step, refuse};
use super::settings::{choice, flag, number, whole, window};
use super::sorted::Sorted;
use super::statistic::{self as st, Use};
use super::summary::Summary;
use super::time_moving::span;
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, Function, Result, State};
use data::{Column, Type};
use std::collections::VecDeque;

/// Three functions of each statistic: `m…TopN` over the last rows, `cum…TopN` over all so far, `tm…TopN` over a stretch of
/// time. Where `tiesMethod` is left out, of two equal rows the newer one comes first; of a moving one, what is written here.
/// The rows of the examples are all in the window, so the three give the same.
macro_rules! families {
    (
        one { $($one:literal $one_of:expr, $one_ties:ident, $one_what:literal: $one_shown:literal;)* }
        two { $($two:literal $two_of:expr, $two_ties:ident, $two_what:literal: $two_shown:literal;)* }
        else { $($entry:expr),* }
    ) => {
        pub(super) static FUNCTIONS: &[Function] = &[
            $(
                state(
                    concat!("m", $one, "TopN"),
                    "X, S, window, top, [ascending=true], [tiesMethod]",
                    concat!($one_what, " of the `top` rows of the last `window` that come first by S."),
                    (concat!("m", $one, "TopN(1 5 3 4, 4 1 2 3, 4, 3)"), $one_shown),
                    |a| $one_of(a, Order::moving(a, 2, Ties::$one_ties)?),
                ),
                state(
                    concat!("cum", $one, "TopN"),
                    "X, S, top, [ascending=true], [tiesMethod=`latest]",
                    concat!($one_what, " of the `top` rows so far that come first by S."),
                    (concat!("cum", $one, "TopN(1 5 3 4, 4 1 2 3, 3)"), $one_shown),
                    |a| $one_of(a, Order::running(a, 2)?),
                ),
                state(
                    concat!("tm", $one, "TopN"),
                    "T, X, S, window, top, [ascending=true], [tiesMethod=`latest]",
                    concat!($one_what, " of the `top` rows, or the part `top` of the rows, within `window` that come first by S."),
                    (concat!("tm", $one, "TopN(1 2 4 5, 1 5 3 4, 4 1 2 3, 4, 3)"), $one_shown),
                    |a| $one_of(&a[1..], Order::timed(a, 3)?),
                ),
            )*
            $(
                state(
                    concat!("m", $two, "TopN"),
                    "X, Y, S, window, top, [ascending=true], [tiesMethod]",
                    concat!($two_what, " of the `top` rows of the last `window` that come first by S."),
                    (concat!("m", $two, "TopN(1 5 3 4, 2 6 7 1, 4 1 2 3, 4, 3)"), $two_shown),
                    |a| $two_of(a, Order::moving(a, 3, Ties::$two_ties)?),
                ),
                state(
                    concat!("cum", $two, "TopN"),
                    "X, Y, S, top, [ascending=true], [tiesMethod=`latest]",
                    concat!($two_what, " of the `top` rows so far that come first by S."),
                    (concat!("cum", $two, "TopN(1 5 3 4, 2 6 7 1, 4 1 2 3, 3)"), $two_shown),
                    |a| $two_of(a, Order::running(a, 3)?),
                ),
                state(
                    concat!("tm", $two, "TopN"),
                    "T, X, Y, S, window, top, [ascending=true], [tiesMethod=`latest]",
                    concat!($two_what, " of the `top` rows, or the part `top` of the rows, within `window` that come first by S."),
                    (concat!("tm", $two, "TopN(1 2 4 5, 1 5 3 4, 2 6 7 1, 4 1 2 3, 4, 3)"), $two_shown),
                    |a| $two_of(&a[1..], Order::timed(a, 4)?),
                ),
            )*
            $($entry),*
        ];
    };
}

families! {
    one {
        "sum" st::sum, Oldest, "The sum": "[1,6,9,12]";
        "avg" st::avg, Oldest, "The mean": "[1,3,3,4]";
        "std" st::std, Oldest, "The sample standard deviation": "[,2.828427,2,1]";
        "stdp" st::stdp, Oldest, "The population standard deviation": "[0,2,1.632993,0.816497]";
        "var" st::var, Oldest, "The sample variance": "[,8,4,1]";
        "varp" st::varp, Oldest, "The population variance": "[0,4,2.666667,0.666667]";
        "skew" biased_skew, Latest, "The skewness": "[,0,0,0]";
        "kurtosis" biased_kurtosis, Latest, "The kurtosis": "[,,1.5,1.5]";
    }
    two {
        "corr" st::corr, Oldest, "The correlation": "[,1,0.755929,-0.155543]";
        "covar" st::covar, Oldest, "The sample covariance": "[,8,4,-0.5]";
        "covarp" st::covarp, Oldest, "The population covariance": "[0,4,2.666667,-0.333333]";
        "beta" st::beta, Oldest, "The slope of X on Y": "[,1,0.571429,-0.048387]";
        "wsum" st::wsum, Oldest, "The sum of X weighted by Y": "[2,32,53,55]";
    }
    else {
        state(
            "mpercentileTopN",
            "X, S, percent, window, top, [interpolation=`linear], [ascending=true], [tiesMethod=`latest]",
            "The percentile of the `top` rows of the last `window` that come first by S.",
            ("mpercentileTopN(1 5 3 4, 4 1 2 3, 50, 4, 3)", "[1,3,3,4]"),
            |a| {
                let order = Order { span: Some(window(a, 3, 1)? as i64), ..Order::of(a, Top::rows(a, 4)?, 6, Ties::Latest)? };
                let interpolation = a.get(5).cloned().unwrap_or_else(Argument::left_out);
                st::percentile(&[a[0].clone(), a[2].clone(), interpolation], order, 2, 100.0)
            }
        )
    }
}

fn biased_skew<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    st::skew(&args[..1], to, 1)
}

fn biased_kurtosis<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    st::kurtosis(&args[..1], to, 1)
}

/// Which of two rows with equal S comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ties {
    Oldest,
    Latest,
    /// The older one, and all that equal the last of those that count do too.
    All,
}

/// How many rows count.
#[derive(Debug, Clone, Copy)]
enum Top {
    Rows(usize),
    /// A part of the rows of the window, one at least.
    Part(f64),
}

impl Top {
    fn rows(args: &[Argument], place: usize) -> Result<Top> {
        match whole(args, place, "top")? {
            Some(top @ 1..) => Ok(Top::Rows(top as usize)),
            _ => refuse("a whole number above 0 is wanted: parameter=`top`"),
        }
    }
}

/// Use as a TopN function: which rows the window has, how they are sorted, and how many of them count.
#[derive(Debug, Clone)]
struct Order {
    /// How many rows or units of time the window goes back; all the way if `None`.
    span: Option<i64>,
    is_timed: bool,
    top: Top,
    ascending: bool,
    ties: Ties,
}

impl Order {
    fn moving(args: &[Argument], place: usize, ties: Ties) -> Result<Order> {
        let span = Some(window(args, place, 1)? as i64);
        Ok(Order { span, ..Order::of(args, Top::rows(args, place + 1)?, place + 2, ties)? })
    }

    fn running(args: &[Argument], place: usize) -> Result<Order> {
        Order::of(args, Top::rows(args, place)?, place + 1, Ties::Latest)
    }

    fn timed(args: &[Argument], place: usize) -> Result<Order> {
        let top = match number(args, place + 1, "top")? {
            Some(part) if 0.0 < part && part < 1.0 => Top::Part(part),
            _ => Top::rows(args, place + 1)?,
        };
        let span = Some(span(args, place)?);
        Ok(Order { span, is_timed: true, ..Order::of(args, top, place + 2, Ties::Latest)? })
    }

    /// Over all rows so far, with `ascending` and `tiesMethod` from a place on.
    fn of(args: &[Argument], top: Top, place: usize, ties: Ties) -> Result<Order> {
        let ties = match choice(args, place + 1, "tiesMethod", &["oldest", "latest", "all"])? {
            None => ties,
            Some(0) => Ties::Oldest,
            Some(1) => Ties::Latest,
            Some(_) => Ties::All,
        };
        Ok(Order { span: None, is_timed: false, top, ascending: flag(args, place, "ascending", true)?, ties })
    }

    /// Takes a row into the window, and those out of it that have left.
    fn push<T>(&self, rows: &mut Rows<T>, position: i64, row: Option<Ranked<T>>) {
        rows.seen += 1;
        if let Some(span) = self.span {
            while let Some((oldest, by, age)) = rows.leaving.front().copied()
                && oldest <= position.saturating_sub(span)
            {
                rows.leaving.pop_front();
                rows.sorted.remove(rows.place(by, age));
            }
        }
        let Some(row) = row else { return };
        let by = if self.ascending { row.by } else { !row.by };
        let age = if self.ties == Ties::Latest { -rows.seen } else { rows.seen };
        let place = rows.place(by, age);
        rows.sorted.insert(place, (by, age, row.value));
        match self.span {
            Some(_) => rows.leaving.push_back((position, by, age)),
            // None leaves, so those that do not count never will.
            None => rows.sorted.truncate(self.count(rows)),
        }
    }

    /// How many of the sorted rows count.
    fn count<T>(&self, rows: &Rows<T>) -> usize {
        let all = rows.sorted.len();
        let count = match self.top {
            Top::Rows(top) => top.min(all),
            Top::Part(part) => ((all as f64 * part) as usize).clamp(1, all.max(1)).min(all),
        };
        match self.ties {
            Ties::All if count > 0 => {
                let last = rows.sorted[count - 1].0;
                count + rows.sorted[count..].partition_point(|(by, ..)| *by == last)
            }
            _ => count,
        }
    }
}

impl Use for Order {
    type Made = Box<dyn State>;
    fn summary<S: Summary>(self, summary: S, ty: Type) -> Box<dyn State> {
        let of = OfSummary(summary);
        match self.is_timed {
            true => Keyed::state(OverTime { of, order: self }, ty),
            false => Keyed::state(OverRows { of, order: self }, ty),
        }
    }
    fn sorted<S: Sorted>(self, sorted: S) -> Box<dyn State> {
        let of = OfSorted(sorted);
        match self.is_timed {
            true => Keyed::state(OverTime { of, order: self }, Type::Double),
            false => Keyed::state(OverRows { of, order: self }, Type::Double),
        }
    }
}

/// A row's value, and the place of its S among all values of that type.
#[derive(Debug, Clone)]
struct Ranked<T> {
    by: i64,
    value: Option<T>,
}

impl<T: Input> Input for Ranked<T> {
    const ARGUMENTS: usize = T::ARGUMENTS + 1;

    fn rows(args: &[&Column], vocabulary: &mut Vocabulary, to: impl Reading<Ranked<T>>) -> Result<()> {
        let column = args[T::ARGUMENTS];
        let orders = orders(column)?;
        let to = Beside(|row, value| Ranked { by: orders[row], value }, column.validity(), to);
        T::rows(&args[..T::ARGUMENTS], vocabulary, to)
    }
}

/// Whole numbers in the order of the column's values; NaN comes first.
fn orders(column: &Column) -> Result<Vec<i64>> {
    let ty = column.ty();
    let wrong = || Diagnostic::new(format!("a number or a time is wanted: parameter=`S`, type=`{ty}`"));
    if ty.is_integer() || ty.is_temporal() || ty == Type::Bool {
        return Ok(column.to_i64s().ok_or_else(wrong)?.to_vec());
    }
    let order = |value: &f64| match *value {
        value if value.is_nan() => i64::MIN,
        value => {
            // The bits of floats above 0 are in their order, those of floats below in the reverse; there is one 0.
            let bits = (value + 0.0).to_bits() as i64;
            bits ^ (((bits >> 63) as u64) >> 1) as i64
        }
    };
    Ok(column.to_f64s().ok_or_else(wrong)?.iter().map(order).collect())
}

/// The rows of one key within the window.
#[derive(Clone)]
struct Rows<T> {
    /// How many rows there have been.
    seen: i64,
    /// Where each stands, in order of arrival: its number or time, its S and its age.
    leaving: VecDeque<(i64, i64, i64)>,
    /// By S, then by age, with their values.
    sorted: Vec<(i64, i64, Option<T>)>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { seen: 0, leaving: VecDeque::new(), sorted: vec![] }
    }
}

impl<T: Wire> Wire for Rows<T> {
    fn put(&self, to: &mut Writer) {
        self.seen.put(to);
        self.leaving.put(to);
        self.sorted.put(to);
    }
    fn get(from: &mut Reader) -> Result<Rows<T>> {
        Ok(Rows { seen: Wire::get(from)?, leaving: Wire::get(from)?, sorted: Wire::get(from)? })
    }
}

impl<T> Rows<T> {
    /// Where a row of this S and age stands or would stand.
    fn place(&self, by: i64, age: i64) -> usize {
        self.sorted.partition_point(|(other, other_age, _)| (*other, *other_age) < (by, age))
    }
}

/// A statistic of the values of some rows.
trait OfValues: Clone + Send + Sync + 'static {
    type In: Input + Wire;
    type Out: Item;
    fn of(&self, rows: &[(i64, i64, Option<Self::In>)]) -> Option<Self::Out>;
}

#[derive(Clone)]
struct OfSummary<S>(S);

impl<S: Summary> OfValues for OfSummary<S> {
    type In = S::In;
    type Out = S::Out;
    fn of(&self, rows: &[(i64, i64, Option<S::In>)]) -> Option<S::Out> {
        let (mut slot, mut valid) = (S::Slot::default(), false);
        for (.., value) in rows {
            match value {
                Some(value) => {
                    valid = true;
                    self.0.add(&mut slot, value.clone());
                }
                None if S::NULLS => self.0.add_null(&mut slot),
                None => {}
            }
        }
        if valid { self.0.result(&slot) } else { None }
    }
}

#[derive(Clone)]
struct OfSorted<S>(S);

impl<S: Sorted> OfValues for OfSorted<S> {
    type In = f64;
    type Out = f64;
    fn of(&self, rows: &[(i64, i64, Option<f64>)]) -> Option<f64> {
        let mut values: Vec<f64> = rows.iter().filter_map(|(.., value)| *value).collect();
        values.sort_unstable_by(Item::order);
        self.0.of(&values[..])
    }
}

#[derive(Clone)]
struct OverRows<F> {
    of: F,
    order: Order,
}

impl<F: OfValues> Step for OverRows<F> {
    type In = Ranked<F::In>;
    type Key = Rows<F::In>;
    type Out = F::Out;
    fn step(&self, key: &mut Rows<F::In>, row: Option<Ranked<F::In>>) -> Option<F::Out> {
        self.order.push(key, key.seen + 1, row);
        self.of.of(&key.sorted[..self.order.count(key)])
    }
}

#[derive(Clone)]
struct OverTime<F> {
    of: F,
    order: Order,
}

impl<F: OfValues> Step for OverTime<F> {
    type In = Timed<Ranked<F::In>>;
    type Key = Rows<F::In>;
    type Out = F::Out;
    fn step(&self, key: &mut Rows<F::In>, row: Option<Timed<Ranked<F::In>>>) -> Option<F::Out> {
        let Timed { time, value } = row?;
        self.order.push(key, time, value);
        self.of.of(&key.sorted[..self.order.count(key)])
    }
}
