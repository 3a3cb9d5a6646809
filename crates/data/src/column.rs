//! Columns: one physical Arrow array and the type that says what its values mean.

use crate::dictionary::{Dictionary, Remap};
use crate::error::{Error, Result};
use crate::hash::{stable_hash, stable_hash_bytes, stable_hash_text};
use crate::scalar::Scalar;
use crate::types::{Physical, Type};
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types as at;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, ListArray, PrimitiveArray, StringArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use std::sync::Arc;

/// The values of one column. Cheap to clone: the buffers are shared.
#[derive(Debug, Clone)]
pub struct Column {
    ty: Type,
    array: ArrayRef,
    dictionary: Option<Arc<Dictionary>>,
}

macro_rules! slices {
    ($($name:ident $of:ident $native:ty, $arrow:ident, $what:literal;)*) => {
        $(
            #[doc = concat!("The values of a column stored as ", $what, "; what stands under a NULL is any value.")]
            #[doc = ""]
            #[doc = "Panics on a column that is stored otherwise."]
            pub fn $name(&self) -> &[$native] {
                self.array.as_primitive::<at::$arrow>().values()
            }

            #[doc = concat!("A column of a type stored as ", $what, ".")]
            pub fn $of(ty: Type, values: impl Into<ScalarBuffer<$native>>, nulls: Option<NullBuffer>) -> Column {
                let array = PrimitiveArray::<at::$arrow>::new(values.into(), nulls.filter(|n| n.null_count() > 0));
                Column::physical(ty, Arc::new(array), None)
            }
        )*
    };
}

impl Column {
    slices! {
        i8s of_i8 i8, Int8Type, "8-bit integers";
        i16s of_i16 i16, Int16Type, "16-bit integers";
        i32s of_i32 i32, Int32Type, "32-bit integers";
        i64s of_i64 i64, Int64Type, "64-bit integers";
        f32s of_f32 f32, Float32Type, "32-bit floats";
        f64s of_f64 f64, Float64Type, "64-bit floats";
    }

    fn physical(ty: Type, array: ArrayRef, dictionary: Option<Arc<Dictionary>>) -> Column {
        assert_eq!(dictionary.is_some(), ty == Type::Symbol, "a SYMBOL column, and only that, has a dictionary");
        Column { ty, array, dictionary }
    }

    /// A SYMBOL column of codes of this dictionary.
    pub fn of_codes(
        codes: impl Into<ScalarBuffer<u32>>,
        nulls: Option<NullBuffer>,
        dictionary: Arc<Dictionary>,
    ) -> Column {
        let array = UInt32Array::new(codes.into(), nulls.filter(|nulls| nulls.null_count() > 0));
        Column::physical(Type::Symbol, Arc::new(array), Some(dictionary))
    }

    /// A BOOL column.
    pub fn of_bools(values: BooleanBuffer, nulls: Option<NullBuffer>) -> Column {
        let array = BooleanArray::new(values, nulls.filter(|nulls| nulls.null_count() > 0));
        Column::physical(Type::Bool, Arc::new(array), None)
    }

    /// A DECIMAL column of unscaled digits.
    pub fn of_decimals(ty: Type, values: Vec<i128>, nulls: Option<NullBuffer>) -> Column {
        let array = PrimitiveArray::<at::Decimal128Type>::new(values.into(), nulls.filter(|n| n.null_count() > 0))
            .with_data_type(ty.to_arrow());
        Column::physical(ty, Arc::new(array), None)
    }

    /// A column of a type of 16 bytes.
    pub fn of_bytes16(ty: Type, values: Vec<[u8; 16]>, nulls: Option<NullBuffer>) -> Column {
        let values = Buffer::from_vec(values.into_flattened());
        let array = FixedSizeBinaryArray::new(16, values, nulls.filter(|nulls| nulls.null_count() > 0));
        Column::physical(ty, Arc::new(array), None)
    }

    /// A STRING column; an empty text is NULL, as everywhere in the language.
    pub fn of_texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Column {
        let array: StringArray = texts.into_iter().map(|text| text.filter(|text| !text.is_empty())).collect();
        Column::physical(Type::String, Arc::new(array), None)
    }

