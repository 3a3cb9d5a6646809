//! Where the master's records are kept: one JSON document, replaced as a whole.

use env::Disk;
use master::Record;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The document's place in the data folder.
const PATH: &str = "metadata.json";

/// The version of its layout.
const VERSION: u64 = 1;

/// The records, in memory and on disk.
pub struct Store {
    disk: Option<Arc<dyn Disk>>,
    records: BTreeMap<(String, String), Json>,
}

impl Store {
    /// The store of a data folder; empty and in memory alone without one.
    pub fn open(disk: Option<Arc<dyn Disk>>) -> Result<Store, String> {
        let mut store = Store { disk, records: BTreeMap::new() };
        let Some(disk) = &store.disk else { return Ok(store) };
        let bytes = match disk.read(PATH) {
            Ok(bytes) => bytes,
            Err(env::Error::NotFound { .. }) => return Ok(store),
            Err(error) => return Err(error.to_string()),
        };
        let wrong = |reason: String| format!("metadata cannot be read: file=`{PATH}`, reason=`{reason}`");
        let document: Json = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if document["version"] != VERSION {
            return Err(wrong(format!("version {}", document["version"])));
        }
        let records = document["records"].as_array().ok_or_else(|| wrong("no records".into()))?;
        for record in records {
            let record: Record = serde_json::from_value(record.clone()).map_err(|error| wrong(error.to_string()))?;
            store.records.insert((record.kind, record.key), record.value.unwrap_or_default());
        }
        Ok(store)
    }

    /// All records.
    pub fn records(&self) -> Vec<Record> {
        let record = |((kind, key), value): (&(String, String), &Json)| Record {
            kind: kind.clone(),
            key: key.clone(),
            value: Some(value.clone()),
        };
        self.records.iter().map(record).collect()
    }

    /// Keeps these records, all or none; one without a value is dropped.
    pub fn put(&mut self, records: Vec<Record>) -> Result<(), String> {
        for record in records {
            match record.value {
                Some(value) => self.records.insert((record.kind, record.key), value),
                None => self.records.remove(&(record.kind, record.key)),
            };
        }
        let Some(disk) = &self.disk else { return Ok(()) };
        let document = json!({ "version": VERSION, "records": self.records() });
        disk.replace(PATH, document.to_string().as_bytes()).map_err(|error| error.to_string())
    }
}
