//! Pass: each subgraph becomes as many tasks as it has parts, and each node a node of every one of them.

use super::{Draft, Route};
use crate::check::Surroundings;
use crate::logical::LogicalGraph;
use crate::physical::{Feed, NodePlan, PlanNodeId, TaskId, TaskPlan};
use std::collections::HashMap;

pub(super) fn run(_: &LogicalGraph, _: &Surroundings, draft: &mut Draft) {
    let order = draft.sound_order();
    let mut next = 0;
    for subgraph in draft.plan.subgraphs.clone() {
        let parts = subgraph.parts.unwrap_or(1);
        for part in 0..parts {
            let mut numbers: HashMap<usize, PlanNodeId> = HashMap::new();
            let mut nodes = vec![];
            for &index in order.iter().filter(|index| draft.nodes[**index].subgraph == Some(subgraph.id.index())) {
                let node = &draft.nodes[index];
                let id = PlanNodeId(next);
                next += 1;
                numbers.insert(index, id);
                // A port fed from another task gets its channels in the next pass.
                let feed = |edges: &Vec<super::Edge>| match &edges[..] {
                    [edge] if edge.route == Route::Straight && numbers.contains_key(&edge.from) => {
                        Feed::Node(numbers[&edge.from])
                    }
                    _ => Feed::Channels(vec![]),
                };
                let inputs = node.ports.iter().map(feed).collect();
                let (name, operator, schema) = (node.name.clone(), node.operator.clone(), node.schema.clone());
                nodes.push(NodePlan { id, name, operator, inputs, schema });
            }
            let id = TaskId(draft.plan.tasks.len() as u32);
            let complexity = nodes.iter().map(|node| node.operator.complexity()).sum();
            draft.plan.tasks.push(TaskPlan { id, subgraph: subgraph.id, part, parts, nodes, complexity });
        }
    }
}
