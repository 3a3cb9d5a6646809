//! Plans: expressions as a list of steps, each after those it needs, equal ones unified.

use crate::function::{BoundRow, Result};
use crate::value::{Callee, UserFunction, Value};
use data::{Column, Scalar, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// One result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ref {
    pub step: usize,
    pub result: usize,
}

/// How a step gets its columns.
pub(super) enum Step {
    /// An input of the plan, by number.
    Input(usize),
    /// The same value in each row; what was made of it so far.
    Constant(Type, Scalar, Option<Column>),
    /// A row function.
    Row(BoundRow, Vec<Ref>),
    /// A function with a state, by number.
    State(usize, Vec<Ref>),
}

/// The steps of some expressions over one set of inputs.
#[derive(Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
    types: Vec<Vec<Type>>,
    known: HashMap<String, usize>,
}

impl Plan {
    /// The step of this key, made if there is none: steps of one key have the same function and arguments.
    pub fn step(&mut self, key: String, make: impl FnOnce() -> Result<(Step, Vec<Type>)>) -> Result<usize> {
        if let Some(step) = self.known.get(&key) {
            return Ok(*step);
        }
        let (step, types) = make()?;
        self.steps.push(step);
        self.types.push(types);
        self.known.insert(key, self.steps.len() - 1);
        Ok(self.steps.len() - 1)
    }

    /// An input.
    pub fn input(&mut self, number: usize, ty: Type) -> Ref {
        let step = self.step(format!("input {number}"), || Ok((Step::Input(number), vec![ty])));
        Ref { step: step.expect("an input cannot fail"), result: 0 }
    }

    /// The same value in each row; a vector becomes an array in each row. `None` for what no column can hold.
    pub fn constant(&mut self, value: &Value) -> Option<Ref> {
        let (ty, scalar) = match value {
            Value::Scalar(ty, scalar) => (*ty, scalar.clone()),
            Value::Vector(column) => (column.ty().array_of()?, Scalar::List(Arc::new(column.clone()))),
            _ => return None,
        };
        let step = self.step(key_of(value)?, || Ok((Step::Constant(ty, scalar, None), vec![ty])));
        Some(Ref { step: step.expect("a constant cannot fail"), result: 0 })
    }

    /// The type of a result.
    pub fn ty(&self, at: Ref) -> Type {
        self.types[at.step][at.result]
    }

    /// How many results a step has.
    pub fn results(&self, step: usize) -> usize {
        self.types[step].len()
    }

    /// The number of the input that a result is, if it is one.
    pub fn as_input(&self, at: Ref) -> Option<usize> {
        match self.steps[at.step] {
            Step::Input(number) => Some(number),
            _ => None,
        }
    }

    /// Which steps are needed for these results.
    pub fn needed(&self, roots: impl IntoIterator<Item = Ref>) -> Vec<bool> {
        let mut needed = vec![false; self.steps.len()];
        let mut open: Vec<usize> = roots.into_iter().map(|root| root.step).collect();
        while let Some(step) = open.pop() {
            if !std::mem::replace(&mut needed[step], true)
                && let Step::Row(_, args) | Step::State(_, args) = &self.steps[step]
            {
                open.extend(args.iter().map(|arg| arg.step));
            }
        }
        needed
    }

    /// The columns of the needed steps, by step and result.
    pub fn run(
        &mut self,
        needed: &[bool],
        rows: usize,
        mut input: impl FnMut(usize) -> Result<Column>,
        mut state: impl FnMut(usize, &[Column]) -> Result<Vec<Column>>,
    ) -> Result<Vec<Vec<Column>>> {
        let mut made: Vec<Vec<Column>> = Vec::with_capacity(self.steps.len());
        let columns = |args: &[Ref], made: &[Vec<Column>]| -> Vec<Column> {
            args.iter().map(|arg| made[arg.step][arg.result].clone()).collect()
        };
        for (step, needed) in self.steps.iter_mut().zip(needed) {
            made.push(match step {
                _ if !needed => vec![],
                Step::Input(number) => vec![input(*number)?],
                Step::Constant(ty, value, made) => vec![repeated(*ty, value, made, rows)],
                Step::Row(function, args) => vec![(function.kernel)(&columns(args, &made))?],
                Step::State(number, args) => state(*number, &columns(args, &made))?,
            });
        }
        Ok(made)
    }
}

/// A constant as a column: a piece of the longest one made so far.
fn repeated(ty: Type, value: &Scalar, made: &mut Option<Column>, rows: usize) -> Column {
    match made {
        Some(column) if column.len() >= rows => column.slice(0, rows),
        _ => made.insert(Column::repeat(ty, value, rows.next_power_of_two())).slice(0, rows),
    }
}

/// A text that is the same for equal constants alone; `None` for values that are not compared.
pub(super) fn key_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Scalar(ty, scalar) => format!("{ty} {}", scalar_key(scalar)),
        Value::Duration(count, unit) => format!("duration {count}{unit}"),
        Value::Vector(column) => {
            let values: Vec<String> = (0..column.len()).map(|row| scalar_key(&column.get(row))).collect();
            format!("{}[{}]", column.ty(), values.join(" "))
        }
        Value::Tuple(values) => {
            let keys: Option<Vec<String>> = values.iter().map(key_of).collect();
            format!("({})", keys?.join(" "))
        }
        Value::Pair(low, high) => format!("{}:{}", key_of(low)?, key_of(high)?),
        Value::Type(ty) => format!("type {ty}"),
        Value::Builtin(name) => format!("function {name}"),
        Value::Function(UserFunction { callee: Callee::Builtin(name), given, .. }) => {
            let given: Option<Vec<String>> =
                given.iter().map(|value| value.as_ref().map_or(Some(String::new()), key_of)).collect();
            format!("function {name}{{{}}}", given?.join(", "))
        }
        _ => return None,
    })
}

fn scalar_key(scalar: &Scalar) -> String {
    match scalar {
        // 0.0 and -0.0 differ, as do the kinds of NaN.
        Scalar::Float(value) => format!("f{:x}", value.to_bits()),
        Scalar::List(column) => {
            let values: Vec<String> = (0..column.len()).map(|row| scalar_key(&column.get(row))).collect();
            format!("{}[{}]", column.ty(), values.join(" "))
        }
        other => format!("{other:?}"),
    }
}
