//! A statement that is planned: what it takes, what it gives, and its rows as they come.

use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::figures::Stopwatch;
use crate::names::{Headings, Text};
use crate::order::{in_turn, may_part};
use crate::provider::{COLUMN_NAME, FullName, closed, reopened};
use crate::session::{AbortOnDrop, Pool, Session, type_of};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use data::{Column, Field, Scalar, Type};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, ParamValues, ScalarValue};
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Volatility};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt};
use futures::{FutureExt, Stream, future};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tracing::{Instrument, Span};

/// How many batches are made before somebody asks for them.
const BATCHES_AHEAD: usize = 2;

/// A query that may run many times, with other parameters.
#[derive(Clone)]
pub struct Prepared {
    session: Session,
    sql: String,
    fields: Vec<Field>,
    parameters: Vec<Option<Type>>,
    insert: Option<FullName>,
    again: Option<Arc<dyn Again>>,
}

impl Prepared {
    pub(crate) async fn new(session: Session, sql: String) -> Result<Prepared> {
        let planned = session.plan(&sql).await?;
        let (parameters, insert) = (planned.parameters()?, planned.insert.clone());
        let optimized = planned.state.optimize(&planned.plan).map_err(|error| planned.error(&error))?;
        let fields = planned.fields(&optimized, parameters.is_empty()).await?;
        let again = Ready::of(planned, optimized).map(|ready| Arc::new(ready) as Arc<dyn Again>);
        Ok(Prepared { session, fields, parameters, insert, sql, again })
    }

    /// Names and types of the columns it gives.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The types of `$1`, `$2`, …; `None` where any would do.
    pub fn parameters(&self) -> &[Option<Type>] {
        &self.parameters
    }

    /// The table that the rows are to be inserted into, if it is an INSERT.
    pub fn insert(&self) -> Option<&FullName> {
        self.insert.as_ref()
    }

    /// Runs it with these parameters.
    pub async fn execute(&self, parameters: Vec<(Type, Scalar)>) -> Result<Rows> {
        let Some(again) = self.again.clone() else { return self.session.run_with(self.sql.clone(), parameters).await };
        let (session, sql) = (self.session.clone(), self.sql.clone());
        let begin = async move {
            match again.begin(session.catalog(), &parameters) {
                Some(begun) => begun.await,
                None => session.begin(&sql, &parameters).await,
            }
        };
        self.session.start(begin).await
    }
}

/// A query that has begun: the table of an INSERT, the columns, and the rows.
pub(crate) type Begun = (Option<FullName>, Vec<Field>, BoxStream<'static, Result<RecordBatch>>);

/// A plan that is kept and run again.
///
/// A trait, so that holders need not know what a plan is made of; see [`crate::session::NewState`].
trait Again: Send + Sync {
    /// Begins to run over the tables as they are now; `None` if it has to be planned anew, as these parameters or the tables
    /// are not those it was made for.
    fn begin<'a>(
        &'a self,
        catalog: &Arc<dyn Catalog>,
        parameters: &[(Type, Scalar)],
    ) -> Option<BoxFuture<'a, Result<Begun>>>;
}

/// The rows of a query as they come: at least one part in the end, errors too. Dropped, it ends the query.
pub struct Rows {
    insert: Option<FullName>,
    fields: Vec<Field>,
    batches: mpsc::Receiver<Result<RecordBatch>>,
    _work: AbortOnDrop<()>,
}

impl Rows {
    pub(crate) fn new((insert, fields, mut rows): Begun, pool: &Pool, watch: Stopwatch, span: Span) -> Rows {
        let (made, batches) = mpsc::channel(BATCHES_AHEAD);
        let send = async move {
            while let Some(batch) = rows.next().await {
                if made.send(watch.check(batch)).await.is_err() {
                    return;
                }
            }
            // Whoever has the last row finds the query counted. The channel is closed after this.
            drop(watch);
        };
        let work = pool.spawn(send.instrument(span));
        Rows { insert, fields, batches, _work: AbortOnDrop(work) }
    }

    /// Names and types of the columns.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The columns as Arrow has them, script types in the fields' metadata.
    pub fn schema(&self) -> SchemaRef {
        arrow_schema(&self.fields)
    }

    /// The table that the rows are to be inserted into, if it is an INSERT; they have its columns.
    pub fn insert(&self) -> Option<&FullName> {
        self.insert.as_ref()
    }
}

impl Stream for Rows {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Result<RecordBatch>>> {
        self.batches.poll_recv(context)
    }
}

/// A statement over the tables as they were at one moment.
pub(crate) struct Planned {
    pub(crate) text: Arc<Text>,
    pub(crate) headings: Headings,
    pub(crate) state: SessionState,
    pub(crate) plan: LogicalPlan,
    pub(crate) insert: Option<FullName>,
    /// The columns of the table that is inserted into.
    pub(crate) target: Option<SchemaRef>,
}

