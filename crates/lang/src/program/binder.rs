//! From metacode to plans: names to columns, calls to functions of the library, user functions to their bodies.
//!
//! Invariants:
//! - A value is of the rows or of the results of aggregates, never of both.
//! - Equal calls are one step, and so have one state.

mod body;

use super::Scope;
use super::plan::{Plan, Ref, Step, key_of};
use crate::diagnostic::{Diagnostic, Span};
use crate::function::{Aggregate, Argument, Form, Function, Operands, Result, State};
use crate::library::{self, Signature};
use crate::tree::{Arg, Binary, Expr, ExprKind, FunctionDef, Unary};
use crate::value::{Args, Callee, Code, Host, UserFunction, Value};
use data::{Column, Scalar, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// How deep user functions may call one another.
const DEPTH_MAX: usize = 32;

/// Where functions with a state of their own may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a reactive state engine: state functions, no aggregates.
    Reactive,
    /// Where each row stands alone: neither.
    Row,
    /// In a window: aggregates, no state functions.
    Window,
}

/// Of what there is one value each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Of the rows.
    Rows,
    /// Of the groups that aggregates give a result for.
    Results,
}

/// What an expression is bound to.
#[derive(Clone)]
pub(super) enum Bound {
    /// A constant of any kind.
    Constant(Value),
    /// A value, or several, for each row or group.
    Values(Level, Vec<Ref>),
}

/// The arguments of a call, some with names.
type Given = Vec<(Option<Arc<str>>, Option<Bound>)>;

/// An aggregate and its arguments in the rows' plan.
pub(super) struct BoundAggregate {
    pub aggregate: Box<dyn Aggregate>,
    pub args: Vec<Ref>,
}

/// Binds the metrics of one engine.
pub(super) struct Binder<'a> {
    scope: &'a Scope<'a>,
    place: Place,
    pub rows: Plan,
    pub results: Plan,
    pub states: Vec<Box<dyn State>>,
    pub aggregates: Vec<BoundAggregate>,
    /// The user functions in sight of the metric that is bound.
    functions: Arc<Vec<Arc<FunctionDef>>>,
    /// The variables of the user functions that are being gone through, the innermost last.
    frames: Vec<HashMap<Arc<str>, Bound>>,
    /// Keys of values that equal nothing else.
    unlike: usize,
    /// Is it to be seen whether a user aggregate can be put together from those of the library?
    trial: bool,
}

/// The host of constant expressions and of functions in metrics: there is none.
pub(crate) struct NoHost;
impl Host for NoHost {}

