//! Texts to the values of one column.

use data::arrow::array::ArrayRef;
use data::arrow::array::builder::StringBuilder;
use data::arrow::buffer::{BooleanBufferBuilder, NullBufferBuilder};
use data::{Column, ColumnBuilder, Dictionary, Physical, Scalar, Type, parse_bytes16, parse_decimal, parse_temporal};
use std::sync::Arc;

/// Collects one column from texts and numbers. The common types go into plain vectors without a value in between. After a
/// refusal the column is of no use.
pub struct Cells {
    ty: Type,
    valid: NullBufferBuilder,
    values: Values,
}

enum Values {
    Bools(BooleanBufferBuilder),
    Ints(Vec<i64>, i64, i64),
    Floats(Vec<f64>),
    Codes { codes: Vec<u32>, dictionary: Arc<Dictionary>, last: (Vec<u8>, u32) },
    Texts(StringBuilder),
    Rare(ColumnBuilder),
}

/// Why a value does not go into a column.
#[derive(Debug)]
pub enum Refused {
    /// It is none of the column's type.
    Value,
    /// It is one too many for the column's dictionary.
    Data(data::Error),
}

impl Cells {
    /// An empty column of this type.
    pub fn new(ty: Type) -> Cells {
        let values = match ty.physical() {
            Physical::Bool => Values::Bools(BooleanBufferBuilder::new(0)),
            Physical::I8 => Values::Ints(vec![], i8::MIN as i64, i8::MAX as i64),
            Physical::I16 => Values::Ints(vec![], i16::MIN as i64, i16::MAX as i64),
            Physical::I32 => Values::Ints(vec![], i32::MIN as i64, i32::MAX as i64),
            Physical::I64 => Values::Ints(vec![], i64::MIN, i64::MAX),
            Physical::F32 | Physical::F64 => Values::Floats(vec![]),
            Physical::Code => Values::Codes { codes: vec![], dictionary: Dictionary::new(), last: (vec![], 0) },
            Physical::Text => Values::Texts(StringBuilder::new()),
            _ => Values::Rare(ColumnBuilder::new(ty)),
        };
        Cells { ty, valid: NullBufferBuilder::new(0), values }
    }

    /// Adds a NULL.
    pub fn push_null(&mut self) {
        self.valid.append_null();
        match &mut self.values {
            Values::Bools(values) => values.append(false),
            Values::Ints(values, ..) => values.push(0),
            Values::Floats(values) => values.push(0.0),
            Values::Codes { codes, .. } => codes.push(0),
            Values::Texts(texts) => texts.append_null(),
            Values::Rare(builder) => builder.push(&Scalar::Null),
        }
    }

    /// Adds the value that a text means; an empty one is NULL.
    pub fn push(&mut self, text: &[u8]) -> Result<(), Refused> {
        if text.is_empty() {
            self.push_null();
            return Ok(());
        }
        match &mut self.values {
            Values::Bools(values) => values.append(parse_bool(text).ok_or(Refused::Value)?),
            Values::Ints(values, least, greatest) => {
                let value = parse_int(text).or_else(|| parse_slowly(self.ty, text)).ok_or(Refused::Value)?;
                if value < *least || *greatest < value {
                    return Err(Refused::Value);
                }
                values.push(value);
            }
            Values::Floats(values) => values.push(parse_float(text).ok_or(Refused::Value)?),
            Values::Codes { codes, dictionary, last } => {
                if codes.is_empty() || last.0 != text {
                    let code = dictionary.intern(utf8(text)?).map_err(Refused::Data)?;
                    last.0.clear();
                    last.0.extend_from_slice(text);
                    last.1 = code;
                }
                codes.push(last.1);
            }
            Values::Texts(texts) => texts.append_value(utf8(text)?),
            Values::Rare(builder) => {
                builder.push(&parse_scalar(self.ty, utf8(text)?).ok_or(Refused::Value)?);
            }
        }
        self.valid.append_non_null();
        Ok(())
    }

    /// Adds a whole number: of a temporal type it counts the type's units.
    pub fn push_int(&mut self, value: i64) -> Result<(), Refused> {
        match &mut self.values {
            Values::Ints(values, least, greatest) if (*least..=*greatest).contains(&value) => values.push(value),
            Values::Floats(values) => values.push(value as f64),
            _ => return self.push(value.to_string().as_bytes()),
        }
        self.valid.append_non_null();
        Ok(())
    }

    /// Adds a number.
    pub fn push_float(&mut self, value: f64) -> Result<(), Refused> {
        match &mut self.values {
            Values::Floats(values) => values.push(value),
            _ => return self.push(value.to_string().as_bytes()),
        }
        self.valid.append_non_null();
        Ok(())
    }

