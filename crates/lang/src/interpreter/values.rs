//! What values are, what chance makes, and how sets, vectors and tables are changed.

use super::containers::{ELEMENTS_MAX, append_rows, cast, column_of, given, typed, unfit, wanted};
use super::index::length;
use crate::diagnostic::Diagnostic;
use crate::function::{Function, Result};
use crate::library::common_type;
use crate::library::script;
use crate::tree::Binary;
use crate::value::{Args, Dict, Host, Table, Value};
use data::{Batch, Column, Field, Scalar, Schema, Type};
use std::collections::HashSet;
use std::sync::Arc;

pub(crate) static FUNCTIONS: &[Function] = &[
    script("type", "X", "The number of a value's type.", ("type(1.5)", "16"), |_, args| {
        let value = wanted(args, 0, "X")?;
        let number = match value {
            Value::Scalar(ty, _) => number_of(*ty),
            Value::Vector(column) => number_of(column.ty()),
            Value::Matrix(matrix) => number_of(matrix.ty()),
            Value::Tuple(_) => 25,
            Value::Pair(first, _) => match &**first {
                Value::Scalar(ty, _) => number_of(*ty),
                _ => 25,
            },
            Value::Duration(..) => 36,
            Value::Builtin(_) | Value::Function(_) => 20,
            Value::Code(_) => 22,
            Value::Type(_) => 4,
            Value::Dict(_) | Value::Table(_) => 25,
            Value::Object(_) => 21,
        };
        Ok(Value::int(number))
    }),
    script(
        "form",
        "X",
        "The number of a value's form: 0 scalar, 1 vector, 2 pair, 3 matrix, 4 set, 5 dictionary, 6 table.",
        ("form(1 2)", "1"),
        |_, args| {
            Ok(Value::int(match wanted(args, 0, "X")? {
                Value::Vector(_) | Value::Tuple(_) => 1,
                Value::Pair(..) => 2,
                Value::Matrix(_) => 3,
                Value::Dict(dict) if dict.lock().set => 4,
                Value::Dict(_) => 5,
                Value::Table(_) => 6,
                _ => 0,
            }))
        },
    ),
    script("eqObj", "X, Y", "Are both the same in type and values?", ("eqObj(1 2, 1 2)", "true"), |_, args| {
        let (x, y) = (wanted(args, 0, "X")?, wanted(args, 1, "Y")?);
        Ok(Value::bool(x.kind() == y.kind() && x.to_string() == y.to_string()))
    }),
    script("duration", "text", "The length of time that a text says.", ("duration(\"5m\")", "5m"), |_, args| {
        let text = wanted(args, 0, "text")?;
        text.as_text().and_then(crate::lexer::duration).ok_or_else(|| {
            Diagnostic::new(format!("a length of time is wanted: parameter=`text`, found=`{text}`"))
                .help("such as \"5m\"; units are y M w d B H m s ms us ns")
        })
    }),
    script("til", "n", "The whole numbers from 0 to before n.", ("til(3)", "[0,1,2]"), |host, args| {
        let count = wanted(args, 0, "n")?;
        let count = count.as_i64().filter(|count| (0..=ELEMENTS_MAX as i64).contains(count)).ok_or_else(|| {
            Diagnostic::new(format!("a whole number from 0 to {} is wanted: n=`{count}`", ELEMENTS_MAX))
        })?;
        host.reserve(count as usize * size_of::<i32>())?;
        Ok(Value::Vector(Column::of_i32(Type::Int, (0..count as i32).collect::<Vec<_>>(), None)))
    }),
    script(
        "drop",
        "X, n",
        "Without the first n elements, of a matrix or table rows, or without the last ones if n is negative.",
        ("drop(1 2 3, 1)", "[2,3]"),
        |_, args| {
            let (value, count) = (wanted(args, 0, "X")?, wanted(args, 1, "n")?);
            let count = count.as_i64().ok_or_else(|| Diagnostic::new("a whole number is wanted: parameter=`n`"))?;
            let size = match value {
                Value::Matrix(matrix) => matrix.rows(),
                value => length(value).unwrap_or(1),
            };
            let less = usize::try_from(count.unsigned_abs()).unwrap_or(size).min(size);
            let from = if count > 0 { less } else { 0 };
            match value {
                Value::Vector(column) => Ok(Value::Vector(column.slice(from, size - less))),
                Value::Tuple(values) => Ok(Value::Tuple(values[from..from + size - less].to_vec())),
                Value::Table(table) => Ok(Value::Table(Table::new(table.batch().slice(from, size - less)))),
                Value::Matrix(matrix) => {
                    let rows: Vec<u32> = (from as u32..(from + size - less) as u32).collect();
                    Ok(Value::Matrix(Arc::new(matrix.take_rows(&rows))))
                }
                other => Err(unfit("drop", other)),
            }
        },
    ),
    script("union", "X, Y", "The distinct values of both.", ("union(1 2, 2 3)", "[1,2,3]"), |host, args| {
        let (x, y) = both(host, args)?;
        Ok(Value::Vector(distinct(&Column::concat(&[&x, &y])?, |_| true)))
    }),
    script(
        "intersection",
        "X, Y",
        "The distinct values that are in both.",
        ("intersection(1 2, 2 3)", "[2]"),
        |host, args| {
            let (x, y) = both(host, args)?;
            let known: HashSet<u64> = y.stable_hashes().into_iter().collect();
            Ok(Value::Vector(distinct(&x, |hash| known.contains(&hash))))
        },
    ),
    script(
        "dropna",
        "X",
        "Without NULLs; of a table, without rows that have one.",
        ("dropna([1,,3])", "[1,3]"),
        |_, args| match wanted(args, 0, "X")? {
            Value::Vector(column) => Ok(Value::Vector(column.take(&valid(std::slice::from_ref(column), column.len())))),
            Value::Table(table) => {
                let batch = table.batch();
                Ok(Value::Table(Table::new(batch.take(&valid(batch.columns(), batch.rows())))))
            }
            other => Err(unfit("dropna", other)),
        },
    ),
    script("all", "X", "Are all true? NULLs are left out.", ("all(true true)", "true"), |_, args| {
        Ok(Value::bool(truths(args)?.into_iter().all(|truth| truth)))
    }),
    script("any", "X", "Is one true? NULLs are left out.", ("any(false true)", "true"), |_, args| {
        Ok(Value::bool(truths(args)?.into_iter().any(|truth| truth)))
    }),
    script(
        "rand",
        "X, count",
        "Numbers by chance from 0 to before X, or elements of X.",
        ("size(rand(10, 3))", "3"),
        rand,
    ),
    script(
        "norm",
        "mean, std, count",
        "Numbers by chance that are normally distributed.",
        ("size(norm(0, 1, 3))", "3"),
        |host, args| {
            let number = |place: usize, name: &str| match wanted(args, place, name)? {
                Value::Scalar(ty, value) if ty.is_number() => Ok(value.as_f64().unwrap_or(0.0)),
                other => Err(unfit("norm", other)),
            };
            let (mean, std) = (number(0, "mean")?, number(1, "std")?);
            let count = count(host, args, 2)?;
            let mut values = Vec::with_capacity(count);
            for _ in 0..count {
                // The method of Box and Muller: 1 - u is never 0.
                let (radius, angle) = ((-2.0 * (1.0 - unit(host, "norm")?).ln()).sqrt(), unit(host, "norm")?);
                values.push(mean + std * radius * (angle * std::f64::consts::TAU).cos());
            }
            Ok(Value::Vector(Column::of_f64(Type::Double, values, None)))
        },
    ),
    script("shuffle", "X", "The elements in an order by chance.", ("size(shuffle(1 2 3))", "3"), |host, args| {
        let Value::Vector(column) = wanted(args, 0, "X")? else { return Err(unfit("shuffle", wanted(args, 0, "X")?)) };
        let mut places: Vec<u32> = (0..column.len() as u32).collect();
        for place in (1..places.len()).rev() {
            places.swap(place, below(host, place as u64 + 1, "shuffle")? as usize);
        }
        Ok(Value::Vector(column.take(&places)))
    }),
    script(
        "unionAll",
        "tableA, tableB",
        "The rows of both tables, which have the same columns.",
        ("size(unionAll(table(1 as a), table(2 as a)))", "2"),
        |host, args| {
            let rows = table_of(wanted(args, 0, "tableA")?, "unionAll")?.batch();
            let all = Table::new(rows);
            append_rows(host, &all, std::slice::from_ref(wanted(args, 1, "tableB")?))?;
            Ok(Value::Table(all))
        },
    ),
    script(
        "rename!",
        "table, colNames, [newNames]",
        "Renames the columns, or those named first to those named then. Of a matrix, labels the columns, or the rows \
         first and the columns then; NULL for no labels.",
        ("columnNames(rename!(table(1 as a, 2 as b), `a, `x))", "[\"x\",\"b\"]"),
        |_, args| {
            if let Value::Matrix(matrix) = wanted(args, 0, "table")? {
                return super::matrix::renamed(matrix, args);
            }
            let table = table_of(wanted(args, 0, "table")?, "rename!")?;
            let names = names_of(wanted(args, 1, "colNames")?, "colNames")?;
            change(table, |fields, columns| {
                let (places, names) = match given(args, 2, "newNames") {
                    Some(new) => (places(fields, &names)?, names_of(new, "newNames")?),
                    None => ((0..fields.len()).collect(), names),
                };
                if places.len() < names.len() || places.len() != names.len() && given(args, 2, "newNames").is_some() {
                    let (columns, names) = (places.len(), names.len());
                    return Err(Diagnostic::new(format!(
                        "not as many names as columns: columns=`{columns}`, names=`{names}`"
                    )));
                }
                for (place, name) in places.into_iter().zip(names) {
                    fields[place] = Field::new(name, fields[place].ty);
                }
                Ok(columns)
            })
        },
    ),
    script(
        "drop!",
        "obj, colNames",
        "Takes columns out of a table.",
        ("columnNames(drop!(table(1 as a, 2 as b), `a))", "[\"b\"]"),
        |_, args| drop_columns(args),
    ),
    script(
        "dropColumns!",
        "obj, colNames",
        "Takes columns out of a table.",
        ("columnNames(dropColumns!(table(1 as a, 2 as b), `a))", "[\"b\"]"),
        |_, args| drop_columns(args),
    ),
    script(
        "addColumn",
        "table, colNames, colTypes",
        "Adds columns of NULLs to a table.",
        ("columnNames(addColumn(table(1 as a), `b, INT))", "[\"a\",\"b\"]"),
        |_, args| {
            let table = table_of(wanted(args, 0, "table")?, "addColumn")?;
            let names = names_of(wanted(args, 1, "colNames")?, "colNames")?;
            let types = super::containers::types_of(wanted(args, 2, "colTypes")?)?;
            if names.len() != types.len() {
                let (names, types) = (names.len(), types.len());
                return Err(Diagnostic::new(format!("not as many types as names: names=`{names}`, types=`{types}`")));
            }
            let rows = table.batch().rows();
            change(table, |fields, mut columns| {
                for (name, ty) in names.into_iter().zip(types) {
                    fields.push(Field::new(name, ty));
                    columns.push(Column::nulls(ty, rows));
                }
                Ok(columns)
            })
        },
    ),
    script(
        "replaceColumn!",
        "table, colName, newCol",
        "Puts another column, also of another type, in the place of one.",
        ("replaceColumn!(table(1 2 as a), `a, 1.5 2.5).a", "[1.5,2.5]"),
        |_, args| {
            let table = table_of(wanted(args, 0, "table")?, "replaceColumn!")?;
            let names = names_of(wanted(args, 1, "colName")?, "colName")?;
            let new = typed(column_of(wanted(args, 2, "newCol")?, Some(table.batch().rows()))?);
            change(table, |fields, mut columns| {
                for place in places(fields, &names)? {
                    fields[place] = Field::new(fields[place].name.clone(), new.ty());
                    columns[place] = new.clone();
                }
                Ok(columns)
            })
        },
    ),
    script(
        "reorderColumns!",
        "table, colNames",
        "Puts the columns of these names first, in this order.",
        ("columnNames(reorderColumns!(table(1 as a, 2 as b), `b))", "[\"b\",\"a\"]"),
        |_, args| {
            let table = table_of(wanted(args, 0, "table")?, "reorderColumns!")?;
            let names = names_of(wanted(args, 1, "colNames")?, "colNames")?;
            change(table, |fields, columns| {
                let mut order = places(fields, &names)?;
                order.extend((0..fields.len()).filter(|place| !order.contains(place)).collect::<Vec<_>>());
                *fields = order.iter().map(|&place| fields[place].clone()).collect();
                Ok(order.iter().map(|&place| columns[place].clone()).collect())
            })
        },
    ),
    script(
        "sortBy!",
        "table, sortColumns, [sortDirections=true]",
        "Puts the rows in the order of columns; true is ascending.",
        ("sortBy!(table(2 1 3 as a), `a).a", "[1,2,3]"),
        |_, args| {
            let table = table_of(wanted(args, 0, "table")?, "sortBy!")?;
            let batch = table.batch();
            let keys = places(batch.schema().fields(), &names_of(wanted(args, 1, "sortColumns")?, "sortColumns")?)?;
            let directions: Vec<bool> = match given(args, 2, "sortDirections") {
                None => vec![true; keys.len()],
                Some(Value::Vector(column)) => {
                    (0..column.len()).map(|row| column.get(row).as_i64() != Some(0)).collect()
                }
                Some(value) => vec![value.as_bool().unwrap_or(true); keys.len()],
            };
            if directions.len() != keys.len() {
                return Err(Diagnostic::new("a direction for each column is wanted: parameter=`sortDirections`"));
            }
            let order: Vec<crate::tree::SortKey> = super::grouped::ascending(keys.len())
                .into_iter()
                .zip(directions)
                .map(|(key, ascending)| crate::tree::SortKey { descending: !ascending, ..key })
                .collect();
            let columns: Vec<Column> = keys.iter().map(|&key| batch.column(key).clone()).collect();
            table.set(batch.take(&super::select::sorted(&columns, &order, batch.rows())))?;
            Ok(Value::Table(table.clone()))
        },
    ),
    script(
        "dictUpdate!",
        "dictionary, func, keys, parameters, [initFunc]",
        "Gives each key the function of its value and the parameter; a new key gets the parameter, or `initFunc` of it.",
        ("dictUpdate!(dict(`a`b, 1 2), add, `a`c, 5 6)[`a]", "6"),
        |host, args| {
            let Value::Dict(dict) = wanted(args, 0, "dictionary")? else {
                return Err(unfit("dictUpdate!", wanted(args, 0, "dictionary")?));
            };
            let function = wanted(args, 1, "func")?;
            let ty = dict.lock().key_type();
            let keys = cast(host, &column_of(wanted(args, 2, "keys")?, None)?, ty)?;
            let parameters = wanted(args, 3, "parameters")?;
            for row in 0..keys.len() {
                let parameter = match length(parameters) {
                    Some(count) if count == keys.len() => super::index::element(parameters, row)?,
                    Some(_) => {
                        return Err(Diagnostic::new("a parameter for each key is wanted: parameter=`parameters`"));
                    }
                    None => parameters.clone(),
                };
                let before = dict.lock().get(&keys.get(row)).cloned();
                let value = match (before, given(args, 4, "initFunc")) {
                    (Some(before), _) => host.apply(function, vec![before, parameter])?,
                    (None, Some(init)) => host.apply(init, vec![parameter])?,
                    (None, None) => parameter,
                };
                if super::index::holds(&value, dict) {
                    return Err(Diagnostic::new("a dictionary cannot hold itself"));
                }
                dict.lock().set(keys.get(row), value);
            }
            Ok(Value::Dict(dict.clone()))
        },
    ),
];

