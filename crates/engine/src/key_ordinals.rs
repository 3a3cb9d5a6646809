//! Key values to dense numbers, in the order of their first appearance.
//!
//! Invariants:
//! - Equal values have one ordinal as long as the key lives; NULL is a value like any other.
//! - The ordinal of a removed key is given to a later one, so state is indexed by ordinals without growing holes.
//! - Ordinals never reach an output or a state's bytes: keys are ordered by birth, and stored as values.

use crate::encoding::{put_scalar, take_scalar};
use crate::key_cells::{KeyCells, NULL_CELL};
use data::{Column, KeyGroup, Paged, Type, key_group, stable_hash};
use hashbrown::HashTable;
use lang::Diagnostic;

const NO_KEY: u32 = u32::MAX;

/// What is known of a key beside its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyFacts {
    /// A number that orders the keys: see [`crate::ClockOrigin`].
    pub(crate) birth: u128,
    /// The key group of its value in the column that a section is split by.
    pub(crate) group: KeyGroup,
    /// Is it in use?
    pub(crate) live: bool,
}

/// The keys an engine has met.
pub(crate) struct KeyOrdinals {
    /// Which key column decides the key group; `None` if there is no key column.
    part: Option<usize>,
    index: Index,
    columns: Vec<KeyCells>,
    /// By key column, then by ordinal.
    cells: Vec<Paged<u64>>,
    facts: Paged<KeyFacts>,
    free: Vec<u32>,
    /// The cells of the rows at hand, by key column; kept for its room.
    scratch: Vec<Vec<u64>>,
}

enum Index {
    /// No key column: every row is of key 0.
    One,
    /// One column of codes: ordinal by code, and that of NULL.
    Codes(Vec<u32>, u32),
    /// Any other columns: ordinals by the hash of their cells.
    Hash(HashTable<u32>),
}