    /// Adds an array vector's elements.
    pub fn push_list(&mut self, elements: Column) -> Result<(), Refused> {
        match &mut self.values {
            Values::Rare(builder) if self.ty.element() == Some(elements.ty()) => {
                builder.push(&Scalar::List(Arc::new(elements)));
            }
            _ => return Err(Refused::Value),
        }
        self.valid.append_non_null();
        Ok(())
    }

    /// Adds a value that is read already; it must be of the type.
    pub fn push_scalar(&mut self, value: &Scalar) -> Result<(), Refused> {
        match (&mut self.values, value) {
            (_, Scalar::Null) => {
                self.push_null();
                return Ok(());
            }
            (Values::Bools(values), Scalar::Bool(value)) => values.append(*value),
            (Values::Ints(values, least, greatest), Scalar::Int(value)) if (*least..=*greatest).contains(value) => {
                values.push(*value);
            }
            (Values::Floats(values), Scalar::Float(value)) => values.push(*value),
            (Values::Codes { .. } | Values::Texts(_), Scalar::Text(text)) => return self.push(text.as_bytes()),
            (Values::Rare(builder), value) => builder.push(value),
            _ => return Err(Refused::Value),
        }
        self.valid.append_non_null();
        Ok(())
    }

    /// The type of its values.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// The column so far; the next one starts empty, with the same dictionary.
    pub fn take(&mut self) -> Column {
        let (ty, nulls) = (self.ty, self.valid.finish());
        match &mut self.values {
            Values::Bools(values) => Column::of_bools(values.finish(), nulls),
            Values::Ints(values, ..) => {
                let values = std::mem::take(values);
                match ty.physical() {
                    Physical::I8 => {
                        Column::of_i8(ty, values.iter().map(|&value| value as i8).collect::<Vec<_>>(), nulls)
                    }
                    Physical::I16 => {
                        Column::of_i16(ty, values.iter().map(|&value| value as i16).collect::<Vec<_>>(), nulls)
                    }
                    Physical::I32 => {
                        Column::of_i32(ty, values.iter().map(|&value| value as i32).collect::<Vec<_>>(), nulls)
                    }
                    _ => Column::of_i64(ty, values, nulls),
                }
            }
            Values::Floats(values) => {
                let values = std::mem::take(values);
                match ty {
                    Type::Float => {
                        Column::of_f32(ty, values.iter().map(|&value| value as f32).collect::<Vec<_>>(), nulls)
                    }
                    _ => Column::of_f64(ty, values, nulls),
                }
            }
            Values::Codes { codes, dictionary, .. } => {
                Column::of_codes(std::mem::take(codes), nulls, dictionary.clone())
            }
            Values::Texts(texts) => {
                let texts = Arc::new(texts.finish()) as ArrayRef;
                Column::from_arrow(Type::String, &texts).expect("texts are a STRING column")
            }
            Values::Rare(builder) => std::mem::replace(builder, ColumnBuilder::new(ty)).finish(),
        }
    }
}

fn utf8(text: &[u8]) -> Result<&str, Refused> {
    std::str::from_utf8(text).map_err(|_| Refused::Value)
}

fn parse_bool(text: &[u8]) -> Option<bool> {
    match text.trim_ascii() {
        b"1" => Some(true),
        b"0" => Some(false),
        word if word.eq_ignore_ascii_case(b"true") => Some(true),
        word if word.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}

/// Digits with an optional sign; `None` for everything else.
fn parse_int(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        _ => (false, text),
    };
    // Up to 18 digits no step can overflow.
    if digits.is_empty() || digits.len() > 18 {
        return std::str::from_utf8(text).ok()?.parse().ok();
    }
    let mut value = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + (digit - b'0') as i64;
    }
    Some(if negative { -value } else { value })
}

/// A date or time as text, or a whole number written as a float.
fn parse_slowly(ty: Type, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if ty.is_temporal() {
        return parse_temporal(ty, text).ok();
    }
    text.parse().ok().or_else(|| Scalar::Float(text.parse().ok()?).as_i64())
}

