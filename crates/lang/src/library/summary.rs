//! Summaries: what a stretch of rows comes to, in a form that the summary of the next stretch can be added to.
//!
//! One summary is an aggregate (a slot per group), a cumulative function (a slot per key that is never emptied) and a
//! moving one (the summary of a window put together from two stretches), so the three cannot differ.
//!
//! Invariants:
//! - `merge` gives what adding the other's rows one after another would give, up to the rounding of floats.
//! - Rows are added strictly in order, so nothing depends on how they were cut into batches.

use super::item::{Input, Item, Wire, wire};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// One kind of summary.
pub(super) trait Summary: Clone + Send + Sync + 'static {
    /// What it takes from a row.
    type In: Input + Wire;
    /// The summary of some rows; its default is that of no row.
    type Slot: Clone + Default + Wire + Send + Sync + 'static;
    /// What it comes to.
    type Out: Item;
    /// Does a NULL row count, for instance because places are given back?
    const NULLS: bool = false;
    /// Does a summary take room for each row, or for each of their values?
    const GROWS: bool = false;

    /// Adds a row with a value.
    fn add(&self, slot: &mut Self::Slot, value: Self::In);
    /// Adds a row without a value; called if `NULLS` says so.
    fn add_null(&self, _: &mut Self::Slot) {}
    /// Adds the rows of a later stretch.
    fn merge(&self, into: &mut Self::Slot, from: &Self::Slot);
    /// What the rows come to.
    fn result(&self, slot: &Self::Slot) -> Option<Self::Out>;
}

/// How many values.
#[derive(Clone)]
pub(super) struct Count;

impl Summary for Count {
    type In = ();
    type Slot = i64;
    type Out = i64;
    #[inline(always)]
    fn add(&self, slot: &mut i64, _: ()) {
        *slot += 1;
    }
    #[inline(always)]
    fn merge(&self, into: &mut i64, from: &i64) {
        *into += from;
    }
    #[inline(always)]
    fn result(&self, slot: &i64) -> Option<i64> {
        Some(*slot)
    }
}

/// How many rows, NULL or not.
#[derive(Clone)]
pub(super) struct Size;

impl Summary for Size {
    type In = ();
    type Slot = i64;
    type Out = i64;
    const NULLS: bool = true;
    fn add(&self, slot: &mut i64, _: ()) {
        *slot += 1;
    }
    fn add_null(&self, slot: &mut i64) {
        *slot += 1;
    }
    #[inline(always)]
    fn merge(&self, into: &mut i64, from: &i64) {
        *into += from;
    }
    #[inline(always)]
    fn result(&self, slot: &i64) -> Option<i64> {
        Some(*slot)
    }
}

/// The sum of the values.
#[derive(Clone)]
pub(super) struct Sum<T>(std::marker::PhantomData<T>);

impl<T> Sum<T> {
    /// The sum.
    pub fn new() -> Sum<T> {
        Sum(std::marker::PhantomData)
    }
}

/// Sums with a way to add: whole numbers go round at the end of their range, as the language's do.
pub(super) trait Addable: Item {
    /// The sum of two.
    fn plus(self, other: Self) -> Self;
}

impl Addable for f64 {
    #[inline(always)]
    fn plus(self, other: f64) -> f64 {
        self + other
    }
}

impl Addable for i64 {
    #[inline(always)]
    fn plus(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }
}

impl Addable for i128 {
    #[inline(always)]
    fn plus(self, other: i128) -> i128 {
        self.wrapping_add(other)
    }
}

impl<T: Addable + Copy> Summary for Sum<T> {
    type In = T;
    type Slot = (T, bool);
    type Out = T;
    #[inline(always)]
    fn add(&self, slot: &mut (T, bool), value: T) {
        *slot = (slot.0.plus(value), true);
    }
    #[inline(always)]
    fn merge(&self, into: &mut (T, bool), from: &(T, bool)) {
        *into = (into.0.plus(from.0), into.1 | from.1);
    }
    #[inline(always)]
    fn result(&self, slot: &(T, bool)) -> Option<T> {
        slot.1.then_some(slot.0)
    }
}

/// The sum of the values raised to a power.
#[derive(Clone)]
pub(super) struct PowerSum(pub i32);

impl Summary for PowerSum {
    type In = f64;
    type Slot = (f64, bool);
    type Out = f64;
    #[inline(always)]
    fn add(&self, slot: &mut (f64, bool), value: f64) {
        *slot = (slot.0 + value.powi(self.0), true);
    }
    #[inline(always)]
    fn merge(&self, into: &mut (f64, bool), from: &(f64, bool)) {
        *into = (into.0 + from.0, into.1 | from.1);
    }
    #[inline(always)]
    fn result(&self, slot: &(f64, bool)) -> Option<f64> {
        slot.1.then_some(slot.0)
    }
}

