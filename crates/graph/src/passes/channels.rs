//! Pass: a channel for each way between two tasks.

use super::{Draft, Edge, Route};
use crate::check::Surroundings;
use crate::logical::LogicalGraph;
use crate::physical::{ChannelId, ChannelPlan, Feed, Partition, PlanNodeId, PlanOperator, TaskId};

/// One part of a draft's node, in the plan.
#[derive(Clone, Copy)]
struct Place {
    task: TaskId,
    /// Its place in the task's list of nodes.
    index: usize,
    id: PlanNodeId,
}

pub(super) fn run(_: &LogicalGraph, _: &Surroundings, draft: &mut Draft) {
    let places = places(draft);
    for (to, node) in draft.nodes.iter().enumerate() {
        for (port, edges) in node.ports.iter().enumerate() {
            for edge in edges.iter().filter(|edge| draft.nodes[edge.from].subgraph != node.subgraph) {
                let source = matches!(draft.nodes[edge.from].operator, PlanOperator::Source { .. });
                for (part, place) in places[to].iter().enumerate() {
                    for (from, partition) in ways(edge, &places[edge.from], part as u32, places[to].len() as u32) {
                        let id = ChannelId(draft.plan.channels.len() as u32);
                        draft.plan.channels.push(ChannelPlan {
                            id,
                            from: from.id,
                            from_task: from.task,
                            to: place.id,
                            to_task: place.task,
                            port,
                            partition,
                            from_source: source,
                            settings: edge.settings.clone(),
                        });
                        let feed = &mut draft.plan.tasks[place.task.index()].nodes[place.index].inputs[port];
                        let Feed::Channels(channels) = feed else {
                            unreachable!("a port fed from another task has no node of its own task")
                        };
                        channels.push(id);
                    }
                }
            }
        }
    }
}

/// From which parts of the node before it a part takes rows, and which rows.
fn ways(edge: &Edge, from: &[Place], part: u32, parts: u32) -> Vec<(Place, Partition)> {
    match &edge.route {
        // Part to part; but what runs unsplit takes the rows of all parts.
        Route::Straight if parts > 1 || from.len() == 1 => vec![(from[part as usize], Partition::Forward)],
        Route::Straight => from.iter().map(|place| (*place, Partition::Forward)).collect(),
        Route::Broadcast => from.iter().map(|place| (*place, Partition::Broadcast)).collect(),
        Route::Shuffle(column) => {
            let shuffle = Partition::Shuffle { column: column.clone(), index: part, count: parts };
            from.iter().map(|place| (*place, shuffle.clone())).collect()
        }
    }
}

/// For each node of the draft, its parts in the plan, found by walking the tasks as they were made.
fn places(draft: &Draft) -> Vec<Vec<Place>> {
    let mut places = vec![vec![]; draft.nodes.len()];
    let order = draft.sound_order();
    for task in &draft.plan.tasks {
        let members = order.iter().filter(|index| draft.nodes[**index].subgraph == Some(task.subgraph.index()));
        for (index, (&member, node)) in members.zip(&task.nodes).enumerate() {
            places[member].push(Place { task: task.id, index, id: node.id });
        }
    }
    places
}
