//! Pass: subgraphs, as long as possible.
//!
//! A node joins the subgraph of the node before it unless the parallelism changes between them, a public table stands
//! there, or it has other inputs: then it begins a subgraph of its own, and what comes in is merged in front of it. Two
//! public tables that exist already may live on different machines, so a subgraph takes up one of them at most.

use super::{Draft, Route};
use crate::check::Surroundings;
use crate::logical::LogicalGraph;
use crate::physical::{SubgraphId, SubgraphPlan};

pub(super) fn run(_: &LogicalGraph, _: &Surroundings, draft: &mut Draft) {
    let mut fixed: Vec<bool> = vec![];
    for index in draft.sound_order() {
        let node = &draft.nodes[index];
        let table = node.operator.table().and_then(|table| draft.plan.table(table));
        let reused = table.is_some_and(|table| table.reused);
        let edges: Vec<_> = node.edges().collect();
        let before = match edges[..] {
            [edge] if edge.route == Route::Straight => Some(&draft.nodes[edge.from]),
            _ => None,
        };
        let before = before.filter(|before| before.section == node.section && before.operator.table().is_none());
        let joined = before.and_then(|before| before.subgraph).filter(|subgraph| !(reused && fixed[*subgraph]));
        let subgraph = joined.unwrap_or_else(|| {
            let id = SubgraphId(draft.plan.subgraphs.len() as u32);
            let section = node.section.map(|section| &draft.sections[section]);
            let column = section.map(|section| section.column.clone());
            let parts = section.map(|section| section.count);
            draft.plan.subgraphs.push(SubgraphPlan { id, parts, column });
            fixed.push(false);
            id.index()
        });
        fixed[subgraph] |= reused;
        draft.nodes[index].subgraph = Some(subgraph);
    }
}
