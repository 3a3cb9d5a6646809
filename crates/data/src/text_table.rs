//! Small tables written as text, for tests and examples: a header, then a row a line, cells apart by blanks.
//!
//! A NULL is `.`; what follows `//` is a remark; a text with blanks stands in double quotes; an array cell is
//! `[1,2,3]` without blanks.

use crate::batch::Batch;
use crate::bytes16::{format_bytes16, parse_bytes16};
use crate::column::ColumnBuilder;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::schema::Schema;
use crate::temporal::{format_script, parse_temporal};
use crate::types::{Physical, Type};
use std::sync::Arc;

/// Reads a table. The header's names must be the schema's, in its order.
pub fn parse_table(schema: &Arc<Schema>, text: &str) -> Result<Batch> {
    let mut builders: Vec<ColumnBuilder> = schema.fields().iter().map(|field| ColumnBuilder::new(field.ty)).collect();
    let mut header = false;
    for (line, text) in text.lines().enumerate() {
        let fail = |reason: String| Error::TextTable { line: line + 1, reason };
        let text = text.split("//").next().expect("a first part").trim();
        if text.is_empty() {
            continue;
        }
        let cells = cells(text);
        if !header {
            header = true;
            let names = schema.names();
            if cells.len() != names.len()
                || cells.iter().zip(&names).any(|(cell, name)| !cell.eq_ignore_ascii_case(name))
            {
                return Err(fail(format!("header=`{cells:?}`, wanted=`{names:?}`")));
            }
            continue;
        }
        if cells.len() != builders.len() {
            return Err(fail(format!("cells=`{}`, wanted=`{}`", cells.len(), builders.len())));
        }
        for ((cell, builder), field) in cells.iter().zip(&mut builders).zip(schema.fields()) {
            builder.push(&parse_cell(field.ty, cell).map_err(|error| fail(error.to_string()))?);
        }
    }
    Batch::new(schema.clone(), builders.into_iter().map(ColumnBuilder::finish).collect())
}

fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted, mut any) = (vec![], String::new(), false, false);
    for letter in line.chars() {
        match letter {
            '"' => (quoted, any) = (!quoted, true),
            blank if blank.is_whitespace() && !quoted => {
                if any {
                    cells.push(std::mem::take(&mut cell));
                    any = false;
                }
            }
            letter => {
                cell.push(letter);
                any = true;
            }
        }
    }
    if any {
        cells.push(cell);
    }
    cells
}

fn parse_cell(ty: Type, cell: &str) -> Result<Scalar> {
    let wrong = || Error::Parse { text: cell.to_string(), ty: ty.to_string() };
    if cell == "." {
        return Ok(Scalar::Null);
    }
    Ok(match ty {
        Type::Bool => Scalar::Bool(matches!(cell, "true" | "1")),
        Type::Symbol | Type::String => Scalar::Text(cell.into()),
        Type::Float | Type::Double => Scalar::Float(cell.parse().map_err(|_| wrong())?),
        Type::Array(element) => {
            let body = cell.strip_prefix('[').and_then(|cell| cell.strip_suffix(']')).ok_or_else(wrong)?;
            let mut elements = ColumnBuilder::new(*element);
            for part in body.split(',').filter(|part| !part.is_empty()) {
                elements.push(&parse_cell(*element, part)?);
            }
            Scalar::List(Arc::new(elements.finish()))
        }
        Type::Blob => Scalar::Bytes(cell.as_bytes().into()),
        ty if ty.is_temporal() => Scalar::Int(parse_temporal(ty, cell)?),
        ty if ty.physical() == Physical::Bytes16 => Scalar::Bytes16(parse_bytes16(ty, cell)?),
        _ => Scalar::Int(cell.parse().map_err(|_| wrong())?),
    })
}

/// Writes a table so that [`parse_table`] reads it again, cells aligned.
pub fn print_table(batch: &Batch) -> String {
    let mut rows: Vec<Vec<String>> = vec![batch.schema().names()];
    for row in 0..batch.rows() {
        let cell = |(column, field): (&crate::Column, &crate::Field)| print_cell(field.ty, &column.get(row));
        rows.push(batch.columns().iter().zip(batch.schema().fields()).map(cell).collect());
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..batch.schema().len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn print_cell(ty: Type, value: &Scalar) -> String {
    match value {
        Scalar::Null => ".".into(),
        Scalar::Int(value) if ty.is_temporal() => format_script(ty, *value),
        Scalar::Int(value) => value.to_string(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Float(value) => format!("{value:?}"),
        Scalar::Decimal(value) => value.to_string(),
        Scalar::Text(text) => quoted(text.to_string()),
        Scalar::Bytes(bytes) => quoted(String::from_utf8_lossy(bytes).into_owned()),
        Scalar::Bytes16(bytes) => quoted(format_bytes16(ty, bytes)),
        Scalar::List(column) => {
            let cells: Vec<String> = (0..column.len()).map(|row| print_cell(column.ty(), &column.get(row))).collect();
            format!("[{}]", cells.join(","))
        }
    }
}

/// In quotes where there is a blank.
fn quoted(text: String) -> String {
    if text.contains(char::is_whitespace) { format!("\"{text}\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_table_reads_back_as_it_was() {
        let schema = Schema::of(&[
            ("sym", Type::Symbol),
            ("time", Type::Timestamp),
            ("price", Type::Double),
            ("sizes", Type::Array(&Type::Int)),
            ("hour", Type::Datehour),
            ("from", Type::Ipaddr),
            ("place", Type::Point),
        ]);
        let text = "
            sym      time                     price  sizes    hour           from      place
            A        2024.01.02T09:30:00.000  10.5   [1,.,3]  2024.01.02T09  10.0.0.1  \"(1, 2)\"   // A remark.
            \"B C\"  2024.01.02T09:30:01.250  .      []       .              .         .
        ";
        let batch = parse_table(&schema, text).unwrap();
        assert_eq!(batch.rows(), 2);
        assert_eq!(parse_table(&schema, &print_table(&batch)).unwrap(), batch);
        let arrow = batch.to_arrow();
        let columns = schema.fields().iter().zip(arrow.columns());
        let back: Vec<_> = columns.map(|(field, array)| crate::Column::from_arrow(field.ty, array).unwrap()).collect();
        assert_eq!(Batch::new(schema, back).unwrap(), batch);
    }
}
