//! Master and worker in one process, and what a command needs of them: scripts, feeds, queries.
//!
//! Master and worker speak only through the messages of `wire`: this loop hands them on, and stores what the master
//! wants stored before anything acts on it.

use crate::failure::Failure;
use crate::platform::{Platform, ScriptWorld};
use crate::script_session::{Listener, ScriptSession, terminal};
use crate::store::Store;
use crate::tables::{AddedTable, Tables};
use data::Batch;
use env::{Clock, Disk, FolderLock, Kind, RealClock, RealDisk};
use graph::{FullName, NameKind, NodeInfo, NodeRole};
use lang::{Source, Value};
use master::{Effect, Event, Master, Request, RequestId};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use stream::{EpochCap, Flush, Scheduler, Table, Writer};
use wire::{ToMaster, ToWorker};
use worker::{Worker, World};

/// The name of the one node.
const NODE: &str = "local";

/// Rows that may wait at the ingress of a graph before whoever appends helps with the work.
const WAITING_ROWS_MAX: u64 = 262_144;

/// What stands behind the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogMode {
    /// Nothing: tables live in memory alone.
    Off,
    /// A log, written before rows are seen and forced to the disk later: a killed process loses nothing.
    Async,
    /// A log, forced to the disk before rows are seen: a power loss loses nothing.
    Fsync,
}

impl std::fmt::Display for LogMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LogMode::Off => "off",
            LogMode::Async => "async",
            LogMode::Fsync => "fsync",
        })
    }
}

/// How the process is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where tables, journals and metadata are kept; memory alone if `None`.
    pub data_dir: Option<PathBuf>,
    /// What stands behind the tables if there is a folder.
    pub log: LogMode,
    /// Threads that run graphs; 0 runs them on the thread that appends.
    pub threads: usize,
    /// What scripts may use.
    pub scripts: ScriptWorld,
}

impl Default for Options {
    fn default() -> Options {
        Options { data_dir: None, log: LogMode::Off, threads: env::processors(), scripts: ScriptWorld::default() }
    }
}

/// How files are fed.
#[derive(Debug, Clone)]
pub struct Feeding {
    /// Rows in one append.
    pub batch_rows: usize,
    /// Merge the files by this column.
    pub interleave: Option<String>,
}

/// What a request came to.
type Reply = (RequestId, Result<(), master::Error>);

/// Master, worker and the messages between them.
pub(crate) struct Control {
    pub(crate) master: Master,
    pub(crate) worker: Worker,
    store: Store,
    requests: u64,
    /// Graphs that have failed since the process began.
    failed: Vec<FullName>,
}

impl Control {
    /// Has the master take a request; gives its reply when all that follows from it is done.
    pub(crate) fn request(&mut self, request: Request) -> Result<(), Failure> {
        self.requests += 1;
        let id = RequestId(self.requests);
        let effects = self.master.handle(Event::Request(id, request));
        let replies = self.carry_out(effects).map_err(stored)?;
        let reply = replies.into_iter().find(|(reply, _)| *reply == id);
        let (_, reply) = reply.expect("in one process a request is answered when nothing is under way");
        Ok(reply?)
    }

