//! Closed windows to output rows: merge panes, take results, fill what is empty, label.

use super::engine::TimeSeries;
use super::settings::Fill;
use super::windows::{Closed, EMPTY_SLOT};
use crate::key_ordinals::KeyOrdinals;
use crate::rows::{Origins, Output};
use data::{Batch, Column, Paged, Physical, Scalar, Type};
use lang::Diagnostic;
use lang::function::NO_SLOT;

/// The slots of the last results of each key that were not empty, one for each window size.
pub(crate) struct Kept {
    pub(crate) groups: usize,
    pub(crate) slots: Paged<u32>,
}

impl Kept {
    /// None yet, for so many window sizes.
    pub(crate) fn new(groups: usize) -> Kept {
        Kept { groups, slots: Paged::new() }
    }

    /// Makes room for keys.
    pub(crate) fn grow(&mut self, keys: usize) {
        self.slots.grow(keys * self.groups, NO_SLOT);
    }

    /// The place of a key's slot.
    pub(crate) fn place(&self, key: u32, group: usize) -> usize {
        key as usize * self.groups + group
    }
}

/// Where the result of an output row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The rows of the window.
    Rows,
    /// Nothing: the window is empty.
    Nothing,
    /// The last result, since the window is empty.
    Previous,
}

impl TimeSeries {
    /// Gives out the closed windows, in order, and frees the panes no later window needs.
    pub(crate) fn emit(
        &mut self,
        origins: impl FnOnce(&KeyOrdinals, &[Closed]) -> Origins,
        out: &mut Output,
    ) -> Result<(), Diagnostic> {
        let closed = std::mem::take(&mut self.windows.closed);
        let members = std::mem::take(&mut self.windows.members);
        let mut retired = std::mem::take(&mut self.windows.expired);
        if !closed.is_empty() {
            let keys: Vec<u32> = closed.iter().map(|closed| closed.key).collect();
            let mut columns = vec![self.labels(&closed)];
            columns.extend(self.keys.columns(&keys));
            let (slots, sources) = self.window_slots(&closed, &members, &mut retired);
            for (group, (slots, sources)) in slots.iter().zip(&sources).enumerate() {
                let results = self.program.emit(group, slots)?;
                self.fill(results, sources, &mut columns)?;
            }
            out.push(Batch::new(self.settings.schema.clone(), columns)?, origins(&self.keys, &closed));
        }
        if !retired.is_empty() {
            self.program.reset(&retired);
            self.windows.free_slots(&retired);
            retired.clear();
        }
        // The vectors go back for their room.
        let (mut closed, mut members) = (closed, members);
        closed.clear();
        members.clear();
        (self.windows.closed, self.windows.members, self.windows.expired) = (closed, members, retired);
        Ok(())
    }

    /// The times that the output shows.
    fn labels(&self, closed: &[Closed]) -> Column {
        let start = if self.settings.label_start { self.settings.windows[0] } else { 0 };
        let labels = closed.iter().map(|closed| closed.end - self.settings.grid.offset - start);
        let ty = self.settings.time_type;
        match ty.physical() {
            // A window that ends after the last time of its type is shown with the last time.
            Physical::I32 => {
                let cut = |label: i64| label.clamp(i32::MIN as i64, i32::MAX as i64) as i32;
                Column::of_i32(ty, labels.map(cut).collect::<Vec<_>>(), None)
            }
            _ => Column::of_i64(ty, labels.collect::<Vec<_>>(), None),
        }
    }

    /// The slot with the aggregates of each closed window, and where they come from, by window size.
    fn window_slots(
        &mut self,
        closed: &[Closed],
        members: &[u32],
        retired: &mut Vec<u32>,
    ) -> (Vec<Vec<u32>>, Vec<Vec<Source>>) {
        let sizes = self.settings.windows.len();
        let mut slots = vec![Vec::with_capacity(closed.len()); sizes];
        let mut sources = vec![Vec::with_capacity(closed.len()); sizes];
        for closed in closed {
            let (longest, joined) = members[closed.members.clone()].split_at(closed.members.len() - closed.joined);
            joined.iter().for_each(|&pane| self.program.merge(longest[longest.len() - 1], pane));
            for group in 0..sizes {
                let (slot, source) = self.window_slot(group, closed, longest, retired);
                slots[group].push(slot);
                sources[group].push(source);
            }
        }
        (slots, sources)
    }

    fn window_slot(&mut self, group: usize, closed: &Closed, longest: &[u32], retired: &mut Vec<u32>) -> (u32, Source) {
        let size = self.settings.windows[group];
        let keeps_last = self.windows.rules.keeps_last;
        // A pane that later results of the same rows at hand go on in cannot be read when all of them are in.
        let as_it_is = !keeps_last && (closed.last || self.windows.rules.each_append);
        let panes = &self.windows.panes;
        let first = longest.partition_point(|&slot| panes[slot as usize].end <= closed.end - size);
        let kept = self.kept.place(closed.key, group);
        match &longest[first..] {
            [] => match self.kept.slots[kept] {
                NO_SLOT => (EMPTY_SLOT, Source::Nothing),
                previous => (previous, Source::Previous),
            },
            [one] if as_it_is => (*one, Source::Rows),
            panes => {
                let merged = self.windows.take_slot();
                self.program.grow(self.windows.panes.len());
                panes.iter().for_each(|&pane| self.program.merge(merged, pane));
                let unused = if keeps_last && closed.last {
                    std::mem::replace(&mut self.kept.slots[kept], merged)
                } else {
                    merged
                };
                retired.extend((unused != NO_SLOT).then_some(unused));
                (merged, Source::Rows)
            }
        }
    }

    /// The metrics of one window size, with those of empty windows filled.
    fn fill(&self, results: Vec<Column>, sources: &[Source], columns: &mut Vec<Column>) -> Result<(), Diagnostic> {
        match &self.settings.fill {
            Some(fill) if sources.iter().any(|source| *source != Source::Rows) => {
                let before = columns.len() - 1 - self.settings.keys.len();
                for (result, fill) in results.into_iter().zip(&fill[before..]) {
                    columns.push(filled(result, fill, sources)?);
                }
            }
            _ => columns.extend(results),
        }
        Ok(())
    }
}

/// The results with those of empty windows replaced.
fn filled(results: Column, fill: &Fill, sources: &[Source]) -> Result<Column, Diagnostic> {
    let constant = match fill {
        Fill::Value(value) => value,
        Fill::Null | Fill::Previous => &Scalar::Null,
    };
    let ty: Type = results.ty();
    let constant = Column::repeat(ty, constant, 1);
    let place = |(row, source): (usize, &Source)| match source {
        Source::Rows => (0, row),
        Source::Previous if *fill == Fill::Previous => (0, row),
        _ => (1, 0),
    };
    let places: Vec<(usize, usize)> = sources.iter().enumerate().map(place).collect();
    Ok(Column::interleave(&[&results, &constant], &places)?)
}
