//! Pass: private tables that do nothing are taken out.
//!
//! A private table stays if it hands rows to several consumers, or stands where the parallelism changes, and nothing
//! before it does that already.

use super::{Draft, Route};
use crate::check::Surroundings;
use crate::logical::LogicalGraph;
use crate::physical::PlanOperator;

pub(super) fn run(_: &LogicalGraph, _: &Surroundings, draft: &mut Draft) {
    while let Some(table) = (0..draft.nodes.len()).find(|index| is_redundant(draft, *index)) {
        let input = draft.nodes[table].ports[0][0].clone();
        for edge in draft.nodes.iter_mut().flat_map(|node| node.edges_mut()) {
            if edge.from == table {
                edge.from = input.from;
                if input.route != Route::Straight {
                    edge.route = input.route.clone();
                    edge.settings = input.settings.clone();
                }
            }
        }
        draft.nodes.remove(table);
        for edge in draft.nodes.iter_mut().flat_map(|node| node.edges_mut()) {
            if edge.from > table {
                edge.from -= 1;
            }
        }
    }
}

fn is_redundant(draft: &Draft, index: usize) -> bool {
    let node = &draft.nodes[index];
    if node.operator != PlanOperator::PrivateTable {
        return false;
    }
    let before = &draft.nodes[node.ports[0][0].from];
    let consumers: Vec<_> = draft
        .nodes
        .iter()
        .flat_map(|to| to.edges().map(move |edge| (to, edge)))
        .filter(|(_, edge)| edge.from == index)
        .collect();
    // A table before it hands rows to any number of consumers itself.
    let is_table = before.operator.table().is_some() || before.operator == PlanOperator::PrivateTable;
    if before.section == node.section && is_table {
        return true;
    }
    let [(to, edge)] = consumers[..] else { return false };
    // One consumer that runs just as this table does: no fork and no change of parallelism.
    edge.route == Route::Straight && to.section == node.section
}
