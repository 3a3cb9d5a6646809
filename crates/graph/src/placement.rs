//! Placement: which node runs which task. A pure function of tasks and nodes.
//!
//! Invariants:
//! - Gang: all tasks of a graph are placed, or none is and the refusal names what is missing.
//! - Hard rules come first: a public table only on a data node, an existing one where it lives, every task in the graph's
//!   compute group, the tasks of a constraint group on one node. The score decides among what is left.
//! - Ties go to the lower node name, so the same question always has the same answer.

use crate::name::FullName;
use crate::physical::{Plan, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use thiserror::Error;

/// What each operator of a task takes from the score of its node.
pub const OPERATOR_COST: i64 = 50;

/// What a node's score gains for a task that has a sibling there.
pub const SIBLING_BONUS: i64 = 200;

/// What a node is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeRole {
    /// May hold public tables, and run any task.
    Data,
    /// Runs tasks without public tables.
    Compute,
}

/// A machine that may run tasks, as it is now. Idle shares are in percent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: NodeRole,
    /// The compute group it belongs to.
    pub compute_group: Option<String>,
    /// Idle share of the processors.
    pub cpu_idle: u8,
    /// Free share of the memory.
    pub memory_idle: u8,
    /// Free share of the disk; counts on data nodes.
    pub disk_idle: u8,
    /// Idle share of the network.
    pub network_idle: u8,
    /// What its owner adds to its score.
    pub preferred: i64,
}

/// What a task asks of its node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNeeds {
    /// The task.
    pub id: TaskId,
    /// Its load, counted in operators.
    pub complexity: u32,
    /// Does it hold a public table?
    pub holds_table: bool,
    /// The node where a table of it lives already.
    pub home: Option<String>,
    /// The constraint group: all its tasks go to one node.
    pub group: Option<String>,
    /// The tasks it takes rows from.
    pub upstream: BTreeSet<TaskId>,
    /// The tasks that take its rows.
    pub downstream: BTreeSet<TaskId>,
}

/// Where every task runs, and why there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The node of each task, by task number.
    pub nodes: Vec<String>,
    /// The score table of each decision, in the order they were made.
    pub decisions: Vec<Decision>,
}

impl Placement {
    /// The node of a task.
    pub fn node(&self, task: TaskId) -> &str {
        &self.nodes[task.index()]
    }
}

/// One decision: tasks that go together, and what spoke for each node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// One task, or all of a constraint group.
    pub tasks: Vec<TaskId>,
    /// Every node, by name.
    pub candidates: Vec<Candidate>,
    /// The node that was taken.
    pub chosen: String,
}

/// A node in one decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The node.
    pub node: String,
    /// Its score, or the hard rule that excludes it.
    pub verdict: Result<Score, String>,
}

/// The parts of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// For idle processors, memory and, on data nodes, disk: at most 1000.
    pub idle: i64,
    /// For idle network: at most 100.
    pub network: i64,
    /// What the node's owner adds.
    pub preferred: i64,
    /// For a sibling that is there already.
    pub sibling: i64,
    /// What the tasks placed there before take away.
    pub load: i64,
}

impl Score {
    /// The whole score.
    pub fn total(&self) -> i64 {
        self.idle + self.network + self.preferred + self.sibling - self.load
    }
}

/// Why a graph could not be placed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("graph cannot be placed: {}", missing.iter().map(Missing::to_string).collect::<Vec<_>>().join("; "))]
pub struct PlacementRefusal {
    /// What is missing, for each task that found no node.
    pub missing: Vec<Missing>,
}

/// Tasks that found no node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The tasks.
    pub tasks: Vec<TaskId>,
    /// What they need.
    pub needs: String,
    /// Why each node is no answer.
    pub excluded: Vec<(String, String)>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks: Vec<String> = self.tasks.iter().map(TaskId::to_string).collect();
        write!(f, "no node for task=`{}`, needs=`{}`", tasks.join(","), self.needs)?;
        for (node, why) in &self.excluded {
            write!(f, ", {node}=`{why}`")?;
        }
        Ok(())
    }
}

