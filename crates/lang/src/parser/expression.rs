//! Expressions: operands, what stands behind them, and operators by precedence.

use super::template::CASE_WORDS;
use super::{Context, Parse, Parser};
use crate::diagnostic::{Diagnostic, Span, nearest};
use crate::lexer::{Kind, Token};
use crate::tree::{
    Arg, Binary, Expr, ExprKind, FunctionDef, FunctionKind, MetaItem, Parameter, Statement, StatementKind, Unary,
};
use crate::value::Value;
use std::sync::Arc;

/// Precedence, rising. `:` and `..` bind tightest: `1..6$2:3` casts a range to the shape of a pair.
pub(crate) mod level {
    pub(crate) const LOWEST: u8 = 0;
    pub(crate) const CONDITIONAL: u8 = 1;
    pub(crate) const OR: u8 = 2;
    pub(crate) const XOR: u8 = 3;
    pub(crate) const AND: u8 = 4;
    pub(crate) const NOT: u8 = 5;
    pub(crate) const BIT_OR: u8 = 6;
    pub(crate) const BIT_XOR: u8 = 7;
    pub(crate) const BIT_AND: u8 = 8;
    pub(crate) const EQUAL: u8 = 9;
    pub(crate) const COMPARE: u8 = 10;
    pub(crate) const SHIFT: u8 = 11;
    pub(crate) const ADD: u8 = 12;
    pub(crate) const MULTIPLY: u8 = 13;
    pub(crate) const POWER: u8 = 14;
    pub(crate) const CAST: u8 = 15;
    pub(crate) const PAIR: u8 = 16;
    pub(crate) const UNARY: u8 = 17;
    pub(crate) const POSTFIX: u8 = 18;
}

/// The precedence of an operator.
pub(crate) fn level_of(operator: Binary) -> u8 {
    use Binary as B;
    match operator {
        B::Or => level::OR,
        B::Xor => level::XOR,
        B::And => level::AND,
        B::BitOr => level::BIT_OR,
        B::BitXor => level::BIT_XOR,
        B::BitAnd => level::BIT_AND,
        B::Equal | B::NotEqual => level::EQUAL,
        B::Less | B::LessEqual | B::Greater | B::GreaterEqual | B::In | B::Between | B::Like => level::COMPARE,
        B::ShiftLeft | B::ShiftRight => level::SHIFT,
        B::Add | B::Subtract | B::Join => level::ADD,
        B::Multiply | B::Divide | B::Ratio | B::Modulo => level::MULTIPLY,
        B::Power => level::POWER,
        B::Cast => level::CAST,
    }
}

/// Words that never begin an operand, so that a name before them stands alone.
const FOLLOWING_WORDS: &[&str] = &[
    "and", "or", "xor", "in", "between", "like", "as", "from", "where", "group", "context", "pivot", "csort", "having",
    "order", "limit", "asc", "desc", "nulls", "set", "values", "else", "catch", "while", "on",
];

/// Words that begin an operand and are no names of their own there.
const OPERAND_WORDS: &[&str] = &["select", "exec", "def", "defg", "not"];

/// What may stand between two operands.
enum Infix {
    Binary(Binary),
    Pair,
    Range,
    Conditional,
    /// `x f y`
    Function,
    /// `x f:E y`
    Template,
}

