//! The physical graph: what a cluster runs.
//!
//! Invariants ([`Plan::verify`] holds them):
//! - Every node is in exactly one task, and a subgraph has one task for each part.
//! - Nodes of a task stand in the order rows pass them; tasks and channels have no cycle.
//! - Rows pass from node to node inside a task, and between tasks by channels only. A port is fed either way, never
//!   both; a node with several inputs is fed by channels alone, so that one merge in front of a task orders them.
//! - A public table lets no row pass to a node of its own task.

use crate::logical::{EngineNode, MapNode, StoredFunction};
use crate::name::FullName;
use crate::settings::EdgeSettings;
use crate::stored;
use crate::table::{TableKind, TableOptions};
use data::Schema;
use engine::Facts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The version of a stored plan's layout.
pub const PLAN_VERSION: u32 = 1;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in the plan's list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// The number of a subgraph: a run of nodes with the same parallelism.
    SubgraphId
);
number!(
    /// The number of a task: one part of a subgraph, the unit that is placed.
    TaskId
);
number!(
    /// The number of a node over the whole plan; each part of a parallel node has its own.
    PlanNodeId
);
number!(
    /// The number of a channel.
    ChannelId
);

/// A graph as it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The version of this layout.
    pub version: u32,
    /// The graph.
    pub graph: FullName,
    /// The public tables, to be created or used as they are.
    pub tables: Vec<TablePlan>,
    /// The subgraphs, by number; rows pass from lower to higher numbers only.
    pub subgraphs: Vec<SubgraphPlan>,
    /// The tasks, by number.
    pub tasks: Vec<TaskPlan>,
    /// The channels, by number.
    pub channels: Vec<ChannelPlan>,
    /// The user functions that engines and maps call.
    pub functions: Vec<StoredFunction>,
    /// What the planner did that the user may want to know.
    pub notes: Vec<Note>,
}

/// A public table of a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TablePlan {
    /// The full name.
    pub name: FullName,
    /// Which rows it takes.
    pub kind: TableKind,
    /// The columns.
    #[serde(with = "stored::schema")]
    pub schema: Arc<Schema>,
    /// How it is kept; of a table that exists, how it was created.
    pub options: TableOptions,
    /// Do the graph's rows come from it?
    pub source: bool,
    /// Did it exist before the graph?
    pub reused: bool,
}

/// A run of nodes with the same parallelism.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubgraphPlan {
    /// Its number.
    pub id: SubgraphId,
    /// How many parts it is split into; `None` if it is not split. One part is a split too: it drops NULL keys.
    pub parts: Option<u32>,
    /// The column that `parallelize` named.
    pub column: Option<String>,
}

/// One part of a subgraph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskPlan {
    /// Its number.
    pub id: TaskId,
    /// The subgraph.
    pub subgraph: SubgraphId,
    /// Which part of it, from 0.
    pub part: u32,
    /// Of how many.
    pub parts: u32,
    /// The nodes in the order rows pass them.
    pub nodes: Vec<NodePlan>,
    /// Its load, counted in operators.
    pub complexity: u32,
}

/// A node of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodePlan {
    /// Its number.
    pub id: PlanNodeId,
    /// The stable name its state is kept under, the same in every part.
    pub name: String,
    /// What it does.
    pub operator: PlanOperator,
    /// Where its rows come from, by port; none for a source.
    pub inputs: Vec<Feed>,
    /// The columns it gives.
    #[serde(with = "stored::schema")]
    pub schema: Arc<Schema>,
}

/// Where the rows of a port come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feed {
    /// Another node of the task.
    Node(PlanNodeId),
    /// Channels, merged by origin, then by their order here.
    Channels(Vec<ChannelId>),
}

/// What a node of a task does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanOperator {
    /// Rows come in through a public table.
    Source {
        /// The table.
        table: FullName,
    },
    /// A streaming engine.
    Engine {
        /// The engine.
        engine: EngineNode,
        /// The input column by whose values the section is split; `None` where the engine runs unsplit.
        part_by: Option<String>,
    },
    /// A function of each batch.
    Map(MapNode),
    /// Rows are written to a public table and passed on.
    Table {
        /// The table.
        table: FullName,
    },
    /// Rows are passed on: to several consumers, or where the parallelism changes. It costs nothing.
    PrivateTable,
}

