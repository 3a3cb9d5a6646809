//! The operators as functions: arithmetic, comparison, logic, bits.
//!
//! Invariants:
//! - Arithmetic with NULL is NULL. So is a float or a time that its type has no room for; whole numbers wrap around, and
//!   the least value of their storage is NULL.
//! - Comparisons have NULL as the smallest value, and equal to itself, and never give it.
//! - `or` leaves a NULL side out; `and`, `xor` and `not` of NULL are NULL.

use super::cast::{convert, is_bytes, rescale};
use super::complex;
use super::entry::row;
use super::item::{Item, Reading, Vocabulary, by_class, order_scalars};
use super::output::Output;
use super::sequence::difference_type;
use super::settings::setting;
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Function, Result};
use crate::value::Value;
use data::arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use data::{Column, Scalar, Type};
use std::cmp::Ordering;
use std::collections::HashSet;

pub(super) static FUNCTIONS: &[Function] = &[
    row("add", "X, Y", "The sum; of texts, both in a row.", ("1 + [2,]", "[3,]"), add),
    row("sub", "X, Y", "The difference; of times, in their unit.", ("5 - 3", "2"), sub),
    row("mul", "X, Y", "The product.", ("5 * 3", "15"), |a| match complex::arithmetic(a, complex::multiply) {
        Some(bound) => Ok(bound),
        None => arithmetic(a, "mul", |x, y| Some(x * y), |x, y| Some(x.wrapping_mul(y))),
    }),
    row("div", "X, Y", "The quotient, of whole numbers rounded down; by 0 it is NULL.", ("-7 / 2", "-4"), |a| {
        arithmetic(a, "div", |x, y| (y != 0.0).then(|| x / y), floor_div)
    }),
    row("ratio", "X, Y", "The quotient as DOUBLE; by 0 it is NULL.", ("1 \\ 2", "0.5"), ratio),
    row("mod", "X, Y", "The remainder, with the sign of the divisor; by 0 it is NULL.", ("2 % -5", "-3"), |a| {
        arithmetic(a, "mod", |x, y| (y != 0.0).then(|| x - y * (x / y).floor()), floor_mod)
    }),
    row("pow", "X, Y", "X to the power of Y.", ("pow(3, 1 2 3)", "[3,9,27]"), pow),
    row("neg", "X", "The value with the other sign.", ("-(3)", "-3"), negate),
    row("eq", "X, Y", "Equal? NULL equals NULL.", ("1 == [1,2,]", "[true,false,false]"), |a| {
        compare(a, "eq", Ordering::is_eq)
    }),
    row("ne", "X, Y", "Not equal?", ("1 != [1,2,]", "[false,true,true]"), |a| compare(a, "ne", Ordering::is_ne)),
    row("lt", "X, Y", "Less?", ("1 < 2", "true"), |a| compare(a, "lt", Ordering::is_lt)),
    row("le", "X, Y", "Less or equal?", ("2 <= 2", "true"), |a| compare(a, "le", Ordering::is_le)),
    row("gt", "X, Y", "Greater?", ("1 > NULL", "true"), |a| compare(a, "gt", Ordering::is_gt)),
    row("ge", "X, Y", "Greater or equal?", ("1 >= 2", "false"), |a| compare(a, "ge", Ordering::is_ge)),
    row("and", "X, Y", "Both?", ("and(1 2, 0 1)", "[false,true]"), |a| logic(a, |x, y| Some(x? && y?))),
    row("or", "X, Y", "One of them? A NULL is left out.", ("NULL or true", "true"), |a| {
        logic(a, |x, y| match (x, y) {
            (None, other) | (other, None) => other,
            (Some(x), Some(y)) => Some(x || y),
        })
    }),
    row("xor", "X, Y", "One of them alone?", ("xor(5 6, 0 1)", "[true,false]"), |a| logic(a, |x, y| Some(x? != y?))),
    row("not", "X", "Not so?", ("!true", "false"), |a| {
        truth(a[0].ty)?;
        Ok(bools(|columns| {
            let truths = truths(&columns[0])?;
            Ok(Column::of_bools(!&truths, columns[0].validity().cloned()))
        }))
    }),
    row("bitAnd", "X, Y", "And of each bit.", ("bitAnd(6, 3)", "2"), |a| bits(a, "bitAnd", |x, y| Some(x & y))),
    row("bitOr", "X, Y", "Or of each bit.", ("bitOr(6, 3)", "7"), |a| bits(a, "bitOr", |x, y| Some(x | y))),
    row("bitXor", "X, Y", "Exclusive or of each bit.", ("bitXor(6, 3)", "5"), |a| {
        bits(a, "bitXor", |x, y| Some(x ^ y))
    }),
    row("lshift", "X, Y", "The bits shifted to the left.", ("lshift(1, 3)", "8"), |a| {
        bits(a, "lshift", |x, y| x.checked_shl(u32::try_from(y).ok()?))
    }),
    row("rshift", "X, Y", "The bits shifted to the right.", ("rshift(8, 3)", "1"), |a| {
        bits(a, "rshift", |x, y| x.checked_shr(u32::try_from(y).ok()?))
    }),
    row("in", "X, set", "Is it one of these?", ("in(1 2 3, 1 3)", "[true,false,true]"), is_in),
    row(
        "between",
        "X, range",
        "Within a pair, both ends included?",
        ("between(1 5 8, 1:6)", "[true,true,false]"),
        between,
    ),
    row(
        "like",
        "X, pattern",
        "Does a text match a pattern, where `%` stands for any letters?",
        ("like(`apple`pear, \"%pp%\")", "[true,false]"),
        like,
    ),
];

