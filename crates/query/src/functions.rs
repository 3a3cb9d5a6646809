//! The function library of the language in SQL: the same implementations, so the same answers.
//!
//! A row function is called as any scalar function, an aggregate with or without GROUP BY, a state function with OVER:
//! `msum(price, 3) over (partition by sym order by time)`; it takes the rows of each partition in their order.
//!
//! Where SQL has a function of that name, SQL's is kept if the standard says what it gives ([`SQL_OWN`]): its aggregates
//! skip NULL as the language's do, and give the same. Elsewhere the language wins: `log` is the natural logarithm, as
//! in scripts. Names know no case here, as all names in SQL. Operators are SQL's throughout: `NULL = NULL` is NULL.

mod aggregate;
mod scalar;
mod window;

use crate::session::type_of;
use arrow::array::ArrayRef;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, IntervalMonthDayNano};
use data::{Column, Scalar, Schema, Type};
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_err};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF, Signature, TypeSignature, Volatility, WindowUDF};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use lang::function::{Argument, Form, Function};
use lang::{Diagnostic, Value, library};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Names that keep SQL's meaning.
const SQL_OWN: &[&str] = &[
    "avg",
    "ceil",
    "coalesce",
    "concat",
    "count",
    "cume_dist",
    "dense_rank",
    "extract",
    "first_value",
    "floor",
    "gcd",
    "grouping",
    "initcap",
    "lag",
    "last_value",
    "lcm",
    "lead",
    "left",
    "length",
    "lower",
    "lpad",
    "ltrim",
    "max",
    "min",
    "now",
    "nth_value",
    "ntile",
    "nullif",
    "overlay",
    "percent_rank",
    "position",
    "rank",
    "repeat",
    "replace",
    "right",
    "row_number",
    "rpad",
    "rtrim",
    "strpos",
    "substr",
    "substring",
    "sum",
    "trim",
    "trunc",
    "upper",
];

/// Does a name keep what SQL means by it, so that the library's function of that name is not in SQL?
pub fn is_of_sql(name: &str) -> bool {
    SQL_OWN.contains(&name.to_lowercase().as_str())
}

/// Adds the functions to a session. Of a function that is another one with more arguments, as `max(x)` and `max(x, y)`,
/// SQL has the one with the fewest.
pub(crate) fn register(
    mut builder: SessionStateBuilder,
    functions: impl Iterator<Item = &'static Function>,
) -> SessionStateBuilder {
    for function in functions.filter(|function| !is_of_sql(function.name)) {
        match function.form(1) {
            Form::Row(_) | Form::Across(_) => {
                let udf = ScalarUDF::from(scalar::Scalar(Entry::new(function)));
                builder.scalar_functions().get_or_insert_default().push(Arc::new(udf));
            }
            Form::Aggregate(_) => {
                let udf = AggregateUDF::from(aggregate::Aggregate(Arc::new(Entry::new(function))));
                builder.aggregate_functions().get_or_insert_default().push(Arc::new(udf));
            }
            Form::State(_) => {
                let udf = WindowUDF::from(window::Window(Arc::new(Entry::new(function))));
                builder.window_functions().get_or_insert_default().push(Arc::new(udf));
            }
            Form::Calling(..) | Form::Script(_) | Form::ByArity(_) => {}
        }
    }
    builder
}

/// Has SQL this name for a state function of the library?
pub(crate) fn needs_order(name: &str) -> bool {
    let mut states = library::all().filter(|function| matches!(function.form(1), Form::State(_)));
    states.any(|function| function.name.eq_ignore_ascii_case(name))
}

/// One function of the library as DataFusion knows it: by its name in small letters, taking any arguments. What these
/// must be the library itself checks.
struct Entry {
    function: &'static Function,
    name: String,
    any: Signature,
    parameters: library::Signature,
}

impl Entry {
    fn new(function: &'static Function) -> Entry {
        let any = TypeSignature::OneOf(vec![TypeSignature::Nullary, TypeSignature::VariadicAny]);
        Entry {
            function,
            name: function.name.to_lowercase(),
            any: Signature::new(any, Volatility::Immutable),
            parameters: function.signature(),
        }
    }

