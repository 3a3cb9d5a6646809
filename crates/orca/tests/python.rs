//! The Python client: its own tests against a server, its installation, and the example of its page.

mod common;

use common::{python, root, serve};
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{command:?}\n{out}{err}");
    out.into_owned()
}

fn home() -> PathBuf {
    root().join("clients/python")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, name) = (entry.path(), entry.file_name());
        match path.is_dir() {
            true => copy(&path, &to.join(name)),
            false => drop(std::fs::copy(&path, to.join(name)).expect("a copy")),
        }
    }
}

#[test]
fn its_tests_pass_against_a_server() {
    let running = serve(&[]);
    let mut command = Command::new(python());
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(home().join("tests"));
    command.env("PYTHONPATH", home().join("src")).env("ORCA_URL", format!("http://{}", running.http));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let told = run(&mut command);
    assert!(told.contains(" passed"), "{told}");
    running.stop().expect("a stop");
}

#[test]
fn a_login_opens_every_way_in() {
    let running = serve(&[("login.user", "ann"), ("login.password", "secret")]);
    let mut command = Command::new(python());
    command.arg(root().join("tests/clients/flight_login.py")).arg(format!("http://{}", running.http));
    run(command.env("PYTHONPATH", home().join("src")));
    running.stop().expect("a stop");
}

/// Installed as its page says, into a Python of its own; what it builds on is taken from the clients' Python.
#[test]
fn it_is_installed_by_pip_and_its_page_is_true() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("source");
    copy(&home(), &source);
    let fresh = folder.path().join("python");
    run(Command::new(python()).args(["-m", "venv"]).arg(&fresh));
    let installed = fresh.join("bin/python");
    run(Command::new(&installed).args(["-m", "pip", "install", "--quiet", "--no-deps"]).arg(&source));

    let page = std::fs::read_to_string(home().join("README.md")).expect("the page");
    let (_, example) = page.split_once("```python\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let running = serve(&[]);
    let example = example.replace("orca.connect()", &format!("orca.connect(\"http://{}\")", running.http));
    let script = folder.path().join("example.py");
    std::fs::write(&script, example).expect("a file");
    let others = run(Command::new(python())
        .args(["-c", "import pyarrow, os; print(os.path.dirname(os.path.dirname(pyarrow.__file__)))"]));
    let told = run(Command::new(&installed).arg(&script).env("PYTHONPATH", others.trim()).current_dir(folder.path()));
    assert!(told.contains("createStreamGraph(\"candles\")"), "{told}");
    assert_eq!(told.matches("10.0  11.0  10.0   11.0").count(), 2, "{told}");
    running.stop().expect("a stop");
}

/// The blocks of a page behind this word.
fn blocks(page: &str, word: &str) -> Vec<String> {
    let fence = format!("\n```{word}\n");
    let opened = page.split(&fence).skip(1);
    opened.map(|rest| rest.split_once("\n```").expect("a block is closed").0.to_string()).collect()
}

#[test]
fn the_programs_of_the_manual_do_what_they_say() {
    for page in ["flight.md", "python.md"] {
        let text = std::fs::read_to_string(root().join("docs/manual").join(page)).expect("a page");
        let running = serve(&[]);
        blocks(&text, "orca").iter().for_each(|script| common::submit(&running, script));
        let programs = blocks(&text, "python");
        assert!(programs.len() >= 3, "{page}");
        let program = programs.join("\n").replace("127.0.0.1:8848", &running.http.to_string());
        run(Command::new(python()).args(["-c", &program]).env("PYTHONPATH", home().join("src")));
        running.stop().expect("a stop");
    }
}
