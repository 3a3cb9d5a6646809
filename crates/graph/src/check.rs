//! The checks of a submit. All that is wrong is found at once, each with its place and what would mend it.
//!
//! Many faults are found when the script makes the call at fault. They wait in the graph and are reported here together
//! with what only the whole graph shows.

use crate::logical::{LogicalGraph, Node, NodeId, Operator};
use crate::name::{FullName, NameError, NameKind};
use crate::table::{TableInfo, schema_difference};
use lang::{Diagnostic, Span, nearest};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The most branches of one `fork`.
pub const FORK_MAX: i64 = 1024;

/// The most parts of one `parallelize`: keyed state is kept in as many groups.
pub const PARTS_MAX: i64 = data::KEY_GROUPS as i64;

/// The most parts of all sections of a graph together: each part of each section is a task.
pub const PARTS_TOTAL_MAX: u32 = 2048;

/// Why a graph was refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CheckError {
    /// Nothing to run.
    #[error("graph is empty: graph=`{graph}`")]
    EmptyGraph {
        /// The graph.
        graph: FullName,
    },
    /// A graph of this name runs or ran.
    #[error("graph already exists: graph=`{graph}`")]
    DuplicateGraph {
        /// The graph.
        graph: FullName,
    },
    /// A call that would change a graph that was submitted.
    #[error("graph is submitted already: graph=`{graph}`")]
    Submitted {
        /// The graph.
        graph: FullName,
    },
    /// Rows would come back to where they were.
    #[error("graph has a cycle: tables=`{}`", tables.join(" -> "))]
    Cycle {
        /// The tables it goes through.
        tables: Vec<String>,
    },
    /// A table that takes rows from outside and from the graph itself.
    #[error("table is a source of the graph and is written by it: table=`{table}`")]
    SourceIsWritten {
        /// The table.
        table: FullName,
    },
    /// What an engine or a map gives goes nowhere.
    #[error("{operator} has no output: node=`{node}`")]
    NoOutput {
        /// The node.
        node: String,
        /// Its operator.
        operator: String,
    },
    /// Two engines of one name.
    #[error("engine already exists: engine=`{engine}`{}", graph.as_ref().map_or(String::new(), |graph| format!(", graph=`{graph}`")))]
    DuplicateEngine {
        /// The name.
        engine: String,
        /// The other graph that has it; `None` if it is this one.
        graph: Option<FullName>,
    },
    /// `setEngineName` after something else than an engine.
    #[error("setEngineName follows no engine: engine=`{engine}`, operator=`{operator}`")]
    NameWithoutEngine {
        /// The name.
        engine: String,
        /// What it follows.
        operator: String,
    },
    /// A table that exists, or stands elsewhere in the graph, with other columns.
    #[error("table already exists with another schema: table=`{table}`, difference=`{difference}`")]
    OtherSchema {
        /// The table.
        table: FullName,
        /// The first difference, in words.
        difference: String,
    },
    /// A table that exists, or stands elsewhere in the graph, as another kind of table.
    #[error("table already exists as another kind: table=`{table}`, there=`{there}`, here=`{here}`")]
    OtherKind {
        /// The table.
        table: FullName,
        /// Its kind.
        there: String,
        /// The kind asked for.
        here: String,
    },
    /// A table that ought to exist.
    #[error("no such table: table=`{table}`")]
    UnknownTable {
        /// The table.
        table: FullName,
    },
    /// Names and types that do not pair up.
    #[error("colNames and colTypes differ in length: table=`{table}`, colNames=`{names}`, colTypes=`{types}`")]
    ColumnCounts {
        /// The table.
        table: FullName,
        /// How many names.
        names: usize,
        /// How many types.
        types: usize,
    },
    /// Two columns of one name.
    #[error("duplicate column: table=`{table}`, column=`{column}`")]
    DuplicateColumn {
        /// The table.
        table: FullName,
        /// The column.
        column: String,
    },
    /// A column that is not there.
    #[error("unknown column: {place}, column=`{column}`, known=`{}`", known.join(", "))]
    UnknownColumn {
        /// Where it was asked for, as key=`value`.
        place: String,
        /// The column.
        column: String,
        /// The columns there are.
        known: Vec<String>,
    },
    /// A key or time column of a type that cannot be one.
    #[error("type mismatch: table=`{table}`, {role}=`{columns}`, type=`{types}`, wanted=`{wanted}`")]
    ColumnType {
        /// The table.
        table: FullName,
        /// `keyColumn` or `timeColumn`.
        role: &'static str,
        /// The columns.
        columns: String,
        /// Their types.
        types: String,
        /// What they ought to be.
        wanted: &'static str,
    },
    /// `fork` into too few or too many.
    #[error("fork count must be greater than 1 and at most {FORK_MAX}: count=`{count}`")]
    ForkCount {
        /// The count.
        count: i64,
    },
    /// `parallelize` into too few or too many.
    #[error("parallelize count must be at least 1 and at most {PARTS_MAX}: count=`{count}`")]
    PartCount {
        /// The count.
        count: i64,
    },
    /// More parts than a graph may have.
    #[error("graph has too many parallel parts: parts=`{parts}`, limit=`{PARTS_TOTAL_MAX}`")]
    TooManyParts {
        /// The parts of all sections.
        parts: u32,
    },
    /// A section that never ends.
    #[error("parallelize without sync: column=`{column}`, open at node=`{node}`")]
    ParallelizeWithoutSync {
        /// The column it splits by.
        column: String,
        /// Where its rows end up unsynced.
        node: String,
    },
    /// The end of a section that never began.
    #[error("sync without parallelize: node=`{node}`")]
    SyncWithoutParallelize {
        /// The node before it.
        node: String,
    },
    /// A join with a stream of another graph.
    #[error("rightStream belongs to another graph: graph=`{graph}`, other=`{other}`")]
    OtherGraph {
        /// The graph.
        graph: FullName,
        /// The graph of the right stream.
        other: FullName,
    },
    /// Two user functions of one name in one graph.
    #[error("two functions of one name are used in one graph: function=`{function}`")]
    TwoFunctions {
        /// The name.
        function: String,
    },
    /// A setting that does not exist.
    #[error("unknown setting: key=`{key}`")]
    UnknownSetting {
        /// The key.
        key: String,
        /// The keys there are.
        known: Vec<&'static str>,
    },
    /// A setting's value that is no number of its range.
    #[error("bad setting: key=`{key}`, range=`{low} to {high}`")]
    BadSetting {
        /// The key.
        key: &'static str,
        /// The least value.
        low: i64,
        /// The greatest.
        high: i64,
    },
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// An argument of a call, or whatever the engine said of it.
    #[error("{}", .0.message)]
    Argument(Diagnostic),
}

