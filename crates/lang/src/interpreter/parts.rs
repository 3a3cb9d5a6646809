//! Parts of vectors, tuples and tables: taken, cut, turned round and put into a row.

use super::containers::{cast, given, unfit, wanted};
use super::index::{element, length};
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::common_type;
use crate::library::script;
use crate::value::{Args, Host, Table, Value, vector_type};
use data::{Column, Type};

pub(crate) static FUNCTIONS: &[Function] = &[
    script("head", "obj, [n]", "The first element, or the first `n` ones.", ("head(6 5 4, 2)", "[6,5]"), |_, args| {
        end(args, "head", false)
    }),
    script("tail", "obj, [n]", "The last element, or the last `n` ones.", ("tail(6 5 4, 2)", "[5,4]"), |_, args| {
        end(args, "tail", true)
    }),
    script("reverse", "X", "The elements from the last to the first.", ("reverse(1 2 3)", "[3,2,1]"), |_, args| {
        reverse(wanted(args, 0, "X")?)
    }),
    script(
        "cut",
        "X, size",
        "A tuple of parts of that many elements; with places in a vector, of the parts that begin there.",
        ("cut(1 2 3 4 5, 2)", "([1,2],[3,4],[5])"),
        |_, args| cut(wanted(args, 0, "X")?, wanted(args, 1, "size")?),
    ),
    script(
        "flatten",
        "X",
        "The elements of a tuple's vectors, or of an array vector, in one vector.",
        ("flatten([1 2, 3 4])", "[1,2,3,4]"),
        |host, args| flatten(host, wanted(args, 0, "X")?),
    ),
    script(
        "transpose",
        "X",
        "A matrix with its rows as columns.",
        ("transpose(matrix(1 2, 3 4))", "([1,3],[2,4])"),
        |_, args| {
            let columns = columns_of(wanted(args, 0, "X")?)?;
            let rows = columns.first().map_or(0, Column::len);
            let cells: Vec<Column> = columns;
            let row = |row: usize| Value::vector(cells.iter().map(|column| Value::of_row(column, row)).collect());
            Ok(Value::Tuple((0..rows).map(row).collect()))
        },
    ),
    script("shape", "X", "How many rows and columns, as a pair.", ("shape(matrix(1 2 3, 4 5 6))", "3:2"), |_, args| {
        let value = wanted(args, 0, "X")?;
        let (rows, columns) = match value {
            Value::Table(table) => (table.batch().rows(), table.batch().columns().len()),
            Value::Tuple(_) => {
                let columns = columns_of(value)?;
                (columns.first().map_or(0, Column::len), columns.len())
            }
            value => (length(value).unwrap_or(1), 1),
        };
        Ok(Value::Pair(Box::new(Value::int(rows as i32)), Box::new(Value::int(columns as i32))))
    }),
    script(
        "matrix",
        "X...",
        "Columns of one length and type, as a tuple; functions across a row take it for its columns.",
        ("rowSum(matrix(1 2, 3 4))", "[4,6]"),
        matrix,
    ),
];

/// So many elements from one on.
fn part(function: &str, value: &Value, from: usize, count: usize) -> Result<Value> {
    match value {
        Value::Vector(column) => Ok(Value::Vector(column.slice(from, count))),
        Value::Tuple(values) => Ok(Value::Tuple(values[from..from + count].to_vec())),
        Value::Table(table) => Ok(Value::Table(Table::new(table.batch().slice(from, count)))),
        other => Err(unfit(function, other)),
    }
}

/// The elements at one end.
fn end(args: &Args, function: &str, last: bool) -> Result<Value> {
    let value = wanted(args, 0, "obj")?;
    let size = match value {
        Value::Vector(_) | Value::Tuple(_) | Value::Table(_) => length(value).unwrap_or(0),
        other => return Err(unfit(function, other)),
    };
    match given(args, 1, "n") {
        Some(n) => {
            let count = n.as_i64().and_then(|count| usize::try_from(count).ok());
            let count = count.ok_or_else(|| {
                Diagnostic::new(format!("a whole number from 0 on is wanted: parameter=`n`, found=`{n}`"))
            })?;
            let count = count.min(size);
            part(function, value, if last { size - count } else { 0 }, count)
        }
        None if size == 0 => Err(Diagnostic::new(format!("there is no element: function=`{function}`"))),
        None => element(value, if last { size - 1 } else { 0 }),
    }
}

fn reverse(value: &Value) -> Result<Value> {
    let rows = |count: usize| (0..count as u32).rev().collect::<Vec<u32>>();
    match value {
        Value::Vector(column) => Ok(Value::Vector(column.take(&rows(column.len())))),
        Value::Tuple(values) => Ok(Value::Tuple(values.iter().rev().cloned().collect())),
        Value::Table(table) => {
            let batch = table.batch();
            Ok(Value::Table(Table::new(batch.take(&rows(batch.rows())))))
        }
        other => Err(unfit("reverse", other)),
    }
}

