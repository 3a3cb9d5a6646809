//! Elements of containers: read and written.

use super::Interpreter;
use super::containers::{cast, column_of, typed};
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::value::{Dict, Host, Value};
use data::{Batch, Column, Field, Scalar, Schema, Type};
use parking_lot::Mutex;
use std::sync::Arc;

/// Which elements an index means.
pub(super) enum Places {
    /// One; `None` if there is no such element.
    One(Option<usize>),
    /// Several, in order; [`NOWHERE`] where there is no such element.
    Many(Vec<u32>),
}

pub(super) const NOWHERE: u32 = u32::MAX;

/// `value[places]`; with several places, one after another. A place left out means all. A matrix takes all of them.
pub(super) fn get(host: &mut dyn Host, value: &Value, places: &[Option<Value>]) -> Result<Value> {
    let mut value = value.clone();
    for (at, place) in places.iter().enumerate() {
        match (&value, place) {
            (Value::Matrix(matrix), _) => return super::cells::get(host, matrix, &places[at..]),
            (_, Some(place)) => value = get_one(host, &value, place)?,
            _ => {}
        }
    }
    Ok(value)
}

fn get_one(host: &mut dyn Host, value: &Value, place: &Value) -> Result<Value> {
    match value {
        Value::Dict(dict) => {
            let dict = dict.lock();
            let entry = |key: &Scalar| dict.get(key).cloned().unwrap_or(Value::NULL);
            match place {
                Value::Scalar(_, key) => Ok(entry(key)),
                Value::Vector(keys) => Ok(Value::vector((0..keys.len()).map(|row| entry(&keys.get(row))).collect())),
                other => Err(Diagnostic::new(format!("not a key: found=`{}`", other.kind()))),
            }
        }
        Value::Table(table) => get_of_table(&table.batch(), place),
        Value::Vector(column) => match places(place, column.len())? {
            Places::One(Some(row)) => Ok(Value::of_row(column, row)),
            Places::One(None) => Ok(Value::Scalar(column.ty(), Scalar::Null)),
            Places::Many(rows) => Ok(Value::Vector(take_or_null(column, &rows)?)),
        },
        Value::Tuple(values) => match places(place, values.len())? {
            Places::One(Some(row)) => Ok(values[row].clone()),
            Places::One(None) => {
                Err(Diagnostic::new(format!("no such element: index=`{place}`, size=`{}`", values.len())))
            }
            Places::Many(rows) => {
                let element = |&row: &u32| values.get(row as usize).cloned().unwrap_or(Value::NULL);
                Ok(Value::Tuple(rows.iter().map(element).collect()))
            }
        },
        Value::Matrix(matrix) => super::cells::get(host, matrix, &[Some(place.clone())]),
        Value::Pair(..) => match places(place, 2)? {
            Places::One(Some(row)) => element(value, row),
            _ => Err(Diagnostic::new(format!("no such element of a pair: index=`{place}`"))),
        },
        other => Err(Diagnostic::new(format!("has no elements: found=`{}`", other.kind()))),
    }
}

/// Rows of a column, NULL where there is none.
pub(super) fn take_or_null(column: &Column, rows: &[u32]) -> Result<Column> {
    if !rows.contains(&NOWHERE) {
        return Ok(column.take(rows));
    }
    let null = Column::nulls(column.ty(), 1);
    let places: Vec<(usize, usize)> =
        rows.iter().map(|&row| if row == NOWHERE { (1, 0) } else { (0, row as usize) }).collect();
    Ok(Column::interleave(&[column, &null], &places)?)
}

fn get_of_table(rows: &Batch, place: &Value) -> Result<Value> {
    if let Some(names) = place.names().filter(|_| !matches!(place, Value::Tuple(_))) {
        let column = |name: &str| {
            rows.schema().index_of(name).ok_or_else(|| {
                let known = rows.schema().names();
                let error = Diagnostic::new(format!("unknown column: column=`{name}`"));
                error.suggest(name, known.iter().map(String::as_str))
            })
        };
        if let (Value::Scalar(..), [name]) = (place, &names[..]) {
            return Ok(Value::Vector(rows.column(column(name)?).clone()));
        }
        let indexes = names.iter().map(|name| column(name)).collect::<Result<Vec<usize>>>()?;
        let fields = indexes.iter().map(|&index| rows.schema().fields()[index].clone()).collect();
        let columns = indexes.iter().map(|&index| rows.column(index).clone()).collect();
        return Ok(Value::Table(crate::value::Table::new(Batch::new(Arc::new(Schema::new(fields)?), columns)?)));
    }
    match places(place, rows.rows())? {
        Places::One(Some(row)) => Ok(row_of(rows, row)),
        Places::One(None) => Err(Diagnostic::new(format!("no such row: index=`{place}`, rows=`{}`", rows.rows()))),
        Places::Many(wanted) => {
            let columns =
                rows.columns().iter().map(|column| take_or_null(column, &wanted)).collect::<Result<Vec<_>>>()?;
            Ok(Value::Table(crate::value::Table::new(Batch::new(rows.schema().clone(), columns)?)))
        }
    }
}

