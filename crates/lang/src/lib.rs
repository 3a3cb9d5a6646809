//! The script language and its one function library.
//!
//! Text goes the way text → tokens → [`tree`] → [`Value`] (the interpreter) or → [`Program`] (metacode bound to the
//! columns of a stream). The function library is one list for scripts, engines and SQL; each function has one
//! implementation, so its vector form and its stream form cannot differ.

mod diagnostic;
pub mod function;
pub mod tree;
mod value;

pub use diagnostic::{Diagnostic, Source, Span, nearest};
pub use value::{Args, Code, Dict, Host, Metric, Object, Table, UserFunction, Value};