/// No function of these types.
fn unfit(name: &str, args: &[Argument]) -> Diagnostic {
    let types: Vec<String> = args.iter().map(|arg| arg.ty.to_string()).collect();
    Diagnostic::new(format!("{name} does not take these types: types=`{}`", types.join(", ")))
}

/// The type that holds numbers of both types.
pub(super) fn common_number(a: Type, b: Type) -> Option<Type> {
    use Type as T;
    let rank = |ty: Type| match ty {
        T::Void => Some(0),
        T::Bool => Some(1),
        T::Char => Some(2),
        T::Short => Some(3),
        T::Int => Some(4),
        T::Long => Some(5),
        T::Float => Some(6),
        T::Double => Some(7),
        _ if ty.is_decimal() => Some(8),
        _ => None,
    };
    let (low, high) = if rank(a)? < rank(b)? { (a, b) } else { (b, a) };
    Some(match (low, high) {
        (T::Long, T::Float) => T::Double,
        (low, high) if high.is_decimal() && low.is_decimal() && low != high => T::Double,
        (low, high) if high.is_decimal() && low.is_float() => T::Double,
        (_, high) => high,
    })
}

/// The type that holds values of both types; `None` if they are of different kinds.
pub(crate) fn common_type(a: Type, b: Type) -> Option<Type> {
    match (a, b) {
        (a, b) if a == b => Some(a),
        (Type::Void, other) | (other, Type::Void) => Some(other),
        (a, b) if a.is_text() && b.is_text() => Some(Type::String),
        (a, b) if a.is_temporal() && b.is_temporal() => {
            let finer = |from, to| rescale(from, to, 0).is_some() && rank_time(to) >= rank_time(from);
            if finer(a, b) { Some(b) } else { finer(b, a).then_some(a) }
        }
        (a, b) => common_number(a, b),
    }
}

fn rank_time(ty: Type) -> i64 {
    ty.units_per_day().unwrap_or(0)
}

type Floats = ScalarBuffer<f64>;

fn floats(column: &Column) -> Floats {
    column.to_f64s().unwrap_or_else(|| vec![0.0; column.len()].into())
}

fn wholes(column: &Column) -> ScalarBuffer<i64> {
    column.to_i64s().unwrap_or_else(|| vec![0; column.len()].into())
}

/// Calls a function for each row where both are valid.
fn zip<T: Copy, R: Item>((x, y): (&[T], &[T]), columns: &[Column], ty: Type, f: impl Fn(T, T) -> Option<R>) -> Column {
    let nulls = NullBuffer::union(columns[0].validity(), columns[1].validity());
    // A plain loop first, for the common case that no row lacks a result; what stands under a NULL does no harm.
    let mut total = true;
    let result = |(&x, &y): (&T, &T)| {
        let result = f(x, y);
        total &= result.is_some();
        result.unwrap_or_default()
    };
    let values: Vec<R> = x.iter().zip(y).map(result).collect();
    if total {
        return R::column(ty, values, nulls, &Vocabulary::default());
    }
    let mut output = Output::of(x.len());
    for (row, (&x, &y)) in x.iter().zip(y).enumerate() {
        let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        output.push(if valid { f(x, y) } else { None });
    }
    output.column(ty, &Vocabulary::default())
}

