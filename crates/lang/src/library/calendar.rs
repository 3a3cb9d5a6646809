//! The calendar: places of a day within weeks, months and years, their first and last days, and times as texts.

use super::cast::{civil, convert, days_of, part, shifted};
use super::entry::row;
use super::settings::whole;
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Function, Result};
use crate::value::Value;
use data::{Column, Scalar, Type};

pub(super) static FUNCTIONS: &[Function] = &[
    row("quarterOfYear", "X", "The quarter, from 1.", ("quarterOfYear(2024.05.02)", "2"), |a| {
        part(a, true, |day, _| (civil(day).1 + 2) / 3)
    }),
    row("weekOfYear", "X", "The week of the year by ISO 8601.", ("weekOfYear(2024.03.02)", "9"), |a| {
        part(a, true, |day, _| week_of_year(day))
    }),
    row("dayOfYear", "X", "The day of the year, from 1.", ("dayOfYear(2024.03.02)", "62"), |a| {
        part(a, true, |day, _| day - first_of(civil(day).0, 1) + 1)
    }),
    row("dayOfWeek", "X", "The day of the week, 0 for Monday.", ("dayOfWeek(2024.03.02)", "5"), |a| {
        part(a, true, |day, _| weekday(day))
    }),
    row("daysInMonth", "X", "How many days the month has.", ("daysInMonth(2024.02.10)", "29"), |a| {
        part(a, true, |day, _| last_of(civil(day).0, civil(day).1) - first_of(civil(day).0, civil(day).1) + 1)
    }),
    row("microsecond", "X", "The microsecond of the second.", ("microsecond(09:30:10.008007006)", "8007"), |a| {
        part(a, false, |_, nanos| nanos / 1_000 % 1_000_000)
    }),
    row("nanosecond", "X", "The nanosecond of the second.", ("nanosecond(09:30:10.008007006)", "8007006"), |a| {
        part(a, false, |_, nanos| nanos % 1_000_000_000)
    }),
    row("isLeapYear", "X", "Has the year 366 days?", ("isLeapYear(2024.02.10)", "true"), |a| {
        is(a, |day| last_of(civil(day).0, 2) - first_of(civil(day).0, 2) == 28)
    }),
    row("isMonthStart", "X", "Is it the first day of a month?", ("isMonthStart(2024.02.01)", "true"), |a| {
        is(a, |day| civil(day).2 == 1)
    }),
    row("isMonthEnd", "X", "Is it the last day of a month?", ("isMonthEnd(2024.02.28)", "false"), |a| {
        is(a, |day| civil(day + 1).2 == 1)
    }),
    row("isQuarterStart", "X", "Is it the first day of a quarter?", ("isQuarterStart(2024.04.01)", "true"), |a| {
        is(a, |day| civil(day).2 == 1 && civil(day).1 % 3 == 1)
    }),
    row("isQuarterEnd", "X", "Is it the last day of a quarter?", ("isQuarterEnd(2024.03.31)", "true"), |a| {
        is(a, |day| civil(day + 1).2 == 1 && civil(day + 1).1 % 3 == 1)
    }),
    row("isYearStart", "X", "Is it the first day of a year?", ("isYearStart(2024.01.01)", "true"), |a| {
        is(a, |day| day == first_of(civil(day).0, 1))
    }),
    row("isYearEnd", "X", "Is it the last day of a year?", ("isYearEnd(2024.12.31)", "true"), |a| {
        is(a, |day| day == last_of(civil(day).0, 12))
    }),
    row(
        "weekBegin",
        "X, [weekday=0]",
        "The first day of the week; `weekday` says which one that is, 0 for Monday.",
        ("weekBegin(2024.03.02)", "2024.02.26"),
        |a| {
            let start = setting(a, "weekday", 0, 0..=6)?;
            day(a, move |day| day - (weekday(day) - start).rem_euclid(7))
        },
    ),
    row(
        "weekEnd",
        "X, [weekday=6]",
        "The last day of the week; `weekday` says which one that is, 6 for Sunday.",
        ("weekEnd(2024.03.02)", "2024.03.03"),
        |a| {
            let end = setting(a, "weekday", 6, 0..=6)?;
            day(a, move |day| day + (end - weekday(day)).rem_euclid(7))
        },
    ),
    row("monthBegin", "X", "The first day of the month.", ("monthBegin(2024.03.02)", "2024.03.01"), |a| {
        day(a, |day| day - civil(day).2 + 1)
    }),
    row("monthEnd", "X", "The last day of the month.", ("monthEnd(2024.02.02)", "2024.02.29"), |a| {
        day(a, |day| last_of(civil(day).0, civil(day).1))
    }),
    row(
        "semiMonthBegin",
        "X",
        "The first day of the half of the month: the 1st or the 15th.",
        ("semiMonthBegin(2024.03.20)", "2024.03.15"),
        |a| day(a, |day| day - civil(day).2 + if civil(day).2 < 15 { 1 } else { 15 }),
    ),
    row(
        "semiMonthEnd",
        "X",
        "The last day before: the 15th of the month, or the end of the month before.",
        ("semiMonthEnd(2024.03.20)", "2024.03.15"),
        |a| day(a, |day| day - civil(day).2 + if civil(day).2 < 15 { 0 } else { 15 }),
    ),
    row(
        "quarterBegin",
        "X, [startingMonth=1]",
        "The first day of the quarter; a quarter starts in that month.",
        ("quarterBegin(2024.05.02)", "2024.04.01"),
        |a| {
            let start = setting(a, "startingMonth", 1, 1..=12)?;
            day(a, move |day| begin(day, start, 3))
        },
    ),
    row(
        "quarterEnd",
        "X, [endingMonth=12]",
        "The last day of the quarter; a quarter ends in that month.",
        ("quarterEnd(2024.05.02)", "2024.06.30"),
        |a| {
            let end = setting(a, "endingMonth", 12, 1..=12)?;
            day(a, move |day| end_of(day, end, 3))
        },
    ),
    row(
        "yearBegin",
        "X, [startingMonth=1]",
        "The first day of the year that starts in that month.",
        ("yearBegin(2024.03.02)", "2024.01.01"),
        |a| {
            let start = setting(a, "startingMonth", 1, 1..=12)?;
            day(a, move |day| begin(day, start, 12))
        },
    ),
    row(
        "yearEnd",
        "X, [endingMonth=12]",
        "The last day of the year that ends in that month.",
        ("yearEnd(2024.03.02)", "2024.12.31"),
        |a| {
            let end = setting(a, "endingMonth", 12, 1..=12)?;
            day(a, move |day| end_of(day, end, 12))
        },
    ),
    row(
        "businessDay",
        "X",
        "The day itself from Monday to Friday, else the Friday before.",
        ("businessDay(2024.03.02)", "2024.03.01"),
        |a| day(a, business_before),
    ),
    row(
        "businessMonthBegin",
        "X",
        "The first business day of the month.",
        ("businessMonthBegin(2024.06.20)", "2024.06.03"),
        |a| day(a, |day| business_after(day - civil(day).2 + 1)),
    ),
    row(
        "businessMonthEnd",
        "X",
        "The last business day of the month.",
        ("businessMonthEnd(2024.06.20)", "2024.06.28"),
        |a| day(a, |day| business_before(last_of(civil(day).0, civil(day).1))),
    ),
    row(
        "businessQuarterBegin",
        "X",
        "The first business day of the quarter.",
        ("businessQuarterBegin(2024.06.20)", "2024.04.01"),
        |a| day(a, |day| business_after(begin(day, 1, 3))),
    ),
    row(
        "businessQuarterEnd",
        "X",
        "The last business day of the quarter.",
        ("businessQuarterEnd(2024.06.20)", "2024.06.28"),
        |a| day(a, |day| business_before(end_of(day, 12, 3))),
    ),
    row(
        "businessYearBegin",
        "X",
        "The first business day of the year.",
        ("businessYearBegin(2023.06.20)", "2023.01.02"),
        |a| day(a, |day| business_after(begin(day, 1, 12))),
    ),
    row(
        "businessYearEnd",
        "X",
        "The last business day of the year.",
        ("businessYearEnd(2023.06.20)", "2023.12.29"),
        |a| day(a, |day| business_before(end_of(day, 12, 12))),
    ),
    row(
        "temporalFormat",
        "X, format",
        "A time as a text: `yyyy`, `MM`, `MMM`, `dd`, `HH`, `hh`, `aa`, `mm`, `ss`, `SSS`, `nnnnnn` and `nnnnnnnnn` stand \
         for its parts.",
        ("temporalFormat(2024.03.02T14:05:06, \"dd/MM/yyyy hh:mm aa\")", "02/03/2024 02:05 PM"),
        |args| {
            let ty = args[0].ty;
            let pieces = pieces(args)?;
            if !ty.is_temporal() {
                return Err(Diagnostic::new(format!("a time is wanted: function=`temporalFormat`, type=`{ty}`")));
            }
            Ok(texts(move |value| Some(written(ty, value.as_i64()?, &pieces))))
        },
    ),
    row(
        "temporalParse",
        "X, format",
        "The time that a text says, by a format as that of `temporalFormat`; NULL where it does not fit.",
        ("temporalParse(\"02/03/2024\", \"dd/MM/yyyy\")", "2024.03.02"),
        |args| {
            if !(args[0].ty.is_text() || args[0].ty == Type::Void) {
                let ty = args[0].ty;
                return Err(Diagnostic::new(format!("a text is wanted: function=`temporalParse`, type=`{ty}`")));
            }
            let pieces = pieces(args)?;
            let ty = type_of(&pieces)?;
            let kernel = move |columns: &[Column]| {
                let strings = convert(&columns[0], Type::String)?;
                let times = strings.texts().iter().map(|text| text.and_then(|text| read(ty, text, &pieces)));
                let times: Vec<Scalar> = times.map(|time| time.map_or(Scalar::Null, Scalar::Int)).collect();
                Ok(Column::of_scalars(ty, &times))
            };
            Ok(BoundRow { ty, kernel: Box::new(kernel) })
        },
    ),
    row(
        "format",
        "X, format",
        "A number as a text: `0` is a digit, `#` one that may lack, `,` parts thousands, `%` counts hundredths, `E` a \
         power of ten. A time by the format of `temporalFormat`.",
        ("format(1234567.891, \"#,##0.00\")", "1,234,567.89"),
        |args| {
            let ty = args[0].ty;
            if ty.is_temporal() {
                let pieces = pieces(args)?;
                return Ok(texts(move |value| Some(written(ty, value.as_i64()?, &pieces))));
            }
            super::settings::need_number(args, 0)?;
            let shape = Shape::of(format_text(args)?)?;
            let kernel = move |columns: &[Column]| {
                let values = columns[0].to_f64s().expect("a column of numbers");
                let text = |row: usize| (!columns[0].is_null(row)).then(|| shape.text(values[row]));
                let texts: Vec<Option<String>> = (0..values.len()).map(text).collect();
                Ok(Column::of_texts(texts.iter().map(Option::as_deref)))
            };
            Ok(BoundRow { ty: Type::String, kernel: Box::new(kernel) })
        },
    ),
];