/// The numbers that types have in the language.
fn number_of(ty: Type) -> i32 {
    use Type as T;
    match ty {
        T::Void => 0,
        T::Bool => 1,
        T::Char => 2,
        T::Short => 3,
        T::Int => 4,
        T::Long => 5,
        T::Date => 6,
        T::Month => 7,
        T::Time => 8,
        T::Minute => 9,
        T::Second => 10,
        T::Datetime => 11,
        T::Timestamp => 12,
        T::Nanotime => 13,
        T::Nanotimestamp => 14,
        T::Float => 15,
        T::Double => 16,
        T::Symbol => 17,
        T::String => 18,
        T::Uuid => 19,
        T::Datehour => 28,
        T::Ipaddr => 30,
        T::Int128 => 31,
        T::Blob => 32,
        T::Complex => 34,
        T::Point => 35,
        T::Decimal32(_) => 37,
        T::Decimal64(_) => 38,
        T::Decimal128(_) => 39,
        T::Array(element) => 64 + number_of(*element),
    }
}

/// What an operator gives of two sets.
pub(super) fn of_sets(host: &mut dyn Host, operator: Binary, a: &Column, b: &Column) -> Result<Value> {
    let (a, b) = in_one_type(host, a.clone(), b.clone())?;
    let hashes = |column: &Column| -> HashSet<u64> { column.stable_hashes().into_iter().collect() };
    let (in_a, in_b) = (hashes(&a), hashes(&b));
    let all = Column::concat(&[&a, &b])?;
    let kept = distinct(&all, |hash| match operator {
        Binary::BitAnd => in_a.contains(&hash) && in_b.contains(&hash),
        Binary::Subtract => in_a.contains(&hash) && !in_b.contains(&hash),
        Binary::BitXor => in_a.contains(&hash) != in_b.contains(&hash),
        _ => true,
    });
    Ok(Dict::set_of(&kept))
}

