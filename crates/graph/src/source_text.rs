//! Values and functions as source text, and back: the form in which a graph keeps them.

use crate::check::CheckError;
use crate::logical::{EngineNode, StoredFunction};
use data::Schema;
use engine::{Arguments, Input, Spec};
use lang::tree::FunctionDef;
use lang::{Args, Callee, Diagnostic, Host, Session, Source, UserFunction, Value};
use std::sync::Arc;

/// A host that knows nothing: what is read from a stored graph needs no world around it.
pub(crate) struct NoHost;

impl Host for NoHost {
    /// A map is tried out on a table without rows, at no particular time.
    fn now(&mut self) -> Option<i64> {
        Some(0)
    }
}

/// Checks a stored engine against the columns of its inputs again, which gives the spec it had when the graph was made.
/// `functions` are those of the graph or plan.
pub fn bind_engine(
    engine: &EngineNode,
    inputs: &[Arc<Schema>],
    functions: &[StoredFunction],
) -> Result<Box<dyn Spec>, Vec<Diagnostic>> {
    let Some(kind) = engine::find(&engine.kind) else {
        return Err(vec![Diagnostic::new(format!("unknown engine: engine=`{}`", engine.kind))]);
    };
    let mut args = Args::default();
    for (name, text) in &engine.arguments {
        args.named.push((name.as_str().into(), read_value(text, functions)?));
    }
    let arguments = Arguments::collect(kind.name, kind.parameters, &args)?;
    let names = engine.input_names.iter().cloned().chain(std::iter::repeat(None));
    let inputs: Vec<Input> =
        inputs.iter().zip(names).map(|(schema, name)| Input { schema: schema.clone(), name }).collect();
    (kind.bind)(&arguments, &inputs)
}

/// The function of a stored map. `functions` are those of the graph or plan.
pub fn read_function(text: &str, functions: &[StoredFunction]) -> Result<UserFunction, Vec<Diagnostic>> {
    match as_function(&read_value(text, functions)?) {
        Some(function) => Ok(function),
        None => Err(vec![Diagnostic::new(format!("not a function: text=`{text}`"))]),
    }
}

/// The value a text stands for.
fn read_value(text: &str, functions: &[StoredFunction]) -> Result<Value, Vec<Diagnostic>> {
    let mut session = Session::new();
    for function in functions {
        session.run(&Source::new(function.name.as_str(), function.text.as_str()), &mut NoHost)?;
    }
    session.run(&Source::new("argument", text), &mut NoHost)
}

/// A function of the library or of the user; `None` for what is none.
pub(crate) fn as_function(value: &Value) -> Option<UserFunction> {
    match value {
        Value::Function(function) => Some(function.clone()),
        Value::Builtin(name) => {
            let callee = Callee::Builtin(name.clone());
            Some(UserFunction { callee, given: vec![], functions: Arc::default() })
        }
        _ => None,
    }
}

/// The text of a value. User functions it refers to by name are added to `functions`.
pub(crate) fn write_value(value: &Value, functions: &mut Vec<StoredFunction>) -> Result<String, CheckError> {
    keep_functions(value, functions)?;
    Ok(match value {
        Value::Function(function) => by_name(function).to_string(),
        other => other.to_string(),
    })
}

/// A named function is stored once and referred to by its name; a lambda stands where it is used.
fn by_name(function: &UserFunction) -> Value {
    match &function.callee {
        Callee::Defined(def) if !def.name.is_empty() => {
            let callee = Callee::Builtin(def.name.clone());
            match &function.given[..] {
                [] => Value::Builtin(def.name.clone()),
                given => Value::Function(UserFunction { callee, given: given.to_vec(), functions: Arc::default() }),
            }
        }
        _ => Value::Function(function.clone()),
    }
}

/// Adds the user functions that a value refers to, each after those it calls.
fn keep_functions(value: &Value, functions: &mut Vec<StoredFunction>) -> Result<(), CheckError> {
    match value {
        Value::Code(code) => code.functions.iter().try_for_each(|def| keep(def, functions)),
        Value::Function(function) => {
            function.functions.iter().try_for_each(|def| keep(def, functions))?;
            function.given.iter().flatten().try_for_each(|given| keep_functions(given, functions))?;
            match &function.callee {
                Callee::Defined(def) if !def.name.is_empty() => keep(def, functions),
                _ => Ok(()),
            }
        }
        Value::Tuple(values) => values.iter().try_for_each(|value| keep_functions(value, functions)),
        Value::Dict(dict) => dict.lock().entries.iter().try_for_each(|(_, value)| keep_functions(value, functions)),
        _ => Ok(()),
    }
}

fn keep(def: &FunctionDef, functions: &mut Vec<StoredFunction>) -> Result<(), CheckError> {
    let (name, text) = (def.name.to_string(), def.text.to_string());
    match functions.iter().find(|known| known.name == name) {
        Some(known) if known.text == text => Ok(()),
        Some(_) => Err(CheckError::TwoFunctions { function: name }),
        None => {
            functions.push(StoredFunction { name, text });
            Ok(())
        }
    }
}
