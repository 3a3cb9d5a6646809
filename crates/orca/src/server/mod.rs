//! The server: this process with listeners before it.
//!
//! The fronts only translate. What they share stands here: one call each for scripts, appends and subscriptions; queries go
//! to [`query::Session`]. See decision 0010.

mod appending;
mod clients;
pub mod flight;
pub mod http;
mod hub;
pub mod pg;
mod readers;
mod scripts;
pub mod subscription;
mod system_tables;
pub mod text;

pub use appending::{Append, AppendFigures, numbered};
pub use scripts::{Ran, SessionId};

use crate::embedded::{Embedded, LogMode, Options};
use crate::failure::Failure;
use crate::metrics::Requests;
use crate::platform::ScriptWorld;
use crate::settings::Settings;
use appending::Appending;
use arrow::array::RecordBatch;
use connect::ArrowRows;
use env::Kind;
use futures::{Stream, StreamExt};
use graph::{FullName, NameKind};
use readers::Readers;
use scripts::Scripts;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use subscription::{Place, Subscription, Wanted};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// How long a stop waits for clients to finish.
const GRACE: Duration = Duration::from_secs(10);

/// How often graphs that broke off are noticed.
const LOOK: Duration = Duration::from_millis(200);

/// What the fronts share.
pub struct Server {
    orca: Arc<Embedded>,
    settings: Settings,
    appending: Appending,
    scripts: Scripts,
    readers: Readers,
    requests: Requests,
    started: Instant,
    is_ready: AtomicBool,
    stopping: watch::Sender<bool>,
}

impl Server {
    /// The process behind it.
    pub fn orca(&self) -> &Arc<Embedded> {
        &self.orca
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How long it has been there.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Why it takes no requests; nothing if it does.
    pub fn not_ready(&self) -> Vec<String> {
        let mut reasons = vec![];
        if !self.is_ready.load(Ordering::Acquire) {
            reasons.push("starting".to_string());
        }
        if *self.stopping.borrow() {
            reasons.push("stopping".to_string());
        }
        reasons
    }

    /// Resolves when the server begins to stop.
    pub async fn stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender lives as long as the server.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// The full name of a table as a client wrote it.
    pub fn table_name(&self, name: &str) -> Result<FullName, Failure> {
        self.orca.table_name(name, None)
    }

    /// Begins to read a table.
    pub fn subscribe(&self, table: &FullName, wanted: Wanted) -> Result<Subscription, Failure> {
        let (orca, full) = (self.orca.clone(), table.clone());
        let is_there = move |table: &Arc<stream::Table>| orca.table_of(&full).is_ok_and(|now| Arc::ptr_eq(&now, table));
        self.readers.join(self.orca.table_of(table)?, wanted, Box::new(is_there))
    }

    /// Where each reader of a table is.
    pub fn readers(&self) -> Vec<Arc<Place>> {
        self.readers.places()
    }

    /// The same messages of a reader, made on threads that give way to graphs. Dropping it ends them.
    pub fn aside<S>(&self, messages: S) -> impl Stream<Item = S::Item> + Send + use<S>
    where
        S: Stream<Item: Send> + Send + 'static,
    {
        self.readers.aside(messages)
    }

    /// What was appended so far.
    pub fn appends(&self) -> &AppendFigures {
        self.appending.figures()
    }

    /// What was asked for over HTTP so far.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Appends rows to a public table; blocks while the graphs that read it are behind. What a writer appends again under
    /// a number it has used is not appended.
    pub fn append(&self, append: Append) -> Result<appending::Taken, Failure> {
        let _span = tracing::info_span!("append", table = %append.table, rows = append.rows.rows()).entered();
        self.appending.append(&self.orca, append)
    }

    /// Appends what an INSERT inserts, as one append; gives how many rows the table took. The rows are those of all its
    /// runs, with the table's columns in their order.
    pub async fn insert<E: From<Failure>>(
        self: &Arc<Server>,
        target: &query::FullName,
        rows: impl Stream<Item = Result<RecordBatch, E>>,
    ) -> Result<u64, E> {
        let [catalog, schema, name] = target;
        if *schema != NameKind::Table.schema() {
            let text = format!("only public tables take rows: table=`{catalog}.{schema}.{name}`");
            return Err(Failure::of(Kind::Denied, text).into());
        }
        let table = FullName::new(catalog, NameKind::Table, name).map_err(|error| Failure::new(error.to_string()))?;
        let schema = self.orca.table_of(&table)?.schema().clone();
        let mut converter = ArrowRows::in_order("query", schema.len(), &schema).map_err(Failure::from)?;
        let (mut rows, mut batches) = (std::pin::pin!(rows), vec![]);
        while let Some(batch) = rows.next().await {
            batches.push(converter.convert(&batch?).map_err(Failure::from)?);
        }
        let rows = data::Batch::concat(schema, &batches).map_err(Failure::from)?;
        if rows.rows() == 0 {
            return Ok(0);
        }
        let server = self.clone();
        let append = move || server.append(Append { table, writer: None, rows });
        let taken = tokio::task::spawn_blocking(append).await;
        let taken = taken.unwrap_or_else(|_| Err(Failure::of(Kind::Internal, "an append broke off")))?;
        Ok(taken.offsets.end - taken.offsets.start)
    }

    /// Runs a script, in the session of this id or in one of its own. Blocks.
    pub fn run_script(&self, session: Option<&SessionId>, source: &Arc<lang::Source>) -> Result<Ran, Failure> {
        let _span = tracing::info_span!("submit", script = source.name).entered();
        self.scripts.run(&self.orca, session, source)
    }

    /// Opens a session of scripts.
    pub fn open_session(&self) -> SessionId {
        self.scripts.open(&self.orca, self.settings.whole("script.sessions_max") as usize)
    }

    /// Ends a session of scripts; false if there is none of this id.
    pub fn close_session(&self, session: &SessionId) -> bool {
        self.scripts.close(session)
    }
}

/// A server that runs on threads of its own.
pub struct Running {
    server: Arc<Server>,
    runtime: Runtime,
    readers: Runtime,
    listeners: Vec<tokio::task::JoinHandle<()>>,
    /// Where HTTP is served.
    pub http: SocketAddr,
    /// Where the PostgreSQL protocol is served.
    pub pg: SocketAddr,
}

impl Running {
    /// Starts a server.
    pub fn start(settings: Settings) -> Result<Running, Failure> {
        let (http_at, pg_at) = (settings.address("http.listen"), settings.address("pg.listen"));
        if let Some(open) = [http_at, pg_at].into_iter().find(|at| !at.ip().is_loopback())
            && settings.text("login.password").is_empty()
        {
            return Err(Failure::of(
                Kind::Denied,
                format!(
                    "off loopback a login is required: listen=`{open}`; set login.password, best by \
                     ORCA__LOGIN__PASSWORD"
                ),
            ));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(env::processors().clamp(2, 4))
            .thread_name("front")
            .enable_all()
            .build()?;
        let readers = Builder::new_multi_thread()
            .worker_threads((env::processors() / 2).clamp(1, 4))
            .thread_name("reader")
            .on_thread_start(env::give_way)
            .enable_time()
            .build()?;
        let listen = |at: SocketAddr, what: &str| {
            let bound = runtime.block_on(TcpListener::bind(at));
            bound.map_err(|error| {
                Failure::of(Kind::Unavailable, format!("cannot listen: setting=`{what}`, address=`{at}`, {error}"))
            })
        };
        let (http, pg) = (listen(http_at, "http.listen")?, listen(pg_at, "pg.listen")?);
        let (http_at, pg_at) = (http.local_addr()?, pg.local_addr()?);
        let orca = Arc::new(Embedded::open(&options(&settings))?);
        let server = Arc::new(Server {
            orca,
            settings,
            appending: Appending::default(),
            scripts: Scripts::default(),
            readers: Readers::new(readers.handle().clone()),
            requests: Requests::default(),
            started: Instant::now(),
            is_ready: AtomicBool::new(true),
            stopping: watch::Sender::new(false),
        });
        system_tables::add(&server);
        let listeners = vec![
            runtime.spawn(http::serve(server.clone(), http)),
            runtime.spawn(pg::serve(server.clone(), pg)),
            runtime.spawn(notice_failures(server.clone())),
        ];
        Ok(Running { server, runtime, readers, listeners, http: http_at, pg: pg_at })
    }

    /// What the fronts share.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Returns when somebody asks the process to end.
    pub fn until_asked_to_end(&self) -> Result<(), Failure> {
        self.runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
            futures::future::select(Box::pin(interrupt.recv()), Box::pin(terminate.recv())).await;
            Ok(())
        })
    }

