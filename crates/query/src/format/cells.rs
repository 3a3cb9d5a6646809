//! One cell as text.

use super::json;
use arrow::array::{Array, ArrayRef, AsArray, StringArray, UInt32Array};
use arrow::datatypes::UInt32Type;
use data::{Column, Scalar, Type, push_bytes16, push_decimal, push_iso};
use std::fmt::Write;

/// The cells of one column of an answer. Texts stay where they are; everything else is read as values.
pub(super) enum Cells {
    Texts(StringArray),
    Coded(UInt32Array, StringArray),
    Values(Column),
}

impl Cells {
    /// The cells of an array that has the type's Arrow type.
    pub(super) fn of(ty: Type, array: &ArrayRef) -> Cells {
        match ty {
            Type::String => Cells::Texts(array.as_string().clone()),
            Type::Symbol => {
                let coded = array.as_dictionary::<UInt32Type>();
                Cells::Coded(coded.keys().clone(), coded.values().as_string().clone())
            }
            _ => Cells::Values(Column::from_arrow(ty, array).expect("an answer's column has its type's Arrow type")),
        }
    }

    fn text(&self, row: usize) -> Option<&str> {
        match self {
            Cells::Texts(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Cells::Coded(codes, texts) => codes.is_valid(row).then(|| texts.value(codes.value(row) as usize)),
            Cells::Values(_) => None,
        }
    }

    /// Adds a cell as plain text; nothing for NULL.
    pub(super) fn push_text(&self, row: usize, out: &mut String) {
        match self {
            Cells::Values(column) => text(column.ty(), &column.get(row), out),
            texts => out.push_str(texts.text(row).unwrap_or("")),
        }
    }

    /// Adds a cell as JSON.
    pub(super) fn push_json(&self, row: usize, out: &mut String) {
        match self {
            Cells::Values(column) => json::scalar(column.ty(), &column.get(row), out),
            texts => match texts.text(row) {
                Some(text) => json::string(text, out),
                None => out.push_str("null"),
            },
        }
    }
}

/// Adds a value as plain text; nothing for NULL.
pub fn text(ty: Type, value: &Scalar, out: &mut String) {
    const WRITES: &str = "a string takes any text";
    match value {
        Scalar::Null => {}
        Scalar::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Scalar::Int(value) if ty.is_temporal() => push_iso(ty, *value, out),
        Scalar::Int(value) => out.push_str(itoa::Buffer::new().format(*value)),
        Scalar::Float(value) if !value.is_finite() => write!(out, "{value}").expect(WRITES),
        Scalar::Float(value) => {
            let mut digits = ryu::Buffer::new();
            let digits = match ty {
                Type::Float => digits.format(*value as f32),
                _ => digits.format(*value),
            };
            out.push_str(digits.strip_suffix(".0").unwrap_or(digits));
        }
        Scalar::Decimal(digits) => push_decimal(ty, *digits, out),
        Scalar::Text(text) => out.push_str(text),
        Scalar::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => out.push_str(text),
            Err(_) => bytes.iter().for_each(|byte| write!(out, "{byte:02x}").expect(WRITES)),
        },
        Scalar::Bytes16(bytes) => push_bytes16(ty, bytes, out),
        Scalar::List(elements) => {
            out.push('[');
            for row in 0..elements.len() {
                if row > 0 {
                    out.push(',');
                }
                match elements.get(row) {
                    // In quotes, so that a text with a comma is still one element.
                    element @ (Scalar::Null | Scalar::Text(_) | Scalar::Bytes16(_)) => {
                        json::scalar(elements.ty(), &element, out)
                    }
                    element => text(elements.ty(), &element, out),
                }
            }
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ty: Type, value: Scalar) -> String {
        let mut out = String::new();
        text(ty, &value, &mut out);
        out
    }

    #[test]
    fn values_have_their_shortest_text() {
        assert_eq!(shown(Type::Double, 0.1.into()), "0.1");
        assert_eq!(shown(Type::Double, 100.0.into()), "100");
        assert_eq!(shown(Type::Double, 1e-7.into()), "1e-7");
        assert_eq!(shown(Type::Double, 1e-5.into()), "0.00001");
        assert_eq!(shown(Type::Double, 1e15.into()), "1000000000000000");
        assert_eq!(shown(Type::Double, 1.5e16.into()), "1.5e16");
        assert_eq!(shown(Type::Double, (-0.0).into()), "-0");
        assert_eq!(shown(Type::Double, f64::INFINITY.into()), "inf");
        assert_eq!(shown(Type::Float, (0.1f32 as f64).into()), "0.1");
        assert_eq!(shown(Type::Decimal64(2), Scalar::Decimal(-5)), "-0.05");
        assert_eq!(shown(Type::Decimal32(0), Scalar::Decimal(17)), "17");
        assert_eq!(shown(Type::Month, Scalar::Int(2024 * 12)), "2024-01");
        assert_eq!(shown(Type::Datehour, Scalar::Int(473_385)), "2024-01-02T09:00:00");
        assert_eq!(shown(Type::Int128, Scalar::Bytes16([0x12; 16])), "12".repeat(16));
        assert_eq!(shown(Type::Complex, Scalar::Bytes16(data::bytes_of_pair(1.0, -2.5))), "1-2.5i");
        assert_eq!(shown(Type::Uuid, Scalar::Bytes16([0x12; 16])), "12121212-1212-1212-1212-121212121212");
    }

    #[test]
    fn an_array_shows_its_null_elements_and_quotes_texts() {
        let numbers = Column::of_scalars(Type::Int, &[Scalar::Int(1), Scalar::Null]);
        assert_eq!(shown(Type::Array(&Type::Int), Scalar::List(numbers.into())), "[1,null]");
        let points = Column::of_scalars(Type::Point, &[Scalar::Bytes16(data::bytes_of_pair(1.0, 2.0))]);
        assert_eq!(shown(Type::Array(&Type::Point), Scalar::List(points.into())), "[\"(1, 2)\"]");
        let texts = Column::of_texts([Some("a,b")]);
        assert_eq!(shown(Type::Array(&Type::String), Scalar::List(texts.into())), "[\"a,b\"]");
    }
}
