//! Values in the storage classes that functions compute with, and how rows of columns become such values.
//!
//! Invariants:
//! - A state never keeps the codes of two dictionaries: [`Vocabulary`] turns every SYMBOL column into its own.
//! - Bytes of a state hold texts, never codes.

use crate::diagnostic::Diagnostic;
use crate::function::Result;
use data::arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use data::{Column, Dictionary, Physical, Remap, Scalar, Type};
use std::cmp::Ordering;
use std::sync::Arc;

/// A value as functions compute with it: a float, a whole number (temporal values and BOOL too), the digits of a
/// decimal, a symbol's code, or anything else as a scalar.
pub(super) trait Item: Input + Wire + Default + PartialEq {
    /// A column of these values; `ty` must be stored so that it can hold them.
    fn column(ty: Type, values: Vec<Self>, nulls: Option<NullBuffer>, vocabulary: &Vocabulary) -> Column;
    /// The order of values; NaN comes before all numbers, so that it is a total one.
    fn order(&self, other: &Self) -> Ordering;
    /// Does it stand so to the other in that order?
    #[inline(always)]
    fn stands(&self, wanted: Ordering, other: &Self) -> bool {
        self.order(other) == wanted
    }
    /// The value as it is given out: NaN has many patterns of bits, and which one comes out of a sum hangs on how its loop
    /// was compiled, so that there is one NaN for all.
    #[inline(always)]
    fn settled(self) -> Self {
        self
    }
}

/// What a function takes from each row: one value, several, or only whether there is one.
pub(super) trait Input: Clone + Send + Sync + 'static {
    /// How many arguments it is made of.
    const ARGUMENTS: usize = 1;
    /// Has the rows of columns read. Of several arguments any NULL makes the row NULL.
    fn rows(args: &[&Column], vocabulary: &mut Vocabulary, to: impl Reading<Self>) -> Result<()>;
}

/// Who reads rows. It is made anew for each way that rows are stored, so that its loops are tight.
pub(super) trait Reading<T> {
    /// Reads them: `value` is what stands in a row, `None` for NULL.
    fn read(self, value: impl Fn(usize) -> Option<T>) -> Result<()>;
}

/// A code of the dictionary of a [`Vocabulary`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Code(u32);

/// The one dictionary whose codes a state holds: that of the first SYMBOL column it meets.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    dictionary: Option<Arc<Dictionary>>,
    /// The map from the dictionary met last, where that is another one.
    other: Remap,
}

impl Vocabulary {
    /// The codes of a SYMBOL column in this dictionary.
    fn codes(&mut self, column: &Column) -> Result<Column> {
        let theirs = column.dictionary().expect("a SYMBOL column has a dictionary");
        if column.null_count() == column.len() {
            return Ok(column.clone());
        }
        let mine = self.dictionary.get_or_insert_with(|| theirs.clone());
        if mine.id() == theirs.id() {
            return Ok(column.clone());
        }
        Ok(column.in_dictionary_by(mine, &mut self.other)?)
    }

    /// The dictionary; an empty one if no symbol has come yet.
    fn dictionary(&self) -> Arc<Dictionary> {
        self.dictionary.clone().unwrap_or_default()
    }

    /// The same dictionary for a picture of the state.
    pub fn freeze(&self) -> Vocabulary {
        Vocabulary { dictionary: self.dictionary.clone(), other: Remap::default() }
    }

    /// Writes a state's value.
    pub fn encode(&self, value: &impl Wire, bytes: &mut Vec<u8>) {
        value.put(&mut Writer { bytes, dictionary: self.dictionary.as_deref() });
    }

    /// Reads a state's value and cuts it off the bytes.
    pub fn decode<T: Wire>(&mut self, bytes: &mut &[u8]) -> Result<T> {
        T::get(&mut Reader { bytes, vocabulary: self })
    }
}

/// Has values read, of which some are NULL.
#[inline(always)]
fn read<T>(value: impl Fn(usize) -> T, nulls: Option<&NullBuffer>, to: impl Reading<T>) -> Result<()> {
    match nulls {
        None => to.read(|row| Some(value(row))),
        Some(nulls) => to.read(|row| nulls.is_valid(row).then(|| value(row))),
    }
}