impl<'a> Binder<'a> {
    pub fn new(scope: &'a Scope<'a>, place: Place) -> Binder<'a> {
        Binder {
            scope,
            place,
            rows: Plan::default(),
            results: Plan::default(),
            states: vec![],
            aggregates: vec![],
            functions: Arc::default(),
            frames: vec![],
            unlike: 0,
            trial: false,
        }
    }

    /// Binds a metric. Its values are those of rows, in a window those of results.
    pub fn metric(&mut self, code: &Code) -> Result<Vec<Ref>> {
        self.functions = code.functions.clone();
        self.frames.clear();
        let bound = self.expr(&code.expr)?;
        self.outcome(bound).map_err(|error| error.or_at(code.expr.span))
    }

    /// Binds a call of a function. Arguments that are not constant are the inputs, in order.
    pub fn function(&mut self, function: &Value, args: &[Argument]) -> Result<Vec<Ref>> {
        let mut values: Given = vec![];
        for (place, arg) in args.iter().enumerate() {
            let value = match &arg.constant {
                Some(value) => Bound::Constant(value.clone()),
                None => {
                    let number = args[..place].iter().filter(|arg| arg.constant.is_none()).count();
                    Bound::Values(Level::Rows, vec![self.rows.input(number, arg.ty)])
                }
            };
            values.push((None, Some(value)));
        }
        let bound = self.call_value(function, values)?;
        self.outcome(bound)
    }

    /// What is put out must be of rows, in a window of results.
    fn outcome(&mut self, bound: Bound) -> Result<Vec<Ref>> {
        let wanted = if self.place == Place::Window { Level::Results } else { Level::Rows };
        match bound {
            Bound::Constant(value) => Ok(vec![self.constant(wanted, &value)?]),
            Bound::Values(level, refs) if level == wanted => Ok(refs),
            Bound::Values(..) => {
                let error = Diagnostic::new("a metric of a window needs an aggregate function");
                Err(error.help("take one value of the window's rows, for instance with last(…)"))
            }
        }
    }

    fn plan(&mut self, level: Level) -> &mut Plan {
        match level {
            Level::Rows => &mut self.rows,
            Level::Results => &mut self.results,
        }
    }

    fn constant(&mut self, level: Level, value: &Value) -> Result<Ref> {
        let found = self.plan(level).constant(value);
        found.ok_or_else(|| Diagnostic::new("a value of this kind cannot stand in a column"))
    }

    fn expr(&mut self, expr: &Expr) -> Result<Bound> {
        self.kind(expr).map_err(|error| error.or_at(expr.span))
    }

    fn kind(&mut self, expr: &Expr) -> Result<Bound> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Literal(value) => Ok(Bound::Constant(value.clone())),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Member(object, name) => match &object.kind {
                ExprKind::Name(prefix) if self.is_prefix(prefix) => self.column(name),
                _ => Err(Diagnostic::new(format!("not a column: column=`{name}`"))),
            },
            ExprKind::Unary(Unary::Negate, value) => self.operator("neg", &[value]),
            ExprKind::Unary(Unary::Not, value) => self.operator("not", &[value]),
            ExprKind::Binary(Binary::Join, ..) => Err(Diagnostic::new("`<-` has no place in a metric")),
            ExprKind::Binary(operator, left, right) => self.operator(operator.function(), &[left, right]),
            ExprKind::Conditional(condition, yes, no) => self.operator("iif", &[condition, yes, no]),
            ExprKind::Call(callee, args) => self.call(callee, args, span),
            ExprKind::Method(object, name, args) => {
                let mut values = vec![(None, Some(self.expr(object)?))];
                values.extend(self.args(args)?);
                self.call_named(name, values, span)
            }
            ExprKind::Partial(callee, args) => {
                let callee = self.callee(callee)?;
                let mut given: Vec<Option<Value>> = vec![];
                for (name, value) in self.args(args)? {
                    let value = match value {
                        None => None,
                        Some(Bound::Constant(value)) => Some(value),
                        Some(Bound::Values(..)) => {
                            return Err(Diagnostic::new("what is given to a function ahead must be constant"));
                        }
                    };
                    let Some(name) = name else {
                        given.push(value);
                        continue;
                    };
                    let place = parameter_of(&callee, &name)
                        .ok_or_else(|| Diagnostic::new(format!("unknown parameter: parameter=`{name}`")))?;
                    given.resize(given.len().max(place + 1), None);
                    given[place] = value;
                }
                Ok(Bound::Constant(self.function_value(callee, given)))
            }
            ExprKind::Lambda(def) => {
                let callee = Callee::Defined(def.clone());
                Ok(Bound::Constant(self.function_value(callee, vec![])))
            }
            ExprKind::Vector(items) => self.vector(items),
            ExprKind::Tuple(items) => self.tuple(items),
            ExprKind::Pair(low, high) => {
                let ends = (self.fixed(low)?, self.fixed(high)?);
                Ok(Bound::Constant(Value::Pair(Box::new(ends.0), Box::new(ends.1))))
            }
            ExprKind::Range(low, high) => {
                let end = |value: Value| match value {
                    Value::Scalar(_, value) => value.as_i64(),
                    _ => None,
                };
                match (end(self.fixed(low)?), end(self.fixed(high)?)) {
                    (Some(low), Some(high)) if low.abs_diff(high) < 1_000_000 => {
                        let values: Vec<i32> = match low <= high {
                            true => (low..=high).map(|value| value as i32).collect(),
                            false => (high..=low).rev().map(|value| value as i32).collect(),
                        };
                        Ok(Bound::Constant(Value::Vector(Column::of_i32(Type::Int, values, None))))
                    }
                    _ => Err(Diagnostic::new("two whole numbers, less than a million apart, are wanted around `..`")),
                }
            }
            ExprKind::Index(..) => Err(Diagnostic::new("an index has no place in a metric")),
            ExprKind::Dict(_) => Err(Diagnostic::new("a dictionary has no place in a metric")),
            ExprKind::Metacode { .. } => Err(Diagnostic::new("metacode has no place in a metric")),
            ExprKind::Select(_) => Err(Diagnostic::new("a query has no place in a metric")),
        }
    }

    fn function_value(&self, callee: Callee, given: Vec<Option<Value>>) -> Value {
        Value::Function(UserFunction { callee, given, functions: self.functions.clone() })
    }

    fn is_prefix(&self, name: &str) -> bool {
        self.scope.prefixes.iter().any(|prefix| prefix.eq_ignore_ascii_case(name))
    }

    /// A constant expression.
    pub fn fixed(&mut self, expr: &Expr) -> Result<Value> {
        match self.expr(expr)? {
            Bound::Constant(value) => Ok(value),
            Bound::Values(..) => Err(Diagnostic::at(expr.span, "a constant is wanted here")),
        }
    }

    fn column(&mut self, name: &str) -> Result<Bound> {
        let schema = self.scope.schema;
        match schema.index_of(name) {
            Some(index) => {
                let at = self.rows.input(index, schema.fields()[index].ty);
                Ok(Bound::Values(Level::Rows, vec![at]))
            }
            None => {
                let names = schema.fields().iter().map(|field| field.name.as_ref());
                Err(Diagnostic::new(format!("unknown column: column=`{name}`")).suggest(name, names))
            }
        }
    }

    fn name(&mut self, name: &Arc<str>) -> Result<Bound> {
        if let Some(bound) = self.frames.last().and_then(|frame| frame.get(name)) {
            return Ok(bound.clone());
        }
        if self.scope.schema.index_of(name).is_some() {
            return self.column(name);
        }
        let written_as_type = !name.chars().any(char::is_lowercase);
        if let Some(ty) = Type::parse(name).filter(|_| written_as_type) {
            return Ok(Bound::Constant(Value::Type(ty)));
        }
        if let Some(def) = self.defined(name) {
            let callee = Callee::Defined(def);
            return Ok(Bound::Constant(self.function_value(callee, vec![])));
        }
        if library::find(name).is_some() {
            return Ok(Bound::Constant(Value::Builtin(name.clone())));
        }
        self.column(name)
    }

    fn defined(&self, name: &str) -> Option<Arc<FunctionDef>> {
        self.functions.iter().rev().find(|def| &*def.name == name).cloned()
    }

    /// A vector of constants is one; with columns it is a tuple.
    fn vector(&mut self, items: &[Option<Expr>]) -> Result<Bound> {
        let values = match self.tuple(items)? {
            Bound::Constant(Value::Tuple(values)) => values,
            several => return Ok(several),
        };
        let mut ty = Type::Void;
        for value in &values {
            let Value::Scalar(of, _) = value else { return Ok(Bound::Constant(Value::Tuple(values))) };
            match library::common_type(ty, *of) {
                Some(common) => ty = common,
                None => return Ok(Bound::Constant(Value::Tuple(values))),
            }
        }
        let scalars = values.iter().map(|value| match value {
            Value::Scalar(_, scalar) => scalar,
            _ => unreachable!("looked at just now"),
        });
        Ok(Bound::Constant(Value::Vector(Column::of_scalars(ty, scalars))))
    }

    /// A tuple of constants is one; any other is several values, as a function with several results gives.
    fn tuple(&mut self, items: &[Option<Expr>]) -> Result<Bound> {
        let null = || Bound::Constant(Value::Scalar(Type::Void, Scalar::Null));
        let bind = |item: &Option<Expr>| item.as_ref().map_or(Ok(null()), |item| self.expr(item));
        let items = items.iter().map(bind).collect::<Result<Vec<_>>>()?;
        let Some(level) = self.level(&items)? else {
            let values = items.into_iter().map(|item| match item {
                Bound::Constant(value) => value,
                Bound::Values(..) => unreachable!("no level means no values"),
            });
            return Ok(Bound::Constant(Value::Tuple(values.collect())));
        };
        let refs = items.iter().map(|item| self.one(level, item)).collect::<Result<_>>()?;
        Ok(Bound::Values(level, refs))
    }

    /// The level of all values that are not constant; `None` if all are.
    fn level<'b>(&self, items: impl IntoIterator<Item = &'b Bound>) -> Result<Option<Level>> {
        let mut common = None;
        for item in items {
            if let Bound::Values(level, _) = item
                && common.replace(*level).is_some_and(|other| other != *level)
            {
                let error = Diagnostic::new("values of rows beside results of aggregate functions");
                return Err(error.help("take one value of the window's rows, for instance with last(…)"));
            }
        }
        Ok(common)
    }

    /// The single value of an argument at a level.
    fn one(&mut self, level: Level, bound: &Bound) -> Result<Ref> {
        match bound {
            Bound::Constant(value) => self.constant(level, value),
            Bound::Values(_, refs) => match refs.as_slice() {
                [one] => Ok(*one),
                several => {
                    Err(Diagnostic::new(format!("one value is wanted, not several: values=`{}`", several.len())))
                }
            },
        }
    }

    fn args(&mut self, args: &[Arg]) -> Result<Given> {
        let bind = |arg: &Arg| Ok((arg.name.clone(), arg.value.as_ref().map(|value| self.expr(value)).transpose()?));
        args.iter().map(bind).collect()
    }

    fn operator(&mut self, name: &str, operands: &[&Expr]) -> Result<Bound> {
        let values = operands.iter().map(|operand| Ok(Some(self.expr(operand)?))).collect::<Result<_>>()?;
        let function = library::find(name).expect("each operator has a function");
        self.apply(function, values, vec![])
    }

    fn callee(&mut self, callee: &Expr) -> Result<Callee> {
        match &callee.kind {
            ExprKind::Name(name) => match self.defined(name) {
                Some(def) => Ok(Callee::Defined(def)),
                None => Ok(Callee::Builtin(name.clone())),
            },
            ExprKind::Lambda(def) => Ok(Callee::Defined(def.clone())),
            _ => Err(Diagnostic::at(callee.span, "a function is wanted here")),
        }
    }

    fn call(&mut self, callee: &Expr, args: &[Arg], span: Span) -> Result<Bound> {
        let values = self.args(args)?;
        match &callee.kind {
            ExprKind::Name(name) => match self.frames.last().and_then(|frame| frame.get(name)).cloned() {
                Some(Bound::Constant(function @ (Value::Builtin(_) | Value::Function(_)))) => {
                    self.call_value(&function, values)
                }
                _ => self.call_named(name, values, span),
            },
            ExprKind::Lambda(def) => self.inline(&def.clone(), values, span),
            _ => Err(Diagnostic::at(callee.span, "a function is wanted here")),
        }
    }

    /// Calls a function that is a value.
    fn call_value(&mut self, function: &Value, args: Given) -> Result<Bound> {
        let (callee, given, functions) = match function {
            Value::Builtin(name) => (Callee::Builtin(name.clone()), &[][..], Arc::default()),
            Value::Function(UserFunction { callee, given, functions }) => {
                (callee.clone(), &given[..], functions.clone())
            }
            other => return Err(Diagnostic::new(format!("a function is wanted: found=`{}`", other.kind()))),
        };
        let mut args = args.into_iter();
        let mut values: Given = vec![];
        for value in given {
            match value {
                Some(value) => values.push((None, Some(Bound::Constant(value.clone())))),
                None => values.push(args.next().unwrap_or((None, None))),
            }
        }
        values.extend(args);
        // It sees the functions it was written beside, and none of the variables here.
        let functions = std::mem::replace(&mut self.functions, functions);
        let bound = match callee {
            Callee::Builtin(name) => self.call_named(&name, values, Span::default()),
            Callee::Defined(def) => self.inline(&def, values, def.span),
        };
        self.functions = functions;
        bound
    }

    fn call_named(&mut self, name: &str, values: Given, span: Span) -> Result<Bound> {
        // `::f` is the library's own function, whatever else is called so.
        let (name, own) = name.strip_prefix("::").map_or((name, false), |name| (name, true));
        if let Some(def) = self.defined(name).filter(|_| !own) {
            return self.inline(&def, values, span);
        }
        let Some(function) = library::find(name) else {
            let known = library::all().map(|function| function.name);
            let known: Vec<&str> = known.chain(self.functions.iter().map(|def| def.name.as_ref())).collect();
            return Err(Diagnostic::new(format!("unknown function: function=`{name}`")).suggest(name, known));
        };
        let (mut by_place, mut by_name) = (vec![], vec![]);
        for (name, value) in values {
            match (name, value) {
                (Some(name), Some(value)) => by_name.push((name, value)),
                (_, value) => by_place.push(value),
            }
        }
        self.apply(function, by_place, by_name)
    }

    fn apply(
        &mut self,
        function: &'static Function,
        by_place: Vec<Option<Bound>>,
        by_name: Vec<(Arc<str>, Bound)>,
    ) -> Result<Bound> {
        let signature = function.signature();
        let args = signature.arrange(by_place, by_name)?;
        let name = function.name;
        let level = self.level(args.iter().flatten())?;
        let form = function.form(args.len());
        let whole_vector = |(place, arg): (usize, &Option<Bound>)| {
            signature.by_row(place) && matches!(arg, Some(Bound::Constant(Value::Vector(_))))
        };
        let constant = matches!(form, Form::Row(_) | Form::Across(_) | Form::Calling(..) | Form::Script(_))
            || args.iter().enumerate().any(whole_vector);
        if level.is_none() && constant {
            let values = args.into_iter().map(|arg| match arg {
                Some(Bound::Constant(value)) => Some(value),
                _ => None,
            });
            let args = Args { values: values.collect(), ..Args::default() };
            return Ok(Bound::Constant(library::call(function, &args, &mut NoHost)?));
        }
        match (form, self.place) {
            (Form::Row(_) | Form::Across(_), _)
            | (Form::State(_) | Form::Calling(..), Place::Reactive)
            | (Form::Aggregate(_), Place::Window) => {}
            (Form::Aggregate(_), Place::Reactive) => {
                let error =
                    format!("{name} is an aggregate function and is not supported in the reactive state engine");
                let error = Diagnostic::new(format!("{error}: function=`{name}`"));
                let alike = [format!("cum{name}"), format!("m{name}")];
                let alike: Vec<String> = alike.into_iter().filter(|name| library::find(name).is_some()).collect();
                return Err(if alike.is_empty() { error } else { error.help(format!("see {}", alike.join(", "))) });
            }
            (Form::Aggregate(_), Place::Row) => {
                return Err(Diagnostic::new(format!("an aggregate function has no place here: function=`{name}`")));
            }
            (Form::State(_) | Form::Calling(..), Place::Window) => {
                let error = format!("a state function is not supported in a window: function=`{name}`");
                return Err(Diagnostic::new(error).help("put it into a reactive state engine before this one"));
            }
            (Form::State(_) | Form::Calling(..), Place::Row) => {
                return Err(Diagnostic::new(format!("a state function has no place here: function=`{name}`")));
            }
            (Form::Script(_), _) => {
                return Err(Diagnostic::new(format!("{name} is not supported on streams: function=`{name}`")));
            }
            (Form::ByArity(_), _) => unreachable!("resolved by the number of arguments"),
        }
        if let (Form::Aggregate(_), Some(Level::Results)) = (form, level) {
            let error = Diagnostic::new(format!("nested aggregate: function=`{name}`"));
            return Err(error.help("aggregate in one engine and aggregate its output in the next"));
        }
        if let Form::Calling(bind, _) = form {
            return self.apply_calling(name, &signature, &args, *bind);
        }
        let level = level.unwrap_or(Level::Rows);
        let (mut arguments, mut refs, mut key) = (vec![], vec![], name.to_string());
        for (place, arg) in args.iter().enumerate() {
            let parameter = signature.name(place);
            match arg {
                Some(Bound::Values(..)) if !signature.by_row(place) => return Err(must_be_constant(name, parameter)),
                Some(Bound::Constant(value)) if !signature.by_row(place) => {
                    key += &format!(", {}", self.key(value));
                    arguments.push(Argument::constant(value.clone()));
                }
                None if !signature.by_row(place) => {
                    key += ", ";
                    arguments.push(Argument::left_out());
                }
                arg => {
                    let left_out = Bound::Constant(Value::Scalar(Type::Void, Scalar::Null));
                    let at = self.one(level, arg.as_ref().unwrap_or(&left_out))?;
                    key += &format!(", step {}.{}", at.step, at.result);
                    let constant = match arg {
                        Some(Bound::Constant(value @ Value::Scalar(..))) => Some(value.clone()),
                        _ => None,
                    };
                    arguments.push(Argument { ty: self.plan(level).ty(at), constant });
                    refs.push(at);
                }
            }
        }
        let named = |error: Diagnostic| of_function(name, error);
        match form {
            Form::Row(bind) | Form::Across(bind) => {
                let step = self.plan(level).step(key, || {
                    let bound = match form {
                        Form::Row(_) => library::bind_row(&signature, *bind, &arguments),
                        _ => bind(&arguments),
                    };
                    let bound = bound.map_err(named)?;
                    let ty = bound.ty;
                    Ok((Step::Row(bound, refs), vec![ty]))
                })?;
                Ok(Bound::Values(level, vec![Ref { step, result: 0 }]))
            }
            Form::State(bind) => {
                let states = &mut self.states;
                let step = self.rows.step(key, || {
                    let state = bind(&arguments).map_err(named)?;
                    let types = state.types();
                    states.push(state);
                    Ok((Step::State(states.len() - 1, refs), types))
                })?;
                let results = 0..self.rows.results(step);
                Ok(Bound::Values(level, results.map(|result| Ref { step, result }).collect()))
            }
            Form::Aggregate(bind) => {
                let aggregates = &mut self.aggregates;
                let step = self.results.step(key, || {
                    let aggregate = bind(&arguments).map_err(named)?;
                    let ty = aggregate.ty();
                    aggregates.push(BoundAggregate { aggregate, args: refs });
                    Ok((Step::Input(aggregates.len() - 1), vec![ty]))
                })?;
                Ok(Bound::Values(Level::Results, vec![Ref { step, result: 0 }]))
            }
            Form::Calling(..) | Form::Script(_) | Form::ByArity(_) => unreachable!("gone through above"),
        }
    }

    /// A call of a function that calls a function.
    fn apply_calling(
        &mut self,
        name: &str,
        signature: &Signature,
        args: &[Option<Bound>],
        bind: fn(&Operands) -> Result<Box<dyn State>>,
    ) -> Result<Bound> {
        let (mut places, mut refs, mut key) = (vec![], vec![], name.to_string());
        for (place, arg) in args.iter().enumerate() {
            places.push(match arg {
                None => {
                    key += ", ";
                    vec![Argument::left_out()]
                }
                Some(Bound::Constant(value)) => {
                    key += &format!(", {}", self.key(value));
                    vec![Argument::constant(value.clone())]
                }
                Some(Bound::Values(_, values)) if signature.by_row(place) => {
                    key += &format!(", {values:?}");
                    refs.extend(values);
                    values.iter().map(|at| Argument::of(self.rows.ty(*at))).collect()
                }
                Some(Bound::Values(..)) => return Err(must_be_constant(name, signature.name(place))),
            });
        }
        let states = &mut self.states;
        let step = self.rows.step(key, || {
            let state = bind(&Operands { places, interpret: true }).map_err(|error| of_function(name, error))?;
            let types = state.types();
            states.push(state);
            Ok((Step::State(states.len() - 1, refs), types))
        })?;
        let results = 0..self.rows.results(step);
        Ok(Bound::Values(Level::Rows, results.map(|result| Ref { step, result }).collect()))
    }

    fn key(&mut self, value: &Value) -> String {
        key_of(value).unwrap_or_else(|| {
            self.unlike += 1;
            format!("value {}", self.unlike)
        })
    }
}

/// The place of a function's parameter.
fn parameter_of(callee: &Callee, name: &str) -> Option<usize> {
    match callee {
        Callee::Defined(def) => def.parameters.iter().position(|parameter| &*parameter.name == name),
        Callee::Builtin(function) => {
            let parameters = library::find(function)?.signature().parameters;
            parameters.iter().position(|parameter| parameter.name.eq_ignore_ascii_case(name))
        }
    }
}

fn must_be_constant(function: &str, parameter: &str) -> Diagnostic {
    Diagnostic::new(format!("{function}: an argument must be constant: parameter=`{parameter}`"))
}

/// An error that says which function it is of.
fn of_function(name: &str, error: Diagnostic) -> Diagnostic {
    match error.message.contains(name) {
        true => error,
        false => Diagnostic { message: format!("{name}: {}", error.message), ..error },
    }
}