/// The weekday, 0 for Monday.
fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// The week of ISO 8601: that of the year which holds the week's Thursday.
fn week_of_year(day: i64) -> i64 {
    let thursday = day - weekday(day) + 3;
    (thursday - first_of(civil(thursday).0, 1)) / 7 + 1
}

/// The first day of a month; months before the first one and behind the last one are those of other years.
fn first_of(year: i64, month: i64) -> i64 {
    let months = year * 12 + month - 1;
    days_of(months.div_euclid(12), months.rem_euclid(12) + 1, 1).unwrap_or(0)
}

fn last_of(year: i64, month: i64) -> i64 {
    first_of(year, month + 1) - 1
}

/// The first day of the span of so many months that starts in this month.
fn begin(day: i64, start: i64, months: i64) -> i64 {
    let (year, month, _) = civil(day);
    first_of(year, month - (month - start).rem_euclid(months))
}

/// The last day of the span of so many months that ends in this month.
fn end_of(day: i64, end: i64, months: i64) -> i64 {
    let (year, month, _) = civil(day);
    last_of(year, month + (end - month).rem_euclid(months))
}

fn business_before(day: i64) -> i64 {
    day - (weekday(day) - 4).max(0)
}

fn business_after(day: i64) -> i64 {
    if weekday(day) > 4 { day + 7 - weekday(day) } else { day }
}

