//! Values that clients send: parameters, and cells of a COPY.

use super::error::PgError;
use super::frames::Body;
use super::rows::{EPOCH_DAYS, EPOCH_US, Format};
use bytes::Bytes;
use connect::{Cells, Refused};
use data::{Scalar, Type};
use query::PgType;
use std::sync::Arc;

/// The array types a client may send.
const ELEMENTS: &[Type] = &[
    Type::Bool,
    Type::Short,
    Type::Int,
    Type::Long,
    Type::Float,
    Type::Double,
    Type::Date,
    Type::Nanotime,
    Type::Nanotimestamp,
    Type::String,
    Type::Uuid,
];

/// The value of a parameter, of the type the client declares by its oid, else of the type that the query wants.
pub(super) fn parameter(
    oid: u32,
    wanted: Option<Type>,
    format: Format,
    value: Option<Bytes>,
) -> Result<(Type, Scalar), PgError> {
    let declared = type_of(oid);
    let ty = match (declared, wanted) {
        (Some(declared), Some(wanted)) if PgType::of(declared).oid == PgType::of(wanted).oid => wanted,
        (Some(declared), Some(wanted)) if declared.is_decimal() && wanted.is_decimal() => wanted,
        (Some(declared), _) => declared,
        (None, Some(wanted)) => wanted,
        (None, None) => Type::String,
    };
    let Some(value) = value else { return Ok((ty, Scalar::Null)) };
    if ty.is_decimal() && Some(ty) != wanted {
        return decimal(format, value);
    }
    let read = match format {
        Format::Binary => from_binary(ty, value.clone()),
        Format::Text => std::str::from_utf8(&value).ok().and_then(|text| from_text(ty, text)),
    };
    read.map(|scalar| (ty, scalar)).ok_or_else(|| {
        let shown = String::from_utf8_lossy(&value[..value.len().min(80)]).into_owned();
        let shown = if format == Format::Text { shown } else { format!("{} bytes", value.len()) };
        PgError::new("22P02", format!("not a value of the type: value=`{shown}`, type=`{}`", PgType::of(ty).sql_name))
    })
}

/// A decimal keeps the digits it was written with.
fn decimal(format: Format, value: Bytes) -> Result<(Type, Scalar), PgError> {
    let wrong = || PgError::new("22P02", "not a value of the type: type=`numeric`");
    let text = match format {
        Format::Text => String::from_utf8(value.to_vec()).map_err(|_| wrong())?,
        Format::Binary => numeric_text(value).ok_or_else(wrong)?,
    };
    let scale = text.split_once('.').map_or(0, |(_, part)| part.trim().len()).min(38) as u8;
    let ty = Type::Decimal128(scale);
    Ok((ty, from_text(ty, &text).ok_or_else(wrong)?))
}

/// The type that clients mean by an oid; `None` if they leave it open.
fn type_of(oid: u32) -> Option<Type> {
    Some(match oid {
        16 => Type::Bool,
        21 => Type::Short,
        23 => Type::Int,
        20 | 26 => Type::Long,
        700 => Type::Float,
        701 => Type::Double,
        1700 => Type::Decimal128(0),
        17 => Type::Blob,
        18 | 19 | 25 | 114 | 1042 | 1043 | 3802 => Type::String,
        1082 => Type::Date,
        1083 => Type::Nanotime,
        1114 | 1184 => Type::Nanotimestamp,
        2950 => Type::Uuid,
        1015 | 1002 | 1014 | 199 | 3807 => Type::Array(&Type::String),
        1185 => Type::Array(&Type::Nanotimestamp),
        _ => {
            let element = ELEMENTS.iter().find(|element| PgType::of(**element).array_oid == oid)?;
            element.array_of()?
        }
    })
}

/// The value that a text means.
pub(super) fn from_text(ty: Type, text: &str) -> Option<Scalar> {
    let mut cells = Cells::new(ty);
    push_text(&mut cells, ty, text.as_bytes()).ok()?;
    Some(cells.take().get(0))
}

