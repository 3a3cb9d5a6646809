//! The types of the script language and how each is stored.

use crate::error::{Error, Result};
use arrow_schema::{DataType, TimeUnit};
use std::fmt;
use std::sync::Arc;

/// A column type of the script language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// No type yet: the type of a bare `NULL`.
    Void,
    /// Truth value.
    Bool,
    /// 8-bit integer.
    Char,
    /// 16-bit integer.
    Short,
    /// 32-bit integer.
    Int,
    /// 64-bit integer.
    Long,
    /// Days since 1970-01-01.
    Date,
    /// Months since year 0.
    Month,
    /// Milliseconds since midnight.
    Time,
    /// Minutes since midnight.
    Minute,
    /// Seconds since midnight.
    Second,
    /// Seconds since 1970-01-01, 32 bits.
    Datetime,
    /// Milliseconds since 1970-01-01.
    Timestamp,
    /// Nanoseconds since midnight.
    Nanotime,
    /// Nanoseconds since 1970-01-01.
    Nanotimestamp,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// Text coded by a dictionary.
    Symbol,
    /// Text.
    String,
    /// Bytes.
    Blob,
    /// Hours since 1970-01-01.
    Datehour,
    /// 16 bytes, written as a UUID.
    Uuid,
    /// An address of IPv4 or IPv6.
    Ipaddr,
    /// 16 bytes, written as 32 hexadecimal digits.
    Int128,
    /// A complex number of two doubles.
    Complex,
    /// A point of the plane of two doubles.
    Point,
    /// Decimal of up to 9 digits with this scale.
    Decimal32(u8),
    /// Decimal of up to 18 digits with this scale.
    Decimal64(u8),
    /// Decimal of up to 38 digits with this scale.
    Decimal128(u8),
    /// Array vector: a list of this type in each row.
    Array(&'static Type),
}

/// How the values of a type are stored in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Physical {
    /// `BooleanArray`.
    Bool,
    /// `Int8Array`.
    I8,
    /// `Int16Array`.
    I16,
    /// `Int32Array`.
    I32,
    /// `Int64Array`.
    I64,
    /// `Float32Array`.
    F32,
    /// `Float64Array`.
    F64,
    /// `Decimal128Array`.
    I128,
    /// `UInt32Array` of dictionary codes.
    Code,
    /// `StringArray`.
    Text,
    /// `BinaryArray`.
    Bytes,
    /// `FixedSizeBinaryArray` of 16 bytes.
    Bytes16,
    /// `ListArray` of the element's physical array.
    List,
}

impl Type {
    /// Where the values live; `None` for VOID, which no column has.
    pub fn physical(self) -> Physical {
        use Type as T;
        match self {
            T::Bool | T::Void => Physical::Bool,
            T::Char => Physical::I8,
            T::Short => Physical::I16,
            T::Int | T::Date | T::Month | T::Time | T::Minute | T::Second | T::Datetime | T::Datehour => Physical::I32,
            T::Long | T::Timestamp | T::Nanotime | T::Nanotimestamp => Physical::I64,
            T::Float => Physical::F32,
            T::Double => Physical::F64,
            T::Symbol => Physical::Code,
            T::String => Physical::Text,
            T::Blob => Physical::Bytes,
            T::Uuid | T::Ipaddr | T::Int128 | T::Complex | T::Point => Physical::Bytes16,
            T::Decimal32(_) | T::Decimal64(_) | T::Decimal128(_) => Physical::I128,
            T::Array(_) => Physical::List,
        }
    }

    /// CHAR, SHORT, INT, LONG.
    pub fn is_integer(self) -> bool {
        matches!(self, Type::Char | Type::Short | Type::Int | Type::Long)
    }

    /// FLOAT, DOUBLE.
    pub fn is_float(self) -> bool {
        matches!(self, Type::Float | Type::Double)
    }

    /// DECIMAL32, DECIMAL64, DECIMAL128.
    pub fn is_decimal(self) -> bool {
        matches!(self, Type::Decimal32(_) | Type::Decimal64(_) | Type::Decimal128(_))
    }

    /// Whatever arithmetic takes: integers, floats, decimals and BOOL.
    pub fn is_number(self) -> bool {
        self.is_integer() || self.is_float() || self.is_decimal() || self == Type::Bool
    }

    /// Digits behind the point of a decimal; 0 for all other types.
    pub fn scale(self) -> u8 {
        match self {
            Type::Decimal32(scale) | Type::Decimal64(scale) | Type::Decimal128(scale) => scale,
            _ => 0,
        }
    }

