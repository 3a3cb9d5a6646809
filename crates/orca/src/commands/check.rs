//! `orca check`: everything that is wrong with a script, before a row is fed.

use super::Failure;
use std::path::PathBuf;

/// What is checked.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The scripts.
    #[arg(required = true)]
    scripts: Vec<PathBuf>,
}

/// Checks them. Graphs are built and checked as a submit does; nothing is fed and nothing is kept.
pub fn check(arguments: &Check) -> Result<(), Failure> {
    let mut errors = vec![];
    for path in &arguments.scripts {
        let source = super::script(path)?;
        let found = crate::embedded::check_script(&source, super::beside(path))?;
        for warning in &found.warnings {
            eprintln!("warning: {warning}");
        }
        if found.errors.is_empty() {
            println!("{}: no error found", path.display());
        }
        errors.extend(found.errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(Failure::from(errors)) }
}
