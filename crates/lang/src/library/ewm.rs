//! Exponentially weighted functions: over all rows of a key so far, those further back with less weight.
//!
//! Invariants:
//! - Weights are kept in relation to one another, so that they neither grow nor vanish as rows go by.
//! - Deviations from the mean are summed, never squares of the values.

use super::entry::state;
use super::item::wire;
use super::keyed::{Keyed, Step, refuse};
use super::settings::{flag, need_number, number, whole};
use crate::function::{Argument, Function, Result, State};
use data::Type;

const SPREAD: &str =
    "X, [com], [span], [halfLife], [alpha], [minPeriods=0], [adjust=true], [ignoreNA=false], [bias=false]";

pub(super) static FUNCTIONS: &[Function] = &[
    state(
        "ewmMean",
        "X, [com], [span], [halfLife], [alpha], [minPeriods=0], [adjust=true], [ignoreNA=false]",
        "The exponentially weighted mean. Exactly one of `com`, `span`, `halfLife` and `alpha` says how fast weights \
         fall; `ignoreNA`: they do not fall at a NULL; `adjust=false`: as a recurrence, the first value has the weight \
         of all before it.",
        ("ewmMean([0,1,2,,4], 0.5)", "[0,0.75,1.615385,1.615385,3.670213]"),
        |a| {
            need_number(a, 0)?;
            Ok(Keyed::state(Mean(Decay::of(a)?), Type::Double))
        },
    ),
    state(
        "ewmVar",
        SPREAD,
        "The exponentially weighted variance, with settings as for `ewmMean`; `bias`: not corrected for the size of \
         the sample.",
        ("ewmVar(0 1 2, 0.5)", "[,0.5,0.846154]"),
        |a| spread(a, false),
    ),
    state(
        "ewmStd",
        SPREAD,
        "The exponentially weighted standard deviation, with settings as for `ewmVar`.",
        ("ewmStd(0 1 2, 0.5)", "[,0.707107,0.919866]"),
        |a| spread(a, true),
    ),
    state(
        "ewmCov",
        "X, [com], [span], [halfLife], [alpha], [minPeriods=0], [adjust=true], [ignoreNA=false], [Other], [bias=false]",
        "The exponentially weighted covariance with a second column, `Other`, with settings as for `ewmVar`. A row \
         counts if it has both values.",
        ("ewmCov(0 1 2, com=0.5, other=2 4 3)", "[,1,-0.038462]"),
        |a| {
            need_other(a)?;
            let of = if flag(a, 9, "bias", false)? { JointOf::Biased } else { JointOf::Covariance };
            Ok(Keyed::state(Joint { decay: Decay::of(a)?, of }, Type::Double))
        },
    ),
    state(
        "ewmCorr",
        "X, [com], [span], [halfLife], [alpha], [minPeriods=0], [adjust=true], [ignoreNA=false], [Other]",
        "The exponentially weighted correlation with a second column, `Other`, with settings as for `ewmMean`. A row \
         counts if it has both values.",
        ("ewmCorr(0 1 2, com=0.5, other=2 4 3)", "[,1,-0.0533]"),
        |a| {
            need_other(a)?;
            Ok(Keyed::state(Joint { decay: Decay::of(a)?, of: JointOf::Correlation }, Type::Double))
        },
    ),
];

fn spread(args: &[Argument], root: bool) -> Result<Box<dyn State>> {
    need_number(args, 0)?;
    let biased = flag(args, 8, "bias", false)?;
    Ok(Keyed::state(Spread { decay: Decay::of(args)?, biased, root }, Type::Double))
}

fn need_other(args: &[Argument]) -> Result<()> {
    match args.get(8) {
        Some(other) if other.ty != Type::Void => (0..9).step_by(8).try_for_each(|place| need_number(args, place)),
        _ => refuse("a second column is wanted: parameter=`Other`"),
    }
}

/// How weights fall from row to row.
#[derive(Clone)]
struct Decay {
    /// What is left of a weight one row later.
    left: f64,
    /// The weight of a new value.
    new: f64,
    /// Are weights summed up? Else the sum is 1 after each value.
    adjust: bool,
    /// Do weights stay at a NULL?
    ignore_null: bool,
    /// How many values it takes to give one.
    values_min: u64,
}

/// The weights of the values of one key so far.
#[derive(Clone, Default)]
struct Weights {
    count: u64,
    sum: f64,
    /// 1 less the sum of the squares of weights, where their sum is 1.
    unbias: f64,
}
wire!(Weights { count, sum, unbias });

/// A value, its part in the weighted mean, and the part of all before it.
struct Weighed<T> {
    value: T,
    part: f64,
    rest: f64,
}

