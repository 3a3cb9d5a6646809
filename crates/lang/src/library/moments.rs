//! Summaries by moments: variance, skewness, covariance and their kin, by deviations from the mean.
//!
//! Invariants:
//! - Deviations are summed, never squares of the values, so nothing is lost where values are large and near each other.

use super::item::wire;
use super::summary::Summary;

/// Which number [`Spread`] gives.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SpreadOf {
    /// Sample variance.
    Var,
    /// Population variance.
    Varp,
    /// Sample standard deviation.
    Std,
    /// Population standard deviation.
    Stdp,
    /// Standard error of the mean.
    Sem,
}

/// Variance and its kin: count, mean and sum of squared deviations, which lose nothing where values are large and near
/// each other.
#[derive(Clone)]
pub(super) struct Spread(pub SpreadOf);

/// Count, mean, sum of squared deviations from it.
#[derive(Clone, Default)]
pub(super) struct SpreadSlot {
    n: f64,
    mean: f64,
    m2: f64,
}
wire!(SpreadSlot { n, mean, m2 });

impl Summary for Spread {
    type In = f64;
    type Slot = SpreadSlot;
    type Out = f64;
    #[inline(always)]
    fn add(&self, slot: &mut SpreadSlot, value: f64) {
        slot.n += 1.0;
        // The division waits for no row before.
        let (part, delta) = (1.0 / slot.n, value - slot.mean);
        slot.mean += delta * part;
        slot.m2 += delta * (value - slot.mean);
    }
    #[inline(always)]
    fn merge(&self, into: &mut SpreadSlot, from: &SpreadSlot) {
        let n = into.n + from.n;
        let part = if n == 0.0 { 0.0 } else { from.n / n };
        let delta = from.mean - into.mean;
        // The square of a great number is infinite, also where it has no weight.
        let between = if into.n * from.n == 0.0 { 0.0 } else { delta * delta * into.n * part };
        into.m2 += from.m2 + between;
        into.mean += delta * part;
        into.n = n;
    }
    #[inline(always)]
    fn result(&self, slot: &SpreadSlot) -> Option<f64> {
        use SpreadOf as S;
        let rows_min = if matches!(self.0, S::Varp | S::Stdp) { 1.0 } else { 2.0 };
        (slot.n >= rows_min).then(|| match self.0 {
            S::Var => slot.m2 / (slot.n - 1.0),
            S::Varp => slot.m2 / slot.n,
            S::Std => (slot.m2 / (slot.n - 1.0)).sqrt(),
            S::Stdp => (slot.m2 / slot.n).sqrt(),
            S::Sem => (slot.m2 / (slot.n - 1.0) / slot.n).sqrt(),
        })
    }
}

/// Skewness or kurtosis, by the first four central moments.
#[derive(Clone)]
pub(super) struct Shape {
    /// Kurtosis rather than skewness?
    pub kurtosis: bool,
    /// The plain moment ratio rather than the one corrected for the size of the sample?
    pub biased: bool,
}

/// Count, mean, sums of the second to fourth powers of deviations from it.
#[derive(Clone, Default)]
pub(super) struct ShapeSlot {
    n: f64,
    mean: f64,
    m2: f64,
    m3: f64,
    m4: f64,
}
wire!(ShapeSlot { n, mean, m2, m3, m4 });

