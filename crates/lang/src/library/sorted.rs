//! Statistics that need all values of their rows, sorted.

use super::item::{Item, Reader, Wire, Writer};
use crate::function::Result;

/// A statistic of sorted values.
pub(super) trait Sorted: Clone + Send + Sync + 'static {
    /// Of values from the smallest to the greatest; `None` for no value.
    fn of(&self, sorted: &(impl Values + ?Sized)) -> Option<f64>;
}

/// Values from the smallest to the greatest; NaN is the smallest.
pub(super) trait Values {
    /// How many.
    fn count(&self) -> usize;
    /// The one at this place.
    fn at(&self, place: usize) -> f64;
    /// One after another.
    fn each(&self) -> impl Iterator<Item = f64>;
}

impl Values for [f64] {
    fn count(&self) -> usize {
        self.len()
    }
    fn at(&self, place: usize) -> f64 {
        self[place]
    }
    fn each(&self) -> impl Iterator<Item = f64> {
        self.iter().copied()
    }
}

/// How many values a chunk has at most. One that is full is halved.
const CHUNK: usize = 1_024;

/// Values that come and go, in order, in chunks: a value costs a search and a move within its chunk. No chunk is empty.
#[derive(Clone, Default)]
pub(super) struct InOrder {
    chunks: Vec<Vec<f64>>,
    count: usize,
    /// Sums of the chunks' lengths by which a place is found and counted in as many steps as their number has bits (a
    /// Fenwick tree); none for a single chunk.
    sums: Vec<usize>,
}

impl Wire for InOrder {
    fn put(&self, to: &mut Writer) {
        self.each().collect::<Vec<_>>().put(to);
    }
    fn get(from: &mut Reader) -> Result<InOrder> {
        let values: Vec<f64> = Vec::get(from)?;
        let chunks = values.chunks(CHUNK / 2).map(<[f64]>::to_vec).collect();
        let mut values = InOrder { chunks, count: values.len(), sums: vec![] };
        values.sum();
        Ok(values)
    }
}

impl Values for InOrder {
    fn count(&self) -> usize {
        self.count
    }
    fn at(&self, place: usize) -> f64 {
        let (chunk, place) = self.find(place);
        self.chunks[chunk][place]
    }
    fn each(&self) -> impl Iterator<Item = f64> {
        self.chunks.iter().flatten().copied()
    }
}

/// Not where either is NaN.
#[inline(always)]
fn at_least(other: f64, value: f64) -> bool {
    other >= value
}

/// How many of sorted values are less than this one. NaN is less than all others.
#[inline(always)]
fn below(sorted: &[f64], value: f64) -> usize {
    if value.is_nan() { 0 } else { sorted.partition_point(|other| !at_least(*other, value)) }
}

impl InOrder {
    /// The chunk in which the first value stands that is not less than this one; the last one if all are less.
    #[inline(always)]
    fn chunk(&self, value: f64) -> usize {
        if self.chunks.len() < 2 || value.is_nan() {
            return 0;
        }
        let ends_below = |chunk: &Vec<f64>| !at_least(chunk[chunk.len() - 1], value);
        self.chunks.partition_point(ends_below).min(self.chunks.len() - 1)
    }

    /// Sums the chunks' lengths anew.
    fn sum(&mut self) {
        let chunks = self.chunks.len();
        self.sums.clear();
        if chunks > 1 {
            self.sums.extend(self.chunks.iter().map(Vec::len));
            for at in 1..=chunks {
                let above = at + (at & at.wrapping_neg());
                if above <= chunks {
                    self.sums[above - 1] += self.sums[at - 1];
                }
            }
        }
    }

    /// A chunk got a value more, or one less.
    #[inline(always)]
    fn grown(&mut self, chunk: usize, by: isize) {
        let mut at = chunk + 1;
        while at <= self.sums.len() {
            self.sums[at - 1] = self.sums[at - 1].wrapping_add_signed(by);
            at += at & at.wrapping_neg();
        }
    }

    /// The chunk in which a place is, and the place in it.
    #[inline(always)]
    fn find(&self, place: usize) -> (usize, usize) {
        let (mut chunk, mut rest) = (0, place);
        let mut step = self.sums.len().checked_ilog2().map_or(0, |bits| 1 << bits);
        while step > 0 {
            if chunk + step <= self.sums.len() && self.sums[chunk + step - 1] <= rest {
                rest -= self.sums[chunk + step - 1];
                chunk += step;
            }
            step /= 2;
        }
        (chunk, rest)
    }

    /// How many values stand in the chunks before this one.
    fn before(&self, chunk: usize) -> usize {
        let (mut at, mut count) = (chunk, 0);
        while at > 0 {
            count += self.sums[at - 1];
            at &= at - 1;
        }
        count
    }

