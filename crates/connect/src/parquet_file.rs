//! Parquet. Texts that become symbols are read by their codes in the file's dictionaries.

use crate::arrow_rows::ArrowRows;
use crate::error::{Error, Result};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema};
use data::{Batch, Schema, Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The batches of a Parquet file.
pub(crate) struct ParquetFile {
    file: String,
    batches: ParquetRecordBatchReader,
    rows: ArrowRows,
}

/// The columns of a Parquet file, and the open file.
pub(crate) fn columns(path: &Path) -> Result<(File, ArrowReaderMetadata)> {
    let file = File::open(path).map_err(|error| Error::open(path, error))?;
    let metadata =
        ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| malformed(path, error))?;
    Ok((file, metadata))
}

fn malformed(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::Malformed { file: path.display().to_string(), reason: error.to_string() }
}

pub(crate) fn open(path: &Path, schema: &Arc<Schema>, batch_rows: usize) -> Result<ParquetFile> {
    let name = path.display().to_string();
    let (file, metadata) = columns(path)?;
    let found = metadata.schema();
    let names: Vec<String> = found.fields().iter().map(|field| field.name().clone()).collect();
    let mut roots = Vec::with_capacity(schema.len());
    for field in schema.fields() {
        let lower = field.name.to_lowercase();
        let root = names.iter().position(|name| name.to_lowercase() == lower);
        roots.push(root.ok_or_else(|| Error::missing(&name, &field.name, &names))?);
    }
    let coded = |root: usize, field: &Field| {
        let as_symbol = roots.iter().zip(schema.fields()).any(|(&of, wanted)| of == root && wanted.ty == Type::Symbol);
        let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        match as_symbol && is_text {
            true => {
                let coded = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
                field.clone().with_data_type(coded)
            }
            false => field.clone(),
        }
    };
    let wanted: Vec<Field> = found.fields().iter().enumerate().map(|(root, field)| coded(root, field)).collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(ArrowSchema::new(wanted)));
    let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options);
    let builder =
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.map_err(|error| malformed(path, error))?);
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots.iter().copied());
    let batches = builder.with_projection(mask).with_batch_size(batch_rows).build();
    let mut read = roots.clone();
    read.sort_unstable();
    read.dedup();
    let place = |root: &usize| read.binary_search(root).expect("every root is read");
    let rows = ArrowRows::at(&name, roots.iter().map(place).collect(), schema);
    Ok(ParquetFile { file: name, batches: batches.map_err(|error| malformed(path, error))?, rows })
}

impl Iterator for ParquetFile {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        match self.batches.next()? {
            Ok(rows) => Some(self.rows.convert(&rows)),
            Err(error) => Some(Err(Error::Malformed { file: self.file.clone(), reason: error.to_string() })),
        }
    }
}
