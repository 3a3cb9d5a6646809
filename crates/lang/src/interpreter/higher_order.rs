//! Functions that call a function: `each`, `accumulate`, `moving` and their like.

use super::containers::{column_of, given, wanted};
use super::index::{element, length};
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::{gathered, script};
use crate::matrix::Labels;
use crate::value::{Args, Host, Value};
use data::{Column, Type};
use std::sync::Arc;

pub(crate) static FUNCTIONS: &[Function] = &[
    script("call", "func, args, ...", "Calls a function.", ("call(add, 1, 2)", "3"), |host, args| {
        host.apply(wanted(args, 0, "func")?, rest(args, 1))
    }),
    script(
        "each",
        "func, args, ...",
        "The function of each element: a vector of scalars, a matrix of vectors of one length, else a tuple. The \
         elements of a matrix or a table are its columns.",
        ("each(x -> x * 2, 1 2)", "[2,4]"),
        |host, args| together(each(host, args)?, args),
    ),
    script(
        "peach",
        "func, args, ...",
        "The same as `each`: all elements are taken in one thread.",
        ("peach(x -> x * 2, 1 2)", "[2,4]"),
        |host, args| together(each(host, args)?, args),
    ),
    script(
        "loop",
        "func, args, ...",
        "The function of each element, as a tuple.",
        ("loop(x -> x * 2, 1 2)", "(2,4)"),
        |host, args| Ok(Value::Tuple(each(host, args)?)),
    ),
    script(
        "ploop",
        "func, args, ...",
        "The same as `loop`: all elements are taken in one thread.",
        ("ploop(x -> x * 2, 1 2)", "(2,4)"),
        |host, args| Ok(Value::Tuple(each(host, args)?)),
    ),
    script(
        "eachLeft",
        "func, X, Y",
        "The function of each element of X with Y.",
        ("eachLeft(add, 1 2, 10)", "[11,12]"),
        |host, args| {
            let (function, x, y) = (wanted(args, 0, "func")?, wanted(args, 1, "X")?, wanted(args, 2, "Y")?);
            together(map(x, |x| host.apply(function, vec![x, y.clone()]))?, args)
        },
    ),
    script(
        "eachRight",
        "func, X, Y",
        "The function of X with each element of Y.",
        ("eachRight(add, 1, 10 20)", "[11,21]"),
        |host, args| {
            let (function, x, y) = (wanted(args, 0, "func")?, wanted(args, 1, "X")?, wanted(args, 2, "Y")?);
            together(map(y, |y| host.apply(function, vec![x.clone(), y]))?, args)
        },
    ),
    script(
        "eachPre",
        "func, X, [pre]",
        "The function of each element with the one before.",
        ("eachPre(sub, 3 5 9)", "[,2,4]"),
        |host, args| {
            let (function, x) = (wanted(args, 0, "func")?, wanted(args, 1, "X")?);
            let mut before = given(args, 2, "pre").cloned();
            let pairs = map(x, |x| {
                let value = match before.take() {
                    Some(before) => host.apply(function, vec![x.clone(), before]),
                    None => Ok(Value::NULL),
                };
                before = Some(x);
                value
            });
            together(pairs?, args)
        },
    ),
    script(
        "eachPost",
        "func, X, [post]",
        "The function of each element with the one after.",
        ("eachPost(sub, 3 5 9)", "[-2,-4,]"),
        |host, args| {
            let (function, x) = (wanted(args, 0, "func")?, wanted(args, 1, "X")?);
            let items = map(x, Ok)?;
            let mut values = vec![];
            for (place, item) in items.iter().enumerate() {
                values.push(match items.get(place + 1).or(given(args, 2, "post")) {
                    Some(after) => host.apply(function, vec![item.clone(), after.clone()])?,
                    None => Value::NULL,
                });
            }
            together(values, args)
        },
    ),
    script(
        "reduce",
        "func, X, [init]",
        "The last value of `accumulate`.",
        ("reduce(add, 1 2 3)", "6"),
        |host, args| {
            let init = given(args, 2, "init").cloned();
            Ok(accumulated(host, args)?.pop().or(init).unwrap_or(Value::NULL))
        },
    ),
    script(
        "byRow",
        "func, X, ...",
        "The function of each row over several columns, or of each row of a matrix.",
        ("byRow(max, [1 5, 3 4])", "[3,5]"),
        by_row,
    ),
    script(
        "rolling",
        "func, args, window, [step=1]",
        "The function of `window` rows, moved on by `step`; of a matrix, for each column.",
        ("rolling(sum, 1 2 3 4, 2, 2)", "[3,7]"),
        rolling,
    ),
];

/// The results for the elements of some arguments as one value: a vector, or a matrix, with the labels of the first
/// matrix among them; a tuple where the results are neither.
fn together(results: Vec<Value>, args: &Args) -> Result<Value> {
    let labels = args.values.iter().flatten().find_map(|value| match value {
        Value::Matrix(matrix) => Some(matrix.labels()),
        _ => None,
    });
    gathered(results, labels.unwrap_or_default())
}