    /// Tells the master of graphs that failed since the last call.
    pub(crate) fn report_failures(&mut self) -> Result<(), String> {
        for failure in self.worker.failures() {
            if let ToMaster::GraphFailed { attempt, .. } = &failure {
                self.failed.push(attempt.graph.clone());
            }
            let effects = self.master.handle(Event::Worker(NODE.into(), failure));
            self.carry_out(effects)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> Result<Vec<Reply>, String> {
        let mut waiting: VecDeque<Effect> = effects.into();
        let mut replies = vec![];
        while let Some(effect) = waiting.pop_front() {
            match effect {
                Effect::Store(records) => self.store.put(records)?,
                Effect::Reply(id, result) => replies.push((id, result)),
                Effect::Send(node, message) => {
                    for answer in self.deliver(message) {
                        waiting.extend(self.master.handle(Event::Worker(node.clone(), answer)));
                    }
                }
            }
        }
        Ok(replies)
    }

    fn deliver(&mut self, message: ToWorker) -> Vec<ToMaster> {
        let answers = self.worker.handle(message);
        self.worker.take_notes().iter().for_each(|note| eprintln!("note: {note}"));
        answers
    }
}

/// A whole Orca in this process.
pub struct Embedded {
    control: Arc<Mutex<Control>>,
    scheduler: Arc<Scheduler>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    has_threads: bool,
    catalog: Arc<Tables>,
    queries: OnceLock<query::Session>,
    clock: Arc<dyn Clock>,
    scripts: ScriptWorld,
    session: Mutex<ScriptSession>,
    /// The data folder is this process's own as long as it lives.
    _lock: Option<FolderLock>,
}

impl Embedded {
    /// Starts it; tables and graphs of the data folder are there again, the graphs at rest.
    pub fn open(options: &Options) -> Result<Embedded, Failure> {
        let disk: Option<Arc<dyn Disk>> = match (&options.data_dir, options.log) {
            (None, _) | (_, LogMode::Off) => None,
            (Some(folder), _) => {
                let disk = RealDisk::new(folder)?;
                Some(Arc::new(disk))
            }
        };
        let lock = match (&disk, &options.data_dir) {
            (Some(_), Some(folder)) => Some(FolderLock::take(folder)?),
            _ => None,
        };
        let flush = match options.log {
            LogMode::Off => Flush::Off,
            LogMode::Async => Flush::Async,
            LogMode::Fsync => Flush::Fsync,
        };
        let orca = Embedded::on(disk, Arc::new(RealClock::new()), flush, options.threads)?;
        let mut orca = Embedded { _lock: lock, scripts: options.scripts.clone(), ..orca };
        orca.session = Mutex::new(orca.session(terminal()));
        Ok(orca)
    }

    /// Starts it on any disk and clock, as tests do.
    pub fn on(
        disk: Option<Arc<dyn Disk>>,
        clock: Arc<dyn Clock>,
        flush: Flush,
        threads: usize,
    ) -> Result<Embedded, Failure> {
        let scheduler = Scheduler::new(clock.clone(), Box::new(|_| Box::new(NoWorld)));
        let world = World { disk: disk.clone(), clock: clock.clone(), scheduler: scheduler.clone(), flush };
        let worker = Worker::new(world).map_err(Failure::new)?;
        let store = Store::open(disk).map_err(Failure::new)?;
        let (master, effects) = Master::new(vec![node()], store.records())?;
        let mut control = Control { master, worker, store, requests: 0, failed: vec![] };
        control.carry_out(effects).map_err(stored)?;
        let tables: Vec<_> = control.master.tables().map(|table| table.record.clone()).collect();
        for table in tables {
            for answer in control.deliver(ToWorker::CreateTable(table)) {
                if let ToMaster::Table { error: Some(error), .. } = answer {
                    return Err(Failure::new(error));
                }
            }
        }
        let there = || control.master.graphs().filter(|graph| graph.is_there());
        control.worker.sweep(&there().map(|graph| graph.journal).collect()).map_err(Failure::new)?;
        there().for_each(|graph| control.worker.hold(graph.journal, &graph.plan));
        control.worker.purge().map_err(Failure::new)?;
        let control = Arc::new(Mutex::new(control));
        let pool = (0..threads).map(|number| {
            let scheduler = scheduler.clone();
            let thread = std::thread::Builder::new().name(format!("turns-{number}"));
            thread.spawn(move || scheduler.work())
        });
        let threads = pool.collect::<Result<Vec<_>, _>>()?;
        let scripts = ScriptWorld::default();
        let platform = Platform::new(control.clone(), scheduler.clone(), clock.clone(), scripts.clone(), terminal());
        Ok(Embedded {
            scheduler,
            has_threads: !threads.is_empty(),
            threads: Mutex::new(threads),
            catalog: Arc::new(Tables::new(control.clone())),
            queries: OnceLock::new(),
            scripts,
            session: Mutex::new(ScriptSession::new(platform)),
            clock,
            control,
            _lock: None,
        })
    }

    /// A session of scripts of its own, which says to `listener` what its scripts say.
    pub fn session(&self, listener: Listener) -> ScriptSession {
        let (control, scheduler) = (self.control.clone(), self.scheduler.clone());
        ScriptSession::new(Platform::new(control, scheduler, self.clock.clone(), self.scripts.clone(), listener))
    }

    /// Runs a script in the process's own session.
    pub fn run_script(&self, source: &Arc<Source>) -> Result<Value, Failure> {
        self.session.lock().run(source)
    }

    /// A public table; a bare name belongs to the script's current catalog.
    pub fn table(&self, name: &str) -> Result<Arc<Table>, Failure> {
        let current = self.session.lock().catalog().map(String::from);
        self.table_of(&self.table_name(name, current.as_deref())?)
    }

    /// The full name of a public table; a bare one belongs to the given catalog, else to the only one there is.
    pub fn table_name(&self, name: &str, catalog: Option<&str>) -> Result<FullName, Failure> {
        let catalogs = self.control.lock().master.catalogs();
        let only = match catalogs.as_slice() {
            [only] => Some(only.as_str()),
            _ => None,
        };
        FullName::resolve(name, NameKind::Table, catalog.or(only)).map_err(|error| Failure::new(error.to_string()))
    }

    /// A public table by its full name.
    pub fn table_of(&self, full: &FullName) -> Result<Arc<Table>, Failure> {
        let control = self.control.lock();
        control.worker.table(full).ok_or_else(|| {
            let known: Vec<String> = control.worker.tables().map(|(name, _)| name.to_string()).collect();
            let near = lang::nearest(&full.to_string(), known.iter().map(String::as_str)).map(str::to_string);
            let mend = near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
            Failure::of(Kind::NotFound, format!("no such table: table=`{full}`{mend}"))
        })
    }

    /// Appends files to tables, in the order given, the next when the graphs have processed the one before; or merged
    /// by a time column. File and piece are writer and sequence number, so a second run appends nothing twice.
    pub fn feed(&self, feeds: &[(String, PathBuf)], feeding: &Feeding) -> Result<(), Failure> {
        let mut targets = vec![];
        for (place, (table, file)) in feeds.iter().enumerate() {
            let table = self.table(table)?;
            let reader = connect::open(file, table.schema(), feeding.batch_rows);
            let reader = reader?;
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // Which of the feeds of its table it is, so that other tables' feeds may come and go.
            let place = feeds[..place].iter().filter(|(other, _)| *other == feeds[place].0).count();
            targets.push((table, Writer::named(&format!("feed/{place}/{name}")), reader));
        }
        match &feeding.interleave {
            None => {
                for (table, writer, reader) in targets {
                    for (piece, batch) in reader.enumerate() {
                        let batch = batch?;
                        self.append(&table, &writer, piece as u64 + 1, &batch)?;
                    }
                    self.wait()?;
                }
            }
            Some(column) => {
                let mut readers = vec![];
                let mut tables = vec![];
                for (table, writer, reader) in targets {
                    tables.push((table, writer, 0));
                    readers.push(reader);
                }
                let merged = connect::interleave(readers, column)?;
                for run in merged {
                    let (file, batch) = run?;
                    let (table, writer, piece) = &mut tables[file];
                    *piece += 1;
                    self.append(table, writer, *piece, &batch)?;
                }
            }
        }
        Ok(())
    }

    /// Appends rows as this writer's piece of this number.
    pub fn append(&self, table: &Table, writer: &Writer, piece: u64, batch: &Batch) -> Result<(), Failure> {
        let check = stream::check_of(batch);
        table.append(writer, piece, check, batch)?;
        self.make_room();
        Ok(())
    }

    /// Helps with the work while more rows wait than may.
    pub fn make_room(&self) {
        while self.scheduler.waiting_rows() > WAITING_ROWS_MAX || !self.has_threads {
            if !self.scheduler.turn() {
                if !self.has_threads {
                    return;
                }
                self.scheduler.rest();
            }
        }
    }

    /// Waits until every graph has processed every row that was appended; an error if one has failed.
    pub fn wait(&self) -> Result<(), Failure> {
        self.settle();
        self.notice_failures()?;
        let control = self.control.lock();
        let failed = control.failed.iter().find_map(|graph| control.master.graph(graph));
        match failed {
            Some(graph) => {
                let reason = graph.reason.clone().unwrap_or_default();
                Err(Failure::new(format!("graph has failed: graph=`{}`, {reason}", graph.logical.name)))
            }
            None => Ok(()),
        }
    }

    /// Stores which graphs have failed since it was asked last, and gives them and why.
    pub fn notice_failures(&self) -> Result<Vec<(FullName, String)>, Failure> {
        let mut control = self.control.lock();
        let known = control.failed.len();
        control.report_failures().map_err(stored)?;
        let reason = |graph: &FullName| control.master.graph(graph).and_then(|entry| entry.reason.clone());
        let news = control.failed[known..].iter();
        Ok(news.map(|graph| (graph.clone(), reason(graph).unwrap_or_default())).collect())
    }

    /// Takes one turn of a graph on this thread; false if there is none to take.
    pub fn turn(&self) -> bool {
        self.scheduler.turn()
    }

    /// Runs what is due by the clock, on this thread; pool threads do so by themselves.
    pub fn run_due(&self) {
        self.scheduler.wake_due();
        self.scheduler.run();
    }

    /// Sets what an epoch of every graph may hold from now on.
    pub fn set_epoch_cap(&self, cap: EpochCap) {
        self.control.lock().worker.flows().for_each(|(_, flow)| flow.set_cap(cap));
    }

    /// Answers a query.
    pub fn query(&self, sql: &str) -> Result<query::Answer, Failure> {
        Ok(self.queries().query(sql)?)
    }

    /// What answers queries.
    pub fn queries(&self) -> &query::Session {
        self.queries.get_or_init(|| query::Session::new(self.catalog.clone(), None))
    }

    /// Adds a table to the schema `orca_sys`.
    pub fn add_system_table(&self, table: AddedTable) {
        self.catalog.add(table);
    }

    /// Has the master take a request, and waits until it is done.
    pub fn request(&self, request: Request) -> Result<(), Failure> {
        if let Request::DropGraph { .. } | Request::StopGraph(_) = &request {
            // What was appended before goes through.
            self.settle();
        }
        self.control.lock().request(request)
    }

    /// What the master knows, for as long as `look` takes.
    pub fn with_master<T>(&self, look: impl FnOnce(&Master) -> T) -> T {
        look(&self.control.lock().master)
    }

    /// The graphs that run here, for as long as `look` takes.
    pub fn with_worker<T>(&self, look: impl FnOnce(&Worker) -> T) -> T {
        look(&self.control.lock().worker)
    }

    fn settle(&self) {
        if !self.has_threads {
            self.scheduler.run();
        }
        self.scheduler.wait();
    }

    /// Every graph that is there, explained: its plan, placement, actions and facts.
    pub fn explain(&self, json: bool) -> String {
        let control = self.control.lock();
        let mut texts = vec![];
        for entry in control.master.graphs().filter(|graph| graph.is_there()) {
            let actions = graph::action_lists(&entry.plan, &entry.placement);
            let explained = graph::Explained {
                logical: &entry.logical,
                plan: Some(&entry.plan),
                placement: Some(&entry.placement),
                actions: Some(&actions),
            };
            texts.push(match json {
                true => graph::explain_json(explained).to_string(),
                false => graph::explain(explained),
            });
        }
        texts.join("\n")
    }

    /// Ends it: graphs come to rest.
    pub fn close(self) {
        self.rest();
    }

    /// Graphs come to rest; rows that are appended from now on wait for the next start.
    pub fn rest(&self) {
        self.scheduler.shut();
        for thread in self.threads.lock().drain(..) {
            // A pool thread that broke off has told why already.
            let _ = thread.join();
        }
    }
}

/// All that is wrong with a script: what its text tells, and what building and checking its graphs finds. The graphs
/// are submitted to a process without threads that is thrown away.
pub fn check_script(source: &Arc<Source>, scripts: ScriptWorld) -> Result<lang::Checked, Failure> {
    let mut checked = lang::check(source, &mut Calls);
    let orca = Embedded::open(&Options { threads: 0, scripts, ..Options::default() })?;
    let found = orca.run_script(source);
    orca.close();
    for error in found.err().map(Failure::into_diagnostics).unwrap_or_default() {
        if !checked.errors.iter().any(|known| known.span == error.span) {
            checked.errors.push(error);
        }
    }
    Ok(checked)
}

/// The world as a check of a text knows it: the calls that scripts may make.
struct Calls;

impl lang::Host for Calls {
    fn names(&self) -> Vec<&'static str> {
        graph::manual().into_iter().map(|entry| entry.name).collect()
    }
}

/// What could not be stored.
fn stored(reason: String) -> Failure {
    Failure::of(Kind::Unavailable, reason)
}

/// The world of a user function that runs in a graph: it sees nothing.
struct NoWorld;

impl lang::Host for NoWorld {}

fn node() -> NodeInfo {
    NodeInfo {
        name: NODE.into(),
        role: NodeRole::Data,
        compute_group: None,
        cpu_idle: 100,
        memory_idle: 100,
        disk_idle: 100,
        network_idle: 100,
        preferred: 0,
    }
}
