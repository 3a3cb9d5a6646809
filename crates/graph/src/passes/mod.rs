//! From the logical graph to the physical one, in passes. After each the draft must be sound.
//!
//! A [`Draft`] is the graph before it is split into parts: each node once, with the section it runs in. The first passes
//! change the draft, the last two write the plan.

mod channels;
mod redundant;
mod sections;
mod subgraphs;
mod tables;
mod tasks;
#[cfg(test)]
mod tests;

use crate::check::Surroundings;
use crate::logical::LogicalGraph;
use crate::physical::{Plan, PlanOperator};
use crate::settings::EdgeSettings;
use data::Schema;
use std::sync::Arc;

/// One step of the planner.
pub struct Pass {
    /// What it does, in two or three words.
    pub name: &'static str,
    run: fn(&LogicalGraph, &Surroundings, &mut Draft),
}

/// The passes in order.
pub static PASSES: &[Pass] = &[
    Pass { name: "place nodes in sections", run: sections::run },
    Pass { name: "add private tables", run: tables::run },
    Pass { name: "remove redundant tables", run: redundant::run },
    Pass { name: "cut subgraphs", run: subgraphs::run },
    Pass { name: "split into tasks", run: tasks::run },
    Pass { name: "add channels", run: channels::run },
];

/// Plans a graph that [`crate::check`] has found no fault in. The same graph always gives the same plan.
pub fn plan(graph: &LogicalGraph, around: &Surroundings) -> Plan {
    let mut draft = Draft { nodes: vec![], sections: vec![], plan: Plan::empty(graph.name.clone()) };
    for pass in PASSES {
        (pass.run)(graph, around, &mut draft);
        let sound = draft.verify();
        assert!(sound.is_ok(), "after the pass `{}`: {}", pass.name, sound.unwrap_err());
    }
    let sound = draft.plan.verify();
    assert!(sound.is_ok(), "the plan is unsound: {}", sound.unwrap_err());
    draft.plan
}

/// A graph on its way to a plan.
struct Draft {
    nodes: Vec<DraftNode>,
    sections: Vec<Section>,
    plan: Plan,
}

/// A parallel part of the graph.
struct Section {
    column: String,
    count: u32,
}

/// A node that is not yet split into parts.
struct DraftNode {
    name: String,
    operator: PlanOperator,
    schema: Arc<Schema>,
    /// The section it runs in; `None` if it runs unsplit.
    section: Option<usize>,
    /// The edges into each port.
    ports: Vec<Vec<Edge>>,
    /// Set when the subgraphs are cut.
    subgraph: Option<usize>,
}

/// A way for rows from one node of the draft to another.
#[derive(Clone)]
struct Edge {
    from: usize,
    route: Route,
    settings: EdgeSettings,
}

/// How rows cross an edge.
#[derive(Clone, PartialEq)]
enum Route {
    /// Part to part, or all parts to one.
    Straight,
    /// Each row to the part its value in this column falls to.
    Shuffle(String),
    /// Each row to every part.
    Broadcast,
}

impl DraftNode {
    fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.ports.iter().flatten()
    }

    fn edges_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        self.ports.iter_mut().flatten()
    }
}

impl Draft {
    /// For each node, how many edges leave it.
    fn edges_out(&self) -> Vec<usize> {
        let mut out = vec![0; self.nodes.len()];
        for edge in self.nodes.iter().flat_map(DraftNode::edges) {
            out[edge.from] += 1;
        }
        out
    }

    /// The nodes in topological order, earlier ones first among equals; `None` if there is a cycle.
    fn order(&self) -> Option<Vec<usize>> {
        let mut waits: Vec<usize> = self.nodes.iter().map(|node| node.edges().count()).collect();
        let mut next: Vec<Vec<usize>> = vec![vec![]; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            node.edges().for_each(|edge| next[edge.from].push(index));
        }
        let mut ready: std::collections::BTreeSet<usize> =
            (0..waits.len()).filter(|index| waits[*index] == 0).collect();
        let mut order = Vec::with_capacity(waits.len());
        while let Some(index) = ready.pop_first() {
            order.push(index);
            for &to in &next[index] {
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready.insert(to);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }

    /// The topological order of a draft that is known to be sound.
    fn sound_order(&self) -> Vec<usize> {
        self.order().expect("the draft was found to have no cycle")
    }

    /// A table of its own that passes rows on.
    fn add_private_table(&mut self, name: String, from: usize, section: Option<usize>) -> usize {
        let schema = self.nodes[from].schema.clone();
        let ports = vec![vec![Edge { from, route: Route::Straight, settings: EdgeSettings::default() }]];
        let operator = PlanOperator::PrivateTable;
        self.nodes.push(DraftNode { name, operator, schema, section, ports, subgraph: None });
        self.nodes.len() - 1
    }

    /// What must hold between any two passes.
    fn verify(&self) -> Result<(), String> {
        if self.order().is_none() {
            return Err("the draft has a cycle".into());
        }
        for node in &self.nodes {
            let source = matches!(node.operator, PlanOperator::Source { .. });
            if source != node.ports.is_empty() || node.ports.iter().any(Vec::is_empty) {
                return Err(format!("wrong inputs: node=`{}`", node.name));
            }
            if node.operator.table().is_some() && node.section.is_some() {
                return Err(format!("public table in a section: node=`{}`", node.name));
            }
            for edge in node.edges() {
                let from = &self.nodes[edge.from];
                let straight = node.section.is_none() || node.section == from.section;
                let sound = match &edge.route {
                    Route::Straight => straight,
                    Route::Shuffle(column) => node.section.is_some() && from.schema.field(column).is_some(),
                    Route::Broadcast => node.section.is_some(),
                };
                if !sound {
                    return Err(format!("wrong route: from=`{}`, to=`{}`", from.name, node.name));
                }
                if node.subgraph.is_some() && node.subgraph == from.subgraph && node.section != from.section {
                    return Err(format!("subgraph over two sections: node=`{}`", node.name));
                }
            }
        }
        Ok(())
    }
}
