//! One file as an iterator of batches.

use crate::error::{Error, Result};
use crate::{csv_file, json_file, parquet_file};
use data::{Batch, Schema};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The kinds of files, by the end of their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Csv,
    JsonLines,
    Parquet,
}

impl Kind {
    pub(crate) fn of(path: &Path) -> Result<Kind> {
        let name = path.to_string_lossy().to_lowercase();
        let (plain, compressed) = name.strip_suffix(".zst").map_or((&*name, false), |plain| (plain, true));
        match plain.rsplit('.').next() {
            Some("csv") => Ok(Kind::Csv),
            Some("jsonl" | "ndjson" | "json") => Ok(Kind::JsonLines),
            Some("parquet") if !compressed => Ok(Kind::Parquet),
            _ => Err(Error::Format { file: path.display().to_string() }),
        }
    }
}

/// The bytes of a text file, decompressed where its name says so.
pub(crate) fn bytes(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path).map_err(|error| Error::open(path, error))?;
    let compressed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("zst"));
    match compressed {
        true => Ok(Box::new(zstd::Decoder::new(file).map_err(|error| Error::open(path, error))?)),
        false => Ok(Box::new(file)),
    }
}

/// The rows of a file, batch by batch. After an error there are no more.
pub struct Reader {
    schema: Arc<Schema>,
    file: String,
    batches: Box<dyn Iterator<Item = Result<Batch>> + Send>,
    failed: bool,
}

/// Opens a file to read batches of this schema, each of `batch_rows` rows but for the last one.
pub fn open(path: impl AsRef<Path>, schema: &Arc<Schema>, batch_rows: usize) -> Result<Reader> {
    let (path, batch_rows) = (path.as_ref(), batch_rows.max(1));
    let batches: Box<dyn Iterator<Item = Result<Batch>> + Send> = match Kind::of(path)? {
        Kind::Csv => Box::new(csv_file::open(path, schema, batch_rows)?),
        Kind::JsonLines => Box::new(json_file::open(path, schema, batch_rows)?),
        Kind::Parquet => Box::new(parquet_file::open(path, schema, batch_rows)?),
    };
    Ok(Reader { schema: schema.clone(), file: path.display().to_string(), batches, failed: false })
}

/// Reads CSV with a header line from bytes, `name` being what errors call them. Unlike a file they may have no column that
/// the schema has not.
pub fn csv(name: &str, bytes: Box<dyn Read + Send>, schema: &Arc<Schema>, batch_rows: usize) -> Result<Reader> {
    let batches = csv_file::of_bytes(name, bytes, schema, batch_rows.max(1))?;
    Ok(Reader { schema: schema.clone(), file: name.to_string(), batches: Box::new(batches), failed: false })
}

/// All rows of a file as one batch.
pub fn read_all(path: impl AsRef<Path>, schema: &Arc<Schema>) -> Result<Batch> {
    let path = path.as_ref();
    let batches = open(path, schema, 65_536)?.collect::<Result<Vec<_>>>()?;
    Batch::concat(schema.clone(), &batches).map_err(|error| Error::Data { file: path.display().to_string(), error })
}

impl Reader {
    /// Names and types of the columns.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }
}

impl Iterator for Reader {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        if self.failed {
            return None;
        }
        let next = self.batches.next();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}
