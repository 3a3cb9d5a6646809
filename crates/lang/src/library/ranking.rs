//! The order of a column's rows, and the ranks of its values.

use super::cast::convert;
use super::item::{Item, Vocabulary, order_scalars};
use super::keyed::refuse;
use super::output::Output;
use super::settings::{choice, flag, need_number, whole};
use crate::function::{Argument, Result};
use data::arrow::buffer::{NullBuffer, ScalarBuffer};
use data::{Column, Physical, Scalar, Type};
use std::cmp::Ordering;
use std::ops::Range;

/// The order of a column's rows: NULL first, then NaN, then the values; texts by their letters.
pub(super) struct Order {
    keys: Keys,
    nulls: Option<NullBuffer>,
}

enum Keys {
    Floats(ScalarBuffer<f64>),
    Wholes(ScalarBuffer<i64>),
    /// Texts, bytes and decimals, read where they stand.
    Column(Column),
    Scalars(Vec<Scalar>),
}

impl Order {
    /// The order of this column's rows.
    pub fn of(column: &Column) -> Order {
        let scalars = || Keys::Scalars((0..column.len()).map(|row| column.get(row)).collect());
        let keys = match column.ty().physical() {
            Physical::F32 | Physical::F64 => column.to_f64s().map_or_else(scalars, Keys::Floats),
            Physical::Bool | Physical::I8 | Physical::I16 | Physical::I32 | Physical::I64 => {
                column.to_i64s().map_or_else(scalars, Keys::Wholes)
            }
            // Codes have no order, texts do.
            Physical::Code => column.to_strings().map_or_else(scalars, Keys::Column),
            Physical::I128 | Physical::Text | Physical::Bytes | Physical::Bytes16 => Keys::Column(column.clone()),
            Physical::List => scalars(),
        };
        let nulls = match &keys {
            Keys::Column(column) => column.validity().cloned(),
            _ if column.ty() == Type::Void => Some(NullBuffer::new_null(column.len())),
            _ => column.validity().cloned(),
        };
        Order { keys, nulls }
    }

    /// Has this row no value?
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// How two rows stand to one another.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        match (self.is_null(a), self.is_null(b)) {
            (false, false) => match &self.keys {
                Keys::Floats(values) => values[a].order(&values[b]),
                Keys::Wholes(values) => values[a].cmp(&values[b]),
                Keys::Column(column) if column.ty().is_decimal() => column.decimals()[a].cmp(&column.decimals()[b]),
                Keys::Column(column) if column.ty().is_text() => column.texts().value(a).cmp(column.texts().value(b)),
                Keys::Column(column) => column.bytes_at(a).cmp(column.bytes_at(b)),
                Keys::Scalars(values) => order_scalars(&values[a], &values[b]),
            },
            (a, b) => b.cmp(&a),
        }
    }

    /// These rows from the smallest to the greatest, or the other way round; equal ones as they were.
    pub fn sorted(&self, rows: Range<usize>, ascending: bool) -> Vec<u32> {
        sorted(std::slice::from_ref(self), &[ascending], rows)
    }

    /// Are two rows equal, or no further apart than this?
    fn same(&self, a: usize, b: usize, apart: f64) -> bool {
        let near = || match &self.keys {
            Keys::Floats(values) => (values[a] - values[b]).abs() <= apart,
            _ => false,
        };
        self.compare(a, b).is_eq() || !self.is_null(a) && !self.is_null(b) && near()
    }
}

/// Rows by the first column's order, then by the second one's, and so on, each upwards or downwards; equal ones as
/// they were.
pub(super) fn sorted(orders: &[Order], ascending: &[bool], rows: Range<usize>) -> Vec<u32> {
    let mut places: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
    places.sort_by(|&a, &b| {
        let by_column = orders.iter().zip(ascending).map(|(order, ascending)| {
            let order = order.compare(a as usize, b as usize);
            if *ascending { order } else { order.reverse() }
        });
        by_column.fold(Ordering::Equal, Ordering::then)
    });
    places
}

/// Which of the places of equal values is their rank.
#[derive(Clone, Copy, PartialEq)]
enum Ties {
    Min,
    Max,
    Average,
    /// Each its own place, in the order of the rows.
    First,
    /// How many smaller values there are, each counted once.
    Dense,
}

/// How the values of a whole vector are ranked, from 0.
#[derive(Clone)]
pub(super) struct Ranking {
    ascending: bool,
    /// Does a NULL have no rank, rather than the lowest?
    ignore_null: bool,
    ties: Ties,
    /// The number of groups that the values are divided into; the rank is then the group's.
    groups: Option<usize>,
    /// The part of all that it is at or above, rather than its place?
    percent: bool,
    /// How far apart values may be that count as equal.
    apart: Option<f64>,
}

