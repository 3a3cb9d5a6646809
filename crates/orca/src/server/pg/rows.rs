//! Rows as clients read them, text or binary, written from Arrow columns straight into frames.

use super::frames::put_text;
use arrow::array::{Array, AsArray, RecordBatch, StringArray, StringBuilder, UInt32Array};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::UInt32Type;
use bytes::{BufMut, BytesMut};
use data::{Column, Field, Physical, Type};
use query::PgType;
use std::fmt::Write;
use std::ops::Range;

/// From 1970-01-01 to 2000-01-01, where PostgreSQL counts from.
pub(super) const EPOCH_DAYS: i64 = 10_957;
pub(super) const EPOCH_US: i64 = EPOCH_DAYS * DAY_US;
const DAY_US: i64 = 86_400_000_000;

/// How a column is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Binary,
}

impl Format {
    /// The format of column `place`, of those a client names: none is text for all, one is for all.
    pub(super) fn of(formats: &[i16], place: usize) -> Format {
        let format = if formats.len() == 1 { formats.first() } else { formats.get(place) };
        if format == Some(&1) { Format::Binary } else { Format::Text }
    }
}

/// Describes columns, as the body of a row description.
pub(super) fn describe(fields: &[Field], formats: &[i16], out: &mut BytesMut) {
    out.put_i16(fields.len() as i16);
    for (place, field) in fields.iter().enumerate() {
        let ty = PgType::of(field.ty);
        put_text(out, &field.name);
        out.put_i32(0);
        out.put_i16(0);
        out.put_u32(ty.oid);
        out.put_i16(ty.bytes);
        out.put_i32(PgType::modifier(field.ty));
        out.put_i16((Format::of(formats, place) == Format::Binary) as i16);
    }
}

/// The cells of the columns of a batch.
pub(super) struct Cells(Vec<CellsOf>);

impl Cells {
    /// The cells of a batch whose columns have the fields' Arrow types.
    pub(super) fn of(fields: &[Field], batch: &RecordBatch) -> Cells {
        Cells(fields.iter().zip(batch.columns()).map(|(field, array)| CellsOf::of(field.ty, array)).collect())
    }

    /// Writes rows as data rows.
    pub(super) fn put_rows(&self, rows: Range<usize>, formats: &[i16], out: &mut BytesMut) {
        let formats: Vec<Format> = (0..self.0.len()).map(|place| Format::of(formats, place)).collect();
        for row in rows {
            out.put_u8(b'D');
            let start = out.len();
            out.put_i32(0);
            self.put_row(row, &formats, out);
            let length = (out.len() - start) as i32;
            out[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
    }

    /// Writes a row: how many cells, and each with its length.
    pub(super) fn put_row(&self, row: usize, formats: &[Format], out: &mut BytesMut) {
        out.put_i16(self.0.len() as i16);
        for (cells, format) in self.0.iter().zip(formats) {
            cells.put(row, *format, out);
        }
    }

    /// The columns, each as one cell after another.
    pub(super) fn columns(&self) -> &[CellsOf] {
        &self.0
    }
}

/// The cells of one column.
pub(super) enum CellsOf {
    Nothing,
    Texts(StringArray),
    Coded(UInt32Array, StringArray),
    Moments(Moment, ScalarBuffer<i64>, Option<NullBuffer>),
    Lists(Column, Box<CellsOf>),
    Values(Column),
}

/// What a number of days or microseconds is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Days since 1970.
    Date,
    /// Microseconds since midnight.
    Time,
    /// Microseconds since 1970.
    Timestamp,
}

impl CellsOf {
    fn of(ty: Type, array: &arrow::array::ArrayRef) -> CellsOf {
        match ty {
            Type::Void => CellsOf::Nothing,
            Type::String => CellsOf::Texts(array.as_string().clone()),
            Type::Symbol => {
                let coded = array.as_dictionary::<UInt32Type>();
                CellsOf::Coded(coded.keys().clone(), coded.values().as_string().clone())
            }
            _ => {
                let column = Column::from_arrow(ty, array).expect("an answer's column has its type's Arrow type");
                CellsOf::of_column(column)
            }
        }
    }

