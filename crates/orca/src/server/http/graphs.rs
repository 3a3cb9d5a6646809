//! Graphs: what there is, what was decided about one, and dropping it.

use super::Front;
use super::problem::{Problem, Problems};
use super::request::{self, Path, Query};
use crate::failure::Failure;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use env::Kind;
use graph::{FullName, NameKind};
use master::{GraphEntry, Request};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// A graph.
#[derive(Serialize, ToSchema)]
pub struct GraphInfo {
    /// Its full name.
    graph: String,
    /// `building`, `running`, `error`, `failed`, `stopping`, `stopped` or `destroying`.
    state: String,
    /// Why it is in this state, if that needs saying.
    reason: Option<String>,
    /// How many tasks it has.
    tasks: usize,
    /// The epoch that begins next, if it runs.
    epoch: Option<u64>,
    /// Rows that wait to be processed, if it runs.
    waiting_rows: Option<u64>,
    /// The tables it reads and writes; not in a list of graphs.
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<Vec<String>>,
    /// Its nodes; not in a list of graphs.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<NodeInfo>>,
}

/// A node of a graph. Counts are there when the graph runs.
#[derive(Serialize, ToSchema)]
pub struct NodeInfo {
    /// Its name.
    node: String,
    /// What it is.
    operator: String,
    /// Rows it took.
    rows_in: Option<u64>,
    /// Rows it gave.
    rows_out: Option<u64>,
    /// Rows it dropped because they came too late.
    late: Option<u64>,
    /// Rows it dropped for another reason.
    rejected: Option<u64>,
}

impl GraphInfo {
    fn of(entry: &GraphEntry, flow: Option<&stream::Flow>) -> GraphInfo {
        GraphInfo {
            graph: entry.logical.name.to_string(),
            state: entry.state.to_string(),
            reason: entry.reason.clone(),
            tasks: entry.plan.tasks.len(),
            epoch: flow.map(|flow| flow.epoch()),
            waiting_rows: flow.map(|flow| flow.waiting_rows()),
            tables: None,
            nodes: None,
        }
    }

    fn with_nodes(self, entry: &GraphEntry, flow: Option<&stream::Flow>) -> GraphInfo {
        let counts = flow.map(crate::tables::node_counts).unwrap_or_default();
        let node = |node: &graph::Node| {
            let counts = counts.iter().find(|(name, _)| **name == *node.name).map(|(_, counts)| counts.counts);
            NodeInfo {
                node: node.name.to_string(),
                operator: node.operator.word().to_string(),
                rows_in: counts.map(|counts| counts.rows_in),
                rows_out: counts.map(|counts| counts.rows_out),
                late: counts.map(|counts| counts.late),
                rejected: counts.map(|counts| counts.rejected),
            }
        };
        let tables = entry.plan.tables.iter().map(|table| table.name.to_string()).collect();
        let nodes = entry.logical.nodes.iter().map(node).collect();
        GraphInfo { tables: Some(tables), nodes: Some(nodes), ..self }
    }
}

/// The full name of a graph; a bare one belongs to the only catalog there is.
fn full_name(front: &Front, name: &str) -> Result<FullName, Failure> {
    let catalogs = front.server.orca().with_master(|master| master.catalogs());
    let only = match catalogs.as_slice() {
        [only] => Some(only.as_str()),
        _ => None,
    };
    FullName::resolve(name, NameKind::Graph, only).map_err(|error| Failure::new(error.to_string()))
}

/// A graph that is there.
fn find(front: &Front, name: &str) -> Result<GraphEntry, Failure> {
    let name = full_name(front, name)?;
    front.server.orca().with_master(|master| {
        master.graph(&name).cloned().ok_or_else(|| {
            let known: Vec<String> =
                master.graphs().filter(|graph| graph.is_there()).map(|graph| graph.logical.name.to_string()).collect();
            let near = lang::nearest(&name.to_string(), known.iter().map(String::as_str)).map(str::to_string);
            let mend = near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
            Failure::of(Kind::NotFound, format!("no such graph: graph=`{name}`{mend}"))
        })
    })
}