fn floats(column: &Column) -> Result<ScalarBuffer<f64>> {
    column.to_f64s().ok_or_else(|| mismatch("a number", column.ty()))
}

fn mismatch(wanted: &str, found: Type) -> Diagnostic {
    Diagnostic::new(format!("type mismatch: wanted=`{wanted}`, found=`{found}`"))
}

impl Input for f64 {
    fn rows(args: &[&Column], _: &mut Vocabulary, to: impl Reading<f64>) -> Result<()> {
        let values = floats(args[0])?;
        read(|row| values[row], args[0].validity(), to)
    }
}

impl Item for f64 {
    fn column(ty: Type, values: Vec<f64>, nulls: Option<NullBuffer>, vocabulary: &Vocabulary) -> Column {
        match ty.physical() {
            Physical::F32 => {
                Column::of_f32(ty, values.into_iter().map(|value| value as f32).collect::<Vec<_>>(), nulls)
            }
            Physical::F64 => Column::of_f64(ty, values, nulls),
            // Ranks and places are whole.
            _ => i64::column(ty, values.into_iter().map(|value| value as i64).collect(), nulls, vocabulary),
        }
    }

    #[inline(always)]
    fn order(&self, other: &f64) -> Ordering {
        self.partial_cmp(other).unwrap_or_else(|| other.is_nan().cmp(&self.is_nan()))
    }

    #[inline(always)]
    fn stands(&self, wanted: Ordering, other: &f64) -> bool {
        match wanted {
            Ordering::Less => self < other || self.is_nan() & !other.is_nan(),
            Ordering::Greater => self > other || other.is_nan() & !self.is_nan(),
            Ordering::Equal => self == other || self.is_nan() & other.is_nan(),
        }
    }

    #[inline(always)]
    fn settled(self) -> f64 {
        if self.is_nan() { f64::NAN } else { self }
    }
}

impl Input for i64 {
    fn rows(args: &[&Column], _: &mut Vocabulary, to: impl Reading<i64>) -> Result<()> {
        let values = args[0].to_i64s().ok_or_else(|| mismatch("a whole number", args[0].ty()))?;
        read(|row| values[row], args[0].validity(), to)
    }
}

impl Item for i64 {
    fn column(ty: Type, values: Vec<i64>, nulls: Option<NullBuffer>, _: &Vocabulary) -> Column {
        macro_rules! narrow {
            ($of:ident) => {
                Column::$of(ty, values.into_iter().map(|value| value as _).collect::<Vec<_>>(), nulls)
            };
        }
        match ty.physical() {
            Physical::Bool => {
                Column::of_bools(BooleanBuffer::collect_bool(values.len(), |row| values[row] != 0), nulls)
            }
            Physical::I8 => narrow!(of_i8),
            Physical::I16 => narrow!(of_i16),
            Physical::I32 => narrow!(of_i32),
            _ => Column::of_i64(ty, values, nulls),
        }
    }

    #[inline(always)]
    fn order(&self, other: &i64) -> Ordering {
        self.cmp(other)
    }
}

impl Input for i128 {
    fn rows(args: &[&Column], _: &mut Vocabulary, to: impl Reading<i128>) -> Result<()> {
        let values = args[0].decimals();
        read(|row| values[row], args[0].validity(), to)
    }
}

impl Item for i128 {
    fn column(ty: Type, values: Vec<i128>, nulls: Option<NullBuffer>, _: &Vocabulary) -> Column {
        Column::of_decimals(ty, values, nulls)
    }

    fn order(&self, other: &i128) -> Ordering {
        self.cmp(other)
    }
}

impl Input for Code {
    fn rows(args: &[&Column], vocabulary: &mut Vocabulary, to: impl Reading<Code>) -> Result<()> {
        let column = vocabulary.codes(args[0])?;
        let codes = column.codes();
        read(|row| Code(codes[row]), column.validity(), to)
    }
}

impl Item for Code {
    fn column(_: Type, values: Vec<Code>, nulls: Option<NullBuffer>, vocabulary: &Vocabulary) -> Column {
        let codes: Vec<u32> = values.into_iter().map(|code| code.0).collect();
        Column::of_codes(codes, nulls, vocabulary.dictionary())
    }

