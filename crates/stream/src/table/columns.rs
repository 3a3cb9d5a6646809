//! Columns as bytes: values as they lie in memory, with their validity.
//!
//! ```text
//! columns  := flags 1 byte: 1 = LZ4   [raw length]   body
//! body     := column…                                In the schema's order.
//! column   := nulls 1 byte: 0 or 1   [validity: a bit a row, lowest first, 1 = valid]   values
//! values   := BOOL                         a bit a row
//!             numbers, times, symbol codes little-endian, as wide as the type is stored
//!             UUID and its like            16 bytes a row
//!             STRING, BLOB                 a length of 4 bytes a row, then all bytes
//!             array vectors                a length of 4 bytes a row, then one column of all elements
//! ```

use crate::codec::{Decoder, Encoder, Wrong};
use data::arrow::array::cast::AsArray;
use data::arrow::array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, StringArray};
use data::arrow::buffer::{
    ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer, ToByteSlice,
};
use data::{Batch, Column, Dictionary, Physical, Schema, Type};
use std::sync::Arc;

const _: () = assert!(cfg!(target_endian = "little"), "values are written as they lie in memory");

/// Bodies below this size are not worth compressing.
const COMPRESS_BYTES_MIN: usize = 256;

/// Adds the columns of a batch.
pub(super) fn encode(batch: &Batch, compress: bool, to: &mut Encoder) {
    to.bytes.reserve(batch.bytes() + batch.rows() / 4);
    let start = to.bytes.len();
    to.u8(0);
    batch.columns().iter().for_each(|column| encode_column(column, to));
    let raw = to.bytes.len() - start - 1;
    if compress && raw >= COMPRESS_BYTES_MIN {
        let packed = lz4_flex::block::compress(&to.bytes[start + 1..]);
        if packed.len() < raw {
            to.bytes.truncate(start);
            to.u8(1);
            to.uint(raw as u64);
            to.bytes.extend_from_slice(&packed);
        }
    }
}

fn encode_column(column: &Column, to: &mut Encoder) {
    to.u8(column.validity().is_some() as u8);
    if let Some(valid) = column.validity() {
        encode_bits(valid.inner(), to);
    }
    let bytes = &mut to.bytes;
    match column.ty().physical() {
        Physical::Bool => encode_bits(column.bools(), to),
        Physical::I8 => bytes.extend_from_slice(column.i8s().to_byte_slice()),
        Physical::I16 => bytes.extend_from_slice(column.i16s().to_byte_slice()),
        Physical::I32 => bytes.extend_from_slice(column.i32s().to_byte_slice()),
        Physical::I64 => bytes.extend_from_slice(column.i64s().to_byte_slice()),
        Physical::F32 => bytes.extend_from_slice(column.f32s().to_byte_slice()),
        Physical::F64 => bytes.extend_from_slice(column.f64s().to_byte_slice()),
        Physical::I128 => bytes.extend_from_slice(column.decimals().to_byte_slice()),
        Physical::Code => bytes.extend_from_slice(column.codes().to_byte_slice()),
        Physical::Text => encode_ranges(column.texts().value_offsets(), column.texts().value_data(), to),
        Physical::Bytes => {
            let array = column.to_arrow();
            let blobs = array.as_binary::<i32>();
            encode_ranges(blobs.value_offsets(), blobs.value_data(), to);
        }
        Physical::Bytes16 => {
            bytes.extend_from_slice(column.bytes16s().as_flattened());
        }
        Physical::List => {
            let offsets = column.list_offsets();
            let (start, end) = encode_lengths(offsets, to);
            encode_column(&column.list_elements().slice(start, end - start), to);
        }
    }
}

fn encode_bits(bits: &BooleanBuffer, to: &mut Encoder) {
    to.bytes.extend_from_slice(&bits.sliced().as_slice()[..bits.len().div_ceil(8)]);
}

/// Lengths for offsets; gives the first and the last offset.
fn encode_lengths(offsets: &[i32], to: &mut Encoder) -> (usize, usize) {
    offsets.windows(2).for_each(|pair| to.bytes.extend_from_slice(&(pair[1] - pair[0]).to_le_bytes()));
    (offsets[0] as usize, offsets[offsets.len() - 1] as usize)
}

fn encode_ranges(offsets: &[i32], values: &[u8], to: &mut Encoder) {
    let (start, end) = encode_lengths(offsets, to);
    to.bytes.extend_from_slice(&values[start..end]);
}

