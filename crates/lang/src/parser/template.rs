//! Higher-order functions written by a letter (`f:E(x, y)`, `+:T x`, `x f:C y`), and `case when`.

use super::expression::level;
use super::{Context, Parse, Parser};
use crate::diagnostic::Span;
use crate::lexer::{Kind, Token};
use crate::tree::{Arg, Binary, Expr, ExprKind};
use crate::value::Value;

/// Words that end an operand within `case`.
pub(super) const CASE_WORDS: &[&str] = &["when", "then", "else", "end"];

/// The higher-order function of a letter.
fn higher_order(token: &Token) -> Option<&'static str> {
    let Kind::Name(letter) = &token.kind else { return None };
    Some(match &**letter {
        "E" => "each",
        "L" => "eachLeft",
        "R" => "eachRight",
        "P" => "eachPre",
        "O" => "eachPost",
        "U" => "loop",
        "A" => "accumulate",
        "T" => "reduce",
        "H" => "byRow",
        "V" => "byColumn",
        "C" => "cross",
        "G" => "groupby",
        "X" => "contextby",
        _ => return None,
    })
}

fn call(span: Span, name: &'static str, args: Vec<Arg>) -> ExprKind {
    ExprKind::Call(Box::new(Expr { span, kind: ExprKind::Name(name.into()) }), args)
}

fn arg(value: Expr) -> Arg {
    Arg { name: None, value: Some(value) }
}

impl Parser {
    /// The higher-order function of the `:E` so many tokens ahead, if its argument follows.
    pub(super) fn template(&self, ahead: usize) -> Option<&'static str> {
        let (letter, operand) = (self.ahead(ahead + 1), self.ahead(ahead + 2));
        let follows = self.is_at(ahead, ":") && !letter.blank && !letter.newline && !operand.newline;
        higher_order(letter).filter(|_| follows && self.begins_operand(ahead + 2))
    }

    /// Does `:E` stand here, behind a function? Between `?` and `:` only with its arguments in brackets.
    pub(super) fn is_template(&self) -> bool {
        let bracket = !self.token().blank && self.is_at(2, "(");
        self.template(0).is_some() && (bracket || !self.context.before_colon)
    }

    /// Does an operator with `:E` behind it stand here?
    pub(super) fn is_operator_template(&self) -> bool {
        matches!(self.kind(), Kind::Mark(mark) if Binary::of(mark).is_some()) && self.template(1).is_some()
    }

    /// The function of an operator, which stands here.
    pub(super) fn operator_function(&mut self) -> Option<Expr> {
        let Kind::Mark(mark) = self.kind() else { return None };
        let (operator, span) = (Binary::of(mark)?, self.token().span);
        self.advance();
        Some(Expr { span, kind: ExprKind::Name(operator.function().into()) })
    }

    /// `:E(x, y)` or `:E x` behind a function.
    pub(super) fn templated(&mut self, function: Expr) -> Parse<ExprKind> {
        self.raise()?;
        let (name, span) = self.template_letter()?;
        let mut args = vec![arg(function)];
        if self.is("(") {
            self.advance();
            args.extend(self.args(")")?);
        } else {
            args.push(arg(self.binary(level::OR)?));
        }
        Ok(call(span, name, args))
    }

    /// `x f:E y`, from the function on. A value before a function that goes on from one value to the next is where it
    /// begins.
    pub(super) fn infix_template(&mut self, left: Expr, least: u8) -> Parse<ExprKind> {
        let function = match self.is_operator_template() {
            true => self.operator_function().expect("looked at just now"),
            false => self.name_expr()?,
        };
        let (name, span) = self.template_letter()?;
        let right = self.binary(least)?;
        let args = match name {
            "accumulate" | "reduce" | "eachPre" => [function, right, left],
            _ => [function, left, right],
        };
        Ok(call(span, name, args.map(arg).into()))
    }

    fn template_letter(&mut self) -> Parse<(&'static str, Span)> {
        let Some(name) = self.template(0) else { return Err(self.unexpected("`:` and the letter of a function")) };
        self.advance();
        let span = self.token().span;
        self.advance();
        Ok((name, span))
    }

    /// `case when c then x when d then y else z end`, which is `iif(c || false, x, iif(d || false, y, z))`: a NULL
    /// condition is not met.
    pub(super) fn case(&mut self) -> Parse<ExprKind> {
        let span = self.token().span;
        self.advance();
        let context = Context { inside: true, in_case: true, before_colon: false, in_code: false, ..self.context };
        let (branches, last) = self.within(context, |p| {
            let mut branches = vec![];
            while p.eat_word("when") {
                p.raise()?;
                let condition = p.expr()?;
                p.expect_word("then")?;
                branches.push((condition, p.expr()?));
            }
            let last = match p.eat_word("else") {
                true => p.expr()?,
                false => Expr { span, kind: ExprKind::Literal(Value::NULL) },
            };
            p.expect_word("end")?;
            Ok((branches, last))
        })?;
        let no = || Expr { span, kind: ExprKind::Literal(Value::bool(false)) };
        let nested = branches.into_iter().rev().fold(last, |rest, (condition, value)| {
            let span = condition.span;
            let met = ExprKind::Binary(Binary::Or, Box::new(condition), Box::new(no()));
            let args = [Expr { span, kind: met }, value, rest].map(arg);
            Expr { span, kind: call(span, "iif", args.into()) }
        });
        Ok(nested.kind)
    }
}