impl Planned {
    fn parameters(&self) -> Result<Vec<Option<Type>>> {
        let mut known = self.plan.get_parameter_fields().map_err(|error| self.error(&error))?;
        for (name, ty) in meant(&self.plan).map_err(|error| self.error(&error))? {
            let field = Some(Arc::new(arrow::datatypes::Field::new(&name, ty, true)));
            known.insert(name, field);
        }
        let count = known.keys().filter_map(|name| number(name)).max().unwrap_or(0);
        let mut parameters = vec![None; count];
        for (name, field) in known {
            let number = number(&name).ok_or_else(|| Error::Invalid {
                reason: format!("parameters are numbered from $1 on: parameter=`{name}`"),
                place: None,
            })?;
            parameters[number - 1] = field.map(|field| type_of(&field));
        }
        Ok(parameters)
    }

    /// The columns it gives, their types as the optimized plan has them in the end; without parameters that is known.
    async fn fields(&self, optimized: &LogicalPlan, is_known: bool) -> Result<Vec<Field>> {
        let made = match is_known {
            true => self.physical(optimized).await.map_err(|error| self.error(&error))?.schema(),
            false => optimized.schema().inner().clone(),
        };
        Ok(self.named(&typed(self.plan.schema().inner(), &made)))
    }

    /// Begins to run.
    pub(crate) async fn start(mut self, parameters: &[(Type, Scalar)]) -> Result<Begun> {
        let written = self.plan.schema().inner().clone();
        let made = self.run(parameters).await.map_err(|error| self.error(&error))?;
        Ok(self.begun(&written, made))
    }

    async fn run(&mut self, parameters: &[(Type, Scalar)]) -> datafusion::common::Result<SendableRecordBatchStream> {
        let values =
            parameters.iter().map(|(ty, value)| scalar(*ty, value)).collect::<datafusion::common::Result<_>>()?;
        let plan = self.state.optimize(&with_values(self.plan.clone(), values)?)?;
        self.keep_whole(&plan);
        in_turn(self.physical(&plan).await?).execute(0, self.state.task_ctx())
    }

    /// A plan whose rows must come in their order is not cut into parts.
    fn keep_whole(&mut self, plan: &LogicalPlan) {
        if !matches!(plan, LogicalPlan::Explain(explain) if may_part(&explain.plan)) && !may_part(plan) {
            self.state.config_mut().options_mut().execution.target_partitions = 1;
        }
    }

    /// The rows under the names the query gave, each column in the Arrow type of a type of the language.
    fn begun(&self, written: &Schema, made: SendableRecordBatchStream) -> Begun {
        let fields = match &self.target {
            // A parameter may have had another type than its column.
            Some(target) => named_as(target),
            None => self.named(&typed(written, &made.schema())),
        };
        let (schema, text) = (arrow_schema(&fields), self.text.clone());
        let batches = made.filter_map(move |batch| {
            let batch = batch.map_err(|error| Error::of(&error, |name| text.place(name)));
            future::ready(match batch {
                Ok(batch) if batch.num_rows() == 0 => None,
                batch => Some(batch.and_then(|batch| under(&schema, &batch))),
            })
        });
        (self.insert.clone(), fields, batches.boxed())
    }

    async fn physical(&self, plan: &LogicalPlan) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
        self.state.query_planner().create_physical_plan(plan, &self.state).await
    }

    /// The columns under the names the query gave.
    fn named(&self, schema: &Schema) -> Vec<Field> {
        let count = schema.fields().len();
        let field = |(index, field): (usize, &arrow::datatypes::FieldRef)| {
            let own = field.metadata().get(COLUMN_NAME).filter(|own| own.to_lowercase() == field.name().to_lowercase());
            let name = self.headings.name(index, count).unwrap_or(own.unwrap_or(field.name()));
            Field::new(name, type_of(field))
        };
        schema.fields().iter().enumerate().map(field).collect()
    }

    fn error(&self, error: &DataFusionError) -> Error {
        Error::of(error, |name| self.text.place(name))
    }
}

/// A plan that is optimized for good: all that is left to do are the values of its parameters and the rows of its tables.
struct Ready {
    /// Its plan is the optimized one, over closed tables.
    planned: Planned,
    /// The columns as they were written.
    written: SchemaRef,
    /// The types that the plan takes its parameters for.
    types: Vec<DataType>,
    context: Arc<TaskContext>,
}