/// The product of the values.
#[derive(Clone)]
pub(super) struct Product;

impl Summary for Product {
    type In = f64;
    type Slot = Option<f64>;
    type Out = f64;
    #[inline(always)]
    fn add(&self, slot: &mut Option<f64>, value: f64) {
        *slot = Some(slot.map_or(value, |product| product * value));
    }
    #[inline(always)]
    fn merge(&self, into: &mut Option<f64>, from: &Option<f64>) {
        if let Some(value) = from {
            self.add(into, *value);
        }
    }
    #[inline(always)]
    fn result(&self, slot: &Option<f64>) -> Option<f64> {
        *slot
    }
}

/// The mean of the values.
#[derive(Clone)]
pub(super) struct Mean;

impl Summary for Mean {
    type In = f64;
    type Slot = (f64, i64);
    type Out = f64;
    #[inline(always)]
    fn add(&self, slot: &mut (f64, i64), value: f64) {
        *slot = (slot.0 + value, slot.1 + 1);
    }
    #[inline(always)]
    fn merge(&self, into: &mut (f64, i64), from: &(f64, i64)) {
        *into = (into.0 + from.0, into.1 + from.1);
    }
    #[inline(always)]
    fn result(&self, slot: &(f64, i64)) -> Option<f64> {
        (slot.1 > 0).then(|| slot.0 / slot.1 as f64)
    }
}

/// The smallest or the greatest value.
#[derive(Clone)]
pub(super) struct Extreme<T, const GREATEST: bool>(std::marker::PhantomData<T>);

impl<T, const GREATEST: bool> Extreme<T, GREATEST> {
    const WANTED: Ordering = if GREATEST { Ordering::Greater } else { Ordering::Less };

    /// The value that stands so to all others.
    pub fn new() -> Extreme<T, GREATEST> {
        Extreme(std::marker::PhantomData)
    }
}

impl<T: Item, const GREATEST: bool> Summary for Extreme<T, GREATEST> {
    type In = T;
    type Slot = Option<T>;
    type Out = T;
    #[inline(always)]
    fn add(&self, slot: &mut Option<T>, value: T) {
        match slot {
            Some(best) if !value.stands(Self::WANTED, best) => {}
            _ => *slot = Some(value),
        }
    }
    #[inline(always)]
    fn merge(&self, into: &mut Option<T>, from: &Option<T>) {
        if let Some(value) = from {
            self.add(into, value.clone());
        }
    }
    #[inline(always)]
    fn result(&self, slot: &Option<T>) -> Option<T> {
        slot.clone()
    }
}

/// The place of the smallest or the greatest value among the rows, NULL rows counted; the first or the last such.
#[derive(Clone)]
pub(super) struct ExtremePlace {
    /// How the value stands to all others.
    pub wanted: Ordering,
    /// The last place where it occurs?
    pub last: bool,
}

impl ExtremePlace {
    fn better(&self, value: f64, than: f64) -> bool {
        let order = value.order(&than);
        order == self.wanted || self.last && order == Ordering::Equal
    }
}

impl Summary for ExtremePlace {
    type In = f64;
    type Slot = (i64, Option<(f64, i64)>);
    type Out = i64;
    const NULLS: bool = true;
    #[inline(always)]
    fn add(&self, slot: &mut Self::Slot, value: f64) {
        if slot.1.is_none_or(|(best, _)| self.better(value, best)) {
            slot.1 = Some((value, slot.0));
        }
        slot.0 += 1;
    }
    fn add_null(&self, slot: &mut Self::Slot) {
        slot.0 += 1;
    }
    fn merge(&self, into: &mut Self::Slot, from: &Self::Slot) {
        if let Some((value, place)) = from.1
            && into.1.is_none_or(|(best, _)| self.better(value, best))
        {
            into.1 = Some((value, into.0 + place));
        }
        into.0 += from.0;
    }
    fn result(&self, slot: &Self::Slot) -> Option<i64> {
        Some(slot.1.map_or(-1, |(_, place)| place))
    }
}

/// The second value of the row where the first one is smallest or greatest.
#[derive(Clone)]
pub(super) struct AtExtreme(pub Ordering);

