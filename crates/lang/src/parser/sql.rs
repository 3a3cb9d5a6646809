//! `select`, `exec`, `insert`, `update` and `delete`. A clause may begin on a line of its own.

use super::{Context, Parse, Parser};
use crate::diagnostic::{Diagnostic, nearest};
use crate::lexer::Kind;
use crate::tree::{Binary, Expr, ExprKind, MetaItem, Select, SortKey, StatementKind, Update};
use std::sync::Arc;

/// The first words of clauses behind `from`.
pub(super) const CLAUSES: &[&str] = &["where", "group", "context", "pivot", "csort", "having", "order", "limit"];

impl Parser {
    /// `select … from …` as an expression.
    pub(super) fn select(&mut self) -> Parse<Expr> {
        let start = self.token().span;
        let context = Context { sql: true, before_colon: false, ..self.context };
        let select = self.within(context, Self::clauses)?;
        Ok(Expr { span: self.since(start), kind: ExprKind::Select(Box::new(select)) })
    }

    fn clauses(&mut self) -> Parse<Select> {
        let exec = self.is_word("exec");
        self.advance();
        if self.is_word("top") && matches!(self.ahead(1).kind, Kind::Name(_)) && !self.is_word_at(1, "from") {
            let error = Diagnostic::at(self.ahead(1).span, "syntax error: expected a number of rows after `top`");
            self.fail(error);
            self.advance();
        }
        let limit = match self.is_word("top") && matches!(self.ahead(1).kind, Kind::Literal(_)) {
            true => {
                self.advance();
                Some(self.postfix()?)
            }
            false => None,
        };
        let mut items = vec![];
        if self.is("*") && self.is_word_at(1, "from") {
            self.advance();
        } else {
            items = self.items()?;
        }
        self.expect_word("from")?;
        let mut select = Select {
            exec,
            limit,
            items,
            from: self.postfix()?,
            filter: vec![],
            group: vec![],
            context: vec![],
            csort: vec![],
            pivot: vec![],
            having: None,
            order: vec![],
        };
        loop {
            if self.eat_word("where") {
                select.filter = self.exprs()?;
            } else if self.eat_pair("group", "by") {
                select.group = self.items()?;
            } else if self.eat_pair("context", "by") {
                select.context = self.items()?;
            } else if self.eat_pair("pivot", "by") {
                select.pivot = self.items()?;
            } else if self.eat_word("csort") {
                select.csort = self.keys()?;
            } else if self.eat_word("having") {
                select.having = Some(self.expr()?);
            } else if self.eat_pair("order", "by") {
                select.order = self.keys()?;
            } else if self.eat_word("limit") {
                select.limit = Some(self.limit()?);
            } else {
                return self.no_more_clauses().map(|()| select);
            }
        }
    }

    /// Is what stands behind the last clause no clause that is mistyped or lacks its second word?
    fn no_more_clauses(&mut self) -> Parse<()> {
        let Kind::Name(word) = self.kind() else { return Ok(()) };
        if self.token().newline {
            return Ok(());
        }
        let word = word.to_lowercase();
        match nearest(&word, CLAUSES.iter().copied()) {
            Some(clause) if clause != word => {
                let error = self.wanted("a clause or the end of the query");
                Err(self.fail(error.help(format!("did you mean `{clause}`?"))))
            }
            Some("group" | "context" | "pivot" | "order") => {
                self.advance();
                Err(self.unexpected(&format!("`by` after `{word}`")))
            }
            _ => Ok(()),
        }
    }

    /// `limit n`, or `limit start, n` for so many rows from one on, which is the pair `start : start + n`.
    fn limit(&mut self) -> Parse<Expr> {
        let first = self.expr()?;
        if !self.eat(",") {
            return Ok(first);
        }
        let count = self.expr()?;
        let span = first.span.to(count.span);
        let end = ExprKind::Binary(Binary::Add, Box::new(first.clone()), Box::new(count));
        Ok(Expr { span, kind: ExprKind::Pair(Box::new(first), Box::new(Expr { span, kind: end })) })
    }

    /// Two words, when both are there: `order` alone may be a variable on the next line.
    fn eat_pair(&mut self, first: &str, second: &str) -> bool {
        let found = self.is_word(first) && self.is_word_at(1, second);
        if found {
            self.advance();
            self.advance();
        }
        found
    }

    fn items(&mut self) -> Parse<Vec<MetaItem>> {
        self.separated(Self::meta_item)
    }

    fn exprs(&mut self) -> Parse<Vec<Expr>> {
        self.separated(Self::expr)
    }

    fn keys(&mut self) -> Parse<Vec<SortKey>> {
        self.separated(|p| {
            let expr = p.expr()?;
            let descending = p.eat_word("desc");
            if !descending {
                p.eat_word("asc");
            }
            let nulls_first = match p.eat_word("nulls") {
                false => None,
                true if p.eat_word("first") => Some(true),
                true if p.eat_word("last") => Some(false),
                true => return Err(p.unexpected("`first` or `last`")),
            };
            // What holds anyway need not be said.
            Ok(SortKey { expr, descending, nulls_first: nulls_first.filter(|first| *first == descending) })
        })
    }

    fn separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `insert into table (columns) values (…)`.
    pub(super) fn insert(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_word("into")?;
        // The columns' brackets would be read as a call.
        let table = self.table_path()?;
        let mut columns: Vec<Arc<str>> = vec![];
        if self.eat("(") {
            columns = self.list(")", |p| p.name("a column"))?.into_iter().flatten().collect();
        }
        self.expect_word("values")?;
        self.expect("(")?;
        let values = self.args(")")?;
        let missing = self.token().span;
        let values: Option<Vec<Expr>> = values.into_iter().map(|arg| arg.value).collect();
        match values {
            Some(values) => Ok(StatementKind::Insert(table, columns, values)),
            None => {
                Err(self
                    .fail(crate::diagnostic::Diagnostic::at(missing, "syntax error: expected a value for each column")))
            }
        }
    }

    /// A name with members behind it.
    fn table_path(&mut self) -> Parse<Expr> {
        let start = self.token().span;
        let mut table = Expr { span: start, kind: ExprKind::Name(self.name("a table")?) };
        while self.eat(".") {
            self.raise()?;
            let kind = ExprKind::Member(Box::new(table), self.name("a name")?);
            table = Expr { span: self.since(start), kind };
        }
        Ok(table)
    }

    /// `update table set a = x where … context by …`.
    pub(super) fn update(&mut self) -> Parse<StatementKind> {
        self.advance();
        let table = self.postfix()?;
        self.expect_word("set")?;
        let context = Context { sql: true, ..self.context };
        self.within(context, |p| {
            let set = p.separated(|p| {
                let column = p.name("a column")?;
                p.expect("=")?;
                Ok((column, p.expr()?))
            })?;
            let mut update = Update { table, set, filter: vec![], context: vec![] };
            if p.eat_word("where") {
                update.filter = p.exprs()?;
            }
            if p.eat_pair("context", "by") {
                update.context = p.exprs()?;
            }
            Ok(StatementKind::Update(Box::new(update)))
        })
    }

    /// `delete from table where …`.
    pub(super) fn delete(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_word("from")?;
        let table = self.postfix()?;
        let context = Context { sql: true, ..self.context };
        let filter = if self.eat_word("where") { self.within(context, Self::exprs)? } else { vec![] };
        Ok(StatementKind::Delete(table, filter))
    }
}
