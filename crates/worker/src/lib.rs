//! A worker: carries out actions on its node's tables and flows, and reports what became of them.
//!
//! It is a plain value: [`Worker::handle`] takes a message and gives the answers. What it touches of the world it
//! touches through the disk and the clock it was given.
//!
//! Invariants:
//! - An action may be carried out twice without harm, and one of an attempt lower than the newest seen does nothing.
//! - A flow takes rows only when every channel of its tasks is open.

mod build;

use env::{Clock, Disk};
use graph::{Action, ChannelId, FullName, Plan, PlanOperator, Stage, TableKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stream::{Entry, Flow, FlowParts, Flush, Journal, JournalId, Scheduler, Table, TableSpec, Writer};
use wire::{Attempt, TableRecord, ToMaster, ToWorker};

/// What a worker stands on.
pub struct World {
    /// Where tables and journals are kept; `None` for memory alone.
    pub disk: Option<Arc<dyn Disk>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who takes the turns of its flows.
    pub scheduler: Arc<Scheduler>,
    /// What stands behind a table that does not ask for more.
    pub flush: Flush,
}

/// The data plane of one node.
pub struct Worker {
    world: World,
    journal: Arc<Journal>,
    tables: BTreeMap<FullName, Arc<Table>>,
    runs: BTreeMap<FullName, Run>,
    notes: Vec<String>,
}

/// One graph on this node.
struct Run {
    attempt: Attempt,
    built: Option<build::Built>,
    open: BTreeSet<ChannelId>,
    flow: Option<Arc<Flow>>,
}

impl Worker {
    /// A worker on this world; its journal is opened.
    pub fn new(world: World) -> Result<Worker, String> {
        let mut notes = vec![];
        let journal = match &world.disk {
            Some(disk) if world.flush != Flush::Off => {
                let (journal, opened) = Journal::open(disk.clone(), "journal", world.flush).map_err(text)?;
                if opened.cut_bytes > 0 {
                    notes.push(format!("journal: a torn tail was cut, bytes=`{}`", opened.cut_bytes));
                }
                journal
            }
            _ => Journal::in_memory(),
        };
        let journal = Arc::new(journal);
        Ok(Worker { world, journal, tables: BTreeMap::new(), runs: BTreeMap::new(), notes })
    }

    /// What was cut from logs and journals since the last call, in words.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// A public table of this node.
    pub fn table(&self, name: &FullName) -> Option<Arc<Table>> {
        self.tables.get(name).cloned()
    }

    /// The public tables of this node.
    pub fn tables(&self) -> impl Iterator<Item = (&FullName, &Arc<Table>)> {
        self.tables.iter()
    }

    /// The flows of this node that run or have failed, with their graphs.
    pub fn flows(&self) -> impl Iterator<Item = (&FullName, &Arc<Flow>)> {
        self.runs.iter().filter_map(|(graph, run)| Some((graph, run.flow.as_ref()?)))
    }

    /// Takes a message and gives the answers.
    pub fn handle(&mut self, message: ToWorker) -> Vec<ToMaster> {
        match message {
            ToWorker::CreateTable(record) => {
                let error = self.create_table(&record).err();
                vec![ToMaster::Table { name: record.name, error }]
            }
            ToWorker::DropTable(name) => {
                let error = self.drop_table(&name).err();
                vec![ToMaster::Table { name, error }]
            }
            ToWorker::Stage { attempt, stage, teardown, actions, plan } => {
                if self.runs.get(&attempt.graph).is_some_and(|run| run.attempt.attempt > attempt.attempt) {
                    return vec![];
                }
                let taken = match teardown {
                    true => self.take_down(&attempt, &actions),
                    false => self.bring_up(&attempt, stage, &actions, &plan),
                };
                vec![match taken {
                    Ok(()) => ToMaster::StageDone { attempt, stage, teardown },
                    Err((place, reason)) => ToMaster::StageFailed { attempt, stage, place, reason },
                }]
            }
        }
    }

    /// Holds back the rows of a graph's tables: a restart runs the whole journal again, so it needs every row that went
    /// in, and what the tables took of each epoch.
    pub fn hold(&self, journal: u64, plan: &Plan) {
        let tables = plan.tables.iter().filter_map(|used| self.tables.get(&used.name));
        tables.for_each(|table| table.hold(&format!("graph/{journal}"), 0));
    }

    /// Removes what belongs to no table and no graph any more: a process that ended in the middle of a drop leaves it.
    pub fn sweep(&self, journals: &BTreeSet<u64>) -> Result<(), String> {
        for journal in self.journal.lives().keys().filter(|journal| !journals.contains(&journal.0)) {
            self.journal.end(*journal).map_err(text)?;
        }
        let Some(disk) = &self.world.disk else { return Ok(()) };
        let known: BTreeSet<String> = self.tables.keys().map(folder).collect();
        for name in disk.list("tables").map_err(text)? {
            let path = format!("tables/{name}");
            if !known.contains(&path) {
                disk.remove_folder(&path).map_err(text)?;
            }
        }
        Ok(())
    }

    /// Drops rows that are older than their tables keep them, and that no graph holds.
    pub fn purge(&self) -> Result<(), String> {
        self.tables.values().try_for_each(|table| table.purge()).map_err(text)
    }

    /// Failures of flows since the last call.
    pub fn failures(&mut self) -> Vec<ToMaster> {
        let mut failures = vec![];
        for run in self.runs.values_mut() {
            if let Some(error) = run.flow.as_ref().and_then(|flow| flow.failure()) {
                if let Some(flow) = run.flow.take() {
                    self.world.scheduler.close(&flow);
                }
                failures.push(ToMaster::GraphFailed { attempt: run.attempt.clone(), reason: error.to_string() });
            }
        }
        failures
    }

    fn bring_up(
        &mut self,
        attempt: &Attempt,
        stage: Stage,
        actions: &[Action],
        plan: &Plan,
    ) -> Result<(), (String, String)> {
        let graph = &attempt.graph;
        if self.runs.get(graph).is_none_or(|run| run.attempt != *attempt) {
            let run = Run { attempt: attempt.clone(), built: None, open: BTreeSet::new(), flow: None };
            self.runs.insert(graph.clone(), run);
        }
        let place = |action: &Action| action.to_string();
        for action in actions {
            match action {
                Action::CreateTable(name) => {
                    let table = plan.table(name).expect("a plan lists the tables its tasks use");
                    let columns = TableRecord::columns_of(&table.schema);
                    let (kind, options) = (table.kind.clone(), table.options.clone());
                    let record = TableRecord { name: name.clone(), columns, kind, options };
                    self.create_table(&record).map_err(|reason| (place(action), reason))?;
                }
                Action::BuildTask(_) => {}
                Action::OpenChannel(channel) => {
                    self.run(graph).open.insert(*channel);
                }
                other => panic!("a graph is not brought up by `{other}`"),
            }
        }
        match stage {
            Stage::Build => {
                let tables = |name: &FullName| self.tables.get(name).cloned();
                let built = build::build(plan, attempt.journal, &tables);
                self.run(graph).built = Some(built.map_err(|error| (graph.to_string(), error.to_string()))?);
            }
            Stage::Connect => {}
            Stage::Open => self.open(attempt, plan).map_err(|reason| (graph.to_string(), reason))?,
        }
        Ok(())
    }

    /// Starts a graph's flow: its journal's entries run again first.
    fn open(&mut self, attempt: &Attempt, plan: &Plan) -> Result<(), String> {
        let run = self.run(&attempt.graph);
        assert!(plan.channels.iter().all(|channel| run.open.contains(&channel.id)), "every channel is open");
        let Some(built) = run.built.take() else { return Ok(()) };
        let id = JournalId(attempt.journal);
        self.journal.begin(id, &attempt.graph.to_string(), attempt.attempt).map_err(text)?;
        let now = (self.world.clock.wall_ms(), self.world.clock.monotonic_ns());
        self.hold(attempt.journal, plan);
        let entries = self.recover(id, plan, &built.sources)?;
        let starts = built.sources.iter().map(|table| table.start()).collect();
        let flow = Flow::new(FlowParts {
            name: attempt.graph.to_string().into(),
            tasks: built.tasks,
            channels: built.channels,
            sources: built.sources,
            starts,
            journal: self.journal.clone(),
            id,
            attempt: attempt.attempt,
            entries,
            now,
        })?;
        self.world.scheduler.open(&flow);
        self.run(&attempt.graph).flow = Some(flow);
        Ok(())
    }

    /// The entries that run again. A killed process has lost nothing. A power loss may have taken the tail of any log:
    /// then the journal is cut back to the last epoch whose rows the sources have, and the graph's tables to that epoch.
    fn recover(&mut self, id: JournalId, plan: &Plan, sources: &[Arc<Table>]) -> Result<Vec<Entry>, String> {
        let mut entries = self.journal.entries(id, 1).map_err(text)?;
        let there = |entry: &Entry| {
            let has = |run: &stream::Run| sources[run.source as usize].end() >= run.from + run.rows as u64;
            entry.runs.iter().all(has)
        };
        let good = entries.iter().take_while(|entry| there(entry)).count();
        let last = good.checked_sub(1).map_or(0, |last| entries[last].epoch);
        if good < entries.len() {
            let lost = entries.len() - good;
            self.notes.push(format!("journal cut back: graph=`{}`, epoch=`{last}`, lost_epochs=`{lost}`", plan.graph));
            self.journal.cut_to(id, last).map_err(text)?;
            entries.truncate(good);
        }
        for (_, node) in plan.nodes() {
            let PlanOperator::Table { table: name } = &node.operator else { continue };
            let table = self.tables.get(name).ok_or_else(|| format!("table is not on this node: table=`{name}`"))?;
            let writer = Writer::node(id.0, &node.name);
            if let Some(to) = table.first_after(&writer, last) {
                let from = table.end();
                self.notes.push(format!("table cut back: table=`{name}`, epoch=`{last}`, from=`{from}`, to=`{to}`"));
                table.cut_to(to).map_err(text)?;
            }
        }
        Ok(entries)
    }

    fn take_down(&mut self, attempt: &Attempt, actions: &[Action]) -> Result<(), (String, String)> {
        if let Some(run) = self.runs.get_mut(&attempt.graph) {
            if let Some(flow) = run.flow.take() {
                self.world.scheduler.close(&flow);
            }
            run.built = None;
        }
        for action in actions {
            match action {
                Action::CloseChannel(channel) => {
                    if let Some(run) = self.runs.get_mut(&attempt.graph) {
                        run.open.remove(channel);
                    }
                }
                Action::DropTask(_) => {
                    self.runs.remove(&attempt.graph);
                }
                Action::DropTable(name) => {
                    self.drop_table(name).map_err(|reason| (action.to_string(), reason))?;
                }
                other => panic!("a graph is not brought down by `{other}`"),
            }
        }
        Ok(())
    }

    fn run(&mut self, graph: &FullName) -> &mut Run {
        self.runs.get_mut(graph).expect("bringing a graph up makes its run first")
    }

    fn create_table(&mut self, record: &TableRecord) -> Result<(), String> {
        if self.tables.contains_key(&record.name) {
            return Ok(());
        }
        let spec = self.spec(record)?;
        let clock = self.world.clock.clone();
        let folder = folder(&record.name);
        let table = match &self.world.disk {
            Some(disk) if spec.options.flush != Flush::Off => match Table::open(disk.clone(), &folder, clock.clone()) {
                Ok((table, opened)) => {
                    if opened.cut_bytes > 0 {
                        let (name, bytes) = (&record.name, opened.cut_bytes);
                        self.notes.push(format!("a torn tail was cut: table=`{name}`, bytes=`{bytes}`"));
                    }
                    if !table.schema().same_as(&spec.schema) || table.spec().kind != spec.kind {
                        return Err(format!(
                            "another table lies in its folder: table=`{}`, folder=`{folder}`",
                            record.name
                        ));
                    }
                    table
                }
                Err(stream::Error::Disk(env::Error::NotFound { .. })) => {
                    Table::create(disk.clone(), &folder, spec, clock).map_err(text)?
                }
                Err(error) => return Err(text(error)),
            },
            _ => Table::in_memory(spec, clock).map_err(text)?,
        };
        self.tables.insert(record.name.clone(), Arc::new(table));
        Ok(())
    }

    fn drop_table(&mut self, name: &FullName) -> Result<(), String> {
        self.tables.remove(name);
        match &self.world.disk {
            Some(disk) => disk.remove_folder(&folder(name)).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    fn spec(&self, record: &TableRecord) -> Result<TableSpec, String> {
        let schema = Arc::new(record.schema()?);
        let places = |names: &[String]| {
            let place = |name: &String| schema.index_of(name).ok_or_else(|| format!("unknown column: column=`{name}`"));
            names.iter().map(place).collect::<Result<Vec<_>, _>>()
        };
        let kind = match &record.kind {
            TableKind::Log => stream::TableKind::Plain,
            TableKind::Keyed { key } => stream::TableKind::Keyed { keys: places(key)? },
            TableKind::LatestKeyed { key, time } => {
                stream::TableKind::LatestKeyed { keys: places(key)?, time: places(time)? }
            }
        };
        let mut spec = TableSpec::new(&record.name.to_string(), schema, kind);
        spec.options.flush = match self.world.flush {
            Flush::Off => Flush::Off,
            _ if record.options.fsync => Flush::Fsync,
            flush => flush,
        };
        spec.options.compress = record.options.compress;
        spec.options.retention_minutes = u32::try_from(record.options.retention_minutes).ok();
        spec.options.cache_rows = record.options.cache_rows.map(|rows| rows as usize);
        Ok(spec)
    }
}

/// The folder of a table. Names know no case, folders do.
fn folder(name: &FullName) -> String {
    format!("tables/{}", name.to_string().to_lowercase())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
