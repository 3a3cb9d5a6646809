//! The tables that SQL sees: the public tables of this node, and the system's own facts in the schema `orca_sys`.

use crate::embedded::Control;
use data::{Batch, Column, ColumnBuilder, Scalar, Schema, Type};
use engine::Split;
use graph::{FullName, NameKind};
use lang::Diagnostic;
use parking_lot::{Mutex, RwLock};
use query::{MemoryScan, Picture, Scan};
use std::sync::Arc;
use stream::Table;

/// The schema of the system's own tables.
const SYSTEM: &str = "orca_sys";

/// The catalog of a session.
pub struct Tables {
    control: Arc<Mutex<Control>>,
    added: RwLock<Vec<Arc<AddedTable>>>,
}

/// A table of the system whose facts somebody else has.
pub struct AddedTable {
    /// Its name in the schema `orca_sys`.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [(&'static str, Type)],
    /// Its rows now, with a value a column.
    pub rows: Box<dyn Fn() -> Vec<Vec<Scalar>> + Send + Sync>,
}

impl Tables {
    /// The tables of this process.
    pub(crate) fn new(control: Arc<Mutex<Control>>) -> Tables {
        Tables { control, added: RwLock::default() }
    }

    /// Adds a table of the system.
    pub(crate) fn add(&self, table: AddedTable) {
        self.added.write().push(Arc::new(table));
    }
}

impl query::Catalog for Tables {
    fn catalogs(&self) -> Vec<String> {
        self.control.lock().master.catalogs()
    }

    fn schemas(&self, _catalog: &str) -> Vec<String> {
        vec![NameKind::Table.schema().to_string(), SYSTEM.to_string()]
    }

    fn tables(&self, catalog: &str, schema: &str) -> Vec<String> {
        if schema == SYSTEM {
            let added = self.added.read();
            let names = SYSTEM_TABLES.iter().map(|table| table.name).chain(added.iter().map(|table| table.name));
            return names.map(String::from).collect();
        }
        let control = self.control.lock();
        let tables = control.master.tables().map(|table| table.record.name.clone());
        let inside = tables.filter(|name| name.catalog().eq_ignore_ascii_case(catalog));
        inside.map(|name| name.name().to_string()).collect()
    }

    fn table(&self, catalog: &str, schema: &str, name: &str) -> Option<Arc<dyn Scan>> {
        if schema == SYSTEM {
            if let Some(table) = SYSTEM_TABLES.iter().find(|table| table.name == name) {
                let rows = (table.rows)(&self.control.lock(), catalog);
                return Some(Arc::new(scan(table.columns, &rows)));
            }
            // Its rows are asked for without a lock: they may come from the very things it guards.
            let added = self.added.read().iter().find(|table| table.name == name).cloned()?;
            return Some(Arc::new(scan(added.columns, &(added.rows)())));
        }
        let control = self.control.lock();
        let full = FullName::new(catalog, NameKind::Table, name).ok()?;
        let table = control.worker.table(&full)?;
        Some(Arc::new(StreamTable { table }))
    }
}

/// A public table.
struct StreamTable {
    table: Arc<Table>,
}

impl Scan for StreamTable {
    fn schema(&self) -> Arc<Schema> {
        self.table.schema().clone()
    }

    fn picture(&self) -> Result<Picture, Diagnostic> {
        // Rows that have left the memory are read from the log.
        let (_, start, end) = self.table.extent();
        let batches = self.table.read(start..end).map_err(|error| Diagnostic::new(error.to_string()))?;
        Ok(Picture { first_offset: start, batches: batches.into_iter().map(|(_, batch)| batch).collect() })
    }
}

/// A table of the system: its columns, and its rows at this moment.
struct SystemTable {
    name: &'static str,
    columns: &'static [(&'static str, Type)],
    rows: fn(&Control, &str) -> Vec<Vec<Scalar>>,
}

fn scan(columns: &[(&str, Type)], rows: &[Vec<Scalar>]) -> MemoryScan {
    let schema = Schema::of(columns);
    let columns = schema.fields().iter().enumerate().map(|(place, field)| {
        let mut column = ColumnBuilder::new(field.ty);
        rows.iter().for_each(|row| column.push(&row[place]));
        column.finish()
    });
    let columns: Vec<Column> = columns.collect();
    let batch = Batch::new(schema.clone(), columns).expect("each row has a value a column");
    MemoryScan::new(schema, vec![batch])
}

