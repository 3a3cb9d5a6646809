//! Tables, dictionaries, vectors and tuples: made, measured and grown.

use super::index::{element, length};
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::script;
use crate::value::{Args, Dict, Host, Table, Value, vector_type};
use data::{Batch, Column, Field, Scalar, Schema, Type};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

pub(crate) static FUNCTIONS: &[Function] = &[
    script("size", "X", "How many elements; of a table, rows.", ("size(1 2 3)", "3"), |_, args| {
        Ok(Value::int(match wanted(args, 0, "X")? {
            Value::Matrix(matrix) => matrix.rows() * matrix.columns().len(),
            value => length(value).unwrap_or(1),
        } as i32))
    }),
    script("rows", "X", "How many rows.", ("rows(table(1 2 as a))", "2"), |_, args| {
        Ok(Value::int(match wanted(args, 0, "X")? {
            Value::Matrix(matrix) => matrix.rows(),
            value => length(value).unwrap_or(1),
        } as i32))
    }),
    script("cols", "X", "How many columns.", ("cols(table(1 2 as a))", "1"), |_, args| match wanted(args, 0, "X")? {
        Value::Table(table) => Ok(Value::int(table.batch().schema().len() as i32)),
        Value::Matrix(matrix) => Ok(Value::int(matrix.columns().len() as i32)),
        _ => Ok(Value::int(1)),
    }),
    script("typestr", "X", "What a value is, in words.", ("typestr(5)", "INT"), |_, args| {
        Ok(Value::text(&wanted(args, 0, "X")?.kind()))
    }),
    script("isVoid", "X", "Is it a bare NULL?", ("isVoid(NULL)", "true"), |_, args| {
        Ok(Value::bool(matches!(wanted(args, 0, "X")?, Value::Scalar(Type::Void, _))))
    }),
    script("print", "X, ...", "Prints its arguments, a line each.", ("print(`a)", ""), |host, args| {
        for value in args.values.iter().flatten() {
            host.print(&value.show());
        }
        Ok(Value::NULL)
    }),
    script(
        "table",
        "...",
        "A table of columns, or an empty one: `table(capacity:size, names, types)`.",
        ("size(table(1 2 as a, 3 4 as b))", "2"),
        |_, args| table(args),
    ),
    script("dict", "keyObj, valueObj, [ordered]", "A dictionary.", ("dict(`a`b, 1 2)[`b]", "2"), |_, args| dict(args)),
    script("array", "dataType, [size=0], [capacity], [default]", "A vector.", ("size(array(INT, 3))", "3"), array),
    script(
        "set",
        "X",
        "The set of the values; `|`, `&`, `-` and `^` of two sets are sets.",
        ("set(1 2 2) | set(3)", "set([1,2,3])"),
        |_, args| match distinct(wanted(args, 0, "X")?)? {
            Value::Vector(column) => Ok(Dict::set_of(&column)),
            other => Err(unfit("set", &other)),
        },
    ),
    script("distinct", "X", "The distinct values.", ("distinct(1 2 2 1)", "[1,2]"), |_, args| {
        distinct(wanted(args, 0, "X")?)
    }),
    script(
        "take",
        "X, n",
        "n elements, from the start again when there are no more.",
        ("take(1 2, 3)", "[1,2,1]"),
        take,
    ),
    script("join", "X, Y", "Both in a row.", ("join(1 2, 3)", "[1,2,3]"), |host, args| {
        let (x, y) = (wanted(args, 0, "X")?, wanted(args, 1, "Y")?);
        host.reserve(x.bytes().saturating_add(y.bytes()))?;
        join(x, y)
    }),
    script("append!", "obj, newData", "Adds rows or elements.", ("append!([1,2], 3)", "[1,2,3]"), append),
    script("push!", "obj, newData", "Adds rows or elements.", ("push!([1,2], 3)", "[1,2,3]"), append),
    script(
        "tableInsert",
        "table, args, ...",
        "Adds rows; gives their number.",
        ("tableInsert(table(1 as a), 2)", "1"),
        insert,
    ),
    script("clear!", "X", "Removes all rows or entries.", ("size(clear!(table(1 2 as a)))", "0"), |_, args| {
        clear(wanted(args, 0, "X")?)
    }),
    script("erase!", "obj, key", "Removes an entry.", ("size(erase!(dict(`a`b, 1 2), `a))", "1"), |_, args| {
        erase(wanted(args, 0, "obj")?, wanted(args, 1, "key")?)
    }),
    script("keys", "dictionary", "The keys.", ("keys(dict(1 2, 3 4))", "[1,2]"), |_, args| {
        match wanted(args, 0, "dictionary")? {
            Value::Dict(dict) => {
                let dict = dict.lock();
                Ok(Value::Vector(dict.key_column()))
            }
            Value::Table(table) => Ok(names(&table.batch())),
            other => Err(unfit("keys", other)),
        }
    }),
    script("values", "dictionary", "The values.", ("values(dict(1 2, 3 4))", "[3,4]"), |_, args| {
        match wanted(args, 0, "dictionary")? {
            Value::Dict(dict) => {
                Ok(Value::vector(dict.lock().entries.iter().map(|(_, value)| value.clone()).collect()))
            }
            Value::Table(table) => {
                Ok(Value::Tuple(table.batch().columns().iter().cloned().map(Value::Vector).collect()))
            }
            other => Err(unfit("values", other)),
        }
    }),
    script(
        "columnNames",
        "table",
        "The names of the columns; of a matrix, their labels.",
        ("columnNames(table(1 as a, 2 as b))", "[\"a\",\"b\"]"),
        |_, args| super::matrix::column_names("columnNames", wanted(args, 0, "table")?),
    ),
    script(
        "schema",
        "table",
        "Names and types of the columns, as `colDefs`.",
        ("schema(table(1 as a)).colDefs.name[0]", "a"),
        |_, args| match wanted(args, 0, "table")? {
            Value::Table(table) => schema(&table.batch()),
            other => Err(unfit("schema", other)),
        },
    ),
    script("at", "X, index", "The elements at these places.", ("at(5 6 7, 1)", "6"), |host, args| {
        super::index::get(host, wanted(args, 0, "X")?, &[Some(wanted(args, 1, "index")?.clone())])
    }),
    script("copy", "X", "A copy that shares nothing.", ("copy(1 2)", "[1,2]"), |_, args| {
        Ok(match wanted(args, 0, "X")? {
            Value::Table(table) => Value::Table(table.copy()),
            Value::Dict(dict) => Value::Dict(Arc::new(Mutex::new(dict.lock().copy()))),
            other => other.clone(),
        })
    }),
    script(
        "now",
        "[nanoSecond=false]",
        "The time, as TIMESTAMP or NANOTIMESTAMP.",
        ("isVoid(now())", "false"),
        |host, args| {
            let nanos = host.now().ok_or_else(|| Diagnostic::new("there is no clock here: function=`now`"))?;
            let fine = given(args, 0, "nanoSecond").and_then(Value::as_bool).unwrap_or(false);
            let (ty, value) =
                if fine { (Type::Nanotimestamp, nanos) } else { (Type::Timestamp, nanos.div_euclid(1_000_000)) };
            Ok(Value::Scalar(ty, Scalar::Int(value)))
        },
    ),
    script("today", "", "The date.", ("isVoid(today())", "false"), |host, _| {
        let nanos = host.now().ok_or_else(|| Diagnostic::new("there is no clock here: function=`today`"))?;
        Ok(Value::Scalar(Type::Date, Scalar::Int(nanos.div_euclid(86_400_000_000_000))))
    }),
    script("sleep", "milliseconds", "Waits.", ("isVoid(sleep(1))", "true"), sleep),
];

