//! The results of a function in the making: a column of values, or of lists.

use super::item::{Item, Vocabulary};
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use data::arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use data::{Column, Type};
use std::ops::Range;

/// What the results of a function are gathered in.
pub(super) trait Gather {
    /// An empty one with room for this many rows.
    fn of(rows: usize) -> Self;
    /// The column of this type.
    fn column(self, ty: Type, vocabulary: &Vocabulary) -> Result<Column>;
}

/// Which rows have a value, in the making.
struct Valid {
    words: Vec<u64>,
    /// The bits of the last word, not yet among them.
    word: u64,
    rows: usize,
}

impl Valid {
    fn of(rows: usize) -> Valid {
        Valid { words: Vec::with_capacity(rows / 64 + 1), word: 0, rows: 0 }
    }

    #[inline(always)]
    fn push(&mut self, valid: bool) {
        self.word |= (valid as u64) << (self.rows % 64);
        self.rows += 1;
        if self.rows.is_multiple_of(64) {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    /// The bits; `None` if all are set.
    fn finish(mut self) -> Option<NullBuffer> {
        self.words.push(self.word);
        let bits = BooleanBuffer::new(Buffer::from_vec(self.words), 0, self.rows);
        Some(NullBuffer::new(bits)).filter(|nulls| nulls.null_count() > 0)
    }
}

/// A column in the making, in a function's own storage class.
pub(super) struct Output<T> {
    values: Vec<T>,
    valid: Valid,
}

impl<T: Item> Output<T> {
    /// An empty one with room for this many rows.
    pub fn of(rows: usize) -> Output<T> {
        Output { values: Vec::with_capacity(rows), valid: Valid::of(rows) }
    }

    /// Adds a value.
    #[inline(always)]
    pub fn push(&mut self, value: Option<T>) {
        self.valid.push(value.is_some());
        self.values.push(value.unwrap_or_default().settled());
    }

    /// Adds the values of these rows, as `push` would one after another. The loop has nothing but them to look after, and
    /// calls nothing, so that what `value` keeps from row to row can stay in registers.
    #[inline(always)]
    pub fn extend(&mut self, rows: Range<usize>, mut value: impl FnMut(usize) -> Option<T>) {
        let (before, after) = (self.values.len(), self.values.len() + rows.len());
        self.values.resize(after, T::default());
        self.valid.words.resize(after / 64, 0);
        let mut whole = self.valid.words[before / 64..].iter_mut();
        let (mut bits, mut bit) = (self.valid.word, before % 64);
        let (mut row, mut rest) = (rows.start, &mut self.values[before..]);
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut(rest.len().min(64 - bit));
            for (place, to) in now.iter_mut().enumerate() {
                let value = value(row + place);
                bits |= (value.is_some() as u64) << (bit + place);
                *to = value.unwrap_or_default().settled();
            }
            row += now.len();
            bit = 0;
            rest = later;
            if let Some(word) = whole.next() {
                *word = std::mem::take(&mut bits);
            }
        }
        (self.valid.word, self.valid.rows) = (bits, after);
    }

    /// The column.
    pub fn column(self, ty: Type, vocabulary: &Vocabulary) -> Column {
        T::column(ty, self.values, self.valid.finish(), vocabulary)
    }
}

impl<T: Item> Gather for Output<T> {
    fn of(rows: usize) -> Output<T> {
        Output::of(rows)
    }

    fn column(self, ty: Type, vocabulary: &Vocabulary) -> Result<Column> {
        Ok(Output::column(self, ty, vocabulary))
    }
}

/// An array-vector column in the making.
pub(super) struct Lists<T> {
    offsets: Vec<i32>,
    elements: Output<T>,
    valid: Valid,
    /// Were there more elements than a column can number?
    too_many: bool,
}

impl<T: Item> Lists<T> {
    /// Adds a row's list.
    pub fn push(&mut self, list: Option<impl Iterator<Item = Option<T>>>) {
        if self.too_many {
            return;
        }
        self.valid.push(list.is_some());
        list.into_iter().flatten().for_each(|element| self.elements.push(element));
        match i32::try_from(self.elements.values.len()) {
            Ok(end) => self.offsets.push(end),
            Err(_) => self.too_many = true,
        }
    }
}

impl<T: Item> Gather for Lists<T> {
    fn of(rows: usize) -> Lists<T> {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Lists { offsets, elements: Output::of(rows), valid: Valid::of(rows), too_many: false }
    }

    fn column(self, ty: Type, vocabulary: &Vocabulary) -> Result<Column> {
        if self.too_many {
            return Err(Diagnostic::new(format!("more elements than an array vector can hold: most=`{}`", i32::MAX)));
        }
        let element = ty.element().expect("lists are an array vector");
        Ok(Column::of_lists(self.offsets, self.elements.column(element, vocabulary), self.valid.finish()))
    }
}
