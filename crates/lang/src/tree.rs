//! The syntax tree, and nothing but its shape. Metacode is a piece of this tree.

use crate::diagnostic::Span;
use crate::value::Value;
use std::sync::Arc;

/// An expression and its place.
#[derive(Debug, Clone)]
pub struct Expr {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A constant: a scalar, or a vector written as one (`1 2 3`, `` `a`b ``).
    Literal(Value),
    /// A variable, column, function, or type name.
    Name(Arc<str>),
    /// `object.name`, not called.
    Member(Box<Expr>, Arc<str>),
    /// `function(arguments)`.
    Call(Box<Expr>, Vec<Arg>),
    /// `object.name(arguments)`: a method of the object, else `name(object, arguments)`.
    Method(Box<Expr>, Arc<str>, Vec<Arg>),
    /// `function{arguments}`: partial application; what is left out is asked for later.
    Partial(Box<Expr>, Vec<Arg>),
    /// `object[index]`, also with several indexes; `None` for one left out.
    Index(Box<Expr>, Vec<Option<Expr>>),
    /// `-x`, `!x`.
    Unary(Unary, Box<Expr>),
    /// `x + y` and the like.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `condition ? yes : no`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `[a, b, c]`; an element left out is NULL.
    Vector(Vec<Option<Expr>>),
    /// `(a, b)`.
    Tuple(Vec<Option<Expr>>),
    /// `{key: value, …}`.
    Dict(Vec<(Expr, Expr)>),
    /// `a:b`.
    Pair(Box<Expr>, Box<Expr>),
    /// `a..b`.
    Range(Box<Expr>, Box<Expr>),
    /// `x -> …`, `(x, y) -> …`, `def(x) { … }`.
    Lambda(Arc<FunctionDef>),
    /// `<expr>` or `<[expr, expr as name]>`.
    Metacode {
        /// Written with brackets, that is as a list?
        list: bool,
        /// The pieces.
        items: Vec<MetaItem>,
    },
    /// `select … from …`, `exec … from …`.
    Select(Box<Select>),
}

/// One piece of metacode with the names after `as`.
#[derive(Debug, Clone)]
pub struct MetaItem {
    /// The expression.
    pub expr: Arc<Expr>,
    /// The names it is given; several for a function with several results; none when it has no `as`.
    pub names: Vec<Arc<str>>,
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub struct Arg {
    /// Its name in `name=value`.
    pub name: Option<Arc<str>>,
    /// The value; `None` when the place is left empty.
    pub value: Option<Expr>,
}

/// Operators before an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Negate,
    /// `!`, `not`
    Not,
}

/// Operators between operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`: floor division for integers
    Divide,
    /// `\`: real division
    Ratio,
    /// `%`
    Modulo,
    /// `**`
    Power,
    /// `==`, and `=` in SQL
    Equal,
    /// `!=`, `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `&&`, `and`
    And,
    /// `||`, `or`
    Or,
    /// `xor`
    Xor,
    /// `in`
    In,
    /// `between`
    Between,
    /// `like`
    Like,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `<-`: append
    Join,
    /// `$`: cast
    Cast,
}

impl Expr {
    /// The expressions it is directly made of, functions left out.
    pub fn children(&self) -> Vec<&Expr> {
        fn args(args: &[Arg]) -> impl Iterator<Item = &Expr> {
            args.iter().filter_map(|arg| arg.value.as_ref())
        }
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Lambda(_) => vec![],
            ExprKind::Member(object, _) | ExprKind::Unary(_, object) => vec![object],
            ExprKind::Call(callee, given) | ExprKind::Partial(callee, given) | ExprKind::Method(callee, _, given) => {
                std::iter::once(&**callee).chain(args(given)).collect()
            }
            ExprKind::Index(object, indexes) => std::iter::once(&**object).chain(indexes.iter().flatten()).collect(),
            ExprKind::Binary(_, a, b) | ExprKind::Pair(a, b) | ExprKind::Range(a, b) => vec![a, b],
            ExprKind::Conditional(a, b, c) => vec![a, b, c],
            ExprKind::Vector(items) | ExprKind::Tuple(items) => items.iter().flatten().collect(),
            ExprKind::Dict(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
            ExprKind::Metacode { items, .. } => items.iter().map(|item| &*item.expr).collect(),
            ExprKind::Select(select) => {
                let lists = [&select.items, &select.group, &select.context, &select.pivot];
                let keys = select.csort.iter().chain(&select.order).map(|key| &key.expr);
                let single = [&select.limit, &select.having].into_iter().flatten();
                let items = lists.into_iter().flatten().map(|item| &*item.expr);
                std::iter::once(&select.from).chain(&select.filter).chain(items).chain(keys).chain(single).collect()
            }
        }
    }
}

impl Binary {
    /// All operators.
    pub(crate) const ALL: &[Binary] = {
        use Binary as B;
        &[
            B::Add,
            B::Subtract,
            B::Multiply,
            B::Divide,
            B::Ratio,
            B::Modulo,
            B::Power,
            B::Equal,
            B::NotEqual,
            B::Less,
            B::LessEqual,
            B::Greater,
            B::GreaterEqual,
            B::And,
            B::Or,
            B::Xor,
            B::In,
            B::Between,
            B::Like,
            B::BitAnd,
            B::BitOr,
            B::BitXor,
            B::ShiftLeft,
            B::ShiftRight,
            B::Join,
            B::Cast,
        ]
    };