impl PlanOperator {
    /// The operator's word for texts.
    pub fn word(&self) -> &str {
        match self {
            PlanOperator::Source { .. } => "source",
            PlanOperator::Engine { engine, .. } => &engine.kind,
            PlanOperator::Map(_) => "map",
            PlanOperator::Table { .. } => "table",
            PlanOperator::PrivateTable => "private table",
        }
    }

    /// The public table, if it is one.
    pub fn table(&self) -> Option<&FullName> {
        match self {
            PlanOperator::Source { table } | PlanOperator::Table { table } => Some(table),
            _ => None,
        }
    }

    /// The facts of what computes.
    pub fn facts(&self) -> Option<&Facts> {
        match self {
            PlanOperator::Engine { engine, .. } => Some(&engine.facts),
            PlanOperator::Map(map) => Some(&map.facts),
            _ => None,
        }
    }

    /// Its share in the load of a task.
    pub fn complexity(&self) -> u32 {
        match self {
            PlanOperator::Engine { engine, .. } => engine.complexity,
            PlanOperator::PrivateTable => 0,
            _ => 1,
        }
    }
}

/// A way for rows and ends of epochs between two tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelPlan {
    /// Its number.
    pub id: ChannelId,
    /// The node whose rows it carries.
    pub from: PlanNodeId,
    /// That node's task.
    pub from_task: TaskId,
    /// The node that takes them.
    pub to: PlanNodeId,
    /// That node's task.
    pub to_task: TaskId,
    /// By which port it takes them.
    pub port: usize,
    /// Which rows it carries.
    pub partition: Partition,
    /// Does it carry the rows of a source? Such channels open last.
    pub from_source: bool,
    /// How rows are handed over.
    pub settings: EdgeSettings,
}

/// Which rows a channel carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Partition {
    /// All, from one part to its one consumer.
    Forward,
    /// Those whose value in the column falls to this part; none whose value is NULL.
    Shuffle {
        /// The column.
        column: String,
        /// The part, from 0.
        index: u32,
        /// How many parts.
        count: u32,
    },
    /// All, to every part.
    Broadcast,
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Partition::Forward => f.write_str("FORWARD"),
            Partition::Shuffle { column, index, count } => write!(f, "SHUFFLE({column}, {index} of {count})"),
            Partition::Broadcast => f.write_str("BROADCAST"),
        }
    }
}

/// Something the planner did that the user may want to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The node it is about.
    pub node: String,
    /// What was done and why.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: node=`{}`", self.text, self.node)
    }
}

impl Plan {
    /// A plan of nothing.
    pub(crate) fn empty(graph: FullName) -> Plan {
        let (tables, subgraphs, tasks, channels) = (vec![], vec![], vec![], vec![]);
        Plan { version: PLAN_VERSION, graph, tables, subgraphs, tasks, channels, functions: vec![], notes: vec![] }
    }

    /// Every node, by task and in order.
    pub fn nodes(&self) -> impl Iterator<Item = (&TaskPlan, &NodePlan)> {
        self.tasks.iter().flat_map(|task| task.nodes.iter().map(move |node| (task, node)))
    }

    /// A node by its number.
    pub fn node(&self, id: PlanNodeId) -> &NodePlan {
        self.nodes().find(|(_, node)| node.id == id).expect("a plan names its own nodes only").1
    }

    /// A public table by its name.
    pub fn table(&self, name: &FullName) -> Option<&TablePlan> {
        self.tables.iter().find(|table| table.name == *name)
    }

    /// The columns that come in by each port of a node.
    pub fn input_schemas(&self, node: &NodePlan) -> Vec<Arc<Schema>> {
        let from = |feed: &Feed| match feed {
            Feed::Node(id) => *id,
            Feed::Channels(channels) => self.channels[channels[0].index()].from,
        };
        node.inputs.iter().map(|feed| self.node(from(feed)).schema.clone()).collect()
    }

