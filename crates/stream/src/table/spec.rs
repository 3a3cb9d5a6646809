//! What a table is: name, columns, kind and options, kept as text in the table's folder.

use crate::error::{Error, Result};
use crate::log::Flush;
use data::{Field, Schema, Type};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version of the text; it is the first thing in it.
const VERSION: u64 = 1;

/// What a table is.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSpec {
    /// Its name, for messages.
    pub name: Arc<str>,
    /// Its columns.
    pub schema: Arc<Schema>,
    /// Which rows it accepts.
    pub kind: TableKind,
    /// How it keeps them.
    pub options: TableOptions,
}

/// Which rows a table accepts. Columns are named by their places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// All.
    Plain,
    /// The first of each key.
    Keyed {
        /// The key columns.
        keys: Vec<usize>,
    },
    /// Of each key those with a later time than all before.
    LatestKeyed {
        /// The key columns.
        keys: Vec<usize>,
        /// The time column, or one of days and one of times.
        time: Vec<usize>,
    },
}

/// How a table keeps its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableOptions {
    /// When appended rows are safe.
    pub flush: Flush,
    /// Are values compressed on disk?
    pub compress: bool,
    /// How long old rows are kept at least; `None` for ever.
    pub retention_minutes: Option<u32>,
    /// How many of the newest rows stay in memory and, in keyed tables, take part in the comparison of keys; `None`
    /// for all.
    pub cache_rows: Option<usize>,
    /// At which size a segment of the log is closed.
    pub segment_bytes: u64,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            flush: Flush::Async,
            compress: false,
            retention_minutes: Some(1440),
            cache_rows: None,
            segment_bytes: 64 << 20,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Text {
    orca_table: u64,
    name: String,
    columns: Vec<(String, String)>,
    kind: TableKind,
    options: TableOptions,
}

impl TableSpec {
    /// A table of this kind with the usual options.
    pub fn new(name: &str, schema: Arc<Schema>, kind: TableKind) -> TableSpec {
        TableSpec { name: name.into(), schema, kind, options: TableOptions::default() }
    }

    /// Could there be such a table?
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |reason: String| Err(Error::Spec { table: self.name.to_string(), reason });
        if self.schema.is_empty() {
            return wrong("no column".to_string());
        }
        if let Some(field) = self.schema.fields().iter().find(|field| field.ty == Type::Void) {
            return wrong(format!("column without a type: column=`{}`", field.name));
        }
        if let Some(field) = self.schema.field("_offset") {
            return wrong(format!("the name is that of every table's own row numbers: column=`{}`", field.name));
        }
        let (keys, times): (&[usize], &[usize]) = match &self.kind {
            TableKind::Plain => return Ok(()),
            TableKind::Keyed { keys } => (keys, &[]),
            TableKind::LatestKeyed { keys, time } => (keys, time),
        };
        if keys.is_empty() {
            return wrong("no key column".to_string());
        }
        if let Some(place) = keys.iter().chain(times).find(|place| **place >= self.schema.len()) {
            return wrong(format!("no such column: place=`{place}`"));
        }
        if let Some(field) =
            keys.iter().map(|key| &self.schema.fields()[*key]).find(|field| field.ty.element().is_some())
        {
            return wrong(format!("array vector as a key: column=`{}`", field.name));
        }
        let types: Vec<Type> = times.iter().map(|place| self.schema.fields()[*place].ty).collect();
        let ordered = |ty: Type| ty.is_temporal() || ty.is_integer();
        let fits = match (&self.kind, types[..].as_ref()) {
            (TableKind::Keyed { .. }, _) => true,
            (_, [time]) => ordered(*time),
            (_, [Type::Date, clock]) => matches!(clock, Type::Second | Type::Minute | Type::Time | Type::Nanotime),
            _ => false,
        };
        if !fits {
            let types = types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
            return wrong(format!("no time, nor a DATE and a time of day: types=`{types}`"));
        }
        Ok(())
    }

    pub(super) fn to_text(&self) -> String {
        let fields = self.schema.fields().iter();
        let text = Text {
            orca_table: VERSION,
            name: self.name.to_string(),
            columns: fields.map(|field| (field.name.to_string(), field.ty.to_string())).collect(),
            kind: self.kind.clone(),
            options: self.options.clone(),
        };
        serde_json::to_string_pretty(&text).expect("texts, numbers and lists have a JSON form") + "\n"
    }

    pub(super) fn from_text(path: &str, text: &[u8]) -> Result<TableSpec> {
        #[derive(Deserialize)]
        struct Version {
            orca_table: u64,
        }
        let damaged = |reason: String| Error::Damaged { path: path.to_string(), place: 0, reason };
        let Version { orca_table: version } =
            serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        if version != VERSION {
            return Err(Error::Version { path: path.to_string(), version });
        }
        let text: Text = serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        let mut fields = vec![];
        for (name, ty) in text.columns {
            let ty = Type::parse(&ty).ok_or_else(|| damaged(format!("no such type: type=`{ty}`")))?;
            fields.push(Field::new(name, ty));
        }
        let schema = Arc::new(Schema::new(fields)?);
        let spec = TableSpec { name: text.name.into(), schema, kind: text.kind, options: text.options };
        spec.check()?;
        Ok(spec)
    }
}