impl CheckError {
    /// What would mend it.
    pub fn mend(&self) -> Option<String> {
        use CheckError as E;
        Some(match self {
            E::EmptyGraph { .. } => "begin with a source: `g.source(...)`".into(),
            E::DuplicateGraph { .. } => "take another name, or drop it first: `dropStreamGraph(...)`".into(),
            E::Submitted { .. } => "make a new graph of another name: `createStreamGraph(...)`".into(),
            E::Cycle { .. } => "write to another table".into(),
            E::SourceIsWritten { .. } => "go on from the stream that writes the table instead".into(),
            E::NoOutput { .. } => "add a downstream consumer, such as `.sink(\"output\")`".into(),
            E::DuplicateEngine { .. } => "give each engine a name of its own".into(),
            E::NameWithoutEngine { .. } => "call it right after the engine".into(),
            E::OtherSchema { .. } | E::OtherKind { .. } => "take another name, or make the columns alike".into(),
            E::UnknownTable { .. } => "submit the graph that creates it, or use `createOrcaStreamTable(...)`".into(),
            E::ColumnCounts { .. } => "give one type for each name".into(),
            E::UnknownColumn { column, known, .. } => {
                let near = nearest(column, known.iter().map(String::as_str))?;
                format!("did you mean `{near}`?")
            }
            E::ParallelizeWithoutSync { .. } => "end the parallel part with `.sync()`".into(),
            E::SyncWithoutParallelize { .. } => {
                "begin the parallel part with `.parallelize(column, count)`; a nested one ends the one before it".into()
            }
            E::OtherGraph { .. } => "read its public table by `g.sourceByName(...)`".into(),
            E::TwoFunctions { .. } => "give them different names".into(),
            E::UnknownSetting { key, known } => match nearest(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known keys are {}", known.join(", ")),
            },
            E::Argument(diagnostic) => diagnostic.help.clone()?,
            E::DuplicateColumn { .. }
            | E::ColumnType { .. }
            | E::ForkCount { .. }
            | E::PartCount { .. }
            | E::TooManyParts { .. }
            | E::BadSetting { .. }
            | E::Name(_) => return None,
        })
    }
}

