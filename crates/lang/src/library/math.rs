//! Mathematical functions of one value, and rounding.

use super::entry::row;
use super::item::{Item, Vocabulary};
use super::settings::{need_number, number, whole};
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Function, Kernel, Result};
use data::arrow::buffer::{BooleanBuffer, NullBuffer};
use data::{Column, Scalar, Type};

pub(super) static FUNCTIONS: &[Function] = &[
    row("abs", "X", "The value without its sign.", ("abs(-2 4)", "[2,4]"), |a| same(a, f64::abs, i64::wrapping_abs)),
    row("sqrt", "X", "The square root; NULL of a negative number.", ("sqrt(4 -4)", "[2,]"), |a| real(a, f64::sqrt)),
    row("cbrt", "X", "The cube root.", ("cbrt(8)", "2"), |a| real(a, f64::cbrt)),
    row("square", "X", "The square.", ("square(2 4)", "[4,16]"), |a| same(a, |x| x * x, |x| x.wrapping_mul(x))),
    row("reciprocal", "X", "1 by the value; NULL of 0.", ("reciprocal(4)", "0.25"), |a| real(a, f64::recip)),
    row("exp", "X", "e to the power of the value.", ("exp(0)", "1"), |a| real(a, f64::exp)),
    row("exp2", "X", "2 to the power of the value.", ("exp2(3)", "8"), |a| real(a, f64::exp2)),
    row("expm1", "X", "e to the power of the value, less 1.", ("expm1(0)", "0"), |a| real(a, f64::exp_m1)),
    row("log", "X", "The natural logarithm; NULL of 0 and below.", ("log(0 1)", "[,0]"), |a| real(a, f64::ln)),
    row("log2", "X", "The logarithm to base 2.", ("log2(8)", "3"), |a| real(a, f64::log2)),
    row("log10", "X", "The logarithm to base 10.", ("log10(1000)", "3"), |a| real(a, f64::log10)),
    row("log1p", "X", "The natural logarithm of 1 and the value.", ("log1p(0)", "0"), |a| real(a, f64::ln_1p)),
    row("sin", "X", "The sine.", ("sin(0)", "0"), |a| real(a, f64::sin)),
    row("cos", "X", "The cosine.", ("cos(0)", "1"), |a| real(a, f64::cos)),
    row("tan", "X", "The tangent.", ("tan(0)", "0"), |a| real(a, f64::tan)),
    row("asin", "X", "The inverse sine.", ("asin(0)", "0"), |a| real(a, f64::asin)),
    row("acos", "X", "The inverse cosine.", ("acos(1)", "0"), |a| real(a, f64::acos)),
    row("atan", "X", "The inverse tangent.", ("atan(0)", "0"), |a| real(a, f64::atan)),
    row("sinh", "X", "The hyperbolic sine.", ("sinh(0)", "0"), |a| real(a, f64::sinh)),
    row("cosh", "X", "The hyperbolic cosine.", ("cosh(0)", "1"), |a| real(a, f64::cosh)),
    row("tanh", "X", "The hyperbolic tangent.", ("tanh(0)", "0"), |a| real(a, f64::tanh)),
    row("asinh", "X", "The inverse hyperbolic sine.", ("asinh(0)", "0"), |a| real(a, f64::asinh)),
    row("acosh", "X", "The inverse hyperbolic cosine.", ("acosh(1)", "0"), |a| real(a, f64::acosh)),
    row("atanh", "X", "The inverse hyperbolic tangent.", ("atanh(0)", "0"), |a| real(a, f64::atanh)),
    row("floor", "X", "The next whole number at or below.", ("floor(2.9 -2.1)", "[2,-3]"), |a| to_whole(a, f64::floor)),
    row("ceil", "X", "The next whole number at or above.", ("ceil(2.1 -2.1)", "[3,-2]"), |a| to_whole(a, f64::ceil)),
    row(
        "round",
        "X, [precision=0]",
        "The nearest number of so many digits, away from 0 in the middle; LONG if there are none.",
        ("round(2.154 2.156, 2)", "[2.15,2.16]"),
        round,
    ),
    row("signum", "X", "-1, 0 or 1 by the sign.", ("signum(8.2 0 -6)", "[1,0,-1]"), |a| {
        need_number(a, 0)?;
        let sign = |value: f64| (value > 0.0) as i64 - (value < 0.0) as i64;
        Ok(BoundRow { ty: Type::Int, kernel: floats_to_wholes(Type::Int, sign) })
    }),
    row("rint", "X", "The nearest whole number; in the middle the even one.", ("rint(2.5 3.5)", "[2,4]"), |a| {
        real(a, f64::round_ties_even)
    }),
    row("trunc", "X", "The whole part.", ("trunc(2.7 -2.7)", "[2,-2]"), |a| real(a, f64::trunc)),
    row("gcd", "X, Y", "The greatest common divisor of whole numbers.", ("gcd(12, 18)", "6"), |a| {
        wholes(a, "gcd", |x, y| i64::try_from(divisor(x, y)).ok())
    }),
    row("lcm", "X, Y", "The least common multiple of whole numbers.", ("lcm(4, 6)", "12"), |a| {
        wholes(a, "lcm", |x, y| match divisor(x, y) {
            0 => Some(0),
            divisor => i64::try_from((x.unsigned_abs() / divisor).checked_mul(y.unsigned_abs())?).ok(),
        })
    }),
    row("clip", "X, low, high", "The value, or the bound it lies beyond.", ("clip(1 5 9, 2, 6)", "[2,5,6]"), |a| {
        let (low, high) = (number(a, 1, "low")?, number(a, 2, "high")?);
        let (low, high) = (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
        if low.is_nan() || high.is_nan() || low > high {
            return Err(Diagnostic::new(format!("a lower and a higher bound are wanted: low=`{low}`, high=`{high}`")));
        }
        let (least, most) = (low.ceil() as i64, high.floor() as i64);
        same(a, move |value| value.clamp(low, high), move |value| value.max(least).min(most))
    }),
    row("isNanInf", "X", "Is it NaN or infinite?", ("isNanInf(1.5 2.5)", "[false,false]"), |a| {
        need_number(a, 0)?;
        let kernel = |columns: &[Column]| {
            let values = floats(&columns[0])?;
            let broken = |row: usize| !columns[0].is_null(row) && !values[row].is_finite();
            Ok(Column::of_bools(BooleanBuffer::collect_bool(values.len(), broken), None))
        };
        Ok(BoundRow { ty: Type::Bool, kernel: Box::new(kernel) })
    }),
    row("bar", "X, interval", "The multiple of `interval` at or below.", ("bar(7 -6, 5)", "[5,-10]"), bar),
];

fn floats(column: &Column) -> Result<data::arrow::buffer::ScalarBuffer<f64>> {
    column.to_f64s().ok_or_else(|| Diagnostic::new(format!("a number is wanted: type=`{}`", column.ty())))
}

fn floats_to_wholes(ty: Type, f: impl Fn(f64) -> i64 + Send + Sync + 'static) -> Kernel {
    Box::new(move |columns| {
        let values = floats(&columns[0])?.iter().map(|&value| f(value)).collect();
        Ok(i64::column(ty, values, columns[0].validity().cloned(), &Vocabulary::default()))
    })
}

/// A DOUBLE; what is no finite number, from one that is, is NULL.
fn real(args: &[Argument], f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Result<BoundRow> {
    need_number(args, 0)?;
    let kernel = move |columns: &[Column]| {
        let values = floats(&columns[0])?;
        let results: Vec<f64> = values.iter().map(|&value| f(value)).collect();
        let broken = |row: usize| !results[row].is_finite() && values[row].is_finite();
        let mut nulls = columns[0].validity().cloned();
        if (0..results.len()).any(broken) {
            let valid: NullBuffer = (0..results.len()).map(|row| !broken(row)).collect();
            nulls = NullBuffer::union(nulls.as_ref(), Some(&valid));
        }
        Ok(Column::of_f64(Type::Double, results, nulls))
    };
    Ok(BoundRow { ty: Type::Double, kernel: Box::new(kernel) })
}

/// A value of the argument's own type.
fn same(
    args: &[Argument],
    float: impl Fn(f64) -> f64 + Send + Sync + 'static,
    whole: impl Fn(i64) -> i64 + Send + Sync + 'static,
) -> Result<BoundRow> {
    need_number(args, 0)?;
    let ty = args[0].ty;
    let plain = Vocabulary::default();
    if ty.is_integer() {
        let kernel = move |columns: &[Column]| {
            let values = columns[0].to_i64s().expect("a column of whole numbers");
            let values = values.iter().map(|&value| whole(value)).collect();
            Ok(i64::column(ty, values, columns[0].validity().cloned(), &plain))
        };
        return Ok(BoundRow { ty, kernel: Box::new(kernel) });
    }
    let ty = if ty == Type::Float { ty } else { Type::Double };
    let kernel = move |columns: &[Column]| {
        let values = floats(&columns[0])?.iter().map(|&value| float(value)).collect();
        Ok(f64::column(ty, values, columns[0].validity().cloned(), &plain))
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

/// A whole number of two whole numbers; NULL where one is NULL or there is no room for the result.
fn wholes(args: &[Argument], name: &str, f: fn(i64, i64) -> Option<i64>) -> Result<BoundRow> {
    if let Some(arg) = args.iter().find(|arg| !(arg.ty.is_integer() || arg.ty == Type::Void)) {
        return Err(Diagnostic::new(format!("a whole number is wanted: function=`{name}`, type=`{}`", arg.ty)));
    }
    let kernel = move |columns: &[Column]| {
        let of = |row: usize| f(columns[0].get(row).as_i64()?, columns[1].get(row).as_i64()?);
        let results = (0..columns[0].len()).map(|row| of(row).map_or(Scalar::Null, Scalar::Int));
        Ok(Column::of_scalars(Type::Long, &results.collect::<Vec<_>>()))
    };
    Ok(BoundRow { ty: Type::Long, kernel: Box::new(kernel) })
}

fn divisor(x: i64, y: i64) -> u64 {
    let (mut x, mut y) = (x.unsigned_abs(), y.unsigned_abs());
    while y != 0 {
        (x, y) = (y, x % y);
    }
    x
}

/// A LONG, or the whole number itself.
fn to_whole(args: &[Argument], f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Result<BoundRow> {
    need_number(args, 0)?;
    let ty = args[0].ty;
    if ty.is_integer() {
        return Ok(BoundRow { ty, kernel: Box::new(|columns| Ok(columns[0].clone())) });
    }
    Ok(BoundRow { ty: Type::Long, kernel: floats_to_wholes(Type::Long, move |value| f(value) as i64) })
}

fn round(args: &[Argument]) -> Result<BoundRow> {
    match whole(args, 1, "precision")?.unwrap_or(0) {
        0 => to_whole(args, f64::round),
        digits if (1..=15).contains(&digits) => {
            let unit = 10f64.powi(digits as i32);
            same(args, move |value| (value * unit).round() / unit, |value| value)
        }
        digits => Err(Diagnostic::new(format!("a precision from 0 to 15 is wanted: precision=`{digits}`"))),
    }
}

fn bar(args: &[Argument]) -> Result<BoundRow> {
    let ty = args[0].ty;
    let step = match super::settings::setting(args, 1) {
        Some(crate::Value::Duration(count, unit)) => duration_in(ty, *count, unit),
        _ => whole(args, 1, "interval").unwrap_or(None),
    };
    let step = step.filter(|step| *step > 0).ok_or_else(|| {
        Diagnostic::new("a whole number above 0, or a duration for a time, is wanted: parameter=`interval`")
    })?;
    if !(ty.is_integer() || ty.is_temporal()) {
        return Err(Diagnostic::new(format!("a whole number or a time is wanted: function=`bar`, type=`{ty}`")));
    }
    let kernel = move |columns: &[Column]| {
        let values = columns[0].to_i64s().expect("a column of whole numbers");
        let values = values.iter().map(|&value| value.wrapping_sub(value.rem_euclid(step))).collect();
        Ok(i64::column(ty, values, columns[0].validity().cloned(), &Vocabulary::default()))
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

/// A length of time in the units of a type.
pub(crate) fn duration_in(ty: Type, count: i64, unit: &str) -> Option<i64> {
    let per_day: i64 = match unit {
        "d" => 1,
        "H" => 24,
        "m" => 1_440,
        "s" => 86_400,
        "ms" => 86_400_000,
        "us" => 86_400_000_000,
        "ns" => 86_400_000_000_000,
        "w" => return duration_in(ty, count.checked_mul(7)?, "d"),
        _ => return None,
    };
    let units = count as i128 * ty.units_per_day()? as i128 / per_day as i128;
    i64::try_from(units).ok()
}
