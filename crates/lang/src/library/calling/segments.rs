//! Functions within parts of a key's rows: the inner function has a key of its own for each part.

use super::windows::lengths;
use super::{Numbers, columns, function, single};
use crate::function::{Argument, Form, Operands, Result, State};
use crate::library::find;
use crate::library::item::Vocabulary;
use crate::library::keyed::{Keyed, Picture, Step, refuse};
use crate::library::moving::array_of;
use crate::program::{Place, Program};
use data::arrow::buffer::{BooleanBuffer, NullBuffer};
use data::{Column, Paged, Type};

/// `segmentby`
pub(super) fn segmentby(operands: &Operands) -> Result<Box<dyn State>> {
    let args = columns(operands, 1, "Args")?;
    let [segment] = columns(operands, 2, "Segment")? else {
        return refuse("one column is wanted: parameter=`Segment`");
    };
    let program = Program::of_function(function(operands, 0, "func")?, args, Place::Reactive)?;
    let differ = find("differ").expect("a function of the library");
    let Form::State(bind) = differ.form(1) else { unreachable!("differ has a state") };
    let starts = bind(std::slice::from_ref(segment))?;
    Ok(Box::new(Segments { starts, program, inner: Paged::new(), numbers: Numbers::default() }))
}

/// A function that starts anew with each segment.
struct Segments {
    /// Is it another segment than that of the row before?
    starts: Box<dyn State>,
    program: Program,
    /// By key, the inner key of its segment.
    inner: Paged<Option<u32>>,
    numbers: Numbers,
}

impl State for Segments {
    fn types(&self) -> Vec<Type> {
        self.program.types()
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        let (segment, args) = args.split_last().expect("the segment is a column");
        let starts = self.starts.push(keys, std::slice::from_ref(segment))?.remove(0);
        grow(&mut self.inner, keys);
        let (mut inner, mut left) = (Vec::with_capacity(keys.len()), vec![]);
        for (row, &key) in keys.iter().enumerate() {
            let known = self.inner[key as usize];
            inner.push(match known {
                Some(number) if !starts.bools().value(row) => number,
                _ => {
                    left.extend(known);
                    let number = self.numbers.take();
                    self.inner[key as usize] = Some(number);
                    number
                }
            });
        }
        let results = self.program.push(&inner, args)?;
        self.program.reset(&left);
        self.numbers.give_back(left);
        Ok(results)
    }

    fn reset(&mut self, keys: &[u32]) {
        self.starts.reset(keys);
        let inner = keys.iter().filter_map(|&key| self.inner.get_mut(key as usize)?.take());
        let left: Vec<u32> = inner.collect();
        self.program.reset(&left);
        self.numbers.give_back(left);
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        let (starts, inner, states) = (self.starts.snapshot(), self.inner.freeze(), self.program.snapshot());
        Box::new(Picture(move |key: u32, bytes: &mut Vec<u8>| {
            starts.encode(key, bytes);
            put_inner(
                inner.get(key as usize).copied().flatten().as_slice(),
                |key, bytes| states.encode(key, bytes),
                bytes,
            );
        }))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        self.starts.encode(key, bytes);
        let inner = self.inner.get(key as usize).copied().flatten();
        put_inner(inner.as_slice(), |key, bytes| self.program.encode(key, bytes), bytes);
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.reset(&[key]);
        self.starts.decode(key, bytes)?;
        grow(&mut self.inner, &[key]);
        self.inner[key as usize] = get_inner(&mut self.program, &mut self.numbers, bytes)?.pop();
        Ok(())
    }
}

fn grow<T: Clone + Default>(of_keys: &mut Paged<T>, keys: &[u32]) {
    if let Some(&last) = keys.iter().max() {
        of_keys.grow(last as usize + 1, T::default());
    }
}

/// Writes how many inner keys a key has, and the states of each.
fn put_inner(inner: &[u32], encode: impl Fn(u32, &mut Vec<u8>), bytes: &mut Vec<u8>) {
    Vocabulary::default().encode(&(inner.len() as u32), bytes);
    inner.iter().for_each(|&key| encode(key, bytes));
}

/// Reads what `put_inner` wrote; the inner keys get numbers of their own.
fn get_inner(program: &mut Program, numbers: &mut Numbers, bytes: &mut &[u8]) -> Result<Vec<u32>> {
    let count: u32 = Vocabulary::default().decode(bytes)?;
    let read = |_| {
        let number = numbers.take();
        program.decode(number, bytes)?;
        Ok(number)
    };
    (0..count).map(read).collect()
}

/// `byColumn` of array vectors.
pub(super) fn by_column(operands: &Operands) -> Result<Box<dyn State>> {
    let mut elements = vec![];
    for column in operands.places[1..].iter().flatten() {
        match (&column.constant, column.ty.element()) {
            (None, Some(element)) => elements.push(Argument::of(element)),
            _ => return refuse(format!("an array vector is wanted: parameter=`X`, type=`{}`", column.ty)),
        }
    }
    let program = Program::of_function(function(operands, 0, "func")?, &elements, Place::Reactive)?;
    let types = program.types().into_iter().map(array_of).collect::<Result<_>>()?;
    Ok(Box::new(ByPlace { program, types, inner: Paged::new(), numbers: Numbers::default() }))
}

/// A function of the elements at each place of array vectors.
struct ByPlace {
    program: Program,
    types: Vec<Type>,
    /// By key, the inner key of each place.
    inner: Paged<Vec<u32>>,
    numbers: Numbers,
}

