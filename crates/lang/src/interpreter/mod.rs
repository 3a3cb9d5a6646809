//! The interpreter: scripts, user functions and single expressions to values.
//!
//! Invariants:
//! - A function sees its parameters, its own variables and the functions it was defined beside, never the variables
//!   of the session: what it gives depends on its arguments alone.
//! - Every step and every value made is counted. A script that passes a limit ends with an error that no `try` of its
//!   own can catch.
//! - Nothing here reads a clock or chance; both belong to the [`Host`].

mod by_groups;
mod call;
mod cells;
mod containers;
mod evaluate;
mod grouped;
mod higher_order;
mod index;
mod joins;
mod limits;
mod matrix;
mod metacode;
mod modify;
mod modules;
mod names;
mod pairs;
mod parts;
mod pivot;
mod select;
mod statement;
mod tables;
mod values;

pub(crate) use by_groups::FUNCTIONS as GROUP_FUNCTIONS;
pub(crate) use containers::{ELEMENTS_MAX, FUNCTIONS as CONTAINER_FUNCTIONS, cast};
pub(crate) use evaluate::global;
pub(crate) use higher_order::{
    FUNCTIONS as HIGHER_ORDER_FUNCTIONS, accumulate, by_column, elements, moving, segment_by, talib, window,
};
pub(crate) use joins::FUNCTIONS as JOIN_FUNCTIONS;
pub(crate) use matrix::FUNCTIONS as MATRIX_FUNCTIONS;
pub(crate) use metacode::FUNCTIONS as METACODE_FUNCTIONS;
pub(crate) use modules::MODULES_MAX;
pub use names::{free_names, names_in};
pub(crate) use pairs::FUNCTIONS as PAIR_FUNCTIONS;
pub(crate) use parts::FUNCTIONS as PART_FUNCTIONS;
pub(crate) use pivot::FUNCTIONS as PIVOT_FUNCTIONS;
pub(crate) use statement::{turn, turns};
pub(crate) use tables::FUNCTIONS as TABLE_FUNCTIONS;
pub(crate) use values::FUNCTIONS as VALUE_FUNCTIONS;

use crate::diagnostic::{Diagnostic, Source};
use crate::function::Result;
use crate::parser::{Parsed, parse};
use crate::tree::{Expr, FunctionDef};
use crate::value::{Args, Code, Host, Object, UserFunction, Value};
use data::Batch;
use limits::Limits;
use statement::Flow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// User functions in sight, the newest last.
type Functions = Arc<Vec<Arc<FunctionDef>>>;

/// How many expressions, statements and calls may be within one another at work.
/// Without optimization a level takes several times the stack.
const DEPTH_MAX: u32 = if cfg!(debug_assertions) { 160 } else { 640 };

/// Words that begin statements: one that is mistyped looks like a function.
pub(crate) const STATEMENT_WORDS: &[&str] = &["return", "throw", "assert", "share", "insert", "update", "delete"];

/// What a script leaves behind for the next one: variables and functions.
#[derive(Debug, Default)]
pub struct Session {
    variables: HashMap<Arc<str>, Value>,
    functions: Functions,
    /// How many steps one run may take; `None` for the usual limit.
    pub limit_steps: Option<u64>,
    /// How many bytes the values of one run may take; `None` for the usual limit. Its time is the host's to measure.
    pub limit_bytes: Option<usize>,
}

impl Session {
    /// A session without variables.
    pub fn new() -> Session {
        Session::default()
    }

    /// A variable's value.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: Value) {
        self.variables.insert(name.into(), value);
    }

    /// Runs a script and gives the value of its last expression. A text with syntax errors is not run at all, and all
    /// of them are told; a section that ends with `go` has been run when the next one begins.
    pub fn run(&mut self, source: &Arc<Source>, host: &mut dyn Host) -> std::result::Result<Value, Vec<Diagnostic>> {
        let Parsed { statements, errors } = parse(source);
        if !errors.is_empty() {
            return Err(errors);
        }
        let run = |interpreter: &mut Interpreter| {
            let mut last = Value::NULL;
            for statement in &statements {
                match interpreter.statement(statement)? {
                    Flow::Next(value) => last = value,
                    Flow::Return(value) => return Ok(value),
                    Flow::Break | Flow::Continue => {}
                }
            }
            Ok(last)
        };
        self.within(Some(source), host, run).map_err(|error| vec![error.in_source(source)])
    }

    /// The value of one expression in this session.
    pub fn eval_expr(&mut self, expr: &Expr, host: &mut dyn Host) -> Result<Value> {
        self.within(None, host, |interpreter| interpreter.eval(expr))
    }

    fn within<T>(
        &mut self,
        source: Option<&Arc<Source>>,
        host: &mut dyn Host,
        work: impl FnOnce(&mut Interpreter) -> Result<T>,
    ) -> Result<T> {
        let frame = Frame {
            variables: std::mem::take(&mut self.variables),
            functions: self.functions.clone(),
            ..Frame::default()
        };
        let limits = Limits::new(self.limit_steps, self.limit_bytes);
        let mut interpreter = Interpreter { limits, ..Interpreter::new(frame, source, host) };
        let result = work(&mut interpreter);
        self.variables = interpreter.frame.variables;
        self.functions = interpreter.frame.functions;
        result
    }
}

