//! Statements and blocks. A statement ends at a newline, a `;` or the end of its block.

use super::{Context, Failed, Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::tree::{Binary, Expr, ExprKind, FunctionKind, Statement, StatementKind};
use crate::value::Value;
use std::sync::Arc;

impl Parser {
    /// Statements up to the closing bracket of a block, or to the end of the script.
    pub(super) fn statements_until(&mut self, close: Option<usize>) -> Vec<Statement> {
        let mut statements = vec![];
        let mut tallest = self.height;
        loop {
            while self.eat(";") {}
            if matches!(self.kind(), Kind::End) || Some(self.at) == close {
                self.height = tallest;
                return statements;
            }
            let before = self.at;
            self.height = 0;
            let statement = self.statement();
            tallest = tallest.max(self.height);
            match statement {
                Ok(statement) => {
                    let done = statement_closes_itself(&statement.kind);
                    statements.push(statement);
                    let ended = self.token().newline || self.is(";") || Some(self.at) == close;
                    if !(ended || done || matches!(self.kind(), Kind::End)) {
                        self.unexpected("the end of the statement");
                        self.skip_statement(close);
                    }
                }
                // What is wrong may be that the line before goes on nowhere: then this line stands for itself.
                Err(Failed) if self.at > before && self.token().newline => {}
                Err(Failed) => self.skip_statement(close),
            }
            if self.at == before {
                self.advance();
            }
        }
    }

    /// Skips to the start of the next line that is not within brackets opened here, or to the end of the block.
    fn skip_statement(&mut self, close: Option<usize>) {
        loop {
            if matches!(self.kind(), Kind::End) || Some(self.at) == close || self.is(";") {
                return;
            }
            self.skip_one();
            let continues = self.is(".") && matches!(self.ahead(1).kind, Kind::Name(_));
            if self.token().newline && !continues {
                return;
            }
        }
    }

    fn statement(&mut self) -> Parse<Statement> {
        let start = self.token().span;
        let context = Context::default();
        let kind = self.within(context, |p| p.deeper(Self::statement_kind))?;
        Ok(Statement { span: self.since(start), kind })
    }

    fn statement_kind(&mut self) -> Parse<StatementKind> {
        use StatementKind as S;
        let start = self.token().span;
        if self.eat("@") {
            return self.decorated(start);
        }
        let Kind::Name(word) = self.kind() else { return self.assignment() };
        let word = word.clone();
        // A word of the language may also be a variable or a function.
        if self.is_at(1, "=") || self.is_at(1, ".") && !self.ahead(1).newline || self.is_at(1, "->") {
            return self.assignment();
        }
        Ok(match &*word {
            "def" | "defg" if matches!(self.ahead(1).kind, Kind::Name(_)) => {
                S::Def(self.function(FunctionKind::Plain, start)?)
            }
            "return" => {
                self.advance();
                if self.statement_ends() { S::Return(None) } else { S::Return(Some(self.values()?)) }
            }
            "if" => {
                self.advance();
                let condition = self.parenthesized(self.null(), Self::expr)?;
                let yes = self.body()?;
                // `else` may stand behind a `;` or a newline.
                let semicolon = self.is(";") && self.is_word_at(1, "else");
                if semicolon {
                    self.advance();
                }
                let no = if self.eat_word("else") { self.body()? } else { vec![] };
                S::If(condition, yes, no)
            }
            "for" => {
                self.advance();
                let null = self.null();
                let (name, values) = self.parenthesized(("".into(), null), |p| {
                    let name = p.name("a variable")?;
                    p.expect_word("in")?;
                    Ok((name, p.expr()?))
                })?;
                S::For(name, values, self.body()?)
            }
            "while" => {
                self.advance();
                let condition = self.parenthesized(self.null(), Self::expr)?;
                S::While(condition, self.body()?)
            }
            "do" => {
                self.advance();
                let body = self.body()?;
                self.expect_word("while")?;
                S::DoWhile(body, self.parenthesized(self.null(), Self::expr)?)
            }
            "break" => {
                self.advance();
                S::Break
            }
            "continue" => {
                self.advance();
                S::Continue
            }
            "try" => {
                self.advance();
                let body = self.body()?;
                self.expect_word("catch")?;
                let name = self.parenthesized("".into(), |p| p.name("the variable of the error"))?;
                S::Try(body, name, self.body()?)
            }
            "throw" => {
                self.advance();
                S::Throw(self.expr()?)
            }
            "assert" if !self.is_at(1, "(") => {
                self.advance();
                // An assertion may have a number or a name before it: `assert 1, x == y`.
                let first = self.expr()?;
                S::Assert(if self.eat(",") { self.expr()? } else { first })
            }
            "assert" => {
                self.advance();
                S::Assert(self.expr()?)
            }
            "go" if self.word_stands_alone() => {
                self.advance();
                if self.blocks > 0 {
                    return Err(self.fail(Diagnostic::at(start, "`go` is not allowed within a block")));
                }
                S::Go
            }
            "use" => self.use_statement()?,
            "share" => self.share()?,
            "timer" => {
                self.advance();
                let count = match self.is("(") {
                    true => Some(self.parenthesized(self.null(), Self::expr)?),
                    false => None,
                };
                S::Timer(count, self.body()?)
            }
            "module" if matches!(self.ahead(1).kind, Kind::Name(_)) && !self.ahead(1).newline => {
                self.advance();
                S::Module(self.module_path("a module")?)
            }
            "insert" => self.insert()?,
            "update" => self.update()?,
            "delete" => self.delete()?,
            "else" => return Err(self.unexpected("a statement before `else`")),
            "catch" => return Err(self.unexpected("`try` before `catch`")),
            _ => self.assignment()?,
        })
    }

    /// `@state def …`; the `@` is read already.
    fn decorated(&mut self, start: crate::diagnostic::Span) -> Parse<StatementKind> {
        let kind = match self.kind() {
            Kind::Name(name) if &**name == "state" => FunctionKind::State,
            // It asks for faster code, and changes no result.
            Kind::Name(name) if &**name == "jit" => FunctionKind::Plain,
            _ => return Err(self.unexpected("`state` after `@`")),
        };
        self.advance();
        if !(self.is_word("def") || self.is_word("defg")) {
            return Err(self.unexpected("`def`"));
        }
        Ok(StatementKind::Def(self.function(kind, start)?))
    }

    /// `use catalog name` or `use module::path`.
    fn use_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.is_word("catalog") && !self.is_at(1, "::") && !self.ahead(1).newline {
            self.advance();
            let span = self.token().span;
            let name = self.alias()?.swap_remove(0);
            return Ok(StatementKind::UseCatalog(Expr { span, kind: ExprKind::Literal(Value::text(&name)) }));
        }
        let path = self.module_path("`catalog` or a module")?;
        if matches!(self.kind(), Kind::Name(_)) && !self.token().newline {
            let error = self.wanted("the end of the statement");
            return Err(self.fail(error.help("a catalog is used by `use catalog name`, a module by `use name`")));
        }
        Ok(StatementKind::UseModule(path))
    }

    fn module_path(&mut self, wanted: &str) -> Parse<Arc<str>> {
        let mut path = self.name(wanted)?.to_string();
        while self.eat("::") {
            path = format!("{path}::{}", self.name("a module")?);
        }
        Ok(path.into())
    }

    fn statement_ends(&self) -> bool {
        self.token().newline || self.is(";") || self.is("}") || matches!(self.kind(), Kind::End)
    }

    fn word_stands_alone(&self) -> bool {
        let next = self.ahead(1);
        next.newline || matches!(next.kind, Kind::End | Kind::Mark(";" | "}"))
    }

    /// `share table as name`, or as DolphinDB's function has it, `share(table, name)`.
    fn share(&mut self) -> Parse<StatementKind> {
        self.advance();
        let close = if self.is("(") { self.token().partner } else { None };
        let behind = close.and_then(|close| self.tokens.get(close as usize + 1)).map(|token| &token.kind);
        let called = close.is_some() && !matches!(behind, Some(Kind::Name(word)) if &**word == "as");
        if !called {
            let table = self.expr()?;
            self.expect_word("as")?;
            return Ok(StatementKind::Share(table, self.alias()?.swap_remove(0)));
        }
        self.advance();
        let table = self.expr()?;
        self.expect(",")?;
        let name = match self.kind() {
            Kind::Literal(_) => self.alias()?.swap_remove(0),
            _ => return Err(self.unexpected("the name to share it by, as a text: `share(t, \"name\")`")),
        };
        self.expect(")")?;
        Ok(StatementKind::Share(table, name))
    }

    /// An expression, an assignment, or several targets of one assignment.
    fn assignment(&mut self) -> Parse<StatementKind> {
        let mut targets = vec![self.expr()?];
        while self.is(",") && !self.ends_here() {
            self.advance();
            targets.push(self.expr()?);
        }
        let operator = match self.kind() {
            Kind::Mark("=") => None,
            Kind::Mark("+=") => Some(Binary::Add),
            Kind::Mark("-=") => Some(Binary::Subtract),
            Kind::Mark("*=") => Some(Binary::Multiply),
            Kind::Mark("/=") => Some(Binary::Divide),
            Kind::Mark("\\=") => Some(Binary::Ratio),
            _ if targets.len() == 1 => return Ok(StatementKind::Expr(targets.swap_remove(0))),
            _ => return Err(self.unexpected("`=` after several names")),
        };
        if let Some(bad) = targets.iter().find(|target| !is_target(target)) {
            let error =
                Diagnostic::at(bad.span, "syntax error: expected a variable, an element or a column before `=`");
            return Err(self.fail(error.help("`==` compares")));
        }
        self.advance();
        let value = self.values()?;
        Ok(StatementKind::Assign(targets, operator, value))
    }

    /// One expression, or several that make a tuple.
    fn values(&mut self) -> Parse<Expr> {
        let first = self.expr()?;
        if !self.is(",") {
            return Ok(first);
        }
        let start = first.span;
        let mut items = vec![Some(first)];
        while self.eat(",") {
            items.push(Some(self.expr()?));
        }
        Ok(Expr { span: self.since(start), kind: ExprKind::Tuple(items) })
    }

    /// A block or a single statement.
    fn body(&mut self) -> Parse<Vec<Statement>> {
        if self.is("{") {
            return self.block();
        }
        self.blocks += 1;
        let statement = self.statement();
        self.blocks -= 1;
        Ok(vec![statement?])
    }

    /// `{ … }`
    pub(super) fn block(&mut self) -> Parse<Vec<Statement>> {
        self.expect("{")?;
        let open = self.at - 1;
        let close = self.tokens[open].partner.map(|close| close as usize);
        self.blocks += 1;
        let statements = self.within(Context::default(), |p| p.deeper(|p| Ok(p.statements_until(close))));
        self.blocks -= 1;
        let statements = statements?;
        if close.is_none() {
            let (line, column) = self.source.place(self.tokens[open].span.start);
            self.unexpected("`}`");
            if let Some(error) = self.errors.last_mut() {
                error.help.get_or_insert(format!("the `{{` at {line}:{column} is not closed"));
            }
            return Err(Failed);
        }
        self.expect("}")?;
        Ok(statements)
    }
}

/// Needs what follows no newline, because it ends with a block?
fn statement_closes_itself(kind: &StatementKind) -> bool {
    use StatementKind as S;
    matches!(kind, S::If(..) | S::For(..) | S::While(..) | S::Try(..) | S::Def(_) | S::Go | S::Timer(..))
}

fn is_target(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) => true,
        ExprKind::Index(object, _) | ExprKind::Member(object, _) => is_target(object),
        _ => false,
    }
}
