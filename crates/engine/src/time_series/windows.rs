//! Which pane each row falls in, and which windows a row, or the clock, closes.
//!
//! Times in here are such that a window is `[end - size, end)`: with closed='right' they are one unit less than the
//! rows say, and with a sub-window the grid is moved so that `end` is the sub-window's.
//!
//! Invariants:
//! - A window is closed once, and a row before the bound of its key is late: it changes nothing.
//! - A pane is opened by a row and never empty. The panes of a key are a list, the newest first; several may have one
//!   end, of which only the first may be unsealed.
//! - With an accepted delay, a row that a closed window could have held never reaches a pane of that window.
//! - A pane's slot is reused only after the windows it is part of have been given out.

use super::grid::Grid;
use data::Paged;
use lang::function::NO_SLOT;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The slot that stays empty, for windows without rows.
pub(crate) const EMPTY_SLOT: u32 = 0;

/// No window of the key is pending.
pub(crate) const NEVER: i64 = i64::MAX;

/// No row waits for an update.
pub(crate) const IDLE: i64 = i64::MIN;

/// Rows whose time is further from 0 are refused, so that sums of times and lengths do not overflow.
const TIME_MAX: i64 = i64::MAX - (1 << 60);

/// With fill, a row that is so many windows ahead of its key is taken for a wrong time and refused.
const FILLED_MAX: i64 = 1_000_000;

/// The windows of one key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyWindows {
    /// Rows before this time are late.
    pub(crate) bound: i64,
    /// Where the newest pane ends.
    pub(crate) end: i64,
    /// The end of the next window to close.
    pub(crate) due: i64,
    /// The newest pane.
    pub(crate) slot: u32,
}

/// A key without rows.
pub(crate) const NO_WINDOWS: KeyWindows = KeyWindows { bound: i64::MIN, end: i64::MIN, due: NEVER, slot: NO_SLOT };

/// A stretch of the time of one key; its place in the list is its slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pane {
    /// Where it ends.
    pub(crate) end: i64,
    /// The pane before it.
    pub(crate) older: u32,
    /// Has a window with it been closed? Rows that come later go to another pane of the same end, since what a window
    /// gives must not depend on when it is given.
    pub(crate) sealed: bool,
}

/// What has been given out of a window that is still open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Updates {
    /// The end of the window whose result has been given out with all its rows.
    pub(crate) given: i64,
    /// Since when a row waits, by the clock; within an append its place; [`IDLE`] if none waits.
    pub(crate) since: i64,
}

/// A key with nothing given out.
pub(crate) const NO_UPDATES: Updates = Updates { given: i64::MIN, since: IDLE };

/// A window to be given out.
#[derive(Debug, Clone)]
pub(crate) struct Closed {
    /// The place of the row that closed it; when the clock closed it, when it was due.
    pub(crate) cause: i64,
    /// Its key.
    pub(crate) key: u32,
    /// Where it ends.
    pub(crate) end: i64,
    /// Its panes, from the oldest on: a range of [`Windows::members`].
    pub(crate) members: std::ops::Range<usize>,
    /// How many panes at the end of them go into the pane before them, once and for all.
    pub(crate) joined: usize,
    /// Will there be no further row in it?
    pub(crate) last: bool,
}

/// How rows and clock make windows close.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// The length of the longest window.
    pub(crate) longest: i64,
    /// Do empty windows give rows?
    pub(crate) fill: bool,
    /// Is the last result used to fill?
    pub(crate) keeps_last: bool,
    /// How long a window stays open after its end.
    pub(crate) delay: i64,
    /// May rows come out of order, within the delay?
    pub(crate) disorder: bool,
    /// Rows between windows of this length count; `None` for all.
    pub(crate) counted: Option<i64>,
    /// Rows of other keys so much later close a window.
    pub(crate) force: Option<i64>,
    /// What closed='right' takes off a time.
    pub(crate) shift: i64,
    /// Do windows close by the clock?
    pub(crate) by_clock: bool,
    /// Are open windows given out after each append?
    pub(crate) each_append: bool,
    /// Are open windows given out after rows have waited so long?
    pub(crate) wait_ms: Option<i64>,
}

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes to this slot.
    Slot(u32),
    /// It is before the bound of its key.
    Late(i64),
    /// It is not counted: no possible time, or outside of the sub-window.
    Rejected,
}