    /// Stops: no new clients, those that are there may finish, graphs come to rest, logs are written.
    pub fn stop(self) -> Result<(), Failure> {
        let Running { server, runtime, readers, listeners, .. } = self;
        server.stopping.send_replace(true);
        runtime.block_on(async {
            let all = futures::future::join_all(listeners);
            let _ = tokio::time::timeout(GRACE, all).await;
        });
        readers.shutdown_timeout(GRACE);
        runtime.shutdown_timeout(GRACE);
        server.orca.rest();
        Ok(())
    }
}

/// Tells the master of graphs that broke off.
async fn notice_failures(server: Arc<Server>) {
    loop {
        let pause = Box::pin(tokio::time::sleep(LOOK));
        if let futures::future::Either::Left(_) = futures::future::select(Box::pin(server.stopped()), pause).await {
            return;
        }
        let orca = server.orca.clone();
        match tokio::task::spawn_blocking(move || orca.notice_failures()).await {
            Ok(Ok(failed)) => {
                failed.iter().for_each(|(graph, reason)| tracing::error!(%graph, reason, "graph has failed"))
            }
            Ok(Err(failure)) => tracing::error!(%failure, "failures of graphs cannot be stored"),
            Err(_) => return,
        }
    }
}

fn options(settings: &Settings) -> Options {
    let folder = settings.text("data.dir");
    let log = match settings.text("data.log") {
        "off" => LogMode::Off,
        "fsync" => LogMode::Fsync,
        _ => LogMode::Async,
    };
    let threads = match settings.whole("graph.threads") {
        0 => env::processors(),
        threads => threads as usize,
    };
    let modules = Some(settings.text("script.modules")).filter(|folder| !folder.is_empty());
    let seconds = Some(settings.whole("script.seconds_max")).filter(|most| *most > 0);
    let scripts =
        ScriptWorld { modules: modules.map(PathBuf::from), ms_max: seconds.map(|most| most.saturating_mul(1_000)) };
    Options { data_dir: (folder != "memory").then(|| PathBuf::from(folder)), log, threads, scripts }
}
