//! Functions of whole vectors: order, ranks, places and parts of the range of values.

use super::cast::convert;
use super::entry::script;
use super::item::{Item, Vocabulary};
use super::keyed::refuse;
use super::operator::common_type;
use super::output::Output;
use super::ranking::{Order, Ranking, sorted};
use super::settings::{choice, flag, need_number, number, numbers, setting, whole};
use super::sorted::{Percentile, Sorted};
use crate::function::{Argument, Function, Result};
use crate::value::{Args, Value};
use data::{Column, Scalar, Type};
use std::cmp::Ordering;

pub(super) static FUNCTIONS: &[Function] = &[
    script(
        "sort",
        "X, [ascending=true]",
        "The values in order; NULL is the smallest.",
        ("sort([3,2,,5])", "[,2,3,5]"),
        |_, args| {
            let column = vector(args, 0, "X")?;
            let ascending = flag(&settings(args), 1, "ascending", true)?;
            Ok(Value::Vector(column.take(&Order::of(column).sorted(0..column.len(), ascending))))
        },
    ),
    script(
        "isort",
        "X, [ascending=true]",
        "The places of the values in order. Of a tuple of vectors, the places of the rows by the first one, then by \
         the second one, and so on; `ascending` may then be a vector too.",
        ("isort(4 1 3 2)", "[1,3,2,0]"),
        |_, args| {
            let (rows, orders) = orders(args)?;
            let ascending = flags(&settings(args), 1, "ascending", orders.len())?;
            Ok(places(sorted(&orders, &ascending, 0..rows)))
        },
    ),
    script("isSorted", "X, [ascending=true]", "Are the values in order?", ("isSorted(1 2 2 5)", "true"), |_, args| {
        let column = vector(args, 0, "X")?;
        let order = Order::of(column);
        let ascending = flag(&settings(args), 1, "ascending", true)?;
        let wrong = if ascending { Ordering::Greater } else { Ordering::Less };
        Ok(Value::bool((1..column.len()).all(|row| order.compare(row - 1, row) != wrong)))
    }),
    script(
        "rank",
        "X, [ascending=true], [groupNum], [ignoreNA=true], [tiesMethod=`min], [percent=false], [precision]",
        "The rank of each value, from 0: its place among all in order, or its group where these are divided into \
         `groupNum` groups. Equal values have one rank by `tiesMethod`: `min`, `max`, `average` or, each its own, \
         `first`. With `precision` values that differ in later digits alone are equal.",
        ("rank(9 1 6 1 3 3)", "[5,0,4,0,2,2]"),
        |_, args| ranks(args, Ranking::of),
    ),
    script(
        "denseRank",
        "X, [ascending=true], [ignoreNA=true], [percent=false], [precision]",
        "The rank of each value, from 0, without gaps: how many different values are smaller.",
        ("denseRank(1 5 5 6 8)", "[0,1,1,2,3]"),
        |_, args| ranks(args, Ranking::dense),
    ),
    script(
        "isDuplicated",
        "X, [keep=FIRST]",
        "Is it a value that occurs more than once? `keep` says which of its rows is not told: `FIRST`, `LAST` or \
         `NONE`. Of a tuple of vectors, whole rows are compared.",
        ("isDuplicated(1 3 1 2 1, LAST)", "[true,false,true,false,false]"),
        |_, args| is_duplicated(args),
    ),
    script(
        "winsorize",
        "X, limit, [inclusive=true], [nanPolicy=`upper]",
        "The part `limit` of the values at each end, or two parts, replaced by the value nearest to them. The number \
         of these is rounded down, or to the nearest if not `inclusive`. NULLs count as the greatest values, as the \
         smallest (`lower`), as none (`omit`) or are refused (`raise`).",
        ("winsorize(1 2 3 4 5 6 7 8 9 10, 0.1)", "[2,2,3,4,5,6,7,8,9,9]"),
        |_, args| winsorize(args),
    ),
    script(
        "bucket",
        "vector, dataRange, bucketNum, [includeOutbound=false]",
        "The part of a range that each value lies in, from 0; the range goes from its first value to before its second \
         one. NULL outside, unless all below and all above are a part too.",
        ("bucket(9 23 54 36 46 12, 12:54, 2)", "[,0,,1,1,0]"),
        |_, args| bucket(args),
    ),
    script(
        "quantileSeries",
        "X, q, [interpolation=`linear]",
        "The value below which each part `q` of all lies.",
        ("quantileSeries(1 2 3 4 5, 0.25 0.5)", "[2,3]"),
        |_, args| quantile_series(args),
    ),
    script(
        "find",
        "X, Y",
        "The first place in X of each value of Y, -1 where there is none.",
        ("find(7 5 7, 7 8)", "[0,-1]"),
        |_, args| look_up(args, true, first_equal),
    ),
    script(
        "binsrch",
        "X, Y",
        "The place of each value of Y in X, which is in order; -1 where there is none.",
        ("binsrch(1 3 5, 3 4)", "[1,-1]"),
        |_, args| look_up(args, false, first_equal),
    ),
    script(
        "asof",
        "X, Y",
        "The last place in X, which is in order, whose value is not above that of Y; -1 where there is none.",
        ("asof(1 3 5, 0 3 4)", "[-1,1,1]"),
        |_, args| {
            look_up(args, false, |rows, order, y| {
                rows.partition_point(|&row| order.compare(row as usize, y).is_le()).checked_sub(1)
            })
        },
    ),
];

