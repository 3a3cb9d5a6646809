//! Row functions as scalar functions of SQL.

use super::Entry;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature};
use lang::function::{Argument, BoundRow, Form};
use lang::library::bind_row;

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Scalar(pub(super) Entry);

impl Scalar {
    fn bind(&self, arguments: &[Argument]) -> Result<BoundRow> {
        let bound = match self.0.function.form(1) {
            Form::Row(bind) => bind_row(&self.0.parameters, *bind, arguments),
            Form::Across(bind) => bind(arguments),
            _ => unreachable!("registered by its form"),
        };
        bound.map_err(|error| self.0.refused(error))
    }
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn signature(&self) -> &Signature {
        &self.0.any
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type of a result hangs on the script types of the arguments")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let arguments = self.0.arguments(args.arg_fields, args.scalar_arguments.iter().copied())?;
        Ok(self.0.field(self.bind(&arguments)?.ty))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arguments = self.0.arguments(&args.arg_fields, args.args.iter().map(constant))?;
        let bound = self.bind(&arguments)?;
        let arrays = args.args.iter().map(|value| value.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let result = (bound.kernel)(&self.0.columns(&arguments, &arrays)?).map_err(|error| self.0.failed(error))?;
        Ok(ColumnarValue::Array(result.to_arrow()))
    }
}

fn constant(value: &ColumnarValue) -> Option<&ScalarValue> {
    match value {
        ColumnarValue::Scalar(value) => Some(value),
        ColumnarValue::Array(_) => None,
    }
}