fn float_kernel(ty: Type, f: impl Fn(f64, f64) -> Option<f64> + Send + Sync + 'static) -> BoundRow {
    let infinite = move |value: f64| if ty == Type::Float { (value as f32).is_infinite() } else { value.is_infinite() };
    let kernel = move |columns: &[Column]| {
        let (x, y) = (floats(&columns[0]), floats(&columns[1]));
        let results = zip((&x, &y), columns, ty, &f);
        let overflows = match ty {
            Type::Float => results.f32s().iter().fold(false, |any, value| any | value.is_infinite()),
            _ => results.f64s().iter().fold(false, |any, value| any | value.is_infinite()),
        };
        if !overflows {
            return Ok(results);
        }
        // What is infinite already may stay so.
        let fits = |x: f64, y: f64, z: f64| !infinite(z) || x.is_infinite() || y.is_infinite();
        Ok(zip((&x, &y), columns, ty, |x, y| f(x, y).filter(|&z| fits(x, y, z))))
    };
    BoundRow { ty, kernel: Box::new(kernel) }
}

fn whole_kernel(ty: Type, f: impl Fn(i64, i64) -> Option<i64> + Send + Sync + 'static) -> BoundRow {
    let (low, high) = ty.range();
    // The bits that the type's storage lacks.
    let lacking = (high as u64).leading_zeros() - 1;
    let kernel = move |columns: &[Column]| {
        let (x, y) = (wholes(&columns[0]), wholes(&columns[1]));
        Ok(match ty.is_temporal() {
            true => zip((&x, &y), columns, ty, |x, y| f(x, y).filter(|z| (low..=high).contains(z))),
            false => zip((&x, &y), columns, ty, |x, y| Some((f(x, y)? << lacking) >> lacking).filter(|z| *z >= low)),
        })
    };
    BoundRow { ty, kernel: Box::new(kernel) }
}

fn arithmetic(
    args: &[Argument],
    name: &str,
    float: impl Fn(f64, f64) -> Option<f64> + Send + Sync + 'static,
    whole: impl Fn(i64, i64) -> Option<i64> + Send + Sync + 'static,
) -> Result<BoundRow> {
    let ty = common_number(args[0].ty, args[1].ty).ok_or_else(|| unfit(name, args))?;
    Ok(match ty {
        Type::Void | Type::Bool => whole_kernel(Type::Int, whole),
        ty if ty.is_integer() => whole_kernel(ty, whole),
        ty if ty.is_float() => float_kernel(ty, float),
        _ => float_kernel(Type::Double, float),
    })
}

/// Sums and differences of decimals of one scale stay decimals.
fn decimals(args: &[Argument], f: fn(i128, i128) -> Option<i128>) -> Option<BoundRow> {
    let ty = args[0].ty;
    let kernel = move |columns: &[Column]| {
        let (x, y) = (columns[0].decimals(), columns[1].decimals());
        Ok(zip((x, y), columns, ty, |x, y| f(x, y).filter(|&digits| ty.holds_digits(digits))))
    };
    (ty.is_decimal() && ty == args[1].ty).then(|| BoundRow { ty, kernel: Box::new(kernel) })
}

fn add(args: &[Argument]) -> Result<BoundRow> {
    let plain = |ty: Type| ty.is_integer() || matches!(ty, Type::Bool | Type::Void);
    if let Some(bound) = decimals(args, i128::checked_add).or_else(|| complex::arithmetic(args, complex::add)) {
        return Ok(bound);
    }
    match (args[0].ty, args[1].ty) {
        (a, b) if a.is_text() && (b.is_text() || b == Type::Void) || b.is_text() && a == Type::Void => {
            let kernel = |columns: &[Column]| {
                let (x, y) = (convert(&columns[0], Type::String)?, convert(&columns[1], Type::String)?);
                let both = x.texts().iter().zip(y.texts());
                let joined: Vec<String> = both.map(|(x, y)| [x.unwrap_or(""), y.unwrap_or("")].concat()).collect();
                Ok(Column::of_texts(joined.iter().map(|text| Some(text.as_str()))))
            };
            Ok(BoundRow { ty: Type::String, kernel: Box::new(kernel) })
        }
        (time, steps) | (steps, time) if time.is_temporal() && plain(steps) => Ok(whole_kernel(time, i64::checked_add)),
        _ => arithmetic(args, "add", |x, y| Some(x + y), |x, y| Some(x.wrapping_add(y))),
    }
}

