//! Calls: of user functions, of the library, of the host.
//!
//! A name is looked for in this order: variables that hold a function, user functions, the library, the host.

use super::statement::Flow;
use super::{Frame, Functions, Interpreter};
use crate::diagnostic::{Diagnostic, Span};
use crate::function::Result;
use crate::tree::{Arg, Expr, ExprKind, FunctionDef};
use crate::value::{Args, Callee, UserFunction, Value};
use data::Type;
use std::sync::Arc;

impl Interpreter<'_> {
    pub(super) fn call_expr(&mut self, callee: &Expr, args: &[Arg], span: Span) -> Result<Value> {
        let ExprKind::Name(name) = &callee.kind else {
            let function = self.eval(callee)?;
            let args = self.args(args, span)?;
            return self.call_value(&function, args);
        };
        if super::joins::is_join(name) && self.user_function(name).is_none() {
            let mut evaluated = self.args(args, span)?;
            super::joins::note_right(&mut evaluated, args);
            return self.call_named(name, evaluated);
        }
        if super::tables::takes_columns(name) && self.user_function(name).is_none() {
            let args = self.named_args(args, span)?;
            return self.call_named(name, args);
        }
        let evaluated = self.args(args, span)?;
        self.call_with_targets(name, args, evaluated)
    }

    /// `object.name(args)`: a method of the host's object, else `name(object, args)`.
    pub(super) fn method_call(
        &mut self,
        value: Value,
        object: &Expr,
        name: &Arc<str>,
        args: &[Arg],
        span: Span,
    ) -> Result<Value> {
        let mut evaluated = self.args(args, span)?;
        if let Value::Object(object) = &value
            && let Some(result) = self.host.method(object, name, &evaluated)
        {
            return result;
        }
        let class = if let Value::Object(object) = &value { Some(object.class()) } else { None };
        // A dictionary may hold functions.
        if let Value::Dict(dict) = &value {
            let held = dict.lock().get(&data::Scalar::from(&**name)).cloned();
            if let Some(function @ (Value::Function(_) | Value::Builtin(_))) = held {
                return self.call_value(&function, evaluated);
            }
        }
        evaluated.values.insert(0, Some(value));
        evaluated.spans.insert(0, object.span);
        let first = Arg { name: None, value: Some(object.clone()) };
        // Only what may be changed needs the expression of its arguments.
        let result = if name.ends_with('!') || self.user_function(name).is_some() {
            let targets: Vec<Arg> = std::iter::once(first).chain(args.iter().cloned()).collect();
            self.call_with_targets(name, &targets, evaluated)
        } else {
            self.call_named(name, evaluated)
        };
        result.map_err(|error| match class {
            Some(class) if error.message.starts_with("unknown function") => {
                let message = format!("unknown method: object=`{class}`, method=`{name}`");
                Diagnostic { message, ..Diagnostic::at(span, "") }.suggest(name, self.host.names())
            }
            _ => error,
        })
    }

    /// Calls a function by name; what it changes of its arguments goes back to where they came from.
    fn call_with_targets(&mut self, name: &Arc<str>, exprs: &[Arg], args: Args) -> Result<Value> {
        let target = |place: usize| exprs.get(place).and_then(|arg| arg.value.as_ref());
        let held = self.frame.variables.get(name).cloned();
        if let Some(function @ (Value::Function(_) | Value::Builtin(_))) = held {
            return self.call_value(&function, args);
        }
        if let Some(def) = self.user_function(name) {
            let functions = self.frame.functions.clone();
            let (value, changed) = self.call_def(&def, &functions, args)?;
            for (place, changed) in changed {
                if let Some(target) = target(place) {
                    self.assign(target, changed)?;
                }
            }
            return Ok(value);
        }
        let value = self.call_named(name, args)?;
        // `append!` and its like change their first argument: containers in place, vectors and tuples by their result.
        if name.ends_with('!')
            && !matches!(value, Value::Table(_) | Value::Dict(_) | Value::Object(_))
            && let Some(target) = target(0)
            && matches!(target.kind, ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member(..))
        {
            self.assign(target, value.clone())?;
        }
        Ok(value)
    }

    pub(super) fn call_named(&mut self, name: &str, args: Args) -> Result<Value> {
        if let Some(def) = self.user_function(name) {
            let functions = self.frame.functions.clone();
            return Ok(self.call_def(&def, &functions, args)?.0);
        }
        let span = args.span;
        match name {
            "objByName" | "objectByName" => self.object_by_name(&args),
            "undef" => self.undefine(&args),
            "eval" => match args.values.first() {
                Some(Some(Value::Code(code))) => self.eval_code(&code.clone(), None),
                _ => Err(Diagnostic::new("metacode is wanted: function=`eval`")),
            },
            "expr" => super::metacode::expr(&args),
            "DECIMAL32" | "DECIMAL64" | "DECIMAL128" => decimal_type(name, &args),
            _ => self.call_builtin(name, &args),
        }
        .map_err(|error| error.or_at(span))
    }

    /// Calls a function of the library or the host.
    pub(super) fn call_builtin(&mut self, name: &str, args: &Args) -> Result<Value> {
        let plain = name.trim_start_matches("::");
        // `int()` is the NULL of INT.
        if args.values.is_empty()
            && args.named.is_empty()
            && let Some((ty, _)) = Type::NAMED.iter().find(|(_, known)| known.to_lowercase() == plain)
        {
            return Ok(Value::Scalar(*ty, data::Scalar::Null));
        }
        // A function that changes its argument is the plain one, whose result goes back.
        let changing = || plain.strip_suffix('!').and_then(crate::library::find);
        if let Some(function) = crate::library::find(plain).or_else(changing) {
            let value = self.deeper(|this| crate::library::call(function, args, this))?;
            self.make(value.bytes())?;
            return Ok(value);
        }
        if let Some(result) = self.host.call(plain, args) {
            return result;
        }
        if let Some(value) = self.frame.variables.get(plain) {
            let kind = value.kind();
            return Err(Diagnostic::at(args.span, format!("not a function: name=`{plain}`, found=`{kind}`")));
        }
        let host = self.host.names();
        let known = self.frame.functions.iter().map(|def| &*def.name);
        let known = known
            .chain(host)
            .chain(super::STATEMENT_WORDS.iter().copied())
            .chain(crate::library::all().map(|function| function.name));
        Err(Diagnostic::at(args.span, format!("unknown function: name=`{plain}`")).suggest(plain, known))
    }

    pub(super) fn call_value(&mut self, function: &Value, args: Args) -> Result<Value> {
        match function {
            Value::Builtin(name) => self.call_named(&name.clone(), args),
            Value::Function(function) => self.call_function_value(function, args),
            other => Err(Diagnostic::new(format!("not a function: found=`{}`", other.kind())).or_at(args.span)),
        }
    }

    pub(super) fn call_function_value(&mut self, function: &UserFunction, args: Args) -> Result<Value> {
        let args = fill(&function.given, args);
        match &function.callee {
            Callee::Builtin(name) => self.call_named(name, args),
            Callee::Defined(def) => Ok(self.call_def(def, &function.functions, args)?.0),
        }
    }

    /// Runs a user function. Beside its value come those of its `mutable` parameters, by place.
    fn call_def(
        &mut self,
        def: &Arc<FunctionDef>,
        functions: &Functions,
        args: Args,
    ) -> Result<(Value, Vec<(usize, Value)>)> {
        let span = args.span;
        let mut values = bind(def, args)?;
        let frame = Frame { functions: functions.clone(), function: true, ..Frame::default() };
        let caller = std::mem::replace(&mut self.frame, frame);
        self.callers.push(caller);
        let result = self.deeper(|this| {
            for (parameter, value) in def.parameters.iter().zip(&mut values) {
                let value = match (value.take(), &parameter.default) {
                    (Some(value), _) => value,
                    (None, Some(default)) => this.eval(default)?,
                    (None, None) => {
                        let (function, name) = (name_of(def), &parameter.name);
                        let message = format!("argument is missing: function=`{function}`, parameter=`{name}`");
                        return Err(Diagnostic::at(span, message));
                    }
                };
                this.frame.variables.insert(parameter.name.clone(), value);
            }
            match this.statements(&def.body)? {
                Flow::Return(value) => Ok(value),
                _ => Ok(Value::NULL),
            }
        });
        let caller = self.callers.pop().expect("pushed above");
        let mut callee = std::mem::replace(&mut self.frame, caller);
        let value = result.map_err(|error| self.place_in_caller(error, def, span))?;
        let mutable = def.parameters.iter().enumerate().filter(|(_, parameter)| parameter.mutable);
        let changed = mutable.filter_map(|(place, parameter)| Some((place, callee.variables.remove(&parameter.name)?)));
        Ok((value, changed.collect()))
    }

    /// An error within a function points into the text that the function was defined in. Where that is another text
    /// than the one at work, the error points at the call.
    fn place_in_caller(&self, error: Diagnostic, def: &FunctionDef, call: Span) -> Diagnostic {
        let here = self
            .source
            .as_ref()
            .is_some_and(|source| source.text.get(def.span.start as usize..def.span.end as usize) == Some(&*def.text));
        if here || self.source.is_none() { error } else { Diagnostic { span: Some(call), ..error } }
    }

    /// `function{arguments}`
    pub(super) fn partial(&mut self, callee: &Expr, args: &[Arg]) -> Result<Value> {
        let function = match &callee.kind {
            // A method of a value: the value is its first argument.
            ExprKind::Member(object, name) => {
                let object = self.eval(object)?;
                let callee = match self.user_function(name) {
                    Some(def) => Callee::Defined(def),
                    None => Callee::Builtin(name.clone()),
                };
                UserFunction { callee, given: vec![Some(object)], functions: self.frame.functions.clone() }
            }
            _ => match self.eval(callee)? {
                Value::Function(function) => function,
                Value::Builtin(name) => {
                    UserFunction { callee: Callee::Builtin(name), given: vec![], functions: Functions::default() }
                }
                other => return Err(Diagnostic::at(callee.span, format!("not a function: found=`{}`", other.kind()))),
            },
        };
        let args = self.args(args, callee.span)?;
        let mut given = fill(&function.given, Args { named: vec![], ..args.clone() }).values;
        for (name, value) in args.named {
            let Callee::Defined(def) = &function.callee else {
                return Err(Diagnostic::new(format!(
                    "a partial application of this function takes no names: name=`{name}`"
                )));
            };
            let place = place_of(def, &name)?;
            if given.len() <= place {
                given.resize(place + 1, None);
            }
            given[place] = Some(value);
        }
        Ok(Value::Function(UserFunction { given, ..function }))
    }

    pub(super) fn args(&mut self, args: &[Arg], span: Span) -> Result<Args> {
        let mut evaluated = Args { span, ..Args::default() };
        let mut named_spans = vec![];
        for arg in args {
            let place = arg.value.as_ref().map_or(span, |value| value.span);
            let value = match &arg.value {
                Some(Expr { kind: ExprKind::Name(name), .. }) if &**name == "DFLT" => None,
                Some(value) => Some(self.eval(value)?),
                None => None,
            };
            match (&arg.name, value) {
                (Some(name), Some(value)) => {
                    evaluated.named.push((name.clone(), value));
                    named_spans.push(place);
                }
                (Some(_), None) => {}
                (None, value) => {
                    evaluated.values.push(value);
                    evaluated.spans.push(place);
                }
            }
        }
        evaluated.spans.extend(named_spans);
        Ok(evaluated)
    }

    /// Arguments that are columns: one that is a variable has its name, unless one stands behind `as`.
    fn named_args(&mut self, args: &[Arg], span: Span) -> Result<Args> {
        let named = args.iter().map(|arg| match (&arg.name, &arg.value) {
            (None, Some(Expr { kind: ExprKind::Name(name), .. })) => Arg { name: Some(name.clone()), ..arg.clone() },
            _ => arg.clone(),
        });
        let named: Vec<Arg> = named.collect();
        self.args(&named, span)
    }

    fn object_by_name(&mut self, args: &Args) -> Result<Value> {
        let Some(name) = args.values.first().and_then(|value| value.as_ref()?.as_text()) else {
            return Err(Diagnostic::new("a name is wanted: function=`objByName`"));
        };
        if let Some(value) = self.frame.variables.get(name) {
            return Ok(value.clone());
        }
        match self.host.table(name) {
            Some(rows) => Ok(Value::Table(crate::value::Table::new(rows?))),
            None => Err(Diagnostic::new(format!("no such object: name=`{name}`"))),
        }
    }

    fn undefine(&mut self, args: &Args) -> Result<Value> {
        let names = args.values.first().and_then(|value| value.as_ref()?.names());
        for name in names.ok_or_else(|| Diagnostic::new("names are wanted: function=`undef`"))? {
            self.frame.variables.remove(&name);
            if self.user_function(&name).is_some() {
                Arc::make_mut(&mut self.frame.functions).retain(|def| def.name != name);
            }
        }
        Ok(Value::NULL)
    }
}