/// What the tasks of a plan need. `homes` names the node of each table that exists.
pub fn task_needs(plan: &Plan, homes: &BTreeMap<FullName, String>) -> Vec<TaskNeeds> {
    let needs = plan.tasks.iter().map(|task| {
        let tables = || task.nodes.iter().filter_map(|node| node.operator.table());
        let channels = || plan.channels.iter();
        TaskNeeds {
            id: task.id,
            complexity: task.complexity,
            holds_table: tables().next().is_some(),
            home: tables().find_map(|table| homes.get(table).cloned()),
            group: None,
            upstream: channels()
                .filter(|channel| channel.to_task == task.id)
                .map(|channel| channel.from_task)
                .collect(),
            downstream: channels()
                .filter(|channel| channel.from_task == task.id)
                .map(|channel| channel.to_task)
                .collect(),
        }
    });
    needs.collect()
}

/// Tasks that go to one node: those of a constraint group, or one alone.
struct Unit<'a> {
    tasks: Vec<&'a TaskNeeds>,
    complexity: u32,
}

impl Unit<'_> {
    /// The hard rule that excludes a node, in words.
    fn excludes(&self, node: &NodeInfo, compute_group: Option<&str>) -> Option<String> {
        for task in &self.tasks {
            if task.home.as_ref().is_some_and(|home| *home != node.name) {
                return Some("its table lives elsewhere".into());
            }
            if task.holds_table && node.role != NodeRole::Data {
                return Some("no data node".into());
            }
            let group = node.compute_group.as_deref();
            // Data nodes outside all groups serve the tables of every group.
            let open_table = task.holds_table && group.is_none();
            if group != compute_group && !open_table {
                return Some(match group {
                    Some(group) => format!("in compute group {group}"),
                    None => "in no compute group".into(),
                });
            }
        }
        None
    }

    fn needs(&self, compute_group: Option<&str>) -> String {
        let mut needs = vec![];
        if let Some(home) = self.tasks.iter().find_map(|task| task.home.as_ref()) {
            needs.push(format!("the node {home}, where its table lives"));
        }
        if self.tasks.iter().any(|task| task.holds_table) {
            needs.push("a data node".into());
        }
        if let Some(group) = compute_group {
            needs.push(format!("compute group {group}"));
        }
        if let Some(group) = self.tasks.iter().find_map(|task| task.group.as_ref()) {
            needs.push(format!("one node for all of constraint group {group}"));
        }
        if needs.is_empty() { "any node".into() } else { needs.join(", ") }
    }
}

/// Finds a node for each task: the most complex first, each to the node with the highest score at its turn.
pub fn place(
    tasks: &[TaskNeeds],
    nodes: &[NodeInfo],
    compute_group: Option<&str>,
) -> Result<Placement, PlacementRefusal> {
    let mut nodes: Vec<&NodeInfo> = nodes.iter().collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    let mut load: BTreeMap<&str, i64> = BTreeMap::new();
    let mut placed: BTreeMap<TaskId, &str> = BTreeMap::new();
    let mut decisions = vec![];
    let mut missing = vec![];
    for unit in units(tasks) {
        let score = |node: &NodeInfo| match unit.excludes(node, compute_group) {
            Some(why) => Err(why),
            None => {
                let has_sibling = |task: &&TaskNeeds| {
                    let sibling = |other: &TaskNeeds| {
                        other.id != task.id && other.upstream == task.upstream && other.downstream == task.downstream
                    };
                    tasks.iter().any(|other| sibling(other) && placed.get(&other.id) == Some(&node.name.as_str()))
                };
                Ok(Score {
                    idle: idle(node),
                    network: node.network_idle as i64,
                    preferred: node.preferred,
                    sibling: if unit.tasks.iter().any(has_sibling) { SIBLING_BONUS } else { 0 },
                    load: load.get(node.name.as_str()).copied().unwrap_or(0),
                })
            }
        };
        let candidates: Vec<Candidate> =
            nodes.iter().map(|node| Candidate { node: node.name.clone(), verdict: score(node) }).collect();
        let scores = candidates.iter().enumerate().filter_map(|(index, candidate)| {
            Some((candidate.verdict.as_ref().ok()?.total(), std::cmp::Reverse(index)))
        });
        let ids: Vec<TaskId> = unit.tasks.iter().map(|task| task.id).collect();
        match scores.max() {
            Some((_, std::cmp::Reverse(index))) => {
                let chosen = nodes[index].name.as_str();
                *load.entry(chosen).or_default() += OPERATOR_COST * unit.complexity as i64;
                placed.extend(ids.iter().map(|id| (*id, chosen)));
                decisions.push(Decision { tasks: ids, candidates, chosen: chosen.to_string() });
            }
            None => {
                let excluded =
                    candidates.into_iter().filter_map(|candidate| Some((candidate.node, candidate.verdict.err()?)));
                missing.push(Missing { tasks: ids, needs: unit.needs(compute_group), excluded: excluded.collect() });
            }
        }
    }
    if missing.is_empty() {
        Ok(Placement { nodes: placed.into_values().map(str::to_string).collect(), decisions })
    } else {
        Err(PlacementRefusal { missing })
    }
}

