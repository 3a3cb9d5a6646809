//! The values of the script language.

use crate::diagnostic::{Diagnostic, Span};
use crate::tree::{Expr, FunctionDef};
use data::{Batch, Column, Scalar, Type};
use parking_lot::Mutex;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A value of the script language.
#[derive(Debug, Clone)]
pub enum Value {
    /// One value of a column type; `(Void, Null)` is a bare `NULL`.
    Scalar(Type, Scalar),
    /// A length of time such as `5m`: count and unit (`y M w d H m s ms us ns`).
    Duration(i64, Arc<str>),
    /// A vector of one type.
    Vector(Column),
    /// A tuple: values of any kind.
    Tuple(Vec<Value>),
    /// `a:b`.
    Pair(Box<Value>, Box<Value>),
    /// A dictionary; shared, as all containers that can be changed in place.
    Dict(Arc<Mutex<Dict>>),
    /// A table in memory.
    Table(Table),
    /// A type as a value, such as `INT`.
    Type(Type),
    /// A function of the library, by name.
    Builtin(Arc<str>),
    /// A user function, perhaps with some arguments given already.
    Function(UserFunction),
    /// Metacode.
    Code(Code),
    /// Something that only the host understands: a graph, a stream.
    Object(Arc<dyn Object>),
}

/// A dictionary in the order of insertion.
#[derive(Debug, Default)]
pub struct Dict {
    /// Type of the keys.
    pub keys: Option<Type>,
    /// Entries.
    pub entries: Vec<(Scalar, Value)>,
}

/// A table in memory, shared and growing.
#[derive(Debug, Clone)]
pub struct Table {
    /// The rows now.
    pub rows: Arc<Mutex<Batch>>,
}

impl Table {
    /// A table of these rows.
    pub fn new(rows: Batch) -> Table {
        Table { rows: Arc::new(Mutex::new(rows)) }
    }

    /// The rows now.
    pub fn batch(&self) -> Batch {
        self.rows.lock().clone()
    }
}

/// A user function or partial application: `def` with the values already given, by place.
#[derive(Debug, Clone)]
pub struct UserFunction {
    /// What is called in the end.
    pub callee: Callee,
    /// Arguments given by partial application; `None` for those still asked for. Empty when none is given.
    pub given: Vec<Option<Value>>,
}

/// What a function value calls.
#[derive(Debug, Clone)]
pub enum Callee {
    /// A function of the library or of the host.
    Builtin(Arc<str>),
    /// A user function.
    Defined(Arc<FunctionDef>),
}

/// A piece of metacode with the names after `as`, and the user functions it may call.
#[derive(Debug, Clone)]
pub struct Code {
    /// The expression.
    pub expr: Arc<Expr>,
    /// The names it is given.
    pub names: Vec<Arc<str>>,
    /// User functions in sight where it was written, by name, that the expression refers to, directly or through
    /// one another.
    pub functions: Arc<Vec<Arc<FunctionDef>>>,
}

/// A metric is a piece of metacode.
pub type Metric = Code;

/// A value of the host's own.
pub trait Object: Any + fmt::Debug + Send + Sync {
    /// The name of its class, as `typestr` shows it.
    fn class(&self) -> &'static str;
    /// For downcasting.
    fn any(&self) -> &dyn Any;
}

/// The arguments of a call, evaluated, with their places.
#[derive(Debug, Clone, Default)]
pub struct Args {
    /// By place; `None` where the place is left empty.
    pub values: Vec<Option<Value>>,
    /// By name.
    pub named: Vec<(Arc<str>, Value)>,
    /// The place of each argument by place, then of each by name.
    pub spans: Vec<Span>,
    /// The place of the call.
    pub span: Span,
}

/// What a script, a user function or a lookup asks of the world around it. Every method has a refusing default, so a
/// host answers only what it knows.
pub trait Host {
    /// Calls a function that the library does not know; `None` if the host does not know it either.
    fn call(&mut self, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        let _ = (name, args);
        None
    }

    /// Calls a method of an object; `None` if the object has no such method.
    fn method(&mut self, object: &Arc<dyn Object>, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        let _ = (object, name, args);
        None
    }

    /// The names of all functions and methods the host knows, for suggestions.
    fn names(&self) -> Vec<&'static str> {
        vec![]
    }

    /// Makes a catalog the session's current one.
    fn use_catalog(&mut self, name: &str) -> Result<(), Diagnostic> {
        Err(Diagnostic::new(format!("no such catalog: catalog=`{name}`")))
    }

    /// The rows of a table named by its full name, such as `demo.orca_table.trades`; `None` if there is none.
    fn table(&mut self, name: &str) -> Option<Result<Batch, Diagnostic>> {
        let _ = name;
        None
    }

    /// Takes what the script prints.
    fn print(&mut self, text: &str) {
        let _ = text;
    }

    /// The time `now()` gives, in nanoseconds since 1970-01-01; `None` where there is no clock.
    fn now(&mut self) -> Option<i64> {
        None
    }
}
