//! Casts and the parts of dates and times.

use super::complex;
use super::entry::row;
use super::item::{Item, Vocabulary};
use super::settings::{flag, setting};
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Function, Result};
use crate::value::Value;
use data::arrow::buffer::NullBuffer;
use data::{Column, Dictionary, Physical, Scalar, Type};

pub(super) static FUNCTIONS: &[Function] = &[
    row("bool", "X", "As BOOL.", ("bool(2)", "true"), |a| to(a, Type::Bool)),
    row("char", "X", "As CHAR.", ("int(char(65))", "65"), |a| to(a, Type::Char)),
    row("short", "X", "As SHORT; a fraction is cut.", ("short(2.5)", "2"), |a| to(a, Type::Short)),
    row("int", "X", "As INT; a fraction is cut.", ("int(2.5)", "2"), |a| to(a, Type::Int)),
    row("long", "X", "As LONG; a fraction is cut.", ("long(2.5)", "2"), |a| to(a, Type::Long)),
    row("float", "X", "As FLOAT.", ("float(2)", "2"), |a| to(a, Type::Float)),
    row("double", "X", "As DOUBLE.", ("double(2)", "2"), |a| to(a, Type::Double)),
    row("string", "X", "As STRING.", ("string(2.5)", "2.5"), |a| to(a, Type::String)),
    row("symbol", "X", "As SYMBOL.", ("symbol(`a)", "a"), |a| to(a, Type::Symbol)),
    row("blob", "X", "As BLOB: the bytes of a text.", ("blob(`abc)", "abc"), |a| to(a, Type::Blob)),
    row(
        "uuid",
        "X",
        "As UUID, from its text, with or without dashes.",
        ("uuid(\"5d212a78-cc48-e3b1-4235-b4d91473ee87\")", "5d212a78-cc48-e3b1-4235-b4d91473ee87"),
        |a| to(a, Type::Uuid),
    ),
    row(
        "ipaddr",
        "X",
        "As IPADDR, from the text of an address of IPv4 or IPv6.",
        ("ipaddr(\"192.168.1.13\") == ipaddr(\"::ffff:192.168.1.13\")", "true"),
        |a| to(a, Type::Ipaddr),
    ),
    row(
        "int128",
        "X",
        "As INT128, from 32 hexadecimal digits.",
        ("int128(\"e1671797c52e15f763380b45e841ec32\")", "e1671797c52e15f763380b45e841ec32"),
        |a| to(a, Type::Int128),
    ),
    row("date", "X", "As DATE.", ("date(2024.01.02T09:30:00)", "2024.01.02"), |a| to(a, Type::Date)),
    row("month", "X", "As MONTH.", ("month(2024.01.02)", "2024.01M"), |a| to(a, Type::Month)),
    row("time", "X", "As TIME.", ("time(09:30:00)", "09:30:00.000"), |a| to(a, Type::Time)),
    row("minute", "X", "As MINUTE.", ("minute(09:30:10)", "09:30m"), |a| to(a, Type::Minute)),
    row("second", "X", "As SECOND.", ("second(09:30:10.500)", "09:30:10"), |a| to(a, Type::Second)),
    row("datehour", "X", "As DATEHOUR.", ("datehour(2012.06.13T13:30:10)", "2012.06.13T13"), |a| to(a, Type::Datehour)),
    row("datetime", "X", "As DATETIME.", ("datetime(2024.01.02)", "2024.01.02T00:00:00"), |a| to(a, Type::Datetime)),
    row("timestamp", "X", "As TIMESTAMP.", ("timestamp(2024.01.02)", "2024.01.02T00:00:00.000"), |a| {
        to(a, Type::Timestamp)
    }),
    row("nanotime", "X", "As NANOTIME.", ("nanotime(09:30:00)", "09:30:00.000000000"), |a| to(a, Type::Nanotime)),
    row(
        "nanotimestamp",
        "X",
        "As NANOTIMESTAMP.",
        ("nanotimestamp(2024.01.02)", "2024.01.02T00:00:00.000000000"),
        |a| to(a, Type::Nanotimestamp),
    ),
    row(
        "decimal32",
        "X, scale",
        "As DECIMAL32 with so many digits behind the point.",
        ("string(decimal32(1.5, 2))", "1.50"),
        |a| to_scale(a, Type::Decimal32, 9),
    ),
    row(
        "decimal64",
        "X, scale",
        "As DECIMAL64 with so many digits behind the point.",
        ("string(decimal64(1.5, 2))", "1.50"),
        |a| to_scale(a, Type::Decimal64, 18),
    ),
    row(
        "decimal128",
        "X, scale",
        "As DECIMAL128 with so many digits behind the point.",
        ("string(decimal128(1.5, 2))", "1.50"),
        |a| to_scale(a, Type::Decimal128, 38),
    ),
    row("cast", "X, type", "As the type.", ("cast(2.5, INT)", "2"), |a| {
        let wanted = || {
            let found = setting(a, 1).map_or("NULL".to_string(), Value::to_string);
            let error = Diagnostic::new(format!("a type is wanted: parameter=`type`, found=`{found}`"));
            error.suggest(found.trim_matches('"'), Type::NAMED.iter().map(|(_, name)| *name))
        };
        match setting(a, 1) {
            Some(Value::Type(ty)) => to(a, *ty),
            Some(Value::Scalar(_, Scalar::Text(name))) => to(a, Type::parse(name).ok_or_else(wanted)?),
            _ => Err(wanted()),
        }
    }),
    row("year", "X", "The year.", ("year(2024.03.02)", "2024"), |a| part(a, true, |days, _| civil(days).0)),
    row("monthOfYear", "X", "The month, from 1.", ("monthOfYear(2024.03.02)", "3"), |a| {
        part(a, true, |days, _| civil(days).1)
    }),
    row("dayOfMonth", "X", "The day of the month, from 1.", ("dayOfMonth(2024.03.02)", "2"), |a| {
        part(a, true, |days, _| civil(days).2)
    }),
    row(
        "weekday",
        "X, [startFromSunday=true]",
        "The day of the week: 0 for Sunday, or for Monday if not `startFromSunday`.",
        ("weekday(2012.12.05, false)", "2"),
        |a| match flag(a, 1, "startFromSunday", true)? {
            true => part(a, true, |days, _| (days + 4).rem_euclid(7)),
            false => part(a, true, |days, _| (days + 3).rem_euclid(7)),
        },
    ),
    row("hour", "X", "The hour.", ("hour(09:30:10)", "9"), |a| part(a, false, |_, nanos| nanos / 3_600_000_000_000)),
    row("minuteOfHour", "X", "The minute of the hour.", ("minuteOfHour(09:30:10)", "30"), |a| {
        part(a, false, |_, nanos| nanos / 60_000_000_000 % 60)
    }),
    row("secondOfMinute", "X", "The second of the minute.", ("secondOfMinute(09:30:10)", "10"), |a| {
        part(a, false, |_, nanos| nanos / 1_000_000_000 % 60)
    }),
    row("millisecond", "X", "The millisecond of the second.", ("millisecond(09:30:10.008)", "8"), |a| {
        part(a, false, |_, nanos| nanos / 1_000_000 % 1000)
    }),
    row(
        "concatDateTime",
        "X, Y",
        "A DATE and a SECOND, TIME or NANOTIME as one value.",
        ("concatDateTime(2019.06.18, 09:34:07)", "2019.06.18T09:34:07"),
        |a| {
            let ty = match (a[0].ty, a[1].ty) {
                (Type::Date, Type::Second) => Type::Datetime,
                (Type::Date, Type::Time) => Type::Timestamp,
                (Type::Date, Type::Nanotime) => Type::Nanotimestamp,
                (date, time) => {
                    let found = format!("types=`{date}, {time}`");
                    return Err(Diagnostic::new(format!("a DATE with a SECOND, TIME or NANOTIME is wanted: {found}")));
                }
            };
            Ok(BoundRow { ty, kernel: Box::new(|columns| Ok(data::concat_date_time(&columns[0], &columns[1])?)) })
        },
    ),
    row(
        "temporalAdd",
        "X, duration, [unit]",
        "A time that much later, months and years by the calendar.",
        ("temporalAdd(2024.01.31, 1, \"M\")", "2024.02.29"),
        temporal_add,
    ),
];

