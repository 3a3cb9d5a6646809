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

/// Runs the checks of the command line's contract where they are at hand; says so where they are not. What is built must
/// pass; the rest may fail.
fn conformance() -> Result<(), String> {
    let runner = root().join(CONFORMANCE).join("run.py");
    if !runner.exists() {
        println!("conformance: skipped, there is no {CONFORMANCE}");
        return Ok(());
    }
    run("program", cargo(&["build", "--release", "--package", "orca"]))?;
    println!("== conformance");
    let built = std::fs::read_to_string(root().join(BUILT)).map_err(|error| format!("{BUILT}: {error}"))?;
    let built = Built::read(&built);
    let mut python = Command::new("python3");
    python.arg(&runner).arg("--orca").arg(target().join("release/orca")).args(["--jobs", "2"]);
    let output = python.current_dir(root()).output().map_err(|error| format!("conformance: cannot start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(last) = text.lines().last().filter(|line| line.contains(" passed, ")) else {
        return Err(format!("conformance: the runner broke off: {text}{}", String::from_utf8_lossy(&output.stderr)));
    };
    let failed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("FAIL ")).collect();
    let wrong: Vec<&str> = failed.iter().copied().filter(|name| built.holds(name)).collect();
    println!("of all checks: {last}; of those that are built, {} failed", wrong.len());
    if wrong.is_empty() { Ok(()) } else { Err(format!("conformance: {}", wrong.join(", "))) }
}

/// Which checks are built.
struct Built<'a> {
    patterns: Vec<&'a str>,
    exceptions: Vec<&'a str>,
}

impl<'a> Built<'a> {
    fn read(text: &'a str) -> Built<'a> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (exceptions, patterns): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with('-'));
        let exceptions = exceptions.into_iter().map(|line| line.trim_start_matches('-').trim()).collect();
        Built { patterns, exceptions }
    }

    fn holds(&self, name: &str) -> bool {
        let named = |patterns: &[&str]| patterns.iter().any(|pattern| matches(pattern, name));
        named(&self.patterns) && !named(&self.exceptions)
    }
}

/// Is it the name, or does the name begin with what stands before a closing `*`?
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(head) => name.starts_with(head),
        None => name == pattern || name.strip_prefix(pattern).is_some_and(|rest| rest.starts_with(['#', '@'])),
    }
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
    // Asked when run, not when built: clones that share a target folder also share the built program.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where xtask is");
    Path::new(&xtask).parent().expect("the workspace is above xtask").to_path_buf()
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
