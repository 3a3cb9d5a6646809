//! Who appended what: for each writer its sequence numbers, for each of these its rows.
//!
//! Appends of one writer that follow each other, with sequence numbers without a gap and equal numbers of rows, are
//! kept as one run: a client that sends row by row costs the same whatever it sends.
//!
//! Invariants:
//! - Runs stand in the order of their offsets; those of a writer also in that of its sequence numbers.
//! - A writer's last sequence number is known for ever, its appends as long as their rows are.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Who appends: a node of a graph, a client, a file being fed, a Kafka partition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Writer(Arc<str>);

impl Writer {
    /// A writer of this name, the same in each of its lives. Names that begin with `journal/` are those of graphs.
    pub fn named(name: &str) -> Writer {
        Writer(name.into())
    }

    /// A node of the graph that runs by this journal.
    pub fn node(journal: u64, node: &str) -> Writer {
        Writer(format!("journal/{journal}/{node}").into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Is it a node of a graph?
    pub fn is_node(&self) -> bool {
        self.0.starts_with("journal/")
    }
}

/// One append that a table holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) check: u64,
    pub(super) offsets: Range<u64>,
}

#[derive(Debug)]
struct Run {
    writer: u32,
    seq: u64,
    offset: u64,
    rows: u64, // Of each append.
    count: u64,
    checks: Vec<u64>, // Of each append; empty if all are 0.
}

impl Run {
    fn end(&self) -> u64 {
        self.offset + self.rows * self.count
    }

    fn last_seq(&self) -> u64 {
        self.seq + self.count - 1
    }

    fn held(&self, number: u64) -> Held {
        let offset = self.offset + self.rows * number;
        Held { check: self.checks.get(number as usize).copied().unwrap_or(0), offsets: offset..offset + self.rows }
    }

    /// Takes in the append that follows, if it is like the others.
    fn extend(&mut self, writer: u32, seq: u64, check: u64, rows: u64) -> bool {
        let like = self.writer == writer && self.rows == rows && self.seq.checked_add(self.count) == Some(seq);
        if !like {
            return false;
        }
        if check != 0 || !self.checks.is_empty() {
            self.checks.resize(self.count as usize, 0);
            self.checks.push(check);
        }
        self.count += 1;
        true
    }

    /// Leaves only its first appends.
    fn shorten(&mut self, count: u64) {
        self.count = count;
        self.checks.truncate(count as usize);
    }
}

#[derive(Debug, Default)]
struct Past {
    last: Option<u64>,
    runs: VecDeque<u64>,    // Numbers of its runs, counted from the table's first one.
    forgotten: Option<u64>, // The last sequence number whose rows are no longer kept.
}

/// All appends of a table, by writer and by offset. Writers are numbered as they first come.
#[derive(Debug, Default)]
pub(super) struct Appends {
    runs: VecDeque<Run>,
    first: u64, // The number of `runs[0]`.
    writers: Vec<Past>,
}

/// What a table knows of a sequence number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It is new.
    No,
    /// It was appended, or jumped over: then it has no rows.
    Yes(Held),
    /// It was appended; its rows are no longer kept.
    NoMore,
}

impl Appends {
    /// Notes an append; the caller has looked that its sequence number is new.
    pub(super) fn push(&mut self, writer: u32, seq: u64, check: u64, offsets: Range<u64>) {
        let rows = offsets.end - offsets.start;
        self.know(writer).last = Some(seq);
        if self.runs.back_mut().is_some_and(|run| run.extend(writer, seq, check, rows)) {
            return;
        }
        let number = self.first + self.runs.len() as u64;
        let checks = if check == 0 { vec![] } else { vec![check] };
        self.runs.push_back(Run { writer, seq, offset: offsets.start, rows, count: 1, checks });
        self.know(writer).runs.push_back(number);
    }

    fn know(&mut self, writer: u32) -> &mut Past {
        let known = self.writers.len().max(writer as usize + 1);
        self.writers.resize_with(known, Past::default);
        &mut self.writers[writer as usize]
    }

