//! A condition on the rows of one table, as it stands after WHERE.

use crate::error::{Error, Result};
use crate::names::Text;
use crate::session::base_state;
use arrow::array::AsArray;
use arrow::datatypes::DataType;
use data::{Batch, Schema};
use datafusion::common::DFSchema;
use datafusion::execution::session_state::SessionState;
use datafusion::physical_expr::PhysicalExpr;
use std::sync::{Arc, OnceLock};

/// A condition bound to a schema. Names know no case; functions are those of every query.
#[derive(Debug, Clone)]
pub struct Filter {
    condition: Arc<dyn PhysicalExpr>,
}

impl Filter {
    /// The condition of this text; an error if it is none, or not about these columns.
    pub fn new(schema: &Schema, text: &str) -> Result<Filter> {
        static STATE: OnceLock<SessionState> = OnceLock::new();
        let state = STATE.get_or_init(|| base_state(1));
        let written = Text::read(text)?;
        let wrong = |error| Error::of(&error, |name| written.place(name));
        let columns = DFSchema::try_from(schema.to_arrow()).map_err(wrong)?;
        let condition = state.create_logical_expr(&written.spelled_as(&schema.names()), &columns).map_err(wrong)?;
        let condition = state.create_physical_expr(condition, &columns).map_err(wrong)?;
        match condition.data_type(columns.as_arrow()).map_err(wrong)? {
            DataType::Boolean => Ok(Filter { condition }),
            other => Err(Error::Invalid { reason: format!("a filter is a condition: type=`{other}`"), place: None }),
        }
    }

    /// The rows for which it holds.
    pub fn apply(&self, rows: &Batch) -> Result<Batch> {
        let wrong = |error| Error::of(&error, |_| None);
        let holds = self.condition.evaluate(&rows.to_arrow()).map_err(wrong)?;
        let holds = holds.into_array(rows.rows()).map_err(wrong)?;
        let kept: Vec<u32> =
            (0u32..).zip(holds.as_boolean()).filter(|(_, holds)| *holds == Some(true)).map(|(row, _)| row).collect();
        Ok(if kept.len() == rows.rows() { rows.clone() } else { rows.take(&kept) })
    }
}
