//! Stable hashes of values, the same on every machine and in every build.

use crate::scalar::Scalar;
use xxhash_rust::xxh3::xxh3_64;

/// Into how many groups keyed state is encoded.
pub const KEY_GROUPS: usize = 256;

/// One of the [`KEY_GROUPS`] groups of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyGroup(pub u8);

/// The key group of a value with this stable hash.
pub fn key_group(hash: u64) -> KeyGroup {
    KeyGroup((hash >> 56) as u8)
}

/// The stable hash of a text: of its UTF-8 bytes.
pub fn stable_hash_text(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// The stable hash of a BLOB or of a value of 16 bytes.
pub(crate) fn stable_hash_bytes(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The stable hash of a value: texts by their bytes, integers and temporal values by their 8 bytes, floats by their
/// bits with -0 as 0, lists by their elements; NULL has one of its own.
pub fn stable_hash(value: &Scalar) -> u64 {
    match value {
        Scalar::Null => 0x9e37_79b9_7f4a_7c15,
        Scalar::Bool(value) => xxh3_64(&(*value as i64).to_le_bytes()),
        Scalar::Int(value) => xxh3_64(&value.to_le_bytes()),
        Scalar::Float(value) => xxh3_64(&(value + 0.0).to_bits().to_le_bytes()),
        Scalar::Decimal(value) => xxh3_64(&value.to_le_bytes()),
        Scalar::Text(text) => stable_hash_text(text),
        Scalar::Bytes(bytes) => stable_hash_bytes(bytes),
        Scalar::Bytes16(bytes) => stable_hash_bytes(bytes),
        Scalar::List(column) => (0..column.len()).fold(xxh3_64(b"list"), |hash, row| {
            xxh3_64(&[hash.to_le_bytes(), stable_hash(&column.get(row)).to_le_bytes()].concat())
        }),
    }
}
