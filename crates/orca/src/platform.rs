//! What scripts do to this process: the calls of a script as requests to the master.

use crate::embedded::Control;
use crate::script_session::{Listener, Said};
use data::Batch;
use env::{Chance, Clock, OsChance};
use graph::{FullName, LogicalGraph, NewTable, StoredGraph, Submission, TableInfo};
use lang::{Diagnostic, Source};
use master::Request;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use stream::{Scheduler, Writer};
use wire::TableRecord;

/// What the scripts of a process may use.
#[derive(Debug, Clone, Default)]
pub struct ScriptWorld {
    /// The folder of the modules; none if `None`.
    pub modules: Option<PathBuf>,
    /// How long a script may take, in milliseconds; as long as it likes if `None`.
    pub ms_max: Option<u64>,
}

/// How names of module files end.
const MODULE_ENDS: [&str; 2] = ["dos", "orca"];

/// The script's way to master and worker.
pub struct Platform {
    control: Arc<Mutex<Control>>,
    scheduler: Arc<Scheduler>,
    clock: Arc<dyn Clock>,
    scripts: ScriptWorld,
    listener: Listener,
    /// When the script at work began, on the monotonic clock.
    begun_ns: u64,
}

impl Platform {
    /// The platform of one session of this process.
    pub(crate) fn new(
        control: Arc<Mutex<Control>>,
        scheduler: Arc<Scheduler>,
        clock: Arc<dyn Clock>,
        scripts: ScriptWorld,
        listener: Listener,
    ) -> Platform {
        Platform { control, scheduler, clock, scripts, listener, begun_ns: 0 }
    }

    fn request(&self, request: Request) -> Result<(), Diagnostic> {
        self.control.lock().request(request).map_err(|failure| Diagnostic::new(failure.to_string()))
    }
}

impl graph::Platform for Platform {
    fn catalog_exists(&mut self, catalog: &str) -> bool {
        self.control.lock().master.catalog(catalog).is_some()
    }

    fn create_catalog(&mut self, catalog: &str) -> Result<(), Diagnostic> {
        self.request(Request::CreateCatalog(catalog.to_string()))
    }

    fn drop_catalog(&mut self, catalog: &str) -> Result<(), Diagnostic> {
        let graphs: Vec<FullName> = {
            let control = self.control.lock();
            let graphs = control.master.graphs().filter(|graph| graph.is_there());
            let inside = graphs.filter(|graph| graph.logical.name.catalog().eq_ignore_ascii_case(catalog));
            inside.map(|graph| graph.logical.name.clone()).collect()
        };
        for graph in graphs {
            self.request(Request::DropGraph { graph, include_tables: false })?;
        }
        self.request(Request::DropCatalog(catalog.to_string()))
    }

    fn table(&mut self, table: &FullName) -> Option<TableInfo> {
        self.control.lock().master.table_info(table)
    }

    fn create_table(&mut self, table: NewTable) -> Result<(), Diagnostic> {
        let columns = TableRecord::columns_of(&table.schema);
        let NewTable { name, kind, options, .. } = table;
        self.request(Request::CreateTable(TableRecord { name, columns, kind, options }))
    }

    fn drop_table(&mut self, table: &FullName) -> Result<(), Diagnostic> {
        self.request(Request::DropTable(table.clone()))
    }

    fn append(&mut self, table: &FullName, rows: Batch) -> Result<(), Diagnostic> {
        let found = self.control.lock().worker.table(table);
        let found = found.ok_or_else(|| Diagnostic::new(format!("no such table: table=`{table}`")))?;
        // A script that runs again appends again: its number goes on where the table's last one ended.
        let writer = Writer::named("script");
        let seq = found.writer_seq(&writer).unwrap_or(0) + 1;
        found.append(&writer, seq, 0, &rows).map_err(|error| Diagnostic::new(error.to_string()))?;
        Ok(())
    }

    fn rows(&mut self, table: &FullName) -> Result<Batch, Diagnostic> {
        let found = self.control.lock().worker.table(table);
        let found = found.ok_or_else(|| Diagnostic::new(format!("no such table: table=`{table}`")))?;
        let (_, start, end) = found.extent();
        let rows = found.read(start..end).map_err(|error| Diagnostic::new(error.to_string()))?;
        let batches: Vec<Batch> = rows.into_iter().map(|(_, batch)| batch).collect();
        Ok(Batch::concat(found.schema().clone(), &batches)?)
    }

    fn graph(&mut self, graph: &FullName) -> Option<StoredGraph> {
        let control = self.control.lock();
        let entry = control.master.graph(graph)?;
        Some(StoredGraph { logical: entry.logical.clone(), plan: entry.plan.clone() })
    }

    fn resumes(&mut self, graph: &LogicalGraph) -> bool {
        self.control.lock().master.resumes(graph)
    }

    fn engine_graph(&mut self, engine: &FullName) -> Option<FullName> {
        self.control.lock().master.engine_graph(engine)
    }

    fn submit(&mut self, submission: Submission) -> Result<(), Diagnostic> {
        self.request(Request::Submit(Box::new(submission)))
    }

    fn drop_graph(&mut self, graph: &FullName, include_tables: bool) -> Result<(), Diagnostic> {
        // What was appended before the drop goes through.
        self.scheduler.run();
        self.scheduler.wait();
        self.request(Request::DropGraph { graph: graph.clone(), include_tables })
    }

    fn print(&mut self, text: &str) {
        (self.listener)(Said::Printed(text.to_string()));
    }

    fn warn(&mut self, warning: &Diagnostic) {
        (self.listener)(Said::Warned(warning.to_string()));
    }

    fn now(&mut self) -> Option<i64> {
        self.clock.wall_ms().checked_mul(1_000_000)
    }

    fn begin(&mut self) {
        self.begun_ns = self.clock.monotonic_ns();
    }

    fn module(&mut self, path: &str) -> Option<Arc<Source>> {
        // Names lead nowhere but down.
        let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
        let mut file = self.scripts.modules.clone()?;
        for part in path.split("::") {
            file.push(Some(part).filter(|part| is_name(part))?);
        }
        let file = MODULE_ENDS.iter().map(|end| file.with_extension(end)).find(|file| file.is_file())?;
        Some(Source::new(file.to_string_lossy(), std::fs::read_to_string(&file).ok()?))
    }

    fn late(&mut self) -> Option<u64> {
        let taken = (self.clock.monotonic_ns() - self.begun_ns) / 1_000_000;
        self.scripts.ms_max.filter(|most| taken > *most)
    }

    fn sleep(&mut self, time: Duration) -> Result<(), Diagnostic> {
        std::thread::sleep(time);
        Ok(())
    }

    fn chance(&mut self) -> Option<u64> {
        Some(OsChance.next())
    }
}
