//! Expressions to values.

use super::Interpreter;
use super::containers::ELEMENTS_MAX;
use super::names::reachable;
use crate::diagnostic::{Diagnostic, Span};
use crate::function::Result;
use crate::tree::{Binary, Expr, ExprKind, FunctionDef, MetaItem, Unary};
use crate::value::{Args, Callee, Code, Dict, Table, UserFunction, Value};
use data::{Column, Scalar, Type};
use parking_lot::Mutex;
use std::sync::Arc;

impl Interpreter<'_> {
    pub(super) fn eval(&mut self, expr: &Expr) -> Result<Value> {
        let pending = self.limits.pending;
        let value = self.deeper(|this| this.kind(expr)).and_then(|value| match &expr.kind {
            ExprKind::Name(_) | ExprKind::Literal(_) => Ok(value),
            _ if value.too_deep() => Err(crate::value::too_deep()),
            _ => Ok(value),
        });
        let value = value.map_err(|error| error.or_at(expr.span));
        self.limits.pending = match (&value, &expr.kind) {
            // A variable's value is held by it.
            (_, ExprKind::Name(_)) | (Err(_), _) => pending,
            (Ok(value), _) => pending.saturating_add(value.bytes()),
        };
        value
    }

    fn kind(&mut self, expr: &Expr) -> Result<Value> {
        match &expr.kind {
            ExprKind::Literal(value) => Ok(value.clone()),
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Binary(..) => self.operators(expr),
            ExprKind::Call(callee, args) => self.call_expr(callee, args, expr.span),
            ExprKind::Method(..) | ExprKind::Member(..) | ExprKind::Index(..) => self.chain(expr),
            ExprKind::Partial(callee, args) => self.partial(callee, args),
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand),
            ExprKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no, expr.span),
            ExprKind::Vector(items) => Ok(Value::vector(self.items(items)?)),
            ExprKind::Tuple(items) => Ok(Value::Tuple(self.items(items)?)),
            ExprKind::Dict(entries) => self.dict(entries),
            ExprKind::Pair(a, b) => Ok(Value::Pair(Box::new(self.eval(a)?), Box::new(self.eval(b)?))),
            ExprKind::Range(a, b) => {
                let (from, to) = (self.eval(a)?, self.eval(b)?);
                let (ty, from, to) = range(&from, &to)?;
                self.make((from.abs_diff(to) as usize + 1) * size_of::<i64>())?;
                let whole = |value: i64| Scalar::Int(value);
                let values: Vec<Scalar> = match from <= to {
                    true => (from..=to).map(whole).collect(),
                    false => (to..=from).rev().map(whole).collect(),
                };
                Ok(Value::Vector(Column::of_scalars(ty, &values)))
            }
            ExprKind::Lambda(def) => Ok(self.function_value(def)),
            ExprKind::Metacode { list, items } => Ok(self.metacode(*list, items)),
            ExprKind::Select(select) => self.select(select),
        }
    }

    /// What a name stands for.
    fn name(&mut self, name: &Arc<str>, span: Span) -> Result<Value> {
        let (plain, root_only) = match name.strip_prefix("::") {
            Some(plain) => (plain, true),
            None => (&**name, false),
        };
        if !root_only && let Some(value) = self.known(name) {
            return Ok(value);
        }
        if let Some(value) = global(plain) {
            return Ok(value);
        }
        if self.host.names().contains(&plain) {
            return Ok(Value::Builtin(plain.into()));
        }
        if let Some(rows) = self.host.table(plain) {
            return Ok(Value::Table(Table::new(rows?)));
        }
        Err(self.unknown_name(plain, span))
    }

    /// The column, variable or user function of this name.
    fn known(&self, name: &str) -> Option<Value> {
        if let Some(rows) = self.frame.rows.last() {
            if let Some(column) = rows.batch.column_named(name) {
                return Some(Value::Vector(column.clone()));
            }
            // `count(*)` counts the rows.
            if name == "*" {
                return Some(Value::Vector(Column::repeat(Type::Int, &Scalar::Int(1), rows.batch.rows())));
            }
        }
        if let Some(value) = self.frame.variables.get(name) {
            return Some(value.clone());
        }
        self.user_function(name).map(|def| self.function_value(&def))
    }

    pub(super) fn user_function(&self, name: &str) -> Option<Arc<FunctionDef>> {
        self.frame.functions.iter().rev().find(|def| &*def.name == name).cloned()
    }

    fn unknown_name(&self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::at(span, format!("unknown name: name=`{name}`"));
        let columns = self.frame.rows.last().map(|rows| rows.batch.schema().names()).unwrap_or_default();
        let variables = self.frame.variables.keys().map(|name| &**name);
        let functions = self.frame.functions.iter().map(|def| &*def.name);
        let types = Type::NAMED.iter().map(|(_, name)| *name).filter(|_| name.chars().all(char::is_uppercase));
        let known = columns.iter().map(String::as_str).chain(variables).chain(functions).chain(types);
        let error = error.suggest(name, known);
        match error.help {
            None if self.frame.function => {
                error.help("a function sees its parameters and its own variables, not those of the session")
            }
            _ => error,
        }
    }

    /// Operators in a row. A long chain leans to the left, so it is walked, not descended.
    fn operators(&mut self, expr: &Expr) -> Result<Value> {
        let mut links = vec![];
        let mut first = expr;
        while let ExprKind::Binary(operator, left, right) = &first.kind {
            links.push((*operator, right, first.span));
            first = left;
        }
        let mut value = self.eval(first)?;
        for (operator, right, span) in links.into_iter().rev() {
            let right = self.eval(right)?;
            value = self.binary(operator, value, right, span)?;
        }
        Ok(value)
    }

    pub(super) fn binary(&mut self, operator: Binary, left: Value, right: Value, span: Span) -> Result<Value> {
        match (operator, &left, &right) {
            (Binary::BitOr | Binary::BitAnd | Binary::BitXor | Binary::Subtract, Value::Dict(a), Value::Dict(b))
                if a.lock().set && b.lock().set =>
            {
                let (a, b) = (a.lock().key_column(), b.lock().key_column());
                return super::values::of_sets(self, operator, &a, &b).map_err(|error| error.or_at(span));
            }
            (Binary::In, _, Value::Dict(dict)) if !dict.lock().set => {
                let dict = dict.lock();
                return match &left {
                    Value::Vector(keys) => {
                        let found = (0..keys.len()).map(|row| dict.get(&keys.get(row)).is_some());
                        Ok(Value::Vector(Column::of_bools(found.collect(), None)))
                    }
                    Value::Scalar(_, key) => Ok(Value::bool(dict.get(key).is_some())),
                    other => Err(Diagnostic::at(span, format!("not a key: found=`{}`", other.kind()))),
                };
            }
            (Binary::Join, ..) => {
                self.make(left.bytes().saturating_add(right.bytes()))?;
                return super::containers::join(&left, &right).map_err(|error| error.or_at(span));
            }
            // `1..6$2:3`: the elements as so many rows and columns.
            (Binary::Cast, _, Value::Pair(rows, columns)) => {
                return super::matrix::shaped(&left, rows, columns).map_err(|error| error.or_at(span));
            }
            _ => {}
        }
        let spans = vec![span; 2];
        let args = Args { values: vec![Some(left), Some(right)], named: vec![], spans, span };
        self.call_builtin(operator.function(), &args).map_err(|error| error.or_at(span))
    }

    fn unary(&mut self, operator: Unary, operand: &Expr) -> Result<Value> {
        let value = self.eval(operand)?;
        let args = Args { values: vec![Some(value)], named: vec![], spans: vec![operand.span], span: operand.span };
        self.call_builtin(if operator == Unary::Negate { "neg" } else { "not" }, &args)
    }

    fn conditional(&mut self, condition: &Expr, yes: &Expr, no: &Expr, span: Span) -> Result<Value> {
        let condition = self.eval(condition)?;
        if let Value::Scalar(..) = condition {
            return if condition.as_bool() == Some(true) { self.eval(yes) } else { self.eval(no) };
        }
        let values = vec![Some(condition), Some(self.eval(yes)?), Some(self.eval(no)?)];
        self.call_builtin("iif", &Args { values, named: vec![], spans: vec![span; 3], span })
    }

    fn items(&mut self, items: &[Option<Expr>]) -> Result<Vec<Value>> {
        items.iter().map(|item| item.as_ref().map_or(Ok(Value::NULL), |item| self.eval(item))).collect()
    }

    fn dict(&mut self, entries: &[(Expr, Expr)]) -> Result<Value> {
        let mut dict = Dict::of(Type::String, vec![]);
        for (index, (key, value)) in entries.iter().enumerate() {
            let Value::Scalar(ty, scalar) = self.eval(key)? else {
                return Err(Diagnostic::at(key.span, "a dictionary's key must be a scalar"));
            };
            if index == 0 {
                dict.keys = Some(ty);
            } else if dict.key_type().is_text() != ty.is_text() || !ty.is_text() && dict.keys != Some(ty) {
                let (wanted, found) = (dict.key_type(), ty);
                let message = format!("key of another type: wanted=`{wanted}`, found=`{found}`");
                return Err(Diagnostic::at(key.span, message));
            }
            dict.set(scalar, self.eval(value)?);
        }
        Ok(Value::Dict(Arc::new(Mutex::new(dict))))
    }

    pub(super) fn function_value(&self, def: &Arc<FunctionDef>) -> Value {
        let functions = reachable(&def.body, &self.frame.functions);
        Value::Function(UserFunction { callee: Callee::Defined(def.clone()), given: vec![], functions })
    }

    /// One piece of metacode is a value of its own, several in brackets are a tuple.
    fn metacode(&self, list: bool, items: &[MetaItem]) -> Value {
        let code = |item: &MetaItem| {
            let functions = super::names::reachable_from(&item.expr, &self.frame.functions);
            Value::Code(Code { expr: item.expr.clone(), names: item.names.clone(), functions })
        };
        match items {
            [item] if !list => code(item),
            items => Value::Tuple(items.iter().map(code).collect()),
        }
    }

    /// Calls of methods, members and indexes in a row: `a.f(x)[0].g(y)`. Walked, not descended, as operators are.
    fn chain(&mut self, expr: &Expr) -> Result<Value> {
        let mut links = vec![];
        let mut first = expr;
        while let ExprKind::Method(object, ..) | ExprKind::Member(object, _) | ExprKind::Index(object, _) = &first.kind
        {
            links.push(first);
            first = object;
        }
        let path = match &first.kind {
            ExprKind::Name(name) => self.path(name, &mut links)?,
            _ => None,
        };
        let mut value = match path {
            Some(value) => value,
            None => self.eval(first)?,
        };
        while let Some(link) = links.pop() {
            value = self.link(value, link).map_err(|error| error.or_at(link.span))?;
        }
        Ok(value)
    }

    /// A name with members behind it that mean something together: `t.column` within a query on `t`, or a table by
    /// its full name where no variable has the first part's. The members it takes are taken off the links.
    fn path(&mut self, name: &str, links: &mut Vec<&Expr>) -> Result<Option<Value>> {
        if let (Some(rows), Some(ExprKind::Member(_, member))) =
            (self.frame.rows.last(), links.last().map(|link| &link.kind))
            && let Some(column) = rows.qualified(name, member)
        {
            let column = column.clone();
            links.pop();
            return Ok(Some(Value::Vector(column)));
        }
        if self.known(name).is_some() {
            return Ok(None);
        }
        let members = links.iter().rev().map_while(|link| match &link.kind {
            ExprKind::Member(_, member) => Some(&**member),
            _ => None,
        });
        let members: Vec<&str> = members.collect();
        for count in (1..=members.len().min(3)).rev() {
            let full = format!("{name}.{}", members[..count].join("."));
            if let Some(rows) = self.host.table(&full) {
                links.truncate(links.len() - count);
                return Ok(Some(Value::Table(Table::new(rows?))));
            }
        }
        Ok(None)
    }

    fn link(&mut self, value: Value, link: &Expr) -> Result<Value> {
        self.step()?;
        match &link.kind {
            ExprKind::Method(object, name, args) => self.method_call(value, object, name, args, link.span),
            ExprKind::Member(_, name) => self.member(&value, name),
            ExprKind::Index(_, indexes) => {
                if let (Value::Type(ty), []) = (&value, &indexes[..]) {
                    let array = ty.array_of().map(Value::Type);
                    return array.ok_or_else(|| Diagnostic::new(format!("no array vector of this type: type=`{ty}`")));
                }
                let mut places = Vec::with_capacity(indexes.len());
                for index in indexes {
                    places.push(index.as_ref().map(|index| self.eval(index)).transpose()?);
                }
                super::index::get(self, &value, &places)
            }
            _ => unreachable!("only links are in a chain"),
        }
    }

    /// `value.name`, not called.
    fn member(&mut self, value: &Value, name: &Arc<str>) -> Result<Value> {
        match value {
            Value::Table(_) | Value::Dict(_) => super::index::get(self, value, &[Some(Value::text(name))]),
            Value::Object(object) => match self.host.method(object, name, &Args::default()) {
                Some(result) => result,
                None => Err(Diagnostic::new(format!("no such member: object=`{}`, name=`{name}`", object.class()))),
            },
            // A function without brackets: `v.size` is `size(v)`.
            other => self.call_named(name, Args { values: vec![Some(other.clone())], ..Args::default() }),
        }
    }
}