impl Decay {
    fn of(args: &[Argument]) -> Result<Decay> {
        let mut given = vec![];
        for (place, name) in ["com", "span", "halfLife", "alpha"].into_iter().enumerate() {
            given.extend(number(args, place + 1, name)?.map(|value| (name, value)));
        }
        let [(name, value)] = given[..] else {
            return refuse(format!("exactly one of com, span, halfLife and alpha is wanted: given=`{}`", given.len()));
        };
        let (alpha, fits, range) = match name {
            "com" => (1.0 / (1.0 + value), value >= 0.0, "from 0 on"),
            "span" => (2.0 / (1.0 + value), value >= 1.0, "from 1 on"),
            "halfLife" => (-(-std::f64::consts::LN_2 / value).exp_m1(), value > 0.0, "above 0"),
            _ => (value, value > 0.0 && value <= 1.0, "above 0, up to 1"),
        };
        if !(fits && value.is_finite()) {
            return refuse(format!("a number {range} is wanted: parameter=`{name}`, value=`{value}`"));
        }
        let values_min = whole(args, 5, "minPeriods")?.unwrap_or(0);
        let adjust = flag(args, 6, "adjust", true)?;
        Ok(Decay {
            left: 1.0 - alpha,
            new: if adjust { 1.0 } else { alpha },
            adjust,
            ignore_null: flag(args, 7, "ignoreNA", false)?,
            values_min: match u64::try_from(values_min) {
                Ok(values) => values.max(1),
                Err(_) => {
                    let wanted = "a whole number from 0 on is wanted";
                    return refuse(format!("{wanted}: parameter=`minPeriods`, value=`{values_min}`"));
                }
            },
        })
    }

    /// Takes a row and gives its value, if it has one, its weight.
    fn weigh<T>(&self, weights: &mut Weights, value: Option<T>) -> Option<Weighed<T>> {
        if value.is_some() || !self.ignore_null {
            weights.sum *= self.left;
        }
        let value = value?;
        let all = weights.sum + self.new;
        let (rest, part) = (weights.sum / all, self.new / all);
        weights.count = weights.count.saturating_add(1);
        weights.sum = if self.adjust { all } else { 1.0 };
        weights.unbias = rest * rest * weights.unbias + 2.0 * rest * part;
        Some(Weighed { value, part, rest })
    }

    fn gives(&self, weights: &Weights) -> bool {
        weights.count >= self.values_min
    }
}

impl<T> Weighed<T> {
    /// The mean with a value. What has no weight is gone, and a value that equals the mean does not move it.
    fn mean(&self, before: f64, value: f64) -> f64 {
        if self.rest == 0.0 || before == value { value } else { self.rest * before + self.part * value }
    }

    /// The mean product of deviations with those of a value from the means before.
    fn product(&self, before: f64, dx: f64, dy: f64) -> f64 {
        if self.rest == 0.0 { 0.0 } else { self.rest * (before + self.part * dx * dy) }
    }
}

#[derive(Clone)]
struct Mean(Decay);

/// The weights and the mean.
#[derive(Clone, Default)]
struct MeanKey {
    weights: Weights,
    mean: f64,
}
wire!(MeanKey { weights, mean });

impl Step for Mean {
    type In = f64;
    type Key = MeanKey;
    type Out = f64;
    fn step(&self, key: &mut MeanKey, value: Option<f64>) -> Option<f64> {
        if let Some(weighed) = self.0.weigh(&mut key.weights, value) {
            key.mean = weighed.mean(key.mean, weighed.value);
        }
        self.0.gives(&key.weights).then_some(key.mean)
    }
}

#[derive(Clone)]
struct Spread {
    decay: Decay,
    /// Not corrected for the size of the sample?
    biased: bool,
    /// The standard deviation rather than the variance?
    root: bool,
}

/// The weights, the mean and the mean of squared deviations from it.
#[derive(Clone, Default)]
struct SpreadKey {
    weights: Weights,
    mean: f64,
    square: f64,
}
wire!(SpreadKey { weights, mean, square });

/// A mean of products of deviations, corrected for the size of the sample; `None` for a sample of one.
fn corrected(product: f64, weights: &Weights) -> Option<f64> {
    (weights.unbias > 0.0).then(|| product / weights.unbias)
}

impl Step for Spread {
    type In = f64;
    type Key = SpreadKey;
    type Out = f64;
    fn step(&self, key: &mut SpreadKey, value: Option<f64>) -> Option<f64> {
        if let Some(weighed) = self.decay.weigh(&mut key.weights, value) {
            let delta = weighed.value - key.mean;
            key.square = weighed.product(key.square, delta, delta);
            key.mean = weighed.mean(key.mean, weighed.value);
        }
        if !self.decay.gives(&key.weights) {
            return None;
        }
        let variance = if self.biased { key.square } else { corrected(key.square, &key.weights)? };
        Some(if self.root { variance.sqrt() } else { variance })
    }
}

