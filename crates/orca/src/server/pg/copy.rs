//! COPY: rows in bulk, from the client into columns and from columns to the client.
//!
//! Invariants:
//! - What comes in is read into columns as it comes; only a row that is not whole yet is kept as text.
//! - A COPY of at most [`PIECE_ROWS`] rows is one append: all of it or nothing. A longer one is appended in pieces of so
//!   many rows.

use super::error::PgError;
use super::frames::Body;
use super::rows::{Cells as Shown, CellsOf, Format};
use super::values::{from_binary, push_text, refused};
use arrow::array::RecordBatch;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use connect::{Cells, Refused};
use data::{Batch, Column, Field, Schema};
use query::{Copy, CopyFormat};
use std::sync::Arc;

/// Rows of one append.
pub(super) const PIECE_ROWS: usize = 1 << 20;

/// What one row may take.
const ROW_BYTES_MAX: usize = 16 << 20;

/// How the binary form begins.
const BINARY_HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Rows that come in.
pub(super) struct CopyIn {
    schema: Arc<Schema>,
    /// The place in the schema of each field of a row.
    places: Vec<usize>,
    cells: Vec<Cells>,
    rows: usize,
    line: u64,
    copy: Copy,
    rest: BytesMut,
    /// Is the head of names, or of the binary form, still to come?
    before_head: bool,
    ended: bool,
    scratch: Vec<u8>,
}

impl CopyIn {
    /// Rows for these columns of a table; all if none are named.
    pub(super) fn new(schema: Arc<Schema>, columns: &[String], copy: Copy) -> Result<CopyIn, PgError> {
        let place = |name: &String| {
            schema.index_of(name).ok_or_else(|| {
                let names = schema.names();
                let near = lang::nearest(name, names.iter().map(String::as_str));
                let error = PgError::new("42703", format!("unknown column: column=`{name}`"));
                PgError { hint: near.map(|near| format!("did you mean `{near}`?")), ..error }
            })
        };
        let places = match columns {
            [] => (0..schema.len()).collect(),
            names => names.iter().map(place).collect::<Result<Vec<_>, _>>()?,
        };
        if (1..places.len()).any(|at| places[..at].contains(&places[at])) {
            return Err(PgError::new("42701", "a column is named twice"));
        }
        let cells = places.iter().map(|place| Cells::new(schema.fields()[*place].ty)).collect();
        let before_head = copy.header || copy.format == CopyFormat::Binary;
        let rest = BytesMut::new();
        Ok(CopyIn { schema, places, cells, rows: 0, line: 0, copy, rest, before_head, ended: false, scratch: vec![] })
    }

    /// How many fields a row has.
    pub(super) fn fields(&self) -> usize {
        self.places.len()
    }

