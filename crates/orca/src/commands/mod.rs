//! The commands of the program: what each takes, and what it prints.

mod bench;
mod check;
mod demo;
mod eval;
mod graph;
pub mod manual;
mod run;
mod serve;

pub use crate::failure::Failure;

use crate::report;
use clap::{Parser, Subcommand, ValueEnum};
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
    /// Serve REST, Flight SQL and the PostgreSQL protocol.
    Serve(serve::Serve),
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

/// Runs the command. Exit status 0 for success, 1 for a refusal or failure, 2 for a wrong command line.
pub fn run(cli: Cli) -> ExitCode {
    let result = match &cli.command {
        Command::Run(run) => run::run(run),
        Command::Eval(eval) => eval::eval(eval),
        Command::Check(check) => check::check(check),
        Command::Serve(serve) => serve::serve(serve),
        Command::Demo(demo) => demo::demo(demo),
        Command::Graph(graph) => graph::graph(graph),
        Command::Bench(Bench::Kline(kline)) => bench::kline(kline),
        Command::Manual(manual) => manual::manual(manual),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprint!("{}", report::diagnostics(failure.diagnostics(), std::io::stderr().is_terminal()));
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
