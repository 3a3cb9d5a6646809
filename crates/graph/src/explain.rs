//! Everything that was decided about a graph, as text and as JSON.

use crate::actions::StageActions;
use crate::logical::{LogicalGraph, Operator};
use crate::physical::{Feed, NodePlan, Plan, PlanOperator, TaskPlan};
use crate::placement::{Candidate, Placement};
use data::Schema;
use engine::{Facts, Split};
use std::fmt::Write;

/// A graph and what has become of it so far; the later steps may be unknown yet.
#[derive(Debug, Clone, Copy)]
pub struct Explained<'a> {
    /// The graph as written.
    pub logical: &'a LogicalGraph,
    /// Its plan.
    pub plan: Option<&'a Plan>,
    /// Where its tasks are.
    pub placement: Option<&'a Placement>,
    /// What brings it up.
    pub actions: Option<&'a [StageActions]>,
}

/// The whole explanation as text: logical graph, facts, physical graph, placement and actions.
pub fn explain(explained: Explained) -> String {
    let mut text = format!("graph {}\n", explained.logical.name);
    section(&mut text, "logical graph", &logical_table(explained.logical));
    section(&mut text, "facts", &facts_table(explained.logical));
    if let Some(plan) = explained.plan {
        section(&mut text, "public tables", &tables_table(plan));
        section(&mut text, "physical graph", &tasks_table(plan));
        section(&mut text, "channels", &channels_table(plan));
        let notes: Vec<String> = plan.notes.iter().map(|note| note.to_string()).collect();
        if !notes.is_empty() {
            section(&mut text, "notes", &(notes.join("\n") + "\n"));
        }
    }
    if let Some(placement) = explained.placement {
        section(&mut text, "placement", &placement_table(placement));
    }
    if let Some(actions) = explained.actions {
        section(&mut text, "actions", &actions_table(actions));
    }
    text
}

/// The same as JSON, of the very values that are stored.
pub fn explain_json(explained: Explained) -> serde_json::Value {
    serde_json::json!({
        "logical": explained.logical,
        "plan": explained.plan,
        "placement": explained.placement,
        "actions": explained.actions,
    })
}

fn section(text: &mut String, title: &str, body: &str) {
    let _ = write!(text, "\n{title}\n{}\n{body}", "-".repeat(title.len()));
}

/// Rows of cells as aligned columns, the first row being the header.
fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|cell| cell.to_string()).collect()
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

fn schema_text(schema: &Schema) -> String {
    list(schema.fields().iter().map(|field| format!("{} {}", field.name, field.ty)))
}

fn logical_table(graph: &LogicalGraph) -> String {
    let mut rows = vec![row(["id", "node", "operator", "inputs", "columns"])];
    for (id, node) in graph.numbered() {
        let operator = match &node.operator {
            Operator::Parallelize { column, count } => format!("parallelize({column}, {count})"),
            operator => operator.word().to_string(),
        };
        let cells = [id.to_string(), node.name.clone(), operator, list(&node.inputs), schema_text(&node.schema)];
        rows.push(cells.into());
    }
    columns(&rows)
}

/// How an engine may be split, in words.
fn split_text(split: &Split) -> String {
    match split {
        Split::Any => "in any way".into(),
        Split::By(keys) => format!("by {}", keys.join(" or ")),
        Split::Broadcast(keys) => format!("by {}, right side whole", keys.join(" or ")),
        Split::Never(why) => format!("never: {why}"),
    }
}

fn facts_table(graph: &LogicalGraph) -> String {
    let yes = |fact: bool| if fact { "yes" } else { "no" }.to_string();
    let mut rows = vec![row(["node", "reads clock", "reads batches", "reads arrival", "may be split"])];
    for node in &graph.nodes {
        if let Some(Facts { split, reads_clock, reads_batches, reads_arrival }) = node.operator.facts() {
            let facts = [yes(*reads_clock), yes(*reads_batches), yes(*reads_arrival), split_text(split)];
            rows.push(std::iter::once(node.name.clone()).chain(facts).collect());
        }
    }
    columns(&rows)
}

