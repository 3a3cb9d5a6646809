//! The commands of the program: what each takes, and what it prints.

mod bench;
mod bundle;
mod check;
mod completions;
mod config;
mod demo;
mod doctor;
mod eval;
mod feed;
mod graph;
mod listing;
pub mod manual;
mod run;
mod serve;
mod shell;
mod sql;
mod submit;
mod table;

pub use crate::failure::Failure;

use crate::client::Error;
use crate::platform::ScriptWorld;
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
    /// Run a script at a server.
    Submit(submit::Submit),
    /// Feed files to a table of a server; goes on where it stopped.
    Feed(feed::Feed),
    /// Ask a server by SQL.
    Sql(sql::Sql),
    /// Type scripts and SQL at a server.
    Shell(shell::Shell),
    /// The graphs of a server, and what becomes of a graph.
    #[command(subcommand)]
    Graph(graph::Graph),
    /// The public tables of a server.
    #[command(subcommand)]
    Table(table::Table),
    /// Check what a server needs here, and how the one that runs is.
    Doctor(doctor::Doctor),
    /// Gather what somebody needs who is asked for help.
    Bundle(bundle::Bundle),
    /// Print every setting, its value and where that comes from.
    Config(config::Config),
    /// Print what makes a shell complete this program's commands.
    Completions(completions::Completions),
    /// Watch a market day's trades become candles with moving indicators.
    Demo(demo::Demo),
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

/// Runs the command. Exit status 0 for success, 1 for a refusal or failure, 2 for a wrong command line, 3 if the server
/// cannot be reached.
pub fn run(cli: Cli) -> ExitCode {
    match obey(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Failed(failure)) => {
            eprint!("{}", report::diagnostics(failure.diagnostics(), std::io::stderr().is_terminal()));
            ExitCode::FAILURE
        }
        Err(error @ Error::Unreachable { .. }) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

fn obey(command: &Command) -> Result<(), Error> {
    match command {
        Command::Run(run) => run::run(run)?,
        Command::Eval(eval) => eval::eval(eval)?,
        Command::Check(check) => check::check(check)?,
        Command::Serve(serve) => serve::serve(serve)?,
        Command::Submit(submit) => submit::submit(submit)?,
        Command::Feed(feed) => feed::feed(feed)?,
        Command::Sql(sql) => sql::sql(sql)?,
        Command::Shell(shell) => shell::shell(shell)?,
        Command::Graph(graph) => graph::graph(graph)?,
        Command::Table(table) => table::table(table)?,
        Command::Doctor(doctor) => doctor::doctor(doctor)?,
        Command::Bundle(bundle) => bundle::bundle(bundle)?,
        Command::Config(config) => config::config(config)?,
        Command::Completions(completions) => completions::completions(completions),
        Command::Demo(demo) => demo::demo(demo)?,
        Command::Bench(Bench::Kline(kline)) => bench::kline(kline)?,
        Command::Manual(manual) => manual::manual(manual)?,
    }
    Ok(())
}

/// What a script in a file may use: the modules beside it.
fn beside(script: &std::path::Path) -> ScriptWorld {
    ScriptWorld { modules: script.parent().map(Into::into), ms_max: None }
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
