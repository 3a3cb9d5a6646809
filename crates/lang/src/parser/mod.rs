//! Tokens to a tree; one run reports every syntax error.
//!
//! Invariants:
//! - An error is noted where it is found and travels up as [`Failed`] to the nearest list, header or statement, which
//!   skips what it cannot read and goes on.
//! - No tree is taller than [`HEIGHT_MAX`] and no text nests deeper than [`NESTING_MAX`], so neither parsing a hostile
//!   text nor walking, printing or dropping its tree can overflow the stack.

mod expression;
mod sql;
mod statement;
mod template;

pub(crate) use expression::{level, level_of};

use crate::diagnostic::{Diagnostic, Source, Span};
use crate::lexer::{Kind, Token, lex};
use crate::tree::{Expr, ExprKind, Statement};
use crate::value::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// How deep brackets, operators before operands and blocks may nest.
pub const NESTING_MAX: u32 = 64;
/// How tall a tree may be: a chain of operators or method calls is as tall as it is long.
pub const HEIGHT_MAX: u32 = 400;

/// A script's statements and what is wrong with its text.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The statements; with errors, those that could be read.
    pub statements: Vec<Statement>,
    /// Every syntax error, in the order of the text. A script with errors must not be run.
    pub errors: Vec<Diagnostic>,
}

/// Parses a script.
pub fn parse(source: &Arc<Source>) -> Parsed {
    let mut parser = match Parser::new(source) {
        Ok(parser) => parser,
        Err(error) => return Parsed { statements: vec![], errors: vec![error] },
    };
    let statements = parser.statements_until(None);
    Parsed { statements, errors: parser.finish() }
}

/// Parses a text that is one expression.
pub fn parse_expr(source: &Arc<Source>) -> Result<Expr, Vec<Diagnostic>> {
    let mut parser = Parser::new(source).map_err(|error| vec![error])?;
    let expr = parser.expr();
    parser.eat(";");
    if expr.is_ok() && !matches!(parser.kind(), Kind::End) {
        parser.unexpected("the end of the expression");
    }
    match (expr, parser.finish()) {
        (Ok(expr), errors) if errors.is_empty() => Ok(expr),
        (_, errors) => Err(errors),
    }
}

/// An error was met and is noted already.
#[derive(Debug)]
struct Failed;

type Parse<T> = Result<T, Failed>;

/// What the place of an expression changes in how it is read.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    /// Within brackets, where a newline ends nothing.
    inside: bool,
    /// Directly within `<…>`, where a `>` may be its end.
    in_code: bool,
    /// Was the `<` within brackets?
    code_inside: bool,
    /// Between `?` and `:`, or before the `:` of a dictionary's entry.
    before_colon: bool,
    /// In a clause of SQL, where `=` compares.
    sql: bool,
    /// Directly within `case … end`, whose words end an operand.
    in_case: bool,
}

struct Parser {
    source: Arc<Source>,
    tokens: Vec<Token>,
    at: usize,
    errors: Vec<Diagnostic>,
    context: Context,
    nesting: u32,
    /// Height of the tree read so far within the innermost expression.
    height: u32,
    /// How many blocks the statement is within.
    blocks: u32,
    /// Names of the functions defined so far, so that `x f y` can be told from `f g x`.
    functions: HashSet<Arc<str>>,
}

impl Parser {
    fn new(source: &Arc<Source>) -> Result<Parser, Diagnostic> {
        if source.text.len() >= u32::MAX as usize {
            return Err(Diagnostic::new(format!("script is too long: bytes=`{}`", source.text.len())));
        }
        let (tokens, errors) = lex(&source.text);
        Ok(Parser {
            source: source.clone(),
            tokens,
            at: 0,
            errors,
            context: Context::default(),
            nesting: 0,
            height: 0,
            blocks: 0,
            functions: HashSet::new(),
        })
    }