fn flow(front: &Front, name: &FullName) -> Option<Arc<stream::Flow>> {
    front
        .server
        .orca()
        .with_worker(|worker| worker.flows().find(|(graph, _)| *graph == name).map(|(_, flow)| flow.clone()))
}

/// Every graph that is there
#[utoipa::path(
    get, path = "/v1/graphs", tag = "graphs", operation_id = "list_graphs",
    responses((status = 200, description = "The graphs, by name.", body = Vec<GraphInfo>), Problems)
)]
pub(super) async fn list(State(front): State<Arc<Front>>) -> Json<Vec<GraphInfo>> {
    let there = front
        .server
        .orca()
        .with_master(|master| master.graphs().filter(|graph| graph.is_there()).cloned().collect::<Vec<_>>());
    let info = |entry: &GraphEntry| GraphInfo::of(entry, flow(&front, &entry.logical.name).as_deref());
    Json(there.iter().map(info).collect())
}

/// One graph, with its nodes and what they have counted
#[utoipa::path(
    get, path = "/v1/graphs/{name}", tag = "graphs", operation_id = "show_graph",
    params(("name" = String, Path, description = "Its name; a bare one belongs to the only catalog there is.")),
    responses((status = 200, description = "The graph.", body = GraphInfo), Problems)
)]
pub(super) async fn show(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
) -> Result<Json<GraphInfo>, Problem> {
    let entry = find(&front, &name)?;
    let flow = flow(&front, &entry.logical.name);
    Ok(Json(GraphInfo::of(&entry, flow.as_deref()).with_nodes(&entry, flow.as_deref())))
}

/// How a graph is explained.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Explaining {
    /// As text or as JSON.
    #[serde(default)]
    #[param(inline)]
    format: ExplainForm,
}

/// As text or as JSON.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExplainForm {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// All that was decided about a graph: its plan, placement and facts
#[utoipa::path(
    get, path = "/v1/graphs/{name}/explain", tag = "graphs", operation_id = "explain_graph",
    params(("name" = String, Path, description = "Its name."), Explaining),
    responses(
        (status = 200, description = "The explanation.",
            content((String = "text/plain"), (inline(serde_json::Map<String, serde_json::Value>) = "application/json"))),
        Problems
    )
)]
pub(super) async fn explain(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
    Query(explaining): Query<Explaining>,
) -> Result<Response, Problem> {
    let entry = find(&front, &name)?;
    let actions = graph::action_lists(&entry.plan, &entry.placement);
    let explained = graph::Explained {
        logical: &entry.logical,
        plan: Some(&entry.plan),
        placement: Some(&entry.placement),
        actions: Some(&actions),
    };
    Ok(match explaining.format {
        ExplainForm::Json => Json(graph::explain_json(explained)).into_response(),
        ExplainForm::Text => {
            ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], graph::explain(explained)).into_response()
        }
    })
}

/// How a graph is dropped.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Dropping {
    /// With the tables that no other graph uses?
    #[serde(default)]
    #[param(default = false)]
    include_tables: bool,
}

/// Drop a graph; what was appended before goes through
#[utoipa::path(
    delete, path = "/v1/graphs/{name}", tag = "graphs", operation_id = "drop_graph",
    params(("name" = String, Path, description = "Its name."), Dropping),
    responses((status = 204, description = "It is gone."), Problems)
)]
pub(super) async fn drop(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
    Query(dropping): Query<Dropping>,
) -> Result<StatusCode, Problem> {
    let graph = find(&front, &name)?.logical.name;
    let server = front.server.clone();
    let request = Request::DropGraph { graph, include_tables: dropping.include_tables };
    request::blocking(move || server.orca().request(request)).await?;
    Ok(StatusCode::NO_CONTENT)
}
