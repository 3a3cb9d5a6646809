//! The calls by which scripts build graphs, and the world they ask.
//!
//! A fault in a graph does not stop its script: it is kept, what the call would have given is silently unusable, and
//! `submit` tells all faults at once. [`GraphCalls::run`] tells those of graphs that were never submitted.

use crate::calls::{self, Desk};
use crate::check::{Fault, check};
use crate::logical::{LogicalGraph, Node, NodeId, Operator};
use crate::name::{FullName, NameKind};
use crate::physical::Plan;
use crate::settings::{CheckpointSettings, EdgeSettings};
use crate::table::{TableInfo, TableKind, TableOptions};
use data::{Batch, Schema};
use lang::{Args, Diagnostic, Host, Object, Session, Source, Span, Value};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The world that graph calls work in.
pub trait Platform {
    /// Does the catalog exist? Names of catalogs know no case.
    fn catalog_exists(&mut self, catalog: &str) -> bool;
    /// Creates a catalog that does not exist.
    fn create_catalog(&mut self, catalog: &str) -> Result<(), Diagnostic>;
    /// Drops a catalog that exists, and the graphs in it.
    fn drop_catalog(&mut self, catalog: &str) -> Result<(), Diagnostic>;
    /// A public table; `None` if there is none of this name.
    fn table(&mut self, table: &FullName) -> Option<TableInfo>;
    /// Creates a public table that does not exist.
    fn create_table(&mut self, table: NewTable) -> Result<(), Diagnostic>;
    /// Drops a public table that exists and that no graph uses.
    fn drop_table(&mut self, table: &FullName) -> Result<(), Diagnostic>;
    /// Appends rows, which have the table's types, to a public table that exists.
    fn append(&mut self, table: &FullName, rows: Batch) -> Result<(), Diagnostic>;
    /// All rows of a public table that exists.
    fn rows(&mut self, table: &FullName) -> Result<Batch, Diagnostic>;
    /// A graph that was submitted and not purged; `None` if there is none of this name.
    fn graph(&mut self, graph: &FullName) -> Option<StoredGraph>;
    /// Is this a graph at rest, written in the same way? A submit then goes on with it.
    fn resumes(&mut self, graph: &LogicalGraph) -> bool {
        let _ = graph;
        false
    }
    /// The graph that has an engine of this name.
    fn engine_graph(&mut self, engine: &FullName) -> Option<FullName>;
    /// Takes a graph that has passed all checks: stores, places and starts it.
    fn submit(&mut self, submission: Submission) -> Result<(), Diagnostic>;
    /// Stops a graph that exists and forgets its state; its own tables too, if they are included.
    fn drop_graph(&mut self, graph: &FullName, include_tables: bool) -> Result<(), Diagnostic>;
    /// Takes what the script prints.
    fn print(&mut self, text: &str);
    /// Takes what the user may want to know of a graph that was submitted.
    fn warn(&mut self, warning: &Diagnostic);
    /// The time `now()` gives, in nanoseconds since 1970-01-01; `None` where there is no clock.
    fn now(&mut self) -> Option<i64>;

    /// A script begins: its time counts from here.
    fn begin(&mut self) {}

    /// The text of a module that a script uses; `None` if there is none.
    fn module(&mut self, path: &str) -> Option<Arc<Source>> {
        let _ = path;
        None
    }

    /// The limit in milliseconds, once the script at work has taken longer.
    fn late(&mut self) -> Option<u64> {
        None
    }

    /// Lets time pass, a little at a time.
    fn sleep(&mut self, time: Duration) -> Result<(), Diagnostic> {
        let _ = time;
        Err(Diagnostic::new("there is no clock here: function=`sleep`"))
    }

    /// A number by chance; `None` where nothing may depend on chance.
    fn chance(&mut self) -> Option<u64> {
        None
    }
}

/// A public table to be created without a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTable {
    /// The full name.
    pub name: FullName,
    /// The columns.
    pub schema: Arc<Schema>,
    /// Which rows it takes.
    pub kind: TableKind,
    /// How it is kept.
    pub options: TableOptions,
}

