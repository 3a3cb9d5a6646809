//! What keeps rows in order: which queries may scan in parallel, and the merge that puts partitions one after another.
//!
//! A scan's partitions are stretches of the table, one after another. Filters and projections keep the rows of each
//! partition in order, unions put partitions after partitions; nothing else that a plain query runs through may mix
//! them, so partitions are never merged as they come but always in turn.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::common::spawn_buffered;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties, ReplaceChildrenOptions, SendableRecordBatchStream,
};
use futures::future;
use futures::stream::{self, StreamExt};
use std::fmt;
use std::sync::Arc;

/// How many batches a partition may be ahead of its turn.
const BATCHES_AHEAD: usize = 2;

/// May the scans of this (optimized) plan be cut into partitions, and the answer still be the same to the last bit?
///
/// Yes if nothing in it looks at rows of several partitions, save aggregates over all rows that are exact in any order.
/// Everything else (joins, windows, sums of floats, groups, which come in the order of their first rows) runs on one
/// partition.
pub(crate) fn may_part(plan: &LogicalPlan) -> bool {
    if plan.expressions().iter().any(has_subquery) {
        return false;
    }
    match plan {
        LogicalPlan::TableScan(_) | LogicalPlan::EmptyRelation(_) | LogicalPlan::Values(_) => true,
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Union(_)
        | LogicalPlan::Sort(_) => plan.inputs().into_iter().all(may_part),
        LogicalPlan::Aggregate(aggregate) => {
            aggregate.group_expr.is_empty() && is_exact(aggregate) && may_part(&aggregate.input)
        }
        _ => false,
    }
}

fn has_subquery(expr: &Expr) -> bool {
    let is_one = |expr: &Expr| {
        let subquery =
            matches!(expr, Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_));
        Ok(subquery)
    };
    expr.exists(is_one).expect("the closure does not fail")
}

fn is_exact(aggregate: &Aggregate) -> bool {
    aggregate.aggr_expr.iter().all(|expr| match expr.clone().unalias() {
        Expr::AggregateFunction(call) => {
            let whole = |arg: &Expr| arg.get_type(aggregate.input.schema()).is_ok_and(|ty| ty.is_integer());
            match call.func.name() {
                "count" | "min" | "max" | "bool_and" | "bool_or" => true,
                "sum" => call.params.args.iter().all(whole),
                _ => false,
            }
        }
        _ => false,
    })
}

/// The plan as one partition, its rows in the order of its partitions.
pub(crate) fn in_turn(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => Arc::new(InTurnExec::new(plan, None)),
    }
}

/// Puts [`InTurnExec`] in the place of every merge of partitions that takes rows as they come.
#[derive(Debug)]
pub(crate) struct MergeInTurn;

impl PhysicalOptimizerRule for MergeInTurn {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| match node.downcast_ref::<CoalescePartitionsExec>() {
            Some(merge) => Ok(Transformed::yes(
                Arc::new(InTurnExec::new(merge.input().clone(), merge.fetch())) as Arc<dyn ExecutionPlan>
            )),
            None => Ok(Transformed::no(node)),
        })
        .data()
    }

    fn name(&self) -> &str {
        "merge_in_turn"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// All partitions as one: every row of the first, then every row of the next. All run at once, each a little ahead.
#[derive(Debug)]
struct InTurnExec {
    input: Arc<dyn ExecutionPlan>,
    rows_max: Option<usize>,
    properties: Arc<PlanProperties>,
}

impl InTurnExec {
    fn new(input: Arc<dyn ExecutionPlan>, rows_max: Option<usize>) -> InTurnExec {
        let mut equivalences = input.equivalence_properties().clone();
        equivalences.clear_orderings();
        equivalences.clear_per_partition_constants();
        let properties = PlanProperties::new(
            equivalences,
            Partitioning::UnknownPartitioning(1),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        InTurnExec { input, rows_max, properties: Arc::new(properties) }
    }
}

impl DisplayAs for InTurnExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        match self.rows_max {
            Some(rows) => write!(f, "InTurnExec: fetch={rows}"),
            None => write!(f, "InTurnExec"),
        }
    }
}

impl ExecutionPlan for InTurnExec {
    fn name(&self) -> &str {
        "InTurnExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(InTurnExec::new(input, self.rows_max))),
            _ => internal_err!("InTurnExec has one input"),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("InTurnExec has one partition");
        }
        let start = |partition| Ok(spawn_buffered(self.input.execute(partition, context.clone())?, BATCHES_AHEAD));
        let partitions = 0..self.input.output_partitioning().partition_count();
        let partitions = partitions.map(start).collect::<Result<Vec<_>>>()?;
        let rows = stream::iter(partitions).flatten();
        let rows = rows.scan(self.rows_max.unwrap_or(usize::MAX), |left, batch| {
            future::ready(match batch {
                Ok(_) if *left == 0 => None,
                Ok(batch) => {
                    let batch = batch.slice(0, batch.num_rows().min(*left));
                    *left -= batch.num_rows();
                    Some(Ok(batch))
                }
                error => Some(error),
            })
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
