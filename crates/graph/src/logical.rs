//! The logical graph: what the user wrote, node by node.
//!
//! Invariants:
//! - A node's inputs stand before it, so the order of the nodes is a topological one. A cycle can only close over the
//!   name of a table.
//! - `fork` is no node: its branches are one node with several consumers.
//! - A graph is plain data. Engine arguments and functions are kept as source text, which binds again to the same
//!   [`engine::Spec`] anywhere (see [`crate::bind_engine`]).

use crate::name::FullName;
use crate::settings::{EdgeSettings, Settings};
use crate::stored;
use crate::table::{TableKind, TableOptions};
use data::Schema;
use engine::{Facts, Split};
use lang::Span;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// The version of a stored graph's layout.
pub const GRAPH_VERSION: u32 = 1;

/// The number of a node in its logical graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place in the list of nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A graph as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogicalGraph {
    /// The version of this layout.
    pub version: u32,
    /// The full name.
    pub name: FullName,
    /// What `setConfigMap` set.
    pub settings: Settings,
    /// The nodes, inputs before consumers.
    pub nodes: Vec<Node>,
    /// The user functions that metrics and maps call, in the order of their definition.
    pub functions: Vec<StoredFunction>,
}

/// A user function, stored with the graph that calls it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFunction {
    /// Its name.
    pub name: String,
    /// Its definition, as source text.
    pub text: String,
}

/// One operator of a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The stable name under which the node's state is kept; see [`LogicalGraph::name_nodes`].
    pub name: String,
    /// Did the user give the name?
    pub named: bool,
    /// What it does.
    pub operator: Operator,
    /// Where its rows come from, by port.
    pub inputs: Vec<NodeId>,
    /// The columns it gives.
    #[serde(with = "stored::schema")]
    pub schema: Arc<Schema>,
    /// What `setLocalConfigOnce` set for the edge to the next node.
    pub settings: EdgeSettings,
    /// The place of the call in its script; unknown in a stored graph.
    #[serde(skip)]
    pub span: Span,
}

/// What a node does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// A public table.
    Table(TableNode),
    /// A streaming engine.
    Engine(EngineNode),
    /// A function of each batch.
    Map(MapNode),
    /// From here to `sync` rows are split by a column's value; rows whose value is NULL are dropped.
    Parallelize {
        /// The column.
        column: String,
        /// How many parts.
        count: u32,
    },
    /// The parts come together again, in the order of the rows that caused theirs.
    Sync,
}

/// How a graph uses a public table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableRole {
    /// Rows come from outside: `source` and its kin.
    Source,
    /// The same, of a table that must exist already: `sourceByName`.
    Existing,
    /// `buffer` and its kin.
    Buffer,
    /// `sink` and its kin.
    Sink,
}

impl TableRole {
    /// Do rows come into the graph here?
    pub fn is_source(self) -> bool {
        matches!(self, TableRole::Source | TableRole::Existing)
    }
}

/// A public table in a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableNode {
    /// How it is used.
    pub role: TableRole,
    /// The table.
    pub table: FullName,
    /// Which rows it takes.
    pub kind: TableKind,
    /// How it is kept, if this graph creates it.
    pub options: TableOptions,
}

/// An engine in a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineNode {
    /// The kind's name, such as `timeSeriesEngine`.
    pub kind: String,
    /// Parameter and argument, as source text.
    pub arguments: Vec<(String, String)>,
    /// For each port, the name by which metrics may address its columns: that of the table it comes from.
    pub input_names: Vec<Option<String>>,
    /// The four facts.
    #[serde(with = "stored::StoredFacts")]
    pub facts: Facts,
    /// The share in the load of its task.
    pub complexity: u32,
    /// Input columns that come out with the same values, and the names they come out under.
    pub kept: Vec<(String, String)>,
}

/// A function of each batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MapNode {
    /// The function, as source text.
    pub function: String,
    /// Its facts: a function that looks at several rows of a batch cannot be split.
    #[serde(with = "stored::StoredFacts")]
    pub facts: Facts,
    /// Input columns that come out with the same values, and the names they come out under.
    pub kept: Vec<(String, String)>,
}

impl Operator {
    /// The operator's word, as scripts write it.
    pub fn word(&self) -> &str {
        match self {
            Operator::Table(table) => match (table.role, &table.kind) {
                (TableRole::Source, TableKind::Log) => "source",
                (TableRole::Source, TableKind::Keyed { .. }) => "keyedSource",
                (TableRole::Source, TableKind::LatestKeyed { .. }) => "latestKeyedSource",
                (TableRole::Existing, _) => "sourceByName",
                (TableRole::Buffer, TableKind::Log) => "buffer",
                (TableRole::Buffer, TableKind::Keyed { .. }) => "keyedBuffer",
                (TableRole::Buffer, TableKind::LatestKeyed { .. }) => "latestKeyedBuffer",
                (TableRole::Sink, TableKind::Log) => "sink",
                (TableRole::Sink, TableKind::Keyed { .. }) => "keyedSink",
                (TableRole::Sink, TableKind::LatestKeyed { .. }) => "latestKeyedSink",
            },
            Operator::Engine(engine) => &engine.kind,
            Operator::Map(_) => "map",
            Operator::Parallelize { .. } => "parallelize",
            Operator::Sync => "sync",
        }
    }