/// A row as a dictionary by column.
fn row_of(rows: &Batch, row: usize) -> Value {
    let entries = rows.schema().fields().iter().zip(rows.columns());
    let entries = entries.map(|(field, column)| (Scalar::Text(field.name.clone()), Value::of_row(column, row)));
    Value::Dict(Arc::new(Mutex::new(Dict::of(Type::String, entries.collect()))))
}

/// The elements that an index means: a number, a pair for a half-open range, numbers, or a truth value for each.
pub(super) fn places(place: &Value, len: usize) -> Result<Places> {
    let within = |index: i64| usize::try_from(index).ok().filter(|&index| index < len);
    match place {
        Value::Scalar(ty, Scalar::Int(index)) if ty.is_integer() => Ok(Places::One(within(*index))),
        Value::Scalar(_, Scalar::Null) => Ok(Places::One(None)),
        Value::Pair(from, to) => {
            let bound = |value: &Value, open: usize| match value {
                Value::Scalar(_, Scalar::Null) => Some(open),
                value => value.as_i64().map(|index| index.clamp(0, len as i64) as usize),
            };
            match (bound(from, 0), bound(to, len)) {
                (Some(from), Some(to)) => Ok(Places::Many((from as u32..to.max(from) as u32).collect())),
                _ => Err(Diagnostic::new(format!("a range of elements needs whole numbers: found=`{place}`"))),
            }
        }
        Value::Vector(column) if column.ty() == Type::Bool && column.len() == len => Ok(Places::Many(met(column))),
        Value::Vector(column) if column.ty().is_integer() => {
            let index = |row: usize| match column.get(row) {
                Scalar::Int(index) => within(index).map_or(NOWHERE, |index| index as u32),
                _ => NOWHERE,
            };
            Ok(Places::Many((0..column.len()).map(index).collect()))
        }
        other => Err(Diagnostic::new(format!("not an index: found=`{}`", other.kind()))),
    }
}

/// The rows where a column of truth values is true.
pub(super) fn met(truths: &Column) -> Vec<u32> {
    let is_met = |row: &u32| !truths.is_null(*row as usize) && truths.bools().value(*row as usize);
    (0..truths.len() as u32).filter(is_met).collect()
}

/// How many elements a value has, those of a matrix being its columns; `None` if it is a scalar.
pub(super) fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Vector(column) => Some(column.len()),
        Value::Tuple(values) => Some(values.len()),
        Value::Matrix(matrix) => Some(matrix.columns().len()),
        Value::Pair(..) => Some(2),
        Value::Dict(dict) => Some(dict.lock().entries.len()),
        Value::Table(table) => Some(table.batch().rows()),
        _ => None,
    }
}

/// One element of what has a length; of a table, a row, of a matrix, a column.
pub(super) fn element(value: &Value, place: usize) -> Result<Value> {
    match value {
        Value::Vector(column) if place < column.len() => Ok(Value::of_row(column, place)),
        Value::Tuple(values) if place < values.len() => Ok(values[place].clone()),
        Value::Matrix(matrix) if place < matrix.columns().len() => Ok(Value::Vector(matrix.columns()[place].clone())),
        Value::Pair(first, _) if place == 0 => Ok((**first).clone()),
        Value::Pair(_, second) if place == 1 => Ok((**second).clone()),
        Value::Dict(dict) => match dict.lock().entries.get(place) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(Diagnostic::new(format!("no such element: index=`{place}`"))),
        },
        Value::Table(table) if place < table.batch().rows() => Ok(row_of(&table.batch(), place)),
        _ => Err(Diagnostic::new(format!("no such element: index=`{place}`, value=`{}`", value.kind()))),
    }
}

/// Is a dictionary within a value?
pub(super) fn holds(value: &Value, wanted: &Arc<Mutex<Dict>>) -> bool {
    let mut seen = std::collections::HashSet::new();
    let mut waiting = vec![value.clone()];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Dict(dict) if Arc::ptr_eq(&dict, wanted) => return true,
            Value::Dict(dict) if seen.insert(Arc::as_ptr(&dict)) => {
                waiting.extend(dict.lock().entries.iter().map(|(_, value)| value.clone()));
            }
            Value::Tuple(values) => waiting.extend(values),
            Value::Pair(a, b) => waiting.extend([*a, *b]),
            Value::Function(function) => waiting.extend(function.given.into_iter().flatten()),
            _ => {}
        }
    }
    false
}

