//! CSV with a header line.

use crate::cells::{Cells, Refused};
use crate::error::{Error, Result};
use crate::reader::bytes;
use csv::ByteRecord;
use data::{Batch, Schema};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

const BUFFER_BYTES: usize = 1 << 20;

/// A CSV file past its header.
pub(crate) struct Lines {
    file: String,
    records: csv::Reader<Box<dyn Read + Send>>,
    /// The names in the header, as they are written there.
    pub(crate) names: Vec<String>,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Lines> {
        Lines::new(path.display().to_string(), bytes(path)?)
    }

    fn new(file: String, bytes: Box<dyn Read + Send>) -> Result<Lines> {
        let mut records = csv::ReaderBuilder::new().buffer_capacity(BUFFER_BYTES).from_reader(bytes);
        let header = records.byte_headers().map_err(|error| malformed(&file, &error))?;
        let name = |name: &[u8]| String::from_utf8_lossy(name).trim_start_matches('\u{feff}').trim().to_string();
        let names = header.iter().map(name).collect();
        Ok(Lines { file, records, names })
    }

    /// The next line's fields; false at the end.
    pub(crate) fn read(&mut self, record: &mut ByteRecord) -> Result<bool> {
        self.records.read_byte_record(record).map_err(|error| malformed(&self.file, &error))
    }
}

fn malformed(file: &str, error: &csv::Error) -> Error {
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, |place| place.line());
            format!("line=`{line}`, fields=`{len}`, wanted=`{expected_len}`")
        }
        csv::ErrorKind::Io(error) => error.to_string().to_lowercase(),
        _ => error.to_string().to_lowercase(),
    };
    Error::Malformed { file: file.to_string(), reason }
}

/// The batches of a CSV file.
pub(crate) struct CsvFile {
    lines: Lines,
    schema: Arc<Schema>,
    /// The field of each column of the schema.
    fields: Vec<usize>,
    cells: Vec<Cells>,
    record: ByteRecord,
    batch_rows: usize,
}

pub(crate) fn open(path: &Path, schema: &Arc<Schema>, batch_rows: usize) -> Result<CsvFile> {
    of_lines(Lines::open(path)?, schema, batch_rows)
}

/// The batches of a text; a column that the schema does not have is an error.
pub(crate) fn of_bytes(
    name: &str,
    bytes: Box<dyn Read + Send>,
    schema: &Arc<Schema>,
    batch_rows: usize,
) -> Result<CsvFile> {
    let lines = Lines::new(name.to_string(), bytes)?;
    lines.names.iter().try_for_each(|column| Error::known(name, column, schema))?;
    of_lines(lines, schema, batch_rows)
}

fn of_lines(lines: Lines, schema: &Arc<Schema>, batch_rows: usize) -> Result<CsvFile> {
    let place = |name: &str| {
        let name = name.to_lowercase();
        lines.names.iter().position(|known| known.to_lowercase() == name)
    };
    let field = |column: &data::Field| {
        place(&column.name).ok_or_else(|| Error::missing(&lines.file, &column.name, &lines.names))
    };
    let fields = schema.fields().iter().map(field).collect::<Result<Vec<_>>>()?;
    let cells = schema.fields().iter().map(|column| Cells::new(column.ty)).collect();
    Ok(CsvFile { lines, schema: schema.clone(), fields, cells, record: ByteRecord::new(), batch_rows })
}

impl CsvFile {
    fn read(&mut self) -> Result<Option<Batch>> {
        let mut rows = 0;
        while rows < self.batch_rows && self.lines.read(&mut self.record)? {
            for (column, (&field, cells)) in self.fields.iter().zip(&mut self.cells).enumerate() {
                if let Err(refused) = cells.push(&self.record[field]) {
                    let line = self.record.position().map_or(0, |place| place.line());
                    let value = String::from_utf8_lossy(&self.record[field]).into_owned();
                    return Err(refusal(&self.lines.file, &self.schema.fields()[column], line, value, refused));
                }
            }
            rows += 1;
        }
        Ok((rows > 0).then(|| batch(&self.schema, &mut self.cells)))
    }
}

/// The rows collected so far as a batch.
pub(crate) fn batch(schema: &Arc<Schema>, cells: &mut [Cells]) -> Batch {
    let columns = cells.iter_mut().map(Cells::take).collect();
    Batch::new(schema.clone(), columns).expect("every row gave each column one value of its type")
}

/// A refused value with its place.
pub(crate) fn refusal(file: &str, field: &data::Field, row: u64, value: String, refused: Refused) -> Error {
    let file = file.to_string();
    match refused {
        Refused::Value => Error::Value { file, row, column: field.name.to_string(), value, ty: field.ty.to_string() },
        Refused::Data(error) => Error::Data { file, error },
    }
}

impl Iterator for CsvFile {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        self.read().transpose()
    }
}