/// A vector among the arguments.
fn vector<'a>(args: &'a Args, place: usize, name: &str) -> Result<&'a Column> {
    match args.values.get(place) {
        Some(Some(Value::Vector(column))) => Ok(column),
        _ => refuse(format!("a vector is wanted: parameter=`{name}`")),
    }
}

/// All arguments as constants, to read the settings among them.
fn settings(args: &Args) -> Vec<Argument> {
    args.values.iter().map(|value| value.clone().map_or_else(Argument::left_out, Argument::constant)).collect()
}

/// So many truth values, from one for all or from a vector; true where they are left out.
fn flags(args: &[Argument], place: usize, name: &str, count: usize) -> Result<Vec<bool>> {
    match setting(args, place) {
        Some(Value::Vector(column)) => match column.to_i64s() {
            Some(flags) if flags.len() == count && column.null_count() == 0 => {
                Ok(flags.iter().map(|&flag| flag != 0).collect())
            }
            _ => refuse(format!("truth values are wanted: parameter=`{name}`, count=`{count}`")),
        },
        _ => Ok(vec![flag(args, place, name, true)?; count]),
    }
}

/// One number or several.
fn some_numbers(args: &[Argument], place: usize, name: &str) -> Result<Vec<f64>> {
    match setting(args, place) {
        Some(Value::Vector(_)) => Ok(numbers(args, place, name)?.unwrap_or_default()),
        _ => Ok(number(args, place, name)?.into_iter().collect()),
    }
}

/// Places as an INT vector.
fn places(rows: Vec<u32>) -> Value {
    Value::Vector(Column::of_i32(Type::Int, rows.into_iter().map(|row| row as i32).collect::<Vec<_>>(), None))
}

