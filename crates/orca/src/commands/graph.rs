//! `orca graph`: what becomes of a graph.

use super::{Failure, Format};
use crate::embedded::{Embedded, Options};
use std::path::PathBuf;

/// What is shown.
#[derive(Debug, clap::Subcommand)]
pub enum Graph {
    /// The graphs of a script: as written, as they run, where, by which actions, and the facts of their engines.
    Explain(Explain),
}

/// Which graphs.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// The script that builds them.
    script: PathBuf,
    /// How they are shown.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Shows it.
pub fn graph(command: &Graph) -> Result<(), Failure> {
    let Graph::Explain(arguments) = command;
    let source = super::script(&arguments.script)?;
    let orca = Embedded::open(&Options { threads: 0, ..Options::default() })?;
    orca.run_script(&source)?;
    let text = orca.explain(arguments.format == Format::Json);
    if text.is_empty() {
        return Err(Failure::new("the script submits no graph"));
    }
    println!("{}", text.trim_end());
    orca.close();
    Ok(())
}
