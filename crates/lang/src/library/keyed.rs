//! What all functions with a state by key share: the state of each key in a paged vector, and one loop over the rows.

use super::item::{Input, Item, Reading, Vocabulary, Wire};
use super::output::{Gather, Output};
use crate::diagnostic::Diagnostic;
use crate::function::{Result, State};
use data::{Column, Paged, Type};
use std::ops::Range;

/// A function of a row and the state of its key.
pub(super) trait Step: Clone + Send + Sync + 'static {
    /// What it takes from a row.
    type In: Input;
    /// The state of one key; its default is that of a key not seen before.
    type Key: Clone + Default + Wire + Send + Sync + 'static;
    /// What it gives.
    type Out: Item;
    /// Takes a row and gives its value.
    fn step(&self, key: &mut Self::Key, value: Option<Self::In>) -> Option<Self::Out>;
    /// Takes rows that follow one another and adds their values: what `step` gives for each, perhaps faster.
    #[inline(always)]
    fn steps(
        &self,
        key: &mut Self::Key,
        rows: Range<usize>,
        value: &impl Fn(usize) -> Option<Self::In>,
        out: &mut Output<Self::Out>,
    ) {
        out.extend(rows, |row| self.step(key, value(row)));
    }
}

/// A function of a row and the state of its key, whose results are gathered in a way of its own; a [`Step`] gives one
/// value for each row.
pub(super) trait Gives: Clone + Send + Sync + 'static {
    /// What it takes from a row.
    type In: Input;
    /// The state of one key; its default is that of a key not seen before.
    type Key: Clone + Default + Wire + Send + Sync + 'static;
    /// What its results are gathered in.
    type Out: Gather;
    /// Takes a row and adds its result.
    fn give(&self, key: &mut Self::Key, value: Option<Self::In>, out: &mut Self::Out);
    /// Takes rows that follow one another and adds their results.
    #[inline(always)]
    fn give_all(
        &self,
        key: &mut Self::Key,
        rows: Range<usize>,
        value: &impl Fn(usize) -> Option<Self::In>,
        out: &mut Self::Out,
    ) {
        rows.for_each(|row| self.give(key, value(row), out));
    }
}

impl<S: Step> Gives for S {
    type In = S::In;
    type Key = S::Key;
    type Out = Output<S::Out>;
    #[inline(always)]
    fn give(&self, key: &mut S::Key, value: Option<S::In>, out: &mut Output<S::Out>) {
        out.push(self.step(key, value));
    }
    #[inline(always)]
    fn give_all(
        &self,
        key: &mut S::Key,
        rows: Range<usize>,
        value: &impl Fn(usize) -> Option<S::In>,
        out: &mut Output<S::Out>,
    ) {
        self.steps(key, rows, value, out);
    }
}

/// A [`Step`], or what [`Gives`] lists, for each key.
pub(super) struct Keyed<S: Gives> {
    step: S,
    ty: Type,
    keys: Paged<S::Key>,
    vocabulary: Vocabulary,
}

impl<S: Gives> Keyed<S> {
    /// The function as a state of many keys, with results of this type.
    pub fn state(step: S, ty: Type) -> Box<dyn State> {
        Box::new(Keyed { step, ty, keys: Paged::new(), vocabulary: Vocabulary::default() })
    }
}

impl<S: Gives> State for Keyed<S> {
    fn types(&self) -> Vec<Type> {
        vec![self.ty]
    }

    fn keeps_rows(&self) -> bool {
        std::mem::needs_drop::<S::Key>()
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        if let Some(&last) = keys.iter().max() {
            self.keys.grow(last as usize + 1, S::Key::default());
        }
        let mut output = S::Out::of(keys.len());
        let take = Take { step: &self.step, states: &mut self.keys, keys, output: &mut output };
        S::In::rows(&args.iter().collect::<Vec<_>>(), &mut self.vocabulary, take)?;
        Ok(vec![output.column(self.ty, &self.vocabulary)?])
    }

    fn reset(&mut self, keys: &[u32]) {
        let known = self.keys.len();
        for key in keys.iter().map(|&key| key as usize).filter(|key| *key < known) {
            self.keys[key] = S::Key::default();
        }
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        let (step, keys) = (self.step.clone(), self.keys.freeze());
        Box::new(Keyed { step, ty: self.ty, keys, vocabulary: self.vocabulary.freeze() })
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        match (key as usize) < self.keys.len() {
            true => self.vocabulary.encode(&self.keys[key as usize], bytes),
            false => self.vocabulary.encode(&S::Key::default(), bytes),
        }
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.keys.grow(key as usize + 1, S::Key::default());
        self.keys[key as usize] = self.vocabulary.decode(bytes)?;
        Ok(())
    }
}

/// Takes each row into the state of its key.
struct Take<'a, S: Gives> {
    step: &'a S,
    states: &'a mut Paged<S::Key>,
    keys: &'a [u32],
    output: &'a mut S::Out,
}

impl<S: Gives> Reading<S::In> for Take<'_, S> {
    fn read(self, value: impl Fn(usize) -> Option<S::In>) -> Result<()> {
        let Take { step, states, keys, output } = self;
        let runs = 1 + keys.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if runs > keys.len() / 2 {
            for (row, &key) in keys.iter().enumerate() {
                step.give(&mut states[key as usize], value(row), output);
            }
            return Ok(());
        }
        let mut row = 0;
        for run in keys.chunk_by(|a, b| a == b) {
            let place = &mut states[run[0] as usize];
            // Here the compiler can keep it in registers.
            let mut state = std::mem::take(place);
            step.give_all(&mut state, row..row + run.len(), &value, output);
            *place = state;
            row += run.len();
        }
        Ok(())
    }
}

/// A function with several results: its parts take the same rows, each gives one.
pub(super) struct Several(pub Vec<Box<dyn State>>);

impl State for Several {
    fn types(&self) -> Vec<Type> {
        self.0.iter().flat_map(|part| part.types()).collect()
    }

    fn keeps_rows(&self) -> bool {
        self.0.iter().any(|part| part.keeps_rows())
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        let columns: Result<Vec<Vec<Column>>> = self.0.iter_mut().map(|part| part.push(keys, args)).collect();
        Ok(columns?.into_iter().flatten().collect())
    }

    fn reset(&mut self, keys: &[u32]) {
        self.0.iter_mut().for_each(|part| part.reset(keys));
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        Box::new(Several(self.0.iter_mut().map(|part| part.snapshot()).collect()))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        self.0.iter().for_each(|part| part.encode(key, bytes));
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.0.iter_mut().try_for_each(|part| part.decode(key, bytes))
    }
}

/// A picture of a state that is made of others: good for its bytes alone.
pub(super) struct Picture<F>(pub F);

impl<F: Fn(u32, &mut Vec<u8>) + Send> State for Picture<F> {
    fn types(&self) -> Vec<Type> {
        vec![]
    }

    fn push(&mut self, _: &[u32], _: &[Column]) -> Result<Vec<Column>> {
        refuse("a picture of a state takes no rows")
    }

    fn reset(&mut self, _: &[u32]) {}

    fn snapshot(&mut self) -> Box<dyn State> {
        Box::new(Several(vec![]))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        self.0(key, bytes);
    }

    fn decode(&mut self, _: u32, _: &mut &[u8]) -> Result<()> {
        refuse("a picture of a state is not read into")
    }
}

/// An error of a function that cannot be bound so.
pub(super) fn refuse<T>(text: impl Into<String>) -> Result<T> {
    Err(Diagnostic::new(text))
}
