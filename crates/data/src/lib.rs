//! Data: types, schemas, symbol dictionaries and batches of columns, and nothing of files, clocks or graphs.
//!
//! A [`Column`] holds an Arrow array in its *physical* form (a DATE is an `Int32Array` of days, a SYMBOL a
//! `UInt32Array` of codes beside its [`Dictionary`]); its [`Type`] says what the values mean. At the edges
//! [`Column::to_arrow`] and [`Column::from_arrow`] change to and from the Arrow types of the outside world.

mod batch;
mod bytes16;
mod column;
mod decimal;
mod dictionary;
mod error;
mod hash;
mod paged;
mod scalar;
mod schema;
mod temporal;
mod text_table;
mod types;

pub use batch::Batch;
pub use bytes16::{bytes_of_pair, format_bytes16, pair_of, parse_bytes16, push_bytes16};
pub use column::{Column, ColumnBuilder};
pub use decimal::{format_decimal, parse_decimal, push_decimal};
pub use dictionary::{Codes, Dictionary, Remap};
pub use error::{Error, Result};
pub use hash::{KEY_GROUPS, KeyGroup, key_group, stable_hash, stable_hash_text};
pub use paged::Paged;
pub use scalar::Scalar;
pub use schema::{Field, Schema};
pub use temporal::{concat_date_time, format_iso, format_script, parse_temporal, push_iso};
pub use text_table::{parse_table, print_table};
pub use types::{Physical, Type};

/// Arrow's own building blocks, so that the floors above name one version of them.
pub mod arrow {
    pub use arrow_array as array;
    pub use arrow_buffer as buffer;
    pub use arrow_schema as schema;
    pub use arrow_select as select;
}
