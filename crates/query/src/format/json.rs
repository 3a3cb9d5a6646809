//! JSON. NaN and the infinities, which it does not know, are `null`.

use super::cells::{Cells, text};
use data::{Batch, Column, Field, Scalar, Type};
use lang::Value;
use std::fmt::Write;

/// What stands before each value of an object of these columns.
pub(super) fn keys(fields: &[Field]) -> Vec<String> {
    let key = |(index, field): (usize, &Field)| {
        let mut key = String::from(if index == 0 { "{" } else { "," });
        string(&field.name, &mut key);
        key.push(':');
        key
    };
    fields.iter().enumerate().map(key).collect()
}

/// Adds one row as an object.
pub(super) fn object(keys: &[String], cells: &[Cells], row: usize, out: &mut String) {
    if keys.is_empty() {
        out.push('{');
    }
    for (key, cells) in keys.iter().zip(cells) {
        out.push_str(key);
        cells.push_json(row, out);
    }
    out.push('}');
}

fn list(open: char, close: char, count: usize, out: &mut String, item: impl Fn(usize, &mut String)) {
    out.push(open);
    for index in 0..count {
        if index > 0 {
            out.push(',');
        }
        item(index, out);
    }
    out.push(close);
}

/// Adds a value.
pub fn scalar(ty: Type, value: &Scalar, out: &mut String) {
    match value {
        Scalar::Null => out.push_str("null"),
        Scalar::Float(value) if !value.is_finite() => out.push_str("null"),
        Scalar::Int(_) if !ty.is_temporal() => text(ty, value, out),
        Scalar::Bool(_) | Scalar::Float(_) | Scalar::Decimal(_) => text(ty, value, out),
        Scalar::List(elements) => column(elements, out),
        Scalar::Int(_) => {
            out.push('"');
            text(ty, value, out);
            out.push('"');
        }
        other => {
            let mut plain = String::new();
            text(ty, other, &mut plain);
            string(&plain, out);
        }
    }
}

/// Adds a column as an array.
pub fn column(column: &Column, out: &mut String) {
    list('[', ']', column.len(), out, |row, out| scalar(column.ty(), &column.get(row), out));
}

/// Adds a value of the script language: a vector or tuple is an array, a matrix an array of its columns, a dictionary an
/// object, a table an array of objects, and what is no data its name.
pub fn value(of: &Value, out: &mut String) {
    match of {
        Value::Scalar(ty, one) => scalar(*ty, one, out),
        Value::Vector(vector) => column(vector, out),
        Value::Tuple(values) => list('[', ']', values.len(), out, |index, out| value(&values[index], out)),
        Value::Matrix(matrix) => {
            let columns = matrix.columns();
            list('[', ']', columns.len(), out, |index, out| column(&columns[index], out));
        }
        Value::Pair(first, second) => list('[', ']', 2, out, |index, out| value([first, second][index], out)),
        Value::Dict(dict) => {
            let dict = dict.lock();
            list('{', '}', dict.entries.len(), out, |index, out| {
                let (key, entry) = &dict.entries[index];
                let mut name = String::new();
                text(dict.keys.unwrap_or(Type::String), key, &mut name);
                string(&name, out);
                out.push(':');
                value(entry, out);
            });
        }
        Value::Table(table) => rows(&table.batch(), out),
        Value::Duration(count, unit) => string(&format!("{count}{unit}"), out),
        Value::Type(ty) => string(&ty.to_string(), out),
        Value::Builtin(name) => string(name, out),
        Value::Function(_) => string("function", out),
        Value::Code(_) => string("code", out),
        Value::Object(object) => string(object.class(), out),
    }
}

/// Adds rows as an array of objects.
pub(super) fn rows(batch: &Batch, out: &mut String) {
    let fields = batch.schema().fields();
    let cells: Vec<Cells> =
        fields.iter().zip(batch.columns()).map(|(field, column)| Cells::of(field.ty, &column.to_arrow())).collect();
    let keys = keys(fields);
    list('[', ']', batch.rows(), out, |row, out| object(&keys, &cells, row, out));
}

/// Adds a text in quotes.
pub(super) fn string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(place) = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..place]);
        match rest.as_bytes()[place] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => write!(out, "\\u{control:04x}").expect("a string takes any text"),
        }
        rest = &rest[place + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_an_array_a_value_or_an_array_of_arrays() {
        let shown = |of: Value| {
            let mut out = String::new();
            value(&of, &mut out);
            out
        };
        let vector = Value::Vector(Column::of_scalars(Type::Double, &[1.5.into(), Scalar::Null, f64::NAN.into()]));
        assert_eq!(shown(vector.clone()), "[1.5,null,null]");
        assert_eq!(shown(Value::Scalar(Type::Int, Scalar::Int(3))), "3");
        assert_eq!(shown(Value::Scalar(Type::Date, Scalar::Int(0))), "\"1970-01-01\"");
        assert_eq!(shown(Value::Scalar(Type::String, "a\"\n\u{1}".into())), "\"a\\\"\\n\\u0001\"");
        assert_eq!(shown(Value::Tuple(vec![vector.clone(), vector])), "[[1.5,null,null],[1.5,null,null]]");
        let columns =
            vec![Column::of_scalars(Type::Int, &[Scalar::Int(1), Scalar::Int(2)]), Column::nulls(Type::Int, 2)];
        let matrix = lang::Matrix::new(Type::Int, 2, columns);
        assert_eq!(shown(Value::Matrix(matrix.into())), "[[1,2],[null,null]]");
    }
}
