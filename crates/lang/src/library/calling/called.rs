//! Functions that cannot be bound: called through the interpreter, without a host.
//!
//! What type they give is seen from samples of their arguments. A value that does not fit it later is an error, never
//! rounded.

use crate::diagnostic::{Diagnostic, Span};
use crate::function::{Aggregate, Argument, NO_SLOT, Picked, Result};
use crate::interpreter::{call_function, cast};
use crate::library::item::{Other, Vocabulary};
use crate::library::keyed::refuse;
use crate::program::NoHost;
use crate::value::{Callee, UserFunction, Value, vector_type};
use data::{Column, ColumnBuilder, Paged, Physical, Scalar, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// A function and the types of its results.
#[derive(Clone)]
pub(super) struct Called {
    function: UserFunction,
    types: Vec<Type>,
}

impl Called {
    /// Calls a function on samples of its arguments to see what it gives.
    pub fn on_samples(function: &Value, samples: impl IntoIterator<Item = Vec<Value>>) -> Result<Called> {
        let function = match function {
            Value::Function(function) => function.clone(),
            Value::Builtin(name) => {
                UserFunction { callee: Callee::Builtin(name.clone()), given: vec![], functions: Arc::default() }
            }
            other => return refuse(format!("a function is wanted: found=`{}`", other.kind())),
        };
        let mut types: Option<Vec<Type>> = None;
        for sample in samples {
            let found = results(call(&function, sample)?);
            let found = found.iter().map(type_of).collect::<Result<Vec<Type>>>()?;
            types = Some(match types {
                None => found,
                Some(types) => common(&types, &found)?,
            });
        }
        let typed = |ty| if ty == Type::Void { Type::Double } else { ty };
        let types = types.expect("a sample at least").into_iter().map(typed).collect();
        Ok(Called { function, types })
    }

    /// The same with one result, of a type that is as wide.
    pub fn widened(self, ty: Type) -> Called {
        Called { types: vec![ty], ..self }
    }

    /// The types of the results.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// Calls the function and adds its results to columns in the making.
    pub fn add_to(&self, columns: &mut [ColumnBuilder], args: Vec<Value>) -> Result<()> {
        let values = results(call(&self.function, args)?);
        if values.len() != columns.len() {
            let counts = format!("wanted=`{}`, found=`{}`", columns.len(), values.len());
            return refuse(format!("a function gave another number of values than on samples: {counts}"));
        }
        for ((value, ty), column) in values.into_iter().zip(&self.types).zip(columns) {
            column.push(&fitted(value, *ty)?);
        }
        Ok(())
    }

    /// Columns in the making for the results.
    pub fn builders(&self) -> Vec<ColumnBuilder> {
        self.types.iter().map(|ty| ColumnBuilder::new(*ty)).collect()
    }
}

fn call(function: &UserFunction, args: Vec<Value>) -> Result<Value> {
    // An error of the call as a whole is placed by who made the metric.
    call_function(function, args, &mut NoHost)
        .map_err(|error| Diagnostic { span: error.span.filter(|span| *span != Span::default()), ..error })
}

/// The values of a function's results.
fn results(value: Value) -> Vec<Value> {
    match value {
        Value::Tuple(values) if !values.is_empty() => values,
        Value::Matrix(matrix) => matrix.columns().iter().cloned().map(Value::Vector).collect(),
        value => vec![value],
    }
}

/// The type of a column for this value; a vector becomes a cell of an array vector.
fn type_of(value: &Value) -> Result<Type> {
    let ty = match value {
        Value::Scalar(ty, _) => Some(*ty),
        Value::Vector(column) => column.ty().array_of(),
        _ => None,
    };
    ty.map_or_else(|| refuse(format!("a function gives what no column can hold: found=`{}`", value.kind())), Ok)
}

fn common(a: &[Type], b: &[Type]) -> Result<Vec<Type>> {
    let join = |(a, b): (&Type, &Type)| match (a.element(), b.element()) {
        (Some(a), Some(b)) => vector_type(a, b).and_then(Type::array_of),
        _ => vector_type(*a, *b),
    };
    let types: Option<Vec<Type>> = a.iter().zip(b).map(join).collect();
    match types {
        Some(types) if a.len() == b.len() => Ok(types),
        _ => refuse(format!("a function gives values of different kinds: types=`{a:?}, {b:?}`")),
    }
}

/// A value as one of a type that is as wide.
pub(super) fn fitted(value: Value, ty: Type) -> Result<Scalar> {
    match (value, ty.element()) {
        (value, _) if value.is_null() => Ok(Scalar::Null),
        (Value::Scalar(of, scalar), None) if of == ty => Ok(scalar),
        (Value::Scalar(of, scalar), None) if vector_type(of, ty) == Some(ty) => {
            Ok(cast(&mut NoHost, &Column::repeat(of, &scalar, 1), ty)?.get(0))
        }
        (Value::Vector(column), Some(element)) if vector_type(column.ty(), element) == Some(element) => {
            Ok(Scalar::List(Arc::new(cast(&mut NoHost, &column, element)?)))
        }
        (value, _) => {
            let error = format!("a function gave a value of another type than on samples: wanted=`{ty}`");
            let error = Diagnostic::new(format!("{error}, found=`{}`", value.kind()));
            Err(error.help("let all its branches give values of one type, for instance with double(…)"))
        }
    }
}

/// A value of a type, to see what a function makes of it.
pub(super) fn sample(ty: Type) -> Scalar {
    match ty.physical() {
        Physical::Bool => Scalar::Bool(true),
        Physical::I8 | Physical::I16 | Physical::I32 | Physical::I64 => Scalar::Int(1),
        Physical::F32 | Physical::F64 => Scalar::Float(1.0),
        Physical::I128 => Scalar::Decimal(1),
        Physical::Code | Physical::Text => Scalar::Text("a".into()),
        Physical::Bytes => Scalar::Bytes(vec![0; 16].into()),
        Physical::Bytes16 => Scalar::Bytes16([0; 16]),
        Physical::List => {
            let element = ty.element().expect("lists are an array vector");
            Scalar::List(Arc::new(Column::repeat(element, &sample(element), 1)))
        }
    }
}

/// Samples of vectors with few rows and with many.
pub(super) fn sample_vectors(types: &[Type], rows_max: usize) -> impl Iterator<Item = Vec<Value>> {
    let vectors = |rows: usize| types.iter().map(move |ty| Value::Vector(Column::repeat(*ty, &sample(*ty), rows)));
    [1, 2, rows_max.clamp(1, 64)]
        .into_iter()
        .filter(move |rows| *rows <= rows_max)
        .map(move |rows| vectors(rows).collect())
}

/// Row numbers by what stands beside them, each group in order, the groups in that of their first rows.
pub(super) fn grouped(by: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let mut places: HashMap<u32, usize> = HashMap::new();
    let mut groups: Vec<(u32, Vec<u32>)> = vec![];
    for (row, &key) in by.iter().enumerate() {
        let place = *places.entry(key).or_insert_with(|| {
            groups.push((key, vec![]));
            groups.len() - 1
        });
        groups[place].1.push(row as u32);
    }
    groups
}

/// Values as those of a state, to be written.
pub(super) fn to_items(column: &Column) -> Vec<Other> {
    (0..column.len()).map(|row| Other(column.get(row))).collect()
}

/// A column of values that were read.
pub(super) fn of_items(ty: Type, items: &[Other]) -> Column {
    Column::of_scalars(ty, items.iter().map(|item| &item.0))
}

/// A user function as an aggregate: the rows of a slot are kept, and it is called with them.
pub(crate) fn kept_rows(function: &Value, args: &[Argument]) -> Result<Box<dyn Aggregate>> {
    let constants: Vec<Option<Value>> = args.iter().map(|arg| arg.constant.clone()).collect();
    let types: Vec<Type> = args.iter().filter(|arg| arg.constant.is_none()).map(|arg| arg.ty).collect();
    let samples: Vec<Vec<Value>> =
        sample_vectors(&types, 64).map(|columns| with_constants(&constants, columns)).collect();
    let called = Called::on_samples(function, samples)?;
    if called.types().len() != 1 {
        return refuse(format!("one value is wanted, not several: values=`{}`", called.types().len()));
    }
    Ok(Box::new(KeptRows { called, constants, types, slots: Paged::new() }))
}

/// The arguments of a call: its constants, and columns where there is none.
fn with_constants(constants: &[Option<Value>], columns: Vec<Value>) -> Vec<Value> {
    let mut columns = columns.into_iter();
    let arg = |constant: &Option<Value>| constant.clone().or_else(|| columns.next()).expect("a column for each");
    constants.iter().map(arg).collect()
}

/// Rows in pieces, each a column for each argument.
type Pieces = Vec<Vec<Column>>;

struct KeptRows {
    called: Called,
    constants: Vec<Option<Value>>,
    types: Vec<Type>,
    slots: Paged<Pieces>,
}

impl KeptRows {
    /// The rows of a slot, in one piece.
    fn rows(&self, slot: u32) -> Result<Vec<Column>> {
        let pieces = &self.slots[slot as usize];
        let column = |(place, ty): (usize, &Type)| {
            let parts: Vec<&Column> = pieces.iter().map(|piece| &piece[place]).collect();
            Ok(if parts.is_empty() { Column::nulls(*ty, 0) } else { Column::concat(&parts)? })
        };
        self.types.iter().enumerate().map(column).collect()
    }
}

/// Adds a piece; small ones at the end are put together, so that there are few.
fn add_piece(pieces: &mut Pieces, piece: Vec<Column>) -> Result<()> {
    pieces.push(piece);
    while let [.., before, last] = &pieces[..]
        && before[0].len() <= last[0].len()
    {
        let pairs = before.iter().zip(last);
        let joined =
            pairs.map(|(before, last)| Ok(Column::concat(&[before, last])?)).collect::<Result<Vec<Column>>>()?;
        pieces.truncate(pieces.len() - 2);
        pieces.push(joined);
    }
    Ok(())
}

impl Aggregate for KeptRows {
    fn ty(&self) -> Type {
        self.called.types()[0]
    }

    fn grow(&mut self, slots: usize) {
        self.slots.grow(slots, Pieces::default());
    }

    fn fold(&mut self, slots: &[u32], args: &[Picked]) -> Result<()> {
        for (slot, rows) in grouped(slots).into_iter().filter(|(slot, _)| *slot != NO_SLOT) {
            let piece = args.iter().map(|arg| match arg.rows {
                Some(picked) => arg.column.take(&rows.iter().map(|&row| picked[row as usize]).collect::<Vec<_>>()),
                None => arg.column.take(&rows),
            });
            add_piece(&mut self.slots[slot as usize], piece.collect())?;
        }
        Ok(())
    }

    fn merge(&mut self, into: u32, from: u32) {
        let pieces = self.slots[from as usize].clone();
        self.slots[into as usize].extend(pieces);
    }

    fn grows(&self) -> bool {
        true
    }

    fn emit(&self, slots: &[u32]) -> Result<Column> {
        let mut builders = self.called.builders();
        for &slot in slots {
            let columns = self.rows(slot)?.into_iter().map(Value::Vector).collect();
            self.called.add_to(&mut builders, with_constants(&self.constants, columns))?;
        }
        Ok(builders.remove(0).finish())
    }

    fn reset(&mut self, slots: &[u32]) {
        slots.iter().for_each(|&slot| self.slots[slot as usize] = vec![]);
    }

    fn snapshot(&mut self) -> Box<dyn Aggregate> {
        Box::new(KeptRows {
            called: self.called.clone(),
            constants: self.constants.clone(),
            types: self.types.clone(),
            slots: self.slots.freeze(),
        })
    }

    fn encode(&self, slot: u32, bytes: &mut Vec<u8>) {
        let pieces = &self.slots[slot as usize];
        for place in 0..self.types.len() {
            let items: Vec<Other> = pieces.iter().flat_map(|piece| to_items(&piece[place])).collect();
            Vocabulary::default().encode(&items, bytes);
        }
    }

    fn decode(&mut self, slot: u32, bytes: &mut &[u8]) -> Result<()> {
        self.grow(slot as usize + 1);
        let mut piece = vec![];
        for ty in &self.types {
            let items: Vec<Other> = Vocabulary::default().decode(bytes)?;
            piece.push(of_items(*ty, &items));
        }
        self.slots[slot as usize] = if piece[0].is_empty() { vec![] } else { vec![piece] };
        Ok(())
    }
}
