//! The master: catalog, lives of graphs, deployment. It never sees a row.
//!
//! It is a plain value: [`Master::handle`] takes an event and gives effects, to be carried out in their order by whoever
//! drives it.
//!
//! Invariants:
//! - A change is stored before anything acts on it: in every list of effects what is stored stands first.
//! - A graph is brought up stage by stage; a stage begins when every node has done the one before. If one fails, the
//!   graph is taken down again, and stage, node and reason are kept.

mod catalog;
mod error;
mod life;

pub use catalog::{GraphEntry, Record, TableEntry};
pub use error::{Error, Kind};
pub use life::{GraphEvent, GraphState, next};

use catalog::Catalog;
use graph::{
    FullName, LogicalGraph, NodeInfo, Placement, Stage, StageActions, Submission, TableInfo, action_lists, place,
    task_needs, teardown_lists,
};
use std::collections::{BTreeMap, BTreeSet};
use wire::{Attempt, NodeName, TableRecord, ToMaster, ToWorker};

/// Ties a reply to its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What a client asks.
#[derive(Debug, Clone)]
pub enum Request {
    /// Makes a catalog.
    CreateCatalog(String),
    /// Drops a catalog with its graphs; tables must be gone or unused.
    DropCatalog(String),
    /// Makes a public table that belongs to no graph.
    CreateTable(TableRecord),
    /// Drops a public table that no graph uses.
    DropTable(FullName),
    /// Starts a graph: a new one, or one at rest that is the same.
    Submit(Box<Submission>),
    /// Ends a graph for good, perhaps with the tables that no other graph uses.
    DropGraph {
        /// Which.
        graph: FullName,
        /// With its tables?
        include_tables: bool,
    },
    /// Puts a graph at rest, with its journal and tables.
    StopGraph(FullName),
}

/// What happens to a master.
#[derive(Debug)]
pub enum Event {
    /// A client asks something.
    Request(RequestId, Request),
    /// A worker reports.
    Worker(NodeName, ToMaster),
}

/// What a master wants done.
#[derive(Debug)]
pub enum Effect {
    /// Keep these records, or drop them where the value is `None`, all or none.
    Store(Vec<Record>),
    /// Send a message to a worker.
    Send(NodeName, ToWorker),
    /// Answer a request.
    Reply(RequestId, Result<(), Error>),
}

/// The control plane.
pub struct Master {
    catalog: Catalog,
    nodes: Vec<NodeInfo>,
    moves: BTreeMap<FullName, Move>,
    tables_under_way: BTreeMap<FullName, RequestId>,
}

/// A graph on its way up or down.
struct Move {
    request: Option<RequestId>,
    teardown: bool,
    /// What is still to be done after the stage under way, in order.
    stages: Vec<(Stage, Vec<StageActions>)>,
    waits_for: BTreeSet<NodeName>,
    /// Why it is taken down, if it is for a failure.
    failure: Option<String>,
}

impl Master {
    /// A master of these nodes with what was stored before. What was running then is at rest now.
    pub fn new(nodes: Vec<NodeInfo>, records: Vec<Record>) -> Result<(Master, Vec<Effect>), Error> {
        let mut catalog = Catalog::restore(records)?;
        let mut changed = vec![];
        for entry in catalog.graphs_mut() {
            use GraphState as S;
            let state = match entry.state {
                S::Building | S::Running | S::Error | S::Stopping => S::Stopped,
                S::Destroying => S::Destroyed,
                other => other,
            };
            if state != entry.state {
                entry.state = state;
                entry.reason = Some("the process ended".into());
                changed.push(Record::graph(entry));
            }
        }
        let effects = if changed.is_empty() { vec![] } else { vec![Effect::Store(changed)] };
        let master = Master { catalog, nodes, moves: BTreeMap::new(), tables_under_way: BTreeMap::new() };
        Ok((master, effects))
    }