fn tables_table(plan: &Plan) -> String {
    let mut rows = vec![row(["table", "kind", "use", "columns"])];
    for table in &plan.tables {
        let created = if table.reused { "exists" } else { "created" };
        let role = if table.source { "source" } else { "written" };
        let cells =
            [table.name.to_string(), table.kind.to_string(), format!("{role}, {created}"), schema_text(&table.schema)];
        rows.push(cells.into());
    }
    columns(&rows)
}

fn tasks_table(plan: &Plan) -> String {
    let mut rows = vec![row(["subgraph", "task", "part", "load", "nodes"])];
    for task in &plan.tasks {
        let node = |node: &NodePlan| {
            let word = node.operator.word();
            let channels = node.inputs.iter().filter_map(|feed| match feed {
                Feed::Channels(channels) => Some(format!("[{}]", list(channels))),
                Feed::Node(_) => None,
            });
            let channels: String = channels.collect();
            let arrow = if channels.is_empty() { "" } else { " -> " };
            format!("{channels}{arrow}{} ({word})", node.name)
        };
        let nodes: Vec<String> = task.nodes.iter().map(node).collect();
        let part = if plan.subgraphs[task.subgraph.index()].parts.is_some() {
            format!("{} of {}", task.part, task.parts)
        } else {
            "whole".into()
        };
        let cells =
            [task.subgraph.to_string(), task.id.to_string(), part, task.complexity.to_string(), nodes.join(", ")];
        rows.push(cells.into());
    }
    columns(&rows)
}

fn channels_table(plan: &Plan) -> String {
    let mut rows = vec![row(["channel", "from task", "to task", "from", "to", "port", "rows", "stage"])];
    for channel in &plan.channels {
        rows.push(vec![
            channel.id.to_string(),
            channel.from_task.to_string(),
            channel.to_task.to_string(),
            plan.node(channel.from).name.clone(),
            plan.node(channel.to).name.clone(),
            channel.port.to_string(),
            channel.partition.to_string(),
            if channel.from_source { "3" } else { "2" }.into(),
        ]);
    }
    columns(&rows)
}

/// Each decision with its whole score table: why here, and why not there.
fn placement_table(placement: &Placement) -> String {
    let header = row(["task", "node", "score", "idle", "network", "preferred", "sibling", "load", "why"]);
    let mut rows = vec![header];
    for decision in &placement.decisions {
        for Candidate { node, verdict } in &decision.candidates {
            let mut cells = vec![list(&decision.tasks), node.clone()];
            match verdict {
                Ok(score) => {
                    let load = -score.load;
                    let parts = [score.total(), score.idle, score.network, score.preferred, score.sibling, load];
                    cells.extend(parts.iter().map(i64::to_string));
                    cells.push(if *node == decision.chosen { "chosen" } else { "" }.into());
                }
                Err(why) => {
                    cells.extend(std::iter::repeat_n("-".to_string(), 6));
                    cells.push(why.clone());
                }
            }
            rows.push(cells);
        }
    }
    columns(&rows)
}

fn actions_table(actions: &[StageActions]) -> String {
    let mut rows = vec![row(["stage", "node", "action"])];
    for list in actions {
        for action in &list.actions {
            rows.push(vec![list.stage.number().to_string(), list.node.clone(), action.to_string()]);
        }
    }
    columns(&rows)
}

/// One end of an edge in the texts of `str` and `toGraphviz`.
struct End {
    id: u32,
    name: String,
    subgraph: i64,
    task: i64,
    kind: String,
    parallelism: u32,
    schema: String,
}

/// An edge in these texts.
struct Line {
    from: usize,
    to: usize,
    partition: String,
}

/// `TIME_SERIES_ENGINE` for `timeSeriesEngine`.
fn upper_snake(word: &str) -> String {
    let mut text = String::new();
    for letter in word.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(if letter == ' ' { '_' } else { letter.to_ascii_uppercase() });
    }
    text
}

fn types_text(schema: &Schema) -> String {
    format!("[{}]", schema.fields().iter().map(|field| field.ty.to_string()).collect::<Vec<_>>().join(","))
}