    /// Puts a value into its place.
    pub fn insert(&mut self, value: f64) {
        self.count += 1;
        if self.chunks.is_empty() {
            self.chunks.push(vec![value]);
            return;
        }
        let at = self.chunk(value);
        let chunk = &mut self.chunks[at];
        chunk.insert(below(chunk, value), value);
        if chunk.len() == CHUNK {
            let upper = chunk.split_off(CHUNK / 2);
            self.chunks.insert(at + 1, upper);
            self.sum();
        } else {
            self.grown(at, 1);
        }
    }

    /// Takes one of the values that equal this one away; there must be one.
    pub fn remove(&mut self, value: f64) {
        self.count -= 1;
        let at = self.chunk(value);
        let chunk = &mut self.chunks[at];
        chunk.remove(below(chunk, value));
        if chunk.is_empty() {
            self.chunks.remove(at);
            self.sum();
        } else {
            self.grown(at, -1);
        }
    }

    /// Takes one of the values that equal `gone` away, and puts another one into its place.
    pub fn replace(&mut self, gone: f64, value: f64) {
        let at = self.chunk(gone);
        if at != self.chunk(value) {
            self.remove(gone);
            self.insert(value);
            return;
        }
        let chunk = &mut self.chunks[at];
        let (from, to) = (below(chunk, gone), below(chunk, value));
        if from < to {
            chunk.copy_within(from + 1..to, from);
            chunk[to - 1] = value;
        } else {
            chunk.copy_within(to..from, to + 1);
            chunk[to] = value;
        }
    }

    /// How many values are less than this one.
    pub fn below(&self, value: f64) -> usize {
        let at = self.chunk(value);
        self.before(at) + self.chunks.get(at).map_or(0, |chunk| below(chunk, value))
    }

    /// How many values equal this one, of which so many are less.
    pub fn equal(&self, value: f64, below: usize) -> usize {
        let (chunk, place) = self.find(below);
        let mut equal = 0;
        for (chunk, from) in self.chunks.iter().skip(chunk).zip(std::iter::once(place).chain(std::iter::repeat(0))) {
            let alike = chunk[from..].partition_point(|other| other.order(&value).is_eq());
            equal += alike;
            if from + alike < chunk.len() {
                break;
            }
        }
        equal
    }
}

/// The value in the middle, or the mean of the two there.
#[derive(Clone)]
pub(super) struct Median;

impl Sorted for Median {
    fn of(&self, sorted: &(impl Values + ?Sized)) -> Option<f64> {
        let middle = sorted.count() / 2;
        match sorted.count() {
            0 => None,
            count if count % 2 == 1 => Some(sorted.at(middle)),
            _ => Some((sorted.at(middle - 1) + sorted.at(middle)) / 2.0),
        }
    }
}

/// The value below which a part of all values lies.
#[derive(Clone)]
pub(super) struct Percentile {
    /// The part, from 0 to 1.
    pub percent: f64,
    /// What is done where the place lies between two values: a place in [`Percentile::INTERPOLATIONS`].
    pub interpolation: usize,
}

impl Percentile {
    /// The words for what is done between two values.
    pub const INTERPOLATIONS: &'static [&'static str] = &["linear", "lower", "higher", "nearest", "midpoint"];
}

impl Sorted for Percentile {
    fn of(&self, sorted: &(impl Values + ?Sized)) -> Option<f64> {
        let last = sorted.count().checked_sub(1)?;
        let place = self.percent * last as f64;
        let below = (place.floor() as usize).min(last);
        let above = (place.ceil() as usize).min(last);
        let part = place - below as f64;
        let (low, high) = (sorted.at(below), sorted.at(above));
        Some(match self.interpolation {
            _ if below == above => low,
            0 => low + (high - low) * part,
            1 => low,
            2 => high,
            3 => {
                if part <= 0.5 {
                    low
                } else {
                    high
                }
            }
            _ => (low + high) / 2.0,
        })
    }
}

/// Mean absolute deviation from the mean, or median absolute deviation from the median.
#[derive(Clone)]
pub(super) struct Deviation {
    /// By medians?
    pub median: bool,
}

impl Sorted for Deviation {
    fn of(&self, sorted: &(impl Values + ?Sized)) -> Option<f64> {
        if self.median {
            let middle = Median.of(sorted)?;
            return Median.of(&Distances::to(sorted, middle));
        }
        let count = sorted.count() as f64;
        let mean = sorted.each().sum::<f64>() / count;
        (count > 0.0).then(|| sorted.each().map(|value| (value - mean).abs()).sum::<f64>() / count)
    }
}

/// How far sorted values are from one of their range, from the nearest to the farthest: those below it, read backwards,
/// and those from it on are each in order, and what stands at a place of both is found by halving.
struct Distances<'a, V: ?Sized> {
    sorted: &'a V,
    middle: f64,
    /// How many of the values are NaN, as is the distance to each that is infinite where the middle is too.
    nan: usize,
    /// How many are below the middle, NaN too.
    below: usize,
}