    fn finish(self) -> Vec<Diagnostic> {
        let mut errors = self.errors;
        errors.sort_by_key(|error| error.span.map(|span| span.start));
        errors.into_iter().map(|error| error.in_source(&self.source)).collect()
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn kind(&self) -> &Kind {
        &self.token().kind
    }

    /// The token some way ahead; the last one stands for all behind it.
    fn ahead(&self, count: usize) -> &Token {
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// From the start of a span to the end of what was read last.
    fn since(&self, start: Span) -> Span {
        let last = if self.at == 0 { start } else { self.tokens[self.at - 1].span };
        start.to(if last.end < start.end { start } else { last })
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.kind(), Kind::Mark(found) if *found == mark)
    }

    fn is_at(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.ahead(ahead).kind, Kind::Mark(found) if found == mark)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.advance();
        }
        found
    }

    fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    /// Words of the language know no case in SQL; elsewhere nothing else is written in capitals either.
    fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        matches!(&self.ahead(ahead).kind, Kind::Name(name) if name.eq_ignore_ascii_case(word))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn name(&mut self, what: &str) -> Parse<Arc<str>> {
        let Kind::Name(name) = self.kind() else { return Err(self.unexpected(what)) };
        let name = name.clone();
        self.advance();
        Ok(name)
    }

    fn expect(&mut self, mark: &str) -> Parse<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn expect_word(&mut self, word: &str) -> Parse<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    /// Notes that something else was expected here.
    fn unexpected(&mut self, wanted: &str) -> Failed {
        let error = self.wanted(wanted);
        self.fail(error)
    }

    /// What says that something else was expected here.
    fn wanted(&self, wanted: &str) -> Diagnostic {
        let token = self.token();
        let found = match token.kind {
            Kind::End => "the end of the script".to_string(),
            _ => {
                let text = &self.source.text[token.span.start as usize..token.span.end as usize];
                format!("`{}`", text.chars().take(40).collect::<String>())
            }
        };
        Diagnostic::at(token.span, format!("syntax error: expected {wanted}, found {found}"))
    }

    fn fail(&mut self, error: Diagnostic) -> Failed {
        // The lexer may have said already what is wrong here.
        if !self.errors.iter().rev().take(4).any(|known| known.span == error.span) {
            self.errors.push(error);
        }
        Failed
    }

    /// Reads something within another context.
    fn within<T>(&mut self, context: Context, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.context, context);
        let value = read(self);
        self.context = outer;
        value
    }

    /// Reads something one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting >= NESTING_MAX {
            let error = Diagnostic::at(self.token().span, format!("nested too deeply: levels=`{NESTING_MAX}`"));
            return Err(self.fail(error));
        }
        self.nesting += 1;
        let value = read(self);
        self.nesting -= 1;
        value
    }

    /// Reads an expression one level deeper; the tree around it becomes at least as tall.
    fn tree<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let around = std::mem::take(&mut self.height);
        let value = self.deeper(read);
        self.height = around.max(self.height + 1);
        value
    }

    /// Counts one more node on top of what was read.
    fn raise(&mut self) -> Parse<()> {
        self.height += 1;
        if self.height > HEIGHT_MAX {
            let error =
                Diagnostic::at(self.token().span, format!("expression is too long a chain: links=`{HEIGHT_MAX}`"))
                    .help("name a part of it");
            return Err(self.fail(error));
        }
        Ok(())
    }

    /// Does a newline or `;` end the statement before the token here?
    fn ends_here(&self) -> bool {
        self.token().newline && !self.context.inside
    }

    /// Reads a bracketed list with `,` between its items; an item left out is `None`. An item that cannot be read is
    /// skipped. The opening bracket is the token before.
    fn list<T>(&mut self, close: &'static str, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<Option<T>>> {
        let open = self.at - 1;
        let context = Context { inside: true, sql: self.context.sql, ..Context::default() };
        self.within(context, |p| {
            let mut items = vec![];
            if p.eat(close) {
                return Ok(items);
            }
            loop {
                if p.is(",") || p.is(close) {
                    items.push(None);
                } else {
                    match item(p) {
                        Ok(item) if p.is(",") || p.is(close) => items.push(Some(item)),
                        Ok(_) => {
                            p.unexpected_in_list(open, close);
                            p.skip_item(open)?;
                        }
                        Err(Failed) => p.skip_item(open)?,
                    }
                }
                if p.eat(close) {
                    return Ok(items);
                }
                p.expect(",")?;
            }
        })
    }

    fn unexpected_in_list(&mut self, open: usize, close: &str) {
        self.unexpected(&format!("`,` or `{close}`"));
        let opening = &self.tokens[open];
        if opening.partner.is_none() {
            let (line, column) = self.source.place(opening.span.start);
            if let (Some(error), Kind::Mark(mark)) = (self.errors.last_mut(), &opening.kind) {
                error.help.get_or_insert(format!("the `{mark}` at {line}:{column} is not closed"));
            }
        }
    }

    /// Skips to the next `,` or the end of the list that was opened at a token.
    fn skip_item(&mut self, open: usize) -> Parse<()> {
        let end = self.tokens[open].partner.ok_or(Failed)? as usize;
        while self.at < end && !self.is(",") {
            self.skip_one();
        }
        Ok(())
    }

    /// Skips a token, or all of a bracket that opens here.
    fn skip_one(&mut self) {
        match self.token().partner {
            Some(partner) if partner as usize > self.at => self.at = partner as usize,
            _ => {}
        }
        self.advance();
    }

    /// Reads what stands in brackets that must be there. If it cannot be read it is skipped, and a NULL stands for it.
    fn parenthesized<T>(&mut self, instead: T, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.expect("(")?;
        let open = self.at - 1;
        let context = Context { inside: true, ..Context::default() };
        let value = self.within(context, |p| {
            let value = read(p)?;
            p.expect(")")?;
            Ok(value)
        });
        match (value, self.tokens[open].partner) {
            (Err(Failed), Some(close)) => {
                self.at = close as usize;
                self.advance();
                Ok(instead)
            }
            (value, _) => value,
        }
    }

    fn null(&self) -> Expr {
        Expr { span: self.token().span, kind: ExprKind::Literal(Value::NULL) }
    }
}

#[cfg(test)]
mod tests;
