//! The statistics that are aggregate, cumulative and moving functions alike, each bound once to its arguments' types.
//!
//! A statistic picks its [`Summary`] (or [`Sorted`]) and the type of its result; what becomes of it, a [`Use`] decides.

use super::item::{Other, by_class};
use super::moments::*;
use super::settings::{choice, flag, need_number, number, whole};
use super::sorted::{Deviation, Median, Percentile, Sorted};
use super::summary::*;
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, Result};
use data::{Scalar, Type};
use std::cmp::Ordering;

/// What a statistic is used for: an aggregate, a cumulative or a moving function.
pub(super) trait Use {
    /// What is made of it.
    type Made;
    /// Of a summary that gives values of this type.
    fn summary<S: Summary>(self, summary: S, ty: Type) -> Self::Made;
    /// Of a statistic that needs all values, sorted.
    fn sorted<S: Sorted>(self, sorted: S) -> Self::Made;
}

pub(super) fn count<U: Use>(_: &[Argument], to: U) -> Result<U::Made> {
    Ok(to.summary(Count, Type::Int))
}

pub(super) fn size<U: Use>(_: &[Argument], to: U) -> Result<U::Made> {
    Ok(to.summary(Size, Type::Int))
}

pub(super) fn sum<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    need_number(args, 0)?;
    let ty = args[0].ty;
    Ok(match ty {
        Type::Float | Type::Double | Type::Void => to.summary(Sum::<f64>::new(), Type::Double),
        ty if ty.is_decimal() => to.summary(Sum::<i128>::new(), ty),
        _ => to.summary(Sum::<i64>::new(), Type::Long),
    })
}

macro_rules! of_floats {
    ($($name:ident($columns:literal) $summary:expr;)*) => { $(
        pub(super) fn $name<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
            (0..$columns).try_for_each(|place| need_number(args, place))?;
            Ok(to.summary($summary, Type::Double))
        }
    )* };
}
of_floats! {
    sum2(1) PowerSum(2);
    sum3(1) PowerSum(3);
    sum4(1) PowerSum(4);
    prod(1) Product;
    avg(1) Mean;
    var(1) Spread(SpreadOf::Var);
    varp(1) Spread(SpreadOf::Varp);
    std(1) Spread(SpreadOf::Std);
    stdp(1) Spread(SpreadOf::Stdp);
    sem(1) Spread(SpreadOf::Sem);
    covar(2) Joint(JointOf::Covar);
    covarp(2) Joint(JointOf::Covarp);
    corr(2) Joint(JointOf::Corr);
    beta(2) Joint(JointOf::Beta);
    intercept(2) Joint(JointOf::Intercept);
    error(2) Joint(JointOf::Error);
    wsum(2) Weighted { mean: false };
    wavg(2) Weighted { mean: true };
    euclidean(2) Distance { tanimoto: false };
    tanimoto(2) Distance { tanimoto: true };
    at_imax(2) AtExtreme(Ordering::Greater);
    at_imin(2) AtExtreme(Ordering::Less);
}

macro_rules! places {
    ($($name:ident $wanted:ident $last:literal;)*) => { $(
        pub(super) fn $name<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
            need_ordered(args)?;
            Ok(to.summary(ExtremePlace { wanted: Ordering::$wanted, last: $last }, Type::Int))
        }
    )* };
}
places! {
    imin Less false;
    imin_last Less true;
    imax Greater false;
    imax_last Greater true;
}

fn need_ordered(args: &[Argument]) -> Result<()> {
    if args[0].ty.is_temporal() { Ok(()) } else { need_number(args, 0) }
}

fn extreme<U: Use, const GREATEST: bool>(args: &[Argument], to: U) -> Result<U::Made> {
    let ty = args[0].ty;
    if ty == Type::Symbol {
        // Codes have no order, texts do.
        return Ok(to.summary(Extreme::<Other, GREATEST>::new(), ty));
    }
    Ok(by_class!(ty, T => to.summary(Extreme::<T, GREATEST>::new(), ty)))
}

pub(super) fn min<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    extreme::<U, false>(args, to)
}

pub(super) fn max<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    extreme::<U, true>(args, to)
}

pub(super) fn first<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    Ok(by_class!(args[0].ty, T => to.summary(End::<T, false>::new(), args[0].ty)))
}

pub(super) fn last<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    Ok(by_class!(args[0].ty, T => to.summary(End::<T, true>::new(), args[0].ty)))
}