fn sub(args: &[Argument]) -> Result<BoundRow> {
    if let Some(bound) = decimals(args, i128::checked_sub).or_else(|| complex::arithmetic(args, complex::subtract)) {
        return Ok(bound);
    }
    match (args[0].ty, args[1].ty) {
        (time, steps) if time.is_temporal() && (steps.is_integer() || steps == Type::Void) => {
            Ok(whole_kernel(time, i64::checked_sub))
        }
        (a, b) if a.is_temporal() && a == b => Ok(whole_kernel(difference_type(a), i64::checked_sub)),
        _ => arithmetic(args, "sub", |x, y| Some(x - y), |x, y| Some(x.wrapping_sub(y))),
    }
}

fn floor_div(x: i64, y: i64) -> Option<i64> {
    let quotient = x.checked_div(y)?;
    Some(if x % y != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient })
}

fn floor_mod(x: i64, y: i64) -> Option<i64> {
    let rest = x.checked_rem(y)?;
    Some(if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest })
}

fn ratio(args: &[Argument]) -> Result<BoundRow> {
    if let Some(bound) = complex::arithmetic(args, complex::divide) {
        return Ok(bound);
    }
    common_number(args[0].ty, args[1].ty).ok_or_else(|| unfit("ratio", args))?;
    Ok(float_kernel(Type::Double, |x, y| (y != 0.0).then(|| x / y)))
}

fn pow(args: &[Argument]) -> Result<BoundRow> {
    common_number(args[0].ty, args[1].ty).ok_or_else(|| unfit("pow", args))?;
    Ok(float_kernel(Type::Double, |x, y| {
        let power = x.powf(y);
        power.is_finite().then_some(power)
    }))
}

fn negate(args: &[Argument]) -> Result<BoundRow> {
    let ty = args[0].ty;
    let plain = Vocabulary::default();
    Ok(match ty {
        ty if ty.is_decimal() => {
            let kernel = move |columns: &[Column]| {
                let digits = columns[0].decimals().iter().map(|digits| -digits).collect();
                Ok(Column::of_decimals(ty, digits, columns[0].validity().cloned()))
            };
            BoundRow { ty, kernel: Box::new(kernel) }
        }
        ty if ty.is_float() => {
            let kernel = move |columns: &[Column]| {
                let values = floats(&columns[0]).iter().map(|value| -value).collect();
                Ok(f64::column(ty, values, columns[0].validity().cloned(), &plain))
            };
            BoundRow { ty, kernel: Box::new(kernel) }
        }
        ty if ty.is_number() || ty == Type::Void => {
            let ty = if ty.is_integer() { ty } else { Type::Int };
            let kernel = move |columns: &[Column]| {
                let values = wholes(&columns[0]).iter().map(|value| value.wrapping_neg()).collect();
                Ok(i64::column(ty, values, columns[0].validity().cloned(), &plain))
            };
            BoundRow { ty, kernel: Box::new(kernel) }
        }
        _ => return Err(unfit("neg", args)),
    })
}

fn bits(
    args: &[Argument],
    name: &str,
    f: impl Fn(i64, i64) -> Option<i64> + Send + Sync + 'static,
) -> Result<BoundRow> {
    match common_number(args[0].ty, args[1].ty) {
        Some(ty) if ty.is_integer() => Ok(whole_kernel(ty, f)),
        _ => Err(unfit(name, args)),
    }
}

fn bools(kernel: impl Fn(&[Column]) -> Result<Column> + Send + Sync + 'static) -> BoundRow {
    BoundRow { ty: Type::Bool, kernel: Box::new(kernel) }
}

/// What `compare` orders values as.
enum Ordered {
    Whole,
    Float,
    Text,
    Bytes,
    Other,
}

