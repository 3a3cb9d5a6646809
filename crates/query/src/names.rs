//! Names without regard to case: a query is read once as it was written and once as the catalog spells its names.
//!
//! Every word of the query that equals a name of the catalog but for its case, quoted or not, is respelled before the
//! query is parsed; so DataFusion, which matches exactly, finds it. A word that is no such name (an alias, a common
//! table expression) is spelled as after its AS, else as at its first place. Keywords are words too, but the parser does not look at the
//! spelling of those. What the answer's columns are called is taken from the query as it was written.

use crate::catalog::{Catalog, DEFAULT_SCHEMA, OFFSET};
use crate::error::{Error, Place, Result};
use crate::provider::{FullName, catalogs, own_case};
use datafusion::common::TableReference;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::resolve::resolve_table_references;
use datafusion::sql::sqlparser::ast::{
    ExcludeSelectItem, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableFactor, VisitMut,
    VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use lang::nearest;
use std::collections::HashMap;
use std::ops::ControlFlow;

const INFORMATION_SCHEMA: &str = "information_schema";

/// How one query spells each name.
#[derive(Debug, Default)]
pub(crate) struct Spelling {
    by_lower: HashMap<String, String>,
}

impl Spelling {
    /// Of two names that differ in case alone the first one wins.
    pub(crate) fn add(&mut self, name: &str) {
        self.by_lower.entry(name.to_lowercase()).or_insert_with(|| name.to_string());
    }

    /// A name as the query spells it.
    pub(crate) fn of(&self, name: &str) -> String {
        self.by_lower.get(&name.to_lowercase()).cloned().unwrap_or_else(|| name.to_string())
    }

    /// Does the query name the hidden offset?
    pub(crate) fn names_offset(&self) -> bool {
        self.by_lower.contains_key(OFFSET)
    }
}

/// A query's text as tokens.
pub(crate) struct Text {
    tokens: Vec<TokenWithSpan>,
}

impl Text {
    pub(crate) fn read(sql: &str) -> Result<Text> {
        let tokens = Tokenizer::new(&GenericDialect, sql).tokenize_with_location();
        let mut tokens = tokens.map_err(|error| Error::Invalid {
            reason: error.message.to_lowercase(),
            place: Some(Place { line: error.location.line, column: error.location.column }),
        })?;
        // Parameters without a number are numbered as they come.
        let parameters = tokens.iter_mut().filter_map(|token| match &mut token.token {
            Token::Placeholder(name) if name == "?" => Some(name),
            _ => None,
        });
        parameters.enumerate().for_each(|(place, name)| *name = format!("${}", place + 1));
        Ok(Text { tokens })
    }

    /// Where a name stands first.
    pub(crate) fn place(&self, name: &str) -> Option<Place> {
        let is_it =
            |token: &&TokenWithSpan| matches!(&token.token, Token::Word(word) if word.value.eq_ignore_ascii_case(name));
        let start = self.tokens.iter().find(is_it)?.span.start;
        Some(Place { line: start.line, column: start.column })
    }

    /// The one statement, as it was written.
    pub(crate) fn parse(&self) -> Result<Statement> {
        let mut parser = Parser::new(&GenericDialect).with_tokens_with_locations(self.tokens.clone());
        let mut statements = parser.parse_statements().map_err(|error| syntax(&error))?;
        match (statements.pop(), statements.is_empty()) {
            (Some(statement), true) => Ok(statement),
            (None, _) => Err(Error::Invalid { reason: "no query".into(), place: None }),
            (Some(_), false) => Err(Error::Invalid { reason: "more than one query".into(), place: None }),
        }
    }

    /// Every word as it is spelled where it is given by AS, else at its first place.
    fn written(&self) -> Spelling {
        let mut written = Spelling::default();
        let words = self.tokens.iter().filter_map(|token| match &token.token {
            Token::Word(word) => Some(word),
            _ => None,
        });
        let given = words.clone().zip(words.clone().skip(1)).filter(|(before, _)| before.keyword == Keyword::AS);
        given.map(|(_, word)| word).chain(words).for_each(|word| written.add(&word.value));
        written
    }

    /// The text, its words spelled as these names.
    pub(crate) fn spelled_as(&self, names: &[String]) -> String {
        let mut spelling = Spelling::default();
        names.iter().for_each(|name| spelling.add(name));
        self.respelled(&spelling).tokens.iter().map(|token| token.token.to_string()).collect()
    }

    fn respelled(&self, spelling: &Spelling) -> Text {
        let mut tokens = self.tokens.clone();
        for token in &mut tokens {
            if let Token::Word(word) = &mut token.token {
                word.value = spelling.of(&word.value);
            }
        }
        Text { tokens }
    }

    /// The statement with the catalog's spellings, and these. `is_function` knows the names of table functions.
    pub(crate) fn resolve(
        &self,
        catalog: &dyn Catalog,
        default_catalog: &str,
        is_function: impl Fn(&str) -> bool,
    ) -> Result<(Statement, Spelling)> {
        let mut written = self.written();
        let tables = references(self.respelled(&written).parse()?)?;
        let mut spelling = Spelling::default();
        if written.names_offset() {
            spelling.add(OFFSET);
        }
        let mut streams = vec![];
        for table in &tables {
            if table.schema().is_some_and(|schema| schema.eq_ignore_ascii_case(INFORMATION_SCHEMA)) {
                // Its names are all small; a word that is no name of another table is one of them.
                written.by_lower.iter_mut().for_each(|(lower, own)| own.clone_from(lower));
            } else if !(table.schema().is_none() && is_function(&table.table().to_lowercase())) {
                let name = self.find(catalog, default_catalog, table)?;
                let [of_catalog, of_schema, of_table] = &name;
                let missing = || self.unknown("table", table.table(), vec![]);
                let schema = catalog.table(of_catalog, of_schema, of_table).ok_or_else(missing)?.schema();
                streams.push(table.table().to_lowercase());
                schema.names().iter().chain(&name).for_each(|name| spelling.add(name));
            }
        }
        written.by_lower.values().for_each(|name| spelling.add(name));
        let mut statement = self.respelled(&spelling).parse()?;
        if spelling.names_offset() {
            let _: ControlFlow<()> = statement.visit(&mut HideOffset { streams });
        }
        Ok((statement, spelling))
    }

    /// The full name of a table in its own case.
    fn find(&self, catalog: &dyn Catalog, default_catalog: &str, table: &TableReference) -> Result<FullName> {
        let (catalogs, wanted) = (catalogs(catalog), table.catalog().unwrap_or(default_catalog));
        let of_catalog = own_case(catalogs.clone(), wanted).ok_or_else(|| self.unknown("catalog", wanted, catalogs))?;
        let (schemas, wanted) = (catalog.schemas(&of_catalog), table.schema().unwrap_or(DEFAULT_SCHEMA));
        let Some(of_schema) = own_case(schemas.clone(), wanted) else {
            // A bare name asks for a table; that its catalog has no schema of tables is beside the point.
            return Err(match table.schema() {
                Some(_) => self.unknown("schema", wanted, schemas),
                None => self.unknown("table", table.table(), vec![]),
            });
        };
        let (tables, wanted) = (catalog.tables(&of_catalog, &of_schema), table.table());
        let of_table = own_case(tables.clone(), wanted).ok_or_else(|| self.unknown("table", wanted, tables))?;
        Ok([of_catalog, of_schema, of_table])
    }

    fn unknown(&self, what: &'static str, name: &str, known: Vec<String>) -> Error {
        let near = nearest(name, known.iter().map(String::as_str)).map(str::to_string);
        Error::Unknown { what, name: name.to_string(), near, place: self.place(name) }
    }
}

/// The parser gives the place in the text alone: ` at Line: 1, Column: 8`.
pub(crate) fn syntax(error: &ParserError) -> Error {
    let reason = match error {
        ParserError::TokenizerError(reason) | ParserError::ParserError(reason) => reason.clone(),
        ParserError::RecursionLimitExceeded => "query is nested too deeply".into(),
    };
    let place = reason.rsplit_once(" at Line: ").and_then(|(head, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        Some((head.to_string(), Place { line: line.parse().ok()?, column: column.parse().ok()? }))
    });
    let (reason, place) = place.map_or((reason, None), |(head, place)| (head, Some(place)));
    Error::Invalid { reason: format!("cannot read the query: {}", reason.replacen("Expected", "expected", 1)), place }
}

fn references(statement: Statement) -> Result<Vec<TableReference>> {
    let statement = Parsed::Statement(Box::new(statement));
    let (tables, _) = resolve_table_references(&statement, false).map_err(|error| Error::of(&error, |_| None))?;
    Ok(tables)
}

/// Takes the offset out of `*` over a table, where the query names it elsewhere and so made it a column.
struct HideOffset {
    streams: Vec<String>,
}

impl HideOffset {
    fn is_stream(&self, select: &Select) -> bool {
        match select.from.as_slice() {
            [only] if only.joins.is_empty() => match &only.relation {
                TableFactor::Table { name, args: None, .. } => {
                    let last = name.0.last().and_then(|part| part.as_ident());
                    last.is_some_and(|last| self.streams.contains(&last.value.to_lowercase()))
                }
                _ => false,
            },
            _ => false,
        }
    }
}

impl VisitorMut for HideOffset {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if self.is_stream(select) {
            for item in &mut select.projection {
                if let SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) = item
                    && options.opt_exclude.is_none()
                {
                    options.opt_exclude = Some(ExcludeSelectItem::Single(ObjectName::from(vec![Ident::new(OFFSET)])));
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// The names that a query's text gives to columns of its answer, by place from the front up to the first `*` and from
/// the back down to the last one: an alias as it was written, and an expression without one as its text.
#[derive(Debug, Default)]
pub(crate) struct Headings {
    front: Vec<Option<String>>,
    back: Vec<Option<String>>,
}

impl Headings {
    pub(crate) fn of(statement: &Statement) -> Headings {
        let Statement::Query(query) = statement else { return Headings::default() };
        let Some(select) = first_select(query) else { return Headings::default() };
        let heading = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => None,
            SelectItem::UnnamedExpr(expr) => Some(expr.to_string()),
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
            _ => None,
        };
        let is_one = |item: &&SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
        let front: Vec<_> = select.projection.iter().take_while(is_one).map(heading).collect();
        let back = match front.len() == select.projection.len() {
            true => vec![],
            false => select.projection.iter().rev().take_while(is_one).map(heading).collect(),
        };
        Headings { front, back }
    }

    /// The same as PostgreSQL names them: a call after its function, a cast after what is cast.
    pub(crate) fn of_postgres(statement: &Statement) -> Headings {
        let Statement::Query(query) = statement else { return Headings::default() };
        let Some(select) = first_select(query) else { return Headings::default() };
        let is_one = |item: &&SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
        let heading = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(expr) => Some(postgres_heading(expr)),
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
            _ => None,
        };
        Headings { front: select.projection.iter().take_while(is_one).map(heading).collect(), back: vec![] }
    }

    /// The name given to column `index` of `count`.
    pub(crate) fn name(&self, index: usize, count: usize) -> Option<&str> {
        let front = self.front.get(index);
        let heading = front.or_else(|| self.back.get(count - 1 - index));
        heading.and_then(|heading| heading.as_deref())
    }
}

fn postgres_heading(expr: &Expr) -> String {
    let last = |name: &ObjectName| name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.clone());
    match expr {
        Expr::Identifier(name) => name.value.clone(),
        Expr::CompoundIdentifier(names) => names.last().map_or(String::new(), |name| name.value.clone()),
        Expr::Function(function) => last(&function.name).unwrap_or_default().to_lowercase(),
        Expr::Cast { expr, .. } | Expr::Nested(expr) => postgres_heading(expr),
        Expr::Case { .. } => "case".into(),
        _ => "?column?".into(),
    }
}

/// The select whose items name the columns: of a union the first one.
fn first_select(query: &Query) -> Option<&Select> {
    let mut body = query.body.as_ref();
    loop {
        match body {
            SetExpr::Select(select) => return Some(select),
            SetExpr::Query(query) => body = query.body.as_ref(),
            SetExpr::SetOperation { left, .. } => body = left.as_ref(),
            _ => return None,
        }
    }
}
