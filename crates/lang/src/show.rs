//! Values as a person reads them: what `print` prints. (The text that parses back is the printer's.)

use crate::matrix::Matrix;
use crate::value::Value;
use data::{Batch, Column, Scalar, Type, format_bytes16, format_decimal, format_script};

/// How many rows of a table or matrix are shown.
const ROWS_MAX: usize = 100;

impl Value {
    /// The value as `print` shows it: a vector as `[1,,3]`, a NULL as nothing, a table or matrix in columns.
    pub fn show(&self) -> String {
        match self {
            Value::Scalar(ty, scalar) => show_scalar(*ty, scalar, false),
            Value::Vector(column) => show_vector(column),
            Value::Tuple(values) => {
                let items: Vec<String> = values.iter().map(show_within).collect();
                format!("({})", items.join(","))
            }
            Value::Dict(dict) => {
                let dict = dict.lock();
                if dict.set {
                    return format!("set({})", show_vector(&dict.key_column()));
                }
                let ty = dict.key_type();
                let entry =
                    |(key, value): &(Scalar, Value)| format!("{}->{}", show_scalar(ty, key, false), show_within(value));
                dict.entries.iter().map(entry).collect::<Vec<_>>().join("\n")
            }
            Value::Matrix(matrix) => show_matrix(matrix),
            Value::Table(table) => show_table(&table.batch()),
            Value::Pair(a, b) => format!("{}:{}", show_within(a), show_within(b)),
            other => other.to_string(),
        }
    }
}

/// As part of a larger value, where texts are in quotes.
fn show_within(value: &Value) -> String {
    match value {
        Value::Scalar(ty, scalar) => show_scalar(*ty, scalar, true),
        value => value.show(),
    }
}

fn show_vector(column: &Column) -> String {
    let items: Vec<String> = (0..column.len()).map(|row| show_scalar(column.ty(), &column.get(row), true)).collect();
    format!("[{}]", items.join(","))
}

fn show_scalar(ty: Type, scalar: &Scalar, quoted: bool) -> String {
    match scalar {
        Scalar::Null => String::new(),
        Scalar::Int(value) if ty.is_temporal() => format_script(ty, *value),
        Scalar::Int(value) => value.to_string(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Float(value) if ty == Type::Float => (*value as f32).to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Text(text) if quoted => format!("\"{text}\""),
        Scalar::Text(text) => text.to_string(),
        Scalar::List(column) => show_vector(column),
        Scalar::Decimal(digits) => format_decimal(ty, *digits),
        Scalar::Bytes(bytes) if quoted => format!("\"{}\"", String::from_utf8_lossy(bytes)),
        Scalar::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Scalar::Bytes16(bytes) => format_bytes16(ty, bytes),
    }
}

/// A cell for each of the first rows, below what stands above them.
fn cells(head: String, column: &Column) -> Vec<String> {
    let shown = column.len().min(ROWS_MAX);
    let cells = (0..shown).map(|row| show_scalar(column.ty(), &column.get(row), false));
    std::iter::once(head).chain(cells).collect()
}

fn show_table(rows: &Batch) -> String {
    let columns = rows.schema().fields().iter().zip(rows.columns());
    lines(columns.map(|(field, column)| cells(field.name.to_string(), column)).collect(), rows.rows())
}

/// Labels of rows stand before a bar, as part of the first column.
fn show_matrix(matrix: &Matrix) -> String {
    let head = |place: usize| match matrix.column_labels() {
        Some(labels) => show_scalar(labels.ty(), &labels.get(place), false),
        None => format!("#{place}"),
    };
    let columns = matrix.columns().iter().enumerate();
    let mut columns: Vec<Vec<String>> = columns.map(|(place, column)| cells(head(place), column)).collect();
    if let (Some(labels), Some(first)) = (matrix.row_labels(), columns.first_mut()) {
        let labels = cells(String::new(), labels);
        let width = width_of(&labels);
        for (place, (label, cell)) in labels.iter().zip(first).enumerate() {
            let bar = if place == 0 { ' ' } else { '|' };
            *cell = format!("{label:width$}{bar}{cell}");
        }
    }
    lines(columns, matrix.rows())
}

fn width_of(cells: &[String]) -> usize {
    cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)
}

/// Columns with their heads, of so many rows, as lines.
fn lines(columns: Vec<Vec<String>>, rows: usize) -> String {
    let widths: Vec<usize> = columns.iter().map(|cells| width_of(cells)).collect();
    let line = |row: usize| {
        let cells = columns.iter().zip(&widths).map(|(cells, width)| format!("{:width$}", cells[row]));
        cells.collect::<Vec<_>>().join(" ").trim_end().to_string()
    };
    let mut lines: Vec<String> = (0..=rows.min(ROWS_MAX)).map(line).collect();
    if rows > ROWS_MAX {
        lines.push(format!("… {rows} rows in all"));
    }
    lines.join("\n")
}
