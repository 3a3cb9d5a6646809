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
    let date = |days: i64| match civil(days) {
        Some((year, month, day)) => format!("{year:04}{dash}{month:02}{dash}{day:02}"),
        None => format!("day {days}"),
    };
    let clock = |seconds: i64| format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match ty {
        Type::Date => date(value),
        Type::Month => {
            let mark = if dash == '.' { "M" } else { "" };
            format!("{:04}{dash}{:02}{mark}", value.div_euclid(12), value.rem_euclid(12) + 1)
        }
        Type::Minute if dash == '.' => format!("{:02}:{:02}m", value / 60, value % 60),
        Type::Minute => format!("{:02}:{:02}:00", value / 60, value % 60),
        Type::Second => clock(value),
        Type::Time => format!("{}.{:03}", clock(value / 1000), value % 1000),
        Type::Nanotime => format!("{}.{:09}", clock(value / 1_000_000_000), value % 1_000_000_000),
        Type::Datetime => format!("{}T{}", date(value.div_euclid(DAY_S)), clock(value.rem_euclid(DAY_S))),
        Type::Timestamp => {
            let (seconds, part) = (value.div_euclid(1000), value.rem_euclid(1000));
            format!("{}T{}.{part:03}", date(seconds.div_euclid(DAY_S)), clock(seconds.rem_euclid(DAY_S)))
        }
        Type::Nanotimestamp => {
            let (seconds, part) = (value.div_euclid(1_000_000_000), value.rem_euclid(1_000_000_000));
            format!("{}T{}.{part:09}", date(seconds.div_euclid(DAY_S)), clock(seconds.rem_euclid(DAY_S)))
        }
        _ => value.to_string(),
    }
}

/// Reads a temporal value: the script's form, ISO 8601 (also with a blank for the T and a closing Z), or a whole
/// number in the type's unit. A finer text is cut to the type's unit, a date without a time is its midnight.
pub fn parse_temporal(ty: Type, text: &str) -> Result<i64> {
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
    let minutes: i64 = parts.next()?.parse().ok()?;
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
