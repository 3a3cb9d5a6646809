//! The house: imports run downwards only.

mod place;

use place::root;
use std::collections::BTreeMap;

/// The floors from the ground up; crates of one floor do not import each other.
const FLOORS: &[&[&str]] = &[
    &["data", "env"],
    &["lang"],
    &["engine"],
    &["graph", "stream", "cube"],
    &["wire", "query", "connect"],
    &["master", "worker"],
    &["orca"],
];

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

/// The crates of this project that each crate depends on, apart from its tests.
fn imports() -> BTreeMap<String, Vec<String>> {
    let crates = root().join("crates");
    let mut imports = BTreeMap::new();
    for entry in std::fs::read_dir(crates).expect("the crates' folder") {
        let entry = entry.expect("an entry");
        let manifest = std::fs::read_to_string(entry.path().join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or("").split("\n[").next().unwrap_or("");
        let names = dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        let ours = names.filter(|name| floor(name).is_some()).map(String::from).collect();
        imports.insert(entry.file_name().to_string_lossy().into_owned(), ours);
    }
    imports
}

#[test]
fn every_crate_has_a_floor_and_imports_run_downwards() {
    let imports = imports();
    assert!(imports.len() >= 12, "the crates were found: {imports:?}");
    for (name, below) in &imports {
        let floor_of = floor(name).unwrap_or_else(|| panic!("`{name}` has no floor"));
        for other in below {
            assert!(floor(other) < Some(floor_of), "`{name}` imports `{other}`, which is not below it");
        }
    }
}

#[test]
fn only_env_touches_the_world() {
    let crates = root().join("crates");
    // `connect` reads files by its calling, `orca` is the program itself, `query` runs DataFusion's threads.
    for name in ["data", "lang", "engine", "graph", "stream", "wire", "master", "worker"] {
        let mut folders = vec![crates.join(name).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                // Tests may read the machine's clock, to measure.
                if path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests")) {
                    continue;
                }
                let text = std::fs::read_to_string(&path).expect("a source file");
                let product = text.split("#[cfg(test)]").next().expect("a first part");
                for word in [
                    "std::fs",
                    "SystemTime::now",
                    "Instant::now",
                    "std::net",
                    "thread::spawn",
                    "thread::sleep",
                    "std::env",
                ] {
                    assert!(!product.contains(word), "`{}` mentions `{word}`, which only `env` may", path.display());
                }
            }
        }
    }
}