/// The windows of all keys.
pub(crate) struct Windows {
    pub(crate) rules: Rules,
    pub(crate) grid: Grid,
    pub(crate) keys: Paged<KeyWindows>,
    pub(crate) panes: Paged<Pane>,
    pub(crate) updates: Paged<Updates>,
    free: Vec<u32>,
    /// Windows that others' rows or the clock may close: end, birth of the key, key. Some are out of date.
    pending: BinaryHeap<Reverse<(i64, u128, u32)>>,
    /// When keys with waiting rows are due. Some are out of date.
    timers: VecDeque<(i64, u32)>,
    /// Keys that this append touched, perhaps more than once.
    touched: Vec<u32>,
    /// Windows to be given out, in order.
    pub(crate) closed: Vec<Closed>,
    /// Slots of the panes of closed windows.
    pub(crate) members: Vec<u32>,
    /// Panes that no later window needs, to be emptied once the closed windows are given out.
    pub(crate) expired: Vec<u32>,
}

impl Windows {
    /// No keys yet.
    pub(crate) fn new(rules: Rules, grid: Grid) -> Windows {
        let mut windows = Windows {
            rules,
            grid,
            keys: Paged::new(),
            panes: Paged::new(),
            updates: Paged::new(),
            free: vec![],
            pending: BinaryHeap::new(),
            timers: VecDeque::new(),
            touched: vec![],
            closed: vec![],
            members: vec![],
            expired: vec![],
        };
        let empty = windows.take_slot();
        assert_eq!(empty, EMPTY_SLOT, "the first slot stays empty");
        windows
    }

    /// Makes room for keys.
    pub(crate) fn grow(&mut self, keys: usize) {
        self.keys.grow(keys, NO_WINDOWS);
        if self.has_updates() {
            self.updates.grow(keys, NO_UPDATES);
        }
    }

    /// Are open windows given out?
    pub(crate) fn has_updates(&self) -> bool {
        self.rules.each_append || self.rules.wait_ms.is_some()
    }

    /// May others' rows or the clock close a key's window?
    fn expects(&self) -> bool {
        self.rules.by_clock || self.rules.force.is_some()
    }

    /// May a row be put by nothing but the bound and the newest pane of its key?
    pub(crate) fn is_plain(&self) -> bool {
        !self.rules.disorder && !self.has_updates() && !self.expects()
    }