/// A whole number within a range.
fn setting(args: &[Argument], name: &str, default: i64, range: std::ops::RangeInclusive<i64>) -> Result<i64> {
    let value = whole(args, 1, name)?.unwrap_or(default);
    match range.contains(&value) {
        true => Ok(value),
        false => {
            let wanted = format!("a whole number from {} to {} is wanted", range.start(), range.end());
            Err(Diagnostic::new(format!("{wanted}: parameter=`{name}`, value=`{value}`")))
        }
    }
}

/// A DATE made of the day of each value.
fn day(args: &[Argument], f: impl Fn(i64) -> i64 + Send + Sync + 'static) -> Result<BoundRow> {
    let bound = shifted(Type::Date, move |day| Some(f(day)));
    dated(args)?;
    Ok(BoundRow {
        ty: Type::Date,
        kernel: Box::new(move |columns| (bound.kernel)(&[convert(&columns[0], Type::Date)?])),
    })
}

/// A truth of the day of each value; NULL of NULL.
fn is(args: &[Argument], f: impl Fn(i64) -> bool + Send + Sync + 'static) -> Result<BoundRow> {
    dated(args)?;
    let kernel = move |columns: &[Column]| {
        let days = convert(&columns[0], Type::Date)?;
        let truth = |row: usize| days.get(row).as_i64().map_or(Scalar::Null, |day| Scalar::Bool(f(day)));
        Ok(Column::of_scalars(Type::Bool, &(0..days.len()).map(truth).collect::<Vec<_>>()))
    };
    Ok(BoundRow { ty: Type::Bool, kernel: Box::new(kernel) })
}

