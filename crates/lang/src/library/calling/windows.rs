//! Functions over the last rows of a key.
//!
//! Where the function can be put together from aggregates, nothing is computed twice and nothing is taken away from a
//! sum, as with `moving.rs`: each row has a slot, the rows since a turn have one for their sum, and at a turn those
//! before it are summed from the newest to the oldest, so that the oldest can be dropped. Else the rows themselves are
//! kept, and the function is called with those of each window.

use super::called::{Called, grouped, of_items, sample_vectors, to_items};
use super::{Numbers, columns, function, single};
use crate::function::{Argument, Operands, Result, State};
use crate::interpreter::elements;
use crate::library::item::{Other, Vocabulary};
use crate::library::keyed::{Picture, refuse};
use crate::library::settings::{setting, whole, window as rows_of_window};
use crate::library::time_moving::span;
use crate::program::{WindowProgram, WindowStates};
use crate::value::Value;
use data::arrow::buffer::{BooleanBuffer, NullBuffer};
use data::{Column, Paged, Type};
use std::collections::VecDeque;

/// How many rows are folded at once.
const CHUNK: usize = 4096;

/// Which rows a window has.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// So many rows, the newest of them so many rows back; it gives a value from so many rows on.
    Rows { rows: usize, back: usize, least: usize },
    /// Those of so long a time.
    Time(i64),
}

/// `moving`
pub(super) fn moving(operands: &Operands) -> Result<Box<dyn State>> {
    let args = single(operands);
    let rows = rows_of_window(&args, 2, 1)?;
    let least = match whole(&args, 3, "minPeriods")? {
        None => rows,
        Some(least) if least > 0 => least as usize,
        Some(least) => {
            return refuse(format!("a whole number above 0 is wanted: parameter=`minPeriods`, value=`{least}`"));
        }
    };
    over(operands, 0, columns(operands, 1, "Args")?, Reach::Rows { rows, back: 0, least })
}

/// `tmoving`
pub(super) fn tmoving(operands: &Operands) -> Result<Box<dyn State>> {
    let [_] = columns(operands, 1, "T")? else { return refuse("one column is wanted: parameter=`T`") };
    let span = span(&single(operands)[1..], 2)?;
    over(operands, 0, columns(operands, 2, "Args")?, Reach::Time(span))
}

/// `window`
pub(super) fn window(operands: &Operands) -> Result<Box<dyn State>> {
    let args = single(operands);
    let ends = match setting(&args, 2) {
        Some(Value::Pair(low, high)) => low.as_i64().zip(high.as_i64()),
        _ => None,
    };
    let Some((low, high)) = ends else { return refuse("a pair of whole numbers is wanted: parameter=`range`") };
    if high > 0 {
        return refuse(format!("window would look ahead: range=`{low}:{high}`"));
    }
    if low > high || low < -102_400 {
        return refuse(format!(
            "a range from -102400 on that does not end before it starts is wanted: range=`{low}:{high}`"
        ));
    }
    let (rows, back) = ((high - low) as usize + 1, -high as usize);
    over(operands, 0, columns(operands, 1, "Args")?, Reach::Rows { rows, back, least: 1 })
}

fn over(operands: &Operands, place: usize, args: &[Argument], reach: Reach) -> Result<Box<dyn State>> {
    let function = function(operands, place, "func")?;
    let types: Vec<Type> = args.iter().map(|arg| arg.ty).collect();
    let lists = types.iter().filter(|ty| ty.element().is_some()).count();
    let of_elements: Vec<Type> = types.iter().map(|ty| ty.element().unwrap_or(*ty)).collect();
    // The elements of an array vector stand in a row; beside single values they would not be as many.
    let bound = match lists == 0 || lists == types.len() {
        true => {
            WindowProgram::of_function(function, &of_elements.iter().copied().map(Argument::of).collect::<Vec<_>>())
        }
        false => refuse("array vectors beside plain columns"),
    };
    match bound {
        Ok(program) if !program.grows() => {
            Ok(Box::new(Folded { program, reach, lists: lists > 0, keys: Paged::new(), slots: Numbers::default() }))
        }
        Err(error) if !operands.interpret => Err(error),
        _ if !operands.interpret => refuse("the function needs the rows of a window"),
        _ => {
            let rows_max = if let Reach::Rows { rows, .. } = reach { rows } else { 64 };
            let called = Called::on_samples(function, sample_vectors(&of_elements, rows_max))?;
            Ok(Box::new(Kept { called, reach, types, keys: Paged::new() }))
        }
    }
}