    /// How many rows wait to be taken.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Reads what has come.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), PgError> {
        if self.rest.is_empty() {
            let used = self.read(bytes, false)?;
            self.rest.extend_from_slice(&bytes[used..]);
        } else {
            self.rest.extend_from_slice(bytes);
            let rest = self.rest.split();
            let used = self.read(&rest, false)?;
            self.rest.extend_from_slice(&rest[used..]);
        }
        if self.rest.len() > ROW_BYTES_MAX {
            return Err(self.wrong(format!("a row is too long: bytes_max=`{ROW_BYTES_MAX}`")));
        }
        Ok(())
    }

    /// Reads what is left when no more comes.
    pub(super) fn finish(&mut self) -> Result<(), PgError> {
        let rest = self.rest.split();
        let used = self.read(&rest, true)?;
        let is_whole = used == rest.len() || self.ended;
        if !is_whole || (self.copy.format == CopyFormat::Binary && self.before_head) {
            return Err(self.wrong("the last row is not whole".into()));
        }
        Ok(())
    }

    /// The rows so far; the next ones start a new piece.
    pub(super) fn take(&mut self) -> Result<Batch, PgError> {
        let mut columns: Vec<Option<Column>> = vec![None; self.schema.len()];
        for (place, cells) in self.places.iter().zip(&mut self.cells) {
            columns[*place] = Some(cells.take());
        }
        let columns = columns.into_iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| column.unwrap_or_else(|| Column::nulls(field.ty, self.rows)));
        let batch = Batch::new(self.schema.clone(), columns.collect());
        self.rows = 0;
        batch.map_err(|error| PgError::new("XX000", error.to_string()))
    }

    /// Reads whole rows; gives how many bytes they took.
    fn read(&mut self, bytes: &[u8], is_last: bool) -> Result<usize, PgError> {
        match self.copy.format {
            CopyFormat::Text => self.read_text(bytes, is_last),
            CopyFormat::Csv => self.read_csv(bytes, is_last),
            CopyFormat::Binary => self.read_binary(bytes),
        }
    }

    fn read_text(&mut self, bytes: &[u8], is_last: bool) -> Result<usize, PgError> {
        let mut used = 0;
        while used < bytes.len() && !self.ended {
            let line = &bytes[used..];
            // A line feed behind a backslash is part of a field.
            let mut end = None;
            let mut from = 0;
            while let Some(at) = line[from..].iter().position(|byte| *byte == b'\n') {
                let at = from + at;
                if line[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0 {
                    end = Some(at);
                    break;
                }
                from = at + 1;
            }
            let (line, next) = match end {
                Some(end) => (&line[..end], used + end + 1),
                None if is_last => (line, bytes.len()),
                None => break,
            };
            used = next;
            self.line += 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line == b"\\." {
                self.ended = true;
            } else if self.before_head {
                self.before_head = false;
            } else {
                self.text_row(line)?;
            }
        }
        Ok(if self.ended { bytes.len() } else { used })
    }

    fn text_row(&mut self, line: &[u8]) -> Result<(), PgError> {
        let (mut place, mut start) = (0, 0);
        loop {
            let mut escaped = false;
            let mut end = start;
            while end < line.len() && line[end] != self.copy.delimiter {
                if line[end] == b'\\' {
                    escaped = true;
                    end += 1;
                }
                end += 1;
            }
            let end = end.min(line.len());
            let field = &line[start..end];
            if place >= self.places.len() {
                return Err(self.wrong(format!("a row has too many fields: wanted=`{}`", self.places.len())));
            }
            if field == self.copy.null.as_bytes() {
                self.cells[place].push_null();
            } else if escaped {
                let mut scratch = std::mem::take(&mut self.scratch);
                unescape(field, &mut scratch);
                let pushed = self.field(place, &scratch);
                self.scratch = scratch;
                pushed?;
            } else {
                self.field(place, field)?;
            }
            place += 1;
            if end == line.len() {
                break;
            }
            start = end + 1;
        }
        self.end_row(place)
    }

    fn read_csv(&mut self, bytes: &[u8], is_last: bool) -> Result<usize, PgError> {
        let mut used = 0;
        while used < bytes.len() && !self.ended {
            match self.csv_row(&bytes[used..], is_last)? {
                Some(row) => used += row,
                None => break,
            }
        }
        Ok(if self.ended { bytes.len() } else { used })
    }

    /// Reads a row from the front; gives its bytes, or `None` if it is not whole.
    fn csv_row(&mut self, bytes: &[u8], is_last: bool) -> Result<Option<usize>, PgError> {
        let Some(end) = self.csv_end(bytes, is_last) else { return Ok(None) };
        let next = (end + 1).min(bytes.len());
        let row = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
        self.line += 1;
        if row == b"\\." {
            self.ended = true;
            return Ok(Some(next));
        }
        if self.before_head {
            self.before_head = false;
            return Ok(Some(next));
        }
        let (delimiter, quote, escape) = (self.copy.delimiter, self.copy.quote, self.copy.escape);
        let (mut place, mut at) = (0, 0);
        loop {
            if place >= self.places.len() {
                return Err(self.wrong(format!("a row has too many fields: wanted=`{}`", self.places.len())));
            }
            let length = row[at..].iter().position(|byte| *byte == delimiter || *byte == quote);
            let stop = length.map_or(row.len(), |length| at + length);
            if stop == row.len() || row[stop] == delimiter {
                let field = &row[at..stop];
                if field == self.copy.null.as_bytes() {
                    self.cells[place].push_null();
                } else {
                    self.field(place, field)?;
                }
                at = stop;
            } else {
                let mut scratch = std::mem::take(&mut self.scratch);
                scratch.clear();
                let mut within = false;
                while at < row.len() && (within || row[at] != delimiter) {
                    let byte = row[at];
                    if within
                        && byte == escape
                        && row.get(at + 1).is_some_and(|next| matches!(*next, next if next == quote || next == escape))
                    {
                        scratch.push(row[at + 1]);
                        at += 1;
                    } else if byte == quote {
                        within = !within;
                    } else {
                        scratch.push(byte);
                    }
                    at += 1;
                }
                let pushed = self.field(place, &scratch);
                self.scratch = scratch;
                pushed?;
            }
            place += 1;
            if at >= row.len() {
                break;
            }
            at += 1;
        }
        self.end_row(place)?;
        Ok(Some(next))
    }

    /// Where the line ends that is not within quotes.
    fn csv_end(&self, bytes: &[u8], is_last: bool) -> Option<usize> {
        let (quote, escape) = (self.copy.quote, self.copy.escape);
        let (mut at, mut within) = (0, false);
        while at < bytes.len() {
            let byte = bytes[at];
            if within && byte == escape && escape != quote {
                at += 1;
            } else if byte == quote {
                within = !within;
            } else if byte == b'\n' && !within {
                return Some(at);
            }
            at += 1;
        }
        (is_last && !within).then_some(bytes.len())
    }

    fn read_binary(&mut self, bytes: &[u8]) -> Result<usize, PgError> {
        let whole = Bytes::copy_from_slice(bytes);
        let mut left = whole.clone();
        if self.before_head {
            let head = BINARY_HEAD.len() + 8;
            if left.len() < head {
                return Ok(0);
            }
            if !left.starts_with(BINARY_HEAD) {
                return Err(self.wrong("rows in binary do not begin with the signature of COPY".into()));
            }
            left.advance(head - 4);
            let extension = left.get_i32();
            if extension != 0 {
                return Err(self.wrong("not supported: a head of COPY with an extension".into()));
            }
            self.before_head = false;
        }
        while !self.ended {
            let Some(row) = self.binary_row(left.clone())? else { break };
            left.advance(row);
        }
        Ok(if self.ended { bytes.len() } else { whole.len() - left.len() })
    }

    fn binary_row(&mut self, bytes: Bytes) -> Result<Option<usize>, PgError> {
        // Is it whole?
        let mut look = Body(bytes.clone());
        let Ok(fields) = look.i16() else { return Ok(None) };
        if fields == -1 {
            self.ended = true;
            return Ok(Some(bytes.len()));
        }
        if fields as usize != self.places.len() {
            let wanted = self.places.len();
            return Err(
                self.wrong(format!("a row has too many or too few fields: found=`{fields}`, wanted=`{wanted}`"))
            );
        }
        let mut values = Vec::with_capacity(self.places.len());
        for _ in 0..fields {
            match look.0.get(..4).map(|length| i32::from_be_bytes(length.try_into().expect("four bytes"))) {
                None => return Ok(None),
                Some(length) if length < -1 => return Err(self.wrong("a field has a length below 0".into())),
                Some(length) if length as i64 > look.0.len() as i64 - 4 => return Ok(None),
                Some(_) => values.push(look.value()?),
            }
        }
        self.line += 1;
        for (place, value) in values.into_iter().enumerate() {
            let Some(value) = value else {
                self.cells[place].push_null();
                continue;
            };
            let field = &self.schema.fields()[self.places[place]];
            let pushed = match field.ty.is_text() {
                true => self.cells[place].push(&value),
                false => match from_binary(field.ty, value.clone()) {
                    Some(value) => self.cells[place].push_scalar(&value),
                    None => Err(Refused::Value),
                },
            };
            pushed.map_err(|error| {
                refused(&error, field.ty, format!("{} bytes", value.len()).as_bytes(), self.line, &field.name)
            })?;
        }
        self.rows += 1;
        Ok(Some(bytes.len() - look.0.len()))
    }

    fn field(&mut self, place: usize, text: &[u8]) -> Result<(), PgError> {
        let field = &self.schema.fields()[self.places[place]];
        push_text(&mut self.cells[place], field.ty, text)
            .map_err(|error| refused(&error, field.ty, text, self.line, &field.name))
    }

    fn end_row(&mut self, fields: usize) -> Result<(), PgError> {
        if fields < self.places.len() {
            let wanted = self.places.len();
            return Err(self.wrong(format!("a row has too few fields: found=`{fields}`, wanted=`{wanted}`")));
        }
        self.rows += 1;
        Ok(())
    }

    fn wrong(&self, reason: String) -> PgError {
        PgError::new("22P04", format!("{reason}, line=`{}`", self.line))
    }
}

