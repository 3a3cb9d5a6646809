//! The function library: one list for scripts, engines and SQL.
//!
//! A function is one entry in the list of its family; the families stand in [`FAMILIES`]. Nothing else registers it.

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
mod moments;
mod moving;
mod null;
mod operator;
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
pub(crate) use entry::script;
pub(crate) use math::duration_in;
pub(crate) use operator::{common_type, truths};
pub use signature::{Parameter, Signature};

use crate::function::Function;
use std::collections::HashMap;
use std::sync::LazyLock;

static FAMILIES: &[&[Function]] = &[
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
    crate::interpreter::CONTAINER_FUNCTIONS,
    crate::interpreter::PART_FUNCTIONS,
    crate::interpreter::VALUE_FUNCTIONS,
    crate::interpreter::TABLE_FUNCTIONS,
    crate::interpreter::JOIN_FUNCTIONS,
    crate::interpreter::METACODE_FUNCTIONS,
    crate::interpreter::HIGHER_ORDER_FUNCTIONS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> =
    LazyLock::new(|| all().map(|function| (function.name, function)).collect());

/// The function of this name, matched exactly.
pub fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get(name).copied()
}

/// All functions, family by family.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().copied().flatten()
}