/// How long a script that waits does not look whether its time is over.
const NAP: Duration = Duration::from_millis(10);

fn sleep(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let wanted = wanted(args, 0, "milliseconds")?;
    let unfit = || Diagnostic::new(format!("a whole number from 0 on is wanted: milliseconds=`{wanted}`"));
    let mut rest = Duration::from_millis(wanted.as_i64().and_then(|ms| u64::try_from(ms).ok()).ok_or_else(unfit)?);
    while !rest.is_zero() {
        if let Some(limit) = host.late() {
            return Err(Diagnostic::new(format!("script took too long: limit_ms=`{limit}`")));
        }
        let nap = rest.min(NAP);
        host.sleep(nap)?;
        rest -= nap;
    }
    Ok(Value::NULL)
}

/// How many elements one call may make out of nothing.
pub(crate) const ELEMENTS_MAX: usize = 10_000_000;

/// A size that a script asks for.
pub(super) fn size_of(value: &Value) -> Result<usize> {
    let size = value.as_i64().and_then(|size| usize::try_from(size).ok()).filter(|&size| size <= ELEMENTS_MAX);
    size.ok_or_else(|| Diagnostic::new(format!("size is out of range: size=`{value}`, limit=`{ELEMENTS_MAX}`")))
}

/// An argument by place or by name.
pub(super) fn given<'a>(args: &'a Args, place: usize, name: &str) -> Option<&'a Value> {
    let named = || args.named.iter().find(|(known, _)| &**known == name).map(|(_, value)| value);
    args.values.get(place).and_then(Option::as_ref).or_else(named)
}