fn dated(args: &[Argument]) -> Result<()> {
    match args[0].ty {
        ty if ty.is_dated() || matches!(ty, Type::Month | Type::Void) => Ok(()),
        ty => Err(Diagnostic::new(format!("a value with a date is wanted: type=`{ty}`"))),
    }
}

/// A text of each value; NULL of NULL.
fn texts(f: impl Fn(&Scalar) -> Option<String> + Send + Sync + 'static) -> BoundRow {
    let kernel = move |columns: &[Column]| {
        let texts: Vec<Option<String>> = (0..columns[0].len()).map(|row| f(&columns[0].get(row))).collect();
        Ok(Column::of_texts(texts.iter().map(Option::as_deref)))
    };
    BoundRow { ty: Type::String, kernel: Box::new(kernel) }
}

/// A part of a time's text: a letter that stands for a part of the time, so many times, or a mark as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    Part(char, usize),
    Mark(char),
}

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

fn format_text(args: &[Argument]) -> Result<&str> {
    match args.get(1).and_then(|arg| arg.constant.as_ref()) {
        Some(Value::Scalar(_, Scalar::Text(text))) => Ok(text),
        _ => Err(Diagnostic::new("a text is wanted: parameter=`format`")),
    }
}

fn pieces(args: &[Argument]) -> Result<Vec<Piece>> {
    let format = format_text(args)?;
    let letters: Vec<char> = format.chars().collect();
    let mut pieces = vec![];
    let mut place = 0;
    while place < letters.len() {
        let letter = letters[place];
        let count = letters[place..].iter().take_while(|&&other| other == letter).count();
        match letter {
            'y' | 'M' | 'd' | 'H' | 'h' | 'a' | 'm' | 's' | 'S' | 'n' => pieces.push(Piece::Part(letter, count)),
            letter if letter.is_ascii_alphabetic() && letter != 'T' => {
                return Err(Diagnostic::new(format!(
                    "unknown letter in a format: letter=`{letter}`, format=`{format}`"
                ))
                .help("known are y M d H h a m s S n"));
            }
            mark => pieces.extend(std::iter::repeat_n(Piece::Mark(mark), count)),
        }
        place += count;
    }
    Ok(pieces)
}

