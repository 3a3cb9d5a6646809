//! The program `orca`.

use clap::Parser;
use orca::commands::{Cli, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    env::end_with_its_reader();
    run(Cli::parse())
}