/// What is wrong, and the call at fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What is wrong.
    pub error: CheckError,
    /// The place of the call.
    pub span: Span,
}

impl From<Fault> for Diagnostic {
    fn from(fault: Fault) -> Diagnostic {
        let mend = fault.error.mend();
        let mut diagnostic = match fault.error {
            CheckError::Argument(diagnostic) => diagnostic,
            error => Diagnostic::new(error.to_string()),
        };
        diagnostic.help = mend;
        // A stored graph has no script, so its nodes have no place.
        if fault.span == Span::default() { diagnostic } else { diagnostic.or_at(fault.span) }
    }
}

/// What exists around a graph when it is submitted.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Does a graph of its name exist?
    pub graph_exists: bool,
    /// The tables it names that exist.
    pub tables: Vec<TableInfo>,
    /// The engines it names that another graph has, with that graph.
    pub engines: Vec<(FullName, FullName)>,
}

impl Surroundings {
    /// A table that exists.
    pub fn table(&self, name: &FullName) -> Option<&TableInfo> {
        self.tables.iter().find(|table| table.name == *name)
    }
}

/// Finds all that is wrong with a graph. `tapped` are nodes with a consumer that was refused already: what is missing
/// after them is not reported again.
pub fn check(graph: &LogicalGraph, tapped: &BTreeSet<NodeId>, around: &Surroundings) -> Vec<Fault> {
    let mut faults = vec![];
    let start = graph.nodes.first().map_or(Span::default(), |node| node.span);
    if around.graph_exists {
        faults.push(Fault { error: CheckError::DuplicateGraph { graph: graph.name.clone() }, span: start });
    }
    if graph.nodes.is_empty() && tapped.is_empty() {
        faults.push(Fault { error: CheckError::EmptyGraph { graph: graph.name.clone() }, span: start });
    }
    check_engine_names(graph, around, &mut faults);
    check_tables(graph, around, &mut faults);
    check_cycles(graph, &mut faults);
    check_outputs(graph, tapped, &mut faults);
    check_sections(graph, tapped, &mut faults);
    faults
}

fn check_engine_names(graph: &LogicalGraph, around: &Surroundings, faults: &mut Vec<Fault>) {
    let mut seen = BTreeSet::new();
    for node in &graph.nodes {
        if !matches!(node.operator, Operator::Engine(_)) || !node.named {
            continue;
        }
        let engine = node.name.clone();
        let other = around.engines.iter().find(|(name, _)| name.name().to_lowercase() == engine.to_lowercase());
        if !seen.insert(engine.to_lowercase()) {
            faults.push(Fault { error: CheckError::DuplicateEngine { engine, graph: None }, span: node.span });
        } else if let Some((_, graph)) = other {
            let graph = Some(graph.clone());
            faults.push(Fault { error: CheckError::DuplicateEngine { engine, graph }, span: node.span });
        }
    }
}

