//! Programs: metacode bound to the columns of a stream, so that an engine meets no name, no type and no tree.
//!
//! Invariants:
//! - A program is checked when it is bound; what fails later is data, such as a dictionary that is full.
//! - Equal expressions are computed once and have one state.

mod binder;
mod by_key;
mod plan;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use binder::{NoHost, Place};
pub use window::{RowValues, WindowProgram, WindowStates};

use crate::diagnostic::Diagnostic;
use crate::function::{Argument, Result, State};
use crate::value::{Host, Metric, Value};
use binder::Binder;
use by_key::ByKey;
use data::arrow::buffer::BooleanBuffer;
use data::{Batch, Column, Field, Schema, Type};
use plan::{Plan, Ref};
use std::borrow::Cow;
use std::sync::Arc;

/// What metrics may refer to.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The columns of the rows.
    pub schema: &'a Schema,
    /// Names that may stand before a column, as in `trades.price`.
    pub prefixes: &'a [&'a str],
}

impl<'a> Scope<'a> {
    /// The columns of one input.
    pub fn of(schema: &'a Schema) -> Scope<'a> {
        Scope { schema, prefixes: &[] }
    }
}

/// Metrics with one value for each row, which may depend on the rows of its key before it.
pub struct Program {
    plan: Plan,
    needed: Vec<bool>,
    states: ProgramStates,
    outputs: Vec<Ref>,
    fields: Vec<Field>,
}

/// The states of a [`Program`], by key.
pub struct ProgramStates {
    states: Vec<Box<dyn State>>,
}

impl Program {
    /// Binds metrics; all errors at once.
    pub fn bind(metrics: &[Metric], scope: &Scope) -> Result<Program, Vec<Diagnostic>> {
        Program::bind_at(metrics, scope, Place::Reactive)
    }

    fn bind_at(metrics: &[Metric], scope: &Scope, place: Place) -> Result<Program, Vec<Diagnostic>> {
        let mut binder = Binder::new(scope, place);
        let (mut outputs, mut fields, mut errors) = (vec![], vec![], vec![]);
        for metric in metrics {
            let bound = binder.metric(metric).and_then(|refs| {
                let types: Vec<Type> = refs.iter().map(|at| binder.rows.ty(*at)).collect();
                Ok((refs, named(metric, &types)?))
            });
            match bound {
                Ok((refs, names)) => {
                    outputs.extend(refs);
                    fields.extend(names);
                }
                Err(error) => errors.push(error.or_at(metric.expr.span)),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Program::of(binder, outputs, fields))
    }

    fn of(binder: Binder, outputs: Vec<Ref>, fields: Vec<Field>) -> Program {
        let Binder { rows: plan, states, .. } = binder;
        let needed = plan.needed(outputs.iter().copied());
        Program { plan, needed, states: ProgramStates { states }, outputs, fields }
    }

    /// Binds a function to the types of its arguments. The program takes a column for each that is not constant.
    pub(crate) fn of_function(function: &Value, args: &[Argument], place: Place) -> Result<Program> {
        let schema = Schema::new(vec![]).expect("no columns");
        let scope = Scope::of(&schema);
        let mut binder = Binder::new(&scope, place);
        let outputs = binder.function(function, args)?;
        Ok(Program::of(binder, outputs, vec![]))
    }

    /// The types of the results, in order.
    pub(crate) fn types(&self) -> Vec<Type> {
        self.outputs.iter().map(|at| self.plan.ty(*at)).collect()
    }

    /// Names and types of the results, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The results of the rows that `rows` picks from a batch (`None`: all), in columns of their own. Row `i` of them
    /// belongs to the key `keys[i]`.
    pub fn run(
        &mut self,
        batch: &Batch,
        rows: Option<&[u32]>,
        keys: &[u32],
        _host: &mut dyn Host,
    ) -> Result<Vec<Column>> {
        let count = rows.map_or(batch.rows(), <[u32]>::len);
        assert_eq!(count, keys.len(), "a key for each row");
        let states = &mut self.states.states;
        let by_key = if states.iter().any(|state| state.keeps_rows()) { ByKey::of(keys) } else { None };
        let (mut rows, mut keys) = (rows.map(Cow::Borrowed), keys);
        if let Some(by_key) = &by_key {
            rows = Some(match rows {
                Some(rows) => by_key.rows.iter().map(|row| rows[*row as usize]).collect(),
                None => Cow::Borrowed(&by_key.rows),
            });
            keys = &by_key.keys;
        }
        let input = |number: usize| match &rows {
            Some(rows) => batch.column(number).take(rows),
            None => batch.column(number).clone(),
        };
        let results = self.results(keys, input)?;
        Ok(match &by_key {
            Some(by_key) => results.iter().map(|column| column.take(&by_key.places)).collect(),
            None => results,
        })
    }

    /// The results of rows whose values stand in these columns.
    pub(crate) fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        self.results(keys, |number| args[number].clone())
    }

