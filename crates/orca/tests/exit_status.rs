//! The exit status of the program: 0 for success, 1 for a refusal or failure, 2 for a wrong command line, 3 if the server
//! cannot be reached.

mod place;

use std::process::Command;

fn status(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_orca")).args(arguments).output().expect("the program starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_wrong_command_line_is_told_from_a_failure() {
    for (arguments, code, want) in [
        (&["eval", "1 + 1"][..], 0, ""),
        (&["eval", "1 +"], 1, "error"),
        (&["run", "no_such_script.dos"], 1, "cannot read the script"),
        (&["run", "no_such_script.dos", "--feed", "Trade"], 2, "a feed is TABLE=FILE"),
        (&["run", "no_such_script.dos", "--batch-rows", "0"], 2, "--batch-rows"),
        (&["run", "no_such_script.dos", "--format", "xml"], 2, "possible values: table, csv, json"),
        (&["run", "no_such_script.dos", "--fed", "x"], 2, "--feed"),
        (&["bench", "kline", "--parallel", "0"], 2, "--parallel"),
        (&["demo", "--symbols", "-1"], 2, "-1"),
        (&["sing"], 2, "sing"),
        (&["feed", "Trade"], 2, "<FILE>"),
        (&["feed", "Trade", "a.csv", "--rate", "0"], 2, "--rate"),
        (&["table", "tail", "Trade", "--filter", "x > 1"], 2, "--follow"),
        (&["sql", "select 1", "--url", "https://host"], 1, "begin it with `http://`"),
        (&["config", "--set", "log.level=loud"], 1, "wanted=`error, warn, info, debug, trace`"),
        (&["completions", "cmd"], 2, "possible values: bash"),
        (&["graph", "explain", "no_such_script.dos"], 1, "cannot read the script"),
    ] {
        let (found, said) = status(arguments);
        assert_eq!((found, said.contains(want)), (Some(code), true), "{arguments:?}: {said}");
    }
}

#[test]
fn a_server_that_cannot_be_reached_is_told_from_one_that_refuses() {
    let script = place::root().join("crates/orca/scripts/kline.dos").display().to_string();
    for command in [
        &["submit", script.as_str()][..],
        &["feed", "Trade", "trades.csv"],
        &["sql", "select 1"],
        &["shell"],
        &["graph", "list"],
        &["graph", "show", "klines"],
        &["graph", "explain", "klines"],
        &["graph", "drop", "klines"],
        &["table", "list"],
        &["table", "show", "Trade"],
        &["table", "tail", "Trade"],
    ] {
        // Nobody listens at port 1.
        let (found, said) = status(&[command, &["--url", "http://127.0.0.1:1"]].concat());
        assert_eq!(found, Some(3), "{command:?}: {said}");
        assert!(said.contains("the server cannot be reached: url=`http://127.0.0.1:1`"), "{command:?}: {said}");
    }
}