/// Each table must be as it exists, and one thing in the whole graph.
fn check_tables(graph: &LogicalGraph, around: &Surroundings, faults: &mut Vec<Fault>) {
    let mut first: BTreeMap<&FullName, &Node> = BTreeMap::new();
    let mut written: BTreeSet<&FullName> = BTreeSet::new();
    let mut read: BTreeMap<&FullName, Span> = BTreeMap::new();
    for node in &graph.nodes {
        let Some(here) = node.operator.table() else { continue };
        let there = match around.table(&here.table) {
            Some(table) => Some((&table.schema, &table.kind)),
            None => first.get(&here.table).and_then(|node| Some((&node.schema, &node.operator.table()?.kind))),
        };
        let mut fault = |error| faults.push(Fault { error, span: node.span });
        let table = here.table.clone();
        if let Some((schema, kind)) = there {
            if let Some(difference) = schema_difference(schema, &node.schema) {
                fault(CheckError::OtherSchema { table, difference });
            } else if !kind.same_as(&here.kind) {
                fault(CheckError::OtherKind { table, there: kind.to_string(), here: here.kind.to_string() });
            }
        }
        first.entry(&here.table).or_insert(node);
        if here.role.is_source() {
            read.entry(&here.table).or_insert(node.span);
        } else {
            written.insert(&here.table);
        }
    }
    let cyclic = cycle(graph).unwrap_or_default();
    for (table, span) in read.iter().filter(|(table, _)| written.contains(*table)) {
        // A cycle says it better.
        if !cyclic.contains(&table.to_string()) {
            faults.push(Fault { error: CheckError::SourceIsWritten { table: (*table).clone() }, span: *span });
        }
    }
}

fn check_cycles(graph: &LogicalGraph, faults: &mut Vec<Fault>) {
    let Some(tables) = cycle(graph) else { return };
    let last = graph.nodes.iter().rev().find(|node| {
        node.operator.table().is_some_and(|table| !table.role.is_source() && tables.contains(&table.table.to_string()))
    });
    let span = last.map_or(Span::default(), |node| node.span);
    faults.push(Fault { error: CheckError::Cycle { tables }, span });
}

/// The tables of a cycle, if rows can come back to a table they were in. All nodes of one table are one here.
fn cycle(graph: &LogicalGraph) -> Option<Vec<String>> {
    let names: Vec<&FullName> = {
        let tables = graph.nodes.iter().filter_map(|node| node.operator.table());
        let names: BTreeSet<&FullName> = tables.map(|table| &table.table).collect();
        names.into_iter().collect()
    };
    let place = |name: &FullName| names.iter().position(|known| *known == name).expect("every table is listed");
    // From each table, the tables that its rows reach without passing another one.
    let mut next: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); names.len()];
    for node in &graph.nodes {
        let Some(table) = node.operator.table() else { continue };
        let mut above = node.inputs.clone();
        while let Some(id) = above.pop() {
            match graph.node(id).operator.table() {
                Some(from) => {
                    next[place(&from.table)].insert(place(&table.table));
                }
                None => above.extend(&graph.node(id).inputs),
            }
        }
    }
    // A depth-first walk with a path of its own, so that a long graph cannot exhaust the stack.
    let mut done = vec![false; names.len()];
    for start in 0..names.len() {
        let mut path = vec![(start, next[start].iter())];
        while let Some((table, rest)) = path.last_mut() {
            let table = *table;
            match rest.next() {
                Some(&to) => {
                    if let Some(from) = path.iter().position(|(passed, _)| *passed == to) {
                        let mut tables: Vec<String> =
                            path[from..].iter().map(|(table, _)| names[*table].to_string()).collect();
                        tables.push(names[to].to_string());
                        return Some(tables);
                    }
                    if !done[to] {
                        path.push((to, next[to].iter()));
                    }
                }
                None => {
                    done[table] = true;
                    path.pop();
                }
            }
        }
    }
    None
}