/// Before its submit a graph is shown as written.
fn logical_picture(graph: &LogicalGraph) -> (Vec<End>, Vec<Line>) {
    let end = |(id, node): (crate::NodeId, &crate::Node)| End {
        id: id.0,
        name: node.operator.table().map_or(node.name.clone(), |table| table.table.to_string()),
        subgraph: -1,
        task: -1,
        kind: match node.operator {
            Operator::Table(_) => "TABLE".into(),
            _ => upper_snake(node.operator.word()),
        },
        parallelism: 1,
        schema: types_text(&node.schema),
    };
    let lines = graph.numbered().flat_map(|(id, node)| {
        let line = move |from: &crate::NodeId| Line { from: from.index(), to: id.index(), partition: "FORWARD".into() };
        node.inputs.iter().map(line)
    });
    (graph.numbered().map(end).collect(), lines.collect())
}

/// After it, as it runs: with a channel in front of each task.
fn physical_picture(plan: &Plan) -> (Vec<End>, Vec<Line>) {
    let (mut ends, mut lines) = (vec![], vec![]);
    let nodes = plan.nodes().count() as u32;
    let end = |task: &TaskPlan, id, name, kind, schema| End {
        id,
        name,
        subgraph: task.subgraph.0 as i64,
        task: task.id.0 as i64,
        kind,
        parallelism: task.parts,
        schema,
    };
    for (task, node) in plan.nodes() {
        let part = if task.parts > 1 { format!("_{}", task.part) } else { String::new() };
        let (name, kind) = match &node.operator {
            PlanOperator::Source { table } | PlanOperator::Table { table } => (table.to_string(), "TABLE".into()),
            PlanOperator::PrivateTable => (format!("{}{part}", node.name), "TABLE".into()),
            operator => (format!("{}{part}", node.name), upper_snake(operator.word())),
        };
        ends.push(end(task, node.id.0, name, kind, types_text(&node.schema)));
        for feed in &node.inputs {
            match feed {
                Feed::Node(from) => {
                    lines.push(Line { from: from.index(), to: node.id.index(), partition: "FORWARD".into() });
                }
                Feed::Channels(channels) => lines.extend(channels.iter().map(|id| {
                    let to = node.id.index();
                    Line { from: (nodes + id.0) as usize, to, partition: "FORWARD".into() }
                })),
            }
        }
    }
    for channel in &plan.channels {
        let (id, from) = (nodes + channel.id.0, plan.node(channel.from));
        let task = &plan.tasks[channel.to_task.index()];
        ends.push(end(task, id, format!("channel_{id}"), "CHANNEL".into(), types_text(&from.schema)));
        let partition = channel.partition.to_string();
        lines.push(Line { from: channel.from.index(), to: id as usize, partition });
    }
    (ends, lines)
}

fn picture(graph: &LogicalGraph, plan: Option<&Plan>) -> (Vec<End>, Vec<Line>) {
    plan.map_or_else(|| logical_picture(graph), physical_picture)
}

/// The graph's edges as text, one with its two ends after another: `g.str()`.
pub fn graph_text(graph: &LogicalGraph, plan: Option<&Plan>) -> String {
    let (ends, lines) = picture(graph, plan);
    let text = |end: &End| {
        let End { id, name, subgraph, task, kind, parallelism, .. } = end;
        format!(
            "{{name={name}, id={id}, subgraphId={subgraph}, taskId={task}, type={kind}, parallelism={parallelism}}}"
        )
    };
    let properties = |end: &End| format!("{{type={}, schema={}}}", end.kind, end.schema);
    let edge = |(id, line): (usize, &Line)| {
        let (from, to) = (&ends[line.from], &ends[line.to]);
        format!(
            "{} ---> {}\n    properties(from)={}\n    properties(to)={}\n    edge={{id={id}, partition={}}}\n",
            text(from),
            text(to),
            properties(from),
            properties(to),
            line.partition
        )
    };
    lines.iter().enumerate().map(edge).collect()
}