    /// A slot nobody uses.
    pub(crate) fn take_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let slot = self.panes.len();
            self.panes.grow(slot + 1, Pane { end: i64::MIN, older: NO_SLOT, sealed: false });
            u32::try_from(slot).ok().filter(|&slot| slot != NO_SLOT).expect("fewer panes than 32-bit numbers")
        })
    }

    /// Gives slots back, empty.
    pub(crate) fn free_slots(&mut self, slots: &[u32]) {
        self.free.extend_from_slice(slots);
    }

    /// Puts a row where rows come in order and nothing but the key's own rows closes a window.
    #[inline(always)]
    pub(crate) fn put_plain(&mut self, place: usize, key: u32, time: i64) -> Fate {
        let windows = &mut self.keys[key as usize];
        if time < windows.bound {
            return Fate::Late(windows.bound);
        }
        if time < windows.end {
            windows.bound = time;
            return Fate::Slot(windows.slot);
        }
        self.turn(place, key, time)
    }

    /// Puts a row by all the rules.
    #[inline]
    pub(crate) fn put(&mut self, place: usize, key: u32, time: i64, now: i64, birth: impl Fn(u32) -> u128) -> Fate {
        let windows = self.keys[key as usize];
        if time < windows.bound {
            return Fate::Late(windows.bound);
        }
        if !self.can_be(key, time) {
            return Fate::Rejected;
        }
        let fate = if self.rules.disorder {
            self.put_delayed(place, key, time)
        } else if time < windows.end {
            self.keys[key as usize].bound = time;
            Fate::Slot(windows.slot)
        } else {
            self.turn(place, key, time)
        };
        if self.has_updates() && fate != Fate::Rejected {
            self.note_waiting(place, key, now);
        }
        if self.expects() && self.keys[key as usize].due != windows.due {
            self.expect(key, birth(key));
        }
        if let Some(force) = self.rules.force {
            let limit = time + self.rules.shift - force;
            if self.pending.peek().is_some_and(|next| next.0.0 <= limit) {
                self.force_others(place, key, limit);
            }
        }
        fate
    }

    /// Puts a row that is not of its key's newest pane, after closing the windows it is beyond.
    #[inline(never)]
    fn turn(&mut self, place: usize, key: u32, time: i64) -> Fate {
        if !self.can_be(key, time) {
            return Fate::Rejected;
        }
        self.grid.lay(time + self.rules.shift);
        if self.rules.wait_ms.is_some() && time < self.keys[key as usize].due {
            // A row of a later slice: what came before it is given out.
            self.give_current(place as i64, key);
        }
        self.close_until(place as i64, key, time - self.rules.delay);
        self.keys[key as usize].bound = time;
        let end = self.grid.pane_end(time);
        if self.rules.counted.is_some_and(|counted| time < end - counted) {
            return Fate::Rejected;
        }
        let slot = self.take_slot();
        let windows = &mut self.keys[key as usize];
        self.panes[slot as usize] = Pane { end, older: windows.slot, sealed: false };
        (windows.slot, windows.end) = (slot, end);
        if windows.due == NEVER {
            windows.due = self.grid.window_end(time);
        }
        Fate::Slot(slot)
    }

    fn put_delayed(&mut self, place: usize, key: u32, time: i64) -> Fate {
        self.grid.lay(time + self.rules.shift);
        let limit = time - self.rules.delay;
        self.close_until(place as i64, key, limit);
        let longest = self.rules.longest;
        let windows = &mut self.keys[key as usize];
        // Windows without rows are closed all the same.
        windows.bound = windows.bound.max(self.grid.window_end(limit) - longest);
        let end = if time < windows.end && time >= windows.end - self.grid.pane {
            windows.end
        } else {
            self.grid.pane_end(time)
        };
        if self.rules.counted.is_some_and(|counted| time < end - counted) {
            return Fate::Rejected;
        }
        let (mut newer, mut slot) = (NO_SLOT, windows.slot);
        while slot != NO_SLOT && self.panes[slot as usize].end > end {
            (newer, slot) = (slot, self.panes[slot as usize].older);
        }
        if slot != NO_SLOT && self.panes[slot as usize].end == end && !self.panes[slot as usize].sealed {
            return Fate::Slot(slot);
        }
        let new = self.take_slot();
        self.panes[new as usize] = Pane { end, older: slot, sealed: false };
        let windows = &mut self.keys[key as usize];
        if newer == NO_SLOT {
            (windows.slot, windows.end) = (new, end);
        } else {
            self.panes[newer as usize].older = new;
        }
        // A window that was closed is not opened again.
        let next = windows.bound + longest;
        windows.due = windows.due.min(self.grid.window_end(time).max(next));
        Fate::Slot(new)
    }

    /// Is the time one that windows can be reckoned with?
    fn can_be(&self, key: u32, time: i64) -> bool {
        let due = self.keys[key as usize].due;
        let too_far = || self.rules.fill && due != NEVER && time.saturating_sub(due) / self.grid.step > FILLED_MAX;
        (-TIME_MAX..TIME_MAX).contains(&time) && !too_far()
    }

    fn close_until(&mut self, cause: i64, key: u32, limit: i64) {
        while self.keys[key as usize].due <= limit {
            self.close_next(cause, key);
        }
    }

    /// Closes the next window of a key.
    fn close_next(&mut self, cause: i64, key: u32) {
        let windows = &mut self.keys[key as usize];
        let (end, step, longest) = (windows.due, self.grid.step, self.rules.longest);
        // Out of order, rows may come as late as the next window reaches back.
        let bound = if self.rules.disorder { end + step - longest } else { end };
        windows.bound = windows.bound.max(bound);
        let from = self.members.len();
        // The list is walked from the newest pane to the oldest; those that the next window does not reach are cut off.
        let (mut slot, mut kept) = (windows.slot, NO_SLOT);
        while slot != NO_SLOT {
            let pane = self.panes[slot as usize];
            if pane.end <= end && pane.end > end - longest {
                self.members.push(slot);
                if self.rules.disorder {
                    self.panes[slot as usize].sealed = true;
                }
            }
            if pane.end <= end + step - longest {
                self.expired.push(slot);
            } else {
                kept = slot;
            }
            slot = pane.older;
        }
        let oldest_end = match kept {
            NO_SLOT => {
                windows.slot = NO_SLOT;
                NEVER
            }
            kept => {
                let pane = &mut self.panes[kept as usize];
                pane.older = NO_SLOT;
                pane.end
            }
        };
        windows.due = if self.rules.fill {
            end + step
        } else if oldest_end == NEVER {
            NEVER
        } else {
            (end + step).max(self.grid.window_end(oldest_end - 1))
        };
        self.members[from..].reverse();
        let mut given = false;
        if self.has_updates() {
            let updates = &mut self.updates[key as usize];
            given = updates.since == IDLE && updates.given == end && !self.rules.keeps_last;
            *updates = Updates { given: end, since: IDLE };
        }
        let members = from..self.members.len();
        if !given && (self.rules.fill || !members.is_empty()) {
            self.closed.push(Closed { cause, key, end, members, joined: 0, last: true });
        } else {
            self.members.truncate(from);
        }
    }

    /// Gives out the present result of a key's next window, if a row of it waits. The slices of its last step become
    /// one pane: no window ends between them, and the next result need not merge them again.
    fn give_current(&mut self, cause: i64, key: u32) {
        let updates = &mut self.updates[key as usize];
        if updates.since == IDLE {
            return;
        }
        let windows = &mut self.keys[key as usize];
        *updates = Updates { given: windows.due, since: IDLE };
        let (from, newest) = (self.members.len(), windows.slot);
        let mut slot = newest;
        // Rows come in order here and what the next window does not reach is cut off, so it has all the panes.
        while slot != NO_SLOT {
            self.members.push(slot);
            let pane = self.panes[slot as usize];
            if pane.end > windows.due - self.grid.step {
                windows.slot = slot;
            }
            slot = pane.older;
        }
        let members = &mut self.members[from..];
        let joined = members.iter().position(|&slot| slot == windows.slot).expect("the pane of a row that waits");
        self.panes[windows.slot as usize].end = self.panes[newest as usize].end;
        self.expired.extend_from_slice(&members[..joined]);
        members.reverse();
        let members = from..self.members.len();
        self.closed.push(Closed { cause, key, end: windows.due, members, joined, last: false });
    }

    /// Notes that a row of this key has not been given out.
    fn note_waiting(&mut self, place: usize, key: u32, now: i64) {
        let updates = &mut self.updates[key as usize];
        match self.rules.wait_ms {
            _ if self.rules.each_append => {
                if updates.since == IDLE {
                    self.touched.push(key);
                }
                updates.since = place as i64;
            }
            Some(wait) if updates.since == IDLE => {
                updates.since = now;
                self.timers.push_back((now.saturating_add(wait), key));
            }
            _ => {}
        }
    }

    /// Closes one window of each other key whose end is not after the limit.
    fn force_others(&mut self, place: usize, own: u32, limit: i64) {
        let mut forced = vec![];
        while let Some(&Reverse((due, birth, key))) = self.pending.peek().filter(|next| next.0.0 <= limit) {
            self.pending.pop();
            if self.keys[key as usize].due == due {
                forced.push((due, birth, key));
            }
        }
        for (due, birth, key) in forced {
            // A window may be noted twice as pending: the second time there is another one next.
            if self.keys[key as usize].due == due {
                if key != own {
                    self.close_next(place as i64, key);
                }
                self.expect(key, birth);
            }
        }
    }

    /// Notes the next window of a key as one that others' rows or the clock may close.
    pub(crate) fn expect(&mut self, key: u32, birth: u128) {
        let due = self.keys[key as usize].due;
        if due != NEVER {
            self.pending.push(Reverse((due, birth, key)));
        }
    }

    /// Ends an append: what it touched is given out where that is asked for.
    pub(crate) fn end_append(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        let updates = &self.updates;
        let mut touched: Vec<(i64, u32)> = self
            .touched
            .drain(..)
            .map(|key| (updates[key as usize].since, key))
            .filter(|next| next.0 != IDLE)
            .collect();
        touched.sort_unstable();
        touched.dedup();
        for (place, key) in touched {
            self.give_current(place, key);
        }
        self.closed.sort_by_key(|closed| closed.cause);
    }

    /// What a clock that is now `now` makes due: windows that end by it, and rows that have waited long enough.
    pub(crate) fn tick(&mut self, now: i64, birth: impl Fn(u32) -> u128) {
        let after = self.rules.delay + self.rules.shift;
        while self.rules.by_clock {
            let Some(&Reverse((due, birth, key))) = self.pending.peek().filter(|next| next.0.0 + after <= now) else {
                break;
            };
            self.pending.pop();
            if self.keys[key as usize].due == due {
                self.close_next(due + after, key);
                self.expect(key, birth);
            }
        }
        let mut waiting = vec![];
        while let Some(&(due, key)) = self.timers.front().filter(|(due, _)| *due <= now) {
            self.timers.pop_front();
            if self.waits_until(due, key) {
                waiting.push((due, birth(key), key));
            }
        }
        waiting.sort_unstable();
        for (due, _, key) in waiting {
            self.give_current(due, key);
        }
    }

    fn waits_until(&self, due: i64, key: u32) -> bool {
        let since = self.updates[key as usize].since;
        since != IDLE && since.saturating_add(self.rules.wait_ms.unwrap_or(0)) == due
    }

    /// Drops what is out of date, and says when the clock has something to do next.
    pub(crate) fn settle(&mut self) -> Option<i64> {
        if self.rules.by_clock {
            while let Some(&Reverse((due, _, key))) = self.pending.peek() {
                if self.keys[key as usize].due == due {
                    return Some(due + self.rules.delay + self.rules.shift);
                }
                self.pending.pop();
            }
        }
        while let Some(&(due, key)) = self.timers.front() {
            if self.waits_until(due, key) {
                return Some(due);
            }
            self.timers.pop_front();
        }
        None
    }

    /// After state was restored: what is pending and waiting is noted again.
    pub(crate) fn recall(&mut self, keys: impl Iterator<Item = u32>, birth: impl Fn(u32) -> u128) {
        let mut timers = vec![];
        for key in keys {
            if self.expects() {
                self.expect(key, birth(key));
            }
            if let Some(wait) = self.rules.wait_ms
                && self.updates[key as usize].since != IDLE
            {
                timers.push((self.updates[key as usize].since.saturating_add(wait), birth(key), key));
            }
        }
        timers.sort_unstable();
        self.timers.extend(timers.into_iter().map(|(due, _, key)| (due, key)));
    }
}