/// An argument that must be there.
pub(super) fn wanted<'a>(args: &'a Args, place: usize, name: &str) -> Result<&'a Value> {
    given(args, place, name)
        .ok_or_else(|| Diagnostic::at(args.span, format!("argument is missing: parameter=`{name}`")))
}

pub(super) fn unfit(function: &str, value: &Value) -> Diagnostic {
    Diagnostic::new(format!("argument of a wrong kind: function=`{function}`, found=`{}`", value.kind()))
}

pub(super) fn names(rows: &Batch) -> Value {
    Value::texts(rows.schema().fields().iter().map(|field| &*field.name))
}

/// A column as another type, by the library's own cast.
pub(crate) fn cast(host: &mut dyn Host, column: &Column, ty: Type) -> Result<Column> {
    if column.ty() == ty {
        return Ok(column.clone());
    }
    // An array vector without elements, or of NULLs, has no type of its own.
    if column.ty() == Type::Void || column.null_count() == column.len() {
        return Ok(Column::nulls(ty, column.len()));
    }
    let function = crate::library::find("cast").expect("the library can cast");
    let values = vec![Some(Value::Vector(column.clone())), Some(Value::Type(ty))];
    match crate::library::call(function, &Args { values, ..Args::default() }, host)? {
        Value::Vector(column) => Ok(column),
        other => Err(unfit("cast", &other)),
    }
}

/// A value as a column: a scalar `rows` times, a vector as it is, a matrix cell by cell, a tuple of vectors as an array
/// vector. A tuple of other values, for which there is no column type, becomes their texts, which parse back to them.
pub(super) fn column_of(value: &Value, rows: Option<usize>) -> Result<Column> {
    let column = match value {
        Value::Scalar(ty, scalar) => return Ok(Column::repeat(*ty, scalar, rows.unwrap_or(1))),
        Value::Vector(column) => column.clone(),
        Value::Matrix(matrix) => matrix.elements()?,
        Value::Tuple(values) if values.is_empty() => Column::nulls(Type::Void, 0),
        Value::Tuple(values) => {
            match values.iter().all(|value| matches!(value, Value::Vector(_) | Value::Scalar(..))) {
                true => array_vector(values)?,
                false => {
                    let texts: Vec<Option<String>> =
                        values.iter().map(|value| (!value.is_null()).then(|| value.to_string())).collect();
                    Column::of_texts(texts.iter().map(Option::as_deref))
                }
            }
        }
        other => return Err(Diagnostic::new(format!("not a column: found=`{}`", other.kind()))),
    };
    match rows {
        Some(rows) if column.len() != rows => {
            let found = column.len();
            Err(Diagnostic::new(format!("not as many values as rows: values=`{found}`, rows=`{rows}`")))
        }
        _ => Ok(column),
    }
}