/// All arguments by place from one on.
fn rest(args: &Args, from: usize) -> Vec<Value> {
    args.values.iter().skip(from).map(|value| value.clone().unwrap_or(Value::NULL)).collect()
}

fn map(values: &Value, mut f: impl FnMut(Value) -> Result<Value>) -> Result<Vec<Value>> {
    match (values, length(values)) {
        (Value::Table(table), _) => {
            table.batch().columns().iter().cloned().map(|column| f(Value::Vector(column))).collect()
        }
        (_, Some(count)) => (0..count).map(|place| f(element(values, place)?)).collect(),
        (scalar, None) => Ok(vec![f(scalar.clone())?]),
    }
}

/// The function of the first elements, of the second ones, and so on; a scalar goes with each.
fn each(host: &mut dyn Host, args: &Args) -> Result<Vec<Value>> {
    let function = wanted(args, 0, "func")?;
    let args: Vec<Value> = rest(args, 1);
    let columns: Vec<Value> = args
        .into_iter()
        .map(|arg| match arg {
            Value::Table(table) => Value::Tuple(table.batch().columns().iter().cloned().map(Value::Vector).collect()),
            other => other,
        })
        .collect();
    let Some(count) = columns.iter().filter_map(length).max() else {
        return Ok(vec![host.apply(function, columns)?]);
    };
    let mut values = vec![];
    for place in 0..count {
        let of = |column: &Value| match length(column) {
            Some(own) if own == count => element(column, place),
            Some(own) => Err(Diagnostic::new(format!("arguments of different length: sizes=`{count}, {own}`"))),
            None => Ok(column.clone()),
        };
        let arguments = columns.iter().map(of).collect::<Result<Vec<Value>>>()?;
        values.push(host.apply(function, arguments)?);
    }
    Ok(values)
}

/// The function of what came of it before and the next element, at each one.
pub(crate) fn accumulate(host: &mut dyn Host, args: &Args) -> Result<Value> {
    Ok(Value::vector(accumulated(host, args)?))
}

fn accumulated(host: &mut dyn Host, args: &Args) -> Result<Vec<Value>> {
    let (function, x) = (wanted(args, 0, "func")?, wanted(args, 1, "X")?);
    let mut before = given(args, 2, "init").cloned();
    map(x, |x| {
        let value = match before.take() {
            Some(before) => host.apply(function, vec![before, x])?,
            None => x,
        };
        before = Some(value.clone());
        Ok(value)
    })
}

/// The columns of a function's arguments: vectors given one by one, in a tuple, or as a matrix or table.
pub(super) fn columns(values: &[Value]) -> Result<Vec<Column>> {
    match values {
        [Value::Tuple(values)] => values.iter().map(|value| column_of(value, None)).collect(),
        [Value::Table(table)] => Ok(table.batch().columns().to_vec()),
        [Value::Matrix(matrix)] => Ok(matrix.columns().to_vec()),
        values => values.iter().map(|value| column_of(value, None)).collect(),
    }
}

fn by_row(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let function = wanted(args, 0, "func")?;
    let given = rest(args, 1);
    let columns = columns(&given)?;
    let rows = columns.first().map_or(0, Column::len);
    if columns.iter().any(|column| column.len() != rows) {
        return Err(Diagnostic::new("columns of different length: function=`byRow`"));
    }
    let row = |row: usize| Value::vector(columns.iter().map(|column| Value::of_row(column, row)).collect());
    let results: Vec<Value> = (0..rows).map(|place| host.apply(function, vec![row(place)])).collect::<Result<_>>()?;
    let [Value::Matrix(matrix)] = &given[..] else { return Ok(Value::vector(results)) };
    // The results for the rows of a matrix are rows.
    let labels = Labels { rows: matrix.column_labels(), columns: matrix.row_labels() };
    match gathered(results, labels)? {
        Value::Matrix(rows) => Ok(Value::Matrix(Arc::new(rows.transposed()?))),
        value => Ok(value),
    }
}

/// The function of each column.
pub(crate) fn by_column(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let function = wanted(args, 0, "func")?;
    let values = columns(&rest(args, 1))?.into_iter().map(|column| host.apply(function, vec![Value::Vector(column)]));
    Ok(Value::vector(values.collect::<Result<_>>()?))
}

/// The function of some rows of its arguments. Of array vectors it takes all elements of the rows in a row.
fn of_rows(host: &mut dyn Host, function: &Value, columns: &[Column], from: usize, to: usize) -> Result<Value> {
    if let Some(short) = columns.iter().find(|column| column.len() < to) {
        return Err(Diagnostic::new(format!("columns of different length: rows=`{}`", short.len())));
    }
    host.apply(function, columns.iter().map(|column| Value::Vector(elements(column, from, to))).collect())
}

/// Some rows of a column; of an array vector, all their elements in a row.
pub(crate) fn elements(column: &Column, from: usize, to: usize) -> Column {
    if column.ty().element().is_none() {
        return column.slice(from, to - from);
    }
    let offsets = column.list_offsets();
    let (start, end) = (offsets[from] as usize, offsets[to] as usize);
    column.list_elements().slice(start, end - start)
}