    /// What is known of the arguments of a call. Settings must be constant.
    fn arguments<'a>(
        &self,
        fields: &[FieldRef],
        constants: impl Iterator<Item = Option<&'a ScalarValue>>,
    ) -> Result<Vec<Argument>> {
        let mut arguments = vec![];
        for (place, (field, constant)) in fields.iter().zip(constants).enumerate() {
            let argument = match constant {
                Some(constant) => Argument { constant: Some(value(field, constant)?), ..of(field) },
                None if self.parameters.by_row(place) => of(field),
                None => {
                    let (name, parameter) = (self.function.name, self.parameters.name(place));
                    return plan_err!("{name}: an argument must be constant: parameter=`{parameter}`");
                }
            };
            arguments.push(Some(argument));
        }
        self.arranged(arguments)
    }

    /// The arguments of a call whose physical expressions are known.
    fn physical_arguments(&self, fields: &[FieldRef], exprs: &[Arc<dyn PhysicalExpr>]) -> Result<Vec<Argument>> {
        self.arguments(fields, exprs.iter().map(|expr| expr.downcast_ref::<Literal>().map(Literal::value)))
    }

    /// Binds a call of which the types of the arguments alone are known, to learn the type of its result. As no such
    /// type hangs on the value of a setting, the first of [`STAND_INS`] that is legal stands for those that are numbers
    /// or lengths of time; other settings are left out.
    fn bind_typed<T>(&self, fields: &[FieldRef], bind: impl Fn(&[Argument]) -> Result<T>) -> Result<T> {
        let mut refused = None;
        for stand_in in STAND_INS {
            let argument = |(place, field): (usize, &FieldRef)| {
                let argument = of(field);
                Some(match argument.ty {
                    _ if self.parameters.by_row(place) => argument,
                    _ if is_interval(field) => Argument::constant(Value::Duration(1, stand_in.unit.into())),
                    ty if ty.is_float() => Argument::constant(Value::Scalar(ty, stand_in.number.into())),
                    ty if ty.is_integer() => Argument::constant(Value::Scalar(ty, (stand_in.number as i64).into())),
                    _ => Argument::left_out(),
                })
            };
            let arguments = self.arranged(fields.iter().enumerate().map(argument).collect())?;
            match bind(&arguments) {
                Ok(bound) => return Ok(bound),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.expect("there are stand-ins"))
    }

    fn arranged(&self, arguments: Vec<Option<Argument>>) -> Result<Vec<Argument>> {
        let arranged = self.parameters.arrange(arguments, vec![]).map_err(|error| self.refused(error))?;
        Ok(arranged.into_iter().map(|argument| argument.unwrap_or_else(Argument::left_out)).collect())
    }

    /// The arguments that have a value for each row.
    fn columns(&self, arguments: &[Argument], arrays: &[ArrayRef]) -> Result<Vec<Column>> {
        let by_row = arguments.iter().zip(arrays).enumerate().filter(|(place, _)| self.parameters.by_row(*place));
        by_row.map(|(_, (argument, array))| column(argument.ty, array)).collect()
    }

    fn refused(&self, error: Diagnostic) -> DataFusionError {
        DataFusionError::Plan(self.named(error))
    }

    fn failed(&self, error: Diagnostic) -> DataFusionError {
        DataFusionError::Execution(self.named(error))
    }

    fn named(&self, error: Diagnostic) -> String {
        let name = self.function.name;
        if error.message.contains(name) { error.to_string() } else { format!("{name}: {error}") }
    }

    /// The field of a result, which keeps the script type.
    fn field(&self, ty: Type) -> FieldRef {
        let schema = Schema::of(&[(&self.name, ty)]).to_arrow();
        schema.fields()[0].clone()
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.name == other.name
    }
}

impl Eq for Entry {}

impl Hash for Entry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// What stands for a setting of unknown value.
struct StandIn {
    number: f64,
    unit: &'static str,
}

/// Together they suit all settings: windows and levels, periods of at least 2, factors from 0 to 1; stretches of any time
/// type.
const STAND_INS: [StandIn; 3] =
    [StandIn { number: 2.0, unit: "d" }, StandIn { number: 1.0, unit: "M" }, StandIn { number: 0.5, unit: "s" }];

fn of(field: &Field) -> Argument {
    Argument::of(type_of(field))
}

fn is_interval(field: &Field) -> bool {
    matches!(field.data_type(), DataType::Interval(_))
}