fn end_value<U: Use>(args: &[Argument], to: U, last: bool, except: usize) -> Result<U::Made> {
    let ty = args[0].ty;
    let except = match args.get(except).and_then(|arg| arg.constant.as_ref()) {
        Some(crate::Value::Scalar(_, value)) => value.clone(),
        _ => Scalar::Null,
    };
    Ok(match ty {
        Type::Float | Type::Double => to.summary(EndValue::<f64> { last, except: except.as_f64() }, ty),
        ty if ty.is_integer() || ty.is_temporal() || ty == Type::Bool => {
            to.summary(EndValue::<i64> { last, except: except.as_i64() }, ty)
        }
        _ if !except.is_null() => {
            return Err(Diagnostic::new(format!("a value to pass over can be given for numbers only: type=`{ty}`")));
        }
        ty => by_class!(ty, T => to.summary(EndValue::<T> { last, except: None }, ty)),
    })
}

pub(super) fn first_not<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    end_value(args, to, false, 1)
}

pub(super) fn last_not<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    end_value(args, to, true, 1)
}

pub(super) fn moving_first_not<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    end_value(args, to, false, 2)
}

pub(super) fn moving_last_not<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    end_value(args, to, true, 2)
}

pub(super) fn has_null<U: Use>(_: &[Argument], to: U) -> Result<U::Made> {
    Ok(to.summary(AnyNull, Type::Bool))
}

/// `k` stands at place 1.
pub(super) fn search_k<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    let place = match whole(args, 1, "k")?.unwrap_or(0) {
        k if k < 1 => {
            return Err(Diagnostic::new(format!("a whole number above 0 is wanted: parameter=`k`, value=`{k}`")));
        }
        k => k as usize - 1,
    };
    let ty = args[0].ty;
    if ty == Type::Symbol {
        // Codes have no order, texts do.
        return Ok(to.summary(Smallest::<Other>::new(place), ty));
    }
    Ok(by_class!(ty, T => to.summary(Smallest::<T>::new(place), ty)))
}

pub(super) fn ifirst_not<U: Use>(_: &[Argument], to: U) -> Result<U::Made> {
    Ok(to.summary(EndPlace { last: false }, Type::Int))
}

pub(super) fn ilast_not<U: Use>(_: &[Argument], to: U) -> Result<U::Made> {
    Ok(to.summary(EndPlace { last: true }, Type::Int))
}

/// `biased` stands at this place.
pub(super) fn skew<U: Use>(args: &[Argument], to: U, biased: usize) -> Result<U::Made> {
    need_number(args, 0)?;
    Ok(to.summary(Shape { kurtosis: false, biased: flag(args, biased, "biased", true)? }, Type::Double))
}

/// `biased` stands at this place.
pub(super) fn kurtosis<U: Use>(args: &[Argument], to: U, biased: usize) -> Result<U::Made> {
    need_number(args, 0)?;
    Ok(to.summary(Shape { kurtosis: true, biased: flag(args, biased, "biased", true)? }, Type::Double))
}

pub(super) fn drawdown<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    need_number(args, 0)?;
    Ok(to.summary(Drawdown { ratio: flag(args, 1, "ratio", true)? }, Type::Double))
}

pub(super) fn best_streak<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    need_number(args, 0)?;
    Ok(match args[0].ty {
        ty if ty.is_integer() || ty == Type::Bool => to.summary(BestStreak::<i64>::new(), Type::Long),
        _ => to.summary(BestStreak::<f64>::new(), Type::Double),
    })
}

pub(super) fn nunique<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    let ignore_null = flag(args, 1, "ignoreNull", false)?;
    Ok(by_class!(args[0].ty, T => to.summary(Distinct::<T>::new(ignore_null), Type::Int)))
}

pub(super) fn mode<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    let ty = args[0].ty;
    Ok(by_class!(ty, T => to.summary(Mode::<T>::new(), ty)))
}

pub(super) fn med<U: Use>(args: &[Argument], to: U) -> Result<U::Made> {
    need_number(args, 0)?;
    Ok(to.sorted(Median))
}

/// `percent` stands at place 1, `interpolation` at the given one; `whole` is what `percent` goes up to.
pub(super) fn percentile<U: Use>(args: &[Argument], to: U, interpolation: usize, whole: f64) -> Result<U::Made> {
    need_number(args, 0)?;
    let name = if whole == 1.0 { "quantile" } else { "percent" };
    let percent = number(args, 1, name)?.unwrap_or(f64::NAN) / whole;
    if !(0.0..=1.0).contains(&percent) {
        return Err(Diagnostic::new(format!("a number from 0 to {whole} is wanted: parameter=`{name}`")));
    }
    let interpolation = choice(args, interpolation, "interpolation", Percentile::INTERPOLATIONS)?;
    Ok(to.sorted(Percentile { percent, interpolation: interpolation.unwrap_or(0) }))
}

/// `useMedian` stands at this place.
pub(super) fn mad<U: Use>(args: &[Argument], to: U, use_median: usize) -> Result<U::Made> {
    need_number(args, 0)?;
    Ok(to.sorted(Deviation { median: flag(args, use_median, "useMedian", false)? }))
}
