//! The rows of a chunk as the time-series engine takes them: flattened, with their times, without those that have none.

use super::settings::{Settings, TimeSource};
use crate::rows::{Chunk, Origins};
use data::arrow::buffer::ScalarBuffer;
use data::{Batch, Column, concat_date_time};
use lang::Diagnostic;
use std::sync::Arc;

/// The rows to be taken.
pub(crate) struct Rows {
    /// The columns that metrics see.
    pub(crate) batch: Batch,
    /// Which rows of the batch are meant, `None` for all.
    pub(crate) picked: Option<Arc<[u32]>>,
    /// The time of each row of the batch.
    pub(crate) times: ScalarBuffer<i64>,
    /// The row of the chunk that each row of the batch was, where rows were flattened.
    source: Option<Vec<u32>>,
    /// How many rows were left out.
    pub(crate) rejected: u64,
}

impl Rows {
    /// The rows of a chunk that came when the clock was `now`.
    pub(crate) fn of(settings: &Settings, chunk: &Chunk, now: i64) -> Result<Rows, Diagnostic> {
        let (batch, picked, source, mut rejected) = if settings.flatten {
            let (batch, source, rejected) = flatten(settings, chunk)?;
            (batch, None, Some(source), rejected)
        } else {
            (chunk.batch.clone(), chunk.selection.clone(), None, 0)
        };
        let times = match settings.time {
            TimeSource::Clock => {
                let times = vec![now; batch.rows()].into();
                return Ok(Rows { batch, picked, times, source, rejected });
            }
            TimeSource::Column(column) => batch.column(column).clone(),
            TimeSource::Pair(date, time) => concat_date_time(batch.column(date), batch.column(time))?,
        };
        let picked = if times.null_count() == 0 {
            picked
        } else {
            let valid = |row: &u32| !times.is_null(*row as usize);
            let rows: Arc<[u32]> = match &picked {
                Some(rows) => rows.iter().copied().filter(valid).collect(),
                None => (0..batch.rows() as u32).filter(valid).collect(),
            };
            rejected += (picked.map_or(batch.rows(), |rows| rows.len()) - rows.len()) as u64;
            Some(rows)
        };
        let times = times.to_i64s().expect("a temporal column is stored as integers");
        Ok(Rows { batch, picked, times, source, rejected })
    }

    /// How many rows are meant.
    pub(crate) fn len(&self) -> usize {
        self.picked.as_ref().map_or(self.batch.rows(), |rows| rows.len())
    }

    /// The row of the chunk that the row at a place was.
    pub(crate) fn source(&self, place: usize) -> u32 {
        let row = self.picked.as_ref().map_or(place as u32, |rows| rows[place]);
        self.source.as_ref().map_or(row, |source| source[row as usize])
    }
}

/// One row for each element of the array vectors of a row. Rows whose array vectors are of different lengths, and
/// those without elements, are left out and counted.
fn flatten(settings: &Settings, chunk: &Chunk) -> Result<(Batch, Vec<u32>, u64), Diagnostic> {
    let lists: Vec<&Column> = chunk.batch.columns().iter().filter(|column| column.ty().element().is_some()).collect();
    let (mut source, mut rejected) = (vec![], 0);
    let mut elements = vec![vec![]; lists.len()];
    let stretch = |list: &Column, row: usize| match list.is_null(row) {
        true => 0..0,
        false => list.list_offsets()[row] as u32..list.list_offsets()[row + 1] as u32,
    };
    for place in 0..chunk.len() {
        let row = chunk.rows().map_or(place, |rows| rows[place] as usize);
        let length = stretch(lists[0], row).len();
        if length == 0 || lists.iter().any(|list| stretch(list, row).len() != length) {
            rejected += 1;
            continue;
        }
        source.extend(std::iter::repeat_n(row as u32, length));
        for (elements, list) in elements.iter_mut().zip(&lists) {
            elements.extend(stretch(list, row));
        }
    }
    let mut elements = elements.iter();
    let column = |column: &Column| match column.ty().element() {
        Some(_) => column.list_elements().take(elements.next().expect("one list of places for each array vector")),
        None => column.take(&source),
    };
    let columns = chunk.batch.columns().iter().map(column).collect();
    Ok((Batch::new(settings.input.schema.clone(), columns)?, source, rejected))
}

/// The origins of rows that rows of this chunk caused.
pub(crate) fn origins_of(chunk: &Chunk, causes: impl Iterator<Item = u32>) -> Origins {
    match &chunk.origins {
        Origins::Clock(origins) => Origins::Clock(causes.map(|row| origins[row as usize]).collect()),
        _ => Origins::Rows(causes.map(|row| chunk.origin(row)).collect()),
    }
}