fn ordered(name: &str, args: &[Argument]) -> Result<(Ordered, Type)> {
    let (a, b) = (args[0].ty, args[1].ty);
    let whole = |ty: Type| ty.is_integer() || ty.is_temporal() || matches!(ty, Type::Bool | Type::Void);
    match common_type(a, b) {
        Some(ty) if ty.is_text() => Ok((Ordered::Text, ty)),
        Some(ty) if whole(ty) => Ok((Ordered::Whole, ty)),
        Some(ty) if ty.is_number() => Ok((Ordered::Float, Type::Double)),
        Some(Type::Complex | Type::Point) if !matches!(name, "eq" | "ne") => {
            Err(unfit(name, args).help("complex numbers and points have no order"))
        }
        Some(ty) if is_bytes(ty) => Ok((Ordered::Bytes, ty)),
        Some(ty) => Ok((Ordered::Other, ty)),
        // A time may be compared with a plain number of its units.
        None if whole(a) && whole(b) && !(a.is_temporal() && b.is_temporal()) => Ok((Ordered::Whole, Type::Void)),
        None => Err(unfit(name, args)),
    }
}

/// One bit for each row, by how its two values stand to each other; NULL is the smallest value.
fn compare_rows<'a, T: ?Sized + 'a>(
    columns: &[Column],
    value: impl Fn(usize, usize) -> &'a T,
    order: impl Fn(&T, &T) -> Ordering,
    test: impl Fn(Ordering) -> bool,
) -> BooleanBuffer {
    let rows = columns[0].len();
    match (columns[0].validity(), columns[1].validity()) {
        (None, None) => BooleanBuffer::collect_bool(rows, |row| test(order(value(0, row), value(1, row)))),
        (x, y) => BooleanBuffer::collect_bool(rows, |row| {
            let valid = |nulls: Option<&NullBuffer>| nulls.is_none_or(|nulls| nulls.is_valid(row));
            test(match (valid(x), valid(y)) {
                (true, true) => order(value(0, row), value(1, row)),
                (x, y) => x.cmp(&y),
            })
        }),
    }
}

fn compare(
    args: &[Argument],
    name: &str,
    test: impl Fn(Ordering) -> bool + Copy + Send + Sync + 'static,
) -> Result<BoundRow> {
    let (kind, ty) = ordered(name, args)?;
    let equality = name == "eq" || name == "ne";
    let both = move |columns: &[Column]| -> Result<[Column; 2]> {
        let to = |column: &Column| {
            let mixed = column.ty().is_temporal() && ty.is_temporal() && column.ty() != ty;
            if mixed { convert(column, ty) } else { Ok(column.clone()) }
        };
        Ok([to(&columns[0])?, to(&columns[1])?])
    };
    Ok(bools(move |columns| {
        let bits = match kind {
            Ordered::Whole => {
                let columns = both(columns)?;
                let values = [wholes(&columns[0]), wholes(&columns[1])];
                compare_rows(&columns, |side, row| &values[side][row], i64::cmp, test)
            }
            Ordered::Float => {
                let values = [floats(&columns[0]), floats(&columns[1])];
                compare_rows(columns, |side, row| &values[side][row], f64::order, test)
            }
            Ordered::Text => match (columns[0].dictionary(), columns[1].dictionary()) {
                (Some(x), Some(y)) if equality && x.id() == y.id() => {
                    compare_rows(columns, |side, row| &columns[side].codes()[row], u32::cmp, test)
                }
                _ => {
                    let text = |column: &Column| convert(column, Type::String);
                    let strings = [text(&columns[0])?, text(&columns[1])?];
                    let texts = [strings[0].texts(), strings[1].texts()];
                    compare_rows(&strings, |side, row| texts[side].value(row), str::cmp, test)
                }
            },
            Ordered::Bytes => compare_rows(columns, |side, row| columns[side].bytes_at(row), <[u8]>::cmp, test),
            Ordered::Other => BooleanBuffer::collect_bool(columns[0].len(), |row| {
                test(order_scalars(&columns[0].get(row), &columns[1].get(row)))
            }),
        };
        Ok(Column::of_bools(bits, None))
    }))
}

/// The smaller of two values in each row; NULL is the smallest.
pub(super) fn smaller(args: &[Argument]) -> Result<BoundRow> {
    choose(args, "min", Ordering::Less)
}

/// The greater of two values in each row; NULL is the smallest.
pub(super) fn greater(args: &[Argument]) -> Result<BoundRow> {
    choose(args, "max", Ordering::Greater)
}