fn written(ty: Type, value: i64, pieces: &[Piece]) -> String {
    let (day, nanos) = match ty {
        Type::Month => (first_of(value.div_euclid(12), value.rem_euclid(12) + 1), 0),
        ty => {
            let per_day = ty.units_per_day().unwrap_or(1);
            (value.div_euclid(per_day), value.rem_euclid(per_day) * (86_400_000_000_000 / per_day))
        }
    };
    let ((year, month, date), second) = (civil(day), nanos / 1_000_000_000);
    let hour = second / 3600;
    let mut text = String::new();
    for piece in pieces {
        let (value, width) = match *piece {
            Piece::Mark(mark) => {
                text.push(mark);
                continue;
            }
            Piece::Part('a', _) => {
                text.push_str(if hour < 12 { "AM" } else { "PM" });
                continue;
            }
            Piece::Part('M', 3) => {
                text.push_str(MONTHS[month as usize - 1]);
                continue;
            }
            Piece::Part('y', 2) => (year.rem_euclid(100), 2),
            Piece::Part('y', width) => (year, width),
            Piece::Part('M', width) => (month, width),
            Piece::Part('d', width) => (date, width),
            Piece::Part('H', width) => (hour, width),
            Piece::Part('h', width) => ((hour + 11) % 12 + 1, width),
            Piece::Part('m', width) => (second / 60 % 60, width),
            Piece::Part('s', width) => (second % 60, width),
            Piece::Part('S', width) => (nanos / 1_000_000 % 1000, width),
            Piece::Part(_, width) if width <= 6 => (nanos / 1_000 % 1_000_000, width),
            Piece::Part(_, width) => (nanos % 1_000_000_000, width),
        };
        text.push_str(&format!("{value:0width$}"));
    }
    text
}

/// The type of what a format says.
fn type_of(pieces: &[Piece]) -> Result<Type> {
    let has = |letter: char| pieces.iter().any(|piece| matches!(piece, Piece::Part(found, _) if *found == letter));
    let date = has('y') && has('M') && has('d');
    let clock = has('H') || has('h');
    Ok(match (date, clock) {
        (true, false) => Type::Date,
        (true, true) if has('n') => Type::Nanotimestamp,
        (true, true) if has('S') => Type::Timestamp,
        (true, true) => Type::Datetime,
        (false, true) if has('n') => Type::Nanotime,
        (false, true) if has('S') => Type::Time,
        (false, true) if has('s') => Type::Second,
        (false, true) if has('m') => Type::Minute,
        (false, false) if has('y') && has('M') => Type::Month,
        _ => {
            return Err(Diagnostic::new("a format of a date, a time of day or both is wanted: parameter=`format`")
                .help("such as \"yyyy-MM-dd\" or \"HH:mm:ss\""));
        }
    })
}

/// The time that a text says; `None` where it does not fit the format or there is no such time.
fn read(ty: Type, text: &str, pieces: &[Piece]) -> Option<i64> {
    let mut rest = text.trim();
    let (mut year, mut month, mut date, mut hour, mut minute, mut second, mut nanos) = (1970, 1, 1, 0, 0, 0, 0);
    let mut afternoon = None;
    for (index, piece) in pieces.iter().enumerate() {
        let (letter, count) = match *piece {
            Piece::Mark(mark) => {
                rest = rest.strip_prefix(mark)?;
                continue;
            }
            Piece::Part(letter, count) => (letter, count),
        };
        if letter == 'a' {
            let word = rest.get(..2)?.to_ascii_uppercase();
            afternoon = Some(word == "PM");
            if !(word == "PM" || word == "AM") {
                return None;
            }
            rest = &rest[2..];
            continue;
        }
        if (letter, count) == ('M', 3) {
            let word = rest.get(..3)?.to_ascii_uppercase();
            month = MONTHS.iter().position(|name| *name == word)? as i64 + 1;
            rest = &rest[3..];
            continue;
        }
        // Digits before a mark may be fewer or more than the letters; before another part they are counted.
        let counted = matches!(pieces.get(index + 1), Some(Piece::Part(next, _)) if *next != 'a');
        let most = if counted || letter == 'y' { count } else { count.max(if letter == 'n' { 9 } else { 2 }) };
        let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if digits == 0 || counted && digits < count || letter == 'y' && digits < count {
            return None;
        }
        let value: i64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        match letter {
            'y' if count == 2 => year = 2000 + value,
            'y' => year = value,
            'M' => month = value,
            'd' => date = value,
            'H' | 'h' => hour = value,
            'm' => minute = value,
            's' => second = value,
            // Fewer digits of a fraction are its first ones.
            _ => nanos = value * 10i64.checked_pow(9u32.checked_sub(digits as u32)?)?,
        }
    }
    let hour = match afternoon {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
        None => hour,
    };
    if !rest.is_empty() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let day = days_of(year, month, date).filter(|_| (1..=12).contains(&month))?;
    if ty == Type::Month {
        return Some(year * 12 + month - 1);
    }
    let per_day = ty.units_per_day()?;
    let clock = ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + nanos;
    let clock = clock / (86_400_000_000_000 / per_day);
    if ty.is_dated() { day.checked_mul(per_day)?.checked_add(clock) } else { Some(clock) }
}