/// A constant as a value of the language.
fn value(field: &Field, constant: &ScalarValue) -> Result<Value> {
    if let ScalarValue::IntervalMonthDayNano(Some(interval)) = constant {
        return duration(interval);
    }
    let ty = type_of(field);
    Ok(match column(ty, &constant.to_array()?)?.get(0) {
        Scalar::List(elements) => Value::Vector(elements.as_ref().clone()),
        value => Value::Scalar(ty, value),
    })
}

/// `interval '3 seconds'` is the language's `3s`.
fn duration(interval: &IntervalMonthDayNano) -> Result<Value> {
    let (count, unit) = match (interval.months, interval.days, interval.nanoseconds) {
        (months, 0, 0) if months != 0 => (months.into(), "M"),
        (0, days, 0) if days != 0 => (days.into(), "d"),
        (0, 0, ns) if ns % 1_000_000_000 == 0 => (ns / 1_000_000_000, "s"),
        (0, 0, ns) if ns % 1_000_000 == 0 => (ns / 1_000_000, "ms"),
        (0, 0, ns) => (ns, "ns"),
        _ => return plan_err!("an interval of months, of days, or of hours and smaller units is wanted"),
    };
    Ok(Value::Duration(count, unit.into()))
}

fn column(ty: Type, array: &ArrayRef) -> Result<Column> {
    let wanted = ty.to_arrow();
    let array = if *array.data_type() == wanted { array.clone() } else { cast(array, &wanted)? };
    Column::from_arrow(ty, &array).map_err(|error| DataFusionError::Execution(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Batch;
    use lang::tree::ExprKind;
    use lang::{Host, Source, eval_over, parse_expr};

    struct NoHost;

    impl Host for NoHost {}

    /// The type of what a call of these arguments gives.
    fn bound(function: &'static Function, arguments: &[Argument]) -> Result<Vec<Type>> {
        let entry = Entry::new(function);
        let refused = |error| entry.refused(error);
        match function.form(arguments.len()) {
            Form::Aggregate(bind) => bind(arguments).map(|bound| vec![bound.ty()]).map_err(refused),
            Form::State(bind) => bind(arguments).map(|bound| bound.types()).map_err(refused),
            _ => unreachable!("left out before"),
        }
    }

    #[test]
    fn the_stand_ins_suit_every_function() {
        let nothing = Batch::empty(Schema::of(&[]));
        let (mut tried, mut wrong) = (0, vec![]);
        for function in library::all().filter(|function| !is_of_sql(function.name)) {
            let call = parse_expr(&Source::new(function.name, function.example.0)).unwrap();
            let ExprKind::Call(callee, args) = &call.kind else { continue };
            let is_it = matches!(&callee.kind, ExprKind::Name(name) if **name == *function.name);
            // Row functions are bound with the values of their settings at once.
            let is_typed = matches!(function.form(args.len()), Form::Aggregate(_) | Form::State(_));
            if !is_it || !is_typed || args.iter().any(|arg| arg.name.is_some()) {
                continue;
            }
            let entry = Entry::new(function);
            let values = args.iter().map(|arg| {
                let value = arg.value.as_ref().expect("a value");
                eval_over(value, &nothing, &Arc::default(), &mut NoHost).expect("an example's argument")
            });
            let (mut fields, mut arguments) = (vec![], vec![]);
            for (place, value) in values.enumerate() {
                // As a column it comes with its type alone.
                let constant = Argument::constant(value.clone());
                let by_row = entry.parameters.by_row(place);
                arguments.push(Some(if by_row { Argument::of(constant.ty) } else { constant.clone() }));
                fields.push(match value {
                    Value::Duration(..) => {
                        let interval = DataType::Interval(arrow::datatypes::IntervalUnit::MonthDayNano);
                        Arc::new(Field::new("x", interval, true))
                    }
                    _ => entry.field(constant.ty),
                });
            }
            tried += 1;
            let real = entry.arranged(arguments).and_then(|arguments| bound(function, &arguments));
            let stood_in = entry.bind_typed(&fields, |arguments| bound(function, arguments));
            match (&real, &stood_in) {
                (Ok(real), Ok(stood_in)) if real == stood_in => {}
                _ => wrong.push(format!("{}: {real:?}, with stand-ins {stood_in:?}", function.example.0)),
            }
        }
        assert!(tried > 100, "{tried}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
