//! The rows of a table that are in memory: batches in the order of their offsets.
//!
//! Small appends are merged as a binary counter counts, so that a row is copied as often as the number of rows merged
//! into one batch has bits, and many single rows do not become many batches. Large appends are shared, never copied.
//!
//! Invariant: the batches follow each other without a gap.

use data::Batch;
use std::collections::VecDeque;
use std::ops::Range;

/// Batches of this many rows are left as they are.
const MERGE_ROWS_MAX: usize = 4_096;

/// Rows in memory.
#[derive(Debug, Default)]
pub(super) struct Tail {
    blocks: VecDeque<Block>,
    end: u64,
}

#[derive(Debug)]
struct Block {
    first: u64,
    batch: Batch,
}

impl Block {
    fn end(&self) -> u64 {
        self.first + self.batch.rows() as u64
    }
}

impl Tail {
    /// No rows; the next one has this offset.
    pub(super) fn at(end: u64) -> Tail {
        Tail { blocks: VecDeque::new(), end }
    }

    /// The offset of the first row in memory.
    pub(super) fn start(&self) -> u64 {
        self.blocks.front().map_or(self.end, |block| block.first)
    }

    /// The offset of the next row.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Adds rows at the end; symbols must be of the table's dictionary.
    pub(super) fn push(&mut self, mut batch: Batch) {
        if batch.rows() == 0 {
            return;
        }
        let mut first = self.end;
        self.end += batch.rows() as u64;
        // One block takes in all that are not larger than what has gathered, and is copied once for all of them.
        let (mut rows, mut merged) = (batch.rows(), self.blocks.len());
        while rows < MERGE_ROWS_MAX && merged > 0 && self.blocks[merged - 1].batch.rows() <= rows {
            merged -= 1;
            rows += self.blocks[merged].batch.rows();
        }
        if merged < self.blocks.len() {
            first = self.blocks[merged].first;
            let mut parts: Vec<Batch> = self.blocks.drain(merged..).map(|block| block.batch).collect();
            parts.push(batch);
            batch = Batch::concat(parts[0].schema().clone(), &parts).expect("batches of one table have its types");
        }
        self.blocks.push_back(Block { first, batch });
    }

    /// Drops the oldest batches while at least `rows` rows stay.
    pub(super) fn keep(&mut self, rows: usize) {
        while self.blocks.front().is_some_and(|block| self.end - block.end() >= rows as u64) {
            self.blocks.pop_front();
        }
    }

    /// Drops the rows before this offset.
    pub(super) fn drop_before(&mut self, offset: u64) {
        while let Some(block) = self.blocks.front_mut().filter(|block| block.first < offset) {
            if offset < block.end() {
                let dropped = (offset - block.first) as usize;
                *block = Block { first: offset, batch: block.batch.slice(dropped, block.batch.rows() - dropped) };
                break;
            }
            self.blocks.pop_front();
        }
    }

    /// Drops the rows at and after this offset.
    pub(super) fn cut(&mut self, offset: u64) {
        while let Some(block) = self.blocks.back_mut().filter(|block| block.end() > offset) {
            if block.first < offset {
                block.batch = block.batch.slice(0, (offset - block.first) as usize);
                break;
            }
            self.blocks.pop_back();
        }
        self.end = offset;
    }

    /// The rows of this range, which must be in memory, each batch with its first offset. Nothing is copied.
    pub(super) fn read(&self, range: Range<u64>) -> Vec<(u64, Batch)> {
        assert!(self.start() <= range.start && range.end <= self.end, "rows in memory");
        let from = self.blocks.partition_point(|block| block.end() <= range.start);
        let within = self.blocks.range(from..).take_while(|block| block.first < range.end);
        let slice = |block: &Block| {
            let (start, end) = (block.first.max(range.start), block.end().min(range.end));
            (start, block.batch.slice((start - block.first) as usize, (end - start) as usize))
        };
        within.map(slice).collect()
    }

    /// All batches.
    pub(super) fn batches(&self) -> Vec<Batch> {
        self.blocks.iter().map(|block| block.batch.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::{Column, Schema, Type};

    fn rows(range: Range<i64>) -> Batch {
        Batch::new(Schema::of(&[("x", Type::Long)]), vec![Column::of_i64(Type::Long, range.collect::<Vec<_>>(), None)])
            .unwrap()
    }

    fn read(tail: &Tail, range: Range<u64>) -> Vec<i64> {
        tail.read(range).iter().flat_map(|(_, batch)| batch.column(0).i64s().to_vec()).collect()
    }

    #[test]
    fn single_rows_gather_in_few_batches_and_read_back_in_any_range() {
        let mut tail = Tail::default();
        (0..1000).for_each(|row| tail.push(rows(row..row + 1)));
        assert!(tail.blocks.len() <= 10, "{}", tail.blocks.len());
        for (from, to) in [(0, 1000), (17, 18), (511, 513), (999, 1000), (1000, 1000)] {
            assert_eq!(read(&tail, from..to), (from as i64..to as i64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn rows_leave_at_either_end() {
        let mut tail = Tail::default();
        (0..10).for_each(|batch| tail.push(rows(batch * 50_000..(batch + 1) * 50_000)));
        assert_eq!(tail.blocks.len(), 10);
        tail.keep(120_000);
        assert_eq!((tail.start(), tail.end()), (350_000, 500_000));
        tail.cut(420_001);
        assert_eq!(tail.end(), 420_001);
        assert_eq!(read(&tail, 419_999..420_001), [419_999, 420_000]);
        tail.drop_before(400_010);
        assert_eq!(tail.start(), 400_010);
        tail.cut(7);
        assert_eq!((tail.start(), tail.end()), (7, 7));
    }
}
