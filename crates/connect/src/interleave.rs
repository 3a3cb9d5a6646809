//! Several files merged by a column of times.
//!
//! Invariants:
//! - Rows of one file keep their order, also where their times do not.
//! - Of rows with the same time those of the earlier file come first.

use crate::error::{Error, Result};
use crate::reader::Reader;
use data::{Batch, Type};

/// Merges files by a column that each of them has: dates and times, also of different types, or whole numbers.
/// Gives runs of rows with the place of their file among `readers`.
pub fn interleave(readers: Vec<Reader>, column: &str) -> Result<Interleave> {
    let mut files = Vec::with_capacity(readers.len());
    for reader in readers {
        let schema = reader.schema();
        let refuse = |reason: String| Error::Interleave { column: column.to_string(), reason };
        let place = schema.index_of(column).ok_or_else(|| Error::missing(reader.file(), column, &schema.names()))?;
        let ty = schema.fields()[place].ty;
        let unit = unit(ty).ok_or_else(|| refuse(format!("type=`{ty}`, file=`{}`", reader.file())))?;
        files.push(File { reader, place, unit, batch: None, times: vec![], next: 0 });
    }
    Ok(Interleave { files, failed: false })
}

/// One unit of a type in nanoseconds; whole numbers and months count for themselves.
fn unit(ty: Type) -> Option<i128> {
    match ty.units_per_day() {
        Some(units) => Some(86_400_000_000_000 / units as i128),
        None => (ty.is_integer() || ty == Type::Month).then_some(1),
    }
}

struct File {
    reader: Reader,
    place: usize,
    unit: i128,
    batch: Option<Batch>,
    times: Vec<i128>,
    next: usize,
}

impl File {
    /// The time of the next row; `None` at the end.
    fn head(&mut self) -> Result<Option<i128>> {
        while self.next == self.times.len() {
            let Some(batch) = self.reader.next().transpose()? else { return Ok(None) };
            let column = batch.column(self.place);
            let values = column.to_i64s().expect("a column of whole numbers");
            // A row without a time goes as early as it can.
            let time = |(row, &value): (usize, &i64)| {
                if column.is_null(row) { i128::MIN } else { value as i128 * self.unit }
            };
            self.times = values.iter().enumerate().map(time).collect();
            self.batch = Some(batch);
            self.next = 0;
        }
        Ok(Some(self.times[self.next]))
    }

    /// The rows up to the first one that may not go yet; at least one may.
    fn run(&mut self, may_go: impl Fn(i128) -> bool) -> Batch {
        let start = self.next;
        let rows = self.times[start..].iter().take_while(|&&time| may_go(time)).count();
        self.next = start + rows;
        self.batch.as_ref().expect("times come from a batch").slice(start, rows)
    }
}

/// Runs of rows of several files in the order of their times.
pub struct Interleave {
    files: Vec<File>,
    failed: bool,
}

impl Interleave {
    fn run(&mut self) -> Result<Option<(usize, Batch)>> {
        let mut heads = Vec::with_capacity(self.files.len());
        for (index, file) in self.files.iter_mut().enumerate() {
            heads.extend(file.head()?.map(|time| (time, index)));
        }
        heads.sort_unstable();
        let Some(&(_, first)) = heads.first() else { return Ok(None) };
        let second = heads.get(1).copied();
        let rows = self.files[first].run(|time| second.is_none_or(|second| (time, first) < second));
        Ok(Some((first, rows)))
    }
}

impl Iterator for Interleave {
    type Item = Result<(usize, Batch)>;

    fn next(&mut self) -> Option<Result<(usize, Batch)>> {
        if self.failed {
            return None;
        }
        let next = self.run().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}