static SYSTEM_TABLES: &[SystemTable] = &[
    SystemTable {
        name: "graphs",
        columns: &[
            ("graph", Type::String),
            ("state", Type::String),
            ("reason", Type::String),
            ("tasks", Type::Int),
            ("epoch", Type::Long),
            ("finished", Type::Long),
            ("waiting_rows", Type::Long),
        ],
        rows: |control, catalog| {
            let graphs = control.master.graphs().filter(|graph| is_in(&graph.logical.name, catalog));
            let row = |graph: &master::GraphEntry| {
                let flow = control.worker.flows().find(|(name, _)| **name == graph.logical.name).map(|(_, flow)| flow);
                let of_flow = |figure: u64| flow.map_or(Scalar::Null, |_| whole(figure));
                vec![
                    text(graph.logical.name.to_string()),
                    text(graph.state.to_string()),
                    graph.reason.clone().map_or(Scalar::Null, text),
                    whole(graph.plan.tasks.len() as u64),
                    of_flow(flow.map_or(0, |flow| flow.epoch())),
                    of_flow(flow.map_or(0, |flow| flow.finished())),
                    of_flow(flow.map_or(0, |flow| flow.waiting_rows())),
                ]
            };
            graphs.map(row).collect()
        },
    },
    SystemTable {
        name: "tables",
        columns: &[
            ("table", Type::String),
            ("kind", Type::String),
            ("rows", Type::Long),
            ("first_offset", Type::Long),
            ("used_by", Type::String),
        ],
        rows: |control, catalog| {
            let tables = control.worker.tables().filter(|(name, _)| is_in(name, catalog));
            let row = |(name, table): (&FullName, &Arc<Table>)| {
                let info = control.master.table_info(name);
                let users = info.iter().flat_map(|info| &info.used_by).map(FullName::to_string).collect::<Vec<_>>();
                vec![
                    text(name.to_string()),
                    info.as_ref().map_or(Scalar::Null, |info| text(info.kind.to_string())),
                    whole(table.end() - table.start()),
                    whole(table.start()),
                    text(users.join(", ")),
                ]
            };
            tables.map(row).collect()
        },
    },
    SystemTable {
        name: "tasks",
        columns: &[
            ("graph", Type::String),
            ("task", Type::Int),
            ("subgraph", Type::Int),
            ("part", Type::Int),
            ("parts", Type::Int),
            ("node", Type::String),
            ("operators", Type::String),
            ("complexity", Type::Int),
        ],
        rows: |control, catalog| {
            let graphs = control.master.graphs().filter(|graph| is_in(&graph.logical.name, catalog));
            let rows = graphs.flat_map(|graph| {
                graph.plan.tasks.iter().map(move |task| {
                    let operators: Vec<&str> = task.nodes.iter().map(|node| node.operator.word()).collect();
                    vec![
                        text(graph.logical.name.to_string()),
                        whole(task.id.0 as u64),
                        whole(task.subgraph.0 as u64),
                        whole(task.part as u64),
                        whole(task.parts as u64),
                        text(graph.placement.node(task.id).to_string()),
                        text(operators.join(", ")),
                        whole(task.complexity as u64),
                    ]
                })
            });
            rows.collect()
        },
    },
    SystemTable {
        name: "engines",
        columns: &[
            ("graph", Type::String),
            ("node", Type::String),
            ("engine", Type::String),
            ("split", Type::String),
            ("reads_clock", Type::Bool),
            ("reads_batches", Type::Bool),
            ("reads_arrival", Type::Bool),
        ],
        rows: |control, catalog| {
            let graphs = control.master.graphs().filter(|graph| is_in(&graph.logical.name, catalog));
            let rows = graphs.flat_map(|graph| {
                graph.logical.nodes.iter().filter_map(move |node| {
                    let facts = node.operator.facts()?;
                    let split = match &facts.split {
                        Split::Any => "any".to_string(),
                        Split::By(columns) => format!("by {}", columns.join(", ")),
                        Split::Broadcast(columns) => format!("by {}, right side to all", columns.join(", ")),
                        Split::Never(why) => format!("never: {why}"),
                    };
                    Some(vec![
                        text(graph.logical.name.to_string()),
                        text(node.name.clone()),
                        text(node.operator.word().to_string()),
                        text(split),
                        Scalar::Bool(facts.reads_clock),
                        Scalar::Bool(facts.reads_batches),
                        Scalar::Bool(facts.reads_arrival),
                    ])
                })
            });
            rows.collect()
        },
    },
    SystemTable {
        name: "audit",
        columns: &[
            ("graph", Type::String),
            ("node", Type::String),
            ("rows_in", Type::Long),
            ("rows_out", Type::Long),
            ("late", Type::Long),
            ("rejected", Type::Long),
            ("null_keys", Type::Long),
        ],
        rows: |control, catalog| {
            let mut rows = vec![];
            for (graph, flow) in control.worker.flows().filter(|(name, _)| is_in(name, catalog)) {
                rows.extend(node_counts(flow).into_iter().map(|(name, stream::NodeCounts { counts, null_keys })| {
                    let figures = [counts.rows_in, counts.rows_out, counts.late, counts.rejected, null_keys];
                    let names = [text(graph.to_string()), text(name.to_string())];
                    names.into_iter().chain(figures.into_iter().map(whole)).collect()
                }));
            }
            rows
        },
    },
    SystemTable {
        name: "late_rows",
        columns: &[
            ("graph", Type::String),
            ("node", Type::String),
            ("epoch", Type::Long),
            ("row", Type::Long),
            ("time", Type::Long),
            ("bound", Type::Long),
        ],
        rows: |control, catalog| {
            let flows = control.worker.flows().filter(|(name, _)| is_in(name, catalog));
            let rows = flows.flat_map(|(graph, flow)| {
                let row = move |(node, epoch, late): stream::NodeLate| {
                    let names = [text(graph.to_string()), text(node.to_string())];
                    let figures = [epoch as i64, late.origin as i64, late.time, late.bound];
                    names.into_iter().chain(figures.into_iter().map(Scalar::Int)).collect()
                };
                flow.late().into_iter().map(row)
            });
            rows.collect()
        },
    },
];

/// What each node of a graph has counted; the parts of a node are summed.
pub(crate) fn node_counts(flow: &stream::Flow) -> Vec<(Arc<str>, stream::NodeCounts)> {
    let mut nodes: Vec<(Arc<str>, stream::NodeCounts)> = vec![];
    for (name, counts) in flow.counts() {
        match nodes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum = sum.plus(&counts),
            None => nodes.push((name, counts)),
        }
    }
    nodes
}

fn is_in(name: &FullName, catalog: &str) -> bool {
    name.catalog().eq_ignore_ascii_case(catalog)
}

fn text(text: String) -> Scalar {
    Scalar::Text(text.into())
}

fn whole(number: u64) -> Scalar {
    Scalar::Int(number as i64)
}