/// The arguments of a partial application with those that were left out filled in, in order.
fn fill(given: &[Option<Value>], args: Args) -> Args {
    if given.is_empty() {
        return args;
    }
    let Args { values, named, spans, span } = args;
    let mut rest = values.into_iter();
    let mut filled: Vec<Option<Value>> = given
        .iter()
        .map(|value| match value {
            Some(value) => Some(value.clone()),
            None => rest.next().flatten(),
        })
        .collect();
    filled.extend(rest);
    let named_spans = spans.len().saturating_sub(named.len());
    let mut places = vec![span; filled.len()];
    places.extend_from_slice(&spans[named_spans..]);
    Args { values: filled, named, spans: places, span }
}

/// The arguments by parameter.
fn bind(def: &FunctionDef, args: Args) -> Result<Vec<Option<Value>>> {
    if args.values.len() > def.parameters.len() {
        let (function, wanted, found) = (name_of(def), def.parameters.len(), args.values.len());
        let message = format!("too many arguments: function=`{function}`, parameters=`{wanted}`, arguments=`{found}`");
        return Err(Diagnostic::at(args.span, message));
    }
    let mut values = args.values;
    values.resize(def.parameters.len(), None);
    for (name, value) in args.named {
        values[place_of(def, &name)?] = Some(value);
    }
    Ok(values)
}

fn place_of(def: &FunctionDef, name: &str) -> Result<usize> {
    let place = def.parameters.iter().position(|parameter| &*parameter.name == name);
    place.ok_or_else(|| {
        let error = Diagnostic::new(format!("unknown parameter: function=`{}`, parameter=`{name}`", name_of(def)));
        error.suggest(name, def.parameters.iter().map(|parameter| &*parameter.name))
    })
}

fn name_of(def: &FunctionDef) -> &str {
    if def.name.is_empty() { "lambda" } else { &def.name }
}

fn decimal_type(name: &str, args: &Args) -> Result<Value> {
    let scale = args.values.first().and_then(|value| value.as_ref()?.as_i64());
    let ty = scale.and_then(|scale| Type::parse(&format!("{name}({scale})")));
    ty.map(Value::Type).ok_or_else(|| Diagnostic::new(format!("scale is out of range: type=`{name}`")))
}