/// The number of rows of a vector or of a tuple of vectors, and the order of each.
fn orders(args: &Args) -> Result<(usize, Vec<Order>)> {
    let columns: Option<Vec<&Column>> = match args.values.first() {
        Some(Some(Value::Vector(column))) => Some(vec![column]),
        Some(Some(Value::Tuple(values))) => values
            .iter()
            .map(|value| match value {
                Value::Vector(column) => Some(column),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    match columns.as_deref() {
        Some([first, others @ ..]) if others.iter().all(|other| other.len() == first.len()) => {
            Ok((first.len(), columns.iter().flatten().map(|column| Order::of(column)).collect()))
        }
        _ => refuse("a vector or a tuple of vectors of one length is wanted: parameter=`X`"),
    }
}

fn ranks(args: &Args, ranking: fn(&[Argument]) -> Result<Ranking>) -> Result<Value> {
    let column = vector(args, 0, "X")?;
    let ranking = ranking(&settings(args))?;
    Ok(Value::Vector(ranking.column(column, std::iter::once(0..column.len()))?))
}

fn is_duplicated(args: &Args) -> Result<Value> {
    let keep = choice(&settings(args), 1, "keep", &["FIRST", "LAST", "NONE"])?.unwrap_or(0);
    let (rows, orders) = orders(args)?;
    let in_order = sorted(&orders, &vec![true; orders.len()], 0..rows);
    let same = |a: &u32, b: &u32| orders.iter().all(|order| order.compare(*a as usize, *b as usize).is_eq());
    let mut told = vec![false; rows];
    for run in in_order.chunk_by(same) {
        let run = match keep {
            0 => &run[1..],
            1 => &run[..run.len() - 1],
            _ if run.len() == 1 => continue,
            _ => run,
        };
        run.iter().for_each(|&row| told[row as usize] = true);
    }
    Ok(Value::Vector(Column::of_bools(told.into(), None)))
}

fn winsorize(args: &Args) -> Result<Value> {
    let (column, settings) = (vector(args, 0, "X")?, settings(args));
    let limits = some_numbers(&settings, 1, "limit")?;
    if !matches!(limits.len(), 1 | 2) || !limits.iter().all(|limit| (0.0..=1.0).contains(limit)) {
        return refuse("one or two numbers from 0 to 1 are wanted: parameter=`limit`");
    }
    let inclusive = flags(&settings, 2, "inclusive", 2)?;
    let policy = choice(&settings, 3, "nanPolicy", &["upper", "lower", "raise", "omit"])?.unwrap_or(0);
    let (order, rows) = (Order::of(column), column.len());
    let nulls = (0..rows).filter(|&row| order.is_null(row)).count();
    if policy == 2 && nulls > 0 {
        return refuse(format!("there are NULLs: parameter=`nanPolicy`, nulls=`{nulls}`"));
    }
    if nulls == rows {
        return Ok(Value::Vector(column.clone()));
    }
    let mut in_order = order.sorted(0..rows, true);
    if policy != 1 {
        in_order.rotate_left(nulls);
    }
    let end = if policy == 3 { rows - nulls } else { rows };
    let masked = |limit: f64, inclusive: bool| {
        let count = limit * rows as f64;
        if inclusive { count as usize } else { count.round() as usize }
    };
    let low = masked(limits[0], inclusive[0]).min(end - 1);
    let high = rows.saturating_sub(masked(limits[limits.len() - 1], inclusive[1])).max(1);
    // Which row's value stands in each row.
    let mut from: Vec<u32> = (0..rows as u32).collect();
    for &row in &in_order[..low] {
        from[row as usize] = in_order[low];
    }
    if high < end {
        let nearest = from[in_order[high - 1] as usize];
        for &row in &in_order[high..end] {
            from[row as usize] = nearest;
        }
    }
    Ok(Value::Vector(column.take(&from)))
}

fn bucket(args: &Args) -> Result<Value> {
    let (column, settings) = (vector(args, 0, "vector")?, settings(args));
    let Some(Value::Pair(low, high)) = setting(&settings, 1) else {
        return refuse("a pair is wanted: parameter=`dataRange`");
    };
    let (Value::Scalar(low_ty, low), Value::Scalar(high_ty, high)) = (&**low, &**high) else {
        return refuse("a pair of scalars is wanted: parameter=`dataRange`");
    };
    let count = match whole(&settings, 2, "bucketNum")? {
        Some(count) if (1..i32::MAX as i64).contains(&count) => count,
        _ => return refuse("a whole number above 0 is wanted: parameter=`bucketNum`"),
    };
    let outside = flag(&settings, 3, "includeOutbound", false)?;
    let common = common_type(*low_ty, *high_ty).and_then(|range| common_type(range, column.ty()));
    let ty = match common {
        Some(ty) if ty.is_integer() || ty.is_temporal() => ty,
        Some(ty) if ty.is_number() => Type::Double,
        _ => return refuse(format!("numbers or times of one kind are wanted: types=`{}, {low_ty}`", column.ty())),
    };
    let bound = |ty_of: Type, value: &Scalar| convert(&Column::repeat(ty_of, value, 1), ty);
    let range = Column::concat(&[&bound(*low_ty, low)?, &bound(*high_ty, high)?])?;
    let values = convert(column, ty)?;
    let part: Box<dyn Fn(usize) -> Option<i64>> = if ty == Type::Double {
        let (bounds, values) = (range.f64s(), values.f64s());
        let (low, high) = (bounds[0], bounds[1]);
        if range.null_count() > 0 || !(low < high && low.is_finite() && high.is_finite()) {
            return refuse("a range from a smaller to a greater value is wanted: parameter=`dataRange`");
        }
        Box::new(move |row| match values[row] {
            value if value.is_nan() => None,
            value if value < low => Some(-1),
            value if value >= high => Some(count),
            value => Some((((value - low) / (high - low) * count as f64) as i64).min(count - 1)),
        })
    } else {
        let bounds = range.to_i64s().expect("a column of whole numbers");
        let values = values.to_i64s().expect("a column of whole numbers");
        let (low, high) = (bounds[0] as i128, bounds[1] as i128);
        if range.null_count() > 0 || low >= high {
            return refuse("a range from a smaller to a greater value is wanted: parameter=`dataRange`");
        }
        if ty.is_integer() && (high - low) % count as i128 != 0 {
            let size = high - low;
            return refuse(format!("the range cannot be divided into equal parts: size=`{size}`, bucketNum=`{count}`"));
        }
        Box::new(move |row| match values[row] as i128 {
            value if value < low => Some(-1),
            value if value >= high => Some(count),
            value => Some(((value - low) * count as i128 / (high - low)) as i64),
        })
    };
    let mut output = Output::<i64>::of(column.len());
    for row in 0..column.len() {
        let part = if values.is_null(row) { None } else { part(row) };
        output.push(match outside {
            true => part.map(|part| part + 1),
            false => part.filter(|part| (0..count).contains(part)),
        });
    }
    Ok(Value::Vector(output.column(Type::Int, &Vocabulary::default())))
}

fn quantile_series(args: &Args) -> Result<Value> {
    let (column, settings) = (vector(args, 0, "X")?, settings(args));
    need_number(&settings, 0)?;
    let parts = some_numbers(&settings, 1, "q")?;
    if parts.is_empty() || !parts.iter().all(|part| (0.0..=1.0).contains(part)) {
        return refuse("numbers from 0 to 1 are wanted: parameter=`q`");
    }
    let interpolation = choice(&settings, 2, "interpolation", Percentile::INTERPOLATIONS)?.unwrap_or(0);
    let values = convert(column, Type::Double)?;
    let mut sorted: Vec<f64> =
        (0..values.len()).filter(|&row| !values.is_null(row)).map(|row| values.f64s()[row]).collect();
    sorted.sort_unstable_by(Item::order);
    let mut output = Output::of(parts.len());
    parts.iter().for_each(|&percent| output.push(Percentile { percent, interpolation }.of(&sorted[..])));
    Ok(Value::Vector(output.column(Type::Double, &Vocabulary::default())))
}

/// The place in X of each value of Y. `place` finds it among the rows of X in their order, given the order and the
/// row of the value in it.
fn look_up(args: &Args, sort: bool, place: fn(&[u32], &Order, usize) -> Option<usize>) -> Result<Value> {
    let x = vector(args, 0, "X")?;
    let (y, scalar) = match args.values.get(1) {
        Some(Some(Value::Vector(column))) => (column.clone(), false),
        Some(Some(Value::Scalar(ty, value))) => (Column::repeat(*ty, value, 1), true),
        _ => return refuse("a scalar or a vector is wanted: parameter=`Y`"),
    };
    let Some(ty) = common_type(x.ty(), y.ty()) else {
        return refuse(format!("values of one kind are wanted: types=`{}, {}`", x.ty(), y.ty()));
    };
    let ty = if ty.is_text() { Type::String } else { ty };
    let rows = x.len();
    let order = Order::of(&Column::concat(&[&convert(x, ty)?, &convert(&y, ty)?])?);
    let in_order = if sort { order.sorted(0..rows, true) } else { (0..rows as u32).collect() };
    let found = (rows..rows + y.len()).map(|y| place(&in_order, &order, y).map_or(-1, |place| in_order[place] as i32));
    let found: Vec<i32> = found.collect();
    Ok(match scalar {
        true => Value::int(found[0]),
        false => Value::Vector(Column::of_i32(Type::Int, found, None)),
    })
}

/// The first row that equals a value.
fn first_equal(rows: &[u32], order: &Order, y: usize) -> Option<usize> {
    let place = rows.partition_point(|&row| order.compare(row as usize, y).is_lt());
    (place < rows.len() && order.compare(rows[place] as usize, y).is_eq()).then_some(place)
}