    /// An array-vector column: cell `i` holds the elements `offsets[i]..offsets[i + 1]`.
    pub fn of_lists(offsets: Vec<i32>, elements: Column, nulls: Option<NullBuffer>) -> Column {
        let ty = elements.ty.array_of().expect("the language has array vectors of this type");
        let field = Arc::new(arrow_schema::Field::new("item", elements.array.data_type().clone(), true));
        let offsets = OffsetBuffer::new(offsets.into());
        let array = ListArray::new(field, offsets, elements.array, nulls.filter(|nulls| nulls.null_count() > 0));
        Column::physical(ty, Arc::new(array), None)
    }

    /// `rows` NULLs of this type.
    pub fn nulls(ty: Type, rows: usize) -> Column {
        Column::repeat(ty, &Scalar::Null, rows)
    }

    /// `rows` times the same value.
    pub fn repeat(ty: Type, value: &Scalar, rows: usize) -> Column {
        let mut one = ColumnBuilder::new(ty);
        one.push(value);
        let one = one.finish();
        if rows == 1 { one } else { one.take(&vec![0; rows]) }
    }

    /// A column of these values; each must be of the type.
    pub fn of_scalars<'a>(ty: Type, values: impl IntoIterator<Item = &'a Scalar>) -> Column {
        let mut builder = ColumnBuilder::new(ty);
        values.into_iter().for_each(|value| builder.push(value));
        builder.finish()
    }

    /// What the values mean.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// No row?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which rows are valid; `None` when all are.
    pub fn validity(&self) -> Option<&NullBuffer> {
        self.array.nulls()
    }

    /// How many rows are NULL.
    pub fn null_count(&self) -> usize {
        self.array.null_count()
    }

    /// Is this row NULL?
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// The values of a BOOL column.
    pub fn bools(&self) -> &BooleanBuffer {
        self.array.as_boolean().values()
    }

    /// The codes of a SYMBOL column; what stands under a NULL is any code.
    pub fn codes(&self) -> &[u32] {
        self.array.as_primitive::<at::UInt32Type>().values()
    }

    /// The unscaled digits of a DECIMAL column.
    pub fn decimals(&self) -> &[i128] {
        self.array.as_primitive::<at::Decimal128Type>().values()
    }

    /// The values of a column of a type of 16 bytes; what stands under a NULL is any value.
    pub fn bytes16s(&self) -> &[[u8; 16]] {
        self.array.as_fixed_size_binary().value_data().as_chunks().0
    }

    /// The bytes of one value of a BLOB column or of one of a type of 16 bytes.
    pub fn bytes_at(&self, row: usize) -> &[u8] {
        match self.ty.physical() {
            Physical::Bytes16 => &self.bytes16s()[row],
            _ => self.array.as_binary::<i32>().value(row),
        }
    }

    /// The texts of a STRING column.
    pub fn texts(&self) -> &StringArray {
        self.array.as_string()
    }

    /// The offsets of an array vector into its elements.
    pub fn list_offsets(&self) -> &[i32] {
        self.array.as_list::<i32>().value_offsets()
    }

    /// All elements of an array vector, those of cell `i` at `list_offsets()[i]..list_offsets()[i + 1]`.
    pub fn list_elements(&self) -> Column {
        let element = self.ty.element().expect("an array vector");
        Column::physical(element, self.array.as_list::<i32>().values().clone(), None)
    }

    /// The dictionary of a SYMBOL column.
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        self.dictionary.as_ref()
    }

    /// The same array under another type of the same storage.
    pub fn with_type(&self, ty: Type) -> Column {
        assert_eq!(ty.physical(), self.ty.physical(), "types of one storage");
        Column { ty, array: self.array.clone(), dictionary: self.dictionary.clone() }
    }

    /// The same values with other NULLs.
    pub fn with_validity(&self, nulls: Option<NullBuffer>) -> Column {
        let data = self.array.to_data().into_builder().nulls(nulls.filter(|nulls| nulls.null_count() > 0));
        let data = data.build().expect("a validity of the column's length");
        Column { array: arrow_array::make_array(data), ..self.clone() }
    }

    /// Integers and temporal values of any width as 64 bits; what stands under a NULL is any value. `None` if the
    /// column holds no whole numbers.
    pub fn to_i64s(&self) -> Option<ScalarBuffer<i64>> {
        Some(match self.ty.physical() {
            Physical::I64 => self.array.as_primitive::<at::Int64Type>().values().clone(),
            Physical::I32 => self.i32s().iter().map(|&value| value as i64).collect(),
            Physical::I16 => self.i16s().iter().map(|&value| value as i64).collect(),
            Physical::I8 => self.i8s().iter().map(|&value| value as i64).collect(),
            Physical::Bool => self.bools().iter().map(|value| value as i64).collect(),
            _ => return None,
        })
    }

    /// Numbers of any width as 64-bit floats; what stands under a NULL is any value. `None` if the column holds none.
    pub fn to_f64s(&self) -> Option<ScalarBuffer<f64>> {
        Some(match self.ty.physical() {
            Physical::F64 => self.array.as_primitive::<at::Float64Type>().values().clone(),
            Physical::F32 => self.f32s().iter().map(|&value| value as f64).collect(),
            Physical::I64 => self.i64s().iter().map(|&value| value as f64).collect(),
            Physical::I32 => self.i32s().iter().map(|&value| value as f64).collect(),
            Physical::I128 => {
                let scale = 10f64.powi(self.ty.scale() as i32);
                self.decimals().iter().map(|&value| value as f64 / scale).collect()
            }
            _ => self.to_i64s()?.iter().map(|&value| value as f64).collect(),
        })
    }

    /// One value.
    pub fn get(&self, row: usize) -> Scalar {
        if self.is_null(row) {
            return Scalar::Null;
        }
        match self.ty.physical() {
            Physical::Bool if self.ty == Type::Void => Scalar::Null,
            Physical::Bool => Scalar::Bool(self.bools().value(row)),
            Physical::I8 => Scalar::Int(self.i8s()[row] as i64),
            Physical::I16 => Scalar::Int(self.i16s()[row] as i64),
            Physical::I32 => Scalar::Int(self.i32s()[row] as i64),
            Physical::I64 => Scalar::Int(self.i64s()[row]),
            Physical::F32 => Scalar::Float(self.f32s()[row] as f64),
            Physical::F64 => Scalar::Float(self.f64s()[row]),
            Physical::I128 => Scalar::Decimal(self.decimals()[row]),
            Physical::Code => {
                let dictionary = self.dictionary.as_ref().expect("a SYMBOL column has a dictionary");
                Scalar::Text(dictionary.text(self.codes()[row]))
            }
            Physical::Text => Scalar::Text(self.texts().value(row).into()),
            Physical::Bytes => Scalar::Bytes(self.bytes_at(row).into()),
            Physical::Bytes16 => Scalar::Bytes16(self.bytes16s()[row]),
            Physical::List => {
                let element = self.ty.element().expect("an array vector");
                Scalar::List(Arc::new(Column::physical(element, self.array.as_list::<i32>().value(row), None)))
            }
        }
    }

    /// The stable hash of each row's value. Of a symbol, the hash of its text, taken once per entry.
    pub fn stable_hashes(&self) -> Vec<u64> {
        let null = stable_hash(&Scalar::Null);
        match self.ty.physical() {
            Physical::Code => {
                let dictionary = self.dictionary.as_ref().expect("a SYMBOL column has a dictionary").read();
                let hash = |(row, &code): (usize, &u32)| if self.is_null(row) { null } else { dictionary.hash(code) };
                self.codes().iter().enumerate().map(hash).collect()
            }
            Physical::Text => self.texts().iter().map(|text| text.map_or(null, stable_hash_text)).collect(),
            Physical::Bytes | Physical::Bytes16 => {
                let hash = |row: usize| if self.is_null(row) { null } else { stable_hash_bytes(self.bytes_at(row)) };
                (0..self.len()).map(hash).collect()
            }
            _ => (0..self.len()).map(|row| stable_hash(&self.get(row))).collect(),
        }
    }

    /// `rows` rows from `offset` on, without copying.
    pub fn slice(&self, offset: usize, rows: usize) -> Column {
        Column { array: self.array.slice(offset, rows), ..self.clone() }
    }

    /// The rows at these places, in this order.
    pub fn take(&self, rows: &[u32]) -> Column {
        let rows = UInt32Array::new(ScalarBuffer::from(rows.to_vec()), None);
        let array = arrow_select::take::take(&self.array, &rows, None).expect("places within the column");
        Column { array, ..self.clone() }
    }

    /// Rows of several columns in any order: each pair names a column and a row of it. The columns must be of one
    /// type; symbols of different dictionaries come out in the first one's.
    pub fn interleave(columns: &[&Column], places: &[(usize, usize)]) -> Result<Column> {
        let columns = Column::alike(columns)?;
        let arrays: Vec<&dyn Array> = columns.iter().map(|column| column.array.as_ref()).collect();
        let array = arrow_select::interleave::interleave(&arrays, places).expect("arrays of one type");
        Ok(Column { array, ..columns[0].clone() })
    }

    /// Columns one after another. They must be of one type; symbols of different dictionaries come out in the first
    /// one's.
    pub fn concat(columns: &[&Column]) -> Result<Column> {
        let columns = Column::alike(columns)?;
        let arrays: Vec<&dyn Array> = columns.iter().map(|column| column.array.as_ref()).collect();
        let array = arrow_select::concat::concat(&arrays).expect("arrays of one type");
        Ok(Column { array, ..columns[0].clone() })
    }

    fn alike(columns: &[&Column]) -> Result<Vec<Column>> {
        // A column without a value says nothing of its dictionary; the first that has one decides.
        let speaks = |column: &&&Column| column.null_count() < column.len();
        let first = columns.iter().find(speaks).or(columns.first()).expect("at least one column");
        let of_type = |column: &&Column| {
            if column.ty != first.ty {
                return Err(Error::Type { wanted: first.ty.to_string(), found: column.ty.to_string() });
            }
            match &first.dictionary {
                Some(dictionary) => column.in_dictionary(dictionary),
                None => Ok((*column).clone()),
            }
        };
        columns.iter().map(of_type).collect()
    }

    /// A SYMBOL or STRING column as SYMBOL in this dictionary, which grows by what it lacks.
    pub fn in_dictionary(&self, dictionary: &Arc<Dictionary>) -> Result<Column> {
        self.in_dictionary_by(dictionary, &mut Remap::default())
    }

    /// The same, by a map that is kept from batch to batch.
    pub fn in_dictionary_by(&self, dictionary: &Arc<Dictionary>, map: &mut Remap) -> Result<Column> {
        let codes: Vec<u32> = match &self.dictionary {
            Some(mine) if mine.id() == dictionary.id() => return Ok(self.clone()),
            Some(mine) => map.map(self.codes(), self.validity(), mine, dictionary)?,
            None if self.ty == Type::String => {
                let texts = self.texts();
                let valid = texts.iter().flatten();
                let mut found = dictionary.intern_all(valid)?.into_iter();
                texts.iter().map(|text| text.map_or(0, |_| found.next().expect("one code a text"))).collect()
            }
            None => return Err(Error::Type { wanted: "SYMBOL".into(), found: self.ty.to_string() }),
        };
        Ok(Column::of_codes(codes, self.validity().cloned(), dictionary.clone()))
    }

    /// A SYMBOL or STRING column as STRING.
    pub fn to_strings(&self) -> Option<Column> {
        match (&self.dictionary, self.ty) {
            (Some(dictionary), _) => {
                let texts = dictionary.read();
                let text = |(row, &code): (usize, &u32)| (!self.is_null(row)).then(|| texts.text(code));
                Some(Column::of_texts(self.codes().iter().enumerate().map(text)))
            }
            (None, Type::String) => Some(self.clone()),
            _ => None,
        }
    }

    /// About how many bytes the rows take in memory, dictionaries not counted.
    pub fn bytes(&self) -> usize {
        match self.ty.physical() {
            Physical::Text => self.texts().value_data().len().min(self.len() * 64) + self.len() * 4,
            Physical::List => self.array.get_buffer_memory_size(),
            Physical::I8 | Physical::Bool => self.len(),
            Physical::I16 => self.len() * 2,
            Physical::I32 | Physical::F32 | Physical::Code => self.len() * 4,
            Physical::I64 | Physical::F64 => self.len() * 8,
            Physical::I128 | Physical::Bytes16 => self.len() * 16,
            Physical::Bytes => self.array.get_buffer_memory_size(),
        }
    }

    /// The column as the outside world sees it, of the type's Arrow type.
    pub fn to_arrow(&self) -> ArrayRef {
        let wanted = self.ty.to_arrow();
        match self.ty {
            Type::Void => Arc::new(arrow_array::NullArray::new(self.len())),
            Type::Symbol => {
                let dictionary = self.dictionary.as_ref().expect("a SYMBOL column has a dictionary");
                let values = dictionary.values();
                let keys = self.array.as_primitive::<at::UInt32Type>().clone();
                // What stands under a NULL may be any code, also one past an empty dictionary.
                let keys =
                    if keys.null_count() == 0 { keys } else { keys.iter().collect::<PrimitiveArray<at::UInt32Type>>() };
                Arc::new(arrow_array::DictionaryArray::new(keys, Arc::new(values)))
            }
            Type::Minute => {
                let seconds: Vec<i32> = self.i32s().iter().map(|minutes| minutes.wrapping_mul(60)).collect();
                Arc::new(PrimitiveArray::<at::Time32SecondType>::new(seconds.into(), self.validity().cloned()))
            }
            Type::Datetime => {
                let seconds: Vec<i64> = self.i32s().iter().map(|&seconds| seconds as i64).collect();
                Arc::new(PrimitiveArray::<at::TimestampSecondType>::new(seconds.into(), self.validity().cloned()))
            }
            Type::Datehour => {
                let seconds: Vec<i64> = self.i32s().iter().map(|&hours| hours as i64 * 3_600).collect();
                Arc::new(PrimitiveArray::<at::TimestampSecondType>::new(seconds.into(), self.validity().cloned()))
            }
            Type::Array(element) => {
                let list = self.array.as_list::<i32>();
                let elements = Column::physical(*element, list.values().clone(), None).to_arrow();
                let DataType::List(field) = wanted else { unreachable!("an array vector is a list") };
                Arc::new(ListArray::new(field, list.offsets().clone(), elements, self.validity().cloned()))
            }
            _ if *self.array.data_type() == wanted => self.array.clone(),
            _ => {
                let data = self.array.to_data().into_builder().data_type(wanted);
                arrow_array::make_array(data.build().expect("a type of the same storage"))
            }
        }
    }

    /// A column of this type from an array of the type's Arrow type (`Type::to_arrow`); symbols also from plain
    /// texts and from dictionaries with other keys. Symbols get a dictionary of their own.
    pub fn from_arrow(ty: Type, array: &ArrayRef) -> Result<Column> {
        let mismatch = || Error::Type { wanted: ty.to_arrow().to_string(), found: array.data_type().to_string() };
        let valid = array.logical_nulls();
        if ty == Type::Symbol {
            return Column::symbols_from_arrow(array).ok_or_else(mismatch)?;
        }
        if *array.data_type() != ty.to_arrow() {
            return Err(mismatch());
        }
        Ok(match ty {
            Type::Void => Column::nulls(Type::Void, array.len()),
            Type::Minute => {
                let seconds = array.as_primitive::<at::Time32SecondType>();
                let minutes: Vec<i32> = seconds.values().iter().map(|seconds| seconds.div_euclid(60)).collect();
                Column::of_i32(ty, minutes, valid)
            }
            Type::Datetime | Type::Datehour => {
                let wide = array.as_primitive::<at::TimestampSecondType>();
                let unit = if ty == Type::Datehour { 3_600 } else { 1 };
                let mut units = Vec::with_capacity(wide.len());
                for (row, &value) in wide.values().iter().enumerate() {
                    let value = if wide.is_null(row) { 0 } else { value };
                    let range = |_| Error::Range { value: value.to_string(), ty: ty.to_string() };
                    units.push(i32::try_from(value.div_euclid(unit)).map_err(range)?);
                }
                Column::of_i32(ty, units, valid)
            }
            Type::Array(element) => {
                let list = array.as_list::<i32>();
                let elements = Column::from_arrow(*element, list.values())?;
                Column::of_lists(list.offsets().to_vec(), elements, valid)
            }
            Type::Month
            | Type::Int
            | Type::Long
            | Type::Short
            | Type::Char
            | Type::Bool
            | Type::Double
            | Type::Float
            | Type::String
            | Type::Blob
            | Type::Uuid
            | Type::Ipaddr
            | Type::Int128
            | Type::Complex
            | Type::Point => Column::physical(ty, array.clone(), None),
            Type::Decimal32(_) | Type::Decimal64(_) | Type::Decimal128(_) => Column::physical(ty, array.clone(), None),
            _ => {
                let storage = match ty.physical() {
                    Physical::I32 => DataType::Int32,
                    _ => DataType::Int64,
                };
                let data = array.to_data().into_builder().data_type(storage);
                Column::physical(ty, arrow_array::make_array(data.build().expect("a type of the same storage")), None)
            }
        })
    }

    fn symbols_from_arrow(array: &ArrayRef) -> Option<Result<Column>> {
        let dictionary = Dictionary::new();
        if let Some(texts) = array.as_string_opt::<i32>() {
            return Some(Column::physical(Type::String, Arc::new(texts.clone()), None).in_dictionary(&dictionary));
        }
        let coded = array.as_any_dictionary_opt()?;
        let values = coded.values().as_string_opt::<i32>()?;
        let codes = dictionary.intern_all((0..values.len()).map(|code| values.value(code)));
        let valid = array.logical_nulls();
        Some(codes.map(|codes| {
            let keys = coded.normalized_keys();
            let keys: Vec<u32> = keys.into_iter().map(|key| codes.get(key).copied().unwrap_or(0)).collect();
            Column::of_codes(keys, valid, dictionary)
        }))
    }
}