/// Calls a user function, as an engine does: it needs no session.
pub fn call_function(function: &UserFunction, args: Vec<Value>, host: &mut dyn Host) -> Result<Value> {
    let mut interpreter = Interpreter::new(Frame::default(), None, host);
    interpreter.call_function_value(function, Args { values: args.into_iter().map(Some).collect(), ..Args::default() })
}

/// The value of an expression over the columns of a table; `functions` are those it may call.
pub fn eval_over(expr: &Expr, rows: &Batch, functions: &Functions, host: &mut dyn Host) -> Result<Value> {
    let frame = Frame {
        functions: functions.clone(),
        rows: vec![Rows { batch: rows.clone(), names: vec![] }],
        function: true,
        ..Frame::default()
    };
    Interpreter::new(frame, None, host).eval(expr)
}

/// What names mean at one place of the work.
#[derive(Debug, Default)]
struct Frame {
    variables: HashMap<Arc<str>, Value>,
    functions: Functions,
    /// The tables whose columns are in sight, the innermost last.
    rows: Vec<Rows>,
    /// Is this a function's frame rather than the session's?
    function: bool,
}

/// A table whose columns are in sight.
#[derive(Debug)]
struct Rows {
    batch: Batch,
    /// The variable that holds the table, for `t.column`; of joined tables, that of each.
    names: Vec<Arc<str>>,
}

impl Rows {
    /// `table.column`: of joined tables that both have the column, the later one's has the table's name before it.
    fn qualified(&self, table: &str, column: &str) -> Option<&data::Column> {
        let place = self.names.iter().position(|name| &**name == table)?;
        let prefixed = if place > 0 { self.batch.column_named(&format!("{table}_{column}")) } else { None };
        prefixed.or_else(|| self.batch.column_named(column))
    }
}

struct Interpreter<'a> {
    host: &'a mut dyn Host,
    frame: Frame,
    /// The frames of the functions that called one another up to here, the session's first.
    callers: Vec<Frame>,
    source: Option<Arc<Source>>,
    limits: Limits,
    depth: u32,
}

impl<'a> Interpreter<'a> {
    fn new(frame: Frame, source: Option<&Arc<Source>>, host: &'a mut dyn Host) -> Interpreter<'a> {
        let limits = Limits::new(None, None);
        Interpreter { host, frame, callers: vec![], source: source.cloned(), limits, depth: 0 }
    }

    /// Does something one level deeper.
    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.step()?;
        if self.depth >= DEPTH_MAX {
            return Err(Diagnostic::new(format!("calls are nested too deeply: levels=`{DEPTH_MAX}`")));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }
}

/// Functions of the library are called with the interpreter as their host, so that they can call functions back.
impl Host for Interpreter<'_> {
    fn call(&mut self, name: &str, args: &Args) -> Option<Result<Value>> {
        self.host.call(name, args)
    }

    fn method(&mut self, object: &Arc<dyn Object>, name: &str, args: &Args) -> Option<Result<Value>> {
        self.host.method(object, name, args)
    }

    fn names(&self) -> Vec<&'static str> {
        self.host.names()
    }

    fn use_catalog(&mut self, name: &str) -> Result<()> {
        self.host.use_catalog(name)
    }

    fn table(&mut self, name: &str) -> Option<Result<Batch>> {
        self.host.table(name)
    }

    fn print(&mut self, text: &str) {
        self.host.print(text);
    }

    fn eval_over(&mut self, code: &Code, rows: Option<&Batch>) -> Result<Value> {
        self.eval_code(code, rows)
    }

    fn reserve(&mut self, bytes: usize) -> Result<()> {
        self.make(bytes)
    }

    fn module(&mut self, path: &str) -> Option<Arc<Source>> {
        self.host.module(path)
    }

    fn late(&mut self) -> Option<u64> {
        self.host.late()
    }

    fn sleep(&mut self, time: Duration) -> Result<()> {
        self.host.sleep(time)
    }

    fn chance(&mut self) -> Option<u64> {
        self.host.chance()
    }

    fn now(&mut self) -> Option<i64> {
        self.host.now()
    }

    fn apply(&mut self, function: &Value, args: Vec<Value>) -> Result<Value> {
        let args = Args { values: args.into_iter().map(Some).collect(), ..Args::default() };
        self.deeper(|interpreter| interpreter.call_value(function, args))
    }
}

#[cfg(test)]
mod tests;
