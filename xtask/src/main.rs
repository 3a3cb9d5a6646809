//! The project's own tasks. `cargo xtask test` runs all that a change must pass.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Where the checks of the command line's contract are, seen from the project's root.
const CONFORMANCE: &str = "../shared/conformance";

/// The names of the checks that are built, one pattern a line.
const BUILT: &str = "tests/conformance.txt";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.first().map(String::as_str) {
        Some("test") => test(),
        Some("conformance") => conformance(),
        _ => Err("usage: cargo xtask test | conformance".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> Result<(), String> {
    run("format", cargo(&["fmt", "--all", "--check"]))?;
    let clippy = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run("lints", cargo(&clippy))?;
    run("tests", cargo(&["test", "--release", "--workspace"]))?;
    conformance()
}

/// Runs the checks of the command line's contract where they are at hand; says so where they are not.
fn conformance() -> Result<(), String> {
    let runner = root().join(CONFORMANCE).join("run.py");
    if !runner.exists() {
        println!("conformance: skipped, there is no {CONFORMANCE}");
        return Ok(());
    }
    run("program", cargo(&["build", "--release", "--package", "orca"]))?;
    let built = std::fs::read_to_string(root().join(BUILT)).map_err(|error| format!("{BUILT}: {error}"))?;
    let patterns = built.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    for pattern in patterns {
        let mut python = Command::new("python3");
        python.arg(&runner).arg("--orca").arg(target().join("release/orca"));
        python.args(["--jobs", "2", "--only", pattern]);
        run(&format!("conformance {pattern}"), python)?;
    }
    Ok(())
}

fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments);
    cargo
}

fn run(name: &str, mut command: Command) -> Result<(), String> {
    println!("== {name}");
    let start = Instant::now();
    let status = command.current_dir(root()).status().map_err(|error| format!("{name}: cannot start: {error}"))?;
    println!("== {name}: {:.0} s", start.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(format!("{name}: failed")) }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above xtask").to_path_buf()
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