    /// Takes an event and gives its effects.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Request(id, request) => match self.request(id, request) {
                Ok(effects) => effects,
                Err(error) => vec![Effect::Reply(id, Err(error))],
            },
            Event::Worker(node, message) => self.worker(node, message),
        }
    }

    /// The catalog's own name of a catalog; names know no case.
    pub fn catalog(&self, name: &str) -> Option<&str> {
        self.catalog.name(name)
    }

    /// All catalogs, by name.
    pub fn catalogs(&self) -> Vec<String> {
        self.catalog.names()
    }

    /// A public table.
    pub fn table(&self, name: &FullName) -> Option<&TableEntry> {
        self.catalog.table(name)
    }

    /// All public tables, by name.
    pub fn tables(&self) -> impl Iterator<Item = &TableEntry> {
        self.catalog.tables()
    }

    /// A graph that is not destroyed.
    pub fn graph(&self, name: &FullName) -> Option<&GraphEntry> {
        self.catalog.graph(name).filter(|entry| entry.state != GraphState::Destroyed)
    }

    /// All graphs, destroyed ones too, by name.
    pub fn graphs(&self) -> impl Iterator<Item = &GraphEntry> {
        self.catalog.graphs()
    }

    /// A public table as checks and planner see it.
    pub fn table_info(&self, name: &FullName) -> Option<TableInfo> {
        let entry = self.catalog.table(name)?;
        let there = self.catalog.graphs().filter(|graph| graph.is_there() && graph.uses(name));
        let users = there.map(|graph| graph.logical.name.clone());
        Some(TableInfo {
            name: entry.record.name.clone(),
            schema: entry.record.schema().expect("a stored table has a schema").into(),
            kind: entry.record.kind.clone(),
            options: entry.record.options.clone(),
            used_by: users.collect(),
        })
    }

    /// Is this a graph at rest, written in the same way? Then a submit goes on with its journal.
    pub fn resumes(&self, graph: &LogicalGraph) -> bool {
        let there = self.graph(&graph.name);
        there.is_some_and(|entry| entry.state == GraphState::Stopped && entry.is_same(graph))
    }

    /// The graph that has an engine of this name.
    pub fn engine_graph(&self, engine: &FullName) -> Option<FullName> {
        let mut there = self.catalog.graphs().filter(|entry| entry.is_there());
        let owner = there.find(|entry| graph::engine_names(&entry.logical).contains(engine));
        owner.map(|entry| entry.logical.name.clone())
    }

    fn request(&mut self, id: RequestId, request: Request) -> Result<Vec<Effect>, Error> {
        match request {
            Request::CreateCatalog(name) => {
                if self.catalog.name(&name).is_some() {
                    return Err(Error::CatalogExists { catalog: name });
                }
                let record = self.catalog.add_catalog(&name);
                Ok(vec![Effect::Store(vec![record]), Effect::Reply(id, Ok(()))])
            }
            Request::DropCatalog(name) => {
                let Some(name) = self.catalog.name(&name).map(String::from) else {
                    return Err(Error::NoCatalog { catalog: name });
                };
                let live = self
                    .catalog
                    .graphs()
                    .find(|entry| entry.is_there() && entry.logical.name.catalog().eq_ignore_ascii_case(&name));
                if let Some(entry) = live {
                    return Err(Error::CatalogInUse { catalog: name, graph: entry.logical.name.clone() });
                }
                let (records, dropped) = self.catalog.drop_catalog(&name);
                let mut effects = vec![Effect::Store(records)];
                effects.extend(
                    dropped
                        .into_iter()
                        .map(|entry| Effect::Send(entry.node.clone(), ToWorker::DropTable(entry.record.name))),
                );
                effects.push(Effect::Reply(id, Ok(())));
                Ok(effects)
            }
            Request::CreateTable(record) => {
                self.need_catalog(&record.name)?;
                if self.catalog.table(&record.name).is_some() {
                    return Err(Error::TableExists { table: record.name });
                }
                let node = self.data_node()?;
                self.tables_under_way.insert(record.name.clone(), id);
                let stored = self.catalog.add_table(TableEntry { record: record.clone(), node: node.clone() });
                Ok(vec![Effect::Store(vec![stored]), Effect::Send(node, ToWorker::CreateTable(record))])
            }
            Request::DropTable(name) => {
                let Some(entry) = self.catalog.table(&name) else { return Err(Error::NoTable { table: name }) };
                let node = entry.node.clone();
                if let Some(user) = self.catalog.graphs().find(|graph| graph.is_there() && graph.uses(&name)) {
                    return Err(Error::TableInUse { table: name, graph: user.logical.name.clone() });
                }
                self.tables_under_way.insert(name.clone(), id);
                let record = self.catalog.drop_table(&name);
                Ok(vec![Effect::Store(vec![record]), Effect::Send(node, ToWorker::DropTable(name))])
            }
            Request::Submit(submission) => self.submit(id, *submission),
            Request::DropGraph { graph, include_tables } => self.drop_graph(id, &graph, include_tables),
            Request::StopGraph(graph) => {
                let entry = self.moved(&graph, GraphEvent::Stop)?;
                let record = Record::graph(entry);
                let lists = teardown_lists(&entry.plan, &entry.placement, &[]);
                let mut effects = vec![Effect::Store(vec![record])];
                effects.extend(self.start_move(Some(id), &graph, lists, true, None));
                Ok(effects)
            }
        }
    }

    fn submit(&mut self, id: RequestId, submission: Submission) -> Result<Vec<Effect>, Error> {
        let Submission { logical, plan, .. } = submission;
        self.need_catalog(&logical.name)?;
        plan.tables.iter().try_for_each(|table| self.need_catalog(&table.name))?;
        let name = logical.name.clone();
        if self.resumes(&logical) {
            let entry = self.moved(&name, GraphEvent::Start)?;
            entry.attempt += 1;
            entry.reason = None;
            let record = Record::graph(entry);
            let lists = action_lists(&entry.plan, &entry.placement);
            let mut effects = vec![Effect::Store(vec![record])];
            effects.extend(self.start_move(Some(id), &name, lists, false, None));
            return Ok(effects);
        }
        if self.graph(&name).is_some() {
            return Err(Error::GraphExists { graph: name });
        }
        let homes = self.catalog.tables().map(|table| (table.record.name.clone(), table.node.clone())).collect();
        let placed = place(&task_needs(&plan, &homes), &self.nodes, None);
        let placement =
            placed.map_err(|refusal| Error::NoRoom { graph: name.clone(), refusal: refusal.to_string() })?;
        let mut records = vec![];
        for table in plan.tables.iter().filter(|table| self.catalog.table(&table.name).is_none()) {
            let record = TableRecord {
                name: table.name.clone(),
                columns: TableRecord::columns_of(&table.schema),
                kind: table.kind.clone(),
                options: table.options.clone(),
            };
            records.push((record, home(&plan, &placement, &table.name)));
        }
        let mut stored: Vec<Record> = vec![];
        for (record, node) in records {
            stored.push(self.catalog.add_table(TableEntry { record, node }));
        }
        let (journal, counter) = self.catalog.next_journal();
        let lists = action_lists(&plan, &placement);
        let entry =
            GraphEntry { logical, plan, placement, state: GraphState::Building, reason: None, journal, attempt: 1 };
        stored.push(counter);
        stored.push(self.catalog.put_graph(entry));
        let mut effects = vec![Effect::Store(stored)];
        effects.extend(self.start_move(Some(id), &name, lists, false, None));
        Ok(effects)
    }

    fn drop_graph(&mut self, id: RequestId, graph: &FullName, include_tables: bool) -> Result<Vec<Effect>, Error> {
        let entry = self.moved(graph, GraphEvent::Destroy)?;
        let (plan, placement) = (entry.plan.clone(), entry.placement.clone());
        let mut records = vec![Record::graph(entry)];
        let unused = |table: &FullName| {
            let mut others = self.catalog.graphs().filter(|other| other.is_there() && other.logical.name != *graph);
            !others.any(|other| other.uses(table))
        };
        let tables = plan.tables.iter().map(|table| table.name.clone());
        let dropped: Vec<FullName> = tables.filter(|table| include_tables && unused(table)).collect();
        records.extend(dropped.iter().map(|table| self.catalog.drop_table(table)));
        let lists = teardown_lists(&plan, &placement, &dropped);
        let mut effects = vec![Effect::Store(records)];
        effects.extend(self.start_move(Some(id), graph, lists, true, None));
        Ok(effects)
    }

    /// The entry of a graph in the state after an event; the caller stores it.
    fn moved(&mut self, graph: &FullName, event: GraphEvent) -> Result<&mut GraphEntry, Error> {
        let entry = self.catalog.graph_mut(graph).filter(|entry| entry.state != GraphState::Destroyed);
        let entry = entry.ok_or_else(|| Error::NoGraph { graph: graph.clone() })?;
        let state = next(entry.state, event);
        entry.state = state.ok_or_else(|| Error::State { graph: graph.clone(), state: entry.state, event })?;
        Ok(entry)
    }

    /// Sends a graph on its way up or down, stage by stage.
    fn start_move(
        &mut self,
        request: Option<RequestId>,
        graph: &FullName,
        lists: Vec<StageActions>,
        teardown: bool,
        failure: Option<String>,
    ) -> Vec<Effect> {
        let order = match teardown {
            false => [Stage::Build, Stage::Connect, Stage::Open],
            true => [Stage::Open, Stage::Connect, Stage::Build],
        };
        let of_stage = |stage: Stage| (stage, lists.iter().filter(|list| list.stage == stage).cloned().collect());
        // Taken from the end, so the first stage stands last.
        let stages = order.into_iter().rev().map(of_stage).collect();
        self.moves.insert(graph.clone(), Move { request, teardown, stages, waits_for: BTreeSet::new(), failure });
        self.next_stage(graph)
    }

    /// Begins the next stage of a move, or ends it.
    fn next_stage(&mut self, graph: &FullName) -> Vec<Effect> {
        let entry = self.catalog.graph(graph).expect("a graph that moves is in the catalog");
        let attempt = Attempt { graph: entry.logical.name.clone(), journal: entry.journal, attempt: entry.attempt };
        let nodes: BTreeSet<NodeName> = entry.placement.nodes.iter().cloned().collect();
        let plan = Box::new(entry.plan.clone());
        let step = self.moves.get_mut(graph).expect("the move under way");
        let Some((stage, lists)) = step.stages.pop() else { return self.end_move(graph) };
        step.waits_for = nodes.clone();
        let teardown = step.teardown;
        let send = |node: NodeName| {
            let of_node = lists.iter().filter(|list| list.node == node);
            let actions = of_node.flat_map(|list| list.actions.clone()).collect();
            let message = ToWorker::Stage { attempt: attempt.clone(), stage, teardown, actions, plan: plan.clone() };
            Effect::Send(node, message)
        };
        nodes.into_iter().map(send).collect()
    }

    fn end_move(&mut self, graph: &FullName) -> Vec<Effect> {
        let step = self.moves.remove(graph).expect("the move under way");
        let entry = self.catalog.graph_mut(graph).expect("a graph that moves is in the catalog");
        let event = if step.teardown { GraphEvent::TornDown } else { GraphEvent::Deployed };
        if let Some(state) = next(entry.state, event) {
            entry.state = state;
        }
        let mut effects = vec![Effect::Store(vec![Record::graph(entry)])];
        if let Some(id) = step.request {
            let result = match step.failure {
                Some(reason) => Err(Error::NotDeployed { graph: graph.clone(), reason }),
                None => Ok(()),
            };
            effects.push(Effect::Reply(id, result));
        }
        effects
    }

    fn worker(&mut self, node: NodeName, message: ToMaster) -> Vec<Effect> {
        match message {
            ToMaster::Table { name, error } => {
                let Some(id) = self.tables_under_way.remove(&name) else { return vec![] };
                match error {
                    None => vec![Effect::Reply(id, Ok(()))],
                    Some(reason) => {
                        let record = self.catalog.drop_table(&name);
                        let reply = Effect::Reply(id, Err(Error::Worker { place: name.to_string(), node, reason }));
                        vec![Effect::Store(vec![record]), reply]
                    }
                }
            }
            ToMaster::StageDone { attempt, stage: _, teardown } => {
                let Some(step) = self.current(&attempt) else { return vec![] };
                if step.teardown != teardown || !step.waits_for.remove(&node) || !step.waits_for.is_empty() {
                    return vec![];
                }
                self.next_stage(&attempt.graph)
            }
            ToMaster::StageFailed { attempt, stage, place, reason } => {
                let Some(step) = self.current(&attempt) else { return vec![] };
                let request = step.request.take();
                let reason = format!("stage=`{}`, node=`{node}`, place=`{place}`, reason=`{reason}`", stage.number());
                self.fail(&attempt.graph, request, reason)
            }
            ToMaster::GraphFailed { attempt, reason } => {
                let entry = self.catalog.graph(&attempt.graph);
                if entry.is_none_or(|entry| entry.attempt != attempt.attempt || entry.journal != attempt.journal) {
                    return vec![];
                }
                self.fail(&attempt.graph, None, reason)
            }
        }
    }

    /// The move that an answer belongs to; `None` for an answer of another attempt.
    fn current(&mut self, attempt: &Attempt) -> Option<&mut Move> {
        let entry = self.catalog.graph(&attempt.graph)?;
        let same = entry.attempt == attempt.attempt && entry.journal == attempt.journal;
        same.then_some(())?;
        self.moves.get_mut(&attempt.graph)
    }

    /// A graph cannot go on: its state and the reason are stored, then it is taken down.
    fn fail(&mut self, graph: &FullName, request: Option<RequestId>, reason: String) -> Vec<Effect> {
        let entry = self.catalog.graph_mut(graph).expect("a graph that fails is in the catalog");
        if let Some(state) = next(entry.state, GraphEvent::TaskFailed) {
            entry.state = state;
        }
        entry.reason = Some(reason.clone());
        let lists = teardown_lists(&entry.plan, &entry.placement, &[]);
        let mut effects = vec![Effect::Store(vec![Record::graph(entry)])];
        effects.extend(self.start_move(request, graph, lists, true, Some(reason)));
        effects
    }

    fn need_catalog(&self, name: &FullName) -> Result<(), Error> {
        match self.catalog.name(name.catalog()) {
            Some(_) => Ok(()),
            None => Err(Error::NoCatalog { catalog: name.catalog().to_string() }),
        }
    }

    fn data_node(&self) -> Result<NodeName, Error> {
        let data = self.nodes.iter().filter(|node| node.role == graph::NodeRole::Data).map(|node| node.name.clone());
        data.min().ok_or(Error::NoDataNode)
    }
}

/// The node of a table that a plan creates: that of the first task that holds it.
fn home(plan: &graph::Plan, placement: &Placement, table: &FullName) -> NodeName {
    let task = plan.nodes().find(|(_, node)| node.operator.table() == Some(table)).map(|(task, _)| task.id);
    placement.node(task.expect("a plan's table stands in one of its tasks")).to_string()
}