/// A column as a table may hold it. Nothing is known of a bare NULL's type, and BOOL takes the least room.
pub(super) fn typed(column: Column) -> Column {
    if column.ty() == Type::Void { Column::nulls(Type::Bool, column.len()) } else { column }
}

/// Vectors of one type as the cells of an array vector.
pub(super) fn array_vector(cells: &[Value]) -> Result<Column> {
    let mut offsets = vec![0];
    let mut parts = vec![];
    let mut ty = Type::Void;
    for cell in cells {
        let part = column_of(cell, None)?;
        offsets.push(offsets[offsets.len() - 1] + part.len() as i32);
        ty = vector_type(ty, part.ty())
            .ok_or_else(|| Diagnostic::new(format!("cells of different types: first=`{ty}`, other=`{}`", part.ty())))?;
        parts.push(part);
    }
    if ty == Type::Void || ty.array_of().is_none() {
        return Err(Diagnostic::new(format!("no array vector of this type: type=`{ty}`")));
    }
    let scalars: Vec<Scalar> = parts.iter().flat_map(|part| (0..part.len()).map(|row| part.get(row))).collect();
    Ok(Column::of_lists(offsets, Column::of_scalars(ty, &scalars), None))
}

/// `table(1 2 as a, …)`, or `table(capacity:size, names, types)`.
pub(super) fn table(args: &Args) -> Result<Value> {
    // By place in the text, named or not.
    let unnamed = args.values.iter().map(|value| (None, value.as_ref()));
    let named = args.named.iter().map(|(name, value)| (Some(name.clone()), Some(value)));
    let mut columns: Vec<_> =
        unnamed.chain(named).zip(args.spans.iter().copied().chain(std::iter::repeat(args.span))).collect();
    columns.sort_by_key(|(_, span)| span.start);
    let columns: Vec<(Option<Arc<str>>, &Value)> =
        columns.into_iter().filter_map(|((name, value), _)| Some((name, value?))).collect();
    match &columns[..] {
        [(_, Value::Pair(_, size)), (_, names), (_, types)] => empty_table(names, types, size_of(size)?),
        [(_, Value::Table(table))] => Ok(Value::Table(Table::new(table.batch()))),
        [(_, Value::Matrix(matrix))] => {
            let columns: Vec<Value> = matrix.columns().iter().cloned().map(Value::Vector).collect();
            let label = |place: usize| Some(Value::of_row(matrix.column_labels()?, place).show().into());
            table_of(columns.iter().enumerate().map(|(place, column)| (label(place), column)).collect())
        }
        [(_, Value::Dict(dict))] => {
            let dict = dict.lock();
            table_of(dict.entries.iter().map(|(key, value)| (key.as_text().map(Arc::from), value)).collect())
        }
        _ => table_of(columns),
    }
}

fn table_of(columns: Vec<(Option<Arc<str>>, &Value)>) -> Result<Value> {
    let rows =
        columns.iter().filter(|(_, value)| !matches!(value, Value::Scalar(..))).find_map(|(_, value)| length(value));
    let mut fields = vec![];
    let mut made = vec![];
    for (index, (name, value)) in columns.into_iter().enumerate() {
        let column = typed(column_of(value, Some(rows.unwrap_or(1)))?);
        fields.push(Field::new(name.unwrap_or_else(|| format!("C{index}").into()), column.ty()));
        made.push(column);
    }
    Ok(Value::Table(Table::new(Batch::new(Arc::new(Schema::new(fields)?), made)?)))
}

