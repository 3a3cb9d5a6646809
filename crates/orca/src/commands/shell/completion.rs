//! What Tab offers: words of the language, functions, calls, tables and columns.

use super::SharedMode;
use super::input::Mode;
use crate::client::{Client, Error};
use crate::commands::table;
use lang::library;
use reedline::{Completer, CompletionResult, Span, Suggestion};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The words of scripts.
pub const SCRIPT_WORDS: &[&str] = &[
    "and", "assert", "between", "break", "catalog", "catch", "continue", "def", "defg", "delete", "do", "else", "exec",
    "false", "for", "from", "go", "having", "if", "in", "insert", "into", "like", "limit", "not", "or", "return",
    "select", "set", "share", "throw", "true", "try", "update", "use", "values", "where", "while", "xor",
];

/// The words of SQL.
pub const SQL_WORDS: &[&str] = &[
    "all",
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "cross",
    "desc",
    "distinct",
    "else",
    "end",
    "except",
    "exists",
    "explain",
    "false",
    "from",
    "full",
    "group",
    "having",
    "in",
    "inner",
    "insert",
    "intersect",
    "interval",
    "into",
    "is",
    "join",
    "left",
    "like",
    "limit",
    "not",
    "null",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "right",
    "select",
    "then",
    "true",
    "union",
    "using",
    "values",
    "when",
    "where",
    "with",
];

/// The commands of the shell.
const COMMANDS: &[&str] = &["\\d", "\\format", "\\g", "\\h", "\\help", "\\q", "\\script", "\\sql", "\\timing"];

/// So old may be what is known of the server's tables.
const AGE_MAX: Duration = Duration::from_secs(5);

/// So much is offered at once.
const OFFERS_MAX: usize = 200;

/// Offers names.
pub struct Names {
    client: Client,
    mode: SharedMode,
    fetched: Option<Instant>,
    tables: BTreeSet<String>,
    /// Of each table that was looked at; tables do not change their columns.
    columns: BTreeMap<String, Vec<String>>,
}

impl Names {
    /// Names that a server knows, asked by a client of their own.
    pub fn new(client: Client, mode: SharedMode) -> Names {
        Names { client, mode, fetched: None, tables: BTreeSet::new(), columns: BTreeMap::new() }
    }

    /// Asks the server if what is known is old. What cannot be had is not offered.
    fn fetch(&mut self) {
        if self.fetched.is_some_and(|at| at.elapsed() < AGE_MAX) {
            return;
        }
        self.fetched = Some(Instant::now());
        let Ok(tables) = table::list(&self.client) else { return };
        self.tables = tables.iter().filter_map(|table| table["table"].as_str()).map(String::from).collect();
        for name in &self.tables {
            if !self.columns.contains_key(name)
                && let Ok(columns) = columns(&self.client, name)
            {
                self.columns.insert(name.clone(), columns);
            }
        }
    }

    /// The names that begin with a word, without regard to case, and what each is.
    fn offers(&self, word: &str) -> Vec<(String, String)> {
        let lower = word.to_lowercase();
        let begins = |name: &str| name.to_lowercase().starts_with(&lower);
        let mut offers = BTreeMap::new();
        let mut offer = |name: &str, what: &str| {
            if begins(name) {
                offers.entry(name.to_string()).or_insert_with(|| what.to_string());
            }
        };
        if word.starts_with('\\') {
            COMMANDS.iter().for_each(|name| offer(name, "command"));
            return offers.into_iter().collect();
        }
        let mode = *self.mode.lock();
        let words = if mode == Mode::Sql { SQL_WORDS } else { SCRIPT_WORDS };
        words.iter().for_each(|name| offer(name, "word"));
        for table in &self.tables {
            offer(table, "table");
            offer(table.rsplit('.').next().unwrap_or(table), "table");
        }
        for (table, columns) in &self.columns {
            let of = format!("column of {table}");
            columns.iter().for_each(|column| offer(column, &of));
        }
        for function in library::all() {
            offer(function.name, &format!("{}({})", function.name, function.parameters));
        }
        if mode == Mode::Script {
            for entry in graph::manual() {
                offer(entry.name, entry.summary);
            }
        }
        offers.into_iter().collect()
    }
}

impl Completer for Names {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        self.fetch();
        let before = &line[..pos];
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '\\');
        let start = before.char_indices().rev().take_while(|(_, letter)| is_part(*letter)).last();
        let mut start = start.map_or(pos, |(place, _)| place);
        let mut offers = self.offers(&before[start..]);
        if offers.is_empty()
            && let Some(dot) = before[start..].rfind('.')
        {
            // A method of what stands before the dot, or a column of it.
            start += dot + 1;
            offers = self.offers(&before[start..]);
        }
        let suggestion = |(value, what): (String, String)| Suggestion {
            value,
            description: Some(what),
            span: Span::new(start, pos),
            ..Suggestion::default()
        };
        CompletionResult::fresh(offers.into_iter().take(OFFERS_MAX).map(suggestion).collect::<Vec<_>>())
    }
}

fn columns(client: &Client, name: &str) -> Result<Vec<String>, Error> {
    Ok(table::schema(&table::find(client, name)?)?.names())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn offered(mode: Mode, line: &str) -> Vec<String> {
        let client = Client::new("http://127.0.0.1:1", None, None);
        let mut names = Names::new(client, Arc::new(parking_lot::Mutex::new(mode)));
        names.fetched = Some(Instant::now());
        names.tables = ["market.orca_table.Trade".to_string()].into();
        names.columns = [("market.orca_table.Trade".to_string(), vec!["symbol".to_string()])].into();
        let result = names.complete(line, line.len());
        result
            .suggestions()
            .iter()
            .map(|suggestion| format!("{}@{}", suggestion.value, suggestion.span.start))
            .collect()
    }

    #[test]
    fn names_are_offered_by_their_beginning() {
        for (mode, line, wanted) in [
            (Mode::Sql, "select * from tra", "Trade@14"),
            (Mode::Sql, "select * from market.o", "market.orca_table.Trade@14"),
            (Mode::Sql, "select sym", "symbol@7"),
            (Mode::Sql, "select mav", "mavg@7"),
            (Mode::Sql, "sel", "select@0"),
            (Mode::Script, "g.sour", "source@2"),
            (Mode::Script, "\\ti", "\\timing@0"),
        ] {
            let found = offered(mode, line);
            assert!(found.iter().any(|offer| offer == wanted), "{line}: {wanted} in {found:?}");
        }
        assert!(!offered(Mode::Sql, "sour").iter().any(|offer| offer.starts_with("source@")));
    }
}