impl Summary for AtExtreme {
    type In = (f64, f64);
    type Slot = Option<(f64, f64)>;
    type Out = f64;
    fn add(&self, slot: &mut Self::Slot, value: (f64, f64)) {
        if slot.is_none_or(|best| value.0.stands(self.0, &best.0)) {
            *slot = Some(value);
        }
    }
    fn merge(&self, into: &mut Self::Slot, from: &Self::Slot) {
        if let Some(value) = from {
            self.add(into, *value);
        }
    }
    fn result(&self, slot: &Self::Slot) -> Option<f64> {
        slot.map(|(_, at)| at)
    }
}

/// The first or the last row's value, NULL or not.
#[derive(Clone)]
pub(super) struct End<T, const LAST: bool>(std::marker::PhantomData<T>);

impl<T, const LAST: bool> End<T, LAST> {
    /// The first or the last.
    pub fn new() -> End<T, LAST> {
        End(std::marker::PhantomData)
    }
}

impl<T: Item, const LAST: bool> Summary for End<T, LAST> {
    type In = T;
    type Slot = Option<Option<T>>;
    type Out = T;
    const NULLS: bool = true;
    #[inline(always)]
    fn add(&self, slot: &mut Self::Slot, value: T) {
        if LAST || slot.is_none() {
            *slot = Some(Some(value));
        }
    }
    #[inline(always)]
    fn add_null(&self, slot: &mut Self::Slot) {
        if LAST || slot.is_none() {
            *slot = Some(None);
        }
    }
    #[inline(always)]
    fn merge(&self, into: &mut Self::Slot, from: &Self::Slot) {
        if from.is_some() && (LAST || into.is_none()) {
            into.clone_from(from);
        }
    }
    #[inline(always)]
    fn result(&self, slot: &Self::Slot) -> Option<T> {
        slot.clone().flatten()
    }
}

/// The first or the last value that is neither NULL nor a given one.
#[derive(Clone)]
pub(super) struct EndValue<T> {
    /// The last rather than the first?
    pub last: bool,
    /// A value to pass over.
    pub except: Option<T>,
}

impl<T: Item> Summary for EndValue<T> {
    type In = T;
    type Slot = Option<T>;
    type Out = T;
    #[inline(always)]
    fn add(&self, slot: &mut Option<T>, value: T) {
        if (self.last || slot.is_none()) && self.except.as_ref() != Some(&value) {
            *slot = Some(value);
        }
    }
    fn merge(&self, into: &mut Option<T>, from: &Option<T>) {
        if from.is_some() && (self.last || into.is_none()) {
            into.clone_from(from);
        }
    }
    fn result(&self, slot: &Option<T>) -> Option<T> {
        slot.clone()
    }
}

/// Is there a NULL?
#[derive(Clone)]
pub(super) struct AnyNull;

impl Summary for AnyNull {
    type In = ();
    type Slot = bool;
    type Out = i64;
    const NULLS: bool = true;
    fn add(&self, _: &mut bool, _: ()) {}
    fn add_null(&self, slot: &mut bool) {
        *slot = true;
    }
    fn merge(&self, into: &mut bool, from: &bool) {
        *into |= from;
    }
    fn result(&self, slot: &bool) -> Option<i64> {
        Some(*slot as i64)
    }
}

/// The place of the first or the last value among the rows; -1 where there is none.
#[derive(Clone)]
pub(super) struct EndPlace {
    /// The last rather than the first?
    pub last: bool,
}

impl Summary for EndPlace {
    type In = ();
    type Slot = (i64, Option<i64>);
    type Out = i64;
    const NULLS: bool = true;
    fn add(&self, slot: &mut Self::Slot, _: ()) {
        if self.last || slot.1.is_none() {
            slot.1 = Some(slot.0);
        }
        slot.0 += 1;
    }
    fn add_null(&self, slot: &mut Self::Slot) {
        slot.0 += 1;
    }
    fn merge(&self, into: &mut Self::Slot, from: &Self::Slot) {
        if let Some(place) = from.1
            && (self.last || into.1.is_none())
        {
            into.1 = Some(into.0 + place);
        }
        into.0 += from.0;
    }
    fn result(&self, slot: &Self::Slot) -> Option<i64> {
        Some(slot.1.unwrap_or(-1))
    }
}

/// How far two vectors are apart: by Euclid, or by Tanimoto (1 less the part they share).
#[derive(Clone)]
pub(super) struct Distance {
    /// By Tanimoto?
    pub tanimoto: bool,
}

