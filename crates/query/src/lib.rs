//! SQL over every table of the catalog: one session over DataFusion, with the language's function library in it.
//!
//! Invariants:
//! - Names match without regard to case; an answer's columns are spelled as the schema, or the alias, spells them.
//! - Rows of a table come in the order of their offsets unless the query sorts them otherwise.
//! - The same query over the same rows gives the same answer, whatever the number of partitions.

mod catalog;
mod error;
mod figures;
mod filter;
pub mod format;
mod functions;
mod names;
mod order;
mod pg_catalog;
mod prepared;
mod provider;
mod session;
mod statements;

pub use catalog::{Catalog, DEFAULT_SCHEMA, MemoryScan, OFFSET, Picture, Scan};
pub use error::{Error, Kind, Place, Result};
pub use figures::{BOUNDS_S, Durations, Figures};
pub use filter::Filter;
pub use functions::is_of_sql;
pub use pg_catalog::PgType;
pub use prepared::{Prepared, Rows};
pub use provider::FullName;
pub use session::{Answer, Session};
pub use statements::{Command, Copy, CopyFormat, CopyOf, Statement, statements};
