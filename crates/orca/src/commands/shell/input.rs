//! Lines to whole statements.
//!
//! Invariants:
//! - A script's statement is whole when the parser does not ask for more; SQL is whole when it ends with `;`.
//! - A line that begins with `\` is a command of the shell, if no statement is under way.

use lang::Source;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// What is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Scripts.
    Script,
    /// Queries.
    Sql,
}

/// How long a statement that is whole may be gone on with by the next line of a pipe.
const PAUSE: Duration = Duration::from_millis(50);

/// Is the text whole, so that it can be run?
pub fn is_whole(mode: Mode, text: &str) -> bool {
    if text.trim().is_empty() || text.trim_start().starts_with('\\') {
        return true;
    }
    match mode {
        Mode::Script => !wants_more(text),
        Mode::Sql => split(text).1.trim().is_empty(),
    }
}

fn wants_more(text: &str) -> bool {
    lang::parse(&Source::new("shell", text)).errors.iter().any(|error| {
        error.message.ends_with("found the end of the script") || error.message.contains(" is not closed: expected")
    })
}

/// The queries in a text, without the `;` behind them; the last one needs none.
pub fn queries(text: &str) -> Vec<String> {
    let (mut queries, rest) = split(text);
    queries.push(rest);
    queries.retain(|query| !query.trim().is_empty());
    queries
}

/// The queries that end with `;`, and what follows the last one. Quotes and remarks may have a `;` of their own.
fn split(text: &str) -> (Vec<String>, String) {
    let (mut queries, mut query) = (vec![], String::new());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek().copied()) {
            (';', _) => queries.push(std::mem::take(&mut query)),
            ('-', Some('-')) => {
                // To the end of the line, which takes its place.
                letters.by_ref().find(|letter| *letter == '\n');
                query.push('\n');
            }
            ('/', Some('*')) => {
                letters.next();
                let mut before = ' ';
                let closed =
                    letters.by_ref().any(|letter| std::mem::replace(&mut before, letter) == '*' && letter == '/');
                query.push_str(if closed { " " } else { "/*" });
            }
            ('\'' | '"', _) => {
                query.push(letter);
                for inner in letters.by_ref() {
                    query.push(inner);
                    if inner == letter {
                        break;
                    }
                }
            }
            _ => query.push(letter),
        }
    }
    (queries, query)
}

/// Does this line go on with the statement before it, although that is whole? A chain of calls goes on with a `.`.
fn goes_on(mode: Mode, line: &str) -> bool {
    let line = line.trim_start();
    let word =
        |word: &str| line.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
    mode == Mode::Script && (line.starts_with('.') || word("else") || word("catch"))
}

/// Lines of a pipe.
pub struct Lines {
    lines: Receiver<String>,
    next: Option<String>,
}

impl Lines {
    /// The lines of standard input.
    pub fn of_stdin() -> Lines {
        let (read, lines) = channel();
        // A thread of its own, so that what may come next can be waited for a moment.
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                if read.send(line).is_err() {
                    return;
                }
            }
        });
        Lines { lines, next: None }
    }

    /// The next statement; at the end of the lines also one that is not whole.
    pub fn statement(&mut self, mode: Mode) -> Option<String> {
        let mut text = self.next.take().or_else(|| self.lines.recv().ok())?;
        loop {
            let is_command = text.trim_start().starts_with('\\');
            let whole = is_whole(mode, &text);
            if whole && (is_command || text.trim().is_empty()) {
                return Some(text);
            }
            let line = match whole {
                false => self.lines.recv().ok(),
                true => match self.lines.recv_timeout(PAUSE) {
                    Ok(line) if goes_on(mode, &line) => Some(line),
                    Ok(line) => {
                        self.next = Some(line);
                        None
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
                },
            };
            let Some(line) = line else { return Some(text) };
            text.push('\n');
            text.push_str(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_whole_when_the_parser_asks_for_no_more() {
        for whole in ["", "a = 1", "print(1)", "f = def(x) { x }", "1 +* 2", "\\d", "a)"] {
            assert!(is_whole(Mode::Script, whole), "{whole}");
        }
        for more in ["f(1,", "def f(x) {\n  x", "a = ", "if (x) {", "x = \"a", "/* a"] {
            assert!(!is_whole(Mode::Script, more), "{more}");
        }
    }

    #[test]
    fn sql_is_whole_with_a_semicolon_outside_of_quotes_and_remarks() {
        for whole in ["select 1;", "select 1; -- done", "select ';';", "select 1; select 2;"] {
            assert!(is_whole(Mode::Sql, whole), "{whole}");
        }
        for more in ["select 1", "select 1 -- ;", "select ';'", "select 1 /* ; */", "select 1; select"] {
            assert!(!is_whole(Mode::Sql, more), "{more}");
        }
        assert_eq!(queries("select ';', 1; -- one;\nselect 2"), ["select ';', 1", " \nselect 2"]);
    }

    #[test]
    fn a_chain_goes_on_with_a_dot() {
        let (read, lines) = channel();
        for line in ["g.source(1)", "  .sink(2)", "a = 1", "if (a) { b }", "else { c }", "\\d", "f(1,", "2)"] {
            read.send(line.to_string()).expect("somebody listens");
        }
        drop(read);
        let mut lines = Lines { lines, next: None };
        let statements: Vec<String> = std::iter::from_fn(|| lines.statement(Mode::Script)).collect();
        assert_eq!(statements, ["g.source(1)\n  .sink(2)", "a = 1", "if (a) { b }\nelse { c }", "\\d", "f(1,\n2)"]);
    }
}
