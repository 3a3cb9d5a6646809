//! A session: SQL in, rows out, on a pool of its own.
//!
//! A query is planned anew each time it runs, over the tables as they are then.

use crate::catalog::{Catalog, DEFAULT_SCHEMA};
use crate::error::{Error, Result};
use crate::figures::{Figures, Stopwatch};
use crate::functions;
use crate::names::{Headings, Text};
use crate::order::MergeInTurn;
use crate::pg_catalog::PgCatalog;
use crate::prepared::{Begun, Planned, Prepared, Rows};
use crate::provider::QueryCatalog;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use data::{Field, Scalar, Type};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionConfig;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::Statement;
use futures::StreamExt;
use lang::library;
use std::sync::Arc;
use std::sync::{OnceLock, mpsc};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tracing::Instrument;

/// The catalog of bare names where none is set and there is not just one.
pub(crate) const ANY_CATALOG: &str = "orca";

/// Deep expressions are walked by recursion, so a worker has room for it.
const STACK_BYTES: usize = 64 << 20;

/// The rows a query gives.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Names and types of the columns. Unlike those of a table, two may have one name.
    pub fields: Vec<Field>,
    /// The rows, each column of its type's Arrow type.
    pub batches: Vec<RecordBatch>,
}

impl Answer {
    /// How many rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// Answers queries over a catalog. A clone shares the pool.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
    default_catalog: Option<String>,
    /// Whose PostgreSQL catalog is asked, if it is.
    postgres_user: Option<Arc<str>>,
}

/// Makes a state to plan a query with, from one that is kept: not built anew, for each of its many functions would be
/// registered again.
///
/// It is a function so that whoever holds one, down to the fronts, need not know that type: that it may go to other threads is
/// found out anew for each holder, over thousands of types of syntax trees, which took minutes of each build.
pub(crate) type NewState = Box<dyn Fn() -> SessionState + Send + Sync>;

struct Shared {
    catalog: Arc<dyn Catalog>,
    new_state: NewState,
    postgres: OnceLock<Result<Arc<PgCatalog>>>,
    pool: Pool,
    figures: Arc<Figures>,
}

impl Session {
    /// A session over these tables. Names without a catalog belong to `default_catalog`; if that is not given, to the
    /// only catalog there is.
    pub fn new(catalog: Arc<dyn Catalog>, default_catalog: Option<String>) -> Session {
        Session::with_partitions(catalog, default_catalog, env::processors())
    }

    /// A session that cuts a scan into at most so many partitions.
    pub fn with_partitions(
        catalog: Arc<dyn Catalog>,
        default_catalog: Option<String>,
        partitions_max: usize,
    ) -> Session {
        let (base, pool) = (base_state(partitions_max.max(1)), Pool::new(partitions_max.clamp(1, 8)));
        let new_state: NewState = Box::new(move || base.clone());
        let shared = Shared { catalog, new_state, postgres: OnceLock::new(), pool, figures: Arc::default() };
        Session { shared: Arc::new(shared), default_catalog, postgres_user: None }
    }

    /// The same session, its names without a catalog in this one.
    pub fn in_catalog(&self, default_catalog: Option<String>) -> Session {
        Session { default_catalog, ..self.clone() }
    }

    /// The same session for what only PostgreSQL has: `pg_catalog`, `information_schema` and its functions, as this user
    /// sees them. Queries of it are read as PostgreSQL reads them.
    pub fn for_postgres(&self, user: &str) -> Session {
        Session { postgres_user: Some(user.into()), ..self.clone() }
    }

    /// What was answered so far.
    pub fn figures(&self) -> &Arc<Figures> {
        &self.shared.figures
    }

    /// The tables.
    pub fn catalog(&self) -> &Arc<dyn Catalog> {
        &self.shared.catalog
    }

    /// The catalog that names without one belong to.
    pub fn default_catalog(&self) -> String {
        match (&self.default_catalog, self.shared.catalog.catalogs().as_slice()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.clone(),
            (None, _) => ANY_CATALOG.to_string(),
        }
    }

    /// The whole answer to one query. Blocks the calling thread, which must not be one of an asynchronous pool.
    pub fn query(&self, sql: &str) -> Result<Answer> {
        let (answered, answer) = mpsc::sync_channel(1);
        let (session, sql) = (self.clone(), sql.to_string());
        self.shared.pool.spawn(async move {
            let watch = Stopwatch::start(&session.shared.figures);
            let answer = watch.check(session.answer(&sql).await);
            // Whoever has the answer finds it counted.
            drop(watch);
            // Nobody waits any more when the send fails.
            let _ = answered.send(answer);
        });
        answer.recv().unwrap_or_else(|_| Err(broken_off()))
    }

    async fn answer(&self, sql: &str) -> Result<Answer> {
        let planned = self.plan(sql).await?;
        if planned.insert.is_some() {
            return Err(Error::NotAQuery { statement: "insert".into() });
        }
        let (_, fields, mut rows) = planned.start(&[]).await?;
        let mut batches = vec![];
        while let Some(batch) = rows.next().await {
            batches.push(batch?);
        }
        Ok(Answer { fields, batches })
    }

    /// The rows of a query, or of what an INSERT inserts, as they come.
    pub async fn run(&self, sql: &str) -> Result<Rows> {
        self.run_with(sql.to_string(), vec![]).await
    }

    /// What a query takes and gives. `$1` or `?` stands for a parameter.
    pub async fn prepare(&self, sql: &str) -> Result<Prepared> {
        let (session, sql) = (self.clone(), sql.to_string());
        self.shared.pool.run(async move { Prepared::new(session, sql).await }).await
    }