impl Ranking {
    /// That of `rank`: the settings stand behind the vector.
    pub fn of(args: &[Argument]) -> Result<Ranking> {
        let ties = choice(args, 4, "tiesMethod", &["min", "max", "average", "first"])?.unwrap_or(0);
        let ranking = Ranking {
            ascending: flag(args, 1, "ascending", true)?,
            groups: match whole(args, 2, "groupNum")? {
                Some(groups) if groups < 1 => {
                    return refuse(format!("a whole number above 0 is wanted: parameter=`groupNum`, value=`{groups}`"));
                }
                groups => groups.map(|groups| groups as usize),
            },
            ignore_null: flag(args, 3, "ignoreNA", true)?,
            ties: [Ties::Min, Ties::Max, Ties::Average, Ties::First][ties],
            percent: flag(args, 5, "percent", false)?,
            apart: apart(args, 6)?,
        };
        if ranking.apart.is_some() && ranking.ties == Ties::First {
            return refuse("values that count as equal have no first one: parameters=`precision, tiesMethod`");
        }
        if ranking.groups.is_some() && ranking.percent {
            return refuse("a group has no percentage: parameters=`groupNum, percent`");
        }
        Ok(ranking)
    }

    /// That of `denseRank`: the settings stand behind the vector.
    pub fn dense(args: &[Argument]) -> Result<Ranking> {
        Ok(Ranking {
            ascending: flag(args, 1, "ascending", true)?,
            groups: None,
            ignore_null: flag(args, 2, "ignoreNA", true)?,
            ties: Ties::Dense,
            percent: flag(args, 3, "percent", false)?,
            apart: apart(args, 4)?,
        })
    }

    /// The type of ranks.
    pub fn ty(&self) -> Type {
        let whole = self.groups.is_some() || !self.percent && self.ties != Ties::Average;
        if whole { Type::Int } else { Type::Double }
    }

    /// The ranks of a column's rows, each among those of its own range.
    pub fn column(&self, column: &Column, ranges: impl Iterator<Item = Range<usize>>) -> Result<Column> {
        let order = match self.apart {
            Some(_) => Order::of(&convert(column, Type::Double)?),
            None => Order::of(column),
        };
        let mut ranks = vec![None; column.len()];
        ranges.for_each(|rows| self.rank(&order, rows, &mut ranks));
        let mut output = Output::of(ranks.len());
        ranks.into_iter().for_each(|rank| output.push(rank));
        Ok(output.column(self.ty(), &Vocabulary::default()))
    }

    fn rank(&self, order: &Order, rows: Range<usize>, ranks: &mut [Option<f64>]) {
        let mut places = order.sorted(rows, self.ascending);
        if self.ignore_null {
            places.retain(|&row| !order.is_null(row as usize));
        }
        let count = places.len();
        let apart = self.apart.unwrap_or(0.0);
        let (mut start, mut runs) = (0, 0);
        while start < count {
            let first = places[start] as usize;
            let run = places[start..].iter().take_while(|&&row| order.same(first, row as usize, apart)).count();
            let last = start + run - 1;
            for place in start..=last {
                let rank = match (self.groups, self.ties) {
                    (Some(groups), _) => group(start, count, groups) as f64,
                    (None, Ties::Min) => start as f64,
                    (None, Ties::Max) => last as f64,
                    (None, Ties::Average) => (start + last) as f64 / 2.0,
                    (None, Ties::First) => place as f64,
                    (None, Ties::Dense) => runs as f64,
                };
                ranks[places[place] as usize] = Some(rank);
            }
            (start, runs) = (last + 1, runs + 1);
        }
        if self.percent {
            let all = if self.ties == Ties::Dense { runs } else { count };
            for &row in &places {
                ranks[row as usize] = ranks[row as usize].map(|rank| (rank + 1.0) / all as f64);
            }
        }
    }
}

/// How far apart values may be that count as equal, from the number of their digits.
fn apart(args: &[Argument], place: usize) -> Result<Option<f64>> {
    match whole(args, place, "precision")? {
        None => Ok(None),
        Some(digits) if (1..=15).contains(&digits) => {
            need_number(args, 0)?;
            Ok(Some(10f64.powi(-digits as i32)))
        }
        Some(digits) => refuse(format!("a precision from 1 to 15 is wanted: precision=`{digits}`")),
    }
}

/// The group of a place where so many places are divided into groups; the first ones take one more where they must.
fn group(place: usize, places: usize, groups: usize) -> usize {
    let (size, greater) = (places / groups, places % groups);
    match place.checked_sub(greater * (size + 1)) {
        Some(rest) => greater + rest / size,
        None => place / (size + 1),
    }
}