/// Changes an element. A container that is shared is changed in place; of a vector, tuple or matrix, the changed one is
/// given.
pub(super) fn set(
    host: &mut Interpreter,
    container: Value,
    places_wanted: &[Option<Value>],
    value: Value,
) -> Result<Option<Value>> {
    if let Value::Matrix(matrix) = &container {
        return super::cells::set(host, matrix, places_wanted, &value).map(Some);
    }
    let [Some(place)] = places_wanted else {
        // `d["a", 1] = x`: the outer element, with its own element changed.
        let [Some(first), rest @ ..] = places_wanted else {
            return Err(Diagnostic::new("an index is needed to assign to an element"));
        };
        let inner = get_one(host, &container, first)?;
        let inner = set(host, inner.clone(), rest, value)?.unwrap_or(inner);
        return set(host, container, &[Some(first.clone())], inner);
    };
    match container {
        Value::Dict(dict) => {
            let Value::Scalar(ty, key) = place else {
                return Err(Diagnostic::new(format!("not a key: found=`{}`", place.kind())));
            };
            if dict.lock().set {
                return Err(Diagnostic::new("a set has no values to assign").help("write append!(set, key)"));
            }
            if value.too_deep() {
                return Err(crate::value::too_deep());
            }
            if holds(&value, &dict) {
                return Err(Diagnostic::new("a dictionary cannot hold itself"));
            }
            let mut dict = dict.lock();
            if dict.entries.is_empty() && dict.keys.is_none() {
                dict.keys = Some(*ty);
            }
            let fits = dict.key_type().is_text() == ty.is_text() || *ty == Type::Void;
            if !fits {
                let (wanted, found) = (dict.key_type(), ty);
                return Err(Diagnostic::new(format!("key of another type: wanted=`{wanted}`, found=`{found}`")));
            }
            let key = match *ty == dict.key_type() || key.is_null() {
                true => key.clone(),
                false => cast(host, &Column::repeat(*ty, key, 1), dict.key_type())?.get(0),
            };
            dict.set(key, value);
            Ok(None)
        }
        Value::Table(table) => {
            let Some(name) = place.as_text() else {
                return Err(Diagnostic::new("a column's name is needed to assign to a table: use `update` for rows"));
            };
            let rows = table.batch();
            let column = typed(column_of(&value, Some(rows.rows()))?);
            let mut fields = rows.schema().fields().to_vec();
            let mut columns = rows.columns().to_vec();
            match rows.schema().index_of(name) {
                Some(index) => columns[index] = cast(host, &column, fields[index].ty)?,
                None => {
                    fields.push(Field::new(name, column.ty()));
                    columns.push(column);
                }
            }
            table.set(Batch::new(Arc::new(Schema::new(fields)?), columns)?)?;
            Ok(None)
        }
        Value::Vector(column) => {
            let wanted = match places(place, column.len())? {
                Places::One(Some(row)) => vec![row as u32],
                Places::Many(rows) if !rows.contains(&NOWHERE) => rows,
                _ => return Err(Diagnostic::new(format!("no such element: index=`{place}`, size=`{}`", column.len()))),
            };
            let new = cast(host, &column_of(&value, Some(wanted.len()))?, column.ty())?;
            let mut from: Vec<(usize, usize)> = (0..column.len()).map(|row| (0, row)).collect();
            for (source, row) in wanted.into_iter().enumerate() {
                from[row as usize] = (1, source);
            }
            Ok(Some(Value::Vector(Column::interleave(&[&column, &new], &from)?)))
        }
        Value::Tuple(mut values) => match places(place, values.len())? {
            Places::One(Some(_)) if value.too_deep() => Err(crate::value::too_deep()),
            Places::One(Some(row)) => {
                values[row] = value;
                Ok(Some(Value::Tuple(values)))
            }
            _ => Err(Diagnostic::new(format!("no such element: index=`{place}`, size=`{}`", values.len()))),
        },
        Value::Object(object) => {
            let args = crate::value::Args { values: vec![Some(place.clone()), Some(value)], ..Default::default() };
            match host.method(&object, "set!", &args) {
                Some(result) => result.map(|_| None),
                None => Err(Diagnostic::new(format!("elements cannot be assigned: object=`{}`", object.class()))),
            }
        }
        other => Err(Diagnostic::new(format!("has no elements: found=`{}`", other.kind()))),
    }
}
