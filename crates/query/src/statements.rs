//! What a PostgreSQL client sends, cut into statements: queries for a session, and the commands around them.
//!
//! Only what is no query is read to its end here; a query's text is handed on as it was written.

use crate::error::{Error, Place, Result};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use std::ops::Range;

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// It as it was written, without the semicolon.
    pub text: String,
    /// How many characters stand before it.
    pub offset: usize,
    /// What it asks for.
    pub command: Command,
}

/// What a statement asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Rows of tables, or rows into them: for [`crate::Session`] as it is.
    Query,
    /// What only PostgreSQL has: for [`crate::Session::for_postgres`].
    Catalog,
    /// A setting gets a value; its default if `None`.
    Set(String, Option<String>),
    /// All settings get their defaults.
    ResetAll,
    /// Tells a setting, or all of them.
    Show(String),
    /// A transaction begins.
    Begin,
    /// A transaction ends.
    Commit,
    /// A transaction is to be undone.
    Rollback,
    /// A place in a transaction: made, given up or gone back to. The tag of the answer.
    Savepoint(&'static str),
    /// A cursor over a query of this text, which is a catalog query or not.
    Declare {
        /// Its name.
        cursor: String,
        /// The query.
        query: Box<Statement>,
    },
    /// The next rows of a cursor.
    Fetch {
        /// Its name.
        cursor: String,
        /// How many; all if `None`.
        rows: Option<u64>,
        /// Pass them over?
        skip: bool,
    },
    /// A cursor is given up; all if `None`.
    Close(Option<String>),
    /// A prepared statement is given up; all if `None`.
    Deallocate(Option<String>),
    /// Everything the connection keeps is given up.
    Discard,
    /// Rows in bulk.
    Copy(Copy),
    /// Asks for nothing that is here; the tag of the answer.
    Nothing(&'static str),
}

/// Rows in bulk, to or from the client.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// Whose rows.
    pub of: CopyOf,
    /// From the client?
    pub is_from: bool,
    /// How they are written.
    pub format: CopyFormat,
    /// Is there a line of names before them?
    pub header: bool,
    /// What stands between two fields.
    pub delimiter: u8,
    /// How NULL is written.
    pub null: String,
    /// What stands around a field that needs it.
    pub quote: u8,
    /// What stands before a quote within quotes.
    pub escape: u8,
}

/// Whose rows are copied.
#[derive(Debug, Clone, PartialEq)]
pub enum CopyOf {
    /// A table's, of these columns; all if there are none.
    Table(String, Vec<String>),
    /// A query's.
    Query(Box<Statement>),
}

/// How rows are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyFormat {
    /// PostgreSQL's own text.
    Text,
    /// Comma-separated values.
    Csv,
    /// PostgreSQL's binary form.
    Binary,
}

/// PostgreSQL's functions that do not begin with `pg_`, and that no table is needed for.
const FUNCTIONS: &[&str] = &[
    "array_lower",
    "array_upper",
    "col_description",
    "current_database",
    "current_schema",
    "current_schemas",
    "current_setting",
    "format_type",
    "has_any_column_privilege",
    "has_column_privilege",
    "has_database_privilege",
    "has_function_privilege",
    "has_schema_privilege",
    "has_table_privilege",
    "inet_client_addr",
    "inet_server_addr",
    "inet_server_port",
    "obj_description",
    "parse_ident",
    "quote_ident",
    "session_user",
    "set_config",
    "shobj_description",
    "to_regclass",
    "to_regtype",
    "txid_current",
    "version",
];

/// Words that only PostgreSQL gives a meaning to.
const WORDS: &[&str] = &[
    "current_catalog",
    "current_role",
    "current_schema",
    "current_user",
    "information_schema",
    "regclass",
    "regnamespace",
    "regproc",
    "regprocedure",
    "regrole",
    "regtype",
    "session_user",
];