    /// The public table, if it is one.
    pub fn table(&self) -> Option<&TableNode> {
        match self {
            Operator::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The facts of what computes; `None` for the rest.
    pub fn facts(&self) -> Option<&Facts> {
        match self {
            Operator::Engine(engine) => Some(&engine.facts),
            Operator::Map(map) => Some(&map.facts),
            _ => None,
        }
    }

    /// The name under which an input column comes out with the same values.
    pub fn keeps(&self, column: &str) -> Option<&str> {
        let kept = match self {
            Operator::Engine(engine) => &engine.kept,
            Operator::Map(map) => &map.kept,
            _ => return None,
        };
        let column = column.to_lowercase();
        kept.iter().find(|(from, _)| from.to_lowercase() == column).map(|(_, to)| to.as_str())
    }
}

/// Does the column stand among those a [`Split`] names?
pub(crate) fn splits_by(columns: &[String], column: &str) -> bool {
    columns.iter().any(|known| known.to_lowercase() == column.to_lowercase())
}

impl LogicalGraph {
    /// A graph without nodes.
    pub fn new(name: FullName) -> LogicalGraph {
        LogicalGraph { version: GRAPH_VERSION, name, settings: Settings::default(), nodes: vec![], functions: vec![] }
    }

    /// A node by its number.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The nodes with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeId(index as u32), node))
    }

    /// For each node, the nodes that take its rows.
    pub fn consumers(&self) -> Vec<Vec<NodeId>> {
        let mut consumers = vec![vec![]; self.nodes.len()];
        for (id, node) in self.numbered() {
            for input in &node.inputs {
                consumers[input.index()].push(id);
            }
        }
        consumers
    }

    /// The table that a node's rows come from, along its first inputs.
    pub fn origin_table(&self, mut id: NodeId) -> Option<&TableNode> {
        loop {
            let node = self.node(id);
            match &node.operator {
                Operator::Table(table) => return Some(table),
                _ => id = *node.inputs.first()?,
            }
        }
    }

    /// Gives every node that the user has not named a name made from its operator and the nearest named nodes above
    /// it: `Trade_timeSeriesEngine`. The second of its kind there is called `Trade_timeSeriesEngine_2`. A table's nodes
    /// are called as the table, by its full name where an engine or a table of the graph's own catalog is called so.
    pub fn name_nodes(&mut self) {
        let engines = self.nodes.iter().filter(|node| node.named && node.operator.table().is_none());
        let engines: HashSet<String> = engines.map(|node| node.name.to_lowercase()).collect();
        for node in &mut self.nodes {
            let Some(TableNode { table, .. }) = node.operator.table() else { continue };
            let home = table.catalog().to_lowercase() == self.name.catalog().to_lowercase();
            let bare = home && !engines.contains(&table.name().to_lowercase());
            (node.name, node.named) = (if bare { table.name().to_string() } else { table.to_string() }, true);
        }
        let named = self.nodes.iter().filter(|node| node.named);
        let mut taken: HashSet<String> = named.map(|node| node.name.to_lowercase()).collect();
        for index in 0..self.nodes.len() {
            if self.nodes[index].named {
                continue;
            }
            let mut parents: Vec<&str> = vec![];
            for input in &self.nodes[index].inputs {
                self.nearest_named(*input, &mut parents);
            }
            let base = format!("{}_{}", parents.join("_"), self.nodes[index].operator.word());
            let numbered = (2..).map(|number| format!("{base}_{number}"));
            let name = std::iter::once(base.clone()).chain(numbered).find(|name| taken.insert(name.to_lowercase()));
            self.nodes[index].name = name.expect("the numbers do not end");
        }
    }

    fn nearest_named<'a>(&'a self, id: NodeId, names: &mut Vec<&'a str>) {
        let node = self.node(id);
        let name = node.operator.table().map_or(node.name.as_str(), |table| table.table.name());
        if !node.named {
            node.inputs.iter().for_each(|input| self.nearest_named(*input, names));
        } else if !names.contains(&name) {
            names.push(name);
        }
    }
}

/// The facts of what treats each row for itself.
pub(crate) fn plain_facts() -> Facts {
    Facts { split: Split::Any, reads_clock: false, reads_batches: false, reads_arrival: false }
}