fn choose(args: &[Argument], name: &str, wanted: Ordering) -> Result<BoundRow> {
    let ty = common_type(args[0].ty, args[1].ty).ok_or_else(|| unfit(name, args))?;
    let kernel = move |columns: &[Column]| {
        let (x, y) = (convert(&columns[0], ty)?, convert(&columns[1], ty)?);
        by_class!(ty, T => {
            let (mut left, mut words) = (Vec::with_capacity(x.len()), Vocabulary::default());
            values::<T>(&x, &mut words, |value| left.push(value))?;
            let (mut row, mut output) = (0, Output::<T>::of(x.len()));
            values::<T>(&y, &mut words, |other| {
                let value = left[row].take();
                row += 1;
                let order = match (&value, &other) {
                    (Some(value), Some(other)) => value.order(other),
                    (value, other) => value.is_some().cmp(&other.is_some()),
                };
                output.push(if order == wanted { value } else { other });
            })?;
            Ok(output.column(ty, &words))
        })
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

fn values<T: Item>(column: &Column, words: &mut Vocabulary, f: impl FnMut(Option<T>)) -> Result<()> {
    T::rows(&[column], words, Each(column.len(), f))
}

/// Calls a function with the value of each of so many rows.
struct Each<F>(usize, F);

impl<T, F: FnMut(Option<T>)> Reading<T> for Each<F> {
    fn read(self, value: impl Fn(usize) -> Option<T>) -> Result<()> {
        (0..self.0).map(value).for_each(self.1);
        Ok(())
    }
}

fn truth(ty: Type) -> Result<()> {
    match ty {
        ty if ty.is_number() || ty == Type::Void => Ok(()),
        ty => Err(Diagnostic::new(format!("a truth value is wanted: type=`{ty}`"))),
    }
}

/// One bit for each row: is the value not 0? What stands under a NULL is any bit.
pub(crate) fn truths(column: &Column) -> Result<BooleanBuffer> {
    Ok(match column.ty() {
        Type::Bool | Type::Void => column.bools().clone(),
        _ => convert(column, Type::Bool)?.bools().clone(),
    })
}

fn logic(
    args: &[Argument],
    f: impl Fn(Option<bool>, Option<bool>) -> Option<bool> + Send + Sync + 'static,
) -> Result<BoundRow> {
    truth(args[0].ty)?;
    truth(args[1].ty)?;
    Ok(bools(move |columns| {
        let (x, y) = (truths(&columns[0])?, truths(&columns[1])?);
        let value = |bits: &BooleanBuffer, column: &Column, row: usize| (!column.is_null(row)).then(|| bits.value(row));
        let of = |row: usize| f(value(&x, &columns[0], row), value(&y, &columns[1], row));
        let bits = BooleanBuffer::collect_bool(x.len(), |row| of(row) == Some(true));
        let clean = columns[0].null_count() == 0 && columns[1].null_count() == 0;
        let valid = (!clean).then(|| NullBuffer::new(BooleanBuffer::collect_bool(x.len(), |row| of(row).is_some())));
        Ok(Column::of_bools(bits, valid))
    }))
}

fn is_in(args: &[Argument]) -> Result<BoundRow> {
    let set = match setting(args, 1) {
        Some(Value::Vector(column)) => column.clone(),
        Some(Value::Scalar(ty, value)) => Column::of_scalars(*ty, [value]),
        Some(Value::Dict(dict)) => dict.lock().key_column(),
        Some(Value::Tuple(_)) | None | Some(_) => {
            return Err(Diagnostic::new("a vector is wanted: function=`in`, parameter=`set`"));
        }
    };
    let ty = common_type(args[0].ty, set.ty()).ok_or_else(|| {
        Diagnostic::new(format!("in does not take these types: types=`{}, {}`", args[0].ty, set.ty()))
    })?;
    let as_text = ty.is_text();
    let set = convert(&set, if as_text { Type::String } else { ty })?;
    let with_null = set.null_count() > 0;
    if as_text {
        let texts: HashSet<String> = set.texts().iter().flatten().map(str::to_string).collect();
        return Ok(bools(move |columns| {
            let column = &columns[0];
            let bits =
                match column.dictionary() {
                    Some(dictionary) => {
                        let codes: HashSet<u32> = texts.iter().filter_map(|text| dictionary.find(text)).collect();
                        let found = |row: usize| codes.contains(&column.codes()[row]);
                        BooleanBuffer::collect_bool(column.len(), |row| {
                            if column.is_null(row) { with_null } else { found(row) }
                        })
                    }
                    None => {
                        let strings = convert(column, Type::String)?;
                        let found = |row: usize| texts.contains(strings.texts().value(row));
                        BooleanBuffer::collect_bool(column.len(), |row| {
                            if strings.is_null(row) { with_null } else { found(row) }
                        })
                    }
                };
            Ok(Column::of_bools(bits, None))
        }));
    }
    if ty.is_float() || ty.is_decimal() {
        let set: HashSet<u64> = floats(&set).iter().map(|value| (value + 0.0).to_bits()).collect();
        return Ok(bools(move |columns| {
            let values = floats(&columns[0]);
            let found = |row: usize| set.contains(&(values[row] + 0.0).to_bits());
            let bits = |row: usize| if columns[0].is_null(row) { with_null } else { found(row) };
            Ok(Column::of_bools(BooleanBuffer::collect_bool(values.len(), bits), None))
        }));
    }
    if is_bytes(ty) {
        let valid = (0..set.len()).filter(|&row| !set.is_null(row));
        let values: HashSet<Vec<u8>> = valid.map(|row| set.bytes_at(row).to_vec()).collect();
        return Ok(bools(move |columns| {
            let column = convert(&columns[0], ty)?;
            let found =
                |row: usize| if column.is_null(row) { with_null } else { values.contains(column.bytes_at(row)) };
            Ok(Column::of_bools(BooleanBuffer::collect_bool(column.len(), found), None))
        }));
    }
    let set: HashSet<i64> = wholes(&set).iter().copied().collect();
    Ok(bools(move |columns| {
        let values = wholes(&convert(&columns[0], ty)?);
        let bits = |row: usize| if columns[0].is_null(row) { with_null } else { set.contains(&values[row]) };
        Ok(Column::of_bools(BooleanBuffer::collect_bool(values.len(), bits), None))
    }))
}

fn between(args: &[Argument]) -> Result<BoundRow> {
    let wanted = || Diagnostic::new("a pair is wanted: function=`between`, parameter=`range`");
    let Some(Value::Pair(low, high)) = setting(args, 1) else { return Err(wanted()) };
    let end = |value: &Value| match value {
        Value::Scalar(ty, value) => Ok(Column::of_scalars(*ty, [value])),
        _ => Err(wanted()),
    };
    let (low, high) = (end(low)?, end(high)?);
    let at_least = compare(&[args[0].clone(), Argument::of(low.ty())], "between", Ordering::is_ge)?;
    let at_most = compare(&[args[0].clone(), Argument::of(high.ty())], "between", Ordering::is_le)?;
    Ok(bools(move |columns| {
        let rows = vec![0; columns[0].len()];
        let low = (at_least.kernel)(&[columns[0].clone(), low.take(&rows)])?;
        let high = (at_most.kernel)(&[columns[0].clone(), high.take(&rows)])?;
        Ok(Column::of_bools(low.bools() & high.bools(), None))
    }))
}

fn like(args: &[Argument]) -> Result<BoundRow> {
    let Some(Value::Scalar(_, Scalar::Text(pattern))) = setting(args, 1) else {
        return Err(Diagnostic::new("a text is wanted: function=`like`, parameter=`pattern`"));
    };
    if !args[0].ty.is_text() {
        return Err(unfit("like", &args[..1]));
    }
    let pattern: Vec<char> = pattern.chars().collect();
    Ok(bools(move |columns| {
        let strings = convert(&columns[0], Type::String)?;
        let texts = strings.texts();
        let found = |row: usize| !strings.is_null(row) && like_pattern(&pattern, texts.value(row));
        Ok(Column::of_bools(BooleanBuffer::collect_bool(strings.len(), found), None))
    }))
}

/// Does a text match a pattern with `%` for any letters and `_` for one?
pub(super) fn like_pattern(pattern: &[char], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut place, mut retry) = (0, 0, None);
    while at < text.len() {
        match pattern.get(place) {
            Some('%') => {
                retry = Some((place + 1, at));
                place += 1;
            }
            Some(letter) if *letter == '_' || *letter == text[at] => (at, place) = (at + 1, place + 1),
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (place, at) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[place..].iter().all(|letter| *letter == '%')
}