    /// The order of codes, which says nothing of the texts: good for telling values apart.
    fn order(&self, other: &Code) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl Default for Other {
    fn default() -> Other {
        Other(Scalar::Null)
    }
}

/// A value of any other kind: a text, a UUID, a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Other(pub Scalar);

impl Input for Other {
    fn rows(args: &[&Column], _: &mut Vocabulary, to: impl Reading<Other>) -> Result<()> {
        to.read(|row| Some(Other(args[0].get(row))).filter(|value| !value.0.is_null()))
    }
}

impl Item for Other {
    fn column(ty: Type, values: Vec<Other>, nulls: Option<NullBuffer>, _: &Vocabulary) -> Column {
        let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        let values = values.into_iter().enumerate();
        let values: Vec<Scalar> = values.map(|(row, value)| if valid(row) { value.0 } else { Scalar::Null }).collect();
        Column::of_scalars(ty, &values)
    }

    fn order(&self, other: &Other) -> Ordering {
        order_scalars(&self.0, &other.0)
    }
}

/// The order of two values of one type; NULL is the smallest, lists go element by element.
pub(super) fn order_scalars(a: &Scalar, b: &Scalar) -> Ordering {
    use Scalar as S;
    match (a, b) {
        (S::Null, _) | (_, S::Null) => b.is_null().cmp(&a.is_null()),
        (S::Text(a), S::Text(b)) => a.cmp(b),
        (S::Bytes(a), S::Bytes(b)) => a.cmp(b),
        (S::Bytes16(a), S::Bytes16(b)) => a.cmp(b),
        (S::Int(a), S::Int(b)) => a.cmp(b),
        (S::Bool(a), S::Bool(b)) => a.cmp(b),
        (S::Decimal(a), S::Decimal(b)) => a.cmp(b),
        (S::Float(a), S::Float(b)) => a.order(b),
        (S::List(a), S::List(b)) => {
            let pairs = (0..a.len().min(b.len())).map(|row| order_scalars(&a.get(row), &b.get(row)));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        _ => Ordering::Equal,
    }
}

impl Input for () {
    fn rows(args: &[&Column], _: &mut Vocabulary, to: impl Reading<()>) -> Result<()> {
        read(|_| (), any_null(args).as_ref(), to)
    }
}

impl Input for (f64, f64) {
    const ARGUMENTS: usize = 2;

    fn rows(args: &[&Column], _: &mut Vocabulary, to: impl Reading<(f64, f64)>) -> Result<()> {
        let (a, b) = (floats(args[0])?, floats(args[1])?);
        read(|row| (a[row], b[row]), any_null(args).as_ref(), to)
    }
}

/// Which rows have a value in each column; `None` if all have.
fn any_null(args: &[&Column]) -> Option<NullBuffer> {
    args.iter().fold(None, |all, column| NullBuffer::union(all.as_ref(), column.validity()))
}

/// Several numbers, each of which may be NULL; such a row is never NULL as a whole.
macro_rules! input_several {
    ($($t:ty, $values:ident, $wanted:literal;)*) => { $(
        impl<const N: usize> Input for [Option<$t>; N] {
            const ARGUMENTS: usize = N;

            fn rows(args: &[&Column], _: &mut Vocabulary, to: impl Reading<[Option<$t>; N]>) -> Result<()> {
                let values = |column: &Column| column.$values().ok_or_else(|| mismatch($wanted, column.ty()));
                let columns = args.iter().map(|&column| Ok((values(column)?, column.validity())));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let number = |row: usize, place: usize| {
                    let (values, nulls) = &columns[place];
                    nulls.is_none_or(|nulls| nulls.is_valid(row)).then(|| values[row])
                };
                to.read(|row| Some(std::array::from_fn(|place| number(row, place))))
            }
        }
    )* };
}
input_several! {
    f64, to_f64s, "a number";
    i64, to_i64s, "a whole number";
}

/// A time and what stands beside it, which may be NULL.
#[derive(Debug, Clone)]
pub(super) struct Timed<T> {
    pub time: i64,
    pub value: Option<T>,
}

impl<T: Input> Input for Timed<T> {
    const ARGUMENTS: usize = 1 + T::ARGUMENTS;

    fn rows(args: &[&Column], vocabulary: &mut Vocabulary, to: impl Reading<Timed<T>>) -> Result<()> {
        let times = args[0].to_i64s().ok_or_else(|| mismatch("a time", args[0].ty()))?;
        T::rows(&args[1..], vocabulary, Beside(|row, value| Timed { time: times[row], value }, args[0].validity(), to))
    }
}

/// Reads values that are put beside those of another column, by the function; where that one is NULL, the row is.
pub(super) struct Beside<'a, F, R>(pub F, pub Option<&'a NullBuffer>, pub R);

impl<T, B, F: Fn(usize, Option<T>) -> B, R: Reading<B>> Reading<T> for Beside<'_, F, R> {
    fn read(self, value: impl Fn(usize) -> Option<T>) -> Result<()> {
        let Beside(beside, nulls, to) = self;
        read(|row| beside(row, value(row)), nulls, to)
    }
}