/// What an engine or a map gives must go somewhere.
fn check_outputs(graph: &LogicalGraph, tapped: &BTreeSet<NodeId>, faults: &mut Vec<Fault>) {
    let consumers = graph.consumers();
    for (id, node) in graph.numbered() {
        let computes = matches!(node.operator, Operator::Engine(_) | Operator::Map(_));
        if computes && consumers[id.index()].is_empty() && !tapped.contains(&id) {
            let (node_name, operator) = (node.name.clone(), node.operator.word().to_string());
            faults.push(Fault { error: CheckError::NoOutput { node: node_name, operator }, span: node.span });
        }
    }
}

/// Every section must end: no leaf of the graph and no unsplit join may lie in one.
fn check_sections(graph: &LogicalGraph, tapped: &BTreeSet<NodeId>, faults: &mut Vec<Fault>) {
    let mut parts: u32 = 0;
    for node in &graph.nodes {
        let Operator::Parallelize { count, .. } = node.operator else { continue };
        let within = parts <= PARTS_TOTAL_MAX;
        parts = parts.saturating_add(count);
        if within && parts > PARTS_TOTAL_MAX {
            faults.push(Fault { error: CheckError::TooManyParts { parts }, span: node.span });
        }
    }
    let sections = graph.sections();
    let consumers = graph.consumers();
    let mut reported = BTreeSet::new();
    for (id, node) in graph.numbered() {
        let mut open = vec![];
        if node.operator == Operator::Sync && sections[node.inputs[0].index()].is_none() {
            let before = graph.node(node.inputs[0]).name.clone();
            faults.push(Fault { error: CheckError::SyncWithoutParallelize { node: before }, span: node.span });
        }
        if consumers[id.index()].is_empty() && !tapped.contains(&id) {
            open.extend(sections[id.index()]);
        }
        if sections[id.index()].is_none() && matches!(node.operator, Operator::Engine(_)) {
            open.extend(node.inputs.iter().skip(1).filter_map(|input| sections[input.index()]));
        }
        for section in open {
            let Operator::Parallelize { column, .. } = &graph.node(section).operator else {
                unreachable!("a section begins with parallelize")
            };
            if reported.insert(section) {
                let error = CheckError::ParallelizeWithoutSync { column: column.clone(), node: node.name.clone() };
                faults.push(Fault { error, span: graph.node(section).span });
            }
        }
    }
}

impl LogicalGraph {
    /// For each node, the `parallelize` whose section it is in, as the script says.
    pub fn sections(&self) -> Vec<Option<NodeId>> {
        let mut sections: Vec<Option<NodeId>> = Vec::with_capacity(self.nodes.len());
        for (id, node) in self.numbered() {
            sections.push(match node.operator {
                Operator::Parallelize { .. } => Some(id),
                Operator::Sync => None,
                _ => node.inputs.first().and_then(|input| sections[input.index()]),
            });
        }
        sections
    }
}

/// What is allowed but seldom meant.
pub fn warnings(graph: &LogicalGraph) -> Vec<Diagnostic> {
    let mut warnings = vec![];
    for node in &graph.nodes {
        let Some(table) = node.operator.table() else { continue };
        if !table.kind.key().is_empty() && table.options.cache_rows.is_none() && table.options.cache_purge.is_none() {
            let message = format!("state grows without bound: table=`{}` remembers every key", table.table);
            warnings.push(Diagnostic::at(node.span, message).help("set cacheSize to bound it"));
        }
    }
    warnings
}

/// The full names of the engines that the user has named.
pub fn engine_names(graph: &LogicalGraph) -> Vec<FullName> {
    let named = graph.nodes.iter().filter(|node| node.named && matches!(node.operator, Operator::Engine(_)));
    named.filter_map(|node| FullName::new(graph.name.catalog(), NameKind::Engine, &node.name).ok()).collect()
}
