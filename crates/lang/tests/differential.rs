//! Aggregate, moving, cumulative and time-moving functions beside plain ones that go through all rows anew, over random
//! vectors: with NULLs, NaN, infinities, huge and tiny values, ties, and empty ones.
//!
//! `VECTORS=10000 cargo test --release -p orca-lang --test differential` for more of them.

use data::{Column, ColumnBuilder, Scalar, Type};
use lang::Value;
use lang::function::{Argument, Form, Picked};
use lang::library;

/// Numbers that look like chance, the same ones in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// Values of one kind, some of them NULL.
    fn vector(&mut self, rows: usize) -> Vec<Option<f64>> {
        let (kind, nulls) = (self.below(7), self.below(4));
        (0..rows)
            .map(|_| {
                let part = self.below(1 << 20) as f64 / (1 << 20) as f64 - 0.5;
                let value = match kind {
                    0 => part,
                    1 => (part * 6.0).round(),
                    2 => part * 1e150,
                    3 => part * 1e-150,
                    4 => 1e9 + part,
                    5 => part * 10f64.powi(self.below(12) as i32 - 6),
                    _ => match self.below(12) {
                        0 => f64::NAN,
                        1 => f64::INFINITY,
                        2 => f64::NEG_INFINITY,
                        _ => part * 100.0,
                    },
                };
                (nulls == 0 || self.below(10) >= nulls).then_some(value)
            })
            .collect()
    }
}

/// What a statistic of one or two columns comes to, and how far rounding may lead astray; `None` for NULL.
type Plain = fn(&[f64], &[f64]) -> Option<(f64, f64)>;

fn greatest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of a power of the deviations from the mean.
fn moment(values: &[f64], power: i32) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(power)).sum()
}

/// Of values: the sum of squared deviations divided by the number less `less`, and the bound of its error.
fn spread(values: &[f64], less: usize) -> Option<(f64, f64)> {
    let n = values.len();
    // What is lost of a mean is lost of each deviation.
    let lost = greatest(values) * 1e-15;
    let variance = moment(values, 2) / n.checked_sub(less).filter(|n| *n > 0)? as f64;
    Some((variance, (variance.sqrt() * lost + lost * lost) * 100.0 * n as f64 + variance * 1e-9))
}

fn root(of: Option<(f64, f64)>) -> Option<(f64, f64)> {
    of.map(|(variance, lost)| (variance.sqrt(), if variance > 0.0 { lost / variance.sqrt() } else { lost.sqrt() }))
}

/// Deviations that are not lost among the digits of the values.
fn is_spread(values: &[f64]) -> bool {
    moment(values, 2).sqrt() > greatest(values) * 1e-4
}

fn joint(x: &[f64], y: &[f64]) -> f64 {
    let (mean_x, mean_y) = (mean(x), mean(y));
    x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
}

fn covariance(x: &[f64], y: &[f64], less: usize) -> Option<(f64, f64)> {
    let n = x.len().checked_sub(less).filter(|n| *n > 0)? as f64;
    let lost = (greatest(x) * greatest(y)) * 1e-13 * x.len() as f64;
    Some((joint(x, y) / n, lost))
}

fn sum_of(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let lost = values.clone().map(f64::abs).sum::<f64>() * 1e-12;
    values.clone().next().map(|_| (values.sum(), lost))
}