/// `a\tb` with the letters that are meant.
fn unescape(field: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut bytes = field.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(escaped) = bytes.next() else { break };
        let mut digits = |first: u32, radix: u32, max: usize| {
            let mut value = first;
            for _ in 0..max {
                let Some(digit) = bytes.peek().and_then(|byte| char::from(*byte).to_digit(radix)) else { break };
                value = value * radix + digit;
                bytes.next();
            }
            value as u8
        };
        out.push(match escaped {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'x' => digits(0, 16, 2),
            b'0'..=b'7' => digits((escaped - b'0') as u32, 8, 2),
            other => other,
        });
    }
}

/// Rows that go out.
pub(super) struct CopyOut {
    copy: Copy,
    fields: Vec<Field>,
}

impl CopyOut {
    pub(super) fn new(copy: Copy, fields: Vec<Field>) -> CopyOut {
        CopyOut { copy, fields }
    }

    /// What goes before the rows.
    pub(super) fn head(&self, out: &mut BytesMut) {
        match self.copy.format {
            CopyFormat::Binary => {
                out.put_slice(BINARY_HEAD);
                out.put_i64(0);
            }
            _ if self.copy.header => {
                for (place, field) in self.fields.iter().enumerate() {
                    self.put_field(place, field.name.as_bytes(), out);
                }
                out.put_u8(b'\n');
            }
            _ => {}
        }
    }

