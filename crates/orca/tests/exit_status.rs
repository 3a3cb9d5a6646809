//! The exit status of the program: 0 for success, 1 for a refusal or failure, 2 for a wrong command line.

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
    ] {
        let (found, said) = status(arguments);
        assert_eq!((found, said.contains(want)), (Some(code), true), "{arguments:?}: {said}");
    }
}
