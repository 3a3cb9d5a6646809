//! Public tables: their kinds, their options, and what a graph may know of those that exist.

use crate::name::FullName;
use data::{Schema, Type};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Fewer rows than this are never kept in memory, whatever `cacheSize` asks for.
pub const CACHE_ROWS_MIN: u64 = 1000;

/// Which rows a table takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// Every row.
    Log,
    /// The first row of each key.
    Keyed {
        /// The key columns.
        key: Vec<String>,
    },
    /// A row that is newer than the newest one of its key.
    LatestKeyed {
        /// The key columns.
        key: Vec<String>,
        /// One column, or a date and a time.
        time: Vec<String>,
    },
}

impl TableKind {
    /// The key columns; none for a log.
    pub fn key(&self) -> &[String] {
        match self {
            TableKind::Log => &[],
            TableKind::Keyed { key } | TableKind::LatestKeyed { key, .. } => key,
        }
    }

    /// The time columns; none unless latest-keyed.
    pub fn time(&self) -> &[String] {
        match self {
            TableKind::LatestKeyed { time, .. } => time,
            _ => &[],
        }
    }

    /// The same kind with the same columns, names matched without regard to case?
    pub fn same_as(&self, other: &TableKind) -> bool {
        let lower = |names: &[String]| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
        std::mem::discriminant(self) == std::mem::discriminant(other)
            && lower(self.key()) == lower(other.key())
            && lower(self.time()) == lower(other.time())
    }
}

impl fmt::Display for TableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableKind::Log => f.write_str("log"),
            TableKind::Keyed { key } => write!(f, "keyed({})", key.join(", ")),
            TableKind::LatestKeyed { key, time } => {
                write!(f, "latest-keyed({}; {})", key.join(", "), time.join(", "))
            }
        }
    }
}

/// May a column of this type be a key of a table?
pub fn is_key_type(ty: Type) -> bool {
    let identifies = matches!(ty, Type::Uuid | Type::Ipaddr | Type::Int128);
    ty.is_integer() || ty.is_temporal() || ty.is_text() || ty.is_float() || identifies
}

/// May these types be the time of a latest-keyed table: one integer or temporal column, or a date and a time?
pub fn is_time_type(types: &[Type]) -> bool {
    match types {
        [one] => one.is_integer() || one.is_temporal(),
        [date, time] => *date == Type::Date && matches!(time, Type::Time | Type::Second | Type::Nanotime),
        _ => false,
    }
}

/// How a table is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableOptions {
    /// `asyncWrite`: an append returns before its rows are on disk.
    pub async_write: bool,
    /// `compress`: segments are compressed.
    pub compress: bool,
    /// `cacheSize`: how many rows stay in memory; `None` for all.
    pub cache_rows: Option<u64>,
    /// `retentionMinutes`: how long rows are kept on disk.
    pub retention_minutes: u64,
    /// `flushMode=1`: each append is forced to the disk.
    pub fsync: bool,
    /// `preCache`: how many rows are loaded into memory after a restart.
    pub pre_cache_rows: Option<u64>,
    /// The three `cachePurge…` arguments, which go together.
    pub cache_purge: Option<CachePurge>,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            async_write: true,
            compress: true,
            cache_rows: None,
            retention_minutes: 1440,
            fsync: false,
            pre_cache_rows: None,
            cache_purge: None,
        }
    }
}

/// Rows leave the memory by their age.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePurge {
    /// `cachePurgeTimeColumn`.
    pub time_column: String,
    /// `cachePurgeInterval`: purge when the rows in memory span at least this, in units of the column.
    pub interval: i64,
    /// `cacheRetentionTime`: what stays is at most this much older than the newest row, in units of the column.
    pub retention: i64,
}

/// A public table that exists.
#[derive(Debug, Clone, PartialEq)]
pub struct TableInfo {
    /// Its full name.
    pub name: FullName,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// Which rows it takes.
    pub kind: TableKind,
    /// How it is kept.
    pub options: TableOptions,
    /// The graphs that read or write it.
    pub used_by: Vec<FullName>,
}

/// How two schemas differ, in words; `None` if they are the same.
pub fn schema_difference(there: &Schema, here: &Schema) -> Option<String> {
    if there.same_as(here) {
        return None;
    }
    let pairs = there.fields().iter().zip(here.fields());
    for (place, (there, here)) in pairs.enumerate() {
        if there.name.to_lowercase() != here.name.to_lowercase() {
            return Some(format!("column {} is `{}` there and `{}` here", place + 1, there.name, here.name));
        }
        if there.ty != here.ty {
            return Some(format!("column `{}` is {} there and {} here", there.name, there.ty, here.ty));
        }
    }
    Some(format!("{} columns there and {} here", there.len(), here.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_between_schemas_is_told_in_words() {
        let there = Schema::of(&[("sym", Type::Symbol), ("qty", Type::Int)]);
        let differs = |fields: &[(&str, Type)]| schema_difference(&there, &Schema::of(fields));
        assert_eq!(differs(&[("SYM", Type::Symbol), ("qty", Type::Int)]), None);
        let text = differs(&[("sym", Type::Symbol), ("qty", Type::Double)]).unwrap();
        assert_eq!(text, "column `qty` is INT there and DOUBLE here");
        let text = differs(&[("sym", Type::Symbol), ("price", Type::Int)]).unwrap();
        assert_eq!(text, "column 2 is `qty` there and `price` here");
        assert_eq!(differs(&[("sym", Type::Symbol)]).unwrap(), "2 columns there and 1 here");
    }

    #[test]
    fn kinds_are_compared_by_their_columns_without_regard_to_case() {
        let keyed = |key: &str| TableKind::Keyed { key: vec![key.into()] };
        assert!(keyed("sym").same_as(&keyed("SYM")));
        assert!(!keyed("sym").same_as(&keyed("id")));
        assert!(!keyed("sym").same_as(&TableKind::Log));
    }
}