/// Two vectors in one type.
fn both(host: &mut dyn Host, args: &Args) -> Result<(Column, Column)> {
    let column = |place: usize, name: &str| match wanted(args, place, name)? {
        Value::Dict(dict) if dict.lock().set => Ok(dict.lock().key_column()),
        value => column_of(value, None),
    };
    in_one_type(host, column(0, "X")?, column(1, "Y")?)
}

fn in_one_type(host: &mut dyn Host, x: Column, y: Column) -> Result<(Column, Column)> {
    let ty = common_type(x.ty(), y.ty())
        .ok_or_else(|| Diagnostic::new(format!("values of one kind are wanted: types=`{}, {}`", x.ty(), y.ty())))?;
    Ok((cast(host, &x, ty)?, cast(host, &y, ty)?))
}

/// The first of each value whose hash is wanted.
fn distinct(column: &Column, mut fits: impl FnMut(u64) -> bool) -> Column {
    let mut seen = HashSet::new();
    let hashes = column.stable_hashes();
    let rows: Vec<u32> = (0..column.len() as u32)
        .filter(|&row| fits(hashes[row as usize]) && seen.insert(hashes[row as usize]))
        .collect();
    column.take(&rows)
}

/// The rows in which no column is NULL.
fn valid(columns: &[Column], rows: usize) -> Vec<u32> {
    (0..rows as u32).filter(|&row| columns.iter().all(|column| !column.is_null(row as usize))).collect()
}