/// A graph that has passed all checks, and its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The graph as written.
    pub logical: LogicalGraph,
    /// How it runs.
    pub plan: Plan,
    /// When its state is kept.
    pub checkpoints: CheckpointSettings,
}

/// A graph that was submitted before.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredGraph {
    /// The graph as written.
    pub logical: LogicalGraph,
    /// How it runs.
    pub plan: Plan,
}

/// The host of scripts that build graphs.
#[derive(Debug)]
pub struct GraphCalls<P> {
    /// The world they work in.
    pub platform: P,
    catalog: Option<String>,
    source: Option<Arc<Source>>,
    graphs: Vec<StreamGraph>,
    refused: Vec<Diagnostic>,
}

impl<P: Platform> GraphCalls<P> {
    /// A host without a current catalog.
    pub fn new(platform: P) -> GraphCalls<P> {
        GraphCalls { platform, catalog: None, source: None, graphs: vec![], refused: vec![] }
    }

    /// The current catalog.
    pub fn catalog(&self) -> Option<&str> {
        self.catalog.as_deref()
    }

    /// Runs a script. Its errors are all that a refused `submit` had to say, and the faults of graphs that were never
    /// submitted.
    pub fn run(&mut self, session: &mut Session, source: &Arc<Source>) -> Result<Value, Vec<Diagnostic>> {
        self.source = Some(source.clone());
        self.platform.begin();
        let result = session.run(source, self);
        let refused = std::mem::take(&mut self.refused);
        let mut errors = result.as_ref().err().cloned().unwrap_or_default();
        // A refusal that the script has caught itself is no error of the run.
        let told = refused.first().is_some_and(|first| errors.iter().any(|error| error.message == first.message));
        if told {
            errors.extend(refused.into_iter().skip(1));
        }
        for graph in std::mem::take(&mut self.graphs) {
            errors.extend(graph.lock().faults.drain(..).map(Diagnostic::from));
        }
        match result {
            Ok(value) if errors.is_empty() => Ok(value),
            _ => Err(errors.into_iter().map(|error| error.in_source(source)).collect()),
        }
    }

    fn desk(&mut self) -> Desk<'_> {
        Desk {
            platform: &mut self.platform,
            catalog: &mut self.catalog,
            source: self.source.as_ref(),
            graphs: &mut self.graphs,
            refused: &mut self.refused,
        }
    }
}

impl<P: Platform> Host for GraphCalls<P> {
    fn call(&mut self, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        calls::call(&mut self.desk(), name, args)
    }

    fn method(&mut self, object: &Arc<dyn Object>, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        calls::method(&mut self.desk(), object, name, args)
    }

    fn names(&self) -> Vec<&'static str> {
        calls::names()
    }

    fn use_catalog(&mut self, name: &str) -> Result<(), Diagnostic> {
        if !self.platform.catalog_exists(name) {
            return Err(Diagnostic::new(format!("no such catalog: catalog=`{name}`"))
                .help(format!("create it first: `createCatalog(\"{name}\")`")));
        }
        self.catalog = Some(name.to_string());
        Ok(())
    }

    fn table(&mut self, name: &str) -> Option<Result<Batch, Diagnostic>> {
        let name = FullName::resolve(name, NameKind::Table, self.catalog.as_deref()).ok()?;
        self.platform.table(&name)?;
        Some(self.platform.rows(&name))
    }

    fn print(&mut self, text: &str) {
        self.platform.print(text);
    }

    fn now(&mut self) -> Option<i64> {
        self.platform.now()
    }

    fn module(&mut self, path: &str) -> Option<Arc<Source>> {
        self.platform.module(path)
    }

    fn late(&mut self) -> Option<u64> {
        self.platform.late()
    }

    fn sleep(&mut self, time: Duration) -> Result<(), Diagnostic> {
        self.platform.sleep(time)
    }

    fn chance(&mut self) -> Option<u64> {
        self.platform.chance()
    }
}

/// A graph as scripts hold it; shared, as all its streams refer to it.
#[derive(Debug, Clone)]
pub struct StreamGraph(Arc<Mutex<Building>>);