impl Summary for Shape {
    type In = f64;
    type Slot = ShapeSlot;
    type Out = f64;
    #[inline(always)]
    fn add(&self, slot: &mut ShapeSlot, value: f64) {
        // What `merge` comes to for one more value.
        let before = slot.n;
        slot.n += 1.0;
        let delta = value - slot.mean;
        let per = delta * (1.0 / slot.n);
        let square = delta * per * before;
        slot.mean += per;
        slot.m4 += per * (square * per * (slot.n * slot.n - 3.0 * slot.n + 3.0) + 6.0 * per * slot.m2 - 4.0 * slot.m3);
        slot.m3 += per * (square * (slot.n - 2.0) - 3.0 * slot.m2);
        slot.m2 += square;
    }
    #[inline(always)]
    fn merge(&self, into: &mut ShapeSlot, from: &ShapeSlot) {
        let (a, b) = (into.clone(), from);
        let n = a.n + b.n;
        let delta = b.mean - a.mean;
        let per = if n == 0.0 { 0.0 } else { delta / n };
        // Powers of a great number are infinite, also where they have no weight.
        let none = a.n * b.n == 0.0;
        let between = |term: f64| if none { 0.0 } else { term };
        into.n = n;
        into.mean = if a.n == 0.0 { b.mean } else { a.mean + per * b.n };
        into.m2 = a.m2 + b.m2 + between(delta * per * a.n * b.n);
        into.m3 =
            a.m3 + b.m3 + between(delta * per * per * a.n * b.n * (a.n - b.n) + 3.0 * per * (a.n * b.m2 - b.n * a.m2));
        into.m4 = a.m4
            + b.m4
            + between(
                delta * per * per * per * a.n * b.n * (a.n * a.n - a.n * b.n + b.n * b.n)
                    + 6.0 * per * per * (a.n * a.n * b.m2 + b.n * b.n * a.m2)
                    + 4.0 * per * (a.n * b.m3 - b.n * a.m3),
            );
    }
    #[inline(always)]
    fn result(&self, slot: &ShapeSlot) -> Option<f64> {
        let n = slot.n;
        let variance = slot.m2 / n;
        if n < 2.0 || variance < 1e-14 {
            return None;
        }
        if self.kurtosis {
            if n < 3.0 {
                return None;
            }
            let plain = slot.m4 / (slot.m2 * variance);
            if self.biased {
                return Some(plain);
            }
            (n > 3.0).then(|| (n - 1.0) / ((n - 2.0) * (n - 3.0)) * ((n + 1.0) * plain - 3.0 * (n - 1.0)) + 3.0)
        } else {
            let plain = slot.m3 / (slot.m2 * variance.sqrt());
            if self.biased {
                return Some(plain);
            }
            (n > 2.0).then(|| plain * (n * (n - 1.0)).sqrt() / (n - 2.0))
        }
    }
}

/// Which number [`Joint`] gives.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum JointOf {
    /// Sample covariance.
    Covar,
    /// Population covariance.
    Covarp,
    /// Correlation.
    Corr,
    /// Slope of the first on the second.
    Beta,
    /// Intercept of the first on the second.
    Intercept,
    /// Mean squared error of the first on the second.
    Error,
}

/// Covariance and its kin.
#[derive(Clone)]
pub(super) struct Joint(pub JointOf);

/// Count, means, sums of squared deviations and of their products.
#[derive(Clone, Default)]
pub(super) struct JointSlot {
    n: f64,
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}
wire!(JointSlot { n, mean_x, mean_y, xx, yy, xy });

impl Summary for Joint {
    type In = (f64, f64);
    type Slot = JointSlot;
    type Out = f64;
    #[inline(always)]
    fn add(&self, slot: &mut JointSlot, (x, y): (f64, f64)) {
        slot.n += 1.0;
        let part = 1.0 / slot.n;
        let (dx, dy) = (x - slot.mean_x, y - slot.mean_y);
        slot.mean_x += dx * part;
        slot.mean_y += dy * part;
        slot.xx += dx * (x - slot.mean_x);
        slot.yy += dy * (y - slot.mean_y);
        slot.xy += dx * (y - slot.mean_y);
    }
    #[inline(always)]
    fn merge(&self, into: &mut JointSlot, from: &JointSlot) {
        if into.n == 0.0 || from.n == 0.0 {
            if into.n == 0.0 {
                into.clone_from(from);
            }
            return;
        }
        let n = into.n + from.n;
        let (dx, dy) = (from.mean_x - into.mean_x, from.mean_y - into.mean_y);
        let part = from.n / n;
        let weight = into.n * part;
        into.xx += from.xx + dx * dx * weight;
        into.yy += from.yy + dy * dy * weight;
        into.xy += from.xy + dx * dy * weight;
        into.mean_x += dx * part;
        into.mean_y += dy * part;
        into.n = n;
    }
    #[inline(always)]
    fn result(&self, slot: &JointSlot) -> Option<f64> {
        let n = slot.n;
        match self.0 {
            JointOf::Covarp => (n >= 1.0).then(|| slot.xy / n),
            _ if n < 2.0 => None,
            JointOf::Covar => Some(slot.xy / (n - 1.0)),
            JointOf::Corr => {
                let flat = slot.xx / (n - 1.0) < 1e-12 || slot.yy / (n - 1.0) < 1e-12;
                // Of a column with itself the root of the product is exact; of a product out of range it is not.
                let product = slot.xx * slot.yy;
                let root = if product.is_normal() { product.sqrt() } else { slot.xx.sqrt() * slot.yy.sqrt() };
                (!flat).then(|| (slot.xy / root).clamp(-1.0, 1.0))
            }
            _ if slot.yy == 0.0 => None,
            JointOf::Beta => Some(slot.xy / slot.yy),
            JointOf::Intercept => Some(slot.mean_x - slot.xy / slot.yy * slot.mean_y),
            JointOf::Error => {
                let left = slot.xx - slot.xy / slot.yy * slot.xy;
                // Rounding must not make it negative.
                Some(if left < 0.0 { 0.0 } else { left / n })
            }
        }
    }
}

