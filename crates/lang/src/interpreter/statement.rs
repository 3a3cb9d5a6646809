//! Statements: assignment, control flow and what changes the session.

use super::Interpreter;
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::tree::{Binary, Expr, ExprKind, Statement, StatementKind};
use crate::value::Value;
use data::Scalar;
use std::sync::Arc;

/// Where to go after a statement.
pub(super) enum Flow {
    /// On; the value is that of an expression, else NULL.
    Next(Value),
    Break,
    Continue,
    Return(Value),
}

impl Interpreter<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Result<Flow> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::Next(_) => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next(Value::NULL))
    }

    pub(super) fn statement(&mut self, statement: &Statement) -> Result<Flow> {
        let pending = self.limits.pending;
        let flow = self.deeper(|this| this.statement_kind(statement)).map_err(|error| error.or_at(statement.span));
        self.limits.pending = pending;
        flow
    }

    fn statement_kind(&mut self, statement: &Statement) -> Result<Flow> {
        use StatementKind as S;
        match &statement.kind {
            S::Expr(expr) => return Ok(Flow::Next(self.eval(expr)?)),
            S::Assign(targets, operator, value) => self.assignment(targets, *operator, value)?,
            S::Def(def) => {
                let functions = Arc::make_mut(&mut self.frame.functions);
                functions.retain(|known| known.name != def.name);
                functions.push(def.clone());
            }
            S::Return(None) => return Ok(Flow::Return(Value::NULL)),
            S::Return(Some(value)) => return Ok(Flow::Return(self.eval(value)?)),
            S::If(condition, yes, no) => {
                let branch = if self.condition(condition)? { yes } else { no };
                return self.statements(branch);
            }
            S::For(name, values, body) => return self.for_each(name, values, body),
            S::While(condition, body) => {
                while self.condition(condition)? {
                    match self.statements(body)? {
                        Flow::Break => break,
                        flow @ Flow::Return(_) => return Ok(flow),
                        _ => {}
                    }
                }
            }
            S::DoWhile(body, condition) => loop {
                match self.statements(body)? {
                    Flow::Break => break,
                    flow @ Flow::Return(_) => return Ok(flow),
                    _ => {}
                }
                if !self.condition(condition)? {
                    break;
                }
            },
            S::Break => return Ok(Flow::Break),
            S::Continue => return Ok(Flow::Continue),
            S::Try(body, name, handler) => {
                let depth = self.depth;
                return match self.statements(body) {
                    Err(error) if !self.exhausted() => {
                        self.depth = depth;
                        self.frame.variables.insert(name.clone(), Value::text(&error.message));
                        self.statements(handler)
                    }
                    result => result,
                };
            }
            S::Throw(value) => {
                let value = self.eval(value)?;
                return Err(Diagnostic::new(value.as_text().map_or_else(|| value.to_string(), str::to_string)));
            }
            S::Assert(condition) => {
                if !self.condition(condition)? {
                    return Err(Diagnostic::at(condition.span, format!("assertion failed: condition=`{condition}`")));
                }
            }
            // The script is parsed as a whole, and nothing in the syntax depends on what has been run.
            S::Go => {}
            S::UseCatalog(name) => {
                let name = self.eval(name)?;
                self.host.use_catalog(name.as_text().unwrap_or_default())?;
            }
            S::Module(_) => {}
            S::UseModule(path) => self.use_module(path)?,
            S::Timer(count, body) => return self.timer(count.as_ref(), body),
            S::Share(table, name) => {
                let table = self.eval(table)?;
                self.frame.variables.insert(name.clone(), table);
            }
            S::Insert(table, columns, values) => self.insert(table, columns, values)?,
            S::Update(update) => self.update(update)?,
            S::Delete(table, filter) => self.delete(table, filter)?,
        }
        Ok(Flow::Next(Value::NULL))
    }

    /// Runs statements so many times and prints how long they took, where there is a clock.
    fn timer(&mut self, count: Option<&Expr>, body: &[Statement]) -> Result<Flow> {
        let times = match count {
            Some(count) => {
                let value = self.eval(count)?;
                value.as_i64().filter(|times| *times >= 0).ok_or_else(|| {
                    Diagnostic::at(count.span, format!("a whole number from 0 on is wanted: timer=`{value}`"))
                })?
            }
            None => 1,
        };
        let start = self.host.now();
        for _ in 0..times {
            self.step()?;
            match self.statements(body)? {
                Flow::Next(_) => {}
                flow => return Ok(flow),
            }
        }
        if let (Some(start), Some(end)) = (start, self.host.now()) {
            self.host.print(&format!("Time elapsed: {} ms", end.saturating_sub(start) as f64 / 1e6));
        }
        Ok(Flow::Next(Value::NULL))
    }

    fn condition(&mut self, condition: &Expr) -> Result<bool> {
        let value = self.eval(condition)?;
        match &value {
            Value::Scalar(_, Scalar::Null) => Ok(false),
            value => value.as_bool().ok_or_else(|| {
                Diagnostic::at(condition.span, format!("a condition must be one truth value: found=`{}`", value.kind()))
            }),
        }
    }

    fn for_each(&mut self, name: &Arc<str>, values: &Expr, body: &[Statement]) -> Result<Flow> {
        let values = self.eval(values)?;
        for place in 0..turns(&values)? {
            self.step()?;
            // The body may have taken entries away.
            let Some(value) = turn(&values, place)? else { break };
            self.frame.variables.insert(name.clone(), value);
            match self.statements(body)? {
                Flow::Break => break,
                flow @ Flow::Return(_) => return Ok(flow),
                _ => {}
            }
        }
        Ok(Flow::Next(Value::NULL))
    }

    fn assignment(&mut self, targets: &[Expr], operator: Option<Binary>, value: &Expr) -> Result<()> {
        let value_span = value.span;
        let value = self.eval(value)?;
        if let [target] = targets {
            let value = match operator {
                Some(operator) => {
                    let before = self.eval(target)?;
                    self.binary(operator, before, value, target.span.to(value_span))?
                }
                None => value,
            };
            return self.assign(target, value);
        }
        let count = super::index::length(&value);
        if count != Some(targets.len()) {
            let found = count.map_or_else(|| value.kind().to_string(), |count| count.to_string());
            let message = format!("not as many values as names: names=`{}`, values=`{found}`", targets.len());
            return Err(Diagnostic::at(value_span, message));
        }
        for (place, target) in targets.iter().enumerate() {
            self.assign(target, super::index::element(&value, place)?)?;
        }
        Ok(())
    }

    /// Puts a value where an expression points: a variable, an element, a column.
    pub(super) fn assign(&mut self, target: &Expr, value: Value) -> Result<()> {
        match &target.kind {
            ExprKind::Name(name) => {
                self.frame.variables.insert(name.clone(), value);
                Ok(())
            }
            ExprKind::Member(object, name) => self.assign_within(object, &[Some(Value::text(name))], value),
            ExprKind::Index(object, indexes) => {
                let mut places = Vec::with_capacity(indexes.len());
                for index in indexes {
                    places.push(index.as_ref().map(|index| self.eval(index)).transpose()?);
                }
                self.assign_within(object, &places, value)
            }
            _ => Err(Diagnostic::at(target.span, "nothing can be assigned to this expression")),
        }
        .map_err(|error| error.or_at(target.span))
    }

    fn assign_within(&mut self, object: &Expr, places: &[Option<Value>], value: Value) -> Result<()> {
        let container = self.eval(object)?;
        match super::index::set(self, container, places, value)? {
            // A vector or tuple is a value: the changed one takes the place of the old one.
            Some(changed) => self.assign(object, changed),
            None => Ok(()),
        }
    }
}