fn truths(args: &Args) -> Result<Vec<bool>> {
    let column = column_of(wanted(args, 0, "X")?, None)?;
    let truths = crate::library::truths(&column)?;
    Ok((0..column.len()).filter(|&row| !column.is_null(row)).map(|row| truths.value(row)).collect())
}

/// A number of values to make by chance.
fn count(host: &mut dyn Host, args: &Args, place: usize) -> Result<usize> {
    let count = wanted(args, place, "count")?;
    let count = count.as_i64().filter(|count| (0..=ELEMENTS_MAX as i64).contains(count)).ok_or_else(|| {
        Diagnostic::new(format!("a whole number from 0 to {} is wanted: count=`{count}`", ELEMENTS_MAX))
    })? as usize;
    host.reserve(count * size_of::<f64>())?;
    Ok(count)
}

fn chance(host: &mut dyn Host, function: &str) -> Result<u64> {
    host.chance().ok_or_else(|| Diagnostic::new(format!("nothing may depend on chance here: function=`{function}`")))
}

/// A number from 0 to before 1.
fn unit(host: &mut dyn Host, function: &str) -> Result<f64> {
    Ok((chance(host, function)? >> 11) as f64 / (1u64 << 53) as f64)
}

/// A whole number from 0 to before a bound.
fn below(host: &mut dyn Host, bound: u64, function: &str) -> Result<u64> {
    Ok(((chance(host, function)? as u128 * bound as u128) >> 64) as u64)
}