    /// Has this decimal type room for so many units of its scale?
    pub fn holds_digits(self, digits: i128) -> bool {
        let places = match self {
            Type::Decimal32(_) => 9,
            Type::Decimal64(_) => 18,
            _ => 38,
        };
        digits.unsigned_abs() < 10u128.pow(places)
    }

    /// The least and the greatest value of a type of whole numbers. What its storage holds below is its NULL.
    pub fn range(self) -> (i64, i64) {
        match self.physical() {
            Physical::I8 => (i8::MIN as i64 + 1, i8::MAX as i64),
            Physical::I16 => (i16::MIN as i64 + 1, i16::MAX as i64),
            Physical::I32 => (i32::MIN as i64 + 1, i32::MAX as i64),
            _ => (i64::MIN + 1, i64::MAX),
        }
    }

    /// DATE to NANOTIMESTAMP, and DATEHOUR.
    pub fn is_temporal(self) -> bool {
        use Type as T;
        matches!(
            self,
            T::Date
                | T::Month
                | T::Time
                | T::Minute
                | T::Second
                | T::Datetime
                | T::Timestamp
                | T::Nanotime
                | T::Nanotimestamp
                | T::Datehour
        )
    }

    /// What counts from 1970-01-01: DATE, DATEHOUR, DATETIME, TIMESTAMP, NANOTIMESTAMP.
    pub fn is_dated(self) -> bool {
        matches!(self, Type::Date | Type::Datehour | Type::Datetime | Type::Timestamp | Type::Nanotimestamp)
    }

    /// SYMBOL, STRING.
    pub fn is_text(self) -> bool {
        matches!(self, Type::Symbol | Type::String)
    }

    /// The type of one element of an array vector.
    pub fn element(self) -> Option<Type> {
        match self {
            Type::Array(element) => Some(*element),
            _ => None,
        }
    }

    /// The array-vector type of this element type; `None` where the language has none (SYMBOL, BLOB, arrays,
    /// decimals here).
    pub fn array_of(self) -> Option<Type> {
        macro_rules! array {
            ($($t:ident),*) => { match self { $(Type::$t => Some(Type::Array(&Type::$t)),)* _ => None } };
        }
        array!(
            Bool,
            Char,
            Short,
            Int,
            Long,
            Date,
            Month,
            Time,
            Minute,
            Second,
            Datetime,
            Timestamp,
            Nanotime,
            Nanotimestamp,
            Float,
            Double,
            String,
            Datehour,
            Uuid,
            Ipaddr,
            Int128,
            Complex,
            Point
        )
    }

    /// How many units of this temporal type make a day, and 1 for DATE; `None` for MONTH and what is not temporal.
    pub fn units_per_day(self) -> Option<i64> {
        use Type as T;
        Some(match self {
            T::Date => 1,
            T::Datehour => 24,
            T::Minute => 1_440,
            T::Second | T::Datetime => 86_400,
            T::Time | T::Timestamp => 86_400_000,
            T::Nanotime | T::Nanotimestamp => 86_400_000_000_000,
            _ => return None,
        })
    }