impl Parser {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.binary(level::LOWEST)
    }

    /// An expression of operators that bind at least this tightly.
    pub(super) fn binary(&mut self, least: u8) -> Parse<Expr> {
        self.tree(|p| {
            let mut left = p.unary()?;
            // The right side of the comparison before, for `a < x < b`.
            let mut compared: Option<Expr> = None;
            while let Some((infix, level)) = p.infix() {
                if level < least {
                    break;
                }
                p.raise()?;
                let start = left.span;
                let kind = match infix {
                    Infix::Function => {
                        let function = p.name_expr()?;
                        let right = p.binary(level + 1)?;
                        let arg = |value| Arg { name: None, value: Some(value) };
                        ExprKind::Call(Box::new(function), vec![arg(left), arg(right)])
                    }
                    Infix::Template => p.infix_template(left, level + 1)?,
                    Infix::Conditional => {
                        p.advance();
                        let context = Context { before_colon: true, ..p.context };
                        let yes = p.within(context, |p| p.binary(level::CONDITIONAL))?;
                        p.expect(":")?;
                        let no = p.binary(level::CONDITIONAL)?;
                        ExprKind::Conditional(Box::new(left), Box::new(yes), Box::new(no))
                    }
                    Infix::Pair => {
                        p.advance();
                        ExprKind::Pair(Box::new(left), Box::new(p.binary(level + 1)?))
                    }
                    Infix::Range => {
                        p.advance();
                        ExprKind::Range(Box::new(left), Box::new(p.binary(level + 1)?))
                    }
                    Infix::Binary(operator) => {
                        p.advance();
                        // `**` groups to the right.
                        let right = p.binary(if operator == Binary::Power { level } else { level + 1 })?;
                        let right = p.upper_bound(operator, right)?;
                        let ordering = matches!(
                            operator,
                            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual
                        );
                        let middle = compared.take();
                        // The middle stands in both comparisons, so it must be small.
                        let small = matches!(right.kind, ExprKind::Name(_) | ExprKind::Literal(_));
                        compared = (ordering && small).then(|| right.clone());
                        match middle {
                            Some(middle) if ordering => {
                                p.raise()?;
                                let span = middle.span.to(right.span);
                                let kind = ExprKind::Binary(operator, Box::new(middle), Box::new(right));
                                ExprKind::Binary(Binary::And, Box::new(left), Box::new(Expr { span, kind }))
                            }
                            _ => ExprKind::Binary(operator, Box::new(left), Box::new(right)),
                        }
                    }
                };
                left = Expr { span: p.since(start), kind };
            }
            Ok(left)
        })
    }

    /// `between a and b`, as SQL writes `between a:b`.
    fn upper_bound(&mut self, operator: Binary, lower: Expr) -> Parse<Expr> {
        if operator != Binary::Between || matches!(lower.kind, ExprKind::Pair(..)) || !self.eat_word("and") {
            return Ok(lower);
        }
        let upper = self.binary(level::SHIFT)?;
        let span = lower.span.to(upper.span);
        Ok(Expr { span, kind: ExprKind::Pair(Box::new(lower), Box::new(upper)) })
    }

    /// The operator here, not read yet.
    fn infix(&self) -> Option<(Infix, u8)> {
        use Binary as B;
        if self.ends_here() {
            return None;
        }
        if self.is_operator_template() {
            return Some((Infix::Template, level::MULTIPLY));
        }
        let operator = match self.kind() {
            Kind::Mark(mark) => match *mark {
                "=" if self.context.sql => B::Equal,
                ">" if self.context.in_code && self.closes_code() => return None,
                ":" if !self.context.before_colon => return Some((Infix::Pair, level::PAIR)),
                ".." => return Some((Infix::Range, level::PAIR)),
                "?" => return Some((Infix::Conditional, level::CONDITIONAL)),
                mark => B::of(mark)?,
            },
            Kind::Name(name) => match &*name.to_ascii_lowercase() {
                "and" => B::And,
                "or" => B::Or,
                "xor" => B::Xor,
                "in" => B::In,
                "between" => B::Between,
                "like" => B::Like,
                word if self.is_following(word) || OPERAND_WORDS.contains(&word) => return None,
                // `select a form t`: `form` joins no operands, it is a mistyped `from`.
                word if self.context.sql && word != "from" && nearest(word, ["from"]).is_some() => return None,
                _ if self.template(1).is_some() => return Some((Infix::Template, level::MULTIPLY)),
                _ if self.begins_operand(1) && !self.ahead(1).newline => {
                    return Some((Infix::Function, level::MULTIPLY));
                }
                _ => return None,
            },
            _ => return None,
        };
        Some((Infix::Binary(operator), level_of(operator)))
    }

    /// Does the `>` here end the metacode? It does where no operand follows that it could compare with.
    fn closes_code(&self) -> bool {
        self.ahead(1).newline && !self.context.code_inside || !self.begins_operand(1)
    }

    /// Is it a word that begins no operand at this place?
    fn is_following(&self, name: &str) -> bool {
        let is = |word: &&str| name.eq_ignore_ascii_case(word);
        FOLLOWING_WORDS.iter().any(is) || self.context.in_case && CASE_WORDS.iter().any(is)
    }

    pub(super) fn begins_operand(&self, ahead: usize) -> bool {
        let token = self.ahead(ahead);
        match &token.kind {
            Kind::Literal(_) => true,
            Kind::Name(name) => !self.is_following(name),
            Kind::Mark(mark) => matches!(*mark, "(" | "[" | "{" | "-" | "!" | "<" | "::"),
            Kind::End => false,
        }
    }

    fn unary(&mut self) -> Parse<Expr> {
        let start = self.token().span;
        let (operator, operand_level) = match self.kind() {
            _ if self.is_operator_template() => return self.postfix(),
            Kind::Mark("-") => (Unary::Negate, level::UNARY),
            Kind::Mark("!") => (Unary::Not, level::UNARY),
            Kind::Name(word) if word.eq_ignore_ascii_case("not") && !self.is_at(1, "(") => (Unary::Not, level::NOT),
            _ => return self.postfix(),
        };
        self.advance();
        let operand = if operand_level == level::UNARY { self.tree(Self::unary)? } else { self.binary(operand_level)? };
        Ok(Expr { span: self.since(start), kind: ExprKind::Unary(operator, Box::new(operand)) })
    }

    /// An operand and the calls, indexes and members behind it.
    pub(super) fn postfix(&mut self) -> Parse<Expr> {
        let start = self.token().span;
        let mut expr = self.operand()?;
        loop {
            let token = self.token();
            let (here, attached) = (!self.ends_here(), !token.blank);
            let callable = !matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Vector(_) | ExprKind::Metacode { .. });
            let kind = match token.kind {
                // A line that begins with `.name` goes on with the line before.
                Kind::Mark(".") if matches!(self.ahead(1).kind, Kind::Name(_)) => {
                    self.raise()?;
                    self.advance();
                    let name = self.name("a name")?;
                    if self.is("(") && !self.token().blank {
                        self.advance();
                        ExprKind::Method(Box::new(expr), name, self.args(")")?)
                    } else {
                        ExprKind::Member(Box::new(expr), name)
                    }
                }
                Kind::Mark("(") if here && callable => {
                    self.raise()?;
                    self.advance();
                    ExprKind::Call(Box::new(expr), self.args(")")?)
                }
                Kind::Mark("{") if attached && callable => {
                    self.raise()?;
                    self.advance();
                    ExprKind::Partial(Box::new(expr), self.args("}")?)
                }
                Kind::Mark("[") if here && (attached || !self.applies(&expr)) => {
                    self.raise()?;
                    self.advance();
                    let indexes = self.list("]", Parser::expr)?;
                    ExprKind::Index(Box::new(expr), indexes)
                }
                Kind::Mark(":") if here && callable && self.is_template() => self.templated(expr)?,
                // `f x`: the function of all that follows.
                _ if here
                    && token.blank
                    && self.applies(&expr)
                    && self.begins_operand(0)
                    && !self.mistypes_a_clause(&expr) =>
                {
                    self.raise()?;
                    let operand = self.binary(level::OR)?;
                    let arg = Arg { name: None, value: Some(operand) };
                    return Ok(Expr { span: self.since(start), kind: ExprKind::Call(Box::new(expr), vec![arg]) });
                }
                _ => return Ok(expr),
            };
            expr = Expr { span: self.since(start), kind };
        }
    }

    /// May the name be followed by its only argument without brackets?
    fn applies(&self, expr: &Expr) -> bool {
        let ExprKind::Name(name) = &expr.kind else { return false };
        let known = |name: &Arc<str>| self.functions.contains(name) || crate::library::find(name).is_some();
        let operand = self.token();
        match &operand.kind {
            Kind::Mark("-" | "<" | "!" | "(" | "{" | "::") => false,
            // `x f y` rather than `x(f(y))`.
            Kind::Name(next) if !known(name) => {
                let infix = known(next) && self.begins_operand(1) && !self.ahead(1).newline;
                !(infix || self.template(1).is_some())
            }
            Kind::Mark("[") => known(name),
            _ => true,
        }
    }

    /// `from t wher a > 1`: `t` is no function of a mistyped clause.
    fn mistypes_a_clause(&self, expr: &Expr) -> bool {
        let (ExprKind::Name(name), Kind::Name(word)) = (&expr.kind, self.kind()) else { return false };
        let known = self.functions.contains(name) || crate::library::find(name).is_some();
        self.context.sql && !known && nearest(word, super::sql::CLAUSES.iter().copied()).is_some()
    }

    pub(super) fn args(&mut self, close: &'static str) -> Parse<Vec<Arg>> {
        let args = self.list(close, |p| p.arg(close))?;
        Ok(args.into_iter().map(|arg| arg.unwrap_or(Arg { name: None, value: None })).collect())
    }

    fn arg(&mut self, close: &'static str) -> Parse<Arg> {
        if let Kind::Name(name) = self.kind()
            && self.is_at(1, "=")
        {
            let name = Some(name.clone());
            self.advance();
            self.advance();
            return Ok(Arg { name, value: Some(self.expr()?) });
        }
        // `count(*)`, but `expr(a, *, b)`.
        let first = self.at > 0 && matches!(self.tokens[self.at - 1].kind, Kind::Mark("("));
        if first && self.is("*") && (self.is_at(1, ")") || self.is_at(1, ",")) {
            return Ok(Arg { name: None, value: Some(self.star()) });
        }
        // An operator alone is its function.
        if (self.is_at(1, ",") || self.is_at(1, close))
            && let Some(function) = self.operator_function()
        {
            return Ok(Arg { name: None, value: Some(function) });
        }
        let value = self.expr()?;
        // `table(1 2 as id)` names an argument as SQL names a column.
        let name = if self.eat_word("as") { Some(self.alias()?.swap_remove(0)) } else { None };
        Ok(Arg { name, value: Some(value) })
    }

    /// `*` as all columns.
    pub(super) fn star(&mut self) -> Expr {
        let span = self.token().span;
        self.advance();
        Expr { span, kind: ExprKind::Name("*".into()) }
    }

    pub(super) fn name_expr(&mut self) -> Parse<Expr> {
        let start = self.token().span;
        let mut name =
            if self.eat("::") { format!("::{}", self.name("a name")?) } else { self.name("a name")?.to_string() };
        while self.is("::") && !self.token().blank {
            self.advance();
            name = format!("{name}::{}", self.name("a name")?);
        }
        Ok(Expr { span: self.since(start), kind: ExprKind::Name(name.into()) })
    }

    fn operand(&mut self) -> Parse<Expr> {
        let start = self.token().span;
        let kind = match self.kind() {
            Kind::Literal(_) => ExprKind::Literal(self.literal()?),
            Kind::Name(word) if word.eq_ignore_ascii_case("case") && self.is_word_at(1, "when") => {
                self.tree(Self::case)?
            }
            Kind::Mark(_) if self.is_operator_template() => {
                let function = self.operator_function().expect("looked at just now");
                self.templated(function)?
            }
            Kind::Name(word) => match &**word {
                "def" | "defg" => ExprKind::Lambda(self.function(FunctionKind::Plain, start)?),
                "select" | "exec" => return self.tree(Self::select),
                _ if self.is_at(1, "->") => ExprKind::Lambda(self.lambda()?),
                _ => return self.name_expr(),
            },
            Kind::Mark("::") => return self.name_expr(),
            Kind::Mark("<") => return self.metacode(),
            Kind::Mark("[") => {
                self.advance();
                ExprKind::Vector(self.list("]", Parser::expr)?)
            }
            Kind::Mark("(") if self.opens_parameters() => ExprKind::Lambda(self.lambda()?),
            Kind::Mark("(") => {
                self.advance();
                let mut items = self.list(")", Parser::expr)?;
                match &items[..] {
                    [Some(_)] => {
                        let inner = items.swap_remove(0).expect("matched above");
                        return Ok(Expr { span: self.since(start), kind: inner.kind });
                    }
                    // `(a,)` is a tuple of one.
                    [Some(_), None] => {
                        items.truncate(1);
                        ExprKind::Tuple(items)
                    }
                    _ => ExprKind::Tuple(items),
                }
            }
            Kind::Mark("{") if self.opens_lambda() => {
                self.advance();
                let context = Context { inside: true, ..Context::default() };
                let lambda = self.within(context, |p| {
                    let lambda = p.lambda()?;
                    p.expect("}")?;
                    Ok(lambda)
                })?;
                // The braces belong to its text: without them `x, y -> …` is no expression.
                let FunctionDef { name, kind, parameters, body, .. } = Arc::unwrap_or_clone(lambda);
                ExprKind::Lambda(self.definition(start, name, kind, parameters, body))
            }
            Kind::Mark("{") => {
                self.advance();
                let entries = self.list("}", Parser::entry)?;
                ExprKind::Dict(entries.into_iter().flatten().collect())
            }
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expr { span: self.since(start), kind })
    }

    fn entry(&mut self) -> Parse<(Expr, Expr)> {
        let context = Context { before_colon: true, ..self.context };
        let key = self.within(context, Self::expr)?;
        self.expect(":")?;
        Ok((key, self.expr()?))
    }

    /// A scalar, or the vector that several of them make: `1 2 3`, `` `a`b ``.
    fn literal(&mut self) -> Parse<Value> {
        let start = self.token().span;
        let mut values = vec![];
        while let Kind::Literal(value) = self.kind() {
            let token = self.token();
            let backtick = self.source.text.as_bytes()[token.span.start as usize] == b'`';
            if !values.is_empty() && (token.newline || !token.blank && !backtick) {
                break;
            }
            values.push(value.clone());
            self.advance();
        }
        if values.len() == 1 {
            return Ok(values.remove(0));
        }
        match Value::vector(values) {
            vector @ Value::Vector(_) => Ok(vector),
            _ => {
                let error = Diagnostic::at(self.since(start), "syntax error: expected values of one type in a vector");
                let help = match self.context.before_colon {
                    true => "write `:` between a key and its value, or a tuple: (a, b)",
                    false => "write a tuple: (a, b)",
                };
                Err(self.fail(error.help(help)))
            }
        }
    }

    fn metacode(&mut self) -> Parse<Expr> {
        let start = self.token().span;
        self.advance();
        let closing = self.token().partner.map(|partner| partner as usize + 1).and_then(|next| self.tokens.get(next));
        let list = self.is("[") && matches!(closing, Some(Token { kind: Kind::Mark(">"), .. }));
        let items = if list {
            self.advance();
            self.list("]", Parser::meta_item)?.into_iter().flatten().collect()
        } else {
            let context =
                Context { inside: true, in_code: true, code_inside: self.context.inside, ..Context::default() };
            vec![self.within(context, Parser::meta_item)?]
        };
        if !self.eat(">") {
            return Err(self.unexpected("`>` at the end of metacode"));
        }
        Ok(Expr { span: self.since(start), kind: ExprKind::Metacode { list, items } })
    }

    pub(super) fn meta_item(&mut self) -> Parse<MetaItem> {
        if self.is("*") {
            return Ok(MetaItem { expr: Arc::new(self.star()), names: vec![] });
        }
        let expr = Arc::new(self.expr()?);
        let names = if self.eat_word("as") { self.alias()? } else { vec![] };
        Ok(MetaItem { expr, names })
    }

    /// The names behind `as`: a word, a string, or a vector of strings. At least one.
    pub(super) fn alias(&mut self) -> Parse<Vec<Arc<str>>> {
        if let Kind::Name(name) = self.kind() {
            let name = name.clone();
            self.advance();
            return Ok(vec![name]);
        }
        let span = self.token().span;
        if matches!(self.kind(), Kind::Literal(_))
            && let Some(names) = self.literal()?.names()
            && !names.is_empty()
        {
            return Ok(names);
        }
        let error = Diagnostic::at(span, "syntax error: expected a name after `as`");
        Err(self.fail(error))
    }

    /// Is this `(x, y) ->`?
    fn opens_parameters(&self) -> bool {
        let arrow = self.token().partner.and_then(|close| self.tokens.get(close as usize + 1));
        matches!(arrow, Some(Token { kind: Kind::Mark("->"), .. }))
    }

    /// Is this `{x, y -> …}`?
    fn opens_lambda(&self) -> bool {
        let mut ahead = 1;
        while matches!(self.ahead(ahead).kind, Kind::Name(_)) && self.is_at(ahead + 1, ",") {
            ahead += 2;
        }
        matches!(self.ahead(ahead).kind, Kind::Name(_)) && self.is_at(ahead + 1, "->")
            || self.is_at(1, "(") && {
                let close = self.ahead(1).partner.map_or(0, |close| close as usize);
                matches!(self.tokens.get(close + 1), Some(Token { kind: Kind::Mark("->"), .. })) && close > 0
            }
    }

    /// `x -> …`, `x, y -> …` or `(x, y) -> …`; the body is an expression or a block.
    fn lambda(&mut self) -> Parse<Arc<FunctionDef>> {
        let start = self.token().span;
        let parameters = if self.eat("(") {
            self.parameters()?
        } else {
            let mut parameters = vec![];
            loop {
                parameters.push(Parameter { name: self.name("a parameter")?, mutable: false, default: None });
                if !self.eat(",") {
                    break parameters;
                }
            }
        };
        self.expect("->")?;
        let body = if self.is("{") && !self.opens_lambda() { self.block()? } else { vec![self.returned()?] };
        Ok(self.definition(start, "".into(), FunctionKind::Plain, parameters, body))
    }

    /// The expression that is all of a function.
    fn returned(&mut self) -> Parse<Statement> {
        let expr = self.expr()?;
        Ok(Statement { span: expr.span, kind: StatementKind::Return(Some(expr)) })
    }

    /// `def name(x) { … }`, `def(x) { … }`, `def name(x): expr`; the word is the token here.
    pub(super) fn function(&mut self, kind: FunctionKind, start: Span) -> Parse<Arc<FunctionDef>> {
        let kind = if self.is_word("defg") { FunctionKind::Aggregate } else { kind };
        self.advance();
        let name: Arc<str> = if self.is("(") { "".into() } else { self.name("a function's name or `(`")? };
        if !name.is_empty() {
            self.functions.insert(name.clone());
        }
        self.expect("(")?;
        let parameters = self.parameters()?;
        let body = if self.eat(":") {
            let context = Context { inside: self.context.inside, ..Context::default() };
            vec![self.within(context, Self::returned)?]
        } else {
            self.block()?
        };
        Ok(self.definition(start, name, kind, parameters, body))
    }

    /// Parameters to the closing bracket.
    fn parameters(&mut self) -> Parse<Vec<Parameter>> {
        let mut known: Vec<Arc<str>> = vec![];
        let parameters = self.list(")", |p| {
            let mutable = p.is_word("mutable") && matches!(p.ahead(1).kind, Kind::Name(_));
            if mutable {
                p.advance();
            }
            let span = p.token().span;
            let name = p.name("a parameter")?;
            if known.contains(&name) {
                p.fail(Diagnostic::at(span, format!("two parameters have one name: parameter=`{name}`")));
            }
            known.push(name.clone());
            let default = if p.eat("=") { Some(p.expr()?) } else { None };
            Ok(Parameter { name, mutable, default })
        })?;
        let span = self.token().span;
        let parameters: Option<Vec<Parameter>> = parameters.into_iter().collect();
        parameters.ok_or_else(|| self.fail(Diagnostic::at(span, "syntax error: expected a parameter between commas")))
    }

    fn definition(
        &self,
        start: Span,
        name: Arc<str>,
        kind: FunctionKind,
        parameters: Vec<Parameter>,
        body: Vec<Statement>,
    ) -> Arc<FunctionDef> {
        let span = self.since(start);
        let text = self.source.text[span.start as usize..span.end as usize].into();
        Arc::new(FunctionDef { span, name, kind, parameters, body, text })
    }
}