/// Adds the value that a text of PostgreSQL's means to a column.
pub(super) fn push_text(cells: &mut Cells, ty: Type, text: &[u8]) -> Result<(), Refused> {
    match ty {
        Type::Bool => match text.trim_ascii().to_ascii_lowercase().as_slice() {
            b"t" | b"true" | b"y" | b"yes" | b"on" | b"1" => cells.push_scalar(&Scalar::Bool(true)),
            b"f" | b"false" | b"n" | b"no" | b"off" | b"0" => cells.push_scalar(&Scalar::Bool(false)),
            _ => Err(Refused::Value),
        },
        Type::String | Type::Symbol => cells.push(text),
        Type::Blob => match text.strip_prefix(b"\\x") {
            Some(digits) => cells.push_scalar(&Scalar::Bytes(hex(digits).ok_or(Refused::Value)?.into())),
            None => cells.push_scalar(&Scalar::Bytes(text.into())),
        },
        Type::Array(element) => {
            let text = std::str::from_utf8(text).map_err(|_| Refused::Value)?;
            let mut elements = Cells::new(*element);
            for text in array_elements(text).ok_or(Refused::Value)? {
                match text {
                    Some(text) => push_text(&mut elements, *element, text.as_bytes())?,
                    None => elements.push_null(),
                }
            }
            cells.push_scalar(&Scalar::List(Arc::new(elements.take())))
        }
        _ if text.trim_ascii().is_empty() => Err(Refused::Value),
        // A month is written as its first day.
        Type::Month if text.iter().filter(|byte| **byte == b'-').count() > 1 => {
            let text = std::str::from_utf8(text).map_err(|_| Refused::Value)?;
            let days = data::parse_temporal(Type::Date, text).map_err(|_| Refused::Value)?;
            cells.push_scalar(&month_of(days).ok_or(Refused::Value)?)
        }
        ty if ty.is_dated() && text.ends_with(b" BC") => {
            cells.push_scalar(&before_christ(ty, text).ok_or(Refused::Value)?)
        }
        Type::Datehour | Type::Datetime | Type::Timestamp | Type::Nanotimestamp => match zone_of(text) {
            Some((moment, shift_s)) => push_shifted(cells, ty, moment, shift_s),
            None => cells.push(text),
        },
        _ => cells.push(text),
    }
}

/// The moment and its zone's seconds east of Greenwich, if a text like `2024-01-02 09:30:00+02` names a zone.
fn zone_of(text: &[u8]) -> Option<(&[u8], i64)> {
    // A date has two dashes; what comes behind a colon is a clock.
    let clock = text.iter().position(|byte| *byte == b':')?;
    let at = clock + text[clock..].iter().position(|byte| matches!(byte, b'+' | b'-'))?;
    let zone = std::str::from_utf8(&text[at + 1..]).ok()?;
    let (hours, minutes) = zone.split_once(':').unwrap_or((zone, "0"));
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let shift = hours * 3_600 + minutes * 60;
    Some((text[..at].trim_ascii(), if text[at] == b'-' { -shift } else { shift }))
}

fn push_shifted(cells: &mut Cells, ty: Type, moment: &[u8], shift_s: i64) -> Result<(), Refused> {
    let text = std::str::from_utf8(moment).map_err(|_| Refused::Value)?;
    // Zones are finer than hours.
    let (fine, units) = if ty == Type::Datehour { (Type::Datetime, 3_600) } else { (ty, 1) };
    let value = data::parse_temporal(fine, text).map_err(|_| Refused::Value)?;
    let per_second = fine.units_per_day().expect("moments have days") / 86_400;
    let value = value.checked_sub(shift_s * per_second).ok_or(Refused::Value)?;
    cells.push_scalar(&Scalar::Int(value.div_euclid(units)))
}

/// What a text like `0044-03-15 BC` means: the year 1 BC is the year 0.
fn before_christ(ty: Type, text: &[u8]) -> Option<Scalar> {
    // The calendar repeats itself: it is read in years of our era and moved back.
    const CYCLE: (i64, i64) = (400, 146_097);
    let text = std::str::from_utf8(text).ok()?.strip_suffix(" BC")?;
    let (year, rest) = text.trim().split_once('-')?;
    let year = 1 - year.parse::<u16>().ok().map(i64::from)?;
    let cycles = 1 - year.div_euclid(CYCLE.0);
    let value = data::parse_temporal(ty, &format!("{:04}-{rest}", year + cycles * CYCLE.0)).ok()?;
    let per_day = if ty == Type::Date { 1 } else { ty.units_per_day()? };
    Some(Scalar::Int(value.checked_sub(cycles.checked_mul(CYCLE.1 * per_day)?)?))
}

