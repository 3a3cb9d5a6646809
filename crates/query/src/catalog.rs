//! What a session asks of the program around it: names of tables, and their rows.

use data::{Batch, Schema};
use lang::Diagnostic;
use std::sync::Arc;

/// The schema that a name without one belongs to.
pub const DEFAULT_SCHEMA: &str = "orca_table";

/// The hidden column of every table: the row's offset. It is selected by name and is no part of `*`.
pub const OFFSET: &str = "_offset";

/// The tables there are. Names are given in their own case and asked for in that case.
pub trait Catalog: Send + Sync {
    /// The names of all catalogs.
    fn catalogs(&self) -> Vec<String>;
    /// The names of all schemas of a catalog.
    fn schemas(&self, catalog: &str) -> Vec<String>;
    /// The names of all tables of a schema.
    fn tables(&self, catalog: &str, schema: &str) -> Vec<String>;
    /// One table, if there is such a one.
    fn table(&self, catalog: &str, schema: &str, name: &str) -> Option<Arc<dyn Scan>>;
}

/// A table that can be read.
pub trait Scan: Send + Sync {
    /// Names and types of the columns.
    fn schema(&self) -> Arc<Schema>;
    /// The rows now.
    fn picture(&self) -> Result<Picture, Diagnostic>;
}

/// The rows of a table at one moment.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// The offset of the first row.
    pub first_offset: u64,
    /// The rows, in the order of their offsets and without gaps.
    pub batches: Vec<Batch>,
}

/// A table whose rows are at hand.
#[derive(Debug, Clone)]
pub struct MemoryScan {
    schema: Arc<Schema>,
    picture: Picture,
}

impl MemoryScan {
    /// A table of these rows, their offsets from 0 on. All batches must have the types of `schema`.
    pub fn new(schema: Arc<Schema>, batches: Vec<Batch>) -> MemoryScan {
        assert!(batches.iter().all(|batch| batch.schema().same_as(&schema)), "batches of the table's schema");
        MemoryScan { schema, picture: Picture { first_offset: 0, batches } }
    }
}

impl Scan for MemoryScan {
    fn schema(&self) -> Arc<Schema> {
        self.schema.clone()
    }

    fn picture(&self) -> Result<Picture, Diagnostic> {
        Ok(self.picture.clone())
    }
}
