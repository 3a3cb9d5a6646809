//! From a plan to running values: tasks with their nodes, channels with their ends.
//!
//! Invariants:
//! - A task's input channels have the order in which its nodes name them; edges keep the plan's order.
//! - Channels of one node that differ only in the part they carry are one edge, which splits.

use graph::{ChannelPlan, Feed as PlanFeed, NodePlan, Partition, Plan, PlanOperator, TaskPlan};
use lang::Diagnostic;
use std::collections::HashMap;
use std::sync::Arc;
use stream::{ChannelEnd, Edge, Feed, Node, Table, Target, Task, Work, Writer};

/// The tables of this node, by full name.
pub(crate) type Tables<'a> = &'a dyn Fn(&graph::FullName) -> Option<Arc<Table>>;

/// What a flow is made of, apart from its journal.
pub(crate) struct Built {
    /// The tasks, by the plan's numbers.
    pub tasks: Vec<Task>,
    /// Where each channel ends, by the plan's numbers.
    pub channels: Vec<ChannelEnd>,
    /// The tables of the sources, by source number.
    pub sources: Vec<Arc<Table>>,
}

/// Builds all tasks of a plan. `journal` names the writer of the graph's tables.
pub(crate) fn build(plan: &Plan, journal: u64, tables: Tables) -> Result<Built, Diagnostic> {
    let mut channels = vec![ChannelEnd { task: 0, input: 0 }; plan.channels.len()];
    let mut sources = vec![];
    let mut tasks = vec![];
    for task in &plan.tasks {
        let mut inputs = 0;
        let mut nodes = vec![];
        for node in &task.nodes {
            let feed = |feed: &PlanFeed| match feed {
                PlanFeed::Node(id) => {
                    let place = task.nodes.iter().position(|other| other.id == *id);
                    Feed::Node(place.expect("a plan feeds a node from its own task"))
                }
                PlanFeed::Channels(ids) => {
                    let place = |id: &graph::ChannelId| {
                        channels[id.index()] = ChannelEnd { task: task.id.index(), input: inputs };
                        inputs += 1;
                        inputs - 1
                    };
                    Feed::Channels(ids.iter().map(place).collect())
                }
            };
            let feeds = node.inputs.iter().map(feed).collect();
            let work = work(plan, node, journal, tables, &mut sources)?;
            nodes.push(Node { name: node.name.as_str().into(), work, feeds });
        }
        tasks.push(Task::new(nodes, inputs, edges(plan, task)));
    }
    Ok(Built { tasks, channels, sources })
}

fn work(
    plan: &Plan,
    node: &NodePlan,
    journal: u64,
    tables: Tables,
    sources: &mut Vec<Arc<Table>>,
) -> Result<Work, Diagnostic> {
    let table = |name: &graph::FullName| {
        tables(name).ok_or_else(|| Diagnostic::new(format!("table is not on this node: table=`{name}`")))
    };
    Ok(match &node.operator {
        PlanOperator::Source { table: name } => {
            sources.push(table(name)?);
            Work::Source { source: sources.len() as u32 - 1, table: table(name)? }
        }
        PlanOperator::Table { table: name } => {
            Work::Table { table: table(name)?, writer: Writer::node(journal, &node.name) }
        }
        PlanOperator::PrivateTable => Work::Pass,
        PlanOperator::Engine { engine, part_by } => {
            let spec = graph::bind_engine(engine, &plan.input_schemas(node), &plan.functions).map_err(all)?;
            Work::Engine { engine: spec.start(part_by.as_deref()), reads_batches: engine.facts.reads_batches }
        }
        PlanOperator::Map(map) => {
            let function = graph::read_function(&map.function, &plan.functions).map_err(all)?;
            let (reads_batches, input) = (map.facts.reads_batches, plan.input_schemas(node).remove(0));
            Work::Engine { engine: engine::map(function, !reads_batches, &input, &node.schema)?, reads_batches }
        }
    })
}

/// Several errors as one; a plan was bound before, so there are none but for a changed library.
fn all(errors: Vec<Diagnostic>) -> Diagnostic {
    let texts: Vec<String> = errors.iter().map(Diagnostic::to_string).collect();
    Diagnostic::new(texts.join("; "))
}

fn edges(plan: &Plan, task: &TaskPlan) -> Vec<Edge> {
    let mut edges: Vec<Edge> = vec![];
    // The edge of each split: node, consumer, port and column name it.
    let mut splits: HashMap<(usize, &str, usize, &str), usize> = HashMap::new();
    for channel in plan.channels.iter().filter(|channel| channel.from_task == task.id) {
        let place = task.nodes.iter().position(|node| node.id == channel.from);
        let node = place.expect("a channel leaves a node of its task");
        match &channel.partition {
            Partition::Forward | Partition::Broadcast => {
                edges.push(Edge { node, target: Target::All(vec![channel.id.index()]) });
            }
            Partition::Shuffle { column, index, count } => {
                let key = (node, consumer(plan, channel), channel.port, column.as_str());
                let edge = *splits.entry(key).or_insert_with(|| {
                    let column = task.nodes[node].schema.index_of(column).expect("a plan splits by a column there is");
                    let channels = vec![usize::MAX; *count as usize];
                    edges.push(Edge { node, target: Target::Split { column, channels } });
                    edges.len() - 1
                });
                let Target::Split { channels, .. } = &mut edges[edge].target else {
                    unreachable!("the edge of a split")
                };
                channels[*index as usize] = channel.id.index();
            }
        }
    }
    for edge in &edges {
        if let Target::Split { channels, .. } = &edge.target {
            assert!(!channels.contains(&usize::MAX), "a split has a channel for each part");
        }
    }
    edges
}

/// The stable name of the node a channel leads to; the parts of a node share it.
fn consumer<'a>(plan: &'a Plan, channel: &ChannelPlan) -> &'a str {
    &plan.node(channel.to).name
}
