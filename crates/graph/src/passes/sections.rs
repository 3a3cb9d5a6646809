//! Pass: each operator that does something becomes a node of the draft, in the section it will run in.
//!
//! `parallelize`, `sync` and `fork` vanish into the edges. All nodes of one public table become one. Where an engine or
//! a map cannot be split the way its section is, its input is merged and the section ends there. A public table is
//! passed unsplit, and the section is split again after it.

use super::{Draft, DraftNode, Edge, Route, Section};
use crate::check::Surroundings;
use crate::logical::{LogicalGraph, Node, Operator, splits_by};
use crate::name::FullName;
use crate::physical::{Note, PlanOperator, TablePlan};
use crate::settings::EdgeSettings;
use engine::Split;
use std::collections::BTreeMap;

pub(super) fn run(graph: &LogicalGraph, around: &Surroundings, draft: &mut Draft) {
    draft.plan.functions = graph.functions.clone();
    let mut reader = Reader { graph, around, draft, flows: vec![], tables: BTreeMap::new() };
    for node in &graph.nodes {
        let mut flow = match &node.operator {
            Operator::Table(_) => reader.read_table(node),
            Operator::Parallelize { column, count } => reader.begin_section(node, column, *count),
            Operator::Sync => Flow { inside: None, ..reader.input(node, 0).clone() },
            Operator::Engine(_) | Operator::Map(_) => reader.read_computation(node),
        };
        flow.settings = node.settings.over(&flow.settings);
        reader.flows.push(flow);
    }
}

/// The rows of a logical node, seen from what comes after it.
#[derive(Clone)]
struct Flow {
    /// The node of the draft they come from.
    node: usize,
    /// The section they are in, as the script says.
    inside: Option<Inside>,
    /// What is set for the next edge.
    settings: EdgeSettings,
}

/// How far a section holds at some place in it.
#[derive(Clone)]
struct Inside {
    section: usize,
    /// What the column it is split by is called here; `None` if it does not come this far.
    column: Option<String>,
    /// Has an engine ended it before its `sync`?
    ended: bool,
}

struct Reader<'a> {
    graph: &'a LogicalGraph,
    around: &'a Surroundings,
    draft: &'a mut Draft,
    /// By logical node.
    flows: Vec<Flow>,
    /// The draft's node of each public table.
    tables: BTreeMap<FullName, usize>,
}