fn empty_table(names: &Value, types: &Value, rows: usize) -> Result<Value> {
    let names = names.names().ok_or_else(|| unfit("table", names))?;
    let types = types_of(types)?;
    if names.len() != types.len() {
        let (names, types) = (names.len(), types.len());
        return Err(Diagnostic::new(format!("not as many types as columns: columns=`{names}`, types=`{types}`")));
    }
    let fields = names.into_iter().zip(types).map(|(name, ty)| Field::new(name, ty)).collect();
    let schema = Arc::new(Schema::new(fields)?);
    let columns = schema.fields().iter().map(|field| Column::nulls(field.ty, rows)).collect();
    Ok(Value::Table(Table::new(Batch::new(schema, columns)?)))
}

/// Types as a list: `[INT, DOUBLE]`, or their names.
pub(super) fn types_of(value: &Value) -> Result<Vec<Type>> {
    let one = |value: &Value| match value {
        Value::Type(ty) => Ok(*ty),
        value => value.as_text().and_then(Type::parse).ok_or_else(|| {
            let error = Diagnostic::new(format!("not a type: found=`{value}`"));
            error.suggest(value.as_text().unwrap_or_default(), Type::NAMED.iter().map(|(_, name)| *name))
        }),
    };
    match value {
        Value::Tuple(values) => values.iter().map(one).collect(),
        Value::Vector(column) => (0..column.len()).map(|row| one(&Value::of_row(column, row))).collect(),
        value => Ok(vec![one(value)?]),
    }
}

fn dict(args: &Args) -> Result<Value> {
    let (keys, values) = (wanted(args, 0, "keyObj")?, wanted(args, 1, "valueObj")?);
    let mut dict = Dict::default();
    match keys {
        Value::Type(ty) => dict.keys = Some(*ty),
        Value::Scalar(ty, key) => {
            dict.keys = Some(*ty);
            let value = if length(values) == Some(1) { element(values, 0)? } else { values.clone() };
            dict.set(key.clone(), value);
        }
        Value::Vector(column) => {
            if length(values) != Some(column.len()) {
                let (keys, values) = (column.len(), length(values).unwrap_or(1));
                return Err(Diagnostic::new(format!("not as many values as keys: keys=`{keys}`, values=`{values}`")));
            }
            dict.keys = Some(column.ty());
            for row in 0..column.len() {
                dict.set(column.get(row), element(values, row)?);
            }
        }
        other => return Err(unfit("dict", other)),
    }
    Ok(Value::Dict(Arc::new(Mutex::new(dict))))
}

fn array(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let size = given(args, 1, "size").map_or(Ok(0), size_of)?;
    let default = given(args, 3, "default").or_else(|| given(args, 3, "defaultValue"));
    host.reserve(default.map_or(std::mem::size_of::<i64>(), Value::bytes).saturating_mul(size))?;
    match wanted(args, 0, "dataType")? {
        Value::Builtin(any) if &**any == "ANY" => Ok(Value::Tuple(vec![default.cloned().unwrap_or(Value::NULL); size])),
        Value::Type(ty) => match default {
            Some(value) => Ok(Value::Vector(cast(host, &column_of(value, Some(size))?, *ty)?)),
            // A new vector holds zeros where its type has one.
            None if ty.is_number() => {
                Ok(Value::Vector(cast(host, &Column::repeat(Type::Int, &Scalar::Int(0), size), *ty)?))
            }
            None => Ok(Value::Vector(Column::nulls(*ty, size))),
        },
        other => Err(unfit("array", other)),
    }
}

fn distinct(value: &Value) -> Result<Value> {
    let column = column_of(value, None)?;
    let hashes = column.stable_hashes();
    let mut seen: std::collections::HashMap<u64, Vec<u32>> = Default::default();
    let mut rows = vec![];
    for (row, hash) in hashes.into_iter().enumerate() {
        let same = seen.entry(hash).or_default();
        if !same.iter().any(|&other| column.get(other as usize) == column.get(row)) {
            same.push(row as u32);
            rows.push(row as u32);
        }
    }
    Ok(Value::Vector(column.take(&rows)))
}