fn hex(digits: &[u8]) -> Option<Vec<u8>> {
    if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(byte).collect()
}

/// The elements of `{1,NULL,"a,b"}`; `None` if it is no such text, or has more than one dimension.
fn array_elements(text: &str) -> Option<Vec<Option<String>>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = vec![];
    if inner.trim().is_empty() {
        return Some(elements);
    }
    let (mut element, mut is_quoted, mut was_quoted) = (String::new(), false, false);
    let mut letters = inner.chars();
    loop {
        match letters.next() {
            // Spaces around quotes mean nothing.
            Some('"') if !is_quoted && !was_quoted && element.trim().is_empty() => {
                element.clear();
                (is_quoted, was_quoted) = (true, true);
            }
            Some('"') => (is_quoted, was_quoted) = (!is_quoted, true),
            Some(letter) if !is_quoted && was_quoted && letter.is_whitespace() => {}
            Some('\\') => element.push(letters.next()?),
            Some('{' | '}') if !is_quoted => return None,
            letter @ (Some(',') | None) if !is_quoted => {
                let whole = std::mem::take(&mut element);
                let bare = whole.trim();
                let is_null = !was_quoted && bare.eq_ignore_ascii_case("null");
                elements.push((!is_null).then(|| if was_quoted { whole.clone() } else { bare.to_string() }));
                was_quoted = false;
                if letter.is_none() {
                    return Some(elements);
                }
            }
            Some(letter) => element.push(letter),
            None => return None,
        }
    }
}

/// The value that PostgreSQL's binary form means.
pub(super) fn from_binary(ty: Type, value: Bytes) -> Option<Scalar> {
    let whole = |value: &[u8]| -> Option<i64> {
        Some(match value.len() {
            1 => value[0] as i8 as i64,
            2 => i16::from_be_bytes(value.try_into().ok()?).into(),
            4 => i32::from_be_bytes(value.try_into().ok()?).into(),
            8 => i64::from_be_bytes(value.try_into().ok()?),
            _ => return None,
        })
    };
    let within =
        |number: i64, least: i64, greatest: i64| (least..=greatest).contains(&number).then_some(Scalar::Int(number));
    Some(match ty {
        Type::Bool => Scalar::Bool(*value.first().filter(|_| value.len() == 1)? != 0),
        Type::Char => within(whole(&value)?, i8::MIN.into(), i8::MAX.into())?,
        Type::Short => within(whole(&value)?, i16::MIN.into(), i16::MAX.into())?,
        Type::Int => within(whole(&value)?, i32::MIN.into(), i32::MAX.into())?,
        Type::Long => Scalar::Int(whole(&value)?),
        Type::Float | Type::Double => Scalar::Float(match value.len() {
            4 => f32::from_be_bytes(value.as_ref().try_into().ok()?).into(),
            8 => f64::from_be_bytes(value.as_ref().try_into().ok()?),
            _ => return None,
        }),
        Type::Symbol | Type::String | Type::Void => Scalar::Text(std::str::from_utf8(&value).ok()?.into()),
        Type::Blob => Scalar::Bytes(value.as_ref().into()),
        Type::Uuid => Scalar::Bytes16(value.as_ref().try_into().ok()?),
        Type::Ipaddr | Type::Int128 | Type::Complex | Type::Point => from_text(ty, std::str::from_utf8(&value).ok()?)?,
        Type::Decimal32(_) | Type::Decimal64(_) | Type::Decimal128(_) => from_text(ty, &numeric_text(value)?)?,
        Type::Date | Type::Month => {
            let days = i32::from_be_bytes(value.as_ref().try_into().ok()?) as i64 + EPOCH_DAYS;
            if ty == Type::Month { month_of(days)? } else { Scalar::Int(days) }
        }
        Type::Time | Type::Minute | Type::Second | Type::Nanotime => {
            let us = i64::from_be_bytes(value.as_ref().try_into().ok()?);
            of_us(ty, us)?
        }
        Type::Datehour | Type::Datetime | Type::Timestamp | Type::Nanotimestamp => {
            let us = i64::from_be_bytes(value.as_ref().try_into().ok()?);
            of_us(ty, us.checked_add(EPOCH_US)?)?
        }
        Type::Array(element) => {
            let mut body = Body(value);
            let dimensions = body.i32().ok()?;
            let (_, _) = (body.i32().ok()?, body.i32().ok()?);
            let mut elements = Cells::new(*element);
            if dimensions == 1 {
                let (count, _) = (body.i32().ok()?, body.i32().ok()?);
                for _ in 0..count {
                    match body.value().ok()? {
                        Some(value) => elements.push_scalar(&from_binary(*element, value)?).ok()?,
                        None => elements.push_null(),
                    }
                }
            } else if dimensions != 0 {
                return None;
            }
            Scalar::List(Arc::new(elements.take()))
        }
    })
}

