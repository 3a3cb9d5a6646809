//! The running time-series engine: assign rows to panes, fold the aggregates, give out what closed.

use super::emission::Kept;
use super::frozen::FrozenTimeSeries;
use super::input::{Rows, origins_of};
use super::settings::{Fill, Settings, TimeSource, Update};
use super::windows::{Closed, Fate, NEVER, NO_WINDOWS, Rules, Windows};
use crate::birth::birth;
use crate::key_ordinals::KeyOrdinals;
use crate::kind::{Clock, Engine, Frozen, FrozenEngine, Port};
use crate::rows::{Chunk, ClockOrigin, LateRow, Origins, Output};
use lang::function::NO_SLOT;
use lang::{Diagnostic, WindowProgram};
use std::sync::Arc;

/// The engine.
pub(crate) struct TimeSeries {
    pub(crate) settings: Arc<Settings>,
    pub(crate) keys: KeyOrdinals,
    pub(crate) windows: Windows,
    pub(crate) program: WindowProgram,
    /// The last results, where they fill empty windows.
    pub(crate) kept: Kept,
    /// How many epochs have begun.
    pub(crate) epochs: u64,
    /// The clock of this epoch.
    pub(crate) now: i64,
    /// The clock at the last purge, or at the first append.
    pub(crate) purged: Option<i64>,
    due: Option<i64>,
    /// The key of each row at hand.
    ordinals: Vec<u32>,
    /// The slot of each row at hand.
    slots: Vec<u32>,
}

impl TimeSeries {
    /// An engine with empty state.
    pub(crate) fn new(settings: Arc<Settings>, part_by: Option<&str>) -> TimeSeries {
        let types: Vec<_> = settings.keys.iter().map(|&key| settings.input.schema.fields()[key].ty).collect();
        let is_part = |&key: &usize, name: &str| settings.input.schema.index_of(name) == Some(key);
        let part = part_by.and_then(|name| settings.keys.iter().position(|key| is_part(key, name)));
        let fill = settings.fill.as_deref().unwrap_or(&[]);
        let by_clock = settings.time == TimeSource::Clock;
        let rules = Rules {
            longest: settings.windows.iter().copied().max().expect("at least one window"),
            fill: settings.fill.is_some(),
            keeps_last: fill.contains(&Fill::Previous),
            delay: settings.delay,
            disorder: settings.delay > 0 && !by_clock,
            counted: settings.sub_window.map(|(start, end)| end - start),
            force: settings.force,
            shift: settings.closed_right as i64,
            by_clock,
            each_append: settings.update == Update::EachAppend,
            wait_ms: match settings.update {
                Update::Slices { wait_ms, .. } => Some(wait_ms),
                _ => None,
            },
        };
        let mut program = settings.program();
        program.grow(1);
        TimeSeries {
            keys: KeyOrdinals::new(&types, part),
            windows: Windows::new(rules, settings.grid.clone()),
            program,
            kept: Kept::new(settings.windows.len()),
            epochs: 0,
            now: 0,
            purged: None,
            due: None,
            ordinals: vec![],
            slots: vec![],
            settings,
        }
    }

    /// Each row to the slot of its key's pane; windows that rows close are noted.
    fn assign(&mut self, chunk: &Chunk, rows: &Rows, row: impl Fn(usize) -> usize, out: &mut Output) {
        let (plain, shift) = (self.windows.is_plain(), self.windows.rules.shift);
        let times: &[i64] = &rows.times;
        self.slots.clear();
        self.slots.reserve(self.ordinals.len());
        for (place, &key) in self.ordinals.iter().enumerate() {
            // A time at the end of 64 bits wraps to the other end; both are refused.
            let time = times[row(place)].wrapping_sub(shift);
            let fate = if plain {
                self.windows.put_plain(place, key, time)
            } else {
                self.windows.put(place, key, time, self.now, |key| self.keys.facts(key).birth)
            };
            self.slots.push(match fate {
                Fate::Slot(slot) => slot,
                Fate::Late(bound) => {
                    let source = rows.source(place);
                    let origin = if chunk.by_clock() { source } else { chunk.number(source) };
                    out.late(LateRow { origin, time: time + shift, bound: bound + shift });
                    NO_SLOT
                }
                Fate::Rejected => {
                    out.counts.rejected += 1;
                    NO_SLOT
                }
            });
        }
    }

    /// Forgets the keys without an open window, if it is time.
    fn purge(&mut self) {
        let Some(every) = self.settings.purge_ms else { return };
        let last = *self.purged.get_or_insert(self.now);
        if self.now.saturating_sub(last) < every {
            return;
        }
        self.purged = Some(self.now);
        let empty: Vec<u32> = self.keys.iter().filter(|&key| self.windows.keys[key as usize].due == NEVER).collect();
        for &key in &empty {
            self.windows.keys[key as usize] = NO_WINDOWS;
        }
        self.keys.remove(&empty);
    }
}

impl Engine for TimeSeries {
    fn push(&mut self, _port: Port, chunk: &Chunk, out: &mut Output) -> Result<(), Diagnostic> {
        out.counts.rows_in += chunk.len() as u64;
        self.purge();
        let rows = Rows::of(&self.settings, chunk, self.now)?;
        out.counts.rejected += rows.rejected;

        let columns: Vec<_> = self.settings.keys.iter().map(|&key| rows.batch.column(key)).collect();
        let epochs = self.epochs;
        // Flattened rows are all meant, so a row of the batch is its own place.
        let source = |row: u32| if self.settings.flatten { rows.source(row as usize) } else { row };
        let birth = |row: u32| birth(epochs, chunk, source(row));
        let picked = rows.picked.as_deref();
        self.keys.resolve(&columns, picked, rows.len(), birth, &mut self.ordinals)?;
        self.windows.grow(self.keys.len());
        self.kept.grow(self.keys.len());

        match picked {
            None => self.assign(chunk, &rows, |place| place, out),
            Some(picked) => self.assign(chunk, &rows, |place| picked[place] as usize, out),
        }
        self.windows.end_append();
        self.program.grow(self.windows.panes.len());
        let values = self.program.rows(&rows.batch, picked, out.host)?;
        self.program.fold(&self.slots, &values, picked)?;
        self.emit(|_, closed| origins_of(chunk, closed.iter().map(|closed| rows.source(closed.cause as usize))), out)?;
        self.due = self.windows.settle();
        Ok(())
    }

    fn tick(&mut self, now: Clock, out: &mut Output) -> Result<(), Diagnostic> {
        self.epochs += 1;
        self.now = now.0;
        let keys = &self.keys;
        self.windows.tick(now.0, |key| keys.facts(key).birth);
        let origins = |keys: &KeyOrdinals, closed: &[Closed]| {
            let origin =
                |closed: &Closed| ClockOrigin { due: closed.cause, birth: keys.facts(closed.key).birth, place: 0 };
            Origins::Clock(closed.iter().map(origin).collect())
        };
        self.emit(origins, out)?;
        self.due = self.windows.settle();
        Ok(())
    }

    fn next_due(&self) -> Option<Clock> {
        self.due.map(Clock)
    }

    fn freeze(&mut self) -> Box<dyn FrozenEngine> {
        Box::new(FrozenTimeSeries::of(self))
    }

    fn thaw(&mut self, frozen: &[Frozen]) -> Result<(), Diagnostic> {
        self.restore(frozen)?;
        self.due = self.windows.settle();
        Ok(())
    }
}