fn hash(cells: impl Iterator<Item = u64>) -> u64 {
    let mixed = cells.fold(0u64, |hash, cell| (hash.rotate_left(26) ^ cell).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed ^ (mixed >> 32)
}

impl KeyOrdinals {
    /// No keys yet, of columns of these types. `part` is the key column that decides the key group.
    pub(crate) fn new(types: &[Type], part: Option<usize>) -> KeyOrdinals {
        let columns: Vec<KeyCells> = types.iter().map(|&ty| KeyCells::new(ty)).collect();
        let index = match columns.as_slice() {
            [] => Index::One,
            [one] if one.are_codes() => Index::Codes(vec![], NO_KEY),
            _ => Index::Hash(HashTable::new()),
        };
        let part = if types.is_empty() { None } else { Some(part.unwrap_or(0)) };
        KeyOrdinals {
            part,
            index,
            cells: columns.iter().map(|_| Paged::new()).collect(),
            scratch: vec![vec![]; columns.len()],
            columns,
            facts: Paged::new(),
            free: vec![],
        }
    }

    /// State by ordinal needs this many places.
    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    /// How many keys live.
    pub(crate) fn live(&self) -> usize {
        self.facts.len() - self.free.len()
    }

    /// What is known of a key.
    pub(crate) fn facts(&self, ordinal: u32) -> KeyFacts {
        self.facts[ordinal as usize]
    }

    /// The ordinals of the keys that live.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.facts.iter().zip(0..).filter(|(facts, _)| facts.live).map(|(_, ordinal)| ordinal)
    }

    /// The ordinal of each of these rows (`None` for all) of the key columns. `birth` says of a row what birth a key
    /// has that it brings.
    pub(crate) fn resolve(
        &mut self,
        columns: &[&Column],
        rows: Option<&[u32]>,
        count: usize,
        birth: impl Fn(u32) -> u128,
        ordinals: &mut Vec<u32>,
    ) -> Result<(), Diagnostic> {
        ordinals.clear();
        let row = |place: usize| rows.map_or(place as u32, |rows| rows[place]);
        if let Index::One = self.index {
            if self.facts.is_empty() && count > 0 {
                self.add(&[], birth(row(0)));
            }
            ordinals.resize(count, 0);
            return Ok(());
        }
        if let (Index::Codes(by_code, _), Some(codes)) = (&mut self.index, self.columns[0].home_codes(columns[0])) {
            by_code.resize(self.columns[0].codes(), NO_KEY);
            match rows {
                None => ordinals.extend(codes.iter().map(|&code| by_code[code as usize])),
                Some(rows) => ordinals.extend(rows.iter().map(|&row| by_code[codes[row as usize] as usize])),
            }
            // New keys are rare: they are looked for in a loop of its own.
            for place in 0..count {
                if ordinals[place] == NO_KEY {
                    let cell = codes[row(place) as usize] as u64;
                    ordinals[place] = self.find(&[cell]).unwrap_or(NO_KEY);
                    if ordinals[place] == NO_KEY {
                        ordinals[place] = self.add(&[cell], birth(row(place)));
                    }
                }
            }
            return Ok(());
        }
        let mut cells = std::mem::take(&mut self.scratch);
        for ((reader, column), cells) in self.columns.iter_mut().zip(columns).zip(&mut cells) {
            reader.read(column, rows, cells)?;
        }
        let mut key = vec![0; cells.len()];
        for place in 0..count {
            key.iter_mut().zip(&cells).for_each(|(key, cells)| *key = cells[place]);
            let ordinal = match self.find(&key) {
                Some(ordinal) => ordinal,
                None => self.add(&key, birth(row(place))),
            };
            ordinals.push(ordinal);
        }
        self.scratch = cells;
        Ok(())
    }

    fn find(&self, key: &[u64]) -> Option<u32> {
        let found = match &self.index {
            Index::One => 0,
            Index::Codes(_, null) if key[0] == NULL_CELL => *null,
            Index::Codes(by_code, _) => by_code.get(key[0] as usize).copied().unwrap_or(NO_KEY),
            Index::Hash(table) => {
                let same =
                    |&ordinal: &u32| self.cells.iter().zip(key).all(|(cells, &cell)| cells[ordinal as usize] == cell);
                table.find(hash(key.iter().copied()), same).copied().unwrap_or(NO_KEY)
            }
        };
        (found != NO_KEY).then_some(found)
    }

    fn add(&mut self, key: &[u64], birth: u128) -> u32 {
        let group = match self.part {
            Some(part) => key_group(stable_hash(&self.columns[part].value(key[part]))),
            None => KeyGroup(0),
        };
        let ordinal = self.free.pop().unwrap_or(self.facts.len() as u32);
        let (place, facts) = (ordinal as usize, KeyFacts { birth, group, live: true });
        self.facts.grow(place + 1, facts);
        self.facts[place] = facts;
        for (cells, &cell) in self.cells.iter_mut().zip(key) {
            cells.grow(place + 1, cell);
            cells[place] = cell;
        }
        match &mut self.index {
            Index::One => {}
            Index::Codes(_, null) if key[0] == NULL_CELL => *null = ordinal,
            Index::Codes(by_code, _) => {
                if by_code.len() <= key[0] as usize {
                    by_code.resize(key[0] as usize + 1, NO_KEY);
                }
                by_code[key[0] as usize] = ordinal;
            }
            Index::Hash(table) => {
                let cells = &self.cells;
                let rehash = |&ordinal: &u32| hash(cells.iter().map(|cells| cells[ordinal as usize]));
                table.insert_unique(hash(key.iter().copied()), ordinal, rehash);
            }
        }
        ordinal
    }

    /// Forgets keys. Whoever keeps state for them must empty it.
    pub(crate) fn remove(&mut self, ordinals: &[u32]) {
        for &ordinal in ordinals {
            let place = ordinal as usize;
            assert!(self.facts[place].live, "a key is removed once");
            self.facts[place].live = false;
            match &mut self.index {
                Index::One => unreachable!("the one key is never removed"),
                Index::Codes(by_code, null) => match self.cells[0][place] {
                    NULL_CELL => *null = NO_KEY,
                    code => by_code[code as usize] = NO_KEY,
                },
                Index::Hash(table) => {
                    let hash = hash(self.cells.iter().map(|cells| cells[place]));
                    table.find_entry(hash, |&other| other == ordinal).expect("a live key is in the index").remove();
                }
            }
            self.free.push(ordinal);
        }
    }

    /// The values of these keys, one column for each key column.
    pub(crate) fn columns(&self, ordinals: &[u32]) -> Vec<Column> {
        let column = |(column, cells): (&KeyCells, &Paged<u64>)| {
            column.column(&ordinals.iter().map(|&ordinal| cells[ordinal as usize]).collect::<Vec<_>>())
        };
        self.columns.iter().zip(&self.cells).map(column).collect()
    }

    /// A picture of the keys now.
    pub(crate) fn freeze(&mut self) -> FrozenKeys {
        FrozenKeys {
            columns: self.columns.clone(),
            cells: self.cells.iter_mut().map(Paged::freeze).collect(),
            facts: self.facts.freeze(),
        }
    }

    /// Takes up a key from the bytes of [`FrozenKeys::encode`]; a key that is there already is an error.
    pub(crate) fn decode(&mut self, birth: u128, bytes: &mut &[u8]) -> Result<u32, Diagnostic> {
        let mut key = vec![];
        for column in &mut self.columns {
            let value = take_scalar(column.ty(), bytes)?;
            key.push(column.cell(&value)?);
        }
        let known = match self.index {
            Index::One => !self.facts.is_empty(),
            _ => self.find(&key).is_some(),
        };
        if known {
            return Err(Diagnostic::new("engine state has a key twice"));
        }
        Ok(self.add(&key, birth))
    }
}

