//! `orca shell`: scripts and queries typed at a server, each statement run when it is whole.

mod colors;
mod completion;
mod help;
mod input;
mod terminal;

use super::{Format, graph, listing, sql, submit, table};
use crate::client::{Client, Error, Place};
use crate::report;
use input::{Lines, Mode};
use lang::Source;
use lang::tree::StatementKind;
use serde_json::Value as Json;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Instant;

/// Where it is typed at.
#[derive(Debug, clap::Args)]
pub struct Shell {
    /// Begin with SQL instead of scripts.
    #[arg(long)]
    sql: bool,
    /// How rows are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// What errors call the text that was typed.
const NAME: &str = "shell";

/// Runs what is typed until its end. What is piped in is run to its end too, and then ends as failed if any of it did.
pub fn shell(arguments: &Shell) -> Result<(), Error> {
    let client = arguments.place.client()?;
    let mode = if arguments.sql { Mode::Sql } else { Mode::Script };
    let mut talk = Talk::open(&client, mode, arguments.format)?;
    let ended = match std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        true => terminal::run(&mut talk, arguments.place.client()?),
        false => piped(&mut talk),
    };
    talk.close();
    ended
}

fn piped(talk: &mut Talk) -> Result<(), Error> {
    let mut lines = Lines::of_stdin();
    let mut failed = 0;
    while let Some(text) = lines.statement(talk.mode) {
        match talk.take(&text) {
            Ok(Next::GoOn) => {}
            Ok(Next::End) => break,
            Err(Error::Failed(_)) => failed += 1,
            Err(error) => return Err(error),
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(crate::failure::Failure::new(format!("not all went well: statements=`{failed}`")).into()),
    }
}

/// Does the shell go on?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    End,
}

/// A talk with a server: what it remembers from statement to statement.
struct Talk<'a> {
    client: &'a Client,
    session: String,
    catalog: Option<String>,
    mode: Mode,
    format: Format,
    timing: bool,
}

impl<'a> Talk<'a> {
    fn open(client: &'a Client, mode: Mode, format: Format) -> Result<Talk<'a>, Error> {
        let session = open_session(client)?;
        Ok(Talk { client, session, catalog: None, mode, format, timing: false })
    }

    /// Runs a statement or a command of the shell and prints what comes of it, errors too.
    fn take(&mut self, text: &str) -> Result<Next, Error> {
        let start = Instant::now();
        let taken = match (text.trim(), self.mode) {
            ("", _) => return Ok(Next::GoOn),
            (command, _) if command.starts_with('\\') => self.command(&command[1..]),
            (call, _) if help::wanted(call).is_some() => self.help(help::wanted(call).unwrap_or_default()),
            (_, Mode::Script) => self.script(text),
            (_, Mode::Sql) => self.queries(text),
        };
        if let Err(error) = &taken {
            self.tell(error);
        }
        if self.timing && !matches!(taken, Ok(Next::End)) {
            println!("time: {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
        }
        taken
    }

    fn tell(&self, error: &Error) {
        match error {
            Error::Failed(failure) => {
                eprint!("{}", report::diagnostics(failure.diagnostics(), std::io::stderr().is_terminal()))
            }
            // The end of the shell, unless somebody sits before it.
            Error::Unreachable { .. } if !std::io::stdin().is_terminal() => {}
            error => eprintln!("error: {error}"),
        }
    }

    fn script(&mut self, text: &str) -> Result<Next, Error> {
        let source = Source::new(NAME, text);
        let ran = match submit::run(self.client, Some(&self.session), &source, true) {
            Err(error) if error.is_not_found() && error.to_string().contains(&self.session) => {
                eprintln!("note: the session has ended, its variables are gone; going on in a new one");
                self.session = open_session(self.client)?;
                submit::run(self.client, Some(&self.session), &source, true)?
            }
            ran => ran?,
        };
        submit::say(&ran);
        if let Some(catalog) = ran["catalog"].as_str() {
            self.catalog = Some(catalog.to_string());
        }
        // Only an expression is written for its value.
        let last = lang::parse(&source).statements.pop();
        let value = ran["shown"].as_str().or(ran["value"].as_str()).unwrap_or_default();
        let is_value = ran["value"] != "NULL" && !value.is_empty();
        if is_value && last.is_some_and(|statement| matches!(statement.kind, StatementKind::Expr(_))) {
            println!("{value}");
        }
        Ok(Next::GoOn)
    }

    fn queries(&mut self, text: &str) -> Result<Next, Error> {
        for query in input::queries(text) {
            sql::run(self.client, &query, self.catalog.as_deref(), self.format)?;
        }
        Ok(Next::GoOn)
    }

    fn help(&mut self, name: &str) -> Result<Next, Error> {
        println!("{}", help::of(name)?);
        Ok(Next::GoOn)
    }

    fn command(&mut self, command: &str) -> Result<Next, Error> {
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        match name {
            "q" | "quit" => return Ok(Next::End),
            "help" | "?" => println!("{}", help::COMMANDS),
            "h" => return self.help(rest),
            "sql" if rest.is_empty() => self.mode = Mode::Sql,
            "sql" => return self.queries(rest),
            "script" if rest.is_empty() => self.mode = Mode::Script,
            "script" => return self.script(rest),
            "d" if rest.is_empty() => listing::print(self.format, table::COLUMNS, &table::list(self.client)?)?,
            "d" => table::show(self.client, &self.full_name(rest), self.format)?,
            "g" if rest.is_empty() => {
                let graphs = self.client.get(&["v1", "graphs"], &[])?.json()?;
                listing::print(self.format, graph::COLUMNS, graphs.as_array().map_or(&[], Vec::as_slice))?
            }
            "g" => println!("{}", graph::of_server(self.client, rest, self.format)?.trim_end()),
            "timing" => {
                self.timing = !self.timing;
                println!("timing is {}", if self.timing { "on" } else { "off" });
            }
            "format" => match <Format as clap::ValueEnum>::from_str(rest, true) {
                Ok(format) => self.format = format,
                Err(_) => {
                    let text = format!("no such format: format=`{rest}`, known=`table, csv, json`");
                    return Err(crate::failure::Failure::new(text).into());
                }
            },
            _ => {
                let error = lang::Diagnostic::new(format!("no such command: command=`\\{name}`"));
                return Err(error.help("`\\help` lists them").into());
            }
        }
        Ok(Next::GoOn)
    }

    /// A bare name belongs to the current catalog.
    fn full_name(&self, table: &str) -> String {
        match &self.catalog {
            Some(catalog) if !table.contains('.') => format!("{catalog}.orca_table.{table}"),
            _ => table.to_string(),
        }
    }

    fn close(&self) {
        // A server that is gone has no session either.
        let _ = self.client.delete(&["v1", "sessions", &self.session], &[]);
    }
}

fn open_session(client: &Client) -> Result<String, Error> {
    let opened: Json = client.post(&["v1", "sessions"], &[], "text/plain", b"")?.json()?;
    Ok(opened["session"].as_str().unwrap_or_default().to_string())
}

/// What the terminal's helpers share with the talk: the mode, which decides how a line is read.
type SharedMode = Arc<parking_lot::Mutex<Mode>>;