/// A function put together from aggregates.
struct Folded {
    program: WindowProgram,
    reach: Reach,
    /// Are the arguments array vectors?
    lists: bool,
    keys: Paged<Queue>,
    slots: Numbers,
}

/// The rows of one key that are within the window, the oldest first, each with its time and its slot.
///
/// The first `summed` of them hold the sum from their row to that of the last turn; `since` is the sum of the rows
/// after it. `waiting` rows are not yet far enough back.
#[derive(Debug, Clone, Default)]
struct Queue {
    rows: VecDeque<(i64, u32)>,
    summed: usize,
    since: Option<u32>,
    waiting: VecDeque<u32>,
}

impl Queue {
    fn slots(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().map(|(_, slot)| *slot).chain(self.since).chain(self.waiting.iter().copied())
    }

    /// Drops the oldest row.
    fn drop_oldest(&mut self, program: &mut WindowProgram, slots: &mut Numbers) {
        if self.summed == 0 {
            for place in (1..self.rows.len()).rev() {
                program.merge(self.rows[place - 1].1, self.rows[place].1);
            }
            self.summed = self.rows.len();
            program.reset(self.since.as_slice());
        }
        if let Some((_, slot)) = self.rows.pop_front() {
            self.summed -= 1;
            program.reset(&[slot]);
            slots.give_back([slot]);
        }
    }

    /// Takes a row.
    fn add(&mut self, time: i64, slot: u32, program: &mut WindowProgram, slots: &mut Numbers) {
        let since = *self.since.get_or_insert_with(|| slots.take());
        program.grow(since as usize + 1);
        program.merge(since, slot);
        self.rows.push_back((time, slot));
    }

    /// Adds all rows to a slot.
    fn sum_to(&self, slot: u32, program: &mut WindowProgram) {
        if self.summed > 0 {
            program.merge(slot, self.rows[0].1);
        }
        if let Some(since) = self.since {
            program.merge(slot, since);
        }
    }
}

impl Folded {
    /// Takes a row that has its slot, and sums its window to another slot. Does the window give a value?
    fn step(&mut self, key: u32, time: Option<i64>, slot: u32, out: u32) -> bool {
        let Folded { program, reach, keys, slots, .. } = self;
        let queue = &mut keys[key as usize];
        match *reach {
            Reach::Rows { rows, back, least } => {
                queue.waiting.push_back(slot);
                if queue.waiting.len() > back {
                    let slot = queue.waiting.pop_front().expect("more than none");
                    if queue.rows.len() == rows {
                        queue.drop_oldest(program, slots);
                    }
                    queue.add(0, slot, program, slots);
                }
                if queue.rows.len() < least {
                    return false;
                }
            }
            Reach::Time(span) => {
                let Some(time) = time else {
                    program.reset(&[slot]);
                    slots.give_back([slot]);
                    return false;
                };
                queue.add(time, slot, program, slots);
                while queue.rows.front().is_some_and(|(oldest, _)| *oldest <= time.saturating_sub(span)) {
                    queue.drop_oldest(program, slots);
                }
            }
        }
        queue.sum_to(out, program);
        true
    }

    fn push_chunk(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        let (times, args) = timed(self.reach, args);
        let whole = times.and_then(Column::to_i64s);
        let of_rows: Vec<u32> = keys.iter().map(|_| self.slots.take()).collect();
        let outs: Vec<u32> = keys.iter().map(|_| self.slots.take()).collect();
        self.program.grow(self.slots.end as usize);
        match self.lists {
            false => {
                let values = self.program.values(args, keys.len(), None)?;
                self.program.fold(&of_rows, &values, None)?;
            }
            true => {
                if args.iter().any(|arg| lengths(arg).ne(lengths(&args[0]))) {
                    return refuse("array vectors of different length in one row");
                }
                let of_cells = of_rows.iter().zip(lengths(&args[0]));
                let of_elements: Vec<u32> =
                    of_cells.flat_map(|(slot, length)| std::iter::repeat_n(*slot, length as usize)).collect();
                let parts: Vec<Column> = args.iter().map(|arg| elements(arg, 0, arg.len())).collect();
                let values = self.program.values(&parts, of_elements.len(), None)?;
                self.program.fold(&of_elements, &values, None)?;
            }
        }
        let mut gives = Vec::with_capacity(keys.len());
        for (row, &key) in keys.iter().enumerate() {
            let time =
                whole.as_ref().filter(|_| times.is_some_and(|times| !times.is_null(row))).map(|whole| whole[row]);
            gives.push(self.step(key, time, of_rows[row], outs[row]));
        }
        let results = self.program.emit(0, &outs)?;
        self.program.reset(&outs);
        self.slots.give_back(outs);
        let gives = NullBuffer::new(BooleanBuffer::from(gives));
        let masked = |result: Column| result.with_validity(NullBuffer::union(result.validity(), Some(&gives)));
        Ok(results.into_iter().map(masked).collect())
    }
}

