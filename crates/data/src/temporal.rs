//! Dates and times as text, both in the script's form (`2024.01.02T09:30:00.000`) and in ISO 8601.

use crate::column::Column;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::types::Type;
use chrono::{Datelike, NaiveDate};

const DAY_S: i64 = 86_400;

/// Days since 1970-01-01 to year, month and day; `None` outside the calendar.
fn civil(days: i64) -> Option<(i32, u32, u32)> {
    let date = NaiveDate::from_num_days_from_ce_opt(i32::try_from(days.checked_add(719_163)?).ok()?)?;
    Some((date.year(), date.month(), date.day()))
}

fn days(year: i32, month: u32, day: u32) -> Option<i64> {
    Some(NaiveDate::from_ymd_opt(year, month, day)?.num_days_from_ce() as i64 - 719_163)
}

/// A temporal value in the script's form.
pub fn format_script(ty: Type, value: i64) -> String {
    format(ty, value, '.')
}

/// A temporal value in ISO 8601.
pub fn format_iso(ty: Type, value: i64) -> String {
    format(ty, value, '-')
}

fn format(ty: Type, value: i64, dash: char) -> String {
    let mut text = String::with_capacity(32);
    push(ty, value, dash, &mut text);
    text
}

/// Adds a temporal value in ISO 8601 to a text.
pub fn push_iso(ty: Type, value: i64, out: &mut String) {
    push(ty, value, '-', out);
}

fn push(ty: Type, value: i64, dash: char, out: &mut String) {
    match ty {
        Type::Date => push_date(value, dash, out),
        Type::Month => {
            push_digits(value.div_euclid(12), 4, out);
            push_after(dash, value.rem_euclid(12) + 1, 2, out);
            out.push_str(if dash == '.' { "M" } else { "" });
        }
        Type::Minute => {
            push_digits(value / 60, 2, out);
            push_after(':', value % 60, 2, out);
            out.push_str(if dash == '.' { "m" } else { ":00" });
        }
        Type::Second => push_clock(value, out),
        Type::Time => push_fraction(value, 1_000, 3, out),
        Type::Nanotime => push_fraction(value, 1_000_000_000, 9, out),
        Type::Datehour => {
            push_date(value.div_euclid(24), dash, out);
            push_after('T', value.rem_euclid(24), 2, out);
            out.push_str(if dash == '.' { "" } else { ":00:00" });
        }
        Type::Datetime => {
            push_date(value.div_euclid(DAY_S), dash, out);
            out.push('T');
            push_clock(value.rem_euclid(DAY_S), out);
        }
        Type::Timestamp | Type::Nanotimestamp => {
            let (per_second, width) = if ty == Type::Timestamp { (1_000, 3) } else { (1_000_000_000, 9) };
            push_date(value.div_euclid(DAY_S * per_second), dash, out);
            out.push('T');
            push_fraction(value.rem_euclid(DAY_S * per_second), per_second, width, out);
        }
        _ => out.push_str(&value.to_string()),
    }
}

fn push_date(days: i64, dash: char, out: &mut String) {
    let Some((year, month, day)) = civil(days) else {
        out.push_str("day ");
        return out.push_str(&days.to_string());
    };
    push_digits(year as i64, 4, out);
    push_after(dash, month as i64, 2, out);
    push_after(dash, day as i64, 2, out);
}

fn push_clock(seconds: i64, out: &mut String) {
    push_digits(seconds / 3600, 2, out);
    push_after(':', seconds / 60 % 60, 2, out);
    push_after(':', seconds % 60, 2, out);
}

fn push_fraction(value: i64, per_second: i64, width: usize, out: &mut String) {
    push_clock(value / per_second, out);
    push_after('.', value % per_second, width, out);
}

fn push_after(mark: char, value: i64, width: usize, out: &mut String) {
    out.push(mark);
    push_digits(value, width, out);
}