/// How a number is written.
struct Shape {
    before: String,
    after: String,
    /// The least number of digits before the point.
    whole_min: usize,
    fraction_min: usize,
    fraction_max: usize,
    grouped: bool,
    percent: bool,
    /// The least number of digits of a power of ten, where one is written.
    power: Option<usize>,
}

impl Shape {
    fn of(format: &str) -> Result<Shape> {
        let wrong = || {
            Diagnostic::new(format!("not a format of numbers: parameter=`format`, found=`{format}`"))
                .help("such as \"0.00\", \"#,###\", \"0.0%\" or \"0.00E00\"")
        };
        let is_digit = |letter: char| matches!(letter, '0' | '#' | ',' | '.');
        let start = format.find(is_digit).ok_or_else(wrong)?;
        let (before, rest) = format.split_at(start);
        let end = rest.find(|letter| !is_digit(letter)).unwrap_or(rest.len());
        let (digits, rest) = rest.split_at(end);
        let zeros = rest.strip_prefix('E').map_or(0, |power| power.bytes().take_while(|&byte| byte == b'0').count());
        let after = if zeros > 0 { &rest[1 + zeros..] } else { rest };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if fraction.contains(['.', ',']) || digits.len() > 40 {
            return Err(wrong());
        }
        let count = |text: &str, wanted: char| text.chars().filter(|&letter| letter == wanted).count();
        Ok(Shape {
            before: before.into(),
            after: after.into(),
            whole_min: count(whole, '0'),
            fraction_min: count(fraction, '0'),
            fraction_max: fraction.len(),
            grouped: whole.contains(','),
            percent: after.contains('%'),
            power: (zeros > 0).then_some(zeros),
        })
    }

    fn text(&self, value: f64) -> String {
        if !value.is_finite() {
            return value.to_string();
        }
        let mut size = value.abs() * if self.percent { 100.0 } else { 1.0 };
        let mut power = 0;
        if self.power.is_some() && size > 0.0 {
            power = size.log10().floor() as i32;
            size /= 10f64.powi(power);
        }
        let rounded = format!("{size:.width$}", width = self.fraction_max);
        let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
        let whole = if whole == "0" { "" } else { whole };
        let mut digits = format!("{whole:0>width$}", width = self.whole_min);
        let kept = fraction.trim_end_matches('0').len().max(self.fraction_min);
        let fraction = &fraction[..kept];
        if digits.is_empty() && fraction.is_empty() {
            digits.push('0');
        }
        let mut text = self.before.clone();
        if value < 0.0 && rounded.contains(|digit: char| ('1'..='9').contains(&digit)) {
            text.push('-');
        }
        for (place, digit) in digits.chars().enumerate() {
            if self.grouped && place > 0 && (digits.len() - place).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        if !fraction.is_empty() {
            text.push('.');
            text.push_str(fraction);
        }
        if let Some(width) = self.power {
            text.push_str(&format!("E{}{:0width$}", if power < 0 { "-" } else { "" }, power.abs()));
        }
        text + &self.after
    }
}
