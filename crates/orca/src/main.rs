//! The program `orca`.

use clap::Parser;
use orca::commands::{Cli, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    run(Cli::parse())
}