/// A cast as a bound function.
fn to(args: &[Argument], ty: Type) -> Result<BoundRow> {
    castable(args[0].ty, ty)?;
    Ok(BoundRow { ty, kernel: Box::new(move |columns| convert(&columns[0], ty)) })
}

fn to_scale(args: &[Argument], ty: fn(u8) -> Type, most: i64) -> Result<BoundRow> {
    match super::settings::whole(args, 1, "scale")? {
        Some(scale) if (0..=most).contains(&scale) => to(args, ty(scale as u8)),
        _ => Err(Diagnostic::new(format!("a whole number from 0 to {most} is wanted: parameter=`scale`"))),
    }
}

/// BLOB and the types of 16 bytes.
pub(super) fn is_bytes(ty: Type) -> bool {
    matches!(ty.physical(), Physical::Bytes | Physical::Bytes16)
}

fn castable(from: Type, ty: Type) -> Result<()> {
    let simple = |ty: Type| ty.is_number() || ty.is_temporal() || ty.is_text();
    let fits = from == ty
        || from == Type::Void
        || from.is_text() && is_bytes(ty)
        || is_bytes(from) && ty.is_text()
        || from.is_number() && ty == Type::Complex
        || simple(from) && simple(ty) && !(from.is_float() && ty.is_temporal() || from.is_temporal() && ty.is_float());
    let times = from.is_temporal() && ty.is_temporal() && rescale(from, ty, 0).is_none();
    if fits && !times {
        return Ok(());
    }
    Err(Diagnostic::new(format!("no such cast: from=`{from}`, to=`{ty}`")))
}