    fn of_column(column: Column) -> CellsOf {
        let moments = |moment: Moment, convert: &dyn Fn(i64) -> i64| {
            let values = column.to_i64s().expect("moments are whole numbers");
            CellsOf::Moments(moment, values.iter().map(|value| convert(*value)).collect(), column.validity().cloned())
        };
        match column.ty() {
            Type::Date => moments(Moment::Date, &|days| days),
            Type::Month => moments(Moment::Date, &first_day),
            Type::Minute => moments(Moment::Time, &|minutes| minutes * 60_000_000),
            Type::Second => moments(Moment::Time, &|seconds| seconds * 1_000_000),
            Type::Time => moments(Moment::Time, &|ms| ms * 1_000),
            Type::Nanotime => moments(Moment::Time, &|ns| ns.div_euclid(1_000)),
            Type::Datehour => moments(Moment::Timestamp, &|hours| hours * 3_600_000_000),
            Type::Datetime => moments(Moment::Timestamp, &|seconds| seconds.saturating_mul(1_000_000)),
            Type::Timestamp => moments(Moment::Timestamp, &|ms| ms.saturating_mul(1_000)),
            Type::Nanotimestamp => moments(Moment::Timestamp, &|ns| ns.div_euclid(1_000)),
            Type::String => CellsOf::Texts(column.texts().clone()),
            ty @ (Type::Ipaddr | Type::Int128 | Type::Complex | Type::Point) => {
                let mut texts = StringBuilder::new();
                for (row, value) in column.bytes16s().iter().enumerate() {
                    match column.is_null(row) {
                        true => texts.append_null(),
                        false => texts.append_value(data::format_bytes16(ty, value)),
                    }
                }
                CellsOf::Texts(texts.finish())
            }
            Type::Array(_) => {
                let elements = CellsOf::of_column(column.list_elements());
                CellsOf::Lists(column, Box::new(elements))
            }
            _ => CellsOf::Values(column),
        }
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            CellsOf::Nothing => true,
            CellsOf::Texts(texts) => texts.is_null(row),
            CellsOf::Coded(codes, texts) => codes.is_null(row) || texts.is_null(codes.value(row) as usize),
            CellsOf::Moments(.., nulls) => nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)),
            CellsOf::Lists(column, _) | CellsOf::Values(column) => column.is_null(row),
        }
    }

    /// Writes a cell with its length.
    pub(super) fn put(&self, row: usize, format: Format, out: &mut BytesMut) {
        if self.is_null(row) {
            out.put_i32(-1);
            return;
        }
        let start = out.len();
        out.put_i32(0);
        match format {
            Format::Text => self.put_text(row, out),
            Format::Binary => self.put_binary(row, out),
        }
        let length = (out.len() - start - 4) as i32;
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// Writes a cell that is not NULL as text.
    pub(super) fn put_text(&self, row: usize, out: &mut BytesMut) {
        const WRITES: &str = "a buffer takes any text";
        match self {
            CellsOf::Nothing => {}
            CellsOf::Texts(texts) => out.put_slice(texts.value(row).as_bytes()),
            CellsOf::Coded(codes, texts) => out.put_slice(texts.value(codes.value(row) as usize).as_bytes()),
            CellsOf::Moments(moment, values, _) => put_moment(*moment, values[row], out),
            CellsOf::Lists(column, elements) => {
                let offsets = column.list_offsets();
                out.put_u8(b'{');
                for (place, element) in (offsets[row] as usize..offsets[row + 1] as usize).enumerate() {
                    if place > 0 {
                        out.put_u8(b',');
                    }
                    match elements.as_ref() {
                        elements if elements.is_null(element) => out.put_slice(b"NULL"),
                        CellsOf::Texts(texts) => put_quoted(texts.value(element), out),
                        CellsOf::Moments(..) => {
                            out.put_u8(b'"');
                            elements.put_text(element, out);
                            out.put_u8(b'"');
                        }
                        elements => elements.put_text(element, out),
                    }
                }
                out.put_u8(b'}');
            }
            CellsOf::Values(column) => match column.ty().physical() {
                Physical::Bool => out.put_u8(if column.bools().value(row) { b't' } else { b'f' }),
                Physical::I8 => write!(out, "{}", column.i8s()[row]).expect(WRITES),
                Physical::I16 => write!(out, "{}", column.i16s()[row]).expect(WRITES),
                Physical::I32 => write!(out, "{}", column.i32s()[row]).expect(WRITES),
                Physical::I64 => write!(out, "{}", column.i64s()[row]).expect(WRITES),
                Physical::F32 => put_float(column.f32s()[row], column.f32s()[row].into(), out),
                Physical::F64 => put_float(column.f64s()[row], column.f64s()[row], out),
                Physical::I128 => put_decimal(column.decimals()[row], scale(column.ty()), out),
                _ => match column.get(row) {
                    data::Scalar::Bytes(bytes) => {
                        out.put_slice(b"\\x");
                        bytes.iter().for_each(|byte| write!(out, "{byte:02x}").expect(WRITES));
                    }
                    data::Scalar::Bytes16(bytes) => data::push_bytes16(column.ty(), &bytes, out),
                    _ => {}
                },
            },
        }
    }

    /// Writes a cell that is not NULL in PostgreSQL's binary form.
    fn put_binary(&self, row: usize, out: &mut BytesMut) {
        match self {
            CellsOf::Nothing | CellsOf::Texts(_) | CellsOf::Coded(..) => self.put_text(row, out),
            CellsOf::Moments(Moment::Date, values, _) => out.put_i32((values[row] - EPOCH_DAYS) as i32),
            CellsOf::Moments(Moment::Time, values, _) => out.put_i64(values[row]),
            CellsOf::Moments(Moment::Timestamp, values, _) => out.put_i64(values[row].saturating_sub(EPOCH_US)),
            CellsOf::Lists(column, elements) => {
                let offsets = column.list_offsets();
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                let element = column.ty().element().expect("an array vector");
                out.put_i32(!range.is_empty() as i32);
                out.put_i32(range.clone().any(|element| elements.is_null(element)) as i32);
                out.put_u32(PgType::of(element).oid);
                if !range.is_empty() {
                    out.put_i32(range.len() as i32);
                    out.put_i32(1);
                }
                range.for_each(|element| elements.put(element, Format::Binary, out));
            }
            CellsOf::Values(column) => match column.ty().physical() {
                Physical::Bool => out.put_u8(column.bools().value(row) as u8),
                Physical::I8 => out.put_i16(column.i8s()[row].into()),
                Physical::I16 => out.put_i16(column.i16s()[row]),
                Physical::I32 => out.put_i32(column.i32s()[row]),
                Physical::I64 => out.put_i64(column.i64s()[row]),
                Physical::F32 => out.put_f32(column.f32s()[row]),
                Physical::F64 => out.put_f64(column.f64s()[row]),
                Physical::I128 => put_numeric(column.decimals()[row], scale(column.ty()), out),
                _ => match column.get(row) {
                    data::Scalar::Bytes(bytes) => out.put_slice(&bytes),
                    data::Scalar::Bytes16(bytes) => out.put_slice(&bytes),
                    _ => {}
                },
            },
        }
    }
}