/// The statements of a text, in order; none if it is empty.
pub fn statements(text: &str) -> Result<Vec<Statement>> {
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize_with_location();
    let tokens = tokens.map_err(|error| Error::Invalid {
        reason: format!("cannot read the query: {}", error.message.to_lowercase()),
        place: Some(Place { line: error.location.line, column: error.location.column }),
    })?;
    let tokens: Vec<TokenWithSpan> =
        tokens.into_iter().filter(|token| !matches!(token.token, Token::Whitespace(_) | Token::EOF)).collect();
    let source = Source { text, lines: line_starts(text) };
    let mut found = vec![];
    for piece in tokens.split_inclusive(|token| token.token == Token::SemiColon) {
        let (piece, end) = match piece.split_last() {
            Some((last, rest)) if last.token == Token::SemiColon => (rest, source.byte(last)),
            _ => (piece, text.len()),
        };
        if !piece.is_empty() {
            found.push(source.statement(piece, end)?);
        }
    }
    Ok(found)
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

struct Source<'a> {
    text: &'a str,
    lines: Vec<usize>,
}

impl Source<'_> {
    /// Where a token begins.
    fn byte(&self, token: &TokenWithSpan) -> usize {
        let start = token.span.start;
        let line = self.lines.get(start.line.saturating_sub(1) as usize).copied().unwrap_or(self.text.len());
        let within = self.text[line..].char_indices().nth(start.column.saturating_sub(1) as usize);
        within.map_or(self.text.len(), |(at, _)| line + at)
    }

    fn statement(&self, tokens: &[TokenWithSpan], end: usize) -> Result<Statement> {
        let start = self.byte(&tokens[0]);
        let range = start..end.max(start);
        let command = Reader { source: self, tokens, end, at: 0 }.command()?;
        Ok(self.cut(range, command))
    }

    /// A query within another statement: no further one is looked for in it.
    fn query(&self, tokens: &[TokenWithSpan], end: usize) -> Box<Statement> {
        let start = self.byte(&tokens[0]);
        let command = if is_postgres(tokens) { Command::Catalog } else { Command::Query };
        Box::new(self.cut(start..end.max(start), command))
    }

    fn cut(&self, range: Range<usize>, command: Command) -> Statement {
        let offset = self.text[..range.start].chars().count();
        Statement { text: self.text[range].trim_end().to_string(), offset, command }
    }
}

struct Reader<'a> {
    source: &'a Source<'a>,
    tokens: &'a [TokenWithSpan],
    end: usize,
    at: usize,
}

impl<'a> Reader<'a> {
    fn command(mut self) -> Result<Command> {
        let first = self.keyword().unwrap_or_default();
        let second = self.peek_keyword().unwrap_or_default();
        Ok(match first.as_str() {
            "set" => self.set()?,
            "reset" => match self.rest_of_name().as_str() {
                "all" => Command::ResetAll,
                name => Command::Set(name.to_string(), None),
            },
            "show" if !matches!(second.as_str(), "tables" | "columns" | "functions") => {
                Command::Show(self.rest_of_name())
            }
            "begin" => Command::Begin,
            "start" if second == "transaction" => Command::Begin,
            "commit" | "end" => Command::Commit,
            "rollback" if self.holds("to") => Command::Savepoint("ROLLBACK"),
            "rollback" | "abort" => Command::Rollback,
            "savepoint" => Command::Savepoint("SAVEPOINT"),
            "release" => Command::Savepoint("RELEASE"),
            "declare" => self.declare()?,
            "fetch" => self.fetch(false)?,
            "move" => self.fetch(true)?,
            "close" => match self.name()? {
                name if name == "all" => Command::Close(None),
                name => Command::Close(Some(name)),
            },
            "deallocate" => {
                if second == "prepare" {
                    self.at += 1;
                }
                match self.name()? {
                    name if name == "all" => Command::Deallocate(None),
                    name => Command::Deallocate(Some(name)),
                }
            }
            "discard" => Command::Discard,
            "copy" => Command::Copy(self.copy()?),
            "listen" => Command::Nothing("LISTEN"),
            "unlisten" => Command::Nothing("UNLISTEN"),
            "notify" => Command::Nothing("NOTIFY"),
            _ if is_postgres(self.tokens) => Command::Catalog,
            _ => Command::Query,
        })
    }