    /// Notes a writer whose last appends are no longer kept.
    pub(super) fn remember(&mut self, writer: u32, last: u64) {
        let past = self.know(writer);
        past.last = past.last.max(Some(last));
        past.forgotten = past.forgotten.max(Some(last));
    }

    /// The last sequence number of a writer.
    pub(super) fn last(&self, writer: u32) -> Option<u64> {
        self.writers.get(writer as usize)?.last
    }

    /// The last sequence number, of each writer that has one, whose rows are older than `offset`.
    pub(super) fn last_before(&self, offset: u64) -> Vec<(u32, u64)> {
        let last = |(writer, past): (usize, &Past)| {
            let older = |number: &&u64| self.run(**number).offset < offset;
            let run = past.runs.iter().rev().find(older).map(|number| {
                let run = self.run(*number);
                let appends = if run.rows == 0 { run.count } else { (offset - run.offset).div_ceil(run.rows) };
                run.seq + appends.min(run.count) - 1
            });
            run.or(past.forgotten).map(|last| (writer as u32, last))
        };
        self.writers.iter().enumerate().filter_map(last).collect()
    }

    fn run(&self, number: u64) -> &Run {
        &self.runs[(number - self.first) as usize]
    }

    /// What is known of a writer's sequence number; `end` is the table's.
    pub(super) fn find(&self, writer: u32, seq: u64, end: u64) -> Seen {
        let Some(past) = self.writers.get(writer as usize).filter(|past| past.last >= Some(seq)) else {
            return Seen::No;
        };
        let after = past.runs.partition_point(|number| self.run(*number).seq <= seq);
        match after.checked_sub(1).map(|place| self.run(past.runs[place])) {
            Some(run) if seq - run.seq < run.count => Seen::Yes(run.held(seq - run.seq)),
            None if past.forgotten >= Some(seq) => Seen::NoMore,
            _ => Seen::Yes(Held { check: 0, offsets: end..end }),
        }
    }

    /// The offsets of what a writer appended under this number; `None` if it jumped over it, or if it is not kept.
    pub(super) fn append(&self, writer: u32, seq: u64) -> Option<Range<u64>> {
        let past = self.writers.get(writer as usize)?;
        let place = past.runs.partition_point(|number| self.run(*number).last_seq() < seq);
        let run = self.run(*past.runs.get(place)?);
        Some(run.held(seq.checked_sub(run.seq)?).offsets)
    }

    /// Where the first append of a writer after this sequence number begins.
    pub(super) fn first_after(&self, writer: u32, seq: u64) -> Option<u64> {
        let past = self.writers.get(writer as usize)?;
        let place = past.runs.partition_point(|number| self.run(*number).last_seq() <= seq);
        let run = self.run(*past.runs.get(place)?);
        Some(run.held((seq + 1).saturating_sub(run.seq)).offsets.start)
    }

    /// The appends with rows in this range: where each ends.
    pub(super) fn ends(&self, range: &Range<u64>) -> Vec<u64> {
        let mut ends = vec![];
        let start = self.runs.partition_point(|run| run.end() <= range.start);
        for run in self.runs.range(start..).take_while(|run| run.offset < range.end).filter(|run| run.rows > 0) {
            let skipped = range.start.saturating_sub(run.offset) / run.rows;
            let all = (skipped..run.count).map(|number| run.held(number).offsets.end);
            ends.extend(all.take_while(|end| *end <= range.end));
        }
        ends
    }

    /// Is this a place between appends?
    pub(super) fn is_between(&self, offset: u64) -> bool {
        let after = self.runs.partition_point(|run| run.offset < offset);
        let before = after.checked_sub(1).map(|place| &self.runs[place]);
        before.is_none_or(|run| offset >= run.end() || (offset - run.offset).is_multiple_of(run.rows))
    }