impl Ready {
    /// `None` if a plan cannot be kept: it asks for what changes without its tables, such as the time.
    fn of(mut planned: Planned, optimized: LogicalPlan) -> Option<Ready> {
        if !is_lasting(&planned.plan).ok()? || matches!(optimized, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_)) {
            return None;
        }
        let known = optimized.get_parameter_fields().ok()?;
        let count = known.keys().filter_map(|name| number(name)).max().unwrap_or(0);
        let types = (1..=count).map(|number| Some(known.get(&format!("${number}"))?.as_ref()?.data_type().clone()));
        let types = types.collect::<Option<Vec<_>>>()?;
        planned.keep_whole(&optimized);
        let (written, context) = (planned.plan.schema().inner().clone(), planned.state.task_ctx());
        // Neither rows nor dropped tables are held by a plan that waits.
        planned.plan = closed(optimized).ok()??;
        Some(Ready { planned, written, types, context })
    }

    /// The parameters as the plan takes them; `None` if one is of another type and would not stay what it is.
    fn values(&self, parameters: &[(Type, Scalar)]) -> Option<Vec<ScalarValue>> {
        let values = parameters.iter().zip(&self.types).map(|((ty, value), wanted)| {
            let value = scalar(*ty, value).ok()?;
            if value.data_type() == *wanted {
                return Some(value);
            }
            let is_widened = value.data_type().is_integer() && wanted.is_integer();
            if is_widened || value.is_null() { value.cast_to(wanted).ok() } else { None }
        });
        values.collect::<Option<Vec<_>>>().filter(|values| values.len() == self.types.len())
    }

    async fn run(&self, plan: LogicalPlan) -> Result<Begun> {
        let made = async {
            let plan = self.planned.physical(&plan).await?;
            in_turn(plan).execute(0, self.context.clone())
        };
        let made = made.await.map_err(|error| self.planned.error(&error))?;
        Ok(self.planned.begun(&self.written, made))
    }
}

impl Again for Ready {
    fn begin<'a>(
        &'a self,
        catalog: &Arc<dyn Catalog>,
        parameters: &[(Type, Scalar)],
    ) -> Option<BoxFuture<'a, Result<Begun>>> {
        let plan = reopened(self.planned.plan.clone(), catalog).ok()??;
        let plan = with_values(plan, self.values(parameters)?).ok()?;
        Some(self.run(plan).boxed())
    }
}

/// Does a plan ask for nothing but its tables and parameters?
fn is_lasting(plan: &LogicalPlan) -> datafusion::common::Result<bool> {
    let mut is_lasting = true;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                is_lasting &= match expr {
                    Expr::ScalarFunction(call) => call.func.signature().volatility == Volatility::Immutable,
                    Expr::ScalarVariable(..) => false,
                    _ => true,
                };
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(is_lasting)
}

/// The types of parameters where DataFusion does not see what the text means: `$1::text[]`, and `x = ANY($1)`.
fn meant(plan: &LogicalPlan) -> datafusion::common::Result<Vec<(String, DataType)>> {
    let mut meant = vec![];
    plan.apply_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                match expr {
                    Expr::Cast(cast) => {
                        if let Expr::Placeholder(open) = cast.expr.as_ref() {
                            meant.push((open.id.clone(), cast.field.data_type().clone()));
                        }
                    }
                    Expr::ScalarFunction(call) if call.name() == "array_has" => {
                        if let [Expr::Placeholder(open), element] = call.args.as_slice()
                            && let Ok(ty) = element.get_type(&schema)
                        {
                            let ty = if let DataType::Dictionary(_, value) = ty { *value } else { ty };
                            let item = arrow::datatypes::Field::new("item", ty, true);
                            meant.push((open.id.clone(), DataType::List(Arc::new(item))));
                        }
                    }
                    _ => {}
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(meant)
}

fn scalar(ty: Type, value: &Scalar) -> datafusion::common::Result<ScalarValue> {
    ScalarValue::try_from_array(&Column::repeat(ty, value, 1).to_arrow(), 0)
}

fn with_values(plan: LogicalPlan, values: Vec<ScalarValue>) -> datafusion::common::Result<LogicalPlan> {
    match values.is_empty() {
        true => Ok(plan),
        false => plan.replace_params_with_values(&ParamValues::List(values.into_iter().map(Into::into).collect())),
    }
}

/// The number of a parameter: 2 of `$2`.
fn number(name: &str) -> Option<usize> {
    name.strip_prefix('$')?.parse().ok().filter(|number| (1..=65_535).contains(number))
}

/// The columns as they were written, each of the type that the plan gives it: expressions of several types are widened
/// to one that holds them all only when the plan is made.
fn typed(written: &Schema, made: &Schema) -> Schema {
    let fields = written.fields().iter().zip(made.fields()).map(|(written, made)| {
        let field = arrow::datatypes::Field::new(written.name(), made.data_type().clone(), true);
        field.with_metadata(written.metadata().clone())
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// The columns of a table.
fn named_as(table: &Schema) -> Vec<Field> {
    let field = |field: &arrow::datatypes::FieldRef| {
        Field::new(field.metadata().get(COLUMN_NAME).unwrap_or(field.name()).as_str(), type_of(field))
    };
    table.fields().iter().map(field).collect()
}

fn arrow_schema(fields: &[Field]) -> SchemaRef {
    Arc::new(Schema::new(fields.iter().map(Field::to_arrow).collect::<Vec<_>>()))
}

fn under(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    // A value is never bent to fit.
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |(column, field): (&ArrayRef, &arrow::datatypes::FieldRef)| {
        cast_with_options(column, field.data_type(), &options)
    };
    let columns = batch.columns().iter().zip(schema.fields()).map(cast);
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    columns
        .and_then(|columns| RecordBatch::try_new_with_options(schema.clone(), columns, &options))
        .map_err(|error| Error::Data { reason: error.to_string() })
}