/// Microseconds in the unit of a type.
fn of_us(ty: Type, us: i64) -> Option<Scalar> {
    Some(Scalar::Int(match ty {
        Type::Minute => us.div_euclid(60_000_000),
        Type::Second | Type::Datetime => us.div_euclid(1_000_000),
        Type::Datehour => us.div_euclid(3_600_000_000),
        Type::Time | Type::Timestamp => us.div_euclid(1_000),
        _ => us.checked_mul(1_000)?,
    }))
}

fn month_of(days: i64) -> Option<Scalar> {
    let text = data::format_iso(Type::Date, days);
    from_text(Type::Month, text.get(..7)?)
}

/// PostgreSQL's binary numeric as text; `None` for infinities and what is none.
fn numeric_text(value: Bytes) -> Option<String> {
    let mut body = Body(value);
    let (groups, weight, sign, scale) = (body.i16().ok()?, body.i16().ok()?, body.i16().ok()? as u16, body.i16().ok()?);
    if !matches!(sign, 0 | 0x4000) || groups < 0 || !(0..=1_000).contains(&scale) || !(-300..=300).contains(&weight) {
        return None;
    }
    let digits = (0..groups).map(|_| body.i16().ok().filter(|group| (0..10_000).contains(group)));
    let digits = digits.collect::<Option<Vec<i16>>>()?;
    let group = |power: i16| -> i16 {
        let place = weight - power;
        if place < 0 { 0 } else { digits.get(place as usize).copied().unwrap_or(0) }
    };
    let mut text = String::from(if sign == 0x4000 { "-" } else { "" });
    (0..=weight.max(0)).rev().for_each(|power| text.push_str(&format!("{:04}", group(power))));
    if scale > 0 {
        let groups = (scale as usize).div_ceil(4) as i16;
        let part: String = (1..=groups).map(|power| format!("{:04}", group(-power))).collect();
        text.push('.');
        text.push_str(&part[..scale as usize]);
    }
    Some(text)
}