/// Reads the columns of a batch with this number of rows.
pub(super) fn decode(
    from: &mut Decoder<'_>,
    schema: &Arc<Schema>,
    dictionary: &Arc<Dictionary>,
    rows: usize,
) -> Result<Batch, Wrong> {
    let unpacked;
    let mut body = match from.u8()? {
        0 => from.clone(),
        1 => {
            let raw = from.uint()? as usize;
            // LZ4 gives at most 255 bytes for one.
            if raw / 255 > from.rest().len() {
                return Err("more values than bytes");
            }
            unpacked = lz4_flex::block::decompress(from.rest(), raw).map_err(|_| "compressed values are damaged")?;
            Decoder::new(&unpacked)
        }
        _ => return Err("unknown form of columns"),
    };
    let columns = schema.fields().iter().map(|field| decode_column(&mut body, field.ty, rows, dictionary));
    let columns = columns.collect::<Result<Vec<_>, Wrong>>()?;
    body.done()?;
    Batch::new(schema.clone(), columns).map_err(|_| "columns do not fit the schema")
}

fn decode_column(from: &mut Decoder<'_>, ty: Type, rows: usize, dictionary: &Arc<Dictionary>) -> Result<Column, Wrong> {
    let nulls = match from.u8()? {
        0 => None,
        1 => Some(NullBuffer::new(decode_bits(from, rows)?)),
        _ => return Err("unknown form of a column"),
    };
    Ok(match ty.physical() {
        Physical::Bool => {
            let bits = decode_bits(from, rows)?;
            Column::of_bools(bits, nulls).with_type(ty)
        }
        Physical::I8 => Column::of_i8(ty, decode_values(from, rows)?, nulls),
        Physical::I16 => Column::of_i16(ty, decode_values(from, rows)?, nulls),
        Physical::I32 => Column::of_i32(ty, decode_values(from, rows)?, nulls),
        Physical::I64 => Column::of_i64(ty, decode_values(from, rows)?, nulls),
        Physical::F32 => Column::of_f32(ty, decode_values(from, rows)?, nulls),
        Physical::F64 => Column::of_f64(ty, decode_values(from, rows)?, nulls),
        Physical::I128 => {
            let digits = decode_values::<i128>(from, rows)?;
            Column::of_decimals(ty, digits.to_vec(), nulls)
        }
        Physical::Code => {
            let codes = decode_values::<u32>(from, rows)?;
            let entries = dictionary.len() as u32;
            let known = |(row, &code): (usize, &u32)| code < entries || nulls.as_ref().is_some_and(|n| n.is_null(row));
            if !codes.iter().enumerate().all(known) {
                return Err("symbol code without an entry");
            }
            Column::of_codes(codes, nulls, dictionary.clone())
        }
        Physical::Text => {
            let (offsets, values) = decode_ranges(from, rows)?;
            let texts = StringArray::try_new(offsets, values, nulls).map_err(|_| "text is not UTF-8")?;
            of_array(ty, Arc::new(texts))?
        }
        Physical::Bytes => {
            let (offsets, values) = decode_ranges(from, rows)?;
            let blobs = BinaryArray::try_new(offsets, values, nulls).map_err(|_| "lengths do not fit")?;
            of_array(ty, Arc::new(blobs))?
        }
        Physical::Bytes16 => {
            let values = Buffer::from(from.take(rows.checked_mul(16).ok_or("record ends early")?)?);
            let values = FixedSizeBinaryArray::try_new(16, values, nulls).map_err(|_| "lengths do not fit")?;
            of_array(ty, Arc::new(values))?
        }
        Physical::List => {
            let element = ty.element().expect("an array vector");
            let offsets = decode_lengths(from, rows)?;
            let elements = decode_column(from, element, offsets[rows] as usize, dictionary)?;
            Column::of_lists(offsets, elements, nulls)
        }
    })
}

fn of_array(ty: Type, array: ArrayRef) -> Result<Column, Wrong> {
    Column::from_arrow(ty, &array).map_err(|_| "values do not fit the type")
}

fn decode_bits(from: &mut Decoder<'_>, rows: usize) -> Result<BooleanBuffer, Wrong> {
    Ok(BooleanBuffer::new(Buffer::from(from.take(rows.div_ceil(8))?), 0, rows))
}