fn take(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let (value, count) = (wanted(args, 0, "X")?, wanted(args, 1, "n")?);
    let count = count.as_i64().ok_or_else(|| Diagnostic::new("a whole number is wanted: parameter=`n`"))?;
    let size = match value {
        Value::Matrix(matrix) => matrix.rows(),
        value => length(value).unwrap_or(1),
    } as i64;
    if count.unsigned_abs() > ELEMENTS_MAX as u64 {
        return Err(Diagnostic::new(format!("too many elements: n=`{count}`, limit=`{ELEMENTS_MAX}`")));
    }
    if size == 0 && count != 0 {
        return Err(Diagnostic::new("there is nothing to take from"));
    }
    let each = value.bytes() / size.max(1) as usize + 1;
    host.reserve(each.saturating_mul(count.unsigned_abs() as usize))?;
    // A negative count takes from the end.
    let start = if count < 0 { (size + count % size) % size } else { 0 };
    let rows: Vec<u32> = (0..count.abs()).map(|place| ((start + place) % size) as u32).collect();
    match value {
        Value::Scalar(ty, scalar) => Ok(Value::Vector(Column::repeat(*ty, scalar, rows.len()))),
        Value::Vector(column) => Ok(Value::Vector(column.take(&rows))),
        Value::Tuple(values) => Ok(Value::Tuple(rows.iter().map(|&row| values[row as usize].clone()).collect())),
        Value::Table(table) => Ok(Value::Table(Table::new(table.batch().take(&rows)))),
        Value::Matrix(matrix) => Ok(Value::Matrix(Arc::new(matrix.take_rows(&rows)))),
        other => Err(unfit("take", other)),
    }
}

/// Both values in a row; of matrices, their columns.
pub(super) fn join(left: &Value, right: &Value) -> Result<Value> {
    if let (Value::Tuple(values), right) = (left, right) {
        let mut values = values.clone();
        match right {
            Value::Tuple(more) => values.extend(more.iter().cloned()),
            one => values.push(one.clone()),
        }
        return Ok(Value::Tuple(values));
    }
    if matches!((left, right), (Value::Matrix(_), _) | (_, Value::Matrix(_))) {
        return super::matrix::joined(left, right);
    }
    if let (Value::Table(left), Value::Table(right)) = (left, right) {
        let (left, right) = (left.batch(), right.batch());
        return Ok(Value::Table(Table::new(Batch::concat(left.schema().clone(), &[left.clone(), right])?)));
    }
    let (left, right) = (column_of(left, None)?, column_of(right, None)?);
    if left.ty() == right.ty() {
        return Ok(Value::Vector(Column::concat(&[&left, &right])?));
    }
    let rows = |column: &Column| (0..column.len()).map(|row| Value::of_row(column, row)).collect::<Vec<_>>();
    Ok(Value::vector([rows(&left), rows(&right)].concat()))
}

fn append(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let (object, new) = (wanted(args, 0, "obj")?, wanted(args, 1, "newData")?);
    host.reserve(new.bytes())?;
    match object {
        Value::Table(table) => {
            append_rows(host, table, std::slice::from_ref(new))?;
            Ok(object.clone())
        }
        Value::Dict(dict) if dict.lock().set => {
            let ty = dict.lock().key_type();
            let new = cast(host, &column_of(new, None)?, ty)?;
            let mut dict = dict.lock();
            for row in 0..new.len() {
                dict.set(new.get(row), Value::NULL);
            }
            Ok(object.clone())
        }
        Value::Vector(column) if column.ty() != Type::Void => {
            let new = cast(host, &column_of(new, None)?, column.ty())?;
            Ok(Value::Vector(Column::concat(&[column, &new])?))
        }
        Value::Vector(_) | Value::Tuple(_) | Value::Matrix(_) => join(object, new),
        other => Err(unfit("append!", other)),
    }
}

fn insert(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let Value::Table(table) = wanted(args, 0, "table")? else {
        return Err(unfit("tableInsert", wanted(args, 0, "table")?));
    };
    let values: Vec<Value> = args.values[1..].iter().flatten().cloned().collect();
    Ok(Value::int(append_rows(host, table, &values)? as i32))
}