impl Summary for Distance {
    type In = (f64, f64);
    /// Sums of squares of the first, of the second, of their differences.
    type Slot = Option<(f64, f64, f64)>;
    type Out = f64;
    fn add(&self, slot: &mut Self::Slot, (x, y): (f64, f64)) {
        let (xx, yy, dd) = slot.unwrap_or_default();
        *slot = Some((xx + x * x, yy + y * y, dd + (x - y) * (x - y)));
    }
    fn merge(&self, into: &mut Self::Slot, from: &Self::Slot) {
        if let Some((xx, yy, dd)) = from {
            let (own_xx, own_yy, own_dd) = into.unwrap_or_default();
            *into = Some((own_xx + xx, own_yy + yy, own_dd + dd));
        }
    }
    fn result(&self, slot: &Self::Slot) -> Option<f64> {
        slot.map(|(xx, yy, dd)| {
            let shared = (xx + yy - dd) / 2.0;
            if self.tanimoto { 1.0 - shared / (xx + yy - shared) } else { dd.sqrt() }
        })
    }
}

/// The greatest fall from a peak to a later value, as a part of the peak or as a difference.
#[derive(Clone)]
pub(super) struct Drawdown {
    /// As a part of the peak?
    pub ratio: bool,
}

/// Greatest and smallest value, and the greatest fall.
#[derive(Clone, Default)]
pub(super) struct DrawdownSlot {
    range: Option<(f64, f64)>,
    fall: f64,
}
wire!(DrawdownSlot { range, fall });

impl Drawdown {
    fn fall(&self, peak: f64, value: f64) -> f64 {
        if self.ratio { (peak - value) / peak } else { peak - value }
    }
}

impl Summary for Drawdown {
    type In = f64;
    type Slot = DrawdownSlot;
    type Out = f64;
    fn add(&self, slot: &mut DrawdownSlot, value: f64) {
        self.merge(slot, &DrawdownSlot { range: Some((value, value)), fall: 0.0 });
    }
    fn merge(&self, into: &mut DrawdownSlot, from: &DrawdownSlot) {
        into.range = match (into.range, from.range) {
            (Some((peak, low)), Some((later_peak, later_low))) => {
                into.fall = into.fall.max(from.fall).max(self.fall(peak, later_low));
                Some((peak.max(later_peak), low.min(later_low)))
            }
            (range, None) => range,
            (None, range) => {
                into.fall = from.fall;
                range
            }
        };
    }
    fn result(&self, slot: &DrawdownSlot) -> Option<f64> {
        slot.range.map(|_| slot.fall)
    }
}

/// The greatest sum of positive values that follow one another.
#[derive(Clone)]
pub(super) struct BestStreak<T>(std::marker::PhantomData<T>);

impl<T> BestStreak<T> {
    /// The greatest such sum.
    pub fn new() -> BestStreak<T> {
        BestStreak(std::marker::PhantomData)
    }
}

/// The sums of the positive values at the start of the rows, at their end and at best; `broken` if not all rows are
/// positive.
#[derive(Clone, Default)]
pub(super) struct StreakSlot<T> {
    head: T,
    tail: T,
    best: T,
    broken: bool,
}
wire!(StreakSlot<T> { head, tail, best, broken });

impl<T: Item> StreakSlot<T> {
    fn note(&mut self, streak: T) {
        if streak.order(&self.best).is_gt() {
            self.best = streak;
        }
    }
}

impl<T: Addable + Copy> Summary for BestStreak<T> {
    type In = T;
    type Slot = StreakSlot<T>;
    type Out = T;
    const NULLS: bool = true;
    fn add(&self, slot: &mut StreakSlot<T>, value: T) {
        if !value.order(&T::default()).is_gt() {
            return self.add_null(slot);
        }
        slot.tail = slot.tail.plus(value);
        slot.note(slot.tail);
        if !slot.broken {
            slot.head = slot.tail;
        }
    }
    fn add_null(&self, slot: &mut StreakSlot<T>) {
        slot.tail = T::default();
        slot.broken = true;
    }
    fn merge(&self, into: &mut StreakSlot<T>, from: &StreakSlot<T>) {
        into.note(from.best);
        into.note(into.tail.plus(from.head));
        if !into.broken {
            into.head = into.head.plus(from.head);
        }
        into.tail = if from.broken { from.tail } else { into.tail.plus(from.tail) };
        into.broken |= from.broken;
    }
    fn result(&self, slot: &StreakSlot<T>) -> Option<T> {
        Some(slot.best)
    }
}

/// A value as a key of an ordered map.
#[derive(Clone, PartialEq)]
pub(super) struct Key<T>(T);

impl<T: Item> Eq for Key<T> {}

