//! JSON lines: one object a line.

use crate::cells::Cells;
use crate::csv_file::{batch, refusal};
use crate::error::{Error, Result};
use crate::reader::bytes;
use data::{Batch, Schema};
use serde_json::{Map, Value};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// The objects of a file.
pub(crate) struct Objects {
    file: String,
    lines: BufReader<Box<dyn Read + Send>>,
    /// The line of the last object, from 1.
    pub(crate) line: u64,
    text: Vec<u8>,
}

impl Objects {
    pub(crate) fn open(path: &Path) -> Result<Objects> {
        let lines = BufReader::with_capacity(1 << 20, bytes(path)?);
        Ok(Objects { file: path.display().to_string(), lines, line: 0, text: vec![] })
    }

    /// The next object; blank lines are skipped.
    pub(crate) fn read(&mut self) -> Result<Option<Map<String, Value>>> {
        loop {
            self.text.clear();
            let malformed = |reason: String| Error::Malformed { file: self.file.clone(), reason };
            let read = self.lines.read_until(b'\n', &mut self.text);
            if read.map_err(|error| malformed(error.to_string().to_lowercase()))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if !self.text.trim_ascii().is_empty() {
                let object = serde_json::from_slice(&self.text);
                return object.map(Some).map_err(|error| malformed(format!("line=`{}`, {error}", self.line)));
            }
        }
    }
}

/// The batches of a file of JSON lines. A name that an object does not have is NULL there.
pub(crate) struct JsonFile {
    objects: Objects,
    schema: Arc<Schema>,
    cells: Vec<Cells>,
    batch_rows: usize,
}

pub(crate) fn open(path: &Path, schema: &Arc<Schema>, batch_rows: usize) -> Result<JsonFile> {
    let cells = schema.fields().iter().map(|column| Cells::new(column.ty)).collect();
    Ok(JsonFile { objects: Objects::open(path)?, schema: schema.clone(), cells, batch_rows })
}

impl JsonFile {
    fn read(&mut self) -> Result<Option<Batch>> {
        let mut rows = 0;
        while rows < self.batch_rows {
            let Some(object) = self.objects.read()? else { break };
            for (field, cells) in self.schema.fields().iter().zip(&mut self.cells) {
                let exact = object.get(&*field.name);
                let value = exact.or_else(|| {
                    let name = field.name.to_lowercase();
                    object.iter().find(|(known, _)| known.to_lowercase() == name).map(|(_, value)| value)
                });
                let pushed = match value {
                    None | Some(Value::Null) => cells.push(b""),
                    Some(Value::String(text)) => cells.push(text.as_bytes()),
                    Some(other) => cells.push(other.to_string().as_bytes()),
                };
                if let Err(refused) = pushed {
                    let value = value.map(Value::to_string).unwrap_or_default();
                    return Err(refusal(&self.objects.file, field, self.objects.line, value, refused));
                }
            }
            rows += 1;
        }
        Ok((rows > 0).then(|| batch(&self.schema, &mut self.cells)))
    }
}

impl Iterator for JsonFile {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        self.read().transpose()
    }
}
