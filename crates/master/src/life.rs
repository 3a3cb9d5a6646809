//! The life of a graph.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a graph is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphState {
    /// Being built on its nodes, stage by stage.
    Building,
    /// Takes rows.
    Running,
    /// Lost a node or its memory; will be placed anew.
    Error,
    /// Cannot go on; everything is kept for inspection.
    Failed,
    /// Being torn down, to be started again later.
    Stopping,
    /// At rest, with its journal and tables.
    Stopped,
    /// Being torn down for good.
    Destroying,
    /// Gone; only the record is left.
    Destroyed,
}

/// What happens to a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GraphEvent {
    /// All stages are built.
    Deployed,
    /// A node with a task of the graph is lost.
    NodeLost,
    /// The graph was placed anew.
    Rescheduled,
    /// It was placed anew too often.
    AttemptsUsedUp,
    /// A task cannot go on.
    TaskFailed,
    /// The user stops it.
    Stop,
    /// The user starts it again.
    Start,
    /// All of it is torn down.
    TornDown,
    /// The user drops it.
    Destroy,
    /// The user submits it again, with a new journal.
    Resubmit,
}

/// The whole life of a graph, on one page. `None`: the event is refused in this state.
pub fn next(state: GraphState, event: GraphEvent) -> Option<GraphState> {
    use {GraphEvent as E, GraphState as S};
    Some(match (state, event) {
        (S::Building, E::Deployed) => S::Running,
        (S::Building | S::Running, E::NodeLost) => S::Error, // Recoverable: placed anew.
        (S::Error, E::Rescheduled) | (S::Stopped | S::Failed, E::Start) => S::Building,
        (S::Error, E::AttemptsUsedUp) => S::Failed,
        (S::Building | S::Running | S::Error, E::TaskFailed) => S::Failed, // Kept for inspection.
        (S::Building | S::Running | S::Error, E::Stop) => S::Stopping,
        (S::Stopping, E::TornDown) => S::Stopped,
        (S::Destroying, E::TornDown) => S::Destroyed,
        (S::Failed | S::Destroying | S::Destroyed, E::Resubmit) => S::Building, // With a new journal.
        (S::Destroying | S::Destroyed, _) => return None,
        (_, E::Destroy) => S::Destroying,
        _ => return None,
    })
}

impl fmt::Display for GraphState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GraphState::Building => "building",
            GraphState::Running => "running",
            GraphState::Error => "error",
            GraphState::Failed => "failed",
            GraphState::Stopping => "stopping",
            GraphState::Stopped => "stopped",
            GraphState::Destroying => "destroying",
            GraphState::Destroyed => "destroyed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use {GraphEvent as E, GraphState as S};

    #[test]
    fn a_graph_is_built_stopped_started_and_destroyed() {
        let path = [
            (S::Building, E::Deployed, S::Running),
            (S::Running, E::Stop, S::Stopping),
            (S::Stopping, E::TornDown, S::Stopped),
            (S::Stopped, E::Start, S::Building),
            (S::Building, E::TaskFailed, S::Failed),
            (S::Failed, E::Destroy, S::Destroying),
            (S::Destroying, E::TornDown, S::Destroyed),
            (S::Destroyed, E::Resubmit, S::Building),
        ];
        for (from, event, to) in path {
            assert_eq!(next(from, event), Some(to), "{from} {event:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(next(S::Running, E::Start), None);
        assert_eq!(next(S::Stopped, E::Deployed), None);
        assert_eq!(next(S::Destroyed, E::Destroy), None);
    }
}
