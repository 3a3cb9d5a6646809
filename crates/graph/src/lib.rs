//! Stream graphs: what a script builds, its checks, the plan it becomes, where its tasks are placed, and the actions
//! that start and stop it.
//!
//! The way of a graph: script calls ([`GraphCalls`]) build a [`LogicalGraph`]; [`check()`] finds all that is wrong with
//! it; [`plan()`] turns it into a [`Plan`]; [`place()`] finds a node for each task; [`action_lists`] says in which order
//! workers build it. Each step is a function of plain values, and [`explain()`] shows them all as text.

mod actions;
mod calls;
mod check;
mod explain;
mod logical;
mod map;
mod name;
mod passes;
mod physical;
mod placement;
#[cfg(test)]
mod sample;
mod script;
mod settings;
mod source_text;
mod stored;
mod table;
#[cfg(test)]
mod tests;

pub use actions::{Action, Stage, StageActions, action_lists, teardown_lists};
pub use calls::{CallEntry, manual};
pub use check::{CheckError, FORK_MAX, Fault, PARTS_MAX, PARTS_TOTAL_MAX, Surroundings, check, engine_names, warnings};
pub use explain::{Explained, explain, explain_json, graph_text, graphviz};
pub use logical::{
    EngineNode, GRAPH_VERSION, LogicalGraph, MapNode, Node, NodeId, Operator, StoredFunction, TableNode, TableRole,
};
pub use name::{FullName, NameError, NameKind, check_part};
pub use passes::{PASSES, Pass, plan};
pub use physical::{
    ChannelId, ChannelPlan, Feed, NodePlan, Note, PLAN_VERSION, Partition, Plan, PlanNodeId, PlanOperator, SubgraphId,
    SubgraphPlan, TablePlan, TaskId, TaskPlan,
};
pub use placement::{
    Candidate, Decision, Missing, NodeInfo, NodeRole, OPERATOR_COST, Placement, PlacementRefusal, SIBLING_BONUS, Score,
    TaskNeeds, place, task_needs,
};
pub use script::{DStream, GraphCalls, NewTable, Platform, StoredGraph, StreamGraph, Submission};
pub use settings::{CheckpointSettings, EdgeSettings, Settings};
pub use source_text::{bind_engine, read_function};
pub use table::{
    CACHE_ROWS_MIN, CachePurge, TableInfo, TableKind, TableOptions, is_key_type, is_time_type, schema_difference,
};