impl PartialEq for Column {
    /// Same type and same values, symbols by their texts.
    fn eq(&self, other: &Column) -> bool {
        self.ty == other.ty && self.len() == other.len() && (0..self.len()).all(|row| self.get(row) == other.get(row))
    }
}

/// Builds a column value by value. For edges and rare paths: hot loops fill plain vectors instead.
pub struct ColumnBuilder {
    ty: Type,
    valid: Vec<bool>,
    values: Values,
    dictionary: Option<Arc<Dictionary>>,
}

enum Values {
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Decimals(Vec<i128>),
    Codes(Vec<u32>),
    Texts(StringBuilder),
    Bytes(BinaryBuilder),
    Bytes16(Vec<[u8; 16]>),
    Lists(Vec<i32>, Box<ColumnBuilder>),
}

impl ColumnBuilder {
    /// A builder; symbols get a dictionary of their own.
    pub fn new(ty: Type) -> ColumnBuilder {
        let dictionary = (ty == Type::Symbol).then(Dictionary::new);
        ColumnBuilder::in_dictionary(ty, dictionary)
    }

    /// A builder whose symbols go to this dictionary.
    pub fn in_dictionary(ty: Type, dictionary: Option<Arc<Dictionary>>) -> ColumnBuilder {
        let values = match ty.physical() {
            Physical::Bool => Values::Bools(vec![]),
            Physical::I8 | Physical::I16 | Physical::I32 | Physical::I64 => Values::Ints(vec![]),
            Physical::F32 | Physical::F64 => Values::Floats(vec![]),
            Physical::I128 => Values::Decimals(vec![]),
            Physical::Code => Values::Codes(vec![]),
            Physical::Text => Values::Texts(StringBuilder::new()),
            Physical::Bytes => Values::Bytes(BinaryBuilder::new()),
            Physical::Bytes16 => Values::Bytes16(vec![]),
            Physical::List => {
                let element = ty.element().expect("an array vector");
                Values::Lists(vec![0], Box::new(ColumnBuilder::new(element)))
            }
        };
        ColumnBuilder { ty, valid: vec![], values, dictionary }
    }