/// The values of a column as another type; what the type cannot hold is NULL.
pub(crate) fn convert(column: &Column, ty: Type) -> Result<Column> {
    let from = column.ty();
    if from == ty {
        return Ok(column.clone());
    }
    castable(from, ty)?;
    if from == Type::Void {
        return Ok(Column::nulls(ty, column.len()));
    }
    if ty == Type::String {
        return Ok(column.to_strings().unwrap_or_else(|| texts(column)));
    }
    if ty == Type::Symbol {
        return Ok(convert(column, Type::String)?.in_dictionary(&Dictionary::new())?);
    }
    if from.is_text() {
        let strings = column.to_strings().expect("a column of texts");
        let values = strings.texts().iter().map(|text| text.map_or(Ok(Scalar::Null), |text| parse(ty, text)));
        return Ok(Column::of_scalars(ty, &values.collect::<Result<Vec<Scalar>>>()?));
    }
    if ty == Type::Complex {
        return Ok(complex::of_numbers(column));
    }
    if ty.is_decimal() {
        return Ok(to_decimal(column, ty));
    }
    let plain = Vocabulary::default();
    if ty.is_float() {
        let values = column.to_f64s().expect("a column of numbers");
        let fits = |value: f64| ty == Type::Double || !value.is_finite() || (value as f32).is_finite();
        let nulls = match values.iter().all(|&value| fits(value)) {
            true => column.validity().cloned(),
            false => Some((0..values.len()).map(|row| !column.is_null(row) && fits(values[row])).collect()),
        };
        return Ok(f64::column(ty, values.to_vec(), nulls, &plain));
    }
    let (low, high) = ty.range();
    if from.is_decimal() {
        let unit = 10i128.pow(from.scale() as u32);
        // Of BOOL any digit counts, of whole numbers those before the point.
        let whole = |digits: &i128| if ty == Type::Bool { (*digits != 0) as i128 } else { digits / unit };
        let wholes: Vec<i128> = column.decimals().iter().map(whole).collect();
        let fits = |row: usize| !column.is_null(row) && (low as i128..=high as i128).contains(&wholes[row]);
        let valid: NullBuffer = (0..wholes.len()).map(fits).collect();
        return Ok(i64::column(ty, wholes.iter().map(|&whole| whole as i64).collect(), Some(valid), &plain));
    }
    if from.is_float() {
        let values = column.to_f64s().expect("a column of numbers");
        // The ends themselves are no floats where they are long.
        let fits = |value: f64| value.trunc() > low as f64 - 1.0 && value.trunc() < high as f64 + 1.0;
        let valid: NullBuffer = (0..values.len()).map(|row| !column.is_null(row) && fits(values[row])).collect();
        let whole = values.iter().map(|&value| if ty == Type::Bool { (value != 0.0) as i64 } else { value as i64 });
        let valid = if ty == Type::Bool { column.validity().cloned() } else { Some(valid) };
        return Ok(i64::column(ty, whole.collect(), valid, &plain));
    }
    let values = column.to_i64s().expect("a column of whole numbers");
    let scaled = |value: i64| match from.is_temporal() && ty.is_temporal() {
        true => rescale(from, ty, value),
        false => Some(value),
    };
    let valid = |row: usize| {
        let fits = || ty == Type::Bool || scaled(values[row]).is_some_and(|value| (low..=high).contains(&value));
        !column.is_null(row) && fits()
    };
    let valid: NullBuffer = (0..values.len()).map(valid).collect();
    let whole = values.iter().map(|&value| scaled(value).unwrap_or(0)).collect();
    Ok(i64::column(ty, whole, Some(valid), &plain))
}