/// A picture of the keys.
pub(crate) struct FrozenKeys {
    columns: Vec<KeyCells>,
    cells: Vec<Paged<u64>>,
    facts: Paged<KeyFacts>,
}

impl FrozenKeys {
    /// The keys that live, with what is known of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, KeyFacts)> {
        self.facts.iter().zip(0..).filter(|(facts, _)| facts.live).map(|(facts, ordinal)| (ordinal, *facts))
    }

    /// The values of a key.
    pub(crate) fn encode(&self, ordinal: u32, bytes: &mut Vec<u8>) {
        for (column, cells) in self.columns.iter().zip(&self.cells) {
            put_scalar(bytes, &column.value(cells[ordinal as usize]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::{Scalar, Schema, parse_table};

    fn resolve(keys: &mut KeyOrdinals, columns: &[&Column]) -> Vec<u32> {
        let mut ordinals = vec![];
        keys.resolve(columns, None, columns[0].len(), |row| row as u128, &mut ordinals).unwrap();
        ordinals
    }

    fn symbols(texts: &[&str]) -> Column {
        let texts: Vec<Scalar> = texts.iter().map(|&text| Scalar::from(text)).collect();
        Column::of_scalars(Type::Symbol, &texts)
    }

    #[test]
    fn symbols_of_any_dictionary_have_one_ordinal_and_null_is_a_key() {
        let mut keys = KeyOrdinals::new(&[Type::Symbol], None);
        assert_eq!(resolve(&mut keys, &[&symbols(&["B", "A", "", "B"])]), [0, 1, 2, 0]);
        assert_eq!(resolve(&mut keys, &[&symbols(&["A", "C", "B", ""])]), [1, 3, 0, 2]);
        let back = keys.columns(&[3, 2, 0]);
        assert_eq!(back[0], symbols(&["C", "", "B"]));
    }

    #[test]
    fn a_removed_key_starts_anew_in_a_free_place() {
        let mut keys = KeyOrdinals::new(&[Type::Int], None);
        let ints =
            |values: &[i64]| Column::of_scalars(Type::Int, &values.iter().map(|&v| v.into()).collect::<Vec<_>>());
        assert_eq!(resolve(&mut keys, &[&ints(&[7, 8, 9])]), [0, 1, 2]);
        keys.remove(&[1]);
        assert_eq!(keys.live(), 2);
        assert_eq!(resolve(&mut keys, &[&ints(&[9, 5, 8])]), [2, 1, 3]);
    }

    #[test]
    fn keys_of_every_type_come_back_from_bytes() {
        let types = [Type::Symbol, Type::String, Type::Date, Type::Double, Type::Bool, Type::Float, Type::Short];
        let fields: Vec<(String, Type)> = types.iter().enumerate().map(|(i, &ty)| (format!("c{i}"), ty)).collect();
        let fields: Vec<(&str, Type)> = fields.iter().map(|(name, ty)| (name.as_str(), *ty)).collect();
        let text = "
            c0  c1  c2          c3    c4     c5    c6
            A   x   2024.01.02  1.5   true   .     3
            .   x   .           -0.0  false  2.5   .
            A   .   2024.01.02  1.5   .      2.5   -1
        ";
        let rows = parse_table(&Schema::of(&fields), text).unwrap();
        let columns: Vec<&Column> = rows.columns().iter().collect();
        let mut keys = KeyOrdinals::new(&types, Some(1));
        assert_eq!(resolve(&mut keys, &columns), [0, 1, 2]);
        let frozen = keys.freeze();
        let mut restored = KeyOrdinals::new(&types, Some(1));
        for (ordinal, facts) in frozen.iter() {
            let mut bytes = vec![];
            frozen.encode(ordinal, &mut bytes);
            let new = restored.decode(facts.birth, &mut bytes.as_slice()).unwrap();
            assert_eq!(restored.facts(new), facts);
        }
        assert_eq!(restored.columns(&[0, 1, 2]), keys.columns(&[0, 1, 2]));
        assert_eq!(resolve(&mut restored, &columns), [0, 1, 2]);
    }
}