/// NaN is the smallest.
fn order(a: &f64, b: &f64) -> std::cmp::Ordering {
    a.partial_cmp(b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

const ONE: &[(&str, Plain)] = &[
    ("sum", |x, _| sum_of(x.iter().copied())),
    ("sum2", |x, _| sum_of(x.iter().map(|x| x * x))),
    ("sum3", |x, _| sum_of(x.iter().map(|x| x * x * x))),
    ("sum4", |x, _| sum_of(x.iter().map(|x| x * x * x * x))),
    ("avg", |x, _| sum_of(x.iter().copied()).map(|(sum, lost)| (sum / x.len() as f64, lost))),
    ("prod", |x, _| (!x.is_empty()).then(|| x.iter().product::<f64>()).map(|product| (product, product.abs() * 1e-12))),
    ("min", |x, _| x.iter().copied().min_by(order).map(|least| (least, 0.0))),
    ("max", |x, _| x.iter().copied().max_by(order).map(|most| (most, 0.0))),
    ("var", |x, _| spread(x, 1)),
    ("varp", |x, _| spread(x, 0)),
    ("std", |x, _| root(spread(x, 1))),
    ("stdp", |x, _| root(spread(x, 0))),
    ("med", |x, _| {
        let mut sorted = x.to_vec();
        sorted.sort_by(order);
        let middle = x.len() / 2;
        match x.len() {
            0 => None,
            n if n % 2 == 1 => Some((sorted[middle], 0.0)),
            _ => Some(((sorted[middle - 1] + sorted[middle]) / 2.0, 0.0)),
        }
    }),
    ("skew", |x, _| {
        let (n, variance) = (x.len() as f64, moment(x, 2) / x.len() as f64);
        (n >= 2.0 && variance > 1e-14 && is_spread(x)).then(|| (moment(x, 3) / n / variance.powf(1.5), 1e-6))
    }),
    ("kurtosis", |x, _| {
        let (n, variance) = (x.len() as f64, moment(x, 2) / x.len() as f64);
        (n >= 3.0 && variance > 1e-14 && is_spread(x)).then(|| (moment(x, 4) / n / (variance * variance), 1e-6))
    }),
];

const TWO: &[(&str, Plain)] = &[
    ("covar", |x, y| covariance(x, y, 1)),
    ("covarp", |x, y| covariance(x, y, 0)),
    ("corr", |x, y| {
        // Where values are as good as equal there is none.
        let apart = |values: &[f64]| is_spread(values) && moment(values, 2) > 1e-12 * values.len() as f64;
        let fit = x.len() >= 2 && apart(x) && apart(y);
        fit.then(|| (joint(x, y) / (moment(x, 2).sqrt() * moment(y, 2).sqrt()), 1e-6))
    }),
    ("beta", |x, y| {
        let fit = x.len() >= 2 && is_spread(x) && is_spread(y);
        fit.then(|| (joint(x, y) / moment(y, 2), 1e-6 * (moment(x, 2) / moment(y, 2)).sqrt()))
    }),
    ("wsum", |x, y| sum_of(x.iter().zip(y).map(|(x, y)| x * y))),
    ("wavg", |x, y| {
        let (weights, (sum, lost)) = (y.iter().sum::<f64>(), sum_of(x.iter().zip(y).map(|(x, y)| x * y))?);
        // Weights that cancel one another leave nothing to divide by.
        (weights.abs() > greatest(y) * 1e-4).then(|| (sum / weights, (lost / weights).abs() * 1e5))
    }),
];

/// What of these statistics is NULL, or hangs on rounding alone, where the plain one gives nothing.
const DOUBTFUL: &[&str] = &["skew", "kurtosis", "corr", "beta", "wavg"];

fn column(values: &[Option<f64>]) -> Column {
    let mut builder = ColumnBuilder::new(Type::Double);
    values.iter().for_each(|value| builder.push(&value.map_or(Scalar::Null, Scalar::Float)));
    builder.finish()
}

/// The rows in which both columns have a value; of one column, those that have one.
fn pairs(columns: &[&[Option<f64>]]) -> (Vec<f64>, Vec<f64>) {
    let (x, y) = (columns[0], columns[columns.len() - 1]);
    x.iter().zip(y).filter_map(|(x, y)| (*x).zip(*y)).unzip()
}

fn compare(name: &str, row: usize, found: &Scalar, plain: Plain, columns: &[&[Option<f64>]]) {
    let (x, y) = pairs(columns);
    let found = found.as_f64();
    let place = || format!("{name}, row {row}, {found:?}, of {columns:?}");
    let is_finite = x.iter().chain(&y).all(|value| value.is_finite());
    match plain(&x, &y) {
        // Too great for a float, or among values that are no numbers: there is none either way.
        Some((expected, lost)) if !expected.is_finite() || !lost.is_finite() => {
            assert!(is_finite || found.is_none_or(|found| !found.is_finite()), "{}, not {expected}", place());
        }
        Some((expected, lost)) => {
            let found = found.unwrap_or_else(|| panic!("{}, not {expected}", place()));
            let far = (found - expected).abs();
            assert!(far <= lost + expected.abs() * 1e-9 || found == expected, "{}, not {expected}", place());
        }
        None => {
            let doubtful = DOUBTFUL.iter().any(|known| name.ends_with(known));
            assert!(doubtful || found.is_none(), "{}, not NULL", place());
        }
    }
}

/// What a function with a state gives, checked to be the same bits for a vector as for rows that come one by one.
fn stream(name: &str, settings: &[Argument], columns: &[Column]) -> Vec<Scalar> {
    let function = library::find(name).expect("a function of the library");
    let arguments: Vec<Argument> =
        columns.iter().map(|column| Argument::of(column.ty())).chain(settings.iter().cloned()).collect();
    let Form::State(bind) = function.form(arguments.len()) else { panic!("{name} has no state") };
    let rows = columns[0].len();
    let whole = bind(&arguments).expect("bound").push(&vec![0; rows], columns).expect("results").remove(0);
    let mut state = bind(&arguments).expect("bound");
    let values: Vec<Scalar> = (0..rows).map(|row| whole.get(row)).collect();
    for (row, value) in values.iter().enumerate() {
        let part: Vec<Column> = columns.iter().map(|column| column.slice(row, 1)).collect();
        let one = state.push(&[0], &part).expect("results").remove(0).get(0);
        let bits = |value: &Scalar| value.as_f64().map(f64::to_bits);
        assert_eq!(bits(&one), bits(value), "{name}, row {row}: one by one, and as a vector");
    }
    values
}

fn aggregate(name: &str, columns: &[Column]) -> Scalar {
    let arguments: Vec<Argument> = columns.iter().map(|column| Argument::of(column.ty())).collect();
    let Form::Aggregate(bind) = library::find(name).expect("a function").form(arguments.len()) else {
        panic!("{name} is no aggregate")
    };
    let mut aggregate = bind(&arguments).expect("bound");
    aggregate.grow(1);
    let picked: Vec<Picked> = columns.iter().map(|column| Picked { column, rows: None }).collect();
    aggregate.fold(&vec![0; columns[0].len()], &picked).expect("folded");
    aggregate.emit(&[0]).expect("a result").get(0)
}

#[test]
fn functions_of_many_rows_are_what_going_through_the_rows_gives() {
    let vectors: usize = std::env::var("VECTORS").ok().map_or(300, |count| count.parse().expect("a number"));
    let mut numbers = Numbers(42);
    let int = |value: usize| Argument::constant(Value::Scalar(Type::Int, Scalar::Int(value as i64)));
    for _ in 0..vectors {
        let rows = numbers.below(60) as usize;
        let (x, y) = (numbers.vector(rows), numbers.vector(rows));
        let mut time = 0;
        let steps = (0..rows).map(|_| {
            time += numbers.below(3) as i64;
            time
        });
        let times: Vec<i64> = steps.collect();
        let window = 2 + numbers.below(20) as usize;
        let span = 1 + numbers.below(15) as usize;
        let both = [&x[..], &y[..]];
        for (statistics, plain_columns) in [(ONE, &both[..1]), (TWO, &both[..])] {
            let columns: Vec<Column> = plain_columns.iter().map(|values| column(values)).collect();
            let timed: Vec<Column> = std::iter::once(Column::of_i64(Type::Long, times.clone(), None))
                .chain(columns.iter().cloned())
                .collect();
            for &(name, plain) in statistics {
                let part = |from: usize, to: usize| -> Vec<&[Option<f64>]> {
                    plain_columns.iter().map(|values| &values[from..to]).collect()
                };
                compare(name, rows, &aggregate(name, &columns), plain, &part(0, rows));
                let known = |prefix: &str| Some(format!("{prefix}{name}")).filter(|name| library::find(name).is_some());
                if let Some(name) = known("m") {
                    for (row, found) in stream(&name, &[int(window)], &columns).iter().enumerate() {
                        match (row + 1).checked_sub(window) {
                            Some(from) => compare(&name, row, found, plain, &part(from, row + 1)),
                            None => assert!(found.is_null(), "{name}, row {row}: {found:?}"),
                        }
                    }
                }
                if let Some(name) = known("cum") {
                    for (row, found) in stream(&name, &[], &columns).iter().enumerate() {
                        compare(&name, row, found, plain, &part(0, row + 1));
                    }
                }
                if let Some(name) = known("tm") {
                    for (row, found) in stream(&name, &[int(span)], &timed).iter().enumerate() {
                        let from = times.iter().position(|time| *time > times[row] - span as i64);
                        compare(&name, row, found, plain, &part(from.expect("the row itself"), row + 1));
                    }
                }
            }
        }
    }
}