fn rand(host: &mut dyn Host, args: &Args) -> Result<Value> {
    let count = count(host, args, 1)?;
    match wanted(args, 0, "X")? {
        Value::Vector(column) if !column.is_empty() => {
            let mut places = Vec::with_capacity(count);
            for _ in 0..count {
                places.push(below(host, column.len() as u64, "rand")? as u32);
            }
            Ok(Value::Vector(column.take(&places)))
        }
        Value::Scalar(ty, Scalar::Int(bound)) if ty.is_integer() && *bound > 0 => {
            let mut values = Vec::with_capacity(count);
            for _ in 0..count {
                values.push(Scalar::Int(below(host, *bound as u64, "rand")? as i64));
            }
            Ok(Value::Vector(Column::of_scalars(*ty, &values)))
        }
        Value::Scalar(ty, Scalar::Float(bound)) if *bound > 0.0 => {
            let mut values = Vec::with_capacity(count);
            for _ in 0..count {
                values.push(Scalar::Float(unit(host, "rand")? * bound));
            }
            Ok(Value::Vector(Column::of_scalars(*ty, &values)))
        }
        other => {
            Err(Diagnostic::new(format!("a number above 0 or a vector is wanted: parameter=`X`, found=`{other}`")))
        }
    }
}

fn table_of<'a>(value: &'a Value, function: &str) -> Result<&'a Table> {
    match value {
        Value::Table(table) => Ok(table),
        other => Err(unfit(function, other)),
    }
}