/// What a name means in every script: a type, a constant or a function of the library.
pub(crate) fn global(name: &str) -> Option<Value> {
    let function = || crate::library::find(name).map(|function| Value::Builtin(function.name.into()));
    type_named(name).map(Value::Type).or_else(|| constant(name)).or_else(function)
}

/// A type by its name; names of types are written in capitals.
fn type_named(name: &str) -> Option<Type> {
    Type::NAMED.iter().find(|(_, known)| *known == name).map(|(ty, _)| *ty)
}

/// The names that stand for a value everywhere.
fn constant(name: &str) -> Option<Value> {
    Some(match name {
        "pi" => Value::double(std::f64::consts::PI),
        "e" => Value::double(std::f64::consts::E),
        // Words that some functions take as an argument.
        "FIRST" | "LAST" | "NONE" | "SHARED" => Value::text(name),
        // The type of a tuple's elements, which no column has.
        "ANY" => Value::Builtin("ANY".into()),
        _ => return None,
    })
}

/// The type and the ends of `a..b`, upwards or downwards, both ends included.
fn range(from: &Value, to: &Value) -> Result<(Type, i64, i64)> {
    let wrong = || Diagnostic::new(format!("a range needs two whole numbers or times: from=`{from}`, to=`{to}`"));
    let (Value::Scalar(ty, from), Value::Scalar(other, to)) = (from, to) else { return Err(wrong()) };
    let whole = |ty: Type| ty.is_integer() || ty.is_temporal();
    let ty = match crate::value::vector_type(*ty, *other) {
        Some(ty) if whole(ty) => ty,
        // `2024.01.01 + 0..5` aside, a time may start a range of so many units.
        _ => return Err(wrong()),
    };
    let (Scalar::Int(from), Scalar::Int(to)) = (from, to) else { return Err(wrong()) };
    if from.abs_diff(*to) >= ELEMENTS_MAX as u64 {
        return Err(Diagnostic::new(format!("range is too long: from=`{from}`, to=`{to}`, limit=`{ELEMENTS_MAX}`")));
    }
    Ok((ty, *from, *to))
}