    /// The operator of a mark.
    pub(crate) fn of(mark: &str) -> Option<Binary> {
        let mark = if mark == "<>" { "!=" } else { mark };
        let word = mark.starts_with(|letter: char| letter.is_alphabetic());
        Binary::ALL.iter().copied().find(|operator| !word && operator.symbol() == mark)
    }

    /// The function that an operator stands for; also the word in derived column names (`price_mul`).
    pub fn function(self) -> &'static str {
        use Binary as B;
        match self {
            B::Add => "add",
            B::Subtract => "sub",
            B::Multiply => "mul",
            B::Divide => "div",
            B::Ratio => "ratio",
            B::Modulo => "mod",
            B::Power => "pow",
            B::Equal => "eq",
            B::NotEqual => "ne",
            B::Less => "lt",
            B::LessEqual => "le",
            B::Greater => "gt",
            B::GreaterEqual => "ge",
            B::And => "and",
            B::Or => "or",
            B::Xor => "xor",
            B::In => "in",
            B::Between => "between",
            B::Like => "like",
            B::BitAnd => "bitAnd",
            B::BitOr => "bitOr",
            B::BitXor => "bitXor",
            B::ShiftLeft => "lshift",
            B::ShiftRight => "rshift",
            B::Join => "join",
            B::Cast => "cast",
        }
    }
}

/// What was written before `def`, and `defg` itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionKind {
    /// `def`, lambda.
    Plain,
    /// `defg`: gives one value for a vector.
    Aggregate,
    /// `@state def`: usable in a reactive state engine.
    State,
}

/// A user function.
#[derive(Debug, Clone)]
pub struct FunctionDef {
    /// Where it stands.
    pub span: Span,
    /// Its name; empty for a lambda.
    pub name: Arc<str>,
    /// What may be done with it.
    pub kind: FunctionKind,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Vec<Statement>,
    /// Its own text, so that it can be stored and shown.
    pub text: Arc<str>,
}

/// A parameter of a user function.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// May the function change the caller's variable?
    pub mutable: bool,
    /// The value when it is left out.
    pub default: Option<Expr>,
}

/// A statement and its place.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: StatementKind,
}

/// The kinds of statements.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// An expression for its effect, or the last one for its value.
    Expr(Expr),
    /// `a = x`, `a, b = x`, `v[i] = x`, `t.col = x`; an operator for `a += x`.
    Assign(Vec<Expr>, Option<Binary>, Expr),
    /// `def`, `defg`.
    Def(Arc<FunctionDef>),
    /// `return x`; several values make a tuple.
    Return(Option<Expr>),
    /// `if … else …`.
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// `for (name in expr)`.
    For(Arc<str>, Expr, Vec<Statement>),
    /// `while (expr)`.
    While(Expr, Vec<Statement>),
    /// `do … while (expr)`.
    DoWhile(Vec<Statement>, Expr),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `try … catch (name) …`.
    Try(Vec<Statement>, Arc<str>, Vec<Statement>),
    /// `throw x`.
    Throw(Expr),
    /// `assert x`.
    Assert(Expr),
    /// `go`: what stands before it is run before the rest is parsed.
    Go,
    /// `use catalog name`.
    UseCatalog(Expr),
    /// `module path`, at the head of a module's text.
    Module(Arc<str>),
    /// `use module::path`.
    UseModule(Arc<str>),
    /// `timer statement` or `timer(n) statement`.
    Timer(Option<Expr>, Vec<Statement>),
    /// `share table as name`.
    Share(Expr, Arc<str>),
    /// `insert into table values (…)`.
    Insert(Expr, Vec<Arc<str>>, Vec<Expr>),
    /// `update table set a = x where …`.
    Update(Box<Update>),
    /// `delete from table where …`.
    Delete(Expr, Vec<Expr>),
}

/// `update`.
#[derive(Debug, Clone)]
pub struct Update {
    /// The table.
    pub table: Expr,
    /// Columns and their new values.
    pub set: Vec<(Arc<str>, Expr)>,
    /// Conditions, one after another.
    pub filter: Vec<Expr>,
    /// `context by` keys.
    pub context: Vec<Expr>,
}

/// `select` and `exec`.
#[derive(Debug, Clone)]
pub struct Select {
    /// `exec`: a vector for one column.
    pub exec: bool,
    /// `top n` or `limit n`.
    pub limit: Option<Expr>,
    /// What is selected; empty for `*`.
    pub items: Vec<MetaItem>,
    /// The table.
    pub from: Expr,
    /// Conditions, one after another.
    pub filter: Vec<Expr>,
    /// `group by`.
    pub group: Vec<MetaItem>,
    /// `context by`.
    pub context: Vec<MetaItem>,
    /// `csort`.
    pub csort: Vec<SortKey>,
    /// `pivot by`.
    pub pivot: Vec<MetaItem>,
    /// `having`.
    pub having: Option<Expr>,
    /// `order by`.
    pub order: Vec<SortKey>,
}

/// A key that rows are ordered by.
#[derive(Debug, Clone)]
pub struct SortKey {
    /// Its values.
    pub expr: Expr,
    /// From the greatest to the smallest?
    pub descending: bool,
    /// Where NULLs stand, if it is said; else they are the smallest values.
    pub nulls_first: Option<bool>,
}