pub(super) fn names_of(value: &Value, name: &str) -> Result<Vec<Arc<str>>> {
    value.names().ok_or_else(|| Diagnostic::new(format!("names of columns are wanted: parameter=`{name}`")))
}

pub(super) fn places(fields: &[Field], names: &[Arc<str>]) -> Result<Vec<usize>> {
    let place = |name: &Arc<str>| {
        fields.iter().position(|field| field.name == *name).ok_or_else(|| {
            let error = Diagnostic::new(format!("unknown column: column=`{name}`"));
            error.suggest(name, fields.iter().map(|field| &*field.name))
        })
    };
    names.iter().map(place).collect()
}

/// Changes the columns of a table in place.
fn change(table: &Table, work: impl FnOnce(&mut Vec<Field>, Vec<Column>) -> Result<Vec<Column>>) -> Result<Value> {
    let batch = table.batch();
    let mut fields = batch.schema().fields().to_vec();
    let columns = work(&mut fields, batch.columns().to_vec())?;
    table.set(Batch::new(Arc::new(Schema::new(fields)?), columns)?)?;
    Ok(Value::Table(table.clone()))
}

fn drop_columns(args: &Args) -> Result<Value> {
    let table = table_of(wanted(args, 0, "obj")?, "drop!")?;
    let names = names_of(wanted(args, 1, "colNames")?, "colNames")?;
    change(table, |fields, columns| {
        let gone = places(fields, &names)?;
        if gone.len() >= fields.len() {
            return Err(Diagnostic::new("a table keeps at least one column: function=`drop!`"));
        }
        let kept: Vec<usize> = (0..fields.len()).filter(|place| !gone.contains(place)).collect();
        *fields = kept.iter().map(|&place| fields[place].clone()).collect();
        Ok(kept.iter().map(|&place| columns[place].clone()).collect())
    })
}