fn parse_float(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// A value of a type that no file has many of.
fn parse_scalar(ty: Type, text: &str) -> Option<Scalar> {
    Some(match ty {
        ty if ty.is_decimal() => Scalar::Decimal(parse_decimal(ty, text)?),
        ty if ty.physical() == Physical::Bytes16 => Scalar::Bytes16(parse_bytes16(ty, text).ok()?),
        Type::Blob => Scalar::Bytes(text.as_bytes().into()),
        Type::Array(element) => {
            let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
            let mut elements = Cells::new(*element);
            for text in elements_of(inner) {
                elements.push(text.as_bytes()).ok()?;
            }
            Scalar::List(Arc::new(elements.take()))
        }
        _ => text.into(),
    })
}

/// The elements of `1, NULL, "a,b"`; a NULL one is the empty text.
fn elements_of(text: &str) -> Vec<String> {
    let (mut elements, mut element, mut quoted, mut was_quoted) = (vec![], String::new(), false, false);
    let done = |element: &mut String, was_quoted: bool| {
        let whole = std::mem::take(element);
        let bare = whole.trim();
        if was_quoted || !bare.eq_ignore_ascii_case("null") { bare.to_string() } else { String::new() }
    };
    if text.trim().is_empty() {
        return elements;
    }
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => (quoted, was_quoted) = (!quoted, true),
            '\\' if quoted => element.extend(letters.next()),
            ',' if !quoted => {
                elements.push(done(&mut element, was_quoted));
                was_quoted = false;
            }
            letter => element.push(letter),
        }
    }
    elements.push(done(&mut element, was_quoted));
    elements
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::bytes_of_pair;

    fn read(ty: Type, text: &str) -> Option<Scalar> {
        let mut cells = Cells::new(ty);
        cells.push(text.as_bytes()).ok()?;
        Some(cells.take().get(0))
    }

    #[test]
    fn a_text_is_read_as_its_columns_type() {
        assert_eq!(read(Type::Int, "-12"), Some(Scalar::Int(-12)));
        assert_eq!(read(Type::Long, "9223372036854775807"), Some(Scalar::Int(i64::MAX)));
        assert_eq!(read(Type::Long, "1e3"), Some(Scalar::Int(1000)));
        assert_eq!(read(Type::Double, "1.5e-3"), Some(Scalar::Float(0.0015)));
        assert_eq!(read(Type::Bool, "True"), Some(Scalar::Bool(true)));
        assert_eq!(read(Type::Timestamp, "2024-01-02T09:30:00.000"), Some(Scalar::Int(1_704_187_800_000)));
        assert_eq!(read(Type::Timestamp, "2024.01.02 09:30:00"), Some(Scalar::Int(1_704_187_800_000)));
        assert_eq!(read(Type::Timestamp, "1704187800000"), Some(Scalar::Int(1_704_187_800_000)));
        assert_eq!(read(Type::Decimal64(2), "-1.005"), Some(Scalar::Decimal(-101)));
        assert!(read(Type::Uuid, "5d212a78-cc48-e3b1-4235-b4d91473ee87").is_some());
        let address = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1];
        assert_eq!(read(Type::Ipaddr, "10.0.0.1"), Some(Scalar::Bytes16(address)));
        assert_eq!(read(Type::Int128, "0000000000000000000000000000000f"), Some(Scalar::Bytes16(15u128.to_be_bytes())));
        assert_eq!(read(Type::Complex, "1-2i"), Some(Scalar::Bytes16(bytes_of_pair(1.0, -2.0))));
        assert_eq!(read(Type::Point, "(1, 2)"), Some(Scalar::Bytes16(bytes_of_pair(1.0, 2.0))));
        assert_eq!(read(Type::Datehour, "2024-01-02T09:30:00"), Some(Scalar::Int(473_385)));
        assert_eq!(read(Type::Datehour, "2024.01.02T09"), Some(Scalar::Int(473_385)));
        assert_eq!(read(Type::Symbol, ""), Some(Scalar::Null));
    }

    #[test]
    fn a_text_that_is_no_value_is_refused() {
        for (ty, text) in [
            (Type::Int, "x"),
            (Type::Int, "2147483648"),
            (Type::Char, "128"),
            (Type::Long, "1.5"),
            (Type::Double, "1,5"),
            (Type::Bool, "yes"),
            (Type::Date, "2024-13-01"),
            (Type::Decimal32(2), "12345678.00"),
            (Type::Decimal32(2), "."),
            (Type::Uuid, "12"),
            (Type::Int128, "12"),
            (Type::Ipaddr, "10.0.0"),
            (Type::Complex, "1+2"),
            (Type::Point, "1,2"),
            (Type::Datehour, "09:30"),
            (Type::Array(&Type::Int), "1,2"),
            (Type::Array(&Type::Int), "[1,x]"),
        ] {
            assert_eq!(read(ty, text), None, "{ty} {text}");
        }
    }

    #[test]
    fn an_array_may_hold_null_and_quoted_texts() {
        let ints = Column::of_scalars(Type::Int, &[Scalar::Int(1), Scalar::Null, Scalar::Null, Scalar::Int(4)]);
        assert_eq!(read(Type::Array(&Type::Int), "[1, NULL,,4]"), Some(Scalar::List(ints.into())));
        let points = Column::of_scalars(Type::Point, &[Scalar::Bytes16(bytes_of_pair(1.0, 2.0)), Scalar::Null]);
        assert_eq!(read(Type::Array(&Type::Point), "[\"(1, 2)\",null]"), Some(Scalar::List(points.into())));
        let texts = Column::of_texts([Some("a,b"), Some("c")]);
        assert_eq!(read(Type::Array(&Type::String), "[\"a,b\",c]"), Some(Scalar::List(texts.into())));
    }
}