/// A graph on its way to a submit.
#[derive(Debug)]
pub(crate) struct Building {
    pub(crate) logical: LogicalGraph,
    /// What was found wrong so far.
    pub(crate) faults: Vec<Fault>,
    /// Nodes whose consumer was refused.
    pub(crate) tapped: BTreeSet<NodeId>,
    /// Set once it is submitted.
    pub(crate) plan: Option<Plan>,
}

impl StreamGraph {
    pub(crate) fn new(name: FullName) -> StreamGraph {
        StreamGraph::of(LogicalGraph::new(name), None)
    }

    pub(crate) fn of(logical: LogicalGraph, plan: Option<Plan>) -> StreamGraph {
        StreamGraph(Arc::new(Mutex::new(Building { logical, faults: vec![], tapped: BTreeSet::new(), plan })))
    }

    pub(crate) fn lock(&self) -> parking_lot::MutexGuard<'_, Building> {
        self.0.lock()
    }

    /// The same graph, not just an equal one?
    pub(crate) fn is(&self, other: &StreamGraph) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A stream of this graph; `None` for one that is unusable.
    pub(crate) fn stream(&self, node: Option<NodeId>) -> Value {
        Value::Object(Arc::new(DStream { graph: self.clone(), node }))
    }

    /// The graph as it stands, its nodes named.
    pub fn logical(&self) -> LogicalGraph {
        let mut building = self.lock();
        building.logical.name_nodes();
        building.logical.clone()
    }

    /// Checks the whole graph against the world around it; the faults come in the order of the script.
    pub(crate) fn check(&self, platform: &mut dyn Platform) -> (Vec<Fault>, crate::Surroundings) {
        let mut building = self.lock();
        building.logical.name_nodes();
        let around = surroundings(&building.logical, platform);
        let mut faults = building.faults.clone();
        // A graph whose source was refused is empty for that reason.
        let told = |fault: &Fault| matches!(fault.error, crate::CheckError::EmptyGraph { .. }) && !faults.is_empty();
        let found = check(&building.logical, &building.tapped, &around);
        let found: Vec<Fault> = found.into_iter().filter(|fault| !told(fault)).collect();
        faults.extend(found);
        faults.sort_by_key(|fault| fault.span.start);
        (faults, around)
    }
}

/// What exists around a graph.
fn surroundings(graph: &LogicalGraph, platform: &mut dyn Platform) -> crate::Surroundings {
    let tables: BTreeSet<&FullName> =
        graph.nodes.iter().filter_map(|node| Some(&node.operator.table()?.table)).collect();
    let engines = crate::engine_names(graph).into_iter();
    crate::Surroundings {
        graph_exists: platform.graph(&graph.name).is_some() && !platform.resumes(graph),
        tables: tables.into_iter().filter_map(|table| platform.table(table)).collect(),
        engines: engines.filter_map(|engine| Some((engine.clone(), platform.engine_graph(&engine)?))).collect(),
    }
}

impl Building {
    /// May nodes still be added?
    pub(crate) fn open(&self) -> Result<(), crate::CheckError> {
        match self.plan {
            None => Ok(()),
            Some(_) => Err(crate::CheckError::Submitted { graph: self.logical.name.clone() }),
        }
    }

    pub(crate) fn fault(&mut self, error: crate::CheckError, span: Span) {
        self.faults.push(Fault { error, span });
    }

    pub(crate) fn add(&mut self, operator: Operator, inputs: Vec<NodeId>, schema: Arc<Schema>, span: Span) -> NodeId {
        let id = NodeId(self.logical.nodes.len() as u32);
        let (name, settings) = (String::new(), EdgeSettings::default());
        self.logical.nodes.push(Node { name, named: false, operator, inputs, schema, settings, span });
        id
    }
}

/// A stream as scripts hold it: the rows that a node gives.
#[derive(Debug, Clone)]
pub struct DStream {
    pub(crate) graph: StreamGraph,
    /// `None` after a fault: what comes of it is unusable too, and no further fault is told.
    pub(crate) node: Option<NodeId>,
}

impl Object for StreamGraph {
    fn class(&self) -> &'static str {
        "StreamGraph"
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

impl Object for DStream {
    fn class(&self) -> &'static str {
        "DStream"
    }

    fn any(&self) -> &dyn Any {
        self
    }
}
