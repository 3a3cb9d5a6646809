//! Metrics of windows: what is computed per row, what is aggregated per group, and what is computed of the results.
//!
//! Invariants:
//! - All metric groups share the row part and the aggregates; equal calls are one aggregate.
//! - Aggregates live in slots; a slot is whatever the engine says, a window, a pane or a scratch.

use super::binder::{Binder, BoundAggregate, Place};
use super::plan::{Plan, Ref};
use super::{Scope, named};
use crate::diagnostic::Diagnostic;
use crate::function::{Aggregate, Argument, Picked, Result};
use crate::value::{Host, Metric, Value};
use data::{Batch, Column, Field, Schema, Type};

/// Metrics of windows, in groups: one for each window size, mostly one.
pub struct WindowProgram {
    rows: Plan,
    rows_needed: Vec<bool>,
    /// The arguments of the aggregates, in the rows' plan.
    args: Vec<Vec<Ref>>,
    states: WindowStates,
    results: Plan,
    groups: Vec<Group>,
    slots: usize,
}

/// The aggregates of a [`WindowProgram`], by slot.
pub struct WindowStates {
    aggregates: Vec<Box<dyn Aggregate>>,
}

struct Group {
    needed: Vec<bool>,
    outputs: Vec<Ref>,
    fields: Vec<Field>,
}

/// What the aggregates take from the rows of a batch: for each of them its arguments. A bare column is the batch's
/// own, not yet picked from.
pub struct RowValues {
    values: Vec<Vec<(Column, bool)>>,
}

