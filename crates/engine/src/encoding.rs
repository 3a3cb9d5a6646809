//! State as bytes: the primitives every engine writes its state with.
//!
//! Invariants:
//! - Integers are little-endian and of fixed width, texts and byte strings carry their length before them.
//! - Reading never panics: bytes that end too soon or make no sense are an error.

use data::{Column, ColumnBuilder, Scalar, Type};
use lang::Diagnostic;
use std::sync::Arc;

/// Bytes that cannot be a state of this engine.
pub(crate) fn broken(what: &str) -> Diagnostic {
    Diagnostic::new(format!("engine state cannot be read: at=`{what}`"))
}

/// Writes an integer.
pub(crate) fn put_i64(bytes: &mut Vec<u8>, value: i64) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

/// Writes an unsigned integer.
pub(crate) fn put_u64(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

/// Writes a count or a code.
pub(crate) fn put_u32(bytes: &mut Vec<u8>, value: u32) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

/// Writes a byte string with its length.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    put_u32(bytes, u32::try_from(value.len()).expect("a state of less than 4 GB"));
    bytes.extend_from_slice(value);
}

/// Writes an integer that may be missing.
pub(crate) fn put_option(bytes: &mut Vec<u8>, value: Option<i64>) {
    bytes.push(value.is_some() as u8);
    put_i64(bytes, value.unwrap_or(0));
}

/// Cuts a fixed number of bytes off the front.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Diagnostic> {
    let (head, rest) = bytes.split_first_chunk::<N>().ok_or_else(|| broken("its end"))?;
    *bytes = rest;
    Ok(*head)
}

/// Reads one byte.
pub(crate) fn take_u8(bytes: &mut &[u8]) -> Result<u8, Diagnostic> {
    Ok(take::<1>(bytes)?[0])
}

/// Reads an integer.
pub(crate) fn take_i64(bytes: &mut &[u8]) -> Result<i64, Diagnostic> {
    Ok(i64::from_le_bytes(take(bytes)?))
}

/// Reads an unsigned integer.
pub(crate) fn take_u64(bytes: &mut &[u8]) -> Result<u64, Diagnostic> {
    Ok(u64::from_le_bytes(take(bytes)?))
}

/// Reads a count or a code.
pub(crate) fn take_u32(bytes: &mut &[u8]) -> Result<u32, Diagnostic> {
    Ok(u32::from_le_bytes(take(bytes)?))
}

/// Reads a byte string with its length.
pub(crate) fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Diagnostic> {
    let len = take_u32(bytes)? as usize;
    if len > bytes.len() {
        return Err(broken("its end"));
    }
    let (head, rest) = bytes.split_at(len);
    *bytes = rest;
    Ok(head)
}

/// Reads an integer that may be missing.
pub(crate) fn take_option(bytes: &mut &[u8]) -> Result<Option<i64>, Diagnostic> {
    let given = take_u8(bytes)? != 0;
    let value = take_i64(bytes)?;
    Ok(given.then_some(value))
}

/// Writes a value; its type is known to whoever reads it.
pub(crate) fn put_scalar(bytes: &mut Vec<u8>, value: &Scalar) {
    match value {
        Scalar::Null => bytes.push(0),
        Scalar::Bool(value) => bytes.extend_from_slice(&[1, *value as u8]),
        Scalar::Int(value) => {
            bytes.push(2);
            put_i64(bytes, *value);
        }
        Scalar::Float(value) => {
            bytes.push(3);
            put_u64(bytes, value.to_bits());
        }
        Scalar::Decimal(value) => {
            bytes.push(4);
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        Scalar::Text(value) => {
            bytes.push(5);
            put_bytes(bytes, value.as_bytes());
        }
        Scalar::Bytes(value) => {
            bytes.push(6);
            put_bytes(bytes, value);
        }
        Scalar::Bytes16(value) => {
            bytes.push(7);
            bytes.extend_from_slice(value);
        }
        Scalar::List(column) => {
            bytes.push(8);
            put_u32(bytes, column.len() as u32);
            (0..column.len()).for_each(|row| put_scalar(bytes, &column.get(row)));
        }
    }
}

/// Reads a value of this type.
pub(crate) fn take_scalar(ty: Type, bytes: &mut &[u8]) -> Result<Scalar, Diagnostic> {
    Ok(match take_u8(bytes)? {
        0 => Scalar::Null,
        1 => Scalar::Bool(take_u8(bytes)? != 0),
        2 => Scalar::Int(take_i64(bytes)?),
        3 => Scalar::Float(f64::from_bits(take_u64(bytes)?)),
        4 => Scalar::Decimal(i128::from_le_bytes(take(bytes)?)),
        5 => Scalar::Text(std::str::from_utf8(take_bytes(bytes)?).map_err(|_| broken("a text"))?.into()),
        6 => Scalar::Bytes(take_bytes(bytes)?.into()),
        7 => Scalar::Bytes16(take(bytes)?),
        8 => {
            let element = ty.element().ok_or_else(|| broken("a list"))?;
            Scalar::List(Arc::new(take_column(element, bytes)?))
        }
        _ => return Err(broken("a value")),
    })
}

fn take_column(ty: Type, bytes: &mut &[u8]) -> Result<Column, Diagnostic> {
    let mut values = ColumnBuilder::new(ty);
    for _ in 0..take_u32(bytes)? {
        values.push(&take_scalar(ty, bytes)?);
    }
    Ok(values.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_as_they_were_and_a_cut_is_an_error() {
        let list = Column::of_scalars(Type::Int, &[Scalar::Int(1), Scalar::Null]);
        let values = [
            (Type::Int, Scalar::Null),
            (Type::Bool, Scalar::Bool(true)),
            (Type::Long, Scalar::Int(-5)),
            (Type::Double, Scalar::Float(f64::NAN)),
            (Type::Decimal64(2), Scalar::Decimal(-12345)),
            (Type::Symbol, Scalar::from("text")),
            (Type::Blob, Scalar::Bytes([1, 2, 3].as_slice().into())),
            (Type::Uuid, Scalar::Bytes16([7; 16])),
            (Type::Point, Scalar::Bytes16(data::bytes_of_pair(1.0, 2.0))),
            (Type::Datehour, Scalar::Int(473_385)),
            (Type::Array(&Type::Int), Scalar::List(Arc::new(list))),
        ];
        for (ty, value) in values {
            let mut bytes = vec![];
            put_scalar(&mut bytes, &value);
            assert_eq!(take_scalar(ty, &mut bytes.as_slice()).unwrap(), value);
            assert!(take_scalar(ty, &mut &bytes[..bytes.len() - 1]).is_err());
        }
    }
}
