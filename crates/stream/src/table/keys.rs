//! The key window of a keyed table: which rows it accepts.
//!
//! Invariants:
//! - The window is a rule over offsets: the keys of the table's newest `cache_rows` rows, or of all it has. So it is
//!   the same after a restart, and the memory cache never changes an answer.
//! - A key is told by its values, packed: exactly where they fit into 128 bits, else by a hash of as many.

use super::spec::{TableKind, TableSpec};
use data::{Batch, Column, Physical};
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::hash::{BuildHasherDefault, Hasher};
use xxhash_rust::xxh3::xxh3_128;

/// A packed key.
type Key = u128;

/// When a row happened: the values of its time columns. NULL is before all.
type Time = (i64, i64);

/// The key window of one table.
#[derive(Debug)]
pub(super) struct KeyWindow {
    keys: Vec<usize>,
    time: Option<Vec<usize>>, // `None`: the first row of a key wins.
    rows_max: Option<usize>,
    known: HashMap<Key, Known, BuildHasherDefault<KeyHasher>>,
    window: VecDeque<Key>, // By offset, up to `end`; only where the window has a bound.
    end: u64,
}

/// What the window knows of a key.
#[derive(Debug, Clone, Copy)]
struct Known {
    offset: u64, // Of its last row.
    time: Time,  // Of its last row.
}

/// Spreads the bits of packed keys, which differ in any of theirs.
#[derive(Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("packed keys are u128");
    }

    fn write_u128(&mut self, key: u128) {
        let (low, high) = (key as u64 ^ 0x9e37_79b9_7f4a_7c15, (key >> 64) as u64 ^ 0xd6e8_feb8_6659_fd93);
        let mixed =
            (low as u128).wrapping_mul(0xa076_1d64_78bd_642f) ^ (high as u128).wrapping_mul(0xe703_7ed1_a0b4_28db);
        let folded = mixed as u64 ^ (mixed >> 64) as u64;
        self.0 = folded ^ folded >> 32;
    }
}

impl KeyWindow {
    /// The empty window of a table whose next row has offset `end`; `None` if it accepts all rows.
    pub(super) fn new(spec: &TableSpec, end: u64) -> Option<KeyWindow> {
        let (keys, time) = match &spec.kind {
            TableKind::Plain => return None,
            TableKind::Keyed { keys } => (keys.clone(), None),
            TableKind::LatestKeyed { keys, time } => (keys.clone(), Some(time.clone())),
        };
        let rows_max = spec.options.cache_rows;
        Some(KeyWindow { keys, time, rows_max, known: HashMap::default(), window: VecDeque::new(), end })
    }

    /// The rows that enter, in order, and with them the window moves on. `as_batch`: of a new key in a latest-keyed
    /// table the latest row alone enters; else the rows are judged one by one.
    pub(super) fn accept(&mut self, rows: &Batch, as_batch: bool) -> Vec<u32> {
        let keys = pack(rows, &self.keys);
        match self.time.as_ref().map(|time| times(rows, time)) {
            None => self.accept_first(&keys),
            Some(times) => self.accept_latest(&keys, &times, as_batch),
        }
    }

    /// Takes in rows that are known to have entered.
    pub(super) fn replay(&mut self, rows: &Batch) {
        let keys = pack(rows, &self.keys);
        let times = self.time.as_ref().map(|time| times(rows, time));
        for (row, key) in keys.into_iter().enumerate() {
            self.enter(key, times.as_ref().map_or((0, 0), |times| times[row]));
        }
    }

    fn accept_first(&mut self, keys: &[Key]) -> Vec<u32> {
        let mut accepted = vec![];
        for (row, &key) in keys.iter().enumerate() {
            if !self.known.contains_key(&key) {
                accepted.push(row as u32);
                self.enter(key, (0, 0));
            }
        }
        accepted
    }

    /// Of a key known before each row later than the last; of a new one in a batch the latest row alone.
    fn accept_latest(&mut self, keys: &[Key], times: &[Time], as_batch: bool) -> Vec<u32> {
        let mut latest: HashMap<Key, usize, BuildHasherDefault<KeyHasher>> = HashMap::default();
        let new = keys.iter().enumerate().filter(|(_, key)| as_batch && !self.known.contains_key(*key));
        for (row, key) in new {
            let known = latest.entry(*key).or_insert(row);
            if times[*known] < times[row] {
                *known = row;
            }
        }
        let mut accepted = vec![];
        for (row, &key) in keys.iter().enumerate() {
            let enters = match latest.get(&key) {
                Some(only) => *only == row,
                // None now is a key that has left the window since the batch began: nothing is left to compare with.
                None => self.known.get(&key).is_none_or(|known| known.time < times[row]),
            };
            if enters {
                accepted.push(row as u32);
                self.enter(key, times[row]);
            }
        }
        accepted
    }

    fn enter(&mut self, key: Key, time: Time) {
        self.known.insert(key, Known { offset: self.end, time });
        self.end += 1;
        if let Some(rows_max) = self.rows_max {
            self.window.push_back(key);
            while self.window.len() > rows_max {
                self.leave();
            }
        }
    }

    /// The oldest row leaves, and its key if no later row has it.
    fn leave(&mut self) {
        let offset = self.end - self.window.len() as u64;
        let key = self.window.pop_front().expect("a window with rows");
        if self.known.get(&key).is_some_and(|known| known.offset == offset) {
            self.known.remove(&key);
        }
    }

