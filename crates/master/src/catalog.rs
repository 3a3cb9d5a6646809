//! The catalog: what there is, in memory, and each entry as a record that outlives the process.

use crate::error::Error;
use crate::life::GraphState;
use graph::{FullName, LogicalGraph, Placement, Plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wire::{NodeName, TableRecord};

/// One stored entry: what it is, which, and its value; without a value it is gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// `catalog`, `table`, `graph` or `counter`.
    pub kind: String,
    /// Its key, unique in its kind.
    pub key: String,
    /// Its value; `None` drops it.
    pub value: Option<serde_json::Value>,
}

impl Record {
    fn new(kind: &str, key: impl ToString, value: &impl Serialize) -> Record {
        let value = serde_json::to_value(value).expect("records are plain data");
        Record { kind: kind.to_string(), key: key.to_string().to_lowercase(), value: Some(value) }
    }

    fn gone(kind: &str, key: impl ToString) -> Record {
        Record { kind: kind.to_string(), key: key.to_string().to_lowercase(), value: None }
    }

    /// The record of a graph.
    pub(crate) fn graph(entry: &GraphEntry) -> Record {
        Record::new("graph", &entry.logical.name, entry)
    }

    fn read<T: for<'a> Deserialize<'a>>(&self) -> Result<T, Error> {
        let value = self.value.clone().unwrap_or_default();
        serde_json::from_value(value).map_err(|error| Error::Stored {
            kind: self.kind.clone(),
            key: self.key.clone(),
            reason: error.to_string(),
        })
    }
}

/// A public table and the node it lives on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableEntry {
    /// The table.
    pub record: TableRecord,
    /// The node.
    pub node: NodeName,
}

/// A graph: as written, as planned and placed, and where it is in its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphEntry {
    /// As it was written.
    pub logical: LogicalGraph,
    /// As it runs.
    pub plan: Plan,
    /// Where it runs.
    pub placement: Placement,
    /// Where it is in its life.
    pub state: GraphState,
    /// Why it is there, if that needs saying.
    pub reason: Option<String>,
    /// Its journal.
    pub journal: u64,
    /// How often it was placed.
    pub attempt: u64,
}

impl GraphEntry {
    /// Is it not destroyed?
    pub fn is_there(&self) -> bool {
        self.state != GraphState::Destroyed
    }

    /// Does it read or write the table?
    pub fn uses(&self, table: &FullName) -> bool {
        self.plan.tables.iter().any(|used| used.name == *table)
    }

    /// Was it written in the same way? Places in a script do not count.
    pub fn is_same(&self, graph: &LogicalGraph) -> bool {
        let stored = |graph: &LogicalGraph| serde_json::to_value(graph).expect("graphs are plain data");
        stored(&self.logical) == stored(graph)
    }
}

/// All entries. Every change gives the record that keeps it.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    catalogs: BTreeMap<String, String>,
    tables: BTreeMap<FullName, TableEntry>,
    graphs: BTreeMap<FullName, GraphEntry>,
    journals: u64,
}

impl Catalog {
    /// The catalog that these records keep.
    pub(crate) fn restore(records: Vec<Record>) -> Result<Catalog, Error> {
        let mut catalog = Catalog::default();
        for record in records.iter().filter(|record| record.value.is_some()) {
            match record.kind.as_str() {
                "catalog" => {
                    catalog.catalogs.insert(record.key.clone(), record.read()?);
                }
                "table" => {
                    let entry: TableEntry = record.read()?;
                    catalog.tables.insert(entry.record.name.clone(), entry);
                }
                "graph" => {
                    let entry: GraphEntry = record.read()?;
                    catalog.graphs.insert(entry.logical.name.clone(), entry);
                }
                "counter" => catalog.journals = record.read()?,
                _ => {
                    let reason = "unknown kind, written by a newer program".to_string();
                    return Err(Error::Stored { kind: record.kind.clone(), key: record.key.clone(), reason });
                }
            }
        }
        Ok(catalog)
    }

    pub(crate) fn name(&self, catalog: &str) -> Option<&str> {
        self.catalogs.get(&catalog.to_lowercase()).map(String::as_str)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.catalogs.values().cloned().collect()
    }

    pub(crate) fn add_catalog(&mut self, name: &str) -> Record {
        self.catalogs.insert(name.to_lowercase(), name.to_string());
        Record::new("catalog", name, &name)
    }

    /// Drops a catalog with all in it; gives the records and the tables that were there.
    pub(crate) fn drop_catalog(&mut self, name: &str) -> (Vec<Record>, Vec<TableEntry>) {
        let inside = |full: &FullName| full.catalog().eq_ignore_ascii_case(name);
        let mut records = vec![Record::gone("catalog", name)];
        self.catalogs.remove(&name.to_lowercase());
        let tables: Vec<FullName> = self.tables.keys().filter(|table| inside(table)).cloned().collect();
        let graphs: Vec<FullName> = self.graphs.keys().filter(|graph| inside(graph)).cloned().collect();
        records.extend(tables.iter().map(|table| Record::gone("table", table)));
        records.extend(graphs.iter().map(|graph| Record::gone("graph", graph)));
        graphs.iter().for_each(|graph| drop(self.graphs.remove(graph)));
        let dropped = tables.iter().filter_map(|table| self.tables.remove(table)).collect();
        (records, dropped)
    }

    pub(crate) fn table(&self, name: &FullName) -> Option<&TableEntry> {
        self.tables.get(name)
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &TableEntry> {
        self.tables.values()
    }

    pub(crate) fn add_table(&mut self, entry: TableEntry) -> Record {
        let record = Record::new("table", &entry.record.name, &entry);
        self.tables.insert(entry.record.name.clone(), entry);
        record
    }

    pub(crate) fn drop_table(&mut self, name: &FullName) -> Record {
        self.tables.remove(name);
        Record::gone("table", name)
    }

    pub(crate) fn graph(&self, name: &FullName) -> Option<&GraphEntry> {
        self.graphs.get(name)
    }

    pub(crate) fn graph_mut(&mut self, name: &FullName) -> Option<&mut GraphEntry> {
        self.graphs.get_mut(name)
    }

    pub(crate) fn graphs(&self) -> impl Iterator<Item = &GraphEntry> {
        self.graphs.values()
    }

    pub(crate) fn graphs_mut(&mut self) -> impl Iterator<Item = &mut GraphEntry> {
        self.graphs.values_mut()
    }

    pub(crate) fn put_graph(&mut self, entry: GraphEntry) -> Record {
        let record = Record::graph(&entry);
        self.graphs.insert(entry.logical.name.clone(), entry);
        record
    }

    /// A journal number that was never given before.
    pub(crate) fn next_journal(&mut self) -> (u64, Record) {
        self.journals += 1;
        (self.journals, Record::new("counter", "journals", &self.journals))
    }
}
