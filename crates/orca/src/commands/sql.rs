//! `orca sql`: a query at a server, its rows as they come.

use super::Format;
use crate::client::{Client, Error, Place, lost};
use crate::failure::Failure;
use std::io::{Read, Write};

/// What is asked, and where.
#[derive(Debug, clap::Args)]
pub struct Sql {
    /// The query; `-` reads it from standard input.
    query: String,
    /// The catalog of names without one; the only one there is, if there is just one.
    #[arg(long)]
    catalog: Option<String>,
    /// How rows are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// Asks it.
pub fn sql(arguments: &Sql) -> Result<(), Error> {
    let query = match arguments.query.as_str() {
        "-" => std::io::read_to_string(std::io::stdin())?,
        query => query.to_string(),
    };
    run(&arguments.place.client()?, &query, arguments.catalog.as_deref(), arguments.format)
}

/// Prints the rows of a query as the server sends them.
pub fn run(client: &Client, query: &str, catalog: Option<&str>, format: Format) -> Result<(), Error> {
    let format = match format {
        Format::Table => "table",
        Format::Csv => "csv",
        Format::Json => "json",
    };
    let mut parameters = vec![("format", format)];
    parameters.extend(catalog.map(|catalog| ("catalog", catalog)));
    let reply = client.post(&["v1", "sql"], &parameters, "text/plain; charset=utf-8", query.as_bytes())?;
    let (mut body, mut out) = (reply.reader(), std::io::stdout().lock());
    let mut piece = vec![0; 1 << 16];
    let mut last = b'\n';
    loop {
        let read = match body.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => return Err(lost(client.url(), &error)),
        };
        out.write_all(&piece[..read]).map_err(Failure::from)?;
        last = piece[read - 1];
    }
    if last != b'\n' {
        out.write_all(b"\n").map_err(Failure::from)?;
    }
    Ok(out.flush()?)
}
