//! Actions: what workers are asked to do to bring a graph up and down, in stages.
//!
//! Invariants:
//! - An action may be carried out twice without harm: it says what is to be there, or not to be.
//! - Stage 1 makes tables and tasks, stage 2 opens the channels between them, stage 3 those that bring rows in. A stage
//!   begins when the one before is done on every node. Teardown runs 3, 2, 1.

use crate::name::FullName;
use crate::physical::{ChannelId, Plan, TaskId};
use crate::placement::Placement;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// One step that a worker is asked to take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The public table is there, created if need be.
    CreateTable(FullName),
    /// The task is there: its engines and private tables, chained, without rows yet.
    BuildTask(TaskId),
    /// Rows pass the channel; asked of the task that takes them.
    OpenChannel(ChannelId),
    /// No rows pass the channel any more.
    CloseChannel(ChannelId),
    /// The task is gone.
    DropTask(TaskId),
    /// The public table is gone.
    DropTable(FullName),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::CreateTable(table) => write!(f, "create table {table}"),
            Action::BuildTask(task) => write!(f, "build task {task}"),
            Action::OpenChannel(channel) => write!(f, "open channel {channel}"),
            Action::CloseChannel(channel) => write!(f, "close channel {channel}"),
            Action::DropTask(task) => write!(f, "drop task {task}"),
            Action::DropTable(table) => write!(f, "drop table {table}"),
        }
    }
}

/// A part of bringing a graph up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// 1: tables and tasks.
    Build,
    /// 2: the channels between tasks, but those of sources.
    Connect,
    /// 3: the channels of sources.
    Open,
}

impl Stage {
    /// Its number, from 1.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// What one node is asked to do in one stage, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageActions {
    /// The stage.
    pub stage: Stage,
    /// The node.
    pub node: String,
    /// The actions.
    pub actions: Vec<Action>,
}

/// What brings a placed plan up: stage by stage, and in each by node name.
pub fn action_lists(plan: &Plan, placement: &Placement) -> Vec<StageActions> {
    let mut lists = Lists::default();
    for task in &plan.tasks {
        let node = placement.node(task.id);
        for table in task.nodes.iter().filter_map(|node| node.operator.table()) {
            lists.add(Stage::Build, node, Action::CreateTable(table.clone()));
        }
        lists.add(Stage::Build, node, Action::BuildTask(task.id));
    }
    for channel in &plan.channels {
        let stage = if channel.from_source { Stage::Open } else { Stage::Connect };
        lists.add(stage, placement.node(channel.to_task), Action::OpenChannel(channel.id));
    }
    lists.in_order()
}

/// What takes a placed plan down: the stages, and the actions in each, in reverse. Public tables stay, but those named in
/// `drop_tables`.
pub fn teardown_lists(plan: &Plan, placement: &Placement, drop_tables: &[FullName]) -> Vec<StageActions> {
    let undo = |action: Action| match action {
        Action::CreateTable(table) => drop_tables.contains(&table).then_some(Action::DropTable(table)),
        Action::BuildTask(task) => Some(Action::DropTask(task)),
        Action::OpenChannel(channel) => Some(Action::CloseChannel(channel)),
        other => unreachable!("a graph is not brought up by `{other}`"),
    };
    let lists = action_lists(plan, placement).into_iter().rev();
    lists
        .map(|list| StageActions { actions: list.actions.into_iter().rev().filter_map(undo).collect(), ..list })
        .collect()
}

#[derive(Default)]
struct Lists(BTreeMap<(Stage, String), Vec<Action>>);

impl Lists {
    fn add(&mut self, stage: Stage, node: &str, action: Action) {
        self.0.entry((stage, node.to_string())).or_default().push(action);
    }

    fn in_order(self) -> Vec<StageActions> {
        self.0.into_iter().map(|((stage, node), actions)| StageActions { stage, node, actions }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Surroundings;
    use crate::sample;

    fn placed(nodes: &[&str]) -> Placement {
        Placement { nodes: nodes.iter().map(|node| node.to_string()).collect(), decisions: vec![] }
    }

    fn lines(lists: &[StageActions]) -> Vec<String> {
        let line = |list: &StageActions| {
            let actions: Vec<String> = list.actions.iter().map(Action::to_string).collect();
            format!("{} {}: {}", list.stage.number(), list.node, actions.join(", "))
        };
        lists.iter().map(line).collect()
    }

    #[test]
    fn sources_open_last_and_close_first() {
        let plan = crate::plan(&sample::one_minute_indicators(), &Surroundings::default());
        let placement = placed(&["a", "b"]);
        let up = lines(&action_lists(&plan, &placement));
        assert_eq!(
            up,
            [
                "1 a: create table demo.orca_table.Trade, build task 0",
                "1 b: create table demo.orca_table.output, build task 1",
                "3 b: open channel 0",
            ]
        );
        let down = lines(&teardown_lists(&plan, &placement, &[sample::table_name("output")]));
        assert_eq!(
            down,
            ["3 b: close channel 0", "1 b: drop task 1, drop table demo.orca_table.output", "1 a: drop task 0"]
        );
    }

    #[test]
    fn inner_channels_open_between_tables_and_sources() {
        let plan = crate::plan(&sample::parallel_klines(), &Surroundings::default());
        let lists = action_lists(&plan, &placed(&["a"; 11]));
        let counts: Vec<(u8, usize)> = lists.iter().map(|list| (list.stage.number(), list.actions.len())).collect();
        assert_eq!(counts, [(1, 11 + 3), (2, 8), (3, 8)]);
    }
}
