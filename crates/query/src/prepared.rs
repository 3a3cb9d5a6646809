//! A statement that is planned: what it takes, what it gives, and its rows as they come.

use crate::error::{Error, Result};
use crate::figures::Stopwatch;
use crate::names::{Headings, Text};
use crate::order::{in_turn, may_part};
use crate::provider::{COLUMN_NAME, FullName};
use crate::session::{AbortOnDrop, Pool, Session, type_of};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{Schema, SchemaRef};
use data::{Column, Field, Scalar, Type};
use datafusion::common::{DataFusionError, ParamValues, ScalarValue};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use futures::stream::{BoxStream, StreamExt};
use futures::{Stream, future};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

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
}

impl Prepared {
    pub(crate) async fn new(session: Session, sql: String) -> Result<Prepared> {
        let planned = session.plan(&sql).await?;
        let parameters = planned.parameters()?;
        let fields = planned.fields().await?;
        Ok(Prepared { session, fields, parameters, insert: planned.insert, sql })
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
        self.session.run_with(self.sql.clone(), parameters).await
    }
}

/// The rows of a query as they come: at least one part in the end, errors too. Dropped, it ends the query.
pub struct Rows {
    insert: Option<FullName>,
    fields: Vec<Field>,
    batches: mpsc::Receiver<Result<RecordBatch>>,
    _work: AbortOnDrop<()>,
}

impl Rows {
    pub(crate) fn new(
        insert: Option<FullName>,
        fields: Vec<Field>,
        mut rows: BoxStream<'static, Result<RecordBatch>>,
        pool: &Pool,
        watch: Stopwatch,
    ) -> Rows {
        let (made, batches) = mpsc::channel(BATCHES_AHEAD);
        let work = pool.spawn(async move {
            // The watch stops with the task, be it by the last row or by whoever reads.
            while let Some(batch) = rows.next().await {
                if made.send(watch.check(batch)).await.is_err() {
                    return;
                }
            }
        });
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
    pub(crate) text: Text,
    pub(crate) headings: Headings,
    pub(crate) state: SessionState,
    pub(crate) plan: LogicalPlan,
    pub(crate) insert: Option<FullName>,
    /// The columns of the table that is inserted into.
    pub(crate) target: Option<SchemaRef>,
}

impl Planned {
    fn parameters(&self) -> Result<Vec<Option<Type>>> {
        let known = self.plan.get_parameter_fields().map_err(|error| self.error(&error))?;
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

    /// The columns it gives, their types as the plan has them in the end.
    async fn fields(&self) -> Result<Vec<Field>> {
        let plan = self.state.optimize(&self.plan).map_err(|error| self.error(&error))?;
        let made = match self.parameters()?.is_empty() {
            true => self.physical(&plan).await.map_err(|error| self.error(&error))?.schema(),
            false => plan.schema().inner().clone(),
        };
        Ok(self.named(&typed(self.plan.schema().inner(), &made)))
    }

    /// Begins to run; the rows come under the names the query gave, each column in the Arrow type of a type of the
    /// language.
    pub(crate) async fn start(
        mut self,
        parameters: &[(Type, Scalar)],
    ) -> Result<(Vec<Field>, BoxStream<'static, Result<RecordBatch>>)> {
        let written = self.plan.schema().inner().clone();
        let made = self.run(parameters).await.map_err(|error| self.error(&error))?;
        let fields = match &self.target {
            // A parameter may have had another type than its column.
            Some(target) => named_as(target),
            None => self.named(&typed(&written, &made.schema())),
        };
        let schema = arrow_schema(&fields);
        let text = self.text;
        let batches = made.filter_map(move |batch| {
            let batch = batch.map_err(|error| Error::of(&error, |name| text.place(name)));
            future::ready(match batch {
                Ok(batch) if batch.num_rows() == 0 => None,
                batch => Some(batch.and_then(|batch| under(&schema, &batch))),
            })
        });
        Ok((fields, batches.boxed()))
    }

    async fn run(&mut self, parameters: &[(Type, Scalar)]) -> datafusion::common::Result<SendableRecordBatchStream> {
        let mut plan = self.plan.clone();
        if !parameters.is_empty() {
            let values = parameters.iter().map(|(ty, value)| {
                ScalarValue::try_from_array(&Column::repeat(*ty, value, 1).to_arrow(), 0).map(Into::into)
            });
            plan = plan
                .replace_params_with_values(&ParamValues::List(values.collect::<datafusion::common::Result<_>>()?))?;
        }
        let plan = self.state.optimize(&plan)?;
        if !matches!(&plan, LogicalPlan::Explain(explain) if may_part(&explain.plan)) && !may_part(&plan) {
            self.state.config_mut().options_mut().execution.target_partitions = 1;
        }
        in_turn(self.physical(&plan).await?).execute(0, self.state.task_ctx())
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
