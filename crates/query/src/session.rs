//! A session: SQL in, rows out, on a pool of its own.

use crate::catalog::{Catalog, DEFAULT_SCHEMA};
use crate::error::{Error, Result};
use crate::functions;
use crate::names::{Headings, Text};
use crate::order::{MergeInTurn, may_part};
use crate::provider::{COLUMN_NAME, QueryCatalog};
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{Schema, SchemaRef};
use data::{Field, Type};
use datafusion::common::DataFusionError;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::collect_partitioned;
use datafusion::prelude::SessionConfig;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::Statement;
use lang::library;
use std::sync::Arc;
use std::sync::mpsc;
use tokio::runtime::{Builder, Runtime};

/// The catalog of bare names where none is set and there is not just one.
const ANY_CATALOG: &str = "orca";

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

/// Answers queries over a catalog.
pub struct Session {
    shared: Arc<Shared>,
    pool: Option<Runtime>,
}

struct Shared {
    catalog: Arc<dyn Catalog>,
    default_catalog: Option<String>,
    base: SessionState,
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
        let pool = Builder::new_multi_thread()
            .thread_name("query")
            .thread_stack_size(STACK_BYTES)
            .worker_threads(partitions_max.clamp(1, 8))
            .build()
            .expect("the system gives a few threads");
        let base = base_state(partitions_max.max(1));
        Session { shared: Arc::new(Shared { catalog, default_catalog, base }), pool: Some(pool) }
    }

    /// The answer to one query. Blocks the calling thread; the work is done on the session's own.
    pub fn query(&self, sql: &str) -> Result<Answer> {
        let (answered, answer) = mpsc::sync_channel(1);
        let (shared, sql) = (self.shared.clone(), sql.to_string());
        let pool = self.pool.as_ref().expect("a session has its pool until it is dropped");
        pool.spawn(async move {
            // Nobody waits any more when the send fails.
            let _ = answered.send(shared.answer(&sql).await);
        });
        answer.recv().unwrap_or_else(|_| Err(Error::Internal { reason: "the query's task broke off".into() }))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            // A session may be dropped on a thread that must not wait.
            pool.shutdown_background();
        }
    }
}

fn base_state(partitions_max: usize) -> SessionState {
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

impl Shared {
    async fn answer(&self, sql: &str) -> Result<Answer> {
        let text = Text::read(sql)?;
        let written = text.parse()?;
        check_is_query(&written)?;
        let headings = Headings::of(&written);
        let default_catalog = self.default_catalog();
        let is_function = |name: &str| self.base.table_functions().contains_key(name);
        let (statement, spelling) = text.resolve(&*self.catalog, &default_catalog, is_function)?;
        let tables = QueryCatalog::new(self.catalog.clone(), Arc::new(spelling));
        let run = self.run(statement, tables, &default_catalog);
        let (schema, batches) = run.await.map_err(|error| Error::of(&error, |name| text.place(name)))?;
        answer(&schema, batches, &headings)
    }

    fn default_catalog(&self) -> String {
        match (&self.default_catalog, self.catalog.catalogs().as_slice()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.clone(),
            (None, _) => ANY_CATALOG.to_string(),
        }
    }

    async fn run(
        &self,
        statement: Statement,
        tables: QueryCatalog,
        default_catalog: &str,
    ) -> std::result::Result<(SchemaRef, Vec<RecordBatch>), DataFusionError> {
        let mut state =
            SessionStateBuilder::new_from_existing(self.base.clone()).with_catalog_list(Arc::new(tables)).build();
        let catalog = &mut state.config_mut().options_mut().catalog;
        catalog.default_catalog = default_catalog.to_string();
        catalog.default_schema = DEFAULT_SCHEMA.to_string();
        let plan = state.statement_to_plan(Parsed::Statement(Box::new(statement))).await?;
        let written = plan.schema().inner().clone();
        let plan = state.optimize(&plan)?;
        if !matches!(&plan, LogicalPlan::Explain(explain) if may_part(&explain.plan)) && !may_part(&plan) {
            state.config_mut().options_mut().execution.target_partitions = 1;
        }
        let plan = state.query_planner().create_physical_plan(&plan, &state).await?;
        let schema = typed(&written, &plan.schema());
        let partitions = collect_partitioned(plan, state.task_ctx()).await?;
        Ok((schema, partitions.into_iter().flatten().collect()))
    }
}

/// The columns as they were written, each of the type that the plan gives it: expressions of several types are widened
/// to one that holds them all only when the plan is made.
fn typed(written: &Schema, made: &Schema) -> SchemaRef {
    let fields = written.fields().iter().zip(made.fields()).map(|(written, made)| {
        let field = arrow::datatypes::Field::new(written.name(), made.data_type().clone(), true);
        field.with_metadata(written.metadata().clone())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Queries, and what tells of tables and plans.
fn check_is_query(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Query(_)
        | Statement::Explain { .. }
        | Statement::ShowTables { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowVariable { .. }
        | Statement::ShowFunctions { .. } => Ok(()),
        other => {
            let text = other.to_string();
            Err(Error::NotAQuery { statement: text.split_whitespace().next().unwrap_or_default().to_lowercase() })
        }
    }
}

/// The rows under the names the query gave, each column in the Arrow type of a type of the language.
fn answer(schema: &Schema, batches: Vec<RecordBatch>, headings: &Headings) -> Result<Answer> {
    let count = schema.fields().len();
    let mut fields = Vec::with_capacity(count);
    for (index, field) in schema.fields().iter().enumerate() {
        let own = field.metadata().get(COLUMN_NAME).filter(|own| own.to_lowercase() == field.name().to_lowercase());
        let name = headings.name(index, count).unwrap_or(own.unwrap_or(field.name()));
        fields.push(Field::new(name, type_of(field)));
    }
    let wrong = |error: arrow::error::ArrowError| Error::Data { reason: error.to_string() };
    let arrow_fields = fields.iter().map(|field| arrow::datatypes::Field::new(&*field.name, field.ty.to_arrow(), true));
    let schema = Arc::new(Schema::new(arrow_fields.collect::<Vec<_>>()));
    let mut rows = Vec::with_capacity(batches.len());
    for batch in batches.into_iter().filter(|batch| batch.num_rows() > 0) {
        let columns =
            batch.columns().iter().zip(schema.fields()).map(|(column, field)| cast(column, field.data_type()));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>().map_err(wrong)?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        rows.push(RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(wrong)?);
    }
    Ok(Answer { fields, batches: rows })
}

/// The script type of a field; what the language has no type for is shown as text.
pub(crate) fn type_of(field: &arrow::datatypes::Field) -> Type {
    let schema = data::Schema::from_arrow(&Schema::new(vec![field.clone()]));
    schema.map_or(Type::String, |schema| schema.fields()[0].ty)
}