/// Adds a number with at least so many digits.
fn push_digits(value: i64, width: usize, out: &mut String) {
    const DIGITS: usize = 20;
    if value < 0 {
        return out.push_str(&format!("{value:0width$}"));
    }
    let (mut digits, mut rest, mut start) = ([b'0'; DIGITS], value as u64, DIGITS);
    while rest > 0 {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let start = start.min(DIGITS - width);
    out.push_str(std::str::from_utf8(&digits[start..]).expect("digits are ASCII"));
}

/// Reads a temporal value: the script's form, ISO 8601 (also with a blank for the T and a closing Z), or a whole
/// number in the type's unit. A finer text is cut to the type's unit, a date without a time is its midnight, and behind
/// a date the hour may stand alone. What the type has no room for is an error.
pub fn parse_temporal(ty: Type, text: &str) -> Result<i64> {
    let value = read_temporal(ty, text)?;
    let (low, high) = ty.range();
    match (low..=high).contains(&value) {
        true => Ok(value),
        false => Err(Error::Range { value: text.trim().to_string(), ty: ty.to_string() }),
    }
}

fn read_temporal(ty: Type, text: &str) -> Result<i64> {
    let text = text.trim();
    let wrong = || Error::Parse { text: text.to_string(), ty: ty.to_string() };
    if let Ok(value) = text.parse::<i64>() {
        return Ok(value);
    }
    let body = text.strip_suffix('Z').unwrap_or(text);
    if ty == Type::Month {
        let body = body.strip_suffix('M').unwrap_or(body);
        let (year, month) = body.split_once(['.', '-']).ok_or_else(wrong)?;
        let (year, month) = (year.parse::<i64>().map_err(|_| wrong())?, month.parse::<i64>().map_err(|_| wrong())?);
        return if (1..=12).contains(&month) { Ok(year * 12 + month - 1) } else { Err(wrong()) };
    }
    let (date, clock) = match body.find(['T', ' ']) {
        Some(place) => (Some(&body[..place]), Some(&body[place + 1..])),
        None if body.contains(':') => (None, Some(body)),
        None => (Some(body), None),
    };
    let days = match date {
        None => None,
        Some(date) => Some(parse_date(date).ok_or_else(wrong)?),
    };
    let nanos = match clock {
        None => 0,
        Some(clock) => parse_clock(clock.strip_suffix('m').unwrap_or(clock)).ok_or_else(wrong)?,
    };
    let days_needed = || days.ok_or_else(wrong);
    Ok(match ty {
        Type::Date => days_needed()?,
        Type::Datehour => days_needed()? * 24 + nanos / 3_600_000_000_000,
        Type::Datetime => days_needed()? * DAY_S + nanos / 1_000_000_000,
        Type::Timestamp => days_needed()? * DAY_S * 1000 + nanos / 1_000_000,
        Type::Nanotimestamp => {
            let day = days_needed()?.checked_mul(DAY_S * 1_000_000_000);
            day.and_then(|day| day.checked_add(nanos)).ok_or_else(wrong)?
        }
        Type::Minute => nanos / 60_000_000_000,
        Type::Second => nanos / 1_000_000_000,
        Type::Time => nanos / 1_000_000,
        Type::Nanotime => nanos,
        _ => return Err(wrong()),
    })
}

fn parse_date(text: &str) -> Option<i64> {
    let mut parts = text.split(['.', '-', '/']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    days(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
}

fn parse_clock(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let hours: i64 = parts.next()?.parse().ok()?;
    let minutes: i64 = parts.next().map_or(Some(0), |part| part.parse().ok())?;
    let seconds: i64 = parts.next().map_or(Some(0), |part| part.parse().ok())?;
    if parts.next().is_some() || hours > 24 || minutes > 59 || seconds > 59 || fraction.len() > 9 {
        return None;
    }
    let part = if fraction.is_empty() { 0 } else { format!("{fraction:0<9}").parse::<i64>().ok()? };
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + part)
}

/// A DATE column and a SECOND, TIME or NANOTIME column as one column of DATETIME, TIMESTAMP or NANOTIMESTAMP.
pub fn concat_date_time(date: &Column, time: &Column) -> Result<Column> {
    let mismatch =
        |found: Type| Error::Type { wanted: "DATE with SECOND, TIME or NANOTIME".into(), found: found.to_string() };
    if date.ty() != Type::Date {
        return Err(mismatch(date.ty()));
    }
    let ty = match time.ty() {
        Type::Second => Type::Datetime,
        Type::Time => Type::Timestamp,
        Type::Nanotime => Type::Nanotimestamp,
        other => return Err(mismatch(other)),
    };
    let per_day = ty.units_per_day().expect("a type with a clock");
    let values = (0..date.len()).map(|row| match (date.get(row), time.get(row)) {
        (Scalar::Int(day), Scalar::Int(clock)) => Scalar::Int(day * per_day + clock),
        _ => Scalar::Null,
    });
    Ok(Column::of_scalars(ty, &values.collect::<Vec<_>>()))
}