/// Which number [`Joint`] gives.
#[derive(Clone)]
enum JointOf {
    Covariance,
    /// Covariance that is not corrected for the size of the sample.
    Biased,
    Correlation,
}

#[derive(Clone)]
struct Joint {
    decay: Decay,
    of: JointOf,
}

/// The weights, the means, and the mean products of deviations from them.
#[derive(Clone, Default)]
struct JointKey {
    weights: Weights,
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}
wire!(JointKey { weights, mean_x, mean_y, xx, yy, xy });

impl Step for Joint {
    type In = (f64, f64);
    type Key = JointKey;
    type Out = f64;
    fn step(&self, key: &mut JointKey, value: Option<(f64, f64)>) -> Option<f64> {
        if let Some(weighed) = self.decay.weigh(&mut key.weights, value) {
            let (x, y) = weighed.value;
            let (dx, dy) = (x - key.mean_x, y - key.mean_y);
            key.xx = weighed.product(key.xx, dx, dx);
            key.yy = weighed.product(key.yy, dy, dy);
            key.xy = weighed.product(key.xy, dx, dy);
            key.mean_x = weighed.mean(key.mean_x, x);
            key.mean_y = weighed.mean(key.mean_y, y);
        }
        if !self.decay.gives(&key.weights) {
            return None;
        }
        match self.of {
            JointOf::Covariance => corrected(key.xy, &key.weights),
            JointOf::Biased => Some(key.xy),
            JointOf::Correlation => {
                let flat = key.xx == 0.0 || key.yy == 0.0;
                (!flat).then(|| key.xy / (key.xx.sqrt() * key.yy.sqrt()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{Numbers, check, close, floats, refusal, run};
    use crate::value::Value;
    use data::{Scalar, Type};

    #[test]
    fn all_give_what_is_printed() {
        let x = "x = [0.0,1.0,2.0,,4.0]; y = 2.0 4.0 3.0 6.0 5.0; ";
        let of = |call: &str, expected: &str| check(&format!("{x}{call}"), &[expected]);
        of("ewmMean(x, com=0.5)", "0 0.75 1.61538461538 1.61538461538 3.67021276596");
        of("ewmMean(x, com=0.5, ignoreNA=true)", "0 0.75 1.61538461538 1.61538461538 3.225");
        of("ewmVar(x, com=0.5)", ". 0.5 0.846153846154 0.846153846154 2.96016483516");
        of("ewmVar(x, com=0.5, ignoreNA=true)", ". 0.5 0.846153846154 0.846153846154 2.81923076923");
        of("ewmStd(x, com=0.5)", ". 0.707106781187 0.919866211008 0.919866211008 1.72051295699");
        of("ewmStd(x, com=0.5, ignoreNA=true)", ". 0.707106781187 0.919866211008 0.919866211008 1.67905651163");
        of("ewmCov(x, com=0.5, other=y)", ". 1 -0.0384615384615 -0.0384615384615 2.11263736264");
        of("ewmCov(x, com=0.5, ignoreNA=true, Other=y)", ". 1 -0.0384615384615 -0.0384615384615 1.96923076923");
        of("ewmCorr(x, com=0.5, other=y)", ". 1 -0.0533001790889 -0.0533001790889 0.914672834147");
        of("ewmCorr(x, com=0.5, ignoreNA=true, other=y)", ". 1 -0.0533001790889 -0.0533001790889 0.893467925955");
        check("ewmMean(100 200 150 170 130, com=0.5)", &["100 175 157.692307692 166 141.900826446"]);
        let cov = ". 100 30.7692307692 25.2307692308 9.40495867769";
        check("ewmCov(100 200 150 170 130, com=0.5, other=2.0 4.0 3.0 6.0 5.0)", &[cov]);
        let std = ". 18.3847763109 9.24870053242 17.2418319569 12.6944381652";
        check("ewmStd(56.5 30.5 35.5 60.5 40.5, span=2)", &[std]);
        check("ewmMean(1 2 3, alpha=1)", &["1 2 3"]);
        check("ewmMean(1 2 3, halfLife=1, minPeriods=2)", &[". 1.66666666667 2.42857142857"]);
    }

    #[test]
    fn settings_are_checked() {
        let one = "exactly one of com, span, halfLife and alpha is wanted: given=";
        assert_eq!(refusal("ewmMean(1 2)"), format!("{one}`0`"));
        assert_eq!(refusal("ewmVar(1 2, com=1, alpha=0.5)"), format!("{one}`2`"));
        let range = "a number from 1 on is wanted: parameter=`span`, value=`0.5`";
        assert_eq!(refusal("ewmStd(1 2, span=0.5)"), range);
        for setting in ["com=-1", "halfLife=0", "alpha=0", "alpha=1.5", "com=1, minPeriods=-1"] {
            assert!(refusal(&format!("ewmMean(1 2, {setting})")).contains("is wanted: parameter="));
        }
        assert_eq!(refusal("ewmCov(1 2, com=1)"), "a second column is wanted: parameter=`Other`");
        assert_eq!(refusal("ewmMean(1 2, com=1, times=1 2)"), "ewmMean has no such parameter: parameter=`times`");
    }

    /// Weighted mean of x, covariance of x and y without and with correction, and their correlation, from the weight of
    /// each row.
    fn by_weights(rows: &[(f64, f64, f64)]) -> [Option<f64>; 4] {
        let sum = |f: &dyn Fn(&(f64, f64, f64)) -> f64| rows.iter().map(f).sum::<f64>();
        let (all, squares) = (sum(&|row| row.0), sum(&|row| row.0 * row.0));
        let (mean_x, mean_y) = (sum(&|row| row.0 * row.1) / all, sum(&|row| row.0 * row.2) / all);
        let xx = sum(&|row| row.0 * (row.1 - mean_x).powi(2)) / all;
        let yy = sum(&|row| row.0 * (row.2 - mean_y).powi(2)) / all;
        let xy = sum(&|row| row.0 * (row.1 - mean_x) * (row.2 - mean_y)) / all;
        let unbiased = (rows.len() > 1).then(|| xy * all * all / (all * all - squares));
        [Some(mean_x), Some(xy), unbiased, (rows.len() > 1 && xx * yy > 1e-20).then(|| xy / (xx * yy).sqrt())]
    }

    #[test]
    fn values_weigh_as_defined() {
        let mut numbers = Numbers(23);
        for (setting, alpha) in [("com=0.5", 1.0 / 1.5), ("span=9", 0.2), ("halfLife=2", 1.0 - 0.5f64.sqrt())] {
            for (adjust, ignore) in [(true, true), (true, false), (false, true), (false, false)] {
                for periods in [0, 5] {
                    let settings = format!("{setting}, adjust={adjust}, ignoreNA={ignore}, minPeriods={periods}");
                    let (x, y) = (numbers.column(Type::Double, 60, false), numbers.column(Type::Int, 60, false));
                    let (x_text, y_text) = (Value::Vector(x.clone()).to_string(), Value::Vector(y.clone()).to_string());
                    let results = |call: &str| {
                        let script = format!("x = {x_text}; y = {y_text}; {}", call.replace("..", &settings));
                        let Value::Vector(found) = run(&script) else { panic!("{script}") };
                        found
                    };
                    let compare = |call: &str, pairs: Vec<Option<(f64, f64)>>, which: usize| {
                        let found = results(call);
                        let mut rows: Vec<(f64, f64, f64)> = vec![];
                        for (row, pair) in pairs.into_iter().enumerate() {
                            if pair.is_some() || !ignore {
                                rows.iter_mut().for_each(|row| row.0 *= 1.0 - alpha);
                            }
                            if let Some((x, y)) = pair {
                                let new = if adjust || rows.is_empty() { 1.0 } else { alpha };
                                rows.push((new, x, y));
                                let all = if adjust { 1.0 } else { rows.iter().map(|row| row.0).sum() };
                                rows.iter_mut().for_each(|row| row.0 /= all);
                            }
                            let gives = rows.len() >= periods.max(1);
                            let expected = if gives { by_weights(&rows)[which] } else { None };
                            let (found, expected) = (found.get(row), expected.map_or(Scalar::Null, Scalar::Float));
                            assert!(close(&found, &expected), "{call}, {settings}, row {row}: {found:?}, {expected:?}");
                        }
                    };
                    let (x, y) = (floats(&x), floats(&y));
                    let alone = || x.iter().map(|x| x.map(|x| (x, x))).collect::<Vec<_>>();
                    let both = || x.iter().zip(&y).map(|(x, y)| x.zip(*y)).collect::<Vec<_>>();
                    compare("ewmMean(x, ..)", alone(), 0);
                    compare("ewmVar(x, .., bias=true)", alone(), 1);
                    compare("ewmVar(x, ..)", alone(), 2);
                    compare("square(ewmStd(x, ..))", alone(), 2);
                    compare("ewmCov(x, .., other=y, bias=true)", both(), 1);
                    compare("ewmCov(x, .., other=y)", both(), 2);
                    compare("ewmCorr(x, .., other=y)", both(), 3);
                }
            }
        }
    }

    #[test]
    fn a_value_without_weight_is_gone() {
        let script = "ewmVar([1e308 * 10, 1, 3], alpha=1, bias=true)";
        let Value::Vector(found) = run(script) else { panic!("{script}") };
        assert_eq!(floats(&found)[1..], [Some(0.0), Some(0.0)]);
        check("ewmMean([float(`a), 1, 3], com=0)", &[". 1 3"]);
    }
}
