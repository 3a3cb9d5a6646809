//! Files as batches of a table's schema: CSV and JSON lines (also compressed by zstd), and Parquet.
//!
//! Invariants:
//! - Columns are matched by name without regard to case; columns the schema does not have are left out.
//! - A value is never bent to fit: what does not read as its column's type is an error that names file, row, column,
//!   value and type.
//! - A reader codes the symbols of each column in one dictionary from its first batch to its last.

mod arrays;
mod arrow_rows;
mod cells;
mod csv_file;
mod error;
mod infer;
mod interleave;
mod json_file;
mod parquet_file;
mod reader;

pub use arrow_rows::{ArrowRows, column};
pub use cells::{Cells, Refused};
pub use error::{Error, Kind, Result};
pub use infer::infer_schema;
pub use interleave::{Interleave, interleave};
pub use reader::{Reader, csv, open, read_all};