fn whole(args: &Args, place: usize, name: &str) -> Result<usize> {
    let value = wanted(args, place, name)?;
    let whole = value.as_i64().and_then(|value| usize::try_from(value).ok()).filter(|value| *value > 0);
    whole.ok_or_else(|| {
        Diagnostic::new(format!("a whole number above 0 is wanted: parameter=`{name}`, found=`{value}`"))
    })
}

/// The function of the last `window` rows at each row.
pub(crate) fn moving(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let columns = columns(std::slice::from_ref(wanted(args, 1, "args")?))?;
    let window = whole(args, 2, "window")?;
    let periods = if given(args, 3, "minPeriods").is_some() { whole(args, 3, "minPeriods")? } else { window };
    let rows = columns.first().map_or(0, Column::len);
    let mut values = vec![];
    for row in 0..rows {
        let from = (row + 1).saturating_sub(window);
        values.push(match row + 1 - from >= periods {
            true => of_rows(host, wanted(args, 0, "func")?, &columns, from, row + 1)?,
            false => Value::NULL,
        });
    }
    Ok(Value::vector(values))
}

fn rolling(host: &mut dyn Host, args: &Args) -> Result<Value> {
    match wanted(args, 1, "args")? {
        Value::Matrix(matrix) => {
            let columns = matrix.columns().iter();
            let results = columns.map(|column| rolled(host, std::slice::from_ref(column), args));
            gathered(results.collect::<Result<_>>()?, matrix.labels())
        }
        value => rolled(host, &columns(std::slice::from_ref(value))?, args),
    }
}

fn rolled(host: &mut dyn Host, columns: &[Column], args: &Args) -> Result<Value> {
    let window = whole(args, 2, "window")?;
    let step = if given(args, 3, "step").is_some() { whole(args, 3, "step")? } else { 1 };
    let rows = columns.first().map_or(0, Column::len);
    let starts = (0..rows).step_by(step).take_while(|start| start + window <= rows);
    let values = starts.map(|start| of_rows(host, wanted(args, 0, "func")?, columns, start, start + window));
    Ok(Value::vector(values.collect::<Result<_>>()?))
}

/// The function of the rows that far from each row.
pub(crate) fn window(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let columns = columns(std::slice::from_ref(wanted(args, 1, "args")?))?;
    let range = wanted(args, 2, "range")?;
    let Value::Pair(low, high) = range else {
        return Err(Diagnostic::new(format!("a pair is wanted: parameter=`range`, found=`{range}`")));
    };
    let (Some(low), Some(high)) = (low.as_i64(), high.as_i64()) else {
        return Err(Diagnostic::new(format!("whole numbers are wanted: parameter=`range`, found=`{range}`")));
    };
    let rows = columns.first().map_or(0, Column::len) as i64;
    let bound = |row: i64, far: i64| row.saturating_add(far).clamp(0, rows) as usize;
    let mut values = vec![];
    for row in 0..rows {
        let (from, to) = (bound(row, low), bound(row, high.saturating_add(1)));
        values.push(match from < to {
            true => of_rows(host, wanted(args, 0, "func")?, &columns, from, to)?,
            false => Value::NULL,
        });
    }
    Ok(Value::vector(values))
}

/// The function within each run of equal values of `segment`.
pub(crate) fn segment_by(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let columns = columns(std::slice::from_ref(wanted(args, 1, "args")?))?;
    let segment = column_of(wanted(args, 2, "segment")?, columns.first().map(Column::len))?;
    let mut parts = vec![];
    let mut from = 0;
    for row in 1..=segment.len() {
        if row < segment.len() && segment.get(row) == segment.get(row - 1) {
            continue;
        }
        let value = of_rows(host, wanted(args, 0, "func")?, &columns, from, row)?;
        parts.push(column_of(&value, Some(row - from))?);
        from = row;
    }
    match parts.is_empty() {
        true => Ok(Value::Vector(segment)),
        false => Ok(Value::Vector(Column::concat(&parts.iter().collect::<Vec<_>>())?)),
    }
}

/// The function with the NULLs at the start left out.
pub(crate) fn talib(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let values = rest(args, 1);
    let vectors = values.iter().filter_map(|value| match value {
        Value::Vector(column) => Some(column),
        _ => None,
    });
    let first_valid = |column: &Column| (0..column.len()).find(|&row| !column.is_null(row)).unwrap_or(column.len());
    let skip = vectors.map(first_valid).max().unwrap_or(0);
    let cut = |value: Value| match value {
        Value::Vector(column) => Value::Vector(column.slice(skip.min(column.len()), column.len().saturating_sub(skip))),
        other => other,
    };
    let result = host.apply(wanted(args, 0, "func")?, values.into_iter().map(cut).collect())?;
    let put_back = |value: Value| match value {
        Value::Vector(column) if column.ty() != Type::Void => {
            Ok(Value::Vector(Column::concat(&[&Column::nulls(column.ty(), skip), &column])?))
        }
        other => Ok(other),
    };
    match result {
        Value::Tuple(values) => Ok(Value::Tuple(values.into_iter().map(put_back).collect::<Result<_>>()?)),
        value => put_back(value),
    }
}