    /// The Arrow type that the outside world sees.
    pub fn to_arrow(self) -> DataType {
        use Type as T;
        match self {
            T::Void => DataType::Null,
            T::Bool => DataType::Boolean,
            T::Char => DataType::Int8,
            T::Short => DataType::Int16,
            T::Int | T::Month => DataType::Int32,
            T::Long => DataType::Int64,
            T::Date => DataType::Date32,
            T::Minute | T::Second => DataType::Time32(TimeUnit::Second),
            T::Time => DataType::Time32(TimeUnit::Millisecond),
            T::Nanotime => DataType::Time64(TimeUnit::Nanosecond),
            T::Datetime | T::Datehour => DataType::Timestamp(TimeUnit::Second, None),
            T::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, None),
            T::Nanotimestamp => DataType::Timestamp(TimeUnit::Nanosecond, None),
            T::Float => DataType::Float32,
            T::Double => DataType::Float64,
            T::Symbol => DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8)),
            T::String => DataType::Utf8,
            T::Blob => DataType::Binary,
            T::Uuid | T::Ipaddr | T::Int128 | T::Complex | T::Point => DataType::FixedSizeBinary(16),
            T::Decimal32(scale) => DataType::Decimal128(9, scale as i8),
            T::Decimal64(scale) => DataType::Decimal128(18, scale as i8),
            T::Decimal128(scale) => DataType::Decimal128(38, scale as i8),
            T::Array(element) => DataType::List(Arc::new(arrow_schema::Field::new("item", element.to_arrow(), true))),
        }
    }

    /// The type for an Arrow type, where a field does not name the script type itself.
    pub fn from_arrow(arrow: &DataType) -> Result<Type> {
        use DataType as D;
        use Type as T;
        Ok(match arrow {
            D::Null => T::Void,
            D::Boolean => T::Bool,
            D::Int8 => T::Char,
            D::Int16 | D::UInt8 => T::Short,
            D::Int32 | D::UInt16 => T::Int,
            D::Int64 | D::UInt32 | D::UInt64 => T::Long,
            D::Float16 | D::Float32 => T::Float,
            D::Float64 => T::Double,
            D::Date32 | D::Date64 => T::Date,
            D::Time32(TimeUnit::Second) => T::Second,
            D::Time32(_) => T::Time,
            D::Time64(_) => T::Nanotime,
            D::Timestamp(TimeUnit::Second, _) => T::Datetime,
            D::Timestamp(TimeUnit::Millisecond, _) => T::Timestamp,
            D::Timestamp(_, _) => T::Nanotimestamp,
            D::Dictionary(_, value) if **value == D::Utf8 || **value == D::LargeUtf8 => T::Symbol,
            D::Utf8 | D::LargeUtf8 | D::Utf8View => T::String,
            D::Binary | D::LargeBinary | D::BinaryView => T::Blob,
            D::FixedSizeBinary(16) => T::Uuid,
            D::Decimal128(precision, scale) if (0..=38).contains(scale) => match precision {
                0..=9 => T::Decimal32(*scale as u8),
                10..=18 => T::Decimal64(*scale as u8),
                _ => T::Decimal128(*scale as u8),
            },
            D::List(field) | D::LargeList(field) => Type::from_arrow(field.data_type())?
                .array_of()
                .ok_or_else(|| Error::Type { wanted: "an element type".into(), found: arrow.to_string() })?,
            other => return Err(Error::Type { wanted: "a type of the language".into(), found: other.to_string() }),
        })
    }

    /// The type for its name in the script language, such as `DOUBLE`, `DECIMAL64(4)` or `INT[]`; knows no case.
    pub fn parse(name: &str) -> Option<Type> {
        use Type as T;
        let upper = name.trim().to_ascii_uppercase();
        if let Some(element) = upper.strip_suffix("[]") {
            return Type::parse(element)?.array_of();
        }
        if let Some((base, scale)) = upper.strip_suffix(')').and_then(|head| head.split_once('(')) {
            let scale: u8 = scale.trim().parse().ok()?;
            return match base.trim() {
                "DECIMAL32" if scale <= 9 => Some(T::Decimal32(scale)),
                "DECIMAL64" if scale <= 18 => Some(T::Decimal64(scale)),
                "DECIMAL128" if scale <= 38 => Some(T::Decimal128(scale)),
                _ => None,
            };
        }
        Type::NAMED.iter().find(|(_, known)| *known == upper).map(|(ty, _)| *ty)
    }

    /// Every type that has a plain name, with that name.
    pub const NAMED: &'static [(Type, &'static str)] = &[
        (Type::Void, "VOID"),
        (Type::Bool, "BOOL"),
        (Type::Char, "CHAR"),
        (Type::Short, "SHORT"),
        (Type::Int, "INT"),
        (Type::Long, "LONG"),
        (Type::Date, "DATE"),
        (Type::Month, "MONTH"),
        (Type::Time, "TIME"),
        (Type::Minute, "MINUTE"),
        (Type::Second, "SECOND"),
        (Type::Datetime, "DATETIME"),
        (Type::Timestamp, "TIMESTAMP"),
        (Type::Nanotime, "NANOTIME"),
        (Type::Nanotimestamp, "NANOTIMESTAMP"),
        (Type::Float, "FLOAT"),
        (Type::Double, "DOUBLE"),
        (Type::Symbol, "SYMBOL"),
        (Type::String, "STRING"),
        (Type::Uuid, "UUID"),
        (Type::Datehour, "DATEHOUR"),
        (Type::Ipaddr, "IPADDR"),
        (Type::Int128, "INT128"),
        (Type::Blob, "BLOB"),
        (Type::Complex, "COMPLEX"),
        (Type::Point, "POINT"),
    ];
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Decimal32(scale) => write!(f, "DECIMAL32({scale})"),
            Type::Decimal64(scale) => write!(f, "DECIMAL64({scale})"),
            Type::Decimal128(scale) => write!(f, "DECIMAL128({scale})"),
            Type::Array(element) => write!(f, "{element}[]"),
            plain => {
                let name = Type::NAMED.iter().find(|(ty, _)| ty == plain).expect("every plain type is named").1;
                f.write_str(name)
            }
        }
    }
}