impl<V: Values + ?Sized> Distances<'_, V> {
    fn to(sorted: &V, middle: f64) -> Distances<'_, V> {
        let first = |is: &dyn Fn(f64) -> bool| {
            let (mut from, mut to) = (0, sorted.count());
            while from < to {
                let half = from.midpoint(to);
                if is(sorted.at(half)) { to = half } else { from = half + 1 }
            }
            from
        };
        let nan = first(&|value| !value.is_nan());
        Distances { sorted, middle, nan, below: first(&|value| value >= middle).max(nan) }
    }

    /// The distance of the value this many places before the middle.
    fn down(&self, places: usize) -> f64 {
        self.middle - self.sorted.at(self.below - 1 - places)
    }

    /// The distance of the value this many places behind the middle.
    fn up(&self, places: usize) -> f64 {
        self.sorted.at(self.below + places) - self.middle
    }
}

impl<V: Values + ?Sized> Values for Distances<'_, V> {
    fn count(&self) -> usize {
        self.sorted.count()
    }

    fn at(&self, place: usize) -> f64 {
        let (downs, ups) = (self.below - self.nan, self.count() - self.below);
        if self.middle.is_nan() {
            return f64::NAN;
        }
        if self.middle.is_infinite() {
            // As far as can be from all others, and no distance at all to its like.
            let alike = (self.nan..self.count()).filter(|&at| self.sorted.at(at) == self.middle).count();
            return if place < self.nan + alike { f64::NAN } else { f64::INFINITY };
        }
        let Some(place) = place.checked_sub(self.nan) else { return f64::NAN };
        // How many of those below are nearer than the one at this place.
        let (mut from, mut to) = (place.saturating_sub(ups), place.min(downs));
        while from < to {
            let half = from.midpoint(to);
            if self.down(half) < self.up(place - half - 1) { from = half + 1 } else { to = half }
        }
        match (from < downs, place - from < ups) {
            (true, true) => self.down(from).min(self.up(place - from)),
            (true, false) => self.down(from),
            (false, _) => self.up(place - from),
        }
    }

    fn each(&self) -> impl Iterator<Item = f64> {
        (0..self.count()).map(|place| self.at(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_all_values_in_order() {
        const SOME: [f64; 8] = [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -3.0, 0.0, 1.0, 1.0, 2.5];
        for number in 0..8usize.pow(5) {
            let digits = std::iter::successors(Some(number), |rest| Some(rest / 8));
            let mut values: Vec<f64> = digits.take(1 + number % 5).map(|rest| SOME[rest % 8]).collect();
            values.sort_by(Item::order);
            let middle = Median.of(&values[..]).expect("there are values");
            let mut plain: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
            plain.sort_by(Item::order);
            let found: Vec<f64> = Distances::to(&values[..], middle).each().collect();
            let alike = plain.iter().zip(&found).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
            assert!(alike, "values {values:?}: found {found:?}, wanted {plain:?}");
        }
    }

    #[test]
    fn values_that_come_and_go_stay_in_order() {
        let (mut kept, mut plain): (InOrder, Vec<f64>) = (InOrder::default(), vec![]);
        let mut state = 7u64;
        let mut number = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        for turn in 0..20_000 {
            let value = match number(50) {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                _ => number(3_000) as f64 - 1_500.0,
            };
            // It grows over many chunks, and shrinks to nothing.
            let grows = number(10) < if turn < 10_000 { 7 } else { 2 };
            if grows || plain.is_empty() {
                kept.insert(value);
                plain.push(value);
            } else {
                let gone = plain.swap_remove(number(plain.len() as u64) as usize);
                if number(3) == 0 {
                    kept.replace(gone, value);
                    plain.push(value);
                } else {
                    kept.remove(gone);
                }
            }
            assert_eq!(kept.count(), plain.len());
            if turn % 50 == 0 {
                plain.sort_by(Item::order);
                let bits = |values: &mut dyn Iterator<Item = f64>| values.map(f64::to_bits).collect::<Vec<_>>();
                assert_eq!(bits(&mut kept.each()), bits(&mut plain.iter().copied()));
                let below = plain.iter().filter(|other| other.order(&value).is_lt()).count();
                let equal = plain.iter().filter(|other| other.order(&value).is_eq()).count();
                assert_eq!((kept.below(value), kept.equal(value, below)), (below, equal), "{value}");
                if let Some(place) = plain.len().checked_sub(1) {
                    assert_eq!(kept.at(place / 3).to_bits(), plain[place / 3].to_bits());
                }
            }
        }
        assert!(kept.chunks.iter().all(|chunk| !chunk.is_empty()));
    }
}