    fn results(&mut self, keys: &[u32], mut input: impl FnMut(usize) -> Column) -> Result<Vec<Column>> {
        let states = &mut self.states.states;
        let input = |number: usize| Ok(input(number));
        let made = self.plan.run(&self.needed, keys.len(), input, |number, args| states[number].push(keys, args))?;
        Ok(self.outputs.iter().map(|at| made[at.step][at.result].clone()).collect())
    }

    /// Forgets these keys.
    pub fn reset(&mut self, keys: &[u32]) {
        self.states.states.iter_mut().for_each(|state| state.reset(keys));
    }

    /// A picture of the states now, to be encoded elsewhere.
    pub fn snapshot(&mut self) -> ProgramStates {
        ProgramStates { states: self.states.states.iter_mut().map(|state| state.snapshot()).collect() }
    }

    /// The states of one key as bytes.
    pub fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        self.states.encode(key, bytes);
    }

    /// The states of one key from the bytes of `encode`, which are cut off.
    pub fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.states.states.iter_mut().try_for_each(|state| state.decode(key, bytes))
    }
}

impl ProgramStates {
    /// The states of one key as bytes.
    pub fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        self.states.iter().for_each(|state| state.encode(key, bytes));
    }
}

/// Metrics, or a filter, of rows that each stand alone.
pub struct RowProgram(Program);

impl RowProgram {
    /// Binds metrics; all errors at once.
    pub fn bind(metrics: &[Metric], scope: &Scope) -> Result<RowProgram, Vec<Diagnostic>> {
        Program::bind_at(metrics, scope, Place::Row).map(RowProgram)
    }

    /// Names and types of the results, in order.
    pub fn fields(&self) -> &[Field] {
        self.0.fields()
    }

    /// The results of the rows that `rows` picks from a batch (`None`: all).
    pub fn run(&mut self, batch: &Batch, rows: Option<&[u32]>, host: &mut dyn Host) -> Result<Vec<Column>> {
        let count = rows.map_or(batch.rows(), <[u32]>::len);
        self.0.run(batch, rows, &vec![0; count], host)
    }

    /// The picked rows for which every result is true, as places in the batch.
    pub fn pick(&mut self, batch: &Batch, rows: Option<&[u32]>, host: &mut dyn Host) -> Result<Vec<u32>> {
        let results = self.run(batch, rows, host)?;
        let truths: Vec<BooleanBuffer> = results.iter().map(crate::library::truths).collect::<Result<_>>()?;
        let passes =
            |row: usize| results.iter().zip(&truths).all(|(column, bits)| bits.value(row) && !column.is_null(row));
        let count = rows.map_or(batch.rows(), <[u32]>::len);
        Ok((0..count).filter(|row| passes(*row)).map(|row| rows.map_or(row as u32, |rows| rows[row])).collect())
    }
}

/// The fields of a metric's results: by its names, else by its expression.
fn named(metric: &Metric, types: &[Type]) -> Result<Vec<Field>> {
    let names: Vec<Arc<str>> = match (metric.names.len(), types.len()) {
        (names, results) if names == results => metric.names.clone(),
        (0, 1) => vec![crate::column_name(&metric.expr).into()],
        (0, results) => {
            let name = crate::column_name(&metric.expr);
            (0..results).map(|result| format!("{name}_{result}").into()).collect()
        }
        (names, results) => {
            let counts = format!("names=`{names}`, results=`{results}`");
            return Err(Diagnostic::new(format!("as many names as results are wanted: {counts}")));
        }
    };
    Ok(names.into_iter().zip(types).map(|(name, ty)| Field::new(name, *ty)).collect())
}
