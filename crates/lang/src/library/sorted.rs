//! Statistics that need all values of their rows, sorted.

use super::item::Item;

/// A statistic of sorted values.
pub(super) trait Sorted: Clone + Send + Sync + 'static {
    /// Of values from the smallest to the greatest; `None` for no value.
    fn of(&self, sorted: &[f64]) -> Option<f64>;
}

/// Puts a value into its place.
pub(super) fn insert(sorted: &mut Vec<f64>, value: f64) {
    let place = sorted.partition_point(|other| other.order(&value).is_le());
    sorted.insert(place, value);
}

/// Takes one of the values that equal this one away.
pub(super) fn remove(sorted: &mut Vec<f64>, value: f64) {
    let place = sorted.partition_point(|other| other.order(&value).is_lt());
    sorted.remove(place);
}

/// The value in the middle, or the mean of the two there.
#[derive(Clone)]
pub(super) struct Median;

impl Sorted for Median {
    fn of(&self, sorted: &[f64]) -> Option<f64> {
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => None,
            count if count % 2 == 1 => Some(sorted[middle]),
            _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
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
    fn of(&self, sorted: &[f64]) -> Option<f64> {
        let last = sorted.len().checked_sub(1)?;
        let place = self.percent * last as f64;
        let below = (place.floor() as usize).min(last);
        let above = (place.ceil() as usize).min(last);
        let part = place - below as f64;
        let (low, high) = (sorted[below], sorted[above]);
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
    fn of(&self, sorted: &[f64]) -> Option<f64> {
        if self.median {
            let middle = Median.of(sorted)?;
            let mut far: Vec<f64> = sorted.iter().map(|value| (value - middle).abs()).collect();
            far.sort_unstable_by(Item::order);
            return Median.of(&far);
        }
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        (count > 0.0).then(|| sorted.iter().map(|value| (value - mean).abs()).sum::<f64>() / count)
    }
}