impl State for ByPlace {
    fn types(&self) -> Vec<Type> {
        self.types.clone()
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        grow(&mut self.inner, keys);
        let offsets = args[0].list_offsets();
        let start = offsets[0];
        let mut elements = vec![];
        for column in args {
            let own = column.list_offsets();
            if lengths(column).ne(lengths(&args[0])) {
                return refuse("array vectors of different length in one row");
            }
            elements.push(column.list_elements().slice(own[0] as usize, (own[keys.len()] - own[0]) as usize));
        }
        let mut inner = Vec::with_capacity(elements[0].len());
        for (ends, &key) in offsets.windows(2).zip(keys) {
            let count = (ends[1] - ends[0]) as usize;
            if self.inner[key as usize].len() < count {
                self.inner[key as usize].resize_with(count, || self.numbers.take());
            }
            inner.extend_from_slice(&self.inner[key as usize][..count]);
        }
        let offsets: Vec<i32> = offsets.iter().map(|end| end - start).collect();
        let results = self.program.push(&inner, &elements)?.into_iter();
        Ok(results.map(|result| Column::of_lists(offsets.clone(), result, args[0].validity().cloned())).collect())
    }

    fn reset(&mut self, keys: &[u32]) {
        let mut left = vec![];
        for &key in keys {
            left.extend(self.inner.get_mut(key as usize).map(std::mem::take).unwrap_or_default());
        }
        self.program.reset(&left);
        self.numbers.give_back(left);
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        let (inner, states) = (self.inner.freeze(), self.program.snapshot());
        Box::new(Picture(move |key: u32, bytes: &mut Vec<u8>| {
            let inner = inner.get(key as usize).map_or(&[][..], Vec::as_slice);
            put_inner(inner, |key, bytes| states.encode(key, bytes), bytes);
        }))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        let inner = self.inner.get(key as usize).map_or(&[][..], Vec::as_slice);
        put_inner(inner, |key, bytes| self.program.encode(key, bytes), bytes);
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.reset(&[key]);
        grow(&mut self.inner, &[key]);
        self.inner[key as usize] = get_inner(&mut self.program, &mut self.numbers, bytes)?;
        Ok(())
    }
}

/// `talib`
pub(super) fn talib(operands: &Operands) -> Result<Box<dyn State>> {
    let args: Vec<Argument> = single(operands).split_off(1);
    let program = Program::of_function(function(operands, 0, "func")?, &args, Place::Reactive)?;
    let columns = args.iter().filter(|arg| arg.constant.is_none());
    let started = columns.map(|_| Keyed::state(Started, Type::Bool)).collect();
    Ok(Box::new(FromStart { started, program }))
}

/// Has there been a row in which all arguments have a value?
#[derive(Clone)]
pub(in crate::library) struct Started;

impl Step for Started {
    type In = ();
    type Key = bool;
    type Out = i64;
    fn step(&self, key: &mut bool, value: Option<()>) -> Option<i64> {
        *key |= value.is_some();
        Some(*key as i64)
    }
}

/// A function of the rows from that one on by which each argument has had a value.
struct FromStart {
    started: Vec<Box<dyn State>>,
    program: Program,
}

impl State for FromStart {
    fn types(&self) -> Vec<Type> {
        self.program.types()
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        let mut started = BooleanBuffer::new_set(keys.len());
        for (state, arg) in self.started.iter_mut().zip(args) {
            started = &started & state.push(keys, std::slice::from_ref(arg))?[0].bools();
        }
        let rows: Vec<u32> = started.set_indices().map(|row| row as u32).collect();
        if rows.len() == keys.len() {
            return self.program.push(keys, args);
        }
        let keys: Vec<u32> = rows.iter().map(|&row| keys[row as usize]).collect();
        let args: Vec<Column> = args.iter().map(|arg| arg.take(&rows)).collect();
        let results = self.program.push(&keys, &args)?;
        // The first column has the results in order, the second one a NULL for all other rows.
        let mut next = 0..;
        let place = |started| if started { (0, next.next().expect("without end")) } else { (1, 0) };
        let places: Vec<(usize, usize)> = started.iter().map(place).collect();
        let whole = |result: Column| Ok(Column::interleave(&[&result, &Column::nulls(result.ty(), 1)], &places)?);
        results.into_iter().map(whole).collect()
    }

    fn reset(&mut self, keys: &[u32]) {
        self.started.iter_mut().for_each(|state| state.reset(keys));
        self.program.reset(keys);
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        let started: Vec<Box<dyn State>> = self.started.iter_mut().map(|state| state.snapshot()).collect();
        let states = self.program.snapshot();
        Box::new(Picture(move |key: u32, bytes: &mut Vec<u8>| {
            started.iter().for_each(|state| state.encode(key, bytes));
            states.encode(key, bytes);
        }))
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        self.started.iter().for_each(|state| state.encode(key, bytes));
        self.program.encode(key, bytes);
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.started.iter_mut().try_for_each(|state| state.decode(key, bytes))?;
        self.program.decode(key, bytes)
    }
}

/// `talibNull`: its arguments, NULL before the first row in which all have a value.
pub(in crate::library) struct NullsUntilAll {
    pub started: Box<dyn State>,
    pub types: Vec<Type>,
}

impl State for NullsUntilAll {
    fn types(&self) -> Vec<Type> {
        self.types.clone()
    }

    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>> {
        let started = NullBuffer::new(self.started.push(keys, args)?[0].bools().clone());
        Ok(args.iter().map(|arg| arg.with_validity(NullBuffer::union(arg.validity(), Some(&started)))).collect())
    }

    fn reset(&mut self, keys: &[u32]) {
        self.started.reset(keys);
    }

    fn snapshot(&mut self) -> Box<dyn State> {
        self.started.snapshot()
    }

    fn encode(&self, key: u32, bytes: &mut Vec<u8>) {
        self.started.encode(key, bytes);
    }

    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()> {
        self.started.decode(key, bytes)
    }
}
