//! Help on the shell's commands, and on every function and call of the language.

use crate::commands::manual;
use crate::failure::Failure;
use env::Kind;
use lang::{Diagnostic, library};

/// The commands of the shell.
pub const COMMANDS: &str = r"\help            this list
\h NAME          help on a function or call; so does help(NAME)
\sql [QUERY]     go on with SQL, each query ended by `;`; or run one query
\script [TEXT]   go on with scripts; or run one
\d [TABLE]       the tables; or one table and its columns
\g [GRAPH]       the graphs; or what became of one
\format NAME     print rows as table, csv or json
\timing          tell how long each statement takes, or no longer
\q               the end; so is Ctrl-D

A script's statement is run when it is whole: open brackets go on in the next line. On a terminal Alt-Enter begins
another line, Tab completes, the arrows go through what was typed before.";

/// The name in `help(name)`, if a text is that.
pub fn wanted(text: &str) -> Option<&str> {
    let inner = text.trim_end_matches(';').trim().strip_prefix("help(")?.strip_suffix(')')?.trim();
    let name = inner.trim_matches(['"', '\'', '`']);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_name.then_some(name)
}

/// What there is to say of a function or call.
pub fn of(name: &str) -> Result<String, Failure> {
    if let Some(function) = library::find(name) {
        let (call, printed) = function.example;
        let (parameters, kind) = (function.parameters, manual::kinds(&function.form));
        let example = format!("    {call}\n    {}", printed.trim_end().replace('\n', "\n    "));
        return Ok(format!("{name}({parameters})\n{kind}\n\n{}\n\n{example}", function.summary));
    }
    let entries = graph::manual();
    let named: Vec<_> = entries.iter().filter(|entry| entry.name.eq_ignore_ascii_case(name)).collect();
    if named.is_empty() {
        let known = library::all().map(|function| function.name).chain(entries.iter().map(|entry| entry.name));
        let error = Diagnostic::new(format!("no such function: function=`{name}`")).suggest(name, known);
        return Err(Failure::several(Kind::NotFound, vec![error]));
    }
    let text = named.iter().map(|entry| {
        let on = entry.class.map_or("a call".to_string(), |class| format!("a method of {class}"));
        let parameters = entry.parameters.iter().map(|parameter| {
            let needed = if parameter.required { "" } else { " (may be left out)" };
            format!("\n    {}{needed}: {}", parameter.name, parameter.summary)
        });
        let signature = manual::signature(entry.name, entry.parameters, false);
        format!("{signature}\n{on}\n\n{}\n{}", entry.summary, parameters.collect::<String>())
    });
    Ok(text.collect::<Vec<_>>().join("\n\n").trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_calls_and_engines_have_help() {
        for (name, parts) in [
            ("mavg", &["mavg(X, window", "a state function", "mavg("][..]),
            ("createCatalog", &["createCatalog(", "a call"]),
            ("timeSeriesEngine", &["timeSeriesEngine(windowSize", "a method of DStream", "may be left out"]),
        ] {
            let text = of(name).expect("help");
            parts.iter().for_each(|part| assert!(text.contains(part), "{part} in {text}"));
        }
        assert!(of("mavgg").expect_err("no function").to_string().contains("did you mean `mavg`?"));
    }

    #[test]
    fn help_is_asked_for_as_in_a_script() {
        for text in ["help(mavg)", "help(\"mavg\");", "help( `mavg )"] {
            assert_eq!(wanted(text), Some("mavg"), "{text}");
        }
        for text in ["help()", "help(1 + 2)", "helping(mavg)"] {
            assert_eq!(wanted(text), None, "{text}");
        }
    }
}