fn texts(column: &Column) -> Column {
    let ty = column.ty();
    let text = |row: usize| match column.get(row) {
        Scalar::Int(value) if ty.is_temporal() => Some(data::format_script(ty, value)),
        Scalar::Int(value) => Some(value.to_string()),
        Scalar::Float(value) if ty == Type::Float => Some((value as f32).to_string()),
        Scalar::Float(value) => Some(value.to_string()),
        Scalar::Bool(value) => Some(value.to_string()),
        Scalar::Decimal(digits) => Some(data::format_decimal(ty, digits)),
        Scalar::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        Scalar::Bytes16(bytes) => Some(data::format_bytes16(ty, &bytes)),
        _ => None,
    };
    let texts: Vec<Option<String>> = (0..column.len()).map(text).collect();
    Column::of_texts(texts.iter().map(Option::as_deref))
}

fn to_decimal(column: &Column, ty: Type) -> Column {
    let unit = 10i128.pow(ty.scale() as u32);
    let from = 10i128.pow(column.ty().scale() as u32);
    let digits = |row: usize| match column.get(row) {
        Scalar::Int(value) => (value as i128).checked_mul(unit),
        Scalar::Bool(value) => Some(value as i128 * unit),
        Scalar::Float(value) if value.is_finite() => {
            // Beyond, a float is no longer told from the first number of too many digits.
            Some(value * unit as f64).filter(|value| value.abs() < 1e38).map(|value| value.round() as i128)
        }
        Scalar::Decimal(digits) if unit >= from => digits.checked_mul(unit / from),
        Scalar::Decimal(digits) => {
            let part = from / unit;
            // Rounded half away from zero.
            Some(digits / part + digits % part / (part / 2))
        }
        _ => None,
    };
    let digits = |row: usize| digits(row).filter(|&digits| ty.holds_digits(digits));
    let digits: Vec<Option<i128>> = (0..column.len()).map(digits).collect();
    let valid: NullBuffer = digits.iter().map(Option::is_some).collect();
    Column::of_decimals(ty, digits.into_iter().map(Option::unwrap_or_default).collect(), Some(valid))
}

/// The value that a text means: NULL where it means none, but for types that a text must be exactly right for.
fn parse(ty: Type, text: &str) -> Result<Scalar> {
    match ty.physical() {
        Physical::Bytes => return Ok(Scalar::Bytes(text.as_bytes().into())),
        Physical::Bytes16 => {
            let parsed = data::parse_bytes16(ty, text);
            return parsed.map(Scalar::Bytes16).map_err(|error| Diagnostic::from(error).help(spelling(ty)));
        }
        _ => {}
    }
    let text = text.trim();
    let (low, high) = ty.range();
    let float = || text.parse::<f64>().ok().filter(|value| value.is_finite());
    let found = match ty {
        Type::Bool if text.eq_ignore_ascii_case("true") || text == "1" => Some(Scalar::Bool(true)),
        Type::Bool if text.eq_ignore_ascii_case("false") || text == "0" => Some(Scalar::Bool(false)),
        Type::Bool => None,
        ty if ty.is_temporal() => data::parse_temporal(ty, text).ok().map(Scalar::Int),
        Type::Float => float().filter(|value| (*value as f32).is_finite()).map(Scalar::Float),
        Type::Double => float().map(Scalar::Float),
        // A power of ten goes through a float.
        ty if ty.is_decimal() && text.contains(['e', 'E']) => float().map(|value| {
            let value = Column::of_scalars(Type::Double, &[Scalar::Float(value)]);
            to_decimal(&value, ty).get(0)
        }),
        ty if ty.is_decimal() => data::parse_decimal(ty, text).map(Scalar::Decimal),
        _ => {
            let whole = text.parse::<i64>().ok();
            let whole =
                whole.or_else(|| float().filter(|value| value.abs() < i64::MAX as f64).map(|value| value as i64));
            whole.filter(|value| (low..=high).contains(value)).map(Scalar::Int)
        }
    };
    Ok(found.unwrap_or(Scalar::Null))
}

