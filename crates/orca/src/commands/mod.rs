//! The commands of the program: what each takes, and what it prints.

mod bench;
mod check;
mod demo;
mod eval;
mod graph;
pub mod manual;
mod run;

use crate::report;
use clap::{Parser, Subcommand, ValueEnum};
use lang::Diagnostic;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Orca: real-time computing from one script.
#[derive(Debug, Parser)]
#[command(name = "orca", version, about, long_about = None)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a script in this process, feed files to its tables, and print the rows of queries.
    Run(run::Run),
    /// Evaluate one expression of the script language.
    Eval(eval::Eval),
    /// Report everything that is wrong with a script; its graphs are built and checked, and no row is fed.
    Check(check::Check),
    /// Watch a market day's trades become candles with moving indicators.
    Demo(demo::Demo),
    /// Show what becomes of a graph.
    #[command(subcommand)]
    Graph(graph::Graph),
    /// Measure this machine.
    #[command(subcommand)]
    Bench(Bench),
    /// Write the pages of the manual that follow from the program's own lists.
    #[command(hide = true)]
    Manual(manual::Manual),
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// One- and five-minute bars with moving indicators over a market day.
    Kline(bench::Kline),
}

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Table,
    /// Header first; NULL is an empty field.
    Csv,
    /// An array of objects.
    Json,
}

impl From<Format> for query::format::Format {
    fn from(format: Format) -> query::format::Format {
        match format {
            Format::Table => query::format::Format::Table,
            Format::Csv => query::format::Format::Csv,
            Format::Json => query::format::Format::Json,
        }
    }
}

/// Why a command ends without success.
#[derive(Debug)]
pub struct Failure {
    errors: Vec<Diagnostic>,
}

impl Failure {
    /// What went wrong.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.errors
    }

    /// One error without a place.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { errors: vec![Diagnostic::new(message)] }
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(errors: Vec<Diagnostic>) -> Failure {
        Failure { errors }
    }
}

impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Failure {
        Failure { errors: vec![error] }
    }
}

impl From<data::Error> for Failure {
    fn from(error: data::Error) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::new(error.to_string())
    }
}

/// Runs the command. Exit status 0 for success, 1 for a refusal or failure, 2 for a wrong command line.
pub fn run(cli: Cli) -> ExitCode {
    let result = match &cli.command {
        Command::Run(run) => run::run(run),
        Command::Eval(eval) => eval::eval(eval),
        Command::Check(check) => check::check(check),
        Command::Demo(demo) => demo::demo(demo),
        Command::Graph(graph) => graph::graph(graph),
        Command::Bench(Bench::Kline(kline)) => bench::kline(kline),
        Command::Manual(manual) => manual::manual(manual),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { errors }) => {
            eprint!("{}", report::diagnostics(&errors, std::io::stderr().is_terminal()));
            ExitCode::FAILURE
        }
    }
}

/// Reads a script.
fn script(path: &std::path::Path) -> Result<std::sync::Arc<lang::Source>, Failure> {
    let name = path.display().to_string();
    let bytes =
        std::fs::read(path).map_err(|error| Failure::new(format!("cannot read the script: file=`{name}`, {error}")))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| Failure::new(format!("the script is not UTF-8: file=`{name}`")))?;
    Ok(lang::Source::new(name, text))
}
