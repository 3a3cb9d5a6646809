//! `orca graph`: the graphs of a server, and what becomes of those of a script.

use super::{Format, listing};
use crate::client::{Client, Error, Place};
use crate::embedded::{Embedded, Options};
use crate::failure::Failure;
use data::Type;
use std::path::Path;

/// What is done.
#[derive(Debug, clap::Subcommand)]
pub enum Graph {
    /// The graphs of a server, and how they are.
    List(List),
    /// One graph of a server.
    Show(Show),
    /// Graphs as written, as they run, where, by which actions, and the facts of their engines.
    Explain(Explain),
    /// End a graph of a server and forget it.
    Drop(Drop),
}

/// Of which server.
#[derive(Debug, clap::Args)]
pub struct List {
    /// How they are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// Which graph.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Its name: `market.orca_graph.klines`; with a single catalog also `klines`.
    graph: String,
    /// How it is printed; `csv` prints its nodes alone.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// Which graphs.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// A script, whose graphs are built and thrown away; or the name of a graph of a server.
    #[arg(value_name = "SCRIPT|GRAPH")]
    what: String,
    /// How they are shown; `csv` is as `table`.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// Which graph.
#[derive(Debug, clap::Args)]
pub struct Drop {
    /// Its name.
    graph: String,
    /// Drop its tables too, those that no other graph uses.
    #[arg(long)]
    include_tables: bool,
    #[command(flatten)]
    place: Place,
}

/// The columns of a list of graphs.
pub const COLUMNS: &[listing::Column] = &[
    ("graph", Type::String),
    ("state", Type::String),
    ("reason", Type::String),
    ("tasks", Type::Long),
    ("epoch", Type::Long),
    ("waiting_rows", Type::Long),
];

/// The columns of a list of nodes.
const NODES: &[listing::Column] = &[
    ("node", Type::String),
    ("operator", Type::String),
    ("rows_in", Type::Long),
    ("rows_out", Type::Long),
    ("late", Type::Long),
    ("rejected", Type::Long),
];

/// Does it.
pub fn graph(command: &Graph) -> Result<(), Error> {
    match command {
        Graph::List(List { format, place }) => {
            let graphs = place.client()?.get(&["v1", "graphs"], &[])?.json()?;
            Ok(listing::print(*format, COLUMNS, graphs.as_array().map_or(&[], Vec::as_slice))?)
        }
        Graph::Show(Show { graph, format, place }) => {
            let mut shown = place.client()?.get(&["v1", "graphs", graph], &[])?.json()?;
            if *format == Format::Json {
                println!("{shown}");
                return Ok(());
            }
            let nodes = shown.as_object_mut().and_then(|facts| facts.remove("nodes")).unwrap_or_default();
            if *format == Format::Table {
                listing::print_one(*format, &shown)?;
            }
            Ok(listing::print(*format, NODES, nodes.as_array().map_or(&[], Vec::as_slice))?)
        }
        Graph::Explain(explain) => {
            let text = match is_script(explain) {
                true => of_script(Path::new(&explain.what), explain.format)?,
                false => of_server(&explain.place.client()?, &explain.what, explain.format)?,
            };
            println!("{}", text.trim_end());
            Ok(())
        }
        Graph::Drop(Drop { graph, include_tables, place }) => {
            let include_tables = if *include_tables { "true" } else { "false" };
            place.client()?.delete(&["v1", "graphs", graph], &[("include_tables", include_tables)])?;
            println!("dropped: graph=`{graph}`");
            Ok(())
        }
    }
}

/// A server's graph explained, as text or JSON.
pub fn of_server(client: &Client, graph: &str, format: Format) -> Result<String, Error> {
    let format = if format == Format::Json { "json" } else { "text" };
    client.get(&["v1", "graphs", graph, "explain"], &[("format", format)])?.text()
}

/// Names of graphs have neither a separator of folders nor the end of a script's name.
fn is_script(explain: &Explain) -> bool {
    let path = Path::new(&explain.what);
    explain.place.url.is_none()
        && (path.is_file() || path.components().count() > 1 || path.extension().is_some_and(|end| end == "dos"))
}

fn of_script(path: &Path, format: Format) -> Result<String, Failure> {
    let source = super::script(path)?;
    let orca = Embedded::open(&Options { threads: 0, scripts: super::beside(path), ..Options::default() })?;
    orca.run_script(&source)?;
    let text = orca.explain(format == Format::Json);
    orca.close();
    if text.is_empty() { Err(Failure::new("the script submits no graph")) } else { Ok(text) }
}