pub(super) fn scale(ty: Type) -> usize {
    match ty {
        Type::Decimal32(scale) | Type::Decimal64(scale) | Type::Decimal128(scale) => scale.into(),
        _ => 0,
    }
}

/// The first day of a month, both counted from their beginnings.
fn first_day(months: i64) -> i64 {
    days_of(months.div_euclid(12), months.rem_euclid(12) + 1, 1)
}

/// Days since 1970 of a day of the Gregorian calendar.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of days since 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + (month <= 2) as i64, month, day)
}

fn put_digits(value: i64, digits: u32, out: &mut BytesMut) {
    for place in (0..digits).rev() {
        out.put_u8(b'0' + (value / 10i64.pow(place) % 10) as u8);
    }
}

fn put_moment(moment: Moment, value: i64, out: &mut BytesMut) {
    let (days, clock) = match moment {
        Moment::Date => (Some(value), None),
        Moment::Time => (None, Some(value)),
        Moment::Timestamp => (Some(value.div_euclid(DAY_US)), Some(value.rem_euclid(DAY_US))),
    };
    let mut is_before_christ = false;
    if let Some(days) = days {
        let (year, month, day) = date_of(days);
        is_before_christ = year <= 0;
        let year = if is_before_christ { 1 - year } else { year };
        put_digits(year, if year > 9_999 { 6 } else { 4 }, out);
        out.put_u8(b'-');
        put_digits(month, 2, out);
        out.put_u8(b'-');
        put_digits(day, 2, out);
    }
    if let Some(us) = clock {
        if days.is_some() {
            out.put_u8(b' ');
        }
        put_digits(us / 3_600_000_000, 2, out);
        out.put_u8(b':');
        put_digits(us / 60_000_000 % 60, 2, out);
        out.put_u8(b':');
        put_digits(us / 1_000_000 % 60, 2, out);
        let mut fraction = us % 1_000_000;
        if fraction != 0 {
            let mut digits = 6;
            while fraction % 10 == 0 {
                fraction /= 10;
                digits -= 1;
            }
            out.put_u8(b'.');
            put_digits(fraction, digits, out);
        }
    }
    if is_before_christ {
        out.put_slice(b" BC");
    }
}