    /// Checks the invariants; an error says which one is broken and where.
    pub fn verify(&self) -> Result<(), String> {
        fn holds(condition: bool, what: impl FnOnce() -> String) -> Result<(), String> {
            if condition { Ok(()) } else { Err(what()) }
        }
        let mut seen = BTreeSet::new();
        for (index, task) in self.tasks.iter().enumerate() {
            holds(task.id.index() == index, || format!("task out of place: task=`{}`", task.id))?;
            let subgraph = &self.subgraphs[task.subgraph.index()];
            let parts = subgraph.parts.unwrap_or(1);
            holds(task.parts == parts && task.part < parts, || format!("wrong part: task=`{}`", task.id))?;
            let siblings = self.tasks.iter().filter(|other| other.subgraph == task.subgraph).count();
            holds(siblings == parts as usize, || format!("wrong number of tasks: subgraph=`{}`", task.subgraph))?;
            let mut before: Vec<&NodePlan> = vec![];
            for node in &task.nodes {
                holds(seen.insert(node.id), || format!("node in two tasks: node=`{}`", node.id))?;
                for (port, feed) in node.inputs.iter().enumerate() {
                    match feed {
                        Feed::Node(from) => {
                            let from = before.iter().find(|other| other.id == *from);
                            holds(from.is_some_and(|from| from.operator.table().is_none()), || {
                                format!("node fed from nowhere: node=`{}`, port=`{port}`", node.id)
                            })?;
                            holds(node.inputs.len() == 1, || format!("join without channels: node=`{}`", node.id))?;
                        }
                        Feed::Channels(channels) => {
                            holds(!channels.is_empty(), || format!("port without channel: node=`{}`", node.id))?;
                            let mine = channels.iter().all(|id| {
                                let channel = &self.channels[id.index()];
                                channel.to == node.id && channel.to_task == task.id && channel.port == port
                            });
                            holds(mine, || format!("channel of another node: node=`{}`", node.id))?;
                        }
                    }
                }
                let source = matches!(node.operator, PlanOperator::Source { .. });
                holds(source == node.inputs.is_empty(), || format!("wrong inputs: node=`{}`", node.id))?;
                holds(!source || task.nodes.len() == 1, || format!("source not alone: node=`{}`", node.id))?;
                let table = node.operator.table().is_none_or(|table| self.table(table).is_some());
                holds(table, || format!("table not in the plan: node=`{}`", node.id))?;
                before.push(node);
            }
        }
        for (index, channel) in self.channels.iter().enumerate() {
            holds(channel.id.index() == index, || format!("channel out of place: channel=`{}`", channel.id))?;
            let (from, to) = (&self.tasks[channel.from_task.index()], &self.tasks[channel.to_task.index()]);
            holds(from.subgraph < to.subgraph, || format!("channel runs back: channel=`{}`", channel.id))?;
            let node = from.nodes.iter().find(|node| node.id == channel.from);
            let Some(node) = node else { return Err(format!("channel from nowhere: channel=`{}`", channel.id)) };
            let source = matches!(node.operator, PlanOperator::Source { .. });
            holds(source == channel.from_source, || format!("wrong stage: channel=`{}`", channel.id))?;
            let fed = to.nodes.iter().find(|node| node.id == channel.to).and_then(|node| node.inputs.get(channel.port));
            let fed = matches!(fed, Some(Feed::Channels(channels)) if channels.contains(&channel.id));
            holds(fed, || format!("channel to nowhere: channel=`{}`", channel.id))?;
            if let Partition::Shuffle { column, index, count } = &channel.partition {
                let known = node.schema.field(column).is_some();
                holds(known, || format!("shuffle by unknown column: channel=`{}`, column=`{column}`", channel.id))?;
                let meets = *index == to.part && *count == to.parts;
                holds(meets, || format!("shuffle to the wrong part: channel=`{}`", channel.id))?;
            }
        }
        Ok(())
    }
}