/// Adds rows to a table: another table's, columns one by one, or a tuple of columns. Gives their number.
pub(super) fn append_rows(host: &mut dyn Host, table: &Table, values: &[Value]) -> Result<usize> {
    let rows = table.batch();
    let new: Vec<Value> = match values {
        [Value::Table(new)] => new.batch().columns().iter().cloned().map(Value::Vector).collect(),
        [Value::Matrix(new)] => new.columns().iter().cloned().map(Value::Vector).collect(),
        [Value::Tuple(columns)] if rows.schema().len() > 1 || columns.len() == 1 => columns.clone(),
        [Value::Dict(dict)] => {
            let dict = dict.lock();
            let value = |field: &Field| dict.get(&Scalar::Text(field.name.clone())).cloned().unwrap_or(Value::NULL);
            rows.schema().fields().iter().map(value).collect()
        }
        values => values.to_vec(),
    };
    if new.len() != rows.schema().len() {
        let (wanted, found) = (rows.schema().len(), new.len());
        return Err(Diagnostic::new(format!(
            "not as many columns as the table has: wanted=`{wanted}`, found=`{found}`"
        )));
    }
    let count = new.iter().zip(rows.schema().fields()).find_map(|(value, field)| match (value, field.ty) {
        // A vector is one cell of an array vector, a tuple several.
        (Value::Vector(column), Type::Array(_)) if column.ty() != field.ty => None,
        (Value::Scalar(..), _) => None,
        (value, _) => length(value),
    });
    let mut columns = vec![];
    for (value, field) in new.iter().zip(rows.schema().fields()) {
        let column = match (value, field.ty) {
            (Value::Vector(cell), Type::Array(element)) if cell.ty() != field.ty => {
                let cell = cast(host, cell, *element)?;
                Column::of_lists(vec![0, cell.len() as i32], cell, None)
            }
            _ => cast(host, &column_of(value, Some(count.unwrap_or(1)))?, field.ty)
                .map_err(|error| Diagnostic::new(format!("{}: column=`{}`", error.message, field.name)))?,
        };
        columns.push(column);
    }
    let new = Batch::new(rows.schema().clone(), columns)?;
    let count = new.rows();
    table.add(new)?;
    Ok(count)
}

fn clear(value: &Value) -> Result<Value> {
    match value {
        Value::Table(table) => {
            let schema = table.batch().schema().clone();
            table.set(Batch::empty(schema))?;
            Ok(value.clone())
        }
        Value::Dict(dict) => {
            dict.lock().entries.clear();
            Ok(value.clone())
        }
        Value::Vector(column) => Ok(Value::Vector(column.slice(0, 0))),
        Value::Tuple(_) => Ok(Value::Tuple(vec![])),
        other => Err(unfit("clear!", other)),
    }
}

fn erase(object: &Value, key: &Value) -> Result<Value> {
    match (object, key) {
        (Value::Dict(dict), Value::Scalar(_, key)) => dict.lock().entries.retain(|(known, _)| known != key),
        (Value::Dict(dict), Value::Vector(keys)) => {
            let keys: Vec<Scalar> = (0..keys.len()).map(|row| keys.get(row)).collect();
            dict.lock().entries.retain(|(known, _)| !keys.contains(known));
        }
        _ => return Err(unfit("erase!", object)),
    }
    Ok(object.clone())
}

fn schema(rows: &Batch) -> Result<Value> {
    let types: Vec<String> = rows.schema().fields().iter().map(|field| field.ty.to_string()).collect();
    let columns = [
        (Some("name".into()), names(rows)),
        (Some("typeString".into()), Value::texts(types.iter().map(String::as_str))),
    ];
    let columns =
        table_of(columns.iter().map(|(name, value): &(Option<Arc<str>>, Value)| (name.clone(), value)).collect())?;
    let entries = vec![(Scalar::from("colDefs"), columns)];
    Ok(Value::Dict(Arc::new(Mutex::new(Dict::of(Type::String, entries)))))
}