/// How many elements the cells of an array vector have.
pub(super) fn lengths(column: &Column) -> impl Iterator<Item = i32> {
    column.list_offsets().windows(2).map(|ends| ends[1] - ends[0])
}

/// The time column, if there is one, and the others.
fn timed(reach: Reach, args: &[Column]) -> (Option<&Column>, &[Column]) {
    match reach {
        Reach::Rows { .. } => (None, args),
        Reach::Time(_) => (args.first(), &args[1..]),
    }
}

impl State for Folded {
    fn types(&self) -> Vec<Type> {
        self.program.types(0)
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        if let Some(&last) = keys.iter().max() {
            self.keys.grow(last as usize + 1, Queue::default());
        }
        let mut parts: Vec<Vec<Column>> = vec![];
        for start in (0..keys.len().max(1)).step_by(CHUNK) {
            let rows = CHUNK.min(keys.len() - start);
            let args: Vec<Column> = args.iter().map(|arg| arg.slice(start, rows)).collect();
            parts.push(self.push_chunk(&keys[start..start + rows], &args)?);
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        let results = 0..parts[0].len();
        let whole = |result: usize| Ok(Column::concat(&parts.iter().map(|part| &part[result]).collect::<Vec<_>>())?);
        results.map(whole).collect()
    }

    fn reset(&mut self, keys: &[u32]) {
        for &key in keys {
            let Some(queue) = self.keys.get_mut(key as usize).map(std::mem::take) else { continue };
            let left: Vec<u32> = queue.slots().collect();
            self.program.reset(&left);
            self.slots.give_back(left);
        }
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        let (keys, states) = (self.keys.freeze(), self.program.snapshot());
        Box::new(Picture(move |key: u32, bytes: &mut Vec<u8>| {
            put_queue(keys.get(key as usize), |slot, bytes| WindowStates::encode(&states, slot, bytes), bytes);
        }))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        put_queue(self.keys.get(key as usize), |slot, bytes| self.program.encode(slot, bytes), bytes);
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.reset(&[key]);
        self.keys.grow(key as usize + 1, Queue::default());
        let (times, summed, since, waiting): (Vec<i64>, u32, bool, u32) = Vocabulary::default().decode(bytes)?;
        let (program, slots) = (&mut self.program, &mut self.slots);
        let mut read = || {
            let slot = slots.take();
            program.decode(slot, bytes)?;
            Ok(slot)
        };
        let rows = times.into_iter().map(|time| Ok((time, read()?))).collect::<Result<_>>()?;
        let since = since.then(&mut read).transpose()?;
        let waiting = (0..waiting).map(|_| read()).collect::<Result<_>>()?;
        self.keys[key as usize] = Queue { rows, summed: summed as usize, since, waiting };
        Ok(())
    }
}

fn put_queue(queue: Option<&Queue>, encode: impl Fn(u32, &mut Vec<u8>), bytes: &mut Vec<u8>) {
    let empty = Queue::default();
    let queue = queue.unwrap_or(&empty);
    let times: Vec<i64> = queue.rows.iter().map(|(time, _)| *time).collect();
    let head = (times, queue.summed as u32, queue.since.is_some(), queue.waiting.len() as u32);
    Vocabulary::default().encode(&head, bytes);
    queue.slots().for_each(|slot| encode(slot, bytes));
}

/// A function that is called with the rows of each window.
struct Kept {
    called: Called,
    reach: Reach,
    /// The types of the arguments.
    types: Vec<Type>,
    keys: Paged<Last>,
}

/// The last rows of one key: their times, if windows are of a time, and a column for each argument.
#[derive(Debug, Clone, Default)]
struct Last {
    times: Vec<i64>,
    columns: Vec<Column>,
}

impl Kept {
    /// Takes the rows of one key and calls `give` with the columns and, for each row, the ends of its window; none where
    /// it gives nothing.
    fn take(
        &mut self,
        key: u32,
        rows: &[u32],
        args: &[Column],
        mut give: impl FnMut(&[Column], u32, Option<(usize, usize)>) -> Result<()>,
    ) -> Result<()> {
        let (times, args) = timed(self.reach, args);
        let last = &mut self.keys[key as usize];
        let known: Vec<u32> = match times {
            Some(times) => rows.iter().copied().filter(|row| !times.is_null(*row as usize)).collect(),
            None => rows.to_vec(),
        };
        if let Some(whole) = times.and_then(Column::to_i64s) {
            last.times.extend(known.iter().map(|row| whole[*row as usize]));
        }
        let before = last.columns.first().map_or(0, Column::len);
        let join = |(place, arg): (usize, &Column)| match last.columns.get(place) {
            Some(column) => Ok(Column::concat(&[column, &arg.take(&known)])?),
            None => Ok(arg.take(&known)),
        };
        let columns = args.iter().enumerate().map(join).collect::<Result<Vec<Column>>>()?;
        let (mut end, mut start) = (before, 0);
        for &row in rows {
            if known.get(end - before) != Some(&row) {
                give(&columns, row, None)?;
                continue;
            }
            end += 1;
            let ends = match self.reach {
                Reach::Rows { rows, back, least } => {
                    let to = end.saturating_sub(back);
                    let from = to.saturating_sub(rows);
                    start = (end + 1).saturating_sub(back + rows);
                    (to - from >= least).then_some((from, to))
                }
                Reach::Time(span) => {
                    let gone = |oldest: i64| oldest <= last.times[end - 1].saturating_sub(span);
                    start += last.times[start..end].iter().take_while(|oldest| gone(**oldest)).count();
                    Some((start, end))
                }
            };
            give(&columns, row, ends)?;
        }
        let kept: Vec<u32> = (start as u32..end as u32).collect();
        last.columns = columns.iter().map(|column| column.take(&kept)).collect();
        last.times.drain(..start.min(last.times.len()));
        Ok(())
    }
}

impl State for Kept {
    fn types(&self) -> Vec<Type> {
        self.called.types().to_vec()
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        if let Some(&last) = keys.iter().max() {
            self.keys.grow(last as usize + 1, Last::default());
        }
        let called = self.called.clone();
        let mut results = called.builders();
        let mut places = vec![0; keys.len()];
        let mut count = 0;
        for (key, rows) in grouped(keys) {
            self.take(key, &rows, args, |columns, row, ends| {
                places[row as usize] = count;
                count += 1;
                match ends {
                    Some((from, to)) => {
                        let window = columns.iter().map(|column| Value::Vector(elements(column, from, to)));
                        called.add_to(&mut results, window.collect())
                    }
                    None => {
                        results.iter_mut().for_each(|result| result.push(&data::Scalar::Null));
                        Ok(())
                    }
                }
            })?;
        }
        Ok(results.into_iter().map(|result| result.finish().take(&places)).collect())
    }

    fn reset(&mut self, keys: &[u32]) {
        for &key in keys {
            if let Some(state) = self.keys.get_mut(key as usize) {
                *state = Last::default();
            }
        }
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        let keys = self.keys.freeze();
        Box::new(Picture(move |key: u32, bytes: &mut Vec<u8>| put_last(keys.get(key as usize), bytes)))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        put_last(self.keys.get(key as usize), bytes);
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.keys.grow(key as usize + 1, Last::default());
        let (times, columns): (Vec<i64>, Vec<Vec<Other>>) = Vocabulary::default().decode(bytes)?;
        let columns = self.types.iter().zip(&columns).map(|(ty, items)| of_items(*ty, items)).collect();
        self.keys[key as usize] = Last { times, columns };
        Ok(())
    }
}

fn put_last(last: Option<&Last>, bytes: &mut Vec<u8>) {
    let empty = Last::default();
    let Last { times, columns } = last.unwrap_or(&empty);
    let columns: Vec<Vec<Other>> = columns.iter().map(to_items).collect();
    Vocabulary::default().encode(&(times.clone(), columns), bytes);
}