fn cut(value: &Value, size: &Value) -> Result<Value> {
    let count = match value {
        Value::Vector(_) | Value::Tuple(_) | Value::Table(_) => length(value).unwrap_or(0),
        other => return Err(unfit("cut", other)),
    };
    let starts: Vec<usize> = match size {
        Value::Vector(places) => {
            let places = places.to_i64s().filter(|_| places.ty().is_integer() && places.null_count() == 0);
            let places = places.unwrap_or_default();
            let rising = places.windows(2).all(|two| two[0] < two[1]);
            let within = places.iter().all(|place| (0..count as i64).contains(place));
            if places.is_empty() || !rising || !within {
                let wanted = "rising places of elements are wanted";
                return Err(Diagnostic::new(format!("{wanted}: parameter=`size`, found=`{size}`, size=`{count}`")));
            }
            places.iter().map(|&place| place as usize).collect()
        }
        size => match size.as_i64().and_then(|size| usize::try_from(size).ok()) {
            Some(step) if step > 0 => (0..count).step_by(step).collect(),
            _ => {
                let wanted = "a whole number above 0, or places in a vector, are wanted";
                return Err(Diagnostic::new(format!("{wanted}: parameter=`size`, found=`{size}`")));
            }
        },
    };
    let ends = starts.iter().skip(1).copied().chain([count]);
    let parts = starts.iter().zip(ends).map(|(&start, end)| part("cut", value, start, end - start));
    Ok(Value::Tuple(parts.collect::<Result<_>>()?))
}

fn flatten(host: &mut dyn Host, value: &Value) -> Result<Value> {
    match value {
        Value::Vector(column) if column.ty().element().is_some() => {
            let offsets = column.list_offsets();
            let (start, end) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
            Ok(Value::Vector(column.list_elements().slice(start, end - start)))
        }
        Value::Vector(_) => Ok(value.clone()),
        Value::Tuple(values) => {
            let column = |value: &Value| match value {
                Value::Vector(column) => Some(column.clone()),
                Value::Scalar(ty, scalar) => Some(Column::repeat(*ty, scalar, 1)),
                _ => None,
            };
            let columns: Option<Vec<Column>> = values.iter().map(column).collect();
            let columns = columns.ok_or_else(|| unfit("flatten", value))?;
            let ty = columns.iter().try_fold(Type::Void, |ty, column| vector_type(ty, column.ty()));
            match ty {
                Some(ty) if !columns.is_empty() => concat(host, columns, ty),
                Some(_) => Ok(Value::Vector(Column::nulls(Type::Void, 0))),
                // Elements of no one type are a tuple again.
                None => {
                    let elements = |column: &Column| (0..column.len()).map(|row| Value::of_row(column, row)).collect();
                    Ok(Value::Tuple(columns.iter().flat_map(|column| -> Vec<Value> { elements(column) }).collect()))
                }
            }
        }
        other => Err(unfit("flatten", other)),
    }
}

fn concat(host: &mut dyn Host, columns: Vec<Column>, ty: Type) -> Result<Value> {
    let columns = columns.iter().map(|column| cast(host, column, ty)).collect::<Result<Vec<_>>>()?;
    Ok(Value::Vector(Column::concat(&columns.iter().collect::<Vec<_>>())?))
}

/// The columns of a matrix.
fn columns_of(value: &Value) -> Result<Vec<Column>> {
    let unfit = || Diagnostic::new(format!("a matrix is wanted: found=`{}`", value.kind()));
    let Value::Tuple(values) = value else { return Err(unfit()) };
    let column = |value: &Value| match value {
        Value::Vector(column) if column.ty().element().is_none() => Some(column.clone()),
        _ => None,
    };
    let columns: Vec<Column> = values.iter().map(column).collect::<Option<_>>().ok_or_else(unfit)?;
    match columns.windows(2).all(|two| two[0].len() == two[1].len()) {
        true => Ok(columns),
        false => Err(unfit()),
    }
}

/// The elements of a vector as a matrix of so many rows and columns, column by column.
pub(super) fn shaped(value: &Value, rows: &Value, columns: &Value) -> Result<Value> {
    let wanted = || Diagnostic::new(format!("whole numbers above 0 are wanted: shape=`{rows}:{columns}`"));
    let count = |value: &Value| value.as_i64().and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
    let (rows, columns) = (count(rows).ok_or_else(wanted)?, count(columns).ok_or_else(wanted)?);
    let column = super::containers::column_of(value, None)?;
    if rows.checked_mul(columns) != Some(column.len()) {
        let found = column.len();
        return Err(Diagnostic::new(format!(
            "not as many elements as the shape has: shape=`{rows}:{columns}`, elements=`{found}`"
        )));
    }
    Ok(Value::Tuple((0..columns).map(|place| Value::Vector(column.slice(place * rows, rows))).collect()))
}

fn matrix(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let mut columns: Vec<Column> = vec![];
    for value in args.values.iter().flatten().chain(args.named.iter().map(|(_, value)| value)) {
        match value {
            Value::Vector(column) if column.ty().element().is_none() => columns.push(column.clone()),
            Value::Tuple(values) => {
                for value in values {
                    let Value::Vector(column) = value else { return Err(unfit("matrix", value)) };
                    columns.push(column.clone());
                }
            }
            Value::Table(table) => columns.extend(table.batch().columns().iter().cloned()),
            other => return Err(unfit("matrix", other)),
        }
    }
    let Some(rows) = columns.first().map(Column::len) else {
        return Err(Diagnostic::new("matrix expects columns: found=`0`"));
    };
    if let Some(other) = columns.iter().find(|column| column.len() != rows) {
        let found = other.len();
        return Err(Diagnostic::new(format!("columns of different length: function=`matrix`, rows=`{rows}, {found}`")));
    }
    let types = || columns.iter().map(|column| column.ty().to_string()).collect::<Vec<_>>().join(", ");
    let ty = columns.iter().try_fold(Type::Void, |ty, column| common_type(ty, column.ty()));
    let ty = ty.ok_or_else(|| Diagnostic::new(format!("columns of one kind are wanted: types=`{}`", types())))?;
    let columns = columns.iter().map(|column| Ok(Value::Vector(cast(host, column, ty)?)));
    Ok(Value::Tuple(columns.collect::<Result<_>>()?))
}
