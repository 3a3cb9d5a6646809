//! Averages of technical analysis. NULLs before the first value are passed over; then a full window is waited for.

use super::calling::{NullsUntilAll, Started};
use super::entry::state;
use super::item::wire;
use super::keyed::{Keyed, Several, Step, refuse};
use super::moments::{Line, Rising};
use super::moving::{Blocks, InBlocks, Moving, WeightedMean};
use super::settings::{flag, need_number, number, whole, window};
use super::statistic::{self, Use};
use super::summary::Sum;
use crate::function::{Argument, Function, Result, State};
use data::Type;
use std::collections::VecDeque;

pub(super) static FUNCTIONS: &[Function] = &[
    state("sma", "X, window", "The simple moving average.", ("sma(14 15 18 19, 2)", "[,14.5,16.5,18.5]"), sma),
    state("wma", "X, window", "The average weighted 1, 2, … `window`.", ("wma(1 4 4, 2)", "[,3,4]"), wma),
    state(
        "ema",
        "X, window, [warmup=false]",
        "The exponential average with 2/(window+1), from the mean of the first window on; `warmup`: from the first value on.",
        ("ema(1 3 5, 2)", "[,2,4]"),
        |a| {
            let rows = rows(a)?;
            let ema = Ema { rows, alpha: 2.0 / (rows as f64 + 1.0), warmup: flag(a, 2, "warmup", false)? };
            Ok(cascade(ema, Blend::Plain))
        },
    ),
    state(
        "gema",
        "X, window, alpha",
        "The exponential average with the given factor.",
        ("gema(1 3 5, 2, 0.5)", "[,2,3.5]"),
        |a| {
            let alpha = number(a, 2, "alpha")?.unwrap_or(f64::NAN);
            if !(0.0..=1.0).contains(&alpha) {
                return refuse("a number from 0 to 1 is wanted: function=`gema`, parameter=`alpha`");
            }
            Ok(cascade(Ema { rows: rows(a)?, alpha, warmup: false }, Blend::Plain))
        },
    ),
    state("wilder", "X, window", "The exponential average with 1/window.", ("wilder(1 3 4, 2)", "[,2,3]"), |a| {
        let rows = rows(a)?;
        Ok(cascade(Ema { rows, alpha: 1.0 / rows as f64, warmup: false }, Blend::Plain))
    }),
    state(
        "talibNull",
        "X, Y, ...",
        "Its arguments, NULL before the first row in which all have a value.",
        ("talibNull(2 3 4 5 6, [,1,2,,4], [7,,9,10,11])", "([,,4,5,6],[,,2,,4],[,,9,10,11])"),
        |a| {
            let types = a.iter().map(|arg| arg.ty).collect();
            Ok(Box::new(NullsUntilAll { started: Keyed::state(Started, Type::Bool), types }))
        },
    ),
    state("dema", "X, window", "The double exponential average.", ("dema(1 3 5, 2)", "[,,5]"), dema),
    state("tema", "X, window", "The triple exponential average.", ("tema(1 3 5 7, 2)", "[,,,7]"), tema),
    state("trima", "X, window", "The triangular average.", ("trima(1 2 5, 3)", "[,,2.5]"), trima),
    state("t3", "X, window, [vfactor=1]", "The T3 average.", ("t3(1 2, 1)", "[1,2]"), t3),
    state(
        "kama",
        "X, window",
        "Kaufman's adaptive average: the straighter the way of the last `window` steps, the faster it follows.",
        ("kama(1 3 2 4, 2)", "[,,2.929651,3.004949]"),
        kama,
    ),
    state(
        "ma",
        "X, window, maType",
        "An average by number: 0 sma, 1 ema, 2 wma, 3 dema, 4 tema, 5 trima, 6 kama, 8 t3.",
        ("ma(1 3 5, 2, 1)", "[,2,4]"),
        |a| match whole(a, 2, "maType")? {
            Some(0) => sma(&a[..2]),
            Some(1) => {
                let rows = rows(a)?;
                Ok(cascade(Ema { rows, alpha: 2.0 / (rows as f64 + 1.0), warmup: false }, Blend::Plain))
            }
            Some(2) => wma(&a[..2]),
            Some(3) => dema(&a[..2]),
            Some(4) => tema(&a[..2]),
            Some(5) => trima(&a[..2]),
            Some(6) => kama(&a[..2]),
            Some(8) => t3(&a[..2]),
            _ => refuse("0, 1, 2, 3, 4, 5, 6 or 8 is wanted: function=`ma`, parameter=`maType`"),
        },
    ),
    state(
        "linearTimeTrend",
        "X, window",
        "Intercept and slope of the line through the window's values.",
        ("linearTimeTrend(3 3 5 7, 3)", "([,,2.666667,3],[,,1,2])"),
        |a| {
            let when = full(a)?;
            let line = |slope| when.clone().summary(Line { slope }, Type::Double);
            Ok(Box::new(Several(vec![line(false), line(true)])))
        },
    ),
];

fn rows(args: &[Argument]) -> Result<usize> {
    need_number(args, 0)?;
    window(args, 1, 1)
}

/// Full windows from the first value on.
fn full(args: &[Argument]) -> Result<Moving> {
    need_number(args, 0)?;
    Ok(Moving::of(args, 1, 1)?.skip_leading())
}

fn sma(args: &[Argument]) -> Result<Box<dyn State>> {
    statistic::avg(args, full(args)?)
}

