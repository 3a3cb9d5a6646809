//! State functions as window functions of SQL: a partition is a key, its rows come in the partition's order.

use super::Entry;
use arrow::array::ArrayRef;
use arrow::datatypes::FieldRef;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{PartitionEvaluator, Signature, WindowUDFImpl};
use lang::function::{Argument, Form, State};
use std::fmt;
use std::sync::Arc;

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Window(pub(super) Arc<Entry>);

impl Window {
    fn bind(&self, arguments: &[Argument]) -> Result<Box<dyn State>> {
        let Form::State(bind) = self.0.function.form(1) else { unreachable!("registered by its form") };
        bind(arguments).map_err(|error| self.0.refused(error))
    }
}

impl WindowUDFImpl for Window {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn signature(&self) -> &Signature {
        &self.0.any
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        let state = self.0.bind_typed(args.input_fields(), |arguments| self.bind(arguments))?;
        match state.types().as_slice() {
            [ty] => Ok(Arc::new(self.0.field(*ty).as_ref().clone().with_name(args.name()))),
            several => plan_err!("{} gives {} results, which scripts alone can take", self.name(), several.len()),
        }
    }

    fn partition_evaluator(&self, args: PartitionEvaluatorArgs) -> Result<Box<dyn PartitionEvaluator>> {
        let arguments = self.0.physical_arguments(args.input_fields(), args.input_exprs())?;
        let state = self.bind(&arguments)?;
        Ok(Box::new(Partition { entry: self.0.clone(), arguments, state }))
    }
}

struct Partition {
    entry: Arc<Entry>,
    arguments: Vec<Argument>,
    state: Box<dyn State>,
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partition").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

impl PartitionEvaluator for Partition {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        const KEY: u32 = 0;
        self.state.reset(&[KEY]);
        let columns = self.entry.columns(&self.arguments, values)?;
        let results = self.state.push(&vec![KEY; rows], &columns).map_err(|error| self.entry.failed(error))?;
        Ok(results[0].to_arrow())
    }
}