fn put_float(shortest: impl std::fmt::Display + std::fmt::LowerExp, value: f64, out: &mut BytesMut) {
    const WRITES: &str = "a buffer takes any text";
    match value {
        value if value.is_nan() => out.put_slice(b"NaN"),
        f64::INFINITY => out.put_slice(b"Infinity"),
        f64::NEG_INFINITY => out.put_slice(b"-Infinity"),
        value if value != 0.0 && !(1e-5..1e16).contains(&value.abs()) => write!(out, "{shortest:e}").expect(WRITES),
        _ => write!(out, "{shortest}").expect(WRITES),
    }
}

fn put_decimal(digits: i128, scale: usize, out: &mut BytesMut) {
    let sign = if digits < 0 { "-" } else { "" };
    let text = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
    let (whole, part) = text.split_at(text.len() - scale);
    let point = if part.is_empty() { "" } else { "." };
    [sign, whole, point, part].iter().for_each(|text| out.put_slice(text.as_bytes()));
}

/// PostgreSQL's numeric: digits of base 10,000, and the power of it that the first one stands for.
fn put_numeric(digits: i128, scale: usize, out: &mut BytesMut) {
    let text = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
    let (whole, part) = text.split_at(text.len() - scale);
    let whole = format!("{whole:0>width$}", width = whole.len().next_multiple_of(4));
    let part = format!("{part:0<width$}", width = part.len().next_multiple_of(4));
    let of_four = |text: &str| text.bytes().fold(0i16, |sum, digit| sum * 10 + (digit - b'0') as i16);
    let all = whole + &part;
    let groups: Vec<i16> =
        all.as_bytes().chunks(4).map(|four| of_four(std::str::from_utf8(four).expect("digits"))).collect();
    let leading = groups.iter().take_while(|group| **group == 0).count();
    let trailing = groups[leading..].iter().rev().take_while(|group| **group == 0).count();
    let kept = &groups[leading..groups.len() - trailing];
    let of_whole = (all.len() - part.len()) / 4;
    out.put_i16(kept.len() as i16);
    out.put_i16(if kept.is_empty() { 0 } else { of_whole as i16 - 1 - leading as i16 });
    out.put_u16(if digits < 0 { 0x4000 } else { 0 });
    out.put_u16(scale as u16);
    kept.iter().for_each(|group| out.put_i16(*group));
}