impl Reader<'_> {
    fn input(&self, node: &Node, port: usize) -> &Flow {
        &self.flows[node.inputs[port].index()]
    }

    fn add(&mut self, node: &Node, operator: PlanOperator, section: Option<usize>, ports: Vec<Vec<Edge>>) -> usize {
        let (name, schema) = (node.name.clone(), node.schema.clone());
        self.draft.nodes.push(DraftNode { name, operator, schema, section, ports, subgraph: None });
        self.draft.nodes.len() - 1
    }

    fn note(&mut self, node: &Node, text: String) {
        self.draft.plan.notes.push(Note { node: node.name.clone(), text });
    }

    /// An edge from a flow to a node that runs in this section.
    fn edge(&self, from: &Flow, to: Option<usize>) -> Edge {
        let here = self.draft.nodes[from.node].section;
        let column = from.inside.as_ref().and_then(|inside| inside.column.clone());
        let route = match to {
            Some(section) if here != Some(section) => {
                Route::Shuffle(column.expect("a node runs in a section only where the section's column comes to it"))
            }
            _ => Route::Straight,
        };
        Edge { from: from.node, route, settings: from.settings.over(&self.graph.settings.edges) }
    }

    fn begin_section(&mut self, node: &Node, column: &str, count: u32) -> Flow {
        self.draft.sections.push(Section { column: column.to_string(), count });
        let section = self.draft.sections.len() - 1;
        let inside = Inside { section, column: Some(column.to_string()), ended: false };
        let flow = Flow { inside: Some(inside), ..self.input(node, 0).clone() };
        // Rows are split even if nothing in the section can be: a row without a value in the column is dropped.
        let edge = self.edge(&flow, Some(section));
        let gate = self.add(node, PlanOperator::PrivateTable, Some(section), vec![vec![edge]]);
        Flow { node: gate, settings: EdgeSettings::default(), ..flow }
    }

    /// A public table is never split: what several writers or parts give it is merged into one append an epoch.
    fn read_table(&mut self, node: &Node) -> Flow {
        let table = node.operator.table().expect("called for tables");
        let edges: Vec<Edge> = (0..node.inputs.len()).map(|port| self.edge(self.input(node, port), None)).collect();
        let inside = node.inputs.first().and_then(|input| self.flows[input.index()].inside.clone());
        let at = match self.tables.get(&table.table) {
            Some(&at) => at,
            None => {
                let exists = self.around.table(&table.table);
                self.draft.plan.tables.push(TablePlan {
                    name: table.table.clone(),
                    kind: table.kind.clone(),
                    schema: exists.map_or(&node.schema, |table| &table.schema).clone(),
                    options: exists.map_or(&table.options, |table| &table.options).clone(),
                    source: table.role.is_source(),
                    reused: exists.is_some(),
                });
                let name = table.table.clone();
                let (operator, ports) = match table.role.is_source() {
                    true => (PlanOperator::Source { table: name }, vec![]),
                    false => (PlanOperator::Table { table: name }, vec![vec![]]),
                };
                let at = self.add(node, operator, None, ports);
                self.tables.insert(table.table.clone(), at);
                at
            }
        };
        for edge in edges {
            self.draft.nodes[at].ports[0].push(edge);
        }
        Flow { node: at, inside, settings: EdgeSettings::default() }
    }

    fn read_computation(&mut self, node: &Node) -> Flow {
        let left = self.input(node, 0).clone();
        let open = left.inside.clone().filter(|inside| !inside.ended);
        let (split, why) = match &open {
            None => (None, None),
            Some(inside) => match self.split_reason(node, &left, inside) {
                None => (Some(inside.section), None),
                Some(why) => (None, Some(why)),
            },
        };
        let column = open.as_ref().filter(|_| split.is_some()).and_then(|inside| inside.column.clone());
        let mut ports = vec![vec![self.edge(&left, split)]];
        for port in 1..node.inputs.len() {
            ports.push(vec![self.side_edge(node, port, split, column.as_deref())]);
        }
        let inside = left.inside.map(|inside| Inside {
            column: inside.column.and_then(|column| node.operator.keeps(&column).map(str::to_string)),
            ended: split.is_none(),
            section: inside.section,
        });
        let settings = match &node.operator {
            // A map is part of the edge, so what is set before it holds after it.
            Operator::Map(_) => left.settings.clone(),
            _ => EdgeSettings::default(),
        };
        let operator = match &node.operator {
            Operator::Engine(engine) => PlanOperator::Engine { engine: engine.clone(), part_by: column },
            Operator::Map(map) => PlanOperator::Map(map.clone()),
            _ => unreachable!("called for engines and maps"),
        };
        let at = self.add(node, operator, split, ports);
        if let Some(why) = why {
            self.note(node, format!("runs unsplit from here to sync: {why}"));
        }
        Flow { node: at, inside, settings }
    }

    /// Why a node cannot be split the way its section is; `None` if it can.
    fn split_reason(&self, node: &Node, left: &Flow, inside: &Inside) -> Option<String> {
        let facts = node.operator.facts().expect("engines and maps have facts");
        let lost = || format!("the column `{}` does not come this far", self.draft.sections[inside.section].column);
        // After a public table the section has to be split anew, for which the column is needed.
        if inside.column.is_none() && self.draft.nodes[left.node].section != Some(inside.section) {
            return Some(lost());
        }
        match &facts.split {
            Split::Any => None,
            Split::Never(why) => Some(why.clone()),
            Split::By(keys) | Split::Broadcast(keys) => {
                let Some(column) = &inside.column else { return Some(lost()) };
                if !splits_by(keys, column) {
                    return Some(format!("it can be split by {} only, not by `{column}`", keys.join(", ")));
                }
                let broadcast = matches!(facts.split, Split::Broadcast(_));
                let mut right = node.inputs.iter().skip(1).map(|input| &self.graph.node(*input).schema);
                let missing = !broadcast && right.any(|schema| schema.field(column).is_none());
                missing.then(|| format!("its right stream has no column `{column}`"))
            }
        }
    }

    /// The edge into a port that is not the first: merged, split like the left side, or given whole to every part.
    fn side_edge(&self, node: &Node, port: usize, section: Option<usize>, column: Option<&str>) -> Edge {
        let from = self.input(node, port);
        let settings = from.settings.over(&self.graph.settings.edges);
        let by_key = matches!(node.operator.facts().map(|facts| &facts.split), Some(Split::By(_)));
        let route = match (section, column) {
            (None, _) => Route::Straight,
            (Some(_), Some(_)) if by_key && self.draft.nodes[from.node].section == section => Route::Straight,
            (Some(_), Some(column)) if by_key => Route::Shuffle(column.to_string()),
            _ => Route::Broadcast,
        };
        Edge { from: from.node, route, settings }
    }
}