    /// Forgets the appends at or after this offset, those without rows too: what comes there next may be other rows.
    pub(super) fn cut(&mut self, offset: u64) {
        while let Some(run) = self.runs.back_mut().filter(|run| run.offset >= offset || run.end() > offset) {
            let kept = if run.offset >= offset { 0 } else { (offset - run.offset) / run.rows };
            let (writer, last) = (run.writer as usize, run.seq + kept);
            run.shorten(kept);
            let past = &mut self.writers[writer];
            if kept > 0 {
                past.last = Some(last - 1);
                break;
            }
            past.runs.pop_back();
            self.runs.pop_back();
            let before = self.writers[writer].runs.back().map(|number| self.run(*number));
            let last = before.map(|run| run.seq + run.count - 1);
            let past = &mut self.writers[writer];
            past.last = last.or(past.forgotten);
        }
    }

    /// Forgets the runs whose rows all lie before this offset, but for their writers' last sequence numbers.
    pub(super) fn drop_before(&mut self, offset: u64) {
        while let Some(run) = self.runs.front().filter(|run| run.end() <= offset && run.offset < offset) {
            let past = &mut self.writers[run.writer as usize];
            past.forgotten = Some(run.seq + run.count - 1);
            past.runs.pop_front();
            self.runs.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(appends: &[(u32, u64, u64)]) -> Appends {
        let (mut all, mut end) = (Appends::default(), 0);
        for &(writer, seq, rows) in appends {
            all.push(writer, seq, seq * 10, end..end + rows);
            end += rows;
        }
        all
    }

    fn held(all: &Appends, writer: u32, seq: u64) -> Option<Range<u64>> {
        match all.find(writer, seq, 99) {
            Seen::Yes(held) => Some(held.offsets),
            _ => None,
        }
    }

    #[test]
    fn like_appends_are_one_run_and_each_is_still_found() {
        let all = of(&[(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 7, 1), (0, 4, 2), (0, 6, 0), (0, 7, 3)]);
        assert_eq!(all.runs.len(), 5);
        assert_eq!(all.find(0, 2, 99), Seen::Yes(Held { check: 20, offsets: 2..4 }));
        assert_eq!(held(&all, 0, 4), Some(7..9));
        assert_eq!(held(&all, 0, 5), Some(99..99));
        assert_eq!(held(&all, 0, 6), Some(9..9));
        assert_eq!((all.find(0, 8, 99), all.find(1, 8, 99), all.find(2, 1, 99)), (Seen::No, Seen::No, Seen::No));
        assert_eq!(all.ends(&(0..12)), [2, 4, 6, 7, 9, 12]);
        assert_eq!(all.ends(&(2..9)), [4, 6, 7, 9]);
        let between: Vec<u64> = (0..=12).filter(|offset| all.is_between(*offset)).collect();
        assert_eq!(between, [0, 2, 4, 6, 7, 9, 12]);
    }

    #[test]
    fn a_cut_takes_back_what_its_writers_had_appended_behind_it() {
        let mut all = of(&[(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 7, 1), (0, 4, 2), (0, 6, 0)]);
        all.cut(4);
        assert_eq!((all.last(0), all.last(1)), (Some(2), None));
        assert_eq!(held(&all, 0, 2), Some(2..4));
        all.cut(0);
        assert_eq!((all.last(0), all.runs.len()), (None, 0));
    }

    #[test]
    fn a_writers_last_number_outlives_its_rows() {
        let mut all = of(&[(0, 1, 2), (0, 2, 2), (1, 7, 1), (0, 3, 1)]);
        all.drop_before(5);
        assert_eq!((all.find(0, 2, 99), all.find(1, 7, 99)), (Seen::NoMore, Seen::NoMore));
        assert_eq!(held(&all, 0, 3), Some(5..6));
        assert_eq!(all.last_before(6), [(0, 3), (1, 7)]);
        all.cut(5);
        assert_eq!(all.last(0), Some(2));
    }
}