    /// Adds a value. It must be of the type: a number for a number, a text for a text. Integers go into float
    /// columns as floats; an empty text is NULL.
    pub fn push(&mut self, value: &Scalar) {
        let mut valid = !value.is_null();
        match &mut self.values {
            Values::Bools(values) => values.push(value.as_i64().unwrap_or(0) != 0),
            Values::Ints(values) => values.push(value.as_i64().unwrap_or(0)),
            Values::Floats(values) => values.push(value.as_f64().unwrap_or(0.0)),
            Values::Decimals(values) => values.push(match value {
                Scalar::Decimal(digits) => *digits,
                _ => 0,
            }),
            Values::Codes(codes) => {
                let dictionary = self.dictionary.as_ref().expect("symbols have a dictionary");
                let text = value.as_text().filter(|text| !text.is_empty());
                valid = text.is_some();
                codes.push(text.map_or(0, |text| dictionary.intern(text).expect("room in the dictionary")));
            }
            Values::Texts(texts) => {
                let text = value.as_text().filter(|text| !text.is_empty());
                valid = text.is_some();
                texts.append_option(text);
            }
            Values::Bytes(bytes) => match value {
                Scalar::Bytes(value) => bytes.append_value(value),
                _ => bytes.append_null(),
            },
            Values::Bytes16(values) => values.push(match value {
                Scalar::Bytes16(value) => *value,
                _ => [0; 16],
            }),
            Values::Lists(offsets, elements) => {
                if let Scalar::List(column) = value {
                    (0..column.len()).for_each(|row| elements.push(&column.get(row)));
                }
                offsets.push(elements.len() as i32);
            }
        }
        self.valid.push(valid);
    }

