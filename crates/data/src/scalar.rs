//! One value, apart from its type.

use crate::column::Column;
use std::sync::Arc;

/// One value of a column. Its type stands beside it: 5 as `Int` may be an INT, a LONG or a DATE.
#[derive(Debug, Clone)]
pub enum Scalar {
    /// No value.
    Null,
    /// A BOOL.
    Bool(bool),
    /// Integers and temporal values, in the unit of their type.
    Int(i64),
    /// FLOAT and DOUBLE.
    Float(f64),
    /// The unscaled digits of a decimal.
    Decimal(i128),
    /// SYMBOL and STRING.
    Text(Arc<str>),
    /// A BLOB.
    Bytes(Arc<[u8]>),
    /// A UUID, IPADDR, INT128, COMPLEX or POINT.
    Bytes16([u8; 16]),
    /// One cell of an array vector.
    List(Arc<Column>),
}

impl Scalar {
    /// Is it NULL?
    pub fn is_null(&self) -> bool {
        matches!(self, Scalar::Null)
    }

    /// The value as a float; `None` for NULL and for what is no number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Scalar::Bool(value) => Some(*value as u8 as f64),
            Scalar::Int(value) => Some(*value as f64),
            Scalar::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The value as an integer; `None` for NULL and for what is no whole number.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Scalar::Bool(value) => Some(*value as i64),
            Scalar::Int(value) => Some(*value),
            Scalar::Float(value) if value.fract() == 0.0 && value.abs() < 9.0e15 => Some(*value as i64),
            _ => None,
        }
    }

    /// The value as text; `None` for NULL and for what is no text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl PartialEq for Scalar {
    /// NULL equals NULL; floats are compared bit for bit, so that NaN equals itself.
    fn eq(&self, other: &Scalar) -> bool {
        use Scalar as S;
        match (self, other) {
            (S::Null, S::Null) => true,
            (S::Bool(a), S::Bool(b)) => a == b,
            (S::Int(a), S::Int(b)) => a == b,
            (S::Float(a), S::Float(b)) => a.to_bits() == b.to_bits(),
            (S::Decimal(a), S::Decimal(b)) => a == b,
            (S::Text(a), S::Text(b)) => a == b,
            (S::Bytes(a), S::Bytes(b)) => a == b,
            (S::Bytes16(a), S::Bytes16(b)) => a == b,
            (S::List(a), S::List(b)) => a == b,
            _ => false,
        }
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Scalar {
        Scalar::Text(text.into())
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Scalar {
        Scalar::Int(value)
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Scalar {
        Scalar::Float(value)
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Scalar {
        Scalar::Bool(value)
    }
}