    fn set(&mut self) -> Result<Command> {
        if matches!(self.peek_keyword().as_deref(), Some("session" | "local")) && self.tokens.len() > 3 {
            self.at += 1;
        }
        match (self.peek_keyword().as_deref(), self.tokens.len()) {
            (Some("transaction" | "characteristics" | "constraints" | "role" | "authorization"), _) => {
                Ok(Command::Nothing("SET"))
            }
            (Some("time"), _) => {
                self.at += 2;
                Ok(Command::Set("timezone".into(), self.value()))
            }
            (Some("names"), _) => {
                self.at += 1;
                Ok(Command::Set("client_encoding".into(), self.value()))
            }
            _ => {
                let mut name = self.name()?.to_lowercase();
                while self.takes(&Token::Period) {
                    name = format!("{name}.{}", self.name()?.to_lowercase());
                }
                if !self.takes(&Token::Eq) && self.keyword().as_deref() != Some("to") {
                    return Err(self.wrong("= or TO"));
                }
                Ok(Command::Set(name, self.value()))
            }
        }
    }

    /// The rest as the value of a setting: texts without quotes, items with commas between them.
    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        for token in &self.tokens[self.at.min(self.tokens.len())..] {
            match &token.token {
                Token::Comma => value.push_str(", "),
                Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => value.push_str(text),
                Token::Word(word) => value.push_str(&word.value),
                other => value.push_str(&other.to_string()),
            }
        }
        self.at = self.tokens.len();
        Some(value).filter(|value| !value.eq_ignore_ascii_case("default"))
    }

    fn declare(&mut self) -> Result<Command> {
        let cursor = self.name()?;
        while let Some(word) = self.keyword() {
            if word == "for" {
                let rest = &self.tokens[self.at..];
                if rest.is_empty() {
                    return Err(self.wrong("a query"));
                }
                let query = self.source.query(rest, self.end);
                return Ok(Command::Declare { cursor, query });
            }
        }
        Err(self.wrong("FOR"))
    }

    fn fetch(&mut self, skip: bool) -> Result<Command> {
        let mut rows = Some(1);
        loop {
            match self.next() {
                Some(Token::Number(count, _)) => {
                    let count = count.clone();
                    rows = Some(count.parse().map_err(|_| self.wrong("a number of rows"))?);
                }
                Some(Token::Word(word)) if word.quote_style.is_none() => match word.value.to_lowercase().as_str() {
                    "all" => rows = None,
                    "next" | "forward" | "from" | "in" => {}
                    "prior" | "backward" | "first" | "last" | "absolute" | "relative" => {
                        return Err(Error::Invalid { reason: "not supported: cursors go forward".into(), place: None });
                    }
                    _ => {
                        self.at -= 1;
                        return Ok(Command::Fetch { cursor: self.name()?, rows, skip });
                    }
                },
                Some(Token::Word(_)) => {
                    self.at -= 1;
                    return Ok(Command::Fetch { cursor: self.name()?, rows, skip });
                }
                _ => return Err(self.wrong("a cursor")),
            }
        }
    }

    fn copy(&mut self) -> Result<Copy> {
        let of = if self.takes(&Token::LParen) {
            let start = self.at;
            let mut depth = 1;
            while depth > 0 {
                match self.next() {
                    Some(Token::LParen) => depth += 1,
                    Some(Token::RParen) => depth -= 1,
                    Some(_) => {}
                    None => return Err(self.wrong(")")),
                }
            }
            let inner = &self.tokens[start..self.at - 1];
            if inner.is_empty() {
                return Err(self.wrong("a query"));
            }
            let end = self.source.byte(&self.tokens[self.at - 1]);
            CopyOf::Query(self.source.query(inner, end))
        } else {
            let mut table = self.name()?;
            while self.takes(&Token::Period) {
                table = format!("{table}.{}", self.name()?);
            }
            let mut columns = vec![];
            if self.takes(&Token::LParen) {
                loop {
                    columns.push(self.name()?);
                    if self.takes(&Token::RParen) {
                        break;
                    }
                    if !self.takes(&Token::Comma) {
                        return Err(self.wrong(") or ,"));
                    }
                }
            }
            CopyOf::Table(table, columns)
        };
        let is_from = match self.keyword().as_deref() {
            Some("from") => true,
            Some("to") => false,
            _ => return Err(self.wrong("FROM or TO")),
        };
        match (self.keyword().as_deref(), is_from) {
            (Some("stdin"), true) | (Some("stdout"), false) => {}
            _ => {
                let reason = "not supported: COPY is from STDIN or to STDOUT; the server reads and writes no files";
                return Err(Error::Invalid { reason: reason.into(), place: None });
            }
        }
        self.copy_options(of, is_from)
    }

    fn copy_options(&mut self, of: CopyOf, is_from: bool) -> Result<Copy> {
        let (mut format, mut header) = (CopyFormat::Text, false);
        let (mut delimiter, mut null, mut quote, mut escape) = (None, None, b'"', None);
        while let Some(token) = self.next() {
            let word = match token {
                Token::Word(word) => word.value.to_lowercase(),
                Token::LParen | Token::RParen | Token::Comma => continue,
                _ => return Err(self.wrong("an option of COPY")),
            };
            match word.as_str() {
                "with" | "as" => {}
                "csv" => format = CopyFormat::Csv,
                "binary" => format = CopyFormat::Binary,
                "text" => format = CopyFormat::Text,
                "format" => {
                    format = match self.option()?.to_lowercase().as_str() {
                        "csv" => CopyFormat::Csv,
                        "binary" => CopyFormat::Binary,
                        "text" => CopyFormat::Text,
                        other => {
                            let reason = format!("no such format: format=`{other}`, known=`text, csv, binary`");
                            return Err(Error::Invalid { reason, place: None });
                        }
                    }
                }
                "header" => {
                    header = match self.peek_keyword().as_deref() {
                        Some("false" | "off") => {
                            self.at += 1;
                            false
                        }
                        Some("true" | "on" | "match") => {
                            self.at += 1;
                            true
                        }
                        _ => !matches!(self.next_number(), Some(0)),
                    }
                }
                "delimiter" => delimiter = Some(self.letter()?),
                "null" => null = Some(self.option()?),
                "quote" => quote = self.letter()?,
                "escape" => escape = Some(self.letter()?),
                "encoding" => {
                    let encoding = self.option()?;
                    if !matches!(encoding.to_lowercase().as_str(), "utf8" | "utf-8" | "unicode") {
                        let reason = format!("not supported: texts are UTF-8: encoding=`{encoding}`");
                        return Err(Error::Invalid { reason, place: None });
                    }
                }
                "freeze" => drop(self.next_word_if(&["true", "false", "on", "off"])),
                other => {
                    let reason = format!("not supported: option of COPY: option=`{other}`");
                    return Err(Error::Invalid { reason, place: None });
                }
            }
        }
        let is_csv = format == CopyFormat::Csv;
        Ok(Copy {
            of,
            is_from,
            format,
            header,
            delimiter: delimiter.unwrap_or(if is_csv { b',' } else { b'\t' }),
            null: null.unwrap_or_else(|| if is_csv { String::new() } else { "\\N".into() }),
            quote,
            escape: escape.unwrap_or(quote),
        })
    }

    fn option(&mut self) -> Result<String> {
        drop(self.next_word_if(&["as"]));
        match self.next() {
            Some(Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text)) => Ok(text.clone()),
            Some(Token::Word(word)) => Ok(word.value.clone()),
            Some(Token::Number(number, _)) => Ok(number.clone()),
            _ => Err(self.wrong("a value")),
        }
    }

    fn letter(&mut self) -> Result<u8> {
        match self.option()?.as_bytes() {
            [letter] => Ok(*letter),
            // As psql users write it in a plain text.
            b"\\t" => Ok(b'\t'),
            _ => Err(self.wrong("one letter")),
        }
    }

    fn next_word_if(&mut self, words: &[&str]) -> Option<String> {
        let word = self.peek_keyword().filter(|word| words.contains(&word.as_str()))?;
        self.at += 1;
        Some(word)
    }

    fn next_number(&mut self) -> Option<u64> {
        match self.tokens.get(self.at).map(|token| &token.token) {
            Some(Token::Number(number, _)) => {
                self.at += 1;
                number.parse().ok()
            }
            _ => None,
        }
    }

    fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(&token.token)
    }

    fn takes(&mut self, wanted: &Token) -> bool {
        let is_it = self.tokens.get(self.at).is_some_and(|token| token.token == *wanted);
        self.at += is_it as usize;
        is_it
    }

    fn peek_keyword(&self) -> Option<String> {
        match &self.tokens.get(self.at)?.token {
            Token::Word(word) => Some(word.value.to_lowercase()),
            _ => None,
        }
    }

    fn keyword(&mut self) -> Option<String> {
        let word = self.peek_keyword()?;
        self.at += 1;
        Some(word)
    }

    fn holds(&self, word: &str) -> bool {
        self.tokens
            .iter()
            .any(|token| matches!(&token.token, Token::Word(known) if known.value.eq_ignore_ascii_case(word)))
    }

    fn name(&mut self) -> Result<String> {
        match self.next() {
            Some(Token::Word(word)) if word.quote_style.is_none() => Ok(word.value.to_lowercase()),
            Some(Token::Word(word)) => Ok(word.value.clone()),
            Some(Token::SingleQuotedString(text)) => Ok(text.clone()),
            _ => Err(self.wrong("a name")),
        }
    }

    fn rest_of_name(&mut self) -> String {
        let words: Vec<String> = self.tokens[self.at..].iter().map(|token| token.token.to_string()).collect();
        self.at = self.tokens.len();
        words.join(" ").replace(" . ", ".").trim_matches('"').to_lowercase()
    }

    fn wrong(&self, wanted: &str) -> Error {
        let place = |token: &TokenWithSpan| Place { line: token.span.start.line, column: token.span.start.column };
        // Places count within the statement.
        let (first, here) = (&self.tokens[0], self.tokens.get(self.at.saturating_sub(1)));
        let place = here.map(|token| {
            let (first, here) = (place(first), place(token));
            let column = if here.line == first.line { here.column - first.column + 1 } else { here.column };
            Place { line: here.line - first.line + 1, column }
        });
        Error::Invalid { reason: format!("cannot read the query: expected {wanted}"), place }
    }
}

