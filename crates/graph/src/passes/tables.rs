//! Pass: private tables where rows are handed to several consumers and where the parallelism changes.
//!
//! Each reason adds a table of its own; the next pass removes those that do nothing.

use super::Draft;
use crate::check::Surroundings;
use crate::logical::LogicalGraph;

pub(super) fn run(_: &LogicalGraph, _: &Surroundings, draft: &mut Draft) {
    for from in 0..draft.nodes.len() {
        let name = draft.nodes[from].name.clone();
        let section = draft.nodes[from].section;
        let mut last = from;
        if draft.edges_out()[from] > 1 {
            last = draft.add_private_table(format!("{name}_fork"), from, section);
            take_edges(draft, from, last, |_| true);
        }
        if section.is_none() {
            continue;
        }
        // The last node of a branch hands its rows over to other tasks by a table.
        let leaves = |to: Option<usize>| to != section;
        if has_edges(draft, last, leaves) {
            let end = draft.add_private_table(format!("{name}_end"), last, section);
            take_edges(draft, last, end, leaves);
            // What merges the branches is one table, however many take its rows. A section that follows starts there
            // too: only rows that are in order can be split so that they find back into it.
            let merge = draft.add_private_table(format!("{name}_sync"), end, None);
            take_edges(draft, end, merge, |_| true);
        }
    }
}

/// Does an edge lead from this node to a section that fits?
fn has_edges(draft: &Draft, from: usize, fits: impl Fn(Option<usize>) -> bool) -> bool {
    draft.nodes.iter().any(|node| fits(node.section) && node.edges().any(|edge| edge.from == from))
}

/// Makes the edges from one node to sections that fit start at another one.
fn take_edges(draft: &mut Draft, from: usize, by: usize, fits: impl Fn(Option<usize>) -> bool) {
    for (index, node) in draft.nodes.iter_mut().enumerate() {
        if index != by && fits(node.section) {
            node.edges_mut().filter(|edge| edge.from == from).for_each(|edge| edge.from = by);
        }
    }
}