/// The line through values at 0, 1, 2 …, of which some may be NULL.
#[derive(Clone)]
pub(super) struct Line {
    /// Its slope rather than its value at 0?
    pub slope: bool,
}

/// How many rows and values, the means of places and values, sums of squared deviations of places and of products.
#[derive(Clone, Default)]
pub(super) struct LineSlot {
    rows: f64,
    n: f64,
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    xy: f64,
}
wire!(LineSlot { rows, n, mean_x, mean_y, xx, xy });

impl Summary for Line {
    type In = f64;
    type Slot = LineSlot;
    type Out = f64;
    const NULLS: bool = true;
    #[inline(always)]
    fn add(&self, slot: &mut LineSlot, value: f64) {
        slot.n += 1.0;
        let part = 1.0 / slot.n;
        let (dx, dy) = (slot.rows - slot.mean_x, value - slot.mean_y);
        slot.mean_x += dx * part;
        slot.mean_y += dy * part;
        slot.xx += dx * (slot.rows - slot.mean_x);
        slot.xy += dx * (value - slot.mean_y);
        slot.rows += 1.0;
    }
    fn add_null(&self, slot: &mut LineSlot) {
        slot.rows += 1.0;
    }
    #[inline(always)]
    fn merge(&self, into: &mut LineSlot, from: &LineSlot) {
        if from.n > 0.0 {
            // The places of the later rows go on behind the earlier ones.
            let n = into.n + from.n;
            let (dx, dy) = (into.rows + from.mean_x - into.mean_x, from.mean_y - into.mean_y);
            let part = from.n / n;
            let weight = into.n * part;
            into.xx += from.xx + dx * dx * weight;
            into.xy += from.xy + dx * dy * weight;
            into.mean_x += dx * part;
            into.mean_y += dy * part;
            into.n = n;
        }
        into.rows += from.rows;
    }
    #[inline(always)]
    fn result(&self, slot: &LineSlot) -> Option<f64> {
        let slope = slot.xy / slot.xx;
        (slot.n >= 2.0).then_some(if self.slope { slope } else { slot.mean_y - slope * slot.mean_x })
    }
}

/// The mean of values weighted 1, 2, 3 …, without the weights of NULLs.
#[derive(Clone)]
pub(super) struct Rising;

/// How many rows and values, the sum of the values' weights, that of the values, that of the weighted values.
#[derive(Clone, Default)]
pub(super) struct RisingSlot {
    rows: f64,
    n: f64,
    weights: f64,
    sum: f64,
    weighted: f64,
}
wire!(RisingSlot { rows, n, weights, sum, weighted });

impl Summary for Rising {
    type In = f64;
    type Slot = RisingSlot;
    type Out = f64;
    const NULLS: bool = true;
    #[inline(always)]
    fn add(&self, slot: &mut RisingSlot, value: f64) {
        slot.rows += 1.0;
        slot.n += 1.0;
        slot.weights += slot.rows;
        slot.sum += value;
        slot.weighted += slot.rows * value;
    }
    fn add_null(&self, slot: &mut RisingSlot) {
        slot.rows += 1.0;
    }
    #[inline(always)]
    fn merge(&self, into: &mut RisingSlot, from: &RisingSlot) {
        // Weights of the later rows go on behind those of the earlier ones.
        into.weights += from.weights + into.rows * from.n;
        into.weighted += from.weighted;
        if into.rows > 0.0 {
            into.weighted += into.rows * from.sum;
        }
        into.sum += from.sum;
        into.n += from.n;
        into.rows += from.rows;
    }
    #[inline(always)]
    fn result(&self, slot: &RisingSlot) -> Option<f64> {
        (slot.n > 0.0).then(|| slot.weighted / slot.weights)
    }
}

/// The sum or mean of the first value weighted by the second.
#[derive(Clone)]
pub(super) struct Weighted {
    /// The mean rather than the sum?
    pub mean: bool,
}

impl Summary for Weighted {
    type In = (f64, f64);
    type Slot = (f64, f64, bool);
    type Out = f64;
    #[inline(always)]
    fn add(&self, slot: &mut Self::Slot, (value, weight): (f64, f64)) {
        *slot = (slot.0 + value * weight, slot.1 + weight, true);
    }
    #[inline(always)]
    fn merge(&self, into: &mut Self::Slot, from: &Self::Slot) {
        if from.2 {
            *into = (into.0 + from.0, into.1 + from.1, true);
        }
    }
    #[inline(always)]
    fn result(&self, slot: &Self::Slot) -> Option<f64> {
        match self.mean {
            true => (slot.2 && slot.1 != 0.0).then(|| slot.0 / slot.1),
            false => slot.2.then_some(slot.0),
        }
    }
}