/// The graph in the language of Graphviz: `g.toGraphviz()`.
pub fn graphviz(graph: &LogicalGraph, plan: Option<&Plan>) -> String {
    let (ends, lines) = picture(graph, plan);
    let quoted = |end: &End| format!("\"{}: {}\"", end.id, end.name);
    let mut text = "digraph G {\n".to_string();
    for end in &ends {
        let shape = if end.kind == "TABLE" { "box" } else { "ellipse" };
        let (node, subgraph, task) = (quoted(end), end.subgraph, end.task);
        let _ = match plan {
            None => writeln!(text, "  {node} [shape={shape}];"),
            Some(_) => writeln!(
                text,
                "  subgraph cluster_graph_{subgraph} {{ subgraph cluster_task_{task} {{ label=\"task_{task}\" {node} \
                 [shape={shape}]; }} }}"
            ),
        };
    }
    for line in &lines {
        let label = if plan.is_some() { format!(" [label=\"{}\"]", line.partition) } else { String::new() };
        let _ = writeln!(text, "  {} -> {}{label};", quoted(&ends[line.from]), quoted(&ends[line.to]));
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Surroundings;
    use crate::placement::{NodeInfo, NodeRole, place, task_needs};
    use crate::sample;
    use std::collections::BTreeMap;

    #[test]
    fn an_explanation_shows_every_step_down_to_the_actions() {
        let logical = sample::parallel_klines();
        let plan = crate::plan(&logical, &Surroundings::default());
        let node = |name: &str| NodeInfo {
            name: name.into(),
            role: NodeRole::Data,
            compute_group: None,
            cpu_idle: 90,
            memory_idle: 90,
            disk_idle: 90,
            network_idle: 90,
            preferred: 0,
        };
        let placement = place(&task_needs(&plan, &BTreeMap::new()), &[node("a"), node("b")], None).unwrap();
        let actions = crate::action_lists(&plan, &placement);
        let (plan, placement, actions) = (Some(&plan), Some(&placement), Some(&actions[..]));
        let text = explain(Explained { logical: &logical, plan, placement, actions });
        for wanted in [
            "graph demo.orca_graph.sample\n",
            "\nlogical graph\n-------------\nid  node",
            "1   Trade_parallelize            parallelize(symbol, 4)  0       symbol SYMBOL",
            "Trade_timeSeriesEngine       no           no             no             by symbol\n",
            "demo.orca_table.Trade        log   source, created   symbol SYMBOL",
            "1         1     0 of 4  2     [0] -> Trade_timeSeriesEngine (timeSeriesEngine), ",
            "SHUFFLE(symbol, 3 of 4)  3\n",
            "chosen\n",
            "create table demo.orca_table.output_5min\n",
        ] {
            assert!(text.contains(wanted), "{wanted}\n---\n{text}");
        }
        let json = explain_json(Explained { logical: &logical, plan, placement, actions });
        assert_eq!(json["plan"]["tasks"].as_array().unwrap().len(), 11);
        let back: LogicalGraph = serde_json::from_value(json["logical"].clone()).unwrap();
        assert_eq!(back.name, logical.name);
    }

    #[test]
    fn a_graph_is_drawn_as_written_before_its_submit_and_as_it_runs_after_it() {
        let logical = sample::one_minute_indicators();
        let before = graph_text(&logical, None);
        assert!(before.starts_with(
            "{name=demo.orca_table.Trade, id=0, subgraphId=-1, taskId=-1, type=TABLE, parallelism=1} ---> \
             {name=Trade_timeSeriesEngine, id=1, subgraphId=-1, taskId=-1, type=TIME_SERIES_ENGINE, parallelism=1}\n    \
             properties(from)={type=TABLE, schema=[SYMBOL,TIMESTAMP,DOUBLE]}\n"
        ), "{before}");
        let plan = crate::plan(&logical, &Surroundings::default());
        let after = graphviz(&logical, Some(&plan));
        assert!(after.contains("\"4: channel_4\" -> \"1: Trade_timeSeriesEngine\" [label=\"FORWARD\"];"), "{after}");
        assert!(
            after
                .contains("subgraph cluster_graph_1 { subgraph cluster_task_1 { label=\"task_1\" \"3: demo.orca_table")
        );
        assert!(graphviz(&logical, None).contains("\"0: demo.orca_table.Trade\" [shape=box];\n"));
    }
}
