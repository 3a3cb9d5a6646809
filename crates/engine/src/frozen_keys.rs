//! Keyed state by key group: what all keyed engines share of freezing and thawing.
//!
//! A key is written as `size u32 | birth u128 | ordinal u32 | values size u32 | values | state`. Keys are restored in
//! the order of birth, then of their old ordinal, so that the restored engine does not depend on how groups were spread
//! over parts.

use crate::encoding::{broken, put_bytes, put_u32, put_u64, take_bytes, take_u32, take_u64};
use crate::key_ordinals::FrozenKeys;
use crate::kind::Frozen;
use data::KeyGroup;
use lang::Diagnostic;
use std::collections::BTreeMap;

/// The state of each key group; `encode` writes that of one key.
pub(crate) fn groups(keys: &FrozenKeys, encode: impl Fn(u32, &mut Vec<u8>)) -> Vec<(KeyGroup, Vec<u8>)> {
    let mut groups: BTreeMap<KeyGroup, Vec<u8>> = BTreeMap::new();
    let (mut entry, mut values) = (vec![], vec![]);
    for (key, facts) in keys.iter() {
        entry.clear();
        values.clear();
        put_u64(&mut entry, (facts.birth >> 64) as u64);
        put_u64(&mut entry, facts.birth as u64);
        put_u32(&mut entry, key);
        keys.encode(key, &mut values);
        put_bytes(&mut entry, &values);
        encode(key, &mut entry);
        put_bytes(groups.entry(facts.group).or_default(), &entry);
    }
    groups.into_iter().collect()
}

/// Refuses state that another version of an engine has written.
pub(crate) fn version_must_be(version: u16, frozen: &[Frozen]) -> Result<(), Diagnostic> {
    match frozen.iter().find(|part| part.version != version) {
        None => Ok(()),
        Some(part) => {
            let found = part.version;
            Err(Diagnostic::new(format!("engine state is of another version: found=`{found}`, known=`{version}`")))
        }
    }
}

/// One key of frozen state.
pub(crate) struct FrozenKey<'a> {
    /// Its birth.
    pub(crate) birth: u128,
    ordinal: u32,
    /// Its values, as the key ordinals read them.
    pub(crate) values: &'a [u8],
    /// Its state.
    pub(crate) state: &'a [u8],
}

/// All keys of all parts, in the order in which they are to be restored.
pub(crate) fn keys_of(frozen: &[Frozen]) -> Result<Vec<FrozenKey<'_>>, Diagnostic> {
    let mut keys = vec![];
    for (_, bytes) in frozen.iter().flat_map(|part| &part.groups) {
        let mut bytes = bytes.as_slice();
        while !bytes.is_empty() {
            let mut entry = take_bytes(&mut bytes)?;
            let (epoch, origin, ordinal) = (take_u64(&mut entry)?, take_u64(&mut entry)?, take_u32(&mut entry)?);
            let birth = (epoch as u128) << 64 | origin as u128;
            let values = take_bytes(&mut entry)?;
            keys.push(FrozenKey { birth, ordinal, values, state: entry });
        }
    }
    keys.sort_by_key(|key| (key.birth, key.ordinal));
    Ok(keys)
}

/// Refuses bytes that are left over.
pub(crate) fn must_be_read(bytes: &[u8]) -> Result<(), Diagnostic> {
    if bytes.is_empty() { Ok(()) } else { Err(broken("what is left of a key")) }
}
