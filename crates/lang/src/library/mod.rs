//! The function library: one list for scripts, engines and SQL.
//!
//! A function is one entry in the list of its family; the families stand in [`OF_VECTORS`] and [`OF_VALUES`]. Nothing
//! else registers it.

mod aggregate;
mod calendar;
mod call;
mod calling;
mod cast;
mod complex;
mod cumulative;
mod entry;
mod ewm;
mod item;
mod keyed;
mod math;
mod matrices;
mod moments;
mod moving;
mod null;
mod operator;
mod output;
mod ranking;
mod row;
mod sequence;
mod settings;
mod signature;
mod sorted;
mod statistic;
mod summary;
mod talib;
#[cfg(test)]
mod tests;
mod text;
mod time_moving;
mod topn;
mod vector;

pub use call::{bind_row, call};
pub(crate) use calling::kept_rows;
pub(crate) use cast::convert;
pub(crate) use entry::script;
pub(crate) use math::duration_in;
pub(crate) use matrices::gathered;
pub(crate) use operator::{common_type, truths};
pub use signature::{Parameter, Signature};

use crate::function::Function;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Functions of vectors: they go through a matrix column by column, or across its rows.
static OF_VECTORS: &[&[Function]] = &[
    operator::FUNCTIONS,
    math::FUNCTIONS,
    cast::FUNCTIONS,
    complex::FUNCTIONS,
    calendar::FUNCTIONS,
    null::FUNCTIONS,
    text::FUNCTIONS,
    aggregate::FUNCTIONS,
    moving::FUNCTIONS,
    cumulative::FUNCTIONS,
    sequence::FUNCTIONS,
    talib::FUNCTIONS,
    calling::FUNCTIONS,
    ewm::FUNCTIONS,
    time_moving::FUNCTIONS,
    topn::FUNCTIONS,
    row::FUNCTIONS,
    vector::FUNCTIONS,
];

/// Functions of values of any kind, which take a matrix as it is.
static OF_VALUES: &[&[Function]] = &[
    crate::interpreter::CONTAINER_FUNCTIONS,
    crate::interpreter::PART_FUNCTIONS,
    crate::interpreter::MATRIX_FUNCTIONS,
    crate::interpreter::VALUE_FUNCTIONS,
    crate::interpreter::TABLE_FUNCTIONS,
    crate::interpreter::JOIN_FUNCTIONS,
    crate::interpreter::METACODE_FUNCTIONS,
    crate::interpreter::HIGHER_ORDER_FUNCTIONS,
    crate::interpreter::PAIR_FUNCTIONS,
    crate::interpreter::GROUP_FUNCTIONS,
    crate::interpreter::PIVOT_FUNCTIONS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> =
    LazyLock::new(|| all().map(|function| (function.name, function)).collect());

/// The function of this name, matched exactly.
pub fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get(name).copied()
}

/// Is it a function of vectors?
fn is_of_vectors(function: &'static Function) -> bool {
    OF_VECTORS.iter().copied().flatten().any(|known| std::ptr::eq(known, function))
}

/// All functions, family by family.
pub fn all() -> impl Iterator<Item = &'static Function> {
    OF_VECTORS.iter().chain(OF_VALUES).copied().flatten()
}