    /// How many values so far.
    pub fn len(&self) -> usize {
        self.valid.len()
    }

    /// No value yet?
    pub fn is_empty(&self) -> bool {
        self.valid.is_empty()
    }

    /// The column.
    pub fn finish(self) -> Column {
        let nulls = Some(NullBuffer::from(self.valid)).filter(|nulls| nulls.null_count() > 0);
        let ty = self.ty;
        match self.values {
            Values::Bools(values) => Column::physical(ty, Arc::new(BooleanArray::new(values.into(), nulls)), None),
            Values::Ints(values) => match ty.physical() {
                Physical::I8 => Column::of_i8(ty, values.iter().map(|&v| v as i8).collect::<Vec<_>>(), nulls),
                Physical::I16 => Column::of_i16(ty, values.iter().map(|&v| v as i16).collect::<Vec<_>>(), nulls),
                Physical::I32 => Column::of_i32(ty, values.iter().map(|&v| v as i32).collect::<Vec<_>>(), nulls),
                _ => Column::of_i64(ty, values, nulls),
            },
            Values::Floats(values) => match ty.physical() {
                Physical::F32 => Column::of_f32(ty, values.iter().map(|&v| v as f32).collect::<Vec<_>>(), nulls),
                _ => Column::of_f64(ty, values, nulls),
            },
            Values::Decimals(values) => Column::of_decimals(ty, values, nulls),
            Values::Codes(codes) => Column::of_codes(codes, nulls, self.dictionary.expect("symbols have a dictionary")),
            Values::Texts(mut texts) => Column::physical(ty, Arc::new(texts.finish()), None),
            Values::Bytes(mut bytes) => Column::physical(ty, Arc::new(bytes.finish()), None),
            Values::Bytes16(values) => Column::of_bytes16(ty, values, nulls),
            Values::Lists(offsets, elements) => {
                let list = Column::of_lists(offsets, elements.finish(), nulls);
                Column { ty, ..list }
            }
        }
    }
}