/// Runs `$body` with `$t` as the storage class of a type.
macro_rules! by_class {
    ($ty:expr, $t:ident => $body:expr) => {{
        use data::Physical as P;
        match $ty.physical() {
            P::F32 | P::F64 => {
                type $t = f64;
                $body
            }
            P::Bool | P::I8 | P::I16 | P::I32 | P::I64 => {
                type $t = i64;
                $body
            }
            P::I128 => {
                type $t = i128;
                $body
            }
            P::Code => {
                type $t = $crate::library::item::Code;
                $body
            }
            P::Text | P::Bytes | P::Bytes16 | P::List => {
                type $t = $crate::library::item::Other;
                $body
            }
        }
    }};
}
pub(super) use by_class;

/// Bytes of a state in the making.
pub(super) struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    dictionary: Option<&'a Dictionary>,
}

/// Bytes of a state being read.
pub(super) struct Reader<'a, 'b> {
    bytes: &'a mut &'b [u8],
    vocabulary: &'a mut Vocabulary,
}

impl<'b> Reader<'_, 'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        let split = self.bytes.split_at_checked(count);
        let (head, tail) = split.ok_or_else(|| Diagnostic::new("a function's state is cut short"))?;
        *self.bytes = tail;
        Ok(head)
    }
}

/// What a state is made of, as bytes.
pub(super) trait Wire: Sized {
    /// Writes it.
    fn put(&self, to: &mut Writer);
    /// Reads it.
    fn get(from: &mut Reader) -> Result<Self>;
}