/// How many turns a `for` through a value takes.
pub(crate) fn turns(values: &Value) -> Result<usize> {
    let wrong = || Diagnostic::new(format!("cannot go through this in `for`: found=`{}`", values.kind()));
    Ok(match values {
        Value::Pair(from, to) => {
            let (from, to) = (from.as_i64().ok_or_else(wrong)?, to.as_i64().ok_or_else(wrong)?);
            usize::try_from(to.saturating_sub(from)).unwrap_or(0)
        }
        Value::Scalar(..) => 1,
        values => super::index::length(values).ok_or_else(wrong)?,
    })
}

/// The value of a turn of a `for`; `None` if there is none any more.
pub(crate) fn turn(values: &Value, place: usize) -> Result<Option<Value>> {
    Ok(Some(match values {
        Value::Pair(from, _) => {
            let value = from.as_i64().expect("a pair that has turns is of whole numbers") + place as i64;
            match i32::try_from(value) {
                Ok(value) => Value::int(value),
                Err(_) => Value::long(value),
            }
        }
        Value::Dict(dict) => {
            let dict = dict.lock();
            let Some((key, _)) = dict.entries.get(place) else { return Ok(None) };
            Value::Scalar(dict.key_type(), key.clone())
        }
        Value::Scalar(..) => values.clone(),
        values => super::index::element(values, place)?,
    }))
}