/// Does a query name what only PostgreSQL has?
fn is_postgres(tokens: &[TokenWithSpan]) -> bool {
    let is_call = |at: usize| tokens.get(at + 1).is_some_and(|token| token.token == Token::LParen);
    tokens.iter().enumerate().any(|(at, token)| match &token.token {
        Token::Word(word) => {
            let lower = word.value.to_lowercase();
            lower.starts_with("pg_")
                || (WORDS.contains(&lower.as_str()) && (word.quote_style.is_none() || lower == "information_schema"))
                || (FUNCTIONS.contains(&lower.as_str()) && is_call(at))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<Command> {
        statements(text).expect("statements").into_iter().map(|statement| statement.command).collect()
    }

    #[test]
    fn a_text_is_cut_at_semicolons_and_nowhere_else() {
        let found = statements("select ';' -- ; none\n; ;; select $$;$$; select 'ä', x;").expect("statements");
        let cut: Vec<_> = found.iter().map(|statement| (statement.text.as_str(), statement.offset)).collect();
        assert_eq!(cut, [("select ';' -- ; none", 0), ("select $$;$$", 26), ("select 'ä', x", 40)]);
    }

    #[test]
    fn a_query_of_the_catalog_is_told_from_one_of_tables() {
        for text in ["select version()", "SELECT * FROM \"pg_catalog\".\"pg_class\"", "select 'x'::regclass"] {
            assert_eq!(commands(text), [Command::Catalog], "{text}");
        }
        for text in
            ["select 1", "select 'pg_class'", "insert into t values (1)", "select version from t", "explain select 1"]
        {
            assert_eq!(commands(text), [Command::Query], "{text}");
        }
    }

    #[test]
    fn settings_are_read_as_their_values() {
        let set = |name: &str, value: &str| Command::Set(name.into(), Some(value.into()));
        assert_eq!(commands("SET extra_float_digits = 3"), [set("extra_float_digits", "3")]);
        assert_eq!(commands("set session DateStyle to 'ISO, MDY'"), [set("datestyle", "ISO, MDY")]);
        assert_eq!(commands("set search_path to a, \"B\""), [set("search_path", "a, B")]);
        assert_eq!(
            commands("set time zone 'UTC'; set names utf8"),
            [set("timezone", "UTC"), set("client_encoding", "utf8")]
        );
        assert_eq!(commands("show time zone; reset all"), [Command::Show("time zone".into()), Command::ResetAll]);
        assert_eq!(commands("set x to default"), [Command::Set("x".into(), None)]);
        assert!(statements("set x").is_err());
    }

    #[test]
    fn copy_is_read_in_its_old_and_its_new_form() {
        let copy = |text: &str| match commands(text).pop() {
            Some(Command::Copy(copy)) => copy,
            other => panic!("{text}: {other:?}"),
        };
        let plain = copy("copy T (a, \"B\") from stdin");
        assert_eq!(plain.of, CopyOf::Table("t".into(), vec!["a".into(), "B".into()]));
        assert_eq!((plain.format, plain.delimiter, plain.null.as_str()), (CopyFormat::Text, b'\t', "\\N"));
        let csv = copy("COPY x.y FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';', NULL 'nil')");
        assert_eq!((csv.format, csv.header, csv.delimiter, csv.null.as_str()), (CopyFormat::Csv, true, b';', "nil"));
        let old = copy("copy t from stdin with csv header delimiter as '|' null as ''");
        assert_eq!((old.format, old.header, old.delimiter, old.null.as_str()), (CopyFormat::Csv, true, b'|', ""));
        let query = copy("copy (select (1)) to stdout (format binary)");
        assert!(matches!(&query.of, CopyOf::Query(query) if query.text == "select (1)"), "{query:?}");
        for text in ["copy t from '/etc/passwd'", "copy t from stdin (format xml)", "copy (select 1 to stdout", "copy"]
        {
            assert!(statements(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cursors_go_forward() {
        let fetch = |rows| Command::Fetch { cursor: "c".into(), rows, skip: false };
        assert_eq!(commands("fetch c; fetch 10 from c"), [fetch(Some(1)), fetch(Some(10))]);
        assert_eq!(commands("fetch forward all in \"c\"; fetch forward 5 c"), [fetch(None), fetch(Some(5))]);
        assert!(statements("fetch backward 1 from c").is_err());
        match commands("declare \"C\" no scroll cursor with hold for select 1").pop() {
            Some(Command::Declare { cursor, query }) => {
                assert_eq!((cursor.as_str(), query.text.as_str()), ("C", "select 1"))
            }
            other => panic!("{other:?}"),
        }
    }
}
