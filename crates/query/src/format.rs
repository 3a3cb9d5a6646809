//! Answers and values as text: a table for people, CSV and JSON for programs.
//!
//! NULL is an empty field of a table or of CSV, and `null` in JSON and inside an array. Dates and times are ISO 8601.
//! Floats are in the shortest form that reads back to the same value.

mod cells;
mod json;

use crate::session::Answer;
use arrow::array::RecordBatch;
use cells::Cells;
use comfy_table::{CellAlignment, Table, presets};
use data::{Batch, Field};
use std::io::{self, Write};

pub use cells::text;
pub use json::{column as json_column, scalar as json_scalar, value as json_value};

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Columns under one another, for people.
    Table,
    /// Header first, as RFC 4180 has it, lines ended by a line feed.
    Csv,
    /// An array of objects.
    Json,
}

impl Format {
    /// The format of this name: `table`, `csv` or `json`.
    pub fn parse(name: &str) -> Option<Format> {
        match name {
            "table" => Some(Format::Table),
            "csv" => Some(Format::Csv),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

/// Writes an answer.
pub fn write(answer: &Answer, format: Format, out: &mut impl Write) -> io::Result<()> {
    let (mut writer, mut text) = (Writer::new(answer.fields.clone(), format), String::new());
    for batch in &answer.batches {
        writer.write(batch, &mut text);
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    writer.finish(&mut text);
    out.write_all(text.as_bytes())
}

/// Writes an answer part by part, as its rows come. A table for people is written when all rows are known.
pub struct Writer {
    fields: Vec<Field>,
    parts: Parts,
}

enum Parts {
    Table(Box<Table>),
    Csv { begun: bool },
    Json { keys: Vec<String>, begun: bool },
}

impl Writer {
    /// A writer of rows with these columns.
    pub fn new(fields: Vec<Field>, format: Format) -> Writer {
        let parts = match format {
            Format::Table => {
                let mut table = Table::new();
                table.load_preset(presets::UTF8_FULL_CONDENSED);
                table.set_header(fields.iter().map(|field| &*field.name));
                Parts::Table(Box::new(table))
            }
            Format::Csv => Parts::Csv { begun: false },
            Format::Json => Parts::Json { keys: json::keys(&fields), begun: false },
        };
        Writer { fields, parts }
    }

    /// Adds the next rows; their columns have the fields' Arrow types.
    pub fn write(&mut self, batch: &RecordBatch, out: &mut String) {
        let cells = cells(&self.fields, batch);
        match &mut self.parts {
            Parts::Table(table) => {
                for row in 0..batch.num_rows() {
                    table.add_row(cells.iter().map(|cells| {
                        let mut cell = String::new();
                        cells.push_text(row, &mut cell);
                        cell
                    }));
                }
            }
            Parts::Csv { begun } => {
                if !std::mem::replace(begun, true) {
                    header(&self.fields, out);
                }
                lines(&cells, batch.num_rows(), out);
            }
            Parts::Json { keys, begun } => {
                for row in 0..batch.num_rows() {
                    out.push_str(if std::mem::replace(begun, true) { ",\n" } else { "[" });
                    json::object(keys, &cells, row, out);
                }
            }
        }
    }

    /// Adds what stands after the last row.
    pub fn finish(self, out: &mut String) {
        match self.parts {
            Parts::Table(mut table) => {
                for (column, field) in table.column_iter_mut().zip(&self.fields) {
                    if field.ty.is_number() {
                        column.set_cell_alignment(CellAlignment::Right);
                    }
                }
                out.push_str(&table.to_string());
                out.push('\n');
            }
            Parts::Csv { begun: false } => header(&self.fields, out),
            Parts::Csv { begun: true } => {}
            Parts::Json { begun, .. } => out.push_str(if begun { "]\n" } else { "[]\n" }),
        }
    }
}

/// Adds rows as an array of JSON objects on one line.
pub fn json_rows(rows: &Batch, out: &mut String) {
    json::rows(rows, out);
}

/// The cells of each column of a batch.
fn cells(fields: &[Field], batch: &RecordBatch) -> Vec<Cells> {
    let columns = fields.iter().zip(batch.columns());
    columns.map(|(field, array)| Cells::of(field.ty, array)).collect()
}

fn header(fields: &[Field], out: &mut String) {
    for (index, field) in fields.iter().enumerate() {
        let start = next_field(out, index);
        out.push_str(&field.name);
        quote(out, start);
    }
    out.push('\n');
}

fn lines(cells: &[Cells], rows: usize, out: &mut String) {
    for row in 0..rows {
        let line = out.len();
        for (index, cells) in cells.iter().enumerate() {
            let start = next_field(out, index);
            cells.push_text(row, out);
            quote(out, start);
        }
        // An empty line is no row to most readers.
        if out.len() == line && cells.len() == 1 {
            out.push_str("\"\"");
        }
        out.push('\n');
    }
}

fn next_field(line: &mut String, index: usize) -> usize {
    if index > 0 {
        line.push(',');
    }
    line.len()
}

/// Puts the field from `start` on in quotes if it needs them.
fn quote(line: &mut String, start: usize) {
    if line[start..].contains(['"', ',', '\n', '\r']) {
        let quoted = line[start..].replace('"', "\"\"");
        line.truncate(start);
        line.push('"');
        line.push_str(&quoted);
        line.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::{Column, Schema, Type, parse_table};

    fn answer(batch: Batch) -> Answer {
        Answer { fields: batch.schema().fields().to_vec(), batches: vec![batch.to_arrow()] }
    }

    fn rows() -> Answer {
        let schema = Schema::of(&[
            ("sym", Type::Symbol),
            ("time", Type::Timestamp),
            ("day", Type::Date),
            ("clock", Type::Time),
            ("price", Type::Double),
            ("small", Type::Float),
            ("n", Type::Long),
            ("ok", Type::Bool),
            ("list", Type::Array(&Type::Int)),
        ]);
        let text = r#"
            sym    time                     day         clock         price  small  n  ok     list
            "a,b"  2024.01.02T09:30:00.000  2024.01.02  09:30:00.000  0.1    0.1    1  true   [1,2,3]
            .      .                        .           .             1e300  .      .  false  .
        "#;
        answer(parse_table(&schema, text).unwrap())
    }

    fn written(answer: &Answer, format: Format) -> String {
        let mut out = vec![];
        write(answer, format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv_quotes_what_needs_it_and_leaves_null_empty() {
        let want = "sym,time,day,clock,price,small,n,ok,list\n\
            \"a,b\",2024-01-02T09:30:00.000,2024-01-02,09:30:00.000,0.1,0.1,1,true,\"[1,2,3]\"\n\
            ,,,,1e300,,,false,\n";
        assert_eq!(written(&rows(), Format::Csv), want);
    }

    #[test]
    fn json_has_numbers_texts_and_null() {
        let want = "[{\"sym\":\"a,b\",\"time\":\"2024-01-02T09:30:00.000\",\"day\":\"2024-01-02\",\
            \"clock\":\"09:30:00.000\",\"price\":0.1,\"small\":0.1,\"n\":1,\"ok\":true,\"list\":[1,2,3]},\n\
            {\"sym\":null,\"time\":null,\"day\":null,\"clock\":null,\"price\":1e300,\"small\":null,\"n\":null,\
            \"ok\":false,\"list\":null}]\n";
        assert_eq!(written(&rows(), Format::Json), want);
    }

    #[test]
    fn a_table_aligns_numbers_to_the_right() {
        let schema = Schema::of(&[("sym", Type::Symbol), ("n", Type::Int)]);
        let shown = written(&answer(parse_table(&schema, "sym n\n A 1\n . 100").unwrap()), Format::Table);
        assert!(shown.contains("│ A   ┆   1 │"), "{shown}");
        assert!(shown.contains("│     ┆ 100 │"), "{shown}");
    }

    #[test]
    fn one_null_alone_in_a_row_is_still_a_row_of_csv() {
        let column = Column::of_i32(Type::Int, vec![1, 0], Some(vec![true, false].into()));
        let batch = Batch::new(Schema::of(&[("n", Type::Int)]), vec![column]).unwrap();
        assert_eq!(written(&answer(batch), Format::Csv), "n\n1\n\"\"\n");
    }

    #[test]
    fn no_rows_are_a_header_alone_and_an_empty_array() {
        let nothing = answer(Batch::empty(Schema::of(&[("n", Type::Int)])));
        assert_eq!(written(&nothing, Format::Csv), "n\n");
        assert_eq!(written(&nothing, Format::Json), "[]\n");
    }
}