/// How a value of a type of 16 bytes is written.
fn spelling(ty: Type) -> &'static str {
    match ty {
        Type::Uuid => "a UUID is written as 5d212a78-cc48-e3b1-4235-b4d91473ee87",
        Type::Ipaddr => "an address is written as 192.168.1.13 or 2001:db8::1",
        Type::Int128 => "an INT128 is written as 32 hexadecimal digits",
        Type::Complex => "a complex number is written as 1+2i",
        _ => "a point is written as (1, 2)",
    }
}

/// A value of one temporal type as another; `None` where there is no way, or no room.
pub(super) fn rescale(from: Type, to: Type, value: i64) -> Option<i64> {
    use Type as T;
    match (from, to) {
        (from, to) if from == to => Some(value),
        (T::Month, to) if to.is_dated() => {
            let (year, month) = (value.div_euclid(12), value.rem_euclid(12) + 1);
            days_of(year, month, 1)?.checked_mul(to.units_per_day()?)
        }
        (from, T::Month) if from.is_dated() => {
            let (year, month, _) = civil(value.div_euclid(from.units_per_day()?));
            Some(year * 12 + month - 1)
        }
        (T::Month, _) | (_, T::Month) => None,
        (from, to) => {
            let (per_day, wanted) = (from.units_per_day()?, to.units_per_day()?);
            let value = match (from.is_dated(), to.is_dated()) {
                (false, true) => return None,
                (true, false) if from == T::Date => return None,
                (true, false) => value.rem_euclid(per_day),
                _ => value,
            };
            if wanted >= per_day {
                value.checked_mul(wanted / per_day)
            } else {
                Some(value.div_euclid(per_day / wanted))
            }
        }
    }
}

/// Year, month and day of a day since 1970-01-01, by the Gregorian calendar.
pub(super) fn civil(days: i64) -> (i64, i64, i64) {
    // Counted from the first of March of year 0, so that a leap day is a year's last one.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let civil_month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + (civil_month <= 2) as i64, civil_month, in_year - (153 * month + 2) / 5 + 1)
}

/// Days since 1970-01-01; `None` where there is no such day.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let date = chrono::NaiveDate::from_ymd_opt(year.try_into().ok()?, month as u32, day as u32)?;
    Some((date - chrono::NaiveDate::default()).num_days())
}

/// A whole number made of the day and the nanoseconds since midnight.
pub(super) fn part(args: &[Argument], of_date: bool, f: fn(i64, i64) -> i64) -> Result<BoundRow> {
    let from = args[0].ty;
    let fits = if of_date {
        from.is_dated() || from == Type::Month
    } else {
        from.is_temporal() && !matches!(from, Type::Date | Type::Month)
    };
    if !fits {
        let wanted = if of_date { "a value with a date" } else { "a value with a time of day" };
        return Err(Diagnostic::new(format!("{wanted} is wanted: type=`{from}`")));
    }
    let kernel = move |columns: &[Column]| {
        let column = if from == Type::Month { convert(&columns[0], Type::Date)? } else { columns[0].clone() };
        let per_day = column.ty().units_per_day().expect("a type with a day");
        let nanos = 86_400_000_000_000 / per_day;
        let values = column.to_i64s().expect("a temporal column");
        let part = |value: &i64| f(value.div_euclid(per_day), value.rem_euclid(per_day) * nanos) as i32;
        let parts: Vec<i32> = values.iter().map(part).collect();
        Ok(Column::of_i32(Type::Int, parts, column.validity().cloned()))
    };
    Ok(BoundRow { ty: Type::Int, kernel: Box::new(kernel) })
}

