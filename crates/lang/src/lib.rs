//! The script language and its one function library.
//!
//! Text goes the way text → tokens → [`tree`] → [`Value`] (the interpreter) or → [`Program`] (metacode bound to the
//! columns of a stream). The function library is one list for scripts, engines and SQL; each function has one
//! implementation, so its vector form and its stream form cannot differ.

mod check;
mod diagnostic;
pub mod function;
mod interpreter;
mod lexer;
pub mod library;
mod matrix;
mod parser;
mod printer;
mod program;
mod show;
pub mod tree;
mod value;

pub use check::{Checked, check};
pub use diagnostic::{Diagnostic, Source, Span, nearest};
pub use interpreter::{Session, call_function, eval_over, free_names, names_in};
pub use matrix::Matrix;
pub use parser::{HEIGHT_MAX, NESTING_MAX, Parsed, parse, parse_expr};
pub use printer::column_name;
pub use program::{Program, ProgramStates, RowProgram, RowValues, Scope, WindowProgram, WindowStates};
pub use value::{Args, Callee, Code, Dict, Host, Metric, Object, Table, UserFunction, Value};