impl WindowProgram {
    /// Binds groups of metrics; all errors at once.
    pub fn bind(groups: &[Vec<Metric>], scope: &Scope) -> Result<WindowProgram, Vec<Diagnostic>> {
        let mut binder = Binder::new(scope, Place::Window);
        let mut errors = vec![];
        let mut bound: Vec<(Vec<Ref>, Vec<Field>)> = vec![];
        for metrics in groups {
            let (mut outputs, mut fields) = (vec![], vec![]);
            for metric in metrics {
                let result = binder.metric(metric).and_then(|refs| {
                    let types: Vec<Type> = refs.iter().map(|at| binder.results.ty(*at)).collect();
                    Ok((refs, named(metric, &types)?))
                });
                match result {
                    Ok((refs, names)) => {
                        outputs.extend(refs);
                        fields.extend(names);
                    }
                    Err(error) => errors.push(error.or_at(metric.expr.span)),
                }
            }
            bound.push((outputs, fields));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(WindowProgram::of(binder, bound))
    }

    /// Binds a function to the types of its arguments, as the one group. The program takes a column for each that is
    /// not constant.
    pub(crate) fn of_function(function: &Value, args: &[Argument]) -> Result<WindowProgram> {
        let schema = Schema::new(vec![]).expect("no columns");
        let scope = Scope::of(&schema);
        let mut binder = Binder::new(&scope, Place::Window);
        let outputs = binder.function(function, args)?;
        Ok(WindowProgram::of(binder, vec![(outputs, vec![])]))
    }

    fn of(binder: Binder, bound: Vec<(Vec<Ref>, Vec<Field>)>) -> WindowProgram {
        let Binder { rows, results, aggregates, .. } = binder;
        let (aggregates, args): (Vec<_>, Vec<_>) =
            aggregates.into_iter().map(|BoundAggregate { aggregate, args }| (aggregate, args)).unzip();
        let computed = args.iter().flatten().copied().filter(|at| rows.as_input(*at).is_none());
        let rows_needed = rows.needed(computed);
        let group = |(outputs, fields): (Vec<Ref>, Vec<Field>)| {
            let needed = results.needed(outputs.iter().copied());
            Group { needed, outputs, fields }
        };
        let groups = bound.into_iter().map(group).collect();
        WindowProgram { rows, rows_needed, args, states: WindowStates { aggregates }, results, groups, slots: 0 }
    }

    /// The types of a group's results, in order.
    pub(crate) fn types(&self, group: usize) -> Vec<Type> {
        self.groups[group].outputs.iter().map(|at| self.results.ty(*at)).collect()
    }

    /// Does a slot take room for each of its rows?
    pub(crate) fn grows(&self) -> bool {
        self.states.aggregates.iter().any(|aggregate| aggregate.grows())
    }

    /// Names and types of a group's results, in order.
    pub fn fields(&self, group: usize) -> &[Field] {
        &self.groups[group].fields
    }

    /// Computes what the aggregates take from the rows that `rows` picks from a batch (`None`: all).
    pub fn rows(&mut self, batch: &Batch, rows: Option<&[u32]>, _host: &mut dyn Host) -> Result<RowValues> {
        self.values(batch.columns(), batch.rows(), rows)
    }

    /// The same of rows whose values stand in these columns, all of so many rows.
    pub(crate) fn values(&mut self, columns: &[Column], all: usize, rows: Option<&[u32]>) -> Result<RowValues> {
        let count = rows.map_or(all, <[u32]>::len);
        let input = |number: usize| match rows {
            Some(rows) => Ok(columns[number].take(rows)),
            None => Ok(columns[number].clone()),
        };
        let made = self.rows.run(&self.rows_needed, count, input, |_, _| unreachable!("no state in a window"))?;
        let plan = &self.rows;
        let value = |at: &Ref| match plan.as_input(*at) {
            Some(number) => (columns[number].clone(), true),
            None => (made[at.step][at.result].clone(), false),
        };
        Ok(RowValues { values: self.args.iter().map(|args| args.iter().map(value).collect()).collect() })
    }

    /// Makes room for slots `0..slots`; new ones are empty.
    pub fn grow(&mut self, slots: usize) {
        if slots > self.slots {
            self.slots = slots;
            self.states.aggregates.iter_mut().for_each(|aggregate| aggregate.grow(slots));
        }
    }

    /// Takes rows: picked row `i` into slot `slots[i]`, none where that is [`crate::function::NO_SLOT`]. `rows` is what
    /// it was when the values were computed.
    pub fn fold(&mut self, slots: &[u32], values: &RowValues, rows: Option<&[u32]>) -> Result<()> {
        for (aggregate, args) in self.states.aggregates.iter_mut().zip(&values.values) {
            let picked = args.iter().map(|(column, bare)| Picked { column, rows: rows.filter(|_| *bare) });
            aggregate.fold(slots, &picked.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Adds all that one slot has taken to another, as if its rows had come after the other's.
    pub fn merge(&mut self, into: u32, from: u32) {
        self.states.aggregates.iter_mut().for_each(|aggregate| aggregate.merge(into, from));
    }

    /// A group's results of these slots, in this order.
    pub fn emit(&mut self, group: usize, slots: &[u32]) -> Result<Vec<Column>> {
        let Group { needed, outputs, .. } = &self.groups[group];
        let aggregates = &self.states.aggregates;
        let input = |number: usize| aggregates[number].emit(slots);
        let made = self.results.run(needed, slots.len(), input, |_, _| unreachable!("no state in a window"))?;
        Ok(outputs.iter().map(|at| made[at.step][at.result].clone()).collect())
    }

    /// Makes these slots empty.
    pub fn reset(&mut self, slots: &[u32]) {
        self.states.aggregates.iter_mut().for_each(|aggregate| aggregate.reset(slots));
    }

    /// A picture of the aggregates now, to be encoded elsewhere.
    pub fn snapshot(&mut self) -> WindowStates {
        WindowStates { aggregates: self.states.aggregates.iter_mut().map(|aggregate| aggregate.snapshot()).collect() }
    }

    /// One slot as bytes.
    pub fn encode(&self, slot: u32, bytes: &mut Vec<u8>) {
        self.states.encode(slot, bytes);
    }

    /// One slot from the bytes of `encode`, which are cut off.
    pub fn decode(&mut self, slot: u32, bytes: &mut &[u8]) -> Result<()> {
        self.grow(slot as usize + 1);
        self.states.aggregates.iter_mut().try_for_each(|aggregate| aggregate.decode(slot, bytes))
    }
}

impl WindowStates {
    /// One slot as bytes.
    pub fn encode(&self, slot: u32, bytes: &mut Vec<u8>) {
        self.aggregates.iter().for_each(|aggregate| aggregate.encode(slot, bytes));
    }
}