/// The tasks as they are placed: groups together, the most complex first, then the lower number.
fn units(tasks: &[TaskNeeds]) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit> = vec![];
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for task in tasks {
        let known = task.group.as_deref().and_then(|group| groups.get(group).copied());
        match known {
            Some(unit) => {
                units[unit].tasks.push(task);
                units[unit].complexity += task.complexity;
            }
            None => {
                if let Some(group) = task.group.as_deref() {
                    groups.insert(group, units.len());
                }
                units.push(Unit { tasks: vec![task], complexity: task.complexity });
            }
        }
    }
    units.sort_by_key(|unit| (std::cmp::Reverse(unit.complexity), unit.tasks[0].id));
    units
}

/// The mean idle share in tenths of a percent.
fn idle(node: &NodeInfo) -> i64 {
    let (cpu, memory, disk) = (node.cpu_idle as i64, node.memory_idle as i64, node.disk_idle as i64);
    match node.role {
        NodeRole::Data => (cpu + memory + disk) * 10 / 3,
        NodeRole::Compute => (cpu + memory) * 10 / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Surroundings;
    use crate::sample;

    fn node(name: &str, role: NodeRole) -> NodeInfo {
        NodeInfo {
            name: name.into(),
            role,
            compute_group: None,
            cpu_idle: 50,
            memory_idle: 50,
            disk_idle: 50,
            network_idle: 50,
            preferred: 0,
        }
    }

    fn data(name: &str) -> NodeInfo {
        node(name, NodeRole::Data)
    }

    fn compute(name: &str) -> NodeInfo {
        node(name, NodeRole::Compute)
    }

    fn task(id: u32, complexity: u32) -> TaskNeeds {
        let (upstream, downstream) = (BTreeSet::from([TaskId(id + 100)]), BTreeSet::new());
        TaskNeeds { id: TaskId(id), complexity, holds_table: false, home: None, group: None, upstream, downstream }
    }

    fn table(id: u32, complexity: u32) -> TaskNeeds {
        TaskNeeds { holds_table: true, ..task(id, complexity) }
    }

    fn places(tasks: &[TaskNeeds], nodes: &[NodeInfo]) -> Vec<String> {
        place(tasks, nodes, None).unwrap().nodes
    }

    #[test]
    fn a_public_table_goes_to_a_data_node_only() {
        let idle = NodeInfo { cpu_idle: 100, memory_idle: 100, ..compute("a") };
        assert_eq!(places(&[table(0, 1), task(1, 1)], &[idle.clone(), data("b")]), ["b", "a"]);
        let refusal = place(&[table(0, 1)], &[idle], None).unwrap_err();
        let wanted = "graph cannot be placed: no node for task=`0`, needs=`a data node`, a=`no data node`";
        assert_eq!(refusal.to_string(), wanted);
    }

    #[test]
    fn all_tasks_are_placed_or_none() {
        let refusal = place(&[task(0, 1), table(1, 1), table(2, 1)], &[compute("a")], None).unwrap_err();
        assert_eq!(refusal.missing.len(), 2);
        assert!(place(&[task(0, 1)], &[], None).is_err());
    }

    #[test]
    fn a_table_that_exists_stays_where_it_lives() {
        let idle = NodeInfo { cpu_idle: 100, ..data("a") };
        let at_home = TaskNeeds { home: Some("b".into()), ..table(0, 1) };
        assert_eq!(places(std::slice::from_ref(&at_home), &[idle.clone(), data("b")]), ["b"]);
        assert!(place(&[at_home], &[idle], None).is_err());
    }

    #[test]
    fn tasks_stay_in_the_compute_group_and_tables_may_use_open_data_nodes() {
        let grouped = NodeInfo { compute_group: Some("fast".into()), ..compute("c") };
        let nodes = [compute("a"), data("b"), grouped];
        let tasks = [task(0, 1), table(1, 1)];
        assert_eq!(place(&tasks, &nodes, Some("fast")).unwrap().nodes, ["c", "b"]);
        // Without a group the grouped node is left alone.
        assert!(!places(&tasks, &nodes).contains(&"c".to_string()));
        let refusal = place(&tasks, &nodes, Some("slow")).unwrap_err().to_string();
        assert!(refusal.contains("compute group slow") && refusal.contains("c=`in compute group fast`"), "{refusal}");
    }

    #[test]
    fn a_constraint_group_goes_to_one_node() {
        let grouped = |id| TaskNeeds { group: Some("shared".into()), ..task(id, 9) };
        let nodes = places(&[grouped(0), task(1, 1), grouped(2), grouped(3)], &[compute("a"), compute("b")]);
        assert!(nodes[0] == nodes[2] && nodes[2] == nodes[3], "{nodes:?}");
        assert_ne!(nodes[0], nodes[1]);
    }

    #[test]
    fn the_most_complex_task_is_placed_first_and_takes_from_the_score() {
        let placement = place(&[task(0, 1), task(1, 4)], &[compute("a"), compute("b")], None).unwrap();
        assert_eq!(placement.decisions[0].tasks, [TaskId(1)]);
        assert_eq!(placement.nodes, ["b", "a"]);
        let second = &placement.decisions[1].candidates[0];
        assert_eq!(second.verdict.as_ref().unwrap().load, 4 * OPERATOR_COST);
    }

    #[test]
    fn ties_go_to_the_lower_name() {
        assert_eq!(places(&[task(0, 1)], &[compute("b"), compute("a")]), ["a"]);
    }

    #[test]
    fn idle_disk_counts_on_data_nodes_and_network_and_preference_everywhere() {
        let full = NodeInfo { disk_idle: 0, ..data("a") };
        assert_eq!(places(&[table(0, 1)], &[full, data("b")]), ["b"]);
        let full = NodeInfo { disk_idle: 0, ..compute("a") };
        assert_eq!(places(&[task(0, 1)], &[full, compute("b")]), ["a"]);
        let quiet = NodeInfo { network_idle: 60, ..compute("b") };
        assert_eq!(places(&[task(0, 1)], &[compute("a"), quiet]), ["b"]);
        let preferred = NodeInfo { preferred: 1, ..compute("b") };
        assert_eq!(places(&[task(0, 1)], &[compute("a"), preferred]), ["b"]);
    }

    #[test]
    fn a_sibling_draws_tasks_to_its_node_until_the_load_tells() {
        let sibling = |id| TaskNeeds { upstream: BTreeSet::from([TaskId(9)]), ..task(id, 3) };
        let nodes = places(&[sibling(0), sibling(1), sibling(2)], &[compute("a"), compute("b")]);
        assert_eq!(nodes, ["a", "a", "b"]);
    }

    #[test]
    fn the_needs_of_a_plan_name_tables_homes_and_neighbours() {
        let plan = crate::plan(&sample::parallel_klines(), &Surroundings::default());
        let homes = BTreeMap::from([(sample::table_name("trade"), "a".to_string())]);
        let needs = task_needs(&plan, &homes);
        assert_eq!(needs[0].home.as_deref(), Some("a"));
        assert!(needs[0].holds_table && !needs[1].holds_table && needs[9].holds_table);
        assert_eq!(needs[1].upstream, needs[2].upstream);
        assert_eq!(needs[1].downstream, needs[4].downstream);
        assert_eq!(needs[9].upstream.len(), 4);
        assert_eq!(needs[1].complexity, 2);
        assert_eq!(place(&needs, &[data("a")], None).unwrap().nodes.len(), 11);
    }
}
