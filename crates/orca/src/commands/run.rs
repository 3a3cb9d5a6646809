//! `orca run`: a script in this process, files fed to its tables, rows of queries.

use super::{Failure, Format};
use crate::embedded::{Embedded, Feeding, LogMode, Options};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// What is run.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// The script.
    script: PathBuf,
    /// Append a file to a public table: TABLE=FILE. Files go in the order given.
    #[arg(long = "feed", value_name = "TABLE=FILE", value_parser = feed)]
    feeds: Vec<(String, PathBuf)>,
    /// Merge the files by this time column instead of feeding one after another.
    #[arg(long, value_name = "COLUMN")]
    interleave: Option<String>,
    /// A longer file is cut into appends of this many rows.
    #[arg(long, default_value = "10000")]
    batch_rows: NonZeroUsize,
    /// Print the rows of this query when the graphs have processed every row.
    #[arg(long = "query", value_name = "SQL")]
    queries: Vec<String>,
    /// How rows are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Where tables and journals are kept; in memory alone if left out. A second run goes on where the first one ended.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// What stands behind the tables when there is a data folder.
    #[arg(long, value_enum, default_value_t = LogMode::Async)]
    log: LogMode,
}

/// Runs it.
pub fn run(arguments: &Run) -> Result<(), Failure> {
    let source = super::script(&arguments.script)?;
    let log = if arguments.data_dir.is_some() { arguments.log } else { LogMode::Off };
    let (data_dir, scripts) = (arguments.data_dir.clone(), super::beside(&arguments.script));
    let orca = Embedded::open(&Options { data_dir, log, scripts, ..Options::default() })?;
    orca.run_script(&source)?;
    let feeding = Feeding { batch_rows: arguments.batch_rows.get(), interleave: arguments.interleave.clone() };
    orca.feed(&arguments.feeds, &feeding)?;
    orca.wait()?;
    let mut out = std::io::stdout().lock();
    for sql in &arguments.queries {
        let answer = orca.query(sql)?;
        query::format::write(&answer, arguments.format.into(), &mut out)?;
    }
    out.flush()?;
    orca.close();
    Ok(())
}

fn feed(text: &str) -> Result<(String, PathBuf), String> {
    let (table, file) = text.split_once('=').ok_or("a feed is TABLE=FILE")?;
    Ok((table.to_string(), PathBuf::from(file)))
}