fn temporal_add(args: &[Argument]) -> Result<BoundRow> {
    let ty = args[0].ty;
    let wanted = || {
        Diagnostic::new("a duration, or a whole number and a unit, are wanted: parameter=`duration`")
            .help("units are y M w d B H m s ms us ns")
    };
    if !ty.is_temporal() {
        return Err(Diagnostic::new(format!("a temporal value is wanted: type=`{ty}`")));
    }
    let (count, unit) = match (setting(args, 1), setting(args, 2)) {
        (Some(Value::Duration(count, unit)), None) => (*count, unit.clone()),
        (Some(Value::Scalar(_, count)), Some(Value::Scalar(_, Scalar::Text(unit)))) => {
            (count.as_i64().ok_or_else(wanted)?, unit.clone())
        }
        _ => return Err(wanted()),
    };
    let months = match unit.as_ref() {
        "y" => count.checked_mul(12),
        "M" => Some(count),
        _ => None,
    };
    let add: Box<dyn Fn(i64) -> Option<i64> + Send + Sync> = match (months, ty) {
        (Some(months), Type::Month) => Box::new(move |value| value.checked_add(months)),
        (Some(months), _) => {
            let per_day = ty.units_per_day().filter(|_| ty.is_dated()).ok_or_else(wanted)?;
            Box::new(move |value| {
                let (year, month, day) = civil(value.div_euclid(per_day));
                let months = (year * 12 + month - 1).checked_add(months)?;
                let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
                // The last day of a shorter month stands for the days it lacks.
                let days = (0..4).find_map(|less| days_of(year, month, day - less))?;
                days.checked_mul(per_day)?.checked_add(value.rem_euclid(per_day))
            })
        }
        (None, _) => {
            let per_day = ty.units_per_day().ok_or_else(wanted)?;
            if unit.as_ref() == "B" {
                return Ok(shifted(ty, move |value| {
                    let days = later_business_day(value.div_euclid(per_day), count)?;
                    days.checked_mul(per_day)?.checked_add(value.rem_euclid(per_day))
                }));
            }
            let nanos: i64 = match unit.as_ref() {
                "w" => 604_800_000_000_000,
                "d" => 86_400_000_000_000,
                "H" => 3_600_000_000_000,
                "m" => 60_000_000_000,
                "s" => 1_000_000_000,
                "ms" => 1_000_000,
                "us" => 1_000,
                "ns" => 1,
                _ => return Err(wanted()),
            };
            let step = count as i128 * nanos as i128 * per_day as i128 / 86_400_000_000_000;
            let step = i64::try_from(step).map_err(|_| wanted())?;
            Box::new(move |value| value.checked_add(step))
        }
    };
    Ok(shifted(ty, add))
}

/// A temporal value made of each; NULL where there is none, or where it has no room.
pub(super) fn shifted(ty: Type, add: impl Fn(i64) -> Option<i64> + Send + Sync + 'static) -> BoundRow {
    let (low, high) = ty.range();
    let kernel = move |columns: &[Column]| {
        let values = columns[0].to_i64s().expect("a temporal column");
        let fits = |value: &i64| (low..=high).contains(value);
        let row = |row: usize| if columns[0].is_null(row) { None } else { add(values[row]).filter(fits) };
        let later: Vec<Option<i64>> = (0..values.len()).map(row).collect();
        let valid: NullBuffer = later.iter().map(Option::is_some).collect();
        let later = later.into_iter().map(Option::unwrap_or_default).collect();
        Ok(i64::column(ty, later, Some(valid), &Vocabulary::default()))
    };
    BoundRow { ty, kernel: Box::new(kernel) }
}

/// The day so many business days, Monday to Friday, later. A step from a weekend begins at the business day before it,
/// one back at the one behind it.
fn later_business_day(day: i64, count: i64) -> Option<i64> {
    let weekday = (day + 3).rem_euclid(7);
    let (day, weekday) = match (weekday > 4, count.signum()) {
        (true, 1) => (day - (weekday - 4), 4),
        (true, -1) => (day + 7 - weekday, 0),
        _ => (day, weekday),
    };
    let (weeks, rest) = (count / 5, count % 5);
    let weekend = match weekday + rest {
        place if place > 4 && count > 0 => 2,
        place if place < 0 => -2,
        _ => 0,
    };
    day.checked_add(weeks.checked_mul(7)?)?.checked_add(rest + weekend)
}