macro_rules! wire_numbers {
    ($($t:ty)*) => { $(
        impl Wire for $t {
            fn put(&self, to: &mut Writer) {
                to.bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn get(from: &mut Reader) -> Result<$t> {
                let bytes = from.take(size_of::<$t>())?;
                Ok(<$t>::from_le_bytes(bytes.try_into().expect("as many bytes as asked for")))
            }
        }
    )* };
}
wire_numbers!(u8 u32 u64 i64 i128 f64);

macro_rules! wire_tuples {
    ($(($($t:ident $n:tt),*))*) => { $(
        impl<$($t: Wire),*> Wire for ($($t,)*) {
            fn put(&self, to: &mut Writer) {
                $(self.$n.put(to);)*
            }
            fn get(from: &mut Reader) -> Result<Self> {
                Ok(($($t::get(from)?,)*))
            }
        }
    )* };
}
wire_tuples! { (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) }

/// Writes and reads the fields of a struct one after another.
macro_rules! wire {
    ($name:ident $(<$t:ident>)? { $($field:ident),* }) => {
        impl $(<$t: Item>)? $crate::library::item::Wire for $name $(<$t>)? {
            fn put(&self, to: &mut $crate::library::item::Writer) {
                $($crate::library::item::Wire::put(&self.$field, to);)*
            }
            fn get(from: &mut $crate::library::item::Reader) -> $crate::function::Result<Self> {
                Ok($name { $($field: $crate::library::item::Wire::get(from)?),* })
            }
        }
    };
}
pub(super) use wire;

impl Wire for () {
    fn put(&self, _: &mut Writer) {}
    fn get(_: &mut Reader) -> Result<()> {
        Ok(())
    }
}

impl Wire for bool {
    fn put(&self, to: &mut Writer) {
        (*self as u8).put(to);
    }
    fn get(from: &mut Reader) -> Result<bool> {
        Ok(u8::get(from)? != 0)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, to: &mut Writer) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }
    fn get(from: &mut Reader) -> Result<Option<T>> {
        Ok(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}

impl Writer<'_> {
    /// Writes how many values there are, and each of them; a `Vec` reads them.
    pub fn put_all<'v, T: Wire + 'v>(&mut self, values: impl ExactSizeIterator<Item = &'v T>) {
        (values.len() as u64).put(self);
        values.for_each(|value| value.put(self));
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, to: &mut Writer) {
        to.put_all(self.iter());
    }
    fn get(from: &mut Reader) -> Result<Vec<T>> {
        let count = u64::get(from)?;
        (0..count).map(|_| T::get(from)).collect()
    }
}

impl<T: Wire> Wire for std::collections::VecDeque<T> {
    fn put(&self, to: &mut Writer) {
        to.put_all(self.iter());
    }
    fn get(from: &mut Reader) -> Result<Self> {
        Ok(Vec::get(from)?.into())
    }
}

impl Wire for Code {
    fn put(&self, to: &mut Writer) {
        let dictionary = to.dictionary.expect("a state with a code has met its dictionary");
        let text = dictionary.text(self.0);
        Vec::from(text.as_bytes()).put(to);
    }
    fn get(from: &mut Reader) -> Result<Code> {
        let text = text(Vec::get(from)?)?;
        let dictionary = from.vocabulary.dictionary.get_or_insert_default();
        Ok(Code(dictionary.intern(&text)?))
    }
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Diagnostic::new("a function's state holds a text that is no UTF-8"))
}

impl Wire for Other {
    fn put(&self, to: &mut Writer) {
        use Scalar as S;
        let mut tagged = |tag: u8, bytes: &[u8]| {
            tag.put(to);
            (bytes.len() as u64).put(to);
            to.bytes.extend_from_slice(bytes);
        };
        match &self.0 {
            S::Null => tagged(0, &[]),
            S::Bool(value) => tagged(1, &[*value as u8]),
            S::Int(value) => tagged(2, &value.to_le_bytes()),
            S::Float(value) => tagged(3, &value.to_le_bytes()),
            S::Decimal(value) => tagged(4, &value.to_le_bytes()),
            S::Text(value) => tagged(5, value.as_bytes()),
            S::Bytes(value) => tagged(6, value),
            S::Bytes16(value) => tagged(7, value),
            S::List(column) => {
                tagged(8, column.ty().to_string().as_bytes());
                let elements: Vec<Other> = (0..column.len()).map(|row| Other(column.get(row))).collect();
                elements.put(to);
            }
        }
    }
    fn get(from: &mut Reader) -> Result<Other> {
        use Scalar as S;
        let tag = u8::get(from)?;
        let bytes: Vec<u8> = Vec::get(from)?;
        let wrong = |_| Diagnostic::new("a function's state holds a value of a wrong length");
        Ok(Other(match tag {
            0 => S::Null,
            1 => S::Bool(bytes == [1]),
            2 => S::Int(i64::from_le_bytes(bytes.as_slice().try_into().map_err(wrong)?)),
            3 => S::Float(f64::from_le_bytes(bytes.as_slice().try_into().map_err(wrong)?)),
            4 => S::Decimal(i128::from_le_bytes(bytes.as_slice().try_into().map_err(wrong)?)),
            5 => S::Text(text(bytes)?.into()),
            6 => S::Bytes(bytes.into()),
            7 => S::Bytes16(bytes.as_slice().try_into().map_err(wrong)?),
            _ => {
                let unknown = || Diagnostic::new(format!("a function's state holds an unknown value: tag=`{tag}`"));
                let ty = Type::parse(&text(bytes)?).ok_or_else(unknown)?;
                let elements: Vec<Other> = Vec::get(from)?;
                S::List(Arc::new(Column::of_scalars(ty, elements.iter().map(|element| &element.0))))
            }
        }))
    }
}
