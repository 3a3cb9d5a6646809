//! Which names a piece of code refers to.

use super::Functions;
use crate::diagnostic::Span;
use crate::tree::{Arg, Expr, ExprKind, FunctionDef, MetaItem, Select, Statement, StatementKind};
use std::collections::HashSet;
use std::sync::Arc;

/// The names that a function uses and that neither it nor the language gives a meaning, each once, with its first
/// place. Names within a query may be columns and are left out, save the table's own.
pub fn free_names(def: &FunctionDef) -> Vec<(Arc<str>, Span)> {
    let mut walk = Walk { names: vec![], bound: HashSet::new(), columns: false };
    walk.def(def);
    let mut seen = HashSet::new();
    walk.names.retain(|(name, _)| super::evaluate::global(name).is_none() && seen.insert(name.clone()));
    walk.names
}

/// Every name in an expression, in its order, also those of functions and methods, each once.
pub fn names_in(expr: &Expr) -> Vec<Arc<str>> {
    let mut walk = Walk { names: vec![], bound: HashSet::new(), columns: true };
    walk.expr(expr);
    distinct(walk.names)
}

fn distinct(names: Vec<(Arc<str>, Span)>) -> Vec<Arc<str>> {
    let mut seen = HashSet::new();
    names.into_iter().map(|(name, _)| name).filter(|name| seen.insert(name.clone())).collect()
}

/// The user functions that code refers to, directly or through one another, in the order of their definition.
pub(super) fn reachable(body: &[Statement], functions: &Functions) -> Functions {
    let mut walk = Walk { names: vec![], bound: HashSet::new(), columns: true };
    walk.statements(body);
    closure(distinct(walk.names), functions)
}

/// The user functions that an expression refers to, directly or through one another.
pub(super) fn reachable_from(expr: &Expr, functions: &Functions) -> Functions {
    if functions.is_empty() {
        return Functions::default();
    }
    closure(names_in(expr), functions)
}

fn closure(mut wanted: Vec<Arc<str>>, functions: &Functions) -> Functions {
    let mut found = vec![false; functions.len()];
    while let Some(name) = wanted.pop() {
        let Some(place) = functions.iter().rposition(|def| def.name == name) else { continue };
        if !std::mem::replace(&mut found[place], true) {
            let mut walk = Walk { names: vec![], bound: HashSet::new(), columns: true };
            walk.statements(&functions[place].body);
            wanted.extend(distinct(walk.names));
        }
    }
    let reached = functions.iter().zip(found).filter(|(_, found)| *found).map(|(def, _)| def.clone());
    Arc::new(reached.collect())
}

struct Walk {
    names: Vec<(Arc<str>, Span)>,
    /// Names that have a value here.
    bound: HashSet<Arc<str>>,
    /// Take what may be a column, or a function's name, too?
    columns: bool,
}

impl Walk {
    fn def(&mut self, def: &FunctionDef) {
        let outer = self.bound.clone();
        for parameter in &def.parameters {
            if let Some(default) = &parameter.default {
                self.expr(default);
            }
            self.bound.insert(parameter.name.clone());
        }
        self.statements(&def.body);
        self.bound = outer;
    }

    fn statements(&mut self, statements: &[Statement]) {
        use StatementKind as S;
        for statement in statements {
            match &statement.kind {
                S::Expr(expr) | S::Throw(expr) | S::Assert(expr) | S::UseCatalog(expr) | S::Return(Some(expr)) => {
                    self.expr(expr)
                }
                S::Assign(targets, operator, value) => {
                    self.expr(value);
                    for target in targets {
                        match &target.kind {
                            ExprKind::Name(name) if operator.is_none() => {
                                self.bound.insert(name.clone());
                            }
                            _ => self.expr(target),
                        }
                    }
                }
                S::Def(def) => {
                    self.bound.insert(def.name.clone());
                    self.def(def);
                }
                S::If(condition, yes, no) => {
                    self.expr(condition);
                    self.statements(yes);
                    self.statements(no);
                }
                S::For(name, values, body) => {
                    self.expr(values);
                    self.bound.insert(name.clone());
                    self.statements(body);
                }
                S::While(condition, body) => {
                    self.expr(condition);
                    self.statements(body);
                }
                S::DoWhile(body, condition) => {
                    self.statements(body);
                    self.expr(condition);
                }
                S::Try(body, name, handler) => {
                    self.statements(body);
                    self.bound.insert(name.clone());
                    self.statements(handler);
                }
                S::Share(table, name) => {
                    self.expr(table);
                    self.bound.insert(name.clone());
                }
                S::Insert(table, _, values) => {
                    self.expr(table);
                    values.iter().for_each(|value| self.expr(value));
                }
                S::Update(update) => {
                    self.expr(&update.table);
                    if self.columns {
                        update.set.iter().for_each(|(_, value)| self.expr(value));
                        update.filter.iter().chain(&update.context).for_each(|expr| self.expr(expr));
                    }
                }
                S::Delete(table, filter) => {
                    self.expr(table);
                    if self.columns {
                        filter.iter().for_each(|expr| self.expr(expr));
                    }
                }
                S::Timer(count, body) => {
                    count.iter().for_each(|count| self.expr(count));
                    self.statements(body);
                }
                S::Return(None) | S::Break | S::Continue | S::Go | S::Module(_) | S::UseModule(_) => {}
            }
        }
    }

    fn note(&mut self, name: &Arc<str>, span: Span) {
        if !self.bound.contains(name) {
            self.names.push((name.clone(), span));
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(_) => {}
            ExprKind::Name(name) => self.note(name, expr.span),
            ExprKind::Member(object, _) => self.expr(object),
            ExprKind::Call(callee, args) | ExprKind::Partial(callee, args) => {
                // A call of an unknown function is told where it is called; here only values count.
                if self.columns || !matches!(callee.kind, ExprKind::Name(_)) {
                    self.expr(callee);
                }
                self.args(args);
            }
            ExprKind::Method(object, name, args) => {
                self.expr(object);
                if self.columns {
                    self.note(name, expr.span);
                }
                self.args(args);
            }
            ExprKind::Index(object, indexes) => {
                self.expr(object);
                indexes.iter().flatten().for_each(|index| self.expr(index));
            }
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Binary(_, a, b) | ExprKind::Pair(a, b) | ExprKind::Range(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Vector(items) | ExprKind::Tuple(items) => {
                items.iter().flatten().for_each(|item| self.expr(item));
            }
            ExprKind::Dict(entries) => entries.iter().for_each(|(key, value)| {
                self.expr(key);
                self.expr(value);
            }),
            ExprKind::Lambda(def) => self.def(def),
            ExprKind::Metacode { items, .. } if self.columns => self.items(items),
            ExprKind::Metacode { .. } => {}
            ExprKind::Select(select) => self.select(select),
        }
    }

    fn args(&mut self, args: &[Arg]) {
        args.iter().filter_map(|arg| arg.value.as_ref()).for_each(|value| self.expr(value));
    }

    fn items(&mut self, items: &[MetaItem]) {
        items.iter().for_each(|item| self.expr(&item.expr));
    }

    fn select(&mut self, select: &Select) {
        self.expr(&select.from);
        if !self.columns {
            return;
        }
        for items in [&select.items, &select.group, &select.context, &select.pivot] {
            self.items(items);
        }
        select.csort.iter().chain(&select.order).for_each(|key| self.expr(&key.expr));
        select.filter.iter().chain(&select.having).chain(&select.limit).for_each(|expr| self.expr(expr));
    }
}
