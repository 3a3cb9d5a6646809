//! The state of a time-series engine as bytes.
//!
//! ```text
//! shared:  epochs u64 | now i64 | purged option | anchor option
//! state of a key:
//!          bound i64 | due i64
//!          | given i64 | since i64                      if open windows are given out
//!          | count u32 | (pane end i64 | sealed u8 | aggregates)*   the panes, from the oldest on
//!          | (kept u8 | aggregates if kept)*            one for each window size, if last results fill
//! option:  given u8 | i64
//! ```

use super::emission::Kept;
use super::engine::TimeSeries;
use super::windows::{KeyWindows, Pane, Updates};
use crate::encoding::{put_i64, put_option, put_u32, put_u64, take_i64, take_option, take_u8, take_u32, take_u64};
use crate::frozen_keys::{groups, keys_of, must_be_read, version_must_be};
use crate::key_ordinals::FrozenKeys;
use crate::kind::{Frozen, FrozenEngine};
use data::Paged;
use lang::function::NO_SLOT;
use lang::{Diagnostic, WindowStates};

const VERSION: u16 = 2;

/// A picture of the state.
pub(crate) struct FrozenTimeSeries {
    shared: Vec<u8>,
    keys: FrozenKeys,
    windows: Paged<KeyWindows>,
    panes: Paged<Pane>,
    updates: Option<Paged<Updates>>,
    kept: Option<Kept>,
    program: WindowStates,
}

impl FrozenTimeSeries {
    /// A picture of this engine now.
    pub(crate) fn of(engine: &mut TimeSeries) -> FrozenTimeSeries {
        let mut shared = vec![];
        put_u64(&mut shared, engine.epochs);
        put_i64(&mut shared, engine.now);
        put_option(&mut shared, engine.purged);
        put_option(&mut shared, engine.windows.grid.anchor);
        let keeps_last = engine.windows.rules.keeps_last;
        FrozenTimeSeries {
            shared,
            keys: engine.keys.freeze(),
            windows: engine.windows.keys.freeze(),
            panes: engine.windows.panes.freeze(),
            updates: engine.windows.has_updates().then(|| engine.windows.updates.freeze()),
            kept: keeps_last.then(|| Kept { groups: engine.kept.groups, slots: engine.kept.slots.freeze() }),
            program: engine.program.snapshot(),
        }
    }

    fn encode_key(&self, key: u32, bytes: &mut Vec<u8>) {
        let windows = self.windows[key as usize];
        put_i64(bytes, windows.bound);
        put_i64(bytes, windows.due);
        if let Some(updates) = &self.updates {
            put_i64(bytes, updates[key as usize].given);
            put_i64(bytes, updates[key as usize].since);
        }
        let mut slots = vec![];
        let mut slot = windows.slot;
        while slot != NO_SLOT {
            slots.push(slot);
            slot = self.panes[slot as usize].older;
        }
        put_u32(bytes, slots.len() as u32);
        for &slot in slots.iter().rev() {
            let pane = self.panes[slot as usize];
            put_i64(bytes, pane.end);
            bytes.push(pane.sealed as u8);
            self.program.encode(slot, bytes);
        }
        if let Some(kept) = &self.kept {
            for group in 0..kept.groups {
                let slot = kept.slots[kept.place(key, group)];
                bytes.push((slot != NO_SLOT) as u8);
                if slot != NO_SLOT {
                    self.program.encode(slot, bytes);
                }
            }
        }
    }
}

impl FrozenEngine for FrozenTimeSeries {
    fn encode(&self) -> Frozen {
        let groups = groups(&self.keys, |key, bytes| self.encode_key(key, bytes));
        Frozen { version: VERSION, shared: self.shared.clone(), groups }
    }
}

impl TimeSeries {
    /// Takes up the state of these groups.
    pub(crate) fn restore(&mut self, frozen: &[Frozen]) -> Result<(), Diagnostic> {
        version_must_be(VERSION, frozen)?;
        for part in frozen {
            let mut shared = part.shared.as_slice();
            let bytes = &mut shared;
            self.epochs = self.epochs.max(take_u64(bytes)?);
            self.now = self.now.max(take_i64(bytes)?);
            self.purged = self.purged.max(take_option(bytes)?);
            self.windows.grid.anchor = self.windows.grid.anchor.or(take_option(bytes)?);
        }
        for mut entry in keys_of(frozen)? {
            let key = self.keys.decode(entry.birth, &mut entry.values)?;
            self.windows.grow(self.keys.len());
            self.kept.grow(self.keys.len());
            self.decode_key(key, &mut entry.state)?;
            must_be_read(entry.state)?;
        }
        let keys = &self.keys;
        self.windows.recall(keys.iter(), |key| keys.facts(key).birth);
        Ok(())
    }

    fn decode_key(&mut self, key: u32, bytes: &mut &[u8]) -> Result<(), Diagnostic> {
        let (bound, due) = (take_i64(bytes)?, take_i64(bytes)?);
        if self.windows.has_updates() {
            let (given, since) = (take_i64(bytes)?, take_i64(bytes)?);
            self.windows.updates[key as usize] = Updates { given, since };
        }
        let (mut end, mut slot) = (i64::MIN, NO_SLOT);
        for _ in 0..take_u32(bytes)? {
            end = take_i64(bytes)?;
            let sealed = take_u8(bytes)? != 0;
            let older = std::mem::replace(&mut slot, self.decode_slot_at(end, bytes)?);
            let pane = &mut self.windows.panes[slot as usize];
            (pane.older, pane.sealed) = (older, sealed);
        }
        self.windows.keys[key as usize] = KeyWindows { bound, end, due, slot };
        if self.windows.rules.keeps_last {
            for group in 0..self.kept.groups {
                if take_u8(bytes)? != 0 {
                    let place = self.kept.place(key, group);
                    self.kept.slots[place] = self.decode_slot_at(i64::MIN, bytes)?;
                }
            }
        }
        Ok(())
    }

    fn decode_slot_at(&mut self, end: i64, bytes: &mut &[u8]) -> Result<u32, Diagnostic> {
        let slot = self.windows.take_slot();
        self.windows.panes[slot as usize] = Pane { end, older: NO_SLOT, sealed: false };
        self.program.grow(self.windows.panes.len());
        self.program.decode(slot, bytes)?;
        Ok(slot)
    }
}