    /// Forgets the keys of rows that the table no longer has.
    pub(super) fn drop_before(&mut self, start: u64) {
        if self.rows_max.is_none() {
            self.known.retain(|_, known| known.offset >= start);
        }
        while !self.window.is_empty() && self.end - (self.window.len() as u64) < start {
            self.leave();
        }
    }
}

/// Each row's key columns in 128 bits: their values side by side with a bit for NULL, or a hash of these.
fn pack(rows: &Batch, keys: &[usize]) -> Vec<Key> {
    let columns: Vec<&Column> = keys.iter().map(|key| rows.column(*key)).collect();
    let width = |column: &Column| match column.ty().physical() {
        Physical::Bool => Some(1),
        Physical::I8 => Some(8),
        Physical::I16 => Some(16),
        Physical::I32 | Physical::Code | Physical::F32 => Some(32),
        Physical::I64 | Physical::F64 => Some(64),
        _ => None,
    };
    let widths: Option<Vec<u32>> = columns.iter().map(|column| width(column)).collect();
    match widths.filter(|widths| widths.iter().map(|bits| bits + 1).sum::<u32>() <= Key::BITS) {
        Some(widths) => {
            let mut packed = vec![0; rows.rows()];
            columns.iter().zip(widths).for_each(|(column, bits)| pack_column(column, bits, &mut packed));
            packed
        }
        None => pack_wide(&columns, rows.rows()),
    }
}

/// Shifts a column's values into keys.
fn pack_column(column: &Column, bits: u32, packed: &mut [Key]) {
    fn shift<T: Copy>(values: &[T], column: &Column, bits: u32, packed: &mut [Key], number: impl Fn(T) -> u64) {
        let mask = (1 << bits) - 1;
        for (row, (key, &value)) in packed.iter_mut().zip(values).enumerate() {
            let field = if column.is_null(row) { 1 << bits } else { number(value) as Key & mask };
            *key = *key << (bits + 1) | field;
        }
    }
    match column.ty().physical() {
        Physical::I8 => shift(column.i8s(), column, bits, packed, |value| value as u64),
        Physical::I16 => shift(column.i16s(), column, bits, packed, |value| value as u64),
        Physical::I32 => shift(column.i32s(), column, bits, packed, |value| value as u64),
        Physical::I64 => shift(column.i64s(), column, bits, packed, |value| value as u64),
        Physical::Code => shift(column.codes(), column, bits, packed, |value| value as u64),
        // Adding 0 makes one zero of the two.
        Physical::F32 => shift(column.f32s(), column, bits, packed, |value| (value + 0.0).to_bits() as u64),
        Physical::F64 => shift(column.f64s(), column, bits, packed, |value| (value + 0.0).to_bits()),
        _ => {
            let values: Vec<bool> = column.bools().iter().collect();
            shift(&values, column, bits, packed, |value| value as u64);
        }
    }
}

/// The hash of each row's values, where these are wider than a key.
fn pack_wide(columns: &[&Column], rows: usize) -> Vec<Key> {
    let parts: Vec<Vec<Key>> = columns.iter().map(|column| wide_parts(column)).collect();
    let mut bytes = Vec::with_capacity(16 * columns.len());
    let key = |row: usize| {
        bytes.clear();
        parts.iter().for_each(|part| bytes.extend_from_slice(&part[row].to_le_bytes()));
        xxh3_128(&bytes)
    };
    (0..rows).map(key).collect()
}

/// A number of 128 bits for each value of a column.
fn wide_parts(column: &Column) -> Vec<Key> {
    const NULL: Key = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let valid = |row: usize, part: Key| if column.is_null(row) { NULL } else { part };
    match column.ty().physical() {
        Physical::Text => {
            column.texts().iter().map(|text| text.map_or(NULL, |text| xxh3_128(text.as_bytes()))).collect()
        }
        Physical::I128 => {
            column.decimals().iter().enumerate().map(|(row, &digits)| valid(row, digits as Key)).collect()
        }
        Physical::Bytes | Physical::Bytes16 => (0..column.len())
            .map(|row| match column.get(row) {
                data::Scalar::Bytes(bytes) => xxh3_128(&bytes),
                data::Scalar::Bytes16(bytes) => Key::from_le_bytes(bytes),
                _ => NULL,
            })
            .collect(),
        physical => {
            let bits = if matches!(physical, Physical::I64 | Physical::F64) { 64 } else { 32 };
            let mut packed = vec![0; column.len()];
            pack_column(column, bits, &mut packed);
            packed
        }
    }
}

/// Each row's time.
fn times(rows: &Batch, time: &[usize]) -> Vec<Time> {
    let values = |place: usize| {
        let column = rows.column(place);
        let values = column.to_i64s().expect("time columns hold whole numbers");
        let value = |(row, &value): (usize, &i64)| if column.is_null(row) { i64::MIN } else { value };
        values.iter().enumerate().map(value).collect::<Vec<i64>>()
    };
    match *time {
        [day, clock] => values(day).into_iter().zip(values(clock)).collect(),
        _ => values(time[0]).into_iter().map(|time| (time, 0)).collect(),
    }
}