/// The type of a column for a message that refuses a value of it.
pub(super) fn refused(refused: &Refused, ty: Type, text: &[u8], line: u64, column: &str) -> PgError {
    match refused {
        Refused::Value => {
            let text = String::from_utf8_lossy(&text[..text.len().min(80)]);
            PgError::new(
                "22P02",
                format!("not a value of the column: line=`{line}`, column=`{column}`, value=`{text}`, type=`{ty}`"),
            )
        }
        Refused::Data(error) => PgError::new("22000", format!("line=`{line}`, column=`{column}`, {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::pg::rows::{Cells as Shown, Format};
    use bytes::BytesMut;
    use data::{Batch, Column, Schema};

    #[test]
    fn what_is_written_reads_back_in_both_forms() {
        let list = |values: &[Scalar]| Scalar::List(Arc::new(Column::of_scalars(Type::Int, values)));
        for (ty, value) in [
            (Type::Bool, Scalar::Bool(false)),
            (Type::Short, Scalar::Int(-5)),
            (Type::Long, Scalar::Int(i64::MIN)),
            (Type::Double, Scalar::Float(-1.5e-9)),
            (Type::Date, Scalar::Int(-700_000)),
            (Type::Date, Scalar::Int(-735_416)),
            (Type::Timestamp, Scalar::Int(-63_539_942_399_999)),
            (Type::Month, Scalar::Int(2024 * 12 + 7)),
            (Type::Time, Scalar::Int(34_200_001)),
            (Type::Datetime, Scalar::Int(1_704_187_800)),
            (Type::Timestamp, Scalar::Int(1_704_187_800_120)),
            (Type::Nanotimestamp, Scalar::Int(1_704_187_800_120_003_000)),
            (Type::Symbol, Scalar::Text("ä\\\"".into())),
            (Type::Blob, Scalar::Bytes(vec![0, 92, 255].into())),
            (Type::Uuid, Scalar::Bytes16([7; 16])),
            (Type::Ipaddr, Scalar::Bytes16([7; 16])),
            (Type::Int128, Scalar::Bytes16([7; 16])),
            (Type::Complex, Scalar::Bytes16(data::bytes_of_pair(1.0, -2.5))),
            (Type::Point, Scalar::Bytes16(data::bytes_of_pair(1.0, -2.5))),
            (Type::Datehour, Scalar::Int(473_385)),
            (Type::Decimal64(3), Scalar::Decimal(-1_234_500)),
            (Type::Decimal128(10), Scalar::Decimal(12)),
            (Type::Array(&Type::Int), list(&[Scalar::Int(1), Scalar::Null])),
            (Type::Array(&Type::Int), list(&[])),
        ] {
            let schema = Schema::of(&[("x", ty)]);
            let batch = Batch::new(schema.clone(), vec![Column::of_scalars(ty, std::slice::from_ref(&value))])
                .expect("a batch");
            for format in [Format::Text, Format::Binary] {
                let mut out = BytesMut::new();
                Shown::of(schema.fields(), &batch.to_arrow()).columns()[0].put(0, format, &mut out);
                let bytes = out.freeze().slice(4..);
                let read = parameter(0, Some(ty), format, Some(bytes.clone()));
                let read = read.unwrap_or_else(|error| panic!("{ty} {format:?} {bytes:?}: {error:?}")).1;
                assert_eq!(
                    Column::of_scalars(ty, &[read]),
                    Column::of_scalars(ty, std::slice::from_ref(&value)),
                    "{ty} {format:?}"
                );
            }
        }
    }

    #[test]
    fn a_zone_moves_a_moment_to_greenwich() {
        let at = |text: &str| from_text(Type::Timestamp, text).and_then(|value| value.as_i64());
        assert_eq!(at("2024-01-02 09:30:00+02"), Some(1_704_180_600_000));
        assert_eq!(at("2024-01-02T09:30:00.5-05:30"), Some(1_704_207_600_500));
        assert_eq!(at("2024-01-02 09:30:00"), Some(1_704_187_800_000));
        assert_eq!(at("2024-01-02"), Some(1_704_153_600_000));
        let hour = |text: &str| from_text(Type::Datehour, text).and_then(|value| value.as_i64());
        assert_eq!(hour("2024-01-02 09:15:00+05:30"), Some(473_379));
        assert_eq!(at(""), None);
    }

    #[test]
    fn an_array_is_taken_apart() {
        let elements =
            |text: &str| array_elements(text).map(|all| all.into_iter().map(Option::unwrap_or_default).collect());
        for (text, wanted) in [
            ("{}", vec![]),
            (r#"{"p", "f" ,r}"#, vec!["p", "f", "r"]),
            (r#"{ a b , " c ", "d""e" , "x\"y" }"#, vec!["a b", " c ", "de", "x\"y"]),
            (r#"{NULL,"NULL"}"#, vec!["", "NULL"]),
        ] {
            assert_eq!(elements(text), Some(wanted.into_iter().map(String::from).collect::<Vec<_>>()), "{text}");
        }
        assert_eq!(array_elements("{{1},{2}}"), None);
        assert_eq!(array_elements(r#"{"a}"#), None);
    }

    #[test]
    fn a_value_that_is_none_is_refused() {
        for (oid, format, bytes) in [
            (23, Format::Text, &b"x"[..]),
            (23, Format::Binary, b"abc"),
            (1700, Format::Binary, b"\0\x01\0\0\xc0\0\0\0"),
            (1700, Format::Text, b"1e5000"),
            (1007, Format::Text, b"{1,{2}}"),
            (1007, Format::Binary, b"\0\0\0\x01\0\0\0\0\0\0\0\x17\x7f\xff\xff\xff\0\0\0\x01"),
            (16, Format::Text, b"maybe"),
            (1114, Format::Binary, b"\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ] {
            let read = parameter(oid, None, format, Some(Bytes::copy_from_slice(bytes)));
            assert!(read.is_err_and(|error| error.code == "22P02"), "{oid} {bytes:?}");
        }
    }
}
