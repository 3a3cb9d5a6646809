//! `orca submit`: a script at a server.

use super::Format;
use crate::client::{Client, Error, Place};
use serde_json::Value as Json;
use std::path::PathBuf;

/// What is run, and where.
#[derive(Debug, clap::Args)]
pub struct Submit {
    /// The script.
    script: PathBuf,
    /// Do not wait for its end: print the operation that tells how it goes.
    #[arg(long)]
    no_wait: bool,
    /// How the outcome is printed: `json` gives the value, what was printed and warned, and the catalog in one object.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// Runs it.
pub fn submit(arguments: &Submit) -> Result<(), Error> {
    let source = super::script(&arguments.script)?;
    let client = arguments.place.client()?;
    let ran = run(&client, None, &source, !arguments.no_wait)?;
    match (arguments.format, ran["operation"].as_str()) {
        (Format::Json, _) => println!("{ran}"),
        (_, Some(operation)) => println!("{operation}"),
        (_, None) => say(&ran),
    }
    Ok(())
}

/// Has a server run a script, in a session of it or in one of its own; gives what it answers.
pub fn run(client: &Client, session: Option<&str>, source: &lang::Source, wait: bool) -> Result<Json, Error> {
    let mut query = vec![("name", source.name.as_str())];
    query.extend(session.map(|session| ("session", session)));
    if !wait {
        query.push(("wait", "false"));
    }
    client.post(&["v1", "scripts"], &query, "text/plain; charset=utf-8", source.text.as_bytes())?.json()
}

/// Prints what a script said: prints to standard output, warnings to standard error.
pub fn say(ran: &Json) {
    for said in ran["said"].as_array().into_iter().flatten() {
        let text = said["text"].as_str().unwrap_or_default();
        match said["kind"].as_str() {
            Some("warned") => eprintln!("warning: {text}"),
            _ => println!("{text}"),
        }
    }
}