impl<T: Item> Ord for Key<T> {
    fn cmp(&self, other: &Key<T>) -> Ordering {
        self.0.order(&other.0)
    }
}

impl<T: Item> PartialOrd for Key<T> {
    fn partial_cmp(&self, other: &Key<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// How often each value occurs, and NULL.
#[derive(Clone)]
pub(super) struct TallySlot<T> {
    counts: BTreeMap<Key<T>, i64>,
    nulls: i64,
}

impl<T> Default for TallySlot<T> {
    fn default() -> TallySlot<T> {
        TallySlot { counts: BTreeMap::new(), nulls: 0 }
    }
}

impl<T: Item> Wire for TallySlot<T> {
    fn put(&self, to: &mut super::item::Writer) {
        let counts: Vec<(T, i64)> = self.counts.iter().map(|(key, count)| (key.0.clone(), *count)).collect();
        (counts, self.nulls).put(to);
    }
    fn get(from: &mut super::item::Reader) -> crate::function::Result<TallySlot<T>> {
        let (counts, nulls) = <(Vec<(T, i64)>, i64)>::get(from)?;
        Ok(TallySlot { counts: counts.into_iter().map(|(value, count)| (Key(value), count)).collect(), nulls })
    }
}

impl<T: Item> TallySlot<T> {
    fn merge(&mut self, from: &TallySlot<T>) {
        for (key, count) in &from.counts {
            *self.counts.entry(key.clone()).or_default() += count;
        }
        self.nulls += from.nulls;
    }
}

/// How many different values.
#[derive(Clone)]
pub(super) struct Distinct<T> {
    ignore_null: bool,
    class: std::marker::PhantomData<T>,
}

impl<T> Distinct<T> {
    /// NULL counts as a value unless it is ignored.
    pub fn new(ignore_null: bool) -> Distinct<T> {
        Distinct { ignore_null, class: std::marker::PhantomData }
    }
}

impl<T: Item> Summary for Distinct<T> {
    type In = T;
    type Slot = TallySlot<T>;
    type Out = i64;
    const GROWS: bool = true;
    const NULLS: bool = true;
    fn add(&self, slot: &mut TallySlot<T>, value: T) {
        *slot.counts.entry(Key(value)).or_default() += 1;
    }
    fn add_null(&self, slot: &mut TallySlot<T>) {
        slot.nulls += 1;
    }
    fn merge(&self, into: &mut TallySlot<T>, from: &TallySlot<T>) {
        into.merge(from);
    }
    fn result(&self, slot: &TallySlot<T>) -> Option<i64> {
        Some(slot.counts.len() as i64 + (slot.nulls > 0 && !self.ignore_null) as i64)
    }
}

/// The smallest value, the second smallest and so on.
#[derive(Clone)]
pub(super) struct Smallest<T> {
    place: usize,
    class: std::marker::PhantomData<T>,
}

impl<T> Smallest<T> {
    /// The value at this place of all in order, from 0.
    pub fn new(place: usize) -> Smallest<T> {
        Smallest { place, class: std::marker::PhantomData }
    }
}

impl<T: Item> Summary for Smallest<T> {
    type In = T;
    type Slot = Vec<T>;
    type Out = T;
    const GROWS: bool = true;
    fn add(&self, slot: &mut Vec<T>, value: T) {
        slot.push(value);
    }
    fn merge(&self, into: &mut Vec<T>, from: &Vec<T>) {
        into.extend_from_slice(from);
    }
    fn result(&self, slot: &Vec<T>) -> Option<T> {
        (self.place < slot.len()).then(|| slot.clone().select_nth_unstable_by(self.place, Item::order).1.clone())
    }
}

/// The value that occurs most often; the smallest of several.
#[derive(Clone)]
pub(super) struct Mode<T>(std::marker::PhantomData<T>);

impl<T> Mode<T> {
    /// The mode.
    pub fn new() -> Mode<T> {
        Mode(std::marker::PhantomData)
    }
}

impl<T: Item> Summary for Mode<T> {
    type In = T;
    type Slot = TallySlot<T>;
    type Out = T;
    const GROWS: bool = true;
    fn add(&self, slot: &mut TallySlot<T>, value: T) {
        *slot.counts.entry(Key(value)).or_default() += 1;
    }
    fn merge(&self, into: &mut TallySlot<T>, from: &TallySlot<T>) {
        into.merge(from);
    }
    fn result(&self, slot: &TallySlot<T>) -> Option<T> {
        let most = slot.counts.values().max()?;
        slot.counts.iter().find(|(_, count)| *count == most).map(|(key, _)| key.0.clone())
    }
}
