//! The body of a user function in a metric: gone through when the metric is bound, so that an engine runs no statement.

use super::{Binder, Bound, BoundAggregate, DEPTH_MAX, Given, Level, Place, of_function};
use crate::diagnostic::{Diagnostic, Span};
use crate::function::{Argument, Result};
use crate::interpreter::{turn, turns};
use crate::library;
use crate::program::Scope;
use crate::program::plan::{Ref, Step};
use crate::tree::{Binary, Expr, ExprKind, FunctionDef, FunctionKind, Statement, StatementKind};
use crate::value::{Callee, Value};
use data::Schema;
use std::collections::HashMap;
use std::sync::Arc;

/// How many turns a loop may have: DolphinDB's limit.
const TURNS_MAX: usize = 100;
/// How many statements a function may come to, loops laid out.
const ITEMS_MAX: usize = 10_000;

/// What is to be done in a body.
#[derive(Clone)]
enum Item<'a> {
    /// A statement.
    Statement(&'a Statement),
    /// A turn of a loop begins, with this value of its variable.
    Turn(&'a Arc<str>, Value),
    /// A turn of a loop ends.
    EndOfTurn,
    /// A loop ends.
    EndOfLoop,
}

impl Binder<'_> {
    /// The body of a user function with the arguments in the place of its parameters.
    pub(super) fn inline(&mut self, def: &Arc<FunctionDef>, values: Given, span: Span) -> Result<Bound> {
        let name = &def.name;
        if def.kind == FunctionKind::Aggregate {
            if self.place != Place::Window {
                let error = format!("user aggregate functions are not supported here: function=`{name}`");
                return Err(Diagnostic::new(error).help("put it over a window, for instance with moving(…)"));
            }
            if let Some(kept) = self.kept(def, &values)? {
                return Ok(kept);
            }
        }
        if self.frames.len() >= DEPTH_MAX {
            return Err(Diagnostic::new(format!("a function that calls itself has no place here: function=`{name}`")));
        }
        let count = values.len();
        let mut frame: HashMap<Arc<str>, Bound> = HashMap::new();
        let mut places = def.parameters.iter();
        for (given, value) in values {
            let parameter = match &given {
                Some(given) => def.parameters.iter().find(|parameter| parameter.name == *given),
                None => places.next(),
            };
            let expected = def.parameters.len();
            let parameter = parameter.ok_or_else(|| {
                Diagnostic::new(format!("{name} expects {expected} arguments: found=`{count}`")).or_at(span)
            })?;
            if let Some(value) = value {
                frame.insert(parameter.name.clone(), value);
            }
        }
        for parameter in &def.parameters {
            if frame.contains_key(&parameter.name) {
                continue;
            }
            let lacks = || Diagnostic::at(span, format!("{name} lacks an argument: parameter=`{}`", parameter.name));
            let value = self.expr(parameter.default.as_ref().ok_or_else(lacks)?)?;
            frame.insert(parameter.name.clone(), value);
        }
        self.frames.push(frame);
        let result = self.block(def, backwards(&def.body).collect(), &mut 0);
        self.frames.pop();
        result?.ok_or_else(|| Diagnostic::at(def.span, format!("a function without a value: function=`{name}`")))
    }

    /// A user aggregate over rows that cannot be put together from those of the library: its rows are kept and it is
    /// called with them. `None` if it can.
    fn kept(&mut self, def: &Arc<FunctionDef>, values: &Given) -> Result<Option<Bound>> {
        let (mut arguments, mut refs) = (vec![], vec![]);
        for (name, value) in values {
            match value {
                Some(Bound::Constant(value)) if name.is_none() => arguments.push(Argument::constant(value.clone())),
                Some(Bound::Values(Level::Rows, at)) if name.is_none() && at.len() == 1 => {
                    arguments.push(Argument::of(self.rows.ty(at[0])));
                    refs.push(at[0]);
                }
                _ => return Ok(None),
            }
        }
        if self.trial || refs.is_empty() {
            return Ok(None);
        }
        let function = self.function_value(Callee::Defined(def.clone()), vec![]);
        let schema = Schema::new(vec![]).expect("no columns");
        let scope = Scope::of(&schema);
        let mut trial = Binder { trial: true, ..Binder::new(&scope, Place::Window) };
        if trial.function(&function, &arguments).is_ok() {
            return Ok(None);
        }
        self.unlike += 1;
        let aggregates = &mut self.aggregates;
        let step = self.results.step(format!("kept {}", self.unlike), || {
            let aggregate = library::kept_rows(&function, &arguments).map_err(|error| of_function(&def.name, error))?;
            let ty = aggregate.ty();
            aggregates.push(BoundAggregate { aggregate, args: refs });
            Ok((Step::Input(aggregates.len() - 1), vec![ty]))
        })?;
        Ok(Some(Bound::Values(Level::Results, vec![Ref { step, result: 0 }])))
    }

    /// Does what is to be done, the last item first, up to a return; `None` if there is none. Loops are laid out turn after
    /// turn, and what follows an `if` belongs to both of its branches. `done` counts what has been done.
    fn block(&mut self, def: &FunctionDef, mut todo: Vec<Item>, done: &mut usize) -> Result<Option<Bound>> {
        while let Some(item) = todo.pop() {
            *done += 1;
            if *done > ITEMS_MAX {
                let error = format!("too many statements in a function of a metric: function=`{}`", def.name);
                return Err(Diagnostic::new(error).help("loops are laid out turn after turn, behind each branch anew"));
            }
            let statement = match item {
                Item::Statement(statement) => statement,
                Item::Turn(name, value) => {
                    let frame = self.frames.last_mut().expect("inside a function");
                    frame.insert(name.clone(), Bound::Constant(value));
                    continue;
                }
                Item::EndOfTurn | Item::EndOfLoop => continue,
            };
            let at = |error: Diagnostic| error.or_at(statement.span);
            let in_loop = todo.iter().any(|item| matches!(item, Item::EndOfLoop));
            match &statement.kind {
                StatementKind::Return(Some(value)) => return Ok(Some(self.expr(value)?)),
                StatementKind::Expr(value) if todo.is_empty() => return Ok(Some(self.expr(value)?)),
                StatementKind::Assign(targets, operator, value) => {
                    self.assign(def, targets, *operator, value, in_loop).map_err(at)?;
                }
                StatementKind::For(name, values, body) => {
                    let turns = turns_of(&self.fixed(values)?).map_err(|error| error.or_at(values.span))?;
                    todo.push(Item::EndOfLoop);
                    for value in turns.into_iter().rev() {
                        todo.push(Item::EndOfTurn);
                        todo.extend(backwards(body));
                        todo.push(Item::Turn(name, value));
                    }
                }
                StatementKind::Continue if in_loop => while !matches!(todo.pop(), None | Some(Item::EndOfTurn)) {},
                StatementKind::Break if in_loop => while !matches!(todo.pop(), None | Some(Item::EndOfLoop)) {},
                StatementKind::If(condition, yes, no) => {
                    let condition = self.expr(condition)?;
                    if let Bound::Constant(Value::Scalar(_, value)) = &condition {
                        todo.extend(backwards(if value.as_i64().unwrap_or(0) != 0 { yes } else { no }));
                        continue;
                    }
                    let branch = |body| todo.iter().cloned().chain(backwards(body)).collect();
                    let frame = self.frames.last().expect("inside a function").clone();
                    let yes = self.block(def, branch(yes), done)?;
                    *self.frames.last_mut().expect("inside a function") = frame;
                    let no = self.block(def, branch(no), done)?;
                    let (Some(yes), Some(no)) = (yes, no) else {
                        let error = format!("a branch without a value: function=`{}`", def.name);
                        return Err(at(Diagnostic::new(error)));
                    };
                    return Ok(Some(self.choose(condition, yes, no).map_err(at)?));
                }
                _ => {
                    let error = "only assignments, if, for and return are supported in a function of a metric";
                    return Err(at(Diagnostic::new(format!("{error}: function=`{}`", def.name))));
                }
            }
        }
        Ok(None)
    }

    /// `iif` of each of several results.
    fn choose(&mut self, condition: Bound, yes: Bound, no: Bound) -> Result<Bound> {
        let parts = |bound: Bound| match bound {
            Bound::Values(level, refs) => refs.into_iter().map(|at| Bound::Values(level, vec![at])).collect(),
            constant => vec![constant],
        };
        let (yes, no): (Vec<Bound>, Vec<Bound>) = (parts(yes), parts(no));
        if yes.len() != no.len() {
            return Err(Diagnostic::new("branches with different numbers of values"));
        }
        // A condition that is NULL is not met.
        let fill = library::find("nullFill").expect("a function of the library");
        let unmet = Bound::Constant(Value::bool(false));
        let condition = self.apply(fill, vec![Some(condition), Some(unmet)], vec![])?;
        let iif = library::find("iif").expect("a function of the library");
        let mut chosen = vec![];
        let mut level = Level::Rows;
        for (yes, no) in yes.into_iter().zip(no) {
            match self.apply(iif, vec![Some(condition.clone()), Some(yes), Some(no)], vec![])? {
                Bound::Values(of, refs) => {
                    level = of;
                    chosen.extend(refs);
                }
                Bound::Constant(_) => unreachable!("the condition is not constant"),
            }
        }
        Ok(Bound::Values(level, chosen))
    }

    fn assign(
        &mut self,
        def: &FunctionDef,
        targets: &[Expr],
        operator: Option<Binary>,
        value: &Expr,
        in_loop: bool,
    ) -> Result<()> {
        let mut names = vec![];
        for target in targets {
            let ExprKind::Name(name) = &target.kind else {
                return Err(Diagnostic::at(target.span, "only variables can be assigned in a function of a metric"));
            };
            // In a loop a variable may go on from turn to turn.
            if !in_loop && (operator.is_some() || mentions(value, name)) {
                let error = "an assignment in a function of a metric cannot refer to itself";
                let error = format!("{error}: function=`{}`, variable=`{name}`", def.name);
                return Err(Diagnostic::at(target.span, error).help("assign to a variable of another name"));
            }
            names.push(name.clone());
        }
        let value = match (operator, targets) {
            (None, _) => self.expr(value)?,
            (Some(operator), [target]) => self.operator(operator.function(), &[target, value])?,
            (Some(_), _) => return Err(Diagnostic::new("one variable is wanted before such an assignment")),
        };
        let values = match (names.len(), value) {
            (1, value) => vec![value],
            (count, Bound::Values(level, refs)) if refs.len() == count => {
                refs.into_iter().map(|at| Bound::Values(level, vec![at])).collect()
            }
            (count, Bound::Constant(Value::Tuple(values))) if values.len() == count => {
                values.into_iter().map(Bound::Constant).collect()
            }
            (count, _) => {
                return Err(Diagnostic::new(format!("as many values as variables are wanted: variables=`{count}`")));
            }
        };
        self.frames.last_mut().expect("inside a function").extend(names.into_iter().zip(values));
        Ok(())
    }
}

/// Statements as items, the last one first.
fn backwards(body: &[Statement]) -> impl Iterator<Item = Item<'_>> {
    body.iter().rev().map(Item::Statement)
}

/// The values that a loop goes through.
fn turns_of(values: &Value) -> Result<Vec<Value>> {
    let count = turns(values)?;
    if count >= TURNS_MAX {
        let error = "a loop of a function in a metric has too many turns";
        return Err(Diagnostic::new(format!("{error}: turns=`{count}`, limit=`{}`", TURNS_MAX - 1)));
    }
    let values = (0..count).map(|place| turn(values, place));
    Ok(values.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Does an expression use a variable?
fn mentions(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(other) if &**other == name)
        || expr.children().into_iter().any(|part| mentions(part, name))
}