    /// What goes after the rows.
    pub(super) fn foot(&self, out: &mut BytesMut) {
        if self.copy.format == CopyFormat::Binary {
            out.put_i16(-1);
        }
    }

    /// The cells of a batch.
    pub(super) fn cells(&self, batch: &RecordBatch) -> Shown {
        Shown::of(&self.fields, batch)
    }

    /// A row.
    pub(super) fn row(&self, cells: &Shown, row: usize, scratch: &mut BytesMut, out: &mut BytesMut) {
        if self.copy.format == CopyFormat::Binary {
            cells.put_row(row, &vec![Format::Binary; self.fields.len()], out);
            return;
        }
        for (place, cell) in cells.columns().iter().enumerate() {
            if CellsOf::is_null(cell, row) {
                self.put_delimiter(place, out);
                out.put_slice(self.copy.null.as_bytes());
                continue;
            }
            scratch.clear();
            cell.put_text(row, scratch);
            self.put_field(place, scratch, out);
        }
        out.put_u8(b'\n');
    }

    fn put_delimiter(&self, place: usize, out: &mut BytesMut) {
        if place > 0 {
            out.put_u8(self.copy.delimiter);
        }
    }

    fn put_field(&self, place: usize, text: &[u8], out: &mut BytesMut) {
        self.put_delimiter(place, out);
        let Copy { delimiter, quote, escape, null, format, .. } = &self.copy;
        if *format == CopyFormat::Csv {
            let needs = |byte: &u8| byte == delimiter || byte == quote || matches!(byte, b'\n' | b'\r');
            if !text.iter().any(needs) && text != null.as_bytes() && text != b"\\." {
                out.put_slice(text);
                return;
            }
            out.put_u8(*quote);
            for byte in text {
                if byte == quote || byte == escape {
                    out.put_u8(*escape);
                }
                out.put_u8(*byte);
            }
            out.put_u8(*quote);
            return;
        }
        for byte in text {
            match byte {
                b'\n' => out.put_slice(b"\\n"),
                b'\r' => out.put_slice(b"\\r"),
                b'\t' => out.put_slice(b"\\t"),
                b'\\' => out.put_slice(b"\\\\"),
                byte if byte == delimiter => out.put_slice(&[b'\\', *byte]),
                byte => out.put_u8(*byte),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Type;
    use query::Command;

    fn copy(text: &str) -> Copy {
        match query::statements(text).expect("a statement").remove(0).command {
            Command::Copy(copy) => copy,
            other => panic!("{other:?}"),
        }
    }

    /// The rows, read in pieces of so many bytes.
    fn read(statement: &str, text: &[u8], piece: usize) -> Result<Batch, PgError> {
        let schema = Schema::of(&[("sym", Type::Symbol), ("price", Type::Double), ("volume", Type::Long)]);
        let copy = copy(statement);
        let columns = match &copy.of {
            query::CopyOf::Table(_, columns) => columns.clone(),
            _ => vec![],
        };
        let mut rows = CopyIn::new(schema, &columns, copy)?;
        for piece in text.chunks(piece) {
            rows.push(piece)?;
        }
        rows.finish()?;
        rows.take()
    }

    fn check(statement: &str, text: &[u8], wanted: &str) {
        let schema = Schema::of(&[("sym", Type::Symbol), ("price", Type::Double), ("volume", Type::Long)]);
        for piece in [1, 3, 7, 1 << 20] {
            let read = read(statement, text, piece).unwrap_or_else(|error| panic!("{piece}: {error:?}"));
            let wanted = data::parse_table(&schema, wanted).expect("a table");
            assert_eq!(data::print_table(&read), data::print_table(&wanted), "in pieces of {piece}");
        }
    }

    #[test]
    fn rows_are_read_however_they_are_cut() {
        let wanted = "
            sym    price  volume
            A      1.5    10
            .      .      -3
        ";
        check("copy t from stdin", b"A\t1.5\t10\n\\N\t\\N\t-3\n\\.\n", wanted);
        check("copy t from stdin (format csv, header)", b"sym,price,volume\r\nA,1.5,10\r\n,,\"-3\"", wanted);
        check("copy t from stdin (delimiter ';', null 'x')", b"\\x41;1.5;10\nx;x;-3", wanted);
        let mut binary = BINARY_HEAD.to_vec();
        binary.extend([0; 8]);
        let mut row = |fields: [Option<&[u8]>; 3]| {
            binary.extend(3i16.to_be_bytes());
            for field in fields {
                binary.extend(field.map_or(-1, |field| field.len() as i32).to_be_bytes());
                binary.extend(field.unwrap_or_default());
            }
        };
        row([Some(b"A"), Some(&1.5f64.to_be_bytes()), Some(&10i64.to_be_bytes())]);
        row([None, None, Some(&(-3i32).to_be_bytes())]);
        binary.extend((-1i16).to_be_bytes());
        check("copy t from stdin (format binary)", &binary, wanted);
        check(
            "copy t (volume, sym) from stdin",
            b"7\tB\n",
            "
            sym  price  volume
            B    .      7
        ",
        );
    }

    #[test]
    fn a_field_in_quotes_may_hold_anything() {
        let read = read("copy t from stdin csv", b"\"a\"\"b,\nc\",1,2\n", 2).expect("rows");
        assert_eq!(read.column(0).get(0).as_text(), Some("a\"b,\nc"));
        let read = super::tests::read("copy t from stdin", b"a\\tb\\\\\\\n\\101\t1\t2\n", 3).expect("rows");
        assert_eq!(read.column(0).get(0).as_text(), Some("a\tb\\\nA"));
    }

    #[test]
    fn a_row_that_is_none_is_refused_with_its_line() {
        for (statement, text, code, line) in [
            ("copy t from stdin", &b"A\t1\t2\nB\tx\t2\n"[..], "22P02", "line=`2`"),
            ("copy t from stdin", b"A\t1\n", "22P04", "line=`1`"),
            ("copy t from stdin", b"A\t1\t2\t3\n", "22P04", "line=`1`"),
            ("copy t from stdin csv", b"A,1,2\n\"B,1,2\n", "22P04", "line=`1`"),
            ("copy t from stdin csv", b"A,1,\"\"\n", "22P02", "line=`1`"),
            ("copy t from stdin binary", b"PGCOPX\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x03", "22P04", "line=`0`"),
            ("copy t from stdin binary", b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01", "22P04", "line=`0`"),
        ] {
            match read(statement, text, 4) {
                Err(error) => {
                    assert_eq!(error.code, code, "{error:?}");
                    assert!(error.message.contains(line), "{error:?}");
                }
                Ok(rows) => panic!("{text:?} became {}", data::print_table(&rows)),
            }
        }
        assert!(read("copy t (sym, nix) from stdin", b"", 1).is_err_and(|error| error.code == "42703"));
    }
}
