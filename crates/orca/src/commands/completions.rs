//! `orca completions`: what makes a shell complete the commands and options of this program.

use super::Cli;
use clap::CommandFactory;
use clap_complete::Shell;

/// For which shell.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the file that the shell reads.
pub fn completions(arguments: &Completions) {
    clap_complete::generate(arguments.shell, &mut Cli::command(), "orca", &mut std::io::stdout());
}