fn put_quoted(text: &str, out: &mut BytesMut) {
    out.put_u8(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.put_u8(b'\\');
        }
        out.put_u8(byte);
    }
    out.put_u8(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Scalar;

    fn put(ty: Type, value: Scalar, format: Format) -> Vec<u8> {
        let column = Column::of_scalars(ty, &[value]);
        let mut out = BytesMut::new();
        CellsOf::of(ty, &column.to_arrow()).put(0, format, &mut out);
        out[4..].to_vec()
    }

    fn text(ty: Type, value: Scalar) -> String {
        String::from_utf8(put(ty, value, Format::Text)).expect("text")
    }

    #[test]
    fn values_are_written_as_postgresql_writes_them() {
        assert_eq!(text(Type::Bool, Scalar::Bool(true)), "t");
        assert_eq!(text(Type::Char, Scalar::Int(-3)), "-3");
        assert_eq!(text(Type::Double, Scalar::Float(f64::INFINITY)), "Infinity");
        assert_eq!(text(Type::Double, Scalar::Float(0.1)), "0.1");
        assert_eq!(text(Type::Date, Scalar::Int(19_723)), "2024-01-01");
        assert_eq!(text(Type::Month, Scalar::Int(2024 * 12 + 1)), "2024-02-01");
        assert_eq!(text(Type::Timestamp, Scalar::Int(1_704_187_800_120)), "2024-01-02 09:30:00.12");
        assert_eq!(text(Type::Timestamp, Scalar::Int(-1)), "1969-12-31 23:59:59.999");
        assert_eq!(text(Type::Minute, Scalar::Int(570)), "09:30:00");
        assert_eq!(text(Type::Decimal64(2), Scalar::Decimal(-5)), "-0.05");
        assert_eq!(text(Type::Blob, Scalar::Bytes(vec![1, 255].into())), "\\x01ff");
        assert_eq!(text(Type::Datehour, Scalar::Int(473_385)), "2024-01-02 09:00:00");
        let point = Scalar::Bytes16(data::bytes_of_pair(1.0, 2.0));
        assert_eq!(text(Type::Point, point.clone()), "(1, 2)");
        let points = Column::of_scalars(Type::Point, &[point, Scalar::Null]);
        assert_eq!(text(Type::Array(&Type::Point), Scalar::List(points.into())), "{\"(1, 2)\",NULL}");
        let list = Column::of_texts([Some("a\"b"), None]);
        assert_eq!(text(Type::Array(&Type::String), Scalar::List(list.into())), "{\"a\\\"b\",NULL}");
    }

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for days in (-1_000_000..1_000_000).step_by(997) {
            let (year, month, day) = date_of(days);
            assert_eq!(days_of(year, month, day), days, "{year}-{month}-{day}");
        }
        assert_eq!(date_of(11_016), (2000, 2, 29));
    }

    #[test]
    fn numerics_are_digits_of_ten_thousand() {
        let groups = |digits: i128, scale: u8| {
            let bytes = put(Type::Decimal128(scale), Scalar::Decimal(digits), Format::Binary);
            bytes.chunks(2).map(|two| i16::from_be_bytes([two[0], two[1]])).collect::<Vec<_>>()
        };
        assert_eq!(groups(0, 2), [0, 0, 0, 2]);
        assert_eq!(groups(1_234_567, 2), [3, 1, 0, 2, 1, 2345, 6700]);
        assert_eq!(groups(-50, 4), [1, -1, 0x4000, 4, 50]);
        assert_eq!(groups(100_000_000, 0), [1, 2, 0, 0, 1]);
    }
}