/// Values of a fixed width, copied once to where they are aligned.
fn decode_values<T: ArrowNativeType>(from: &mut Decoder<'_>, rows: usize) -> Result<ScalarBuffer<T>, Wrong> {
    let bytes = from.take(rows.checked_mul(size_of::<T>()).ok_or("record ends early")?)?;
    Ok(ScalarBuffer::new(Buffer::from(bytes), 0, rows))
}

fn decode_lengths(from: &mut Decoder<'_>, rows: usize) -> Result<Vec<i32>, Wrong> {
    let lengths = decode_values::<i32>(from, rows)?;
    let mut offsets = Vec::with_capacity(rows + 1);
    let mut end = 0i32;
    offsets.push(end);
    for &length in lengths.iter() {
        end = end.checked_add(length).filter(|_| length >= 0).ok_or("lengths do not fit")?;
        offsets.push(end);
    }
    Ok(offsets)
}

fn decode_ranges(from: &mut Decoder<'_>, rows: usize) -> Result<(OffsetBuffer<i32>, Buffer), Wrong> {
    let offsets = decode_lengths(from, rows)?;
    let values = Buffer::from(from.take(offsets[rows] as usize)?);
    Ok((OffsetBuffer::new(offsets.into()), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Scalar;

    /// A batch with a column of every type that a table can have, every third value NULL.
    fn of_every_type(rows: usize) -> (Batch, Arc<Dictionary>) {
        let decimals = [Type::Decimal32(2), Type::Decimal64(4), Type::Decimal128(6)];
        let arrays = [Type::Array(&Type::Int), Type::Array(&Type::String), Type::Array(&Type::Bool)];
        let plain = Type::NAMED.iter().map(|(ty, _)| *ty).filter(|ty| *ty != Type::Void);
        let types: Vec<Type> = plain.chain(decimals).chain(arrays).collect();
        let fields = types.iter().map(|ty| data::Field::new(ty.to_string(), *ty)).collect();
        let schema = Arc::new(Schema::new(fields).unwrap());
        let dictionary = Dictionary::new();
        let columns = types.iter().map(|&ty| {
            let values: Vec<Scalar> = (0..rows).map(|row| value(ty, row)).collect();
            let column = Column::of_scalars(ty, &values);
            if ty == Type::Symbol { column.in_dictionary(&dictionary).unwrap() } else { column }
        });
        let batch = Batch::new(schema.clone(), columns.collect()).unwrap();
        (batch, dictionary)
    }

    fn value(ty: Type, row: usize) -> Scalar {
        match ty.physical() {
            _ if row % 3 == 2 => Scalar::Null,
            Physical::Bool => Scalar::Bool(row.is_multiple_of(2)),
            Physical::F32 | Physical::F64 => Scalar::Float(row as f64 / 4.0),
            Physical::I128 => Scalar::Decimal(row as i128 - 5),
            Physical::Code | Physical::Text => Scalar::from(format!("text {row}").as_str()),
            Physical::Bytes => Scalar::Bytes(vec![row as u8; row].into()),
            Physical::Bytes16 => Scalar::Bytes16([row as u8; 16]),
            Physical::List => {
                let element = ty.element().unwrap();
                let values: Vec<Scalar> = (0..row % 4).map(|row| value(element, row)).collect();
                Scalar::List(Arc::new(Column::of_scalars(element, &values)))
            }
            _ => Scalar::Int(row as i64 - 3),
        }
    }

    #[test]
    fn columns_of_every_type_read_back_whole_and_sliced() {
        let (batch, dictionary) = of_every_type(40);
        for compress in [false, true] {
            for (offset, rows) in [(0, 40), (3, 17), (9, 0), (39, 1)] {
                let batch = batch.slice(offset, rows);
                let mut bytes = Encoder::default();
                encode(&batch, compress, &mut bytes);
                let mut from = Decoder::new(&bytes.bytes);
                assert_eq!(decode(&mut from, batch.schema(), &dictionary, rows).unwrap(), batch);
            }
        }
    }

    #[test]
    fn any_bytes_give_columns_or_an_error() {
        let (batch, dictionary) = of_every_type(10);
        for compress in [false, true] {
            let mut bytes = Encoder::default();
            encode(&batch, compress, &mut bytes);
            for at in 0..bytes.bytes.len() {
                let mut damaged = bytes.bytes.clone();
                damaged[at] ^= 0xff;
                let _ = decode(&mut Decoder::new(&damaged), batch.schema(), &dictionary, 10);
                let short = decode(&mut Decoder::new(&bytes.bytes[..at]), batch.schema(), &dictionary, 10);
                assert!(short.is_err());
            }
        }
    }
}