    /// The rows of a query with parameters, planned once.
    pub async fn run_with(&self, sql: String, parameters: Vec<(Type, Scalar)>) -> Result<Rows> {
        let session = self.clone();
        self.start(async move { session.begin(&sql, &parameters).await }).await
    }

    /// Plans a query and begins to run it.
    pub(crate) async fn begin(&self, sql: &str, parameters: &[(Type, Scalar)]) -> Result<Begun> {
        self.plan(sql).await?.start(parameters).await
    }

    /// The rows of a query that this begins, on the pool.
    pub(crate) async fn start(&self, begin: impl Future<Output = Result<Begun>> + Send + 'static) -> Result<Rows> {
        // Spans of the whole program have one target.
        let (watch, span) = (Stopwatch::start(&self.shared.figures), tracing::info_span!(target: "orca", "query"));
        let begun = watch.check(self.shared.pool.run(begin.instrument(span.clone())).await)?;
        Ok(Rows::new(begun, &self.shared.pool, watch, span))
    }

    /// How a statement runs over the tables as they are now.
    pub(crate) async fn plan(&self, sql: &str) -> Result<Planned> {
        if let Some(user) = &self.postgres_user {
            let postgres = self.shared.postgres.get_or_init(|| PgCatalog::new().map(Arc::new)).clone()?;
            return postgres.plan(&self.shared.catalog, &self.default_catalog(), user, sql).await;
        }
        let text = Text::read(sql)?;
        let written = text.parse()?;
        check_is_legal(&written)?;
        let headings = Headings::of(&written);
        let default_catalog = self.default_catalog();
        let mut state = (self.shared.new_state)();
        let is_function = |name: &str| state.table_functions().contains_key(name);
        let (statement, spelling) = text.resolve(&*self.shared.catalog, &default_catalog, is_function)?;
        let tables = QueryCatalog::new(self.shared.catalog.clone(), Arc::new(spelling));
        state.mark_start_execution();
        state.register_catalog_list(Arc::new(tables));
        let options = &mut state.config_mut().options_mut().catalog;
        options.default_catalog = default_catalog.clone();
        options.default_schema = DEFAULT_SCHEMA.to_string();
        let plan = state.statement_to_plan(Parsed::Statement(Box::new(statement))).await;
        let plan = plan.map_err(|error| Error::of(&error, |name| text.place(name)))?;
        let (insert, target, plan) = match plan {
            LogicalPlan::Dml(insert) => {
                let name = insert.table_name.resolve(&default_catalog, DEFAULT_SCHEMA);
                let name = [name.catalog, name.schema, name.table].map(|part| part.to_string());
                (Some(name), Some(insert.target.schema()), insert.input.as_ref().clone())
            }
            plan => (None, None, plan),
        };
        Ok(Planned { text: Arc::new(text), headings, state, plan, insert, target })
    }
}

/// The threads that queries run on.
pub(crate) struct Pool {
    runtime: Option<Runtime>,
}

impl Pool {
    fn new(threads: usize) -> Pool {
        let runtime = Builder::new_multi_thread()
            .thread_name("query")
            .thread_stack_size(STACK_BYTES)
            .worker_threads(threads)
            .build()
            .expect("the system gives a few threads");
        Pool { runtime: Some(runtime) }
    }

    pub(crate) fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.runtime.as_ref().expect("a pool has its threads until it is dropped").spawn(work)
    }

    /// Does work on the pool; dropped, it ends the work.
    async fn run<T: Send + 'static>(&self, work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
        let mut work = AbortOnDrop(self.spawn(work));
        (&mut work.0).await.unwrap_or_else(|_| Err(broken_off()))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A session may be dropped on a thread that must not wait.
            runtime.shutdown_background();
        }
    }
}

/// A task that nobody waits for any more is of no use.
pub(crate) struct AbortOnDrop<T>(pub(crate) JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(crate) fn broken_off() -> Error {
    Error::Internal { reason: "the query's task broke off".into() }
}

pub(crate) fn base_state(partitions_max: usize) -> SessionState {
    let mut config = SessionConfig::new()
        .with_information_schema(true)
        .with_create_default_catalog_and_schema(false)
        .with_target_partitions(partitions_max);
    let options = config.options_mut();
    options.sql_parser.enable_ident_normalization = false;
    options.sql_parser.map_string_types_to_utf8view = false;
    options.sql_parser.collect_spans = true;
    // Both would deal a scan's rows out anew and so lose their order.
    options.optimizer.enable_round_robin_repartition = false;
    options.optimizer.repartition_file_scans = false;
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_physical_optimizer_rule(Arc::new(MergeInTurn));
    functions::register(builder, library::all()).build()
}

/// Queries, what tells of tables and plans, and INSERT.
pub(crate) fn check_is_legal(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Query(_)
        | Statement::Explain { .. }
        | Statement::ShowTables { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowVariable { .. }
        | Statement::ShowFunctions { .. } => Ok(()),
        Statement::Insert(insert) if insert.on.is_none() && insert.returning.is_none() && !insert.overwrite => Ok(()),
        other => {
            let text = other.to_string();
            Err(Error::NotAQuery { statement: text.split_whitespace().next().unwrap_or_default().to_lowercase() })
        }
    }
}

/// The script type of a field; what the language has no type for is shown as text.
pub(crate) fn type_of(field: &arrow::datatypes::Field) -> Type {
    let schema = data::Schema::from_arrow(&Schema::new(vec![field.clone()]));
    schema.map_or(Type::String, |schema| schema.fields()[0].ty)
}
