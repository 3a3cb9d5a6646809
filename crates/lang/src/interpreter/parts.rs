//! Parts of vectors, tuples, matrices and tables: taken, cut, turned round and put into a row.

use super::containers::{cast, given, unfit, wanted};
use super::index::{element, length};
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::script;
use crate::value::{Args, Host, Table, Value, vector_type};
use data::{Column, Type};
use std::sync::Arc;

pub(crate) static FUNCTIONS: &[Function] = &[
    script("head", "obj, [n]", "The first element, or the first `n` ones.", ("head(6 5 4, 2)", "[6,5]"), |_, args| {
        end(args, "head", false)
    }),
    script("tail", "obj, [n]", "The last element, or the last `n` ones.", ("tail(6 5 4, 2)", "[5,4]"), |_, args| {
        end(args, "tail", true)
    }),
    script(
        "reverse",
        "X",
        "The elements from the last to the first; of a matrix or table, the rows.",
        ("reverse(1 2 3)", "[3,2,1]"),
        |_, args| reverse(wanted(args, 0, "X")?),
    ),
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
        "The elements of a tuple's vectors, of a matrix's columns, or of an array vector, in one vector.",
        ("flatten([1 2, 3 4])", "[1,2,3,4]"),
        |host, args| flatten(host, wanted(args, 0, "X")?),
    ),
];

/// So many elements from one on.
fn part(function: &str, value: &Value, from: usize, count: usize) -> Result<Value> {
    match value {
        Value::Vector(column) => Ok(Value::Vector(column.slice(from, count))),
        Value::Tuple(values) => Ok(Value::Tuple(values[from..from + count].to_vec())),
        Value::Table(table) => Ok(Value::Table(Table::new(table.batch().slice(from, count)))),
        Value::Matrix(matrix) => {
            let rows: Vec<u32> = (from as u32..(from + count) as u32).collect();
            Ok(Value::Matrix(Arc::new(matrix.take_rows(&rows))))
        }
        other => Err(unfit(function, other)),
    }
}

/// The elements at one end.
fn end(args: &Args, function: &str, last: bool) -> Result<Value> {
    let value = wanted(args, 0, "obj")?;
    let size = match value {
        Value::Vector(_) | Value::Tuple(_) | Value::Table(_) => length(value).unwrap_or(0),
        Value::Matrix(matrix) => matrix.rows(),
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
        None => {
            let place = if last { size - 1 } else { 0 };
            match value {
                Value::Matrix(matrix) => Ok(Value::Vector(matrix.row(place)?)),
                value => element(value, place),
            }
        }
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
        Value::Matrix(matrix) => Ok(Value::Matrix(Arc::new(matrix.take_rows(&rows(matrix.rows()))))),
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
        Value::Matrix(matrix) => Ok(Value::Vector(matrix.elements()?)),
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