fn weighted(weights: Vec<f64>) -> Box<dyn State> {
    Keyed::state(WeightedMean { weights, skip_leading: true }, Type::Double)
}

fn wma(args: &[Argument]) -> Result<Box<dyn State>> {
    Ok(full(args)?.summary(Rising, Type::Double))
}

fn trima(args: &[Argument]) -> Result<Box<dyn State>> {
    let rows = rows(args)?;
    Ok(weighted((0..rows).map(|row| (row + 1).min(rows - row) as f64).collect()))
}

fn doubled(args: &[Argument], blend: Blend) -> Result<Box<dyn State>> {
    let rows = rows(args)?;
    Ok(cascade(Ema { rows, alpha: 2.0 / (rows as f64 + 1.0), warmup: false }, blend))
}

fn dema(args: &[Argument]) -> Result<Box<dyn State>> {
    doubled(args, Blend::Double)
}

fn tema(args: &[Argument]) -> Result<Box<dyn State>> {
    doubled(args, Blend::Triple)
}

fn kama(args: &[Argument]) -> Result<Box<dyn State>> {
    need_number(args, 0)?;
    Ok(Keyed::state(Kama(InBlocks { summary: Sum::new(), when: Moving::of(args, 1, 1)? }), Type::Double))
}

fn t3(args: &[Argument]) -> Result<Box<dyn State>> {
    doubled(args, Blend::T3(number(args, 2, "vfactor")?.unwrap_or(1.0)))
}

/// One exponential average.
#[derive(Clone)]
struct Ema {
    rows: usize,
    alpha: f64,
    warmup: bool,
}

/// How many values so far, up to the window, and the average; their sum until the window is full.
#[derive(Clone, Default)]
struct EmaKey {
    count: u32,
    value: f64,
}
wire!(EmaKey { count, value });

impl Ema {
    fn step(&self, key: &mut EmaKey, value: f64) -> Option<f64> {
        let rows = self.rows as u32;
        if self.warmup {
            let alpha = 2.0 / (key.count.min(rows) as f64 + 1.0);
            key.value = if key.count == 0 { value } else { alpha * value + (1.0 - alpha) * key.value };
            key.count = key.count.saturating_add(1);
            return Some(key.value);
        }
        if key.count < rows {
            key.count += 1;
            key.value += value;
            if key.count == rows {
                key.value /= rows as f64;
            }
        } else {
            key.value = self.alpha * value + (1.0 - self.alpha) * key.value;
        }
        (key.count == rows).then_some(key.value)
    }
}

/// How averages of averages are put together.
#[derive(Clone)]
enum Blend {
    Plain,
    Double,
    Triple,
    T3(f64),
}

impl Blend {
    fn depth(&self) -> usize {
        match self {
            Blend::Plain => 1,
            Blend::Double => 2,
            Blend::Triple => 3,
            Blend::T3(_) => 6,
        }
    }
}

/// Averages of averages.
#[derive(Clone)]
struct Cascade {
    ema: Ema,
    blend: Blend,
}

fn cascade(ema: Ema, blend: Blend) -> Box<dyn State> {
    Keyed::state(Cascade { ema, blend }, Type::Double)
}

impl Step for Cascade {
    type In = f64;
    type Key = Vec<EmaKey>;
    type Out = f64;
    fn step(&self, key: &mut Vec<EmaKey>, value: Option<f64>) -> Option<f64> {
        let depth = self.blend.depth();
        if key.is_empty() {
            key.resize(depth, EmaKey::default());
        }
        let mut e = [0.0; 6];
        let mut last = value?;
        for (level, key) in key.iter_mut().enumerate() {
            last = self.ema.step(key, last)?;
            e[level] = last;
        }
        Some(match self.blend {
            Blend::Plain => e[0],
            Blend::Double => 2.0 * e[0] - e[1],
            Blend::Triple => 3.0 * e[0] - 3.0 * e[1] + e[2],
            Blend::T3(v) => {
                let (v2, v3) = (v * v, v * v * v);
                -v3 * e[5] + 3.0 * (v2 + v3) * e[4] - (6.0 * v2 + 3.0 * v + 3.0 * v3) * e[3]
                    + (1.0 + 3.0 * v + v3 + 3.0 * v2) * e[2]
            }
        })
    }
}

/// An average that follows its values the faster, the less they go to and fro.
#[derive(Clone)]
struct Kama(InBlocks<Sum<f64>>);

/// The last values, what the steps between them come to, and the average.
#[derive(Clone, Default)]
struct KamaKey {
    values: VecDeque<f64>,
    way: Blocks<(f64, bool)>,
    average: Option<f64>,
}
wire!(KamaKey { values, way, average });

impl Step for Kama {
    type In = f64;
    type Key = KamaKey;
    type Out = f64;
    fn step(&self, key: &mut KamaKey, value: Option<f64>) -> Option<f64> {
        const FAST: f64 = 2.0 / 3.0;
        const SLOW: f64 = 2.0 / 31.0;
        let value = value?;
        let last = key.values.back().copied();
        key.values.push_back(value);
        let way = self.0.step(&mut key.way, Some((value - last?).abs()))?;
        let change = (value - key.values.pop_front()?).abs();
        let straight = if change < way { change / way } else { 1.0 };
        let factor = straight * (FAST - SLOW) + SLOW;
        let before = key.average.or(last)?;
        let average = before + factor * factor * (value - before);
        key.average = Some(average);
        Some(average)
    }
}
