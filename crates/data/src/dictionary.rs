//! Symbol dictionaries: texts to dense codes. A dictionary only grows; a code never changes its text.

use crate::error::{Error, Result};
use crate::hash::stable_hash_text;
use arrow_array::StringArray;
use arrow_buffer::NullBuffer;
use hashbrown::HashTable;
use parking_lot::{RwLock, RwLockReadGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The greatest number of distinct symbols of one table.
const ENTRIES_MAX: usize = 2_097_152;

/// A growing list of distinct texts. Shared by every batch of its table, so a code means the same in each of them.
#[derive(Debug)]
pub struct Dictionary {
    id: u64,
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    arena: String,
    ends: Vec<u32>,
    hashes: Vec<u64>,
    index: HashTable<u32>,
    values: Option<StringArray>,
}

impl Inner {
    fn text(&self, code: u32) -> &str {
        let start = if code == 0 { 0 } else { self.ends[code as usize - 1] as usize };
        &self.arena[start..self.ends[code as usize] as usize]
    }

    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        self.index.find(hash, |&code| self.text(code) == text).copied()
    }

    fn intern(&mut self, text: &str) -> Result<u32> {
        let hash = stable_hash_text(text);
        if let Some(code) = self.find(hash, text) {
            return Ok(code);
        }
        let code = self.ends.len() as u32;
        let end = self.arena.len() + text.len();
        if code as usize >= ENTRIES_MAX || end > u32::MAX as usize {
            return Err(Error::DictionaryFull { limit: ENTRIES_MAX });
        }
        self.arena.push_str(text);
        self.ends.push(end as u32);
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.index.insert_unique(hash, code, |&code| hashes[code as usize]);
        Ok(code)
    }
}

impl Default for Dictionary {
    fn default() -> Dictionary {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Dictionary { id: NEXT.fetch_add(1, Ordering::Relaxed), inner: RwLock::default() }
    }
}

impl Dictionary {
    /// An empty dictionary.
    pub fn new() -> Arc<Dictionary> {
        Arc::default()
    }

    /// A dictionary of these texts, in this order.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Arc<Dictionary>> {
        let dictionary = Dictionary::new();
        dictionary.intern_all(texts)?;
        Ok(dictionary)
    }

    /// Which dictionary of this process it is; never stored, never shown.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.inner.read().ends.len()
    }

    /// No entry yet?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of a text; a new one if it has none.
    pub fn intern(&self, text: &str) -> Result<u32> {
        let hash = stable_hash_text(text);
        if let Some(code) = self.inner.read().find(hash, text) {
            return Ok(code);
        }
        self.inner.write().intern(text)
    }

    /// The codes of many texts under one lock.
    pub fn intern_all<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<u32>> {
        let mut inner = self.inner.write();
        texts.into_iter().map(|text| inner.intern(text)).collect()
    }

    /// The code of a text, if it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.inner.read().find(stable_hash_text(text), text)
    }

    /// Read access for many codes under one lock.
    pub fn read(&self) -> Codes<'_> {
        Codes { inner: self.inner.read() }
    }

    /// The text of one code.
    pub fn text(&self, code: u32) -> Arc<str> {
        self.inner.read().text(code).into()
    }

    /// All entries as an Arrow array, made once for each length.
    pub fn values(&self) -> StringArray {
        {
            let inner = self.inner.read();
            if let Some(values) = inner.values.as_ref().filter(|values| values.len_is(inner.ends.len())) {
                return values.clone();
            }
        }
        let mut inner = self.inner.write();
        let values = StringArray::from_iter_values((0..inner.ends.len() as u32).map(|code| inner.text(code)));
        inner.values = Some(values.clone());
        values
    }
}

trait LenIs {
    fn len_is(&self, len: usize) -> bool;
}

impl LenIs for StringArray {
    fn len_is(&self, len: usize) -> bool {
        arrow_array::Array::len(self) == len
    }
}

/// A dictionary, locked for reading.
pub struct Codes<'a> {
    inner: RwLockReadGuard<'a, Inner>,
}

impl Codes<'_> {
    /// The text of a code.
    pub fn text(&self, code: u32) -> &str {
        self.inner.text(code)
    }

    /// The stable hash of a code's text.
    pub fn hash(&self, code: u32) -> u64 {
        self.inner.hashes[code as usize]
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.inner.ends.len()
    }

    /// No entry yet?
    pub fn is_empty(&self) -> bool {
        self.inner.ends.is_empty()
    }
}

/// Codes of one dictionary to codes of another, kept from batch to batch. Only codes that are used are mapped, so a
/// dictionary takes no text that no row brings.
#[derive(Debug, Default)]
pub struct Remap {
    from: Option<u64>,
    codes: Vec<u32>,
}

/// A code that is not mapped yet.
const UNMAPPED: u32 = u32::MAX;

impl Remap {
    /// The codes of these rows in `to`, which grows by what it lacks. What stands under a NULL comes out as 0. If the
    /// rows' dictionary is not the one of the call before, the map starts anew.
    pub fn map(
        &mut self,
        codes: &[u32],
        nulls: Option<&NullBuffer>,
        from: &Dictionary,
        to: &Dictionary,
    ) -> Result<Vec<u32>> {
        if self.from != Some(from.id) {
            *self = Remap { from: Some(from.id), codes: vec![] };
        }
        let mut mapped = Vec::with_capacity(codes.len());
        for (row, &code) in codes.iter().enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                mapped.push(0);
                continue;
            }
            let known = self.codes.get(code as usize).copied().unwrap_or(UNMAPPED);
            mapped.push(if known == UNMAPPED { self.add(code, from, to)? } else { known });
        }
        Ok(mapped)
    }

    #[cold]
    fn add(&mut self, code: u32, from: &Dictionary, to: &Dictionary) -> Result<u32> {
        let from = from.read();
        self.codes.resize(self.codes.len().max(from.len()), UNMAPPED);
        let mapped = to.intern(from.text(code))?;
        self.codes[code as usize] = mapped;
        Ok(mapped)
    }
}
