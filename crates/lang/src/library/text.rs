//! Functions of texts.

use super::cast::convert;
use super::entry::row;
use super::operator::like_pattern;
use super::settings::{setting, whole};
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Form, Function, Result};
use crate::value::{Args, Host, Value};
use data::arrow::buffer::BooleanBuffer;
use data::{Column, Scalar, Type};
use regex::Regex;
use std::sync::Arc;

/// How long a text may be made by repeating or padding.
const LETTERS_MAX: usize = 65_536;
/// How many bytes the texts of a column may have that a function makes.
const BYTES_MAX: usize = 1 << 30;

pub(super) static FUNCTIONS: &[Function] = &[
    row("lower", "X", "In small letters.", ("lower(\"Ab\")", "ab"), |a| map(a, "lower", str::to_lowercase)),
    row("upper", "X", "In capital letters.", ("upper(\"Ab\")", "AB"), |a| map(a, "upper", str::to_uppercase)),
    row("trim", "X", "Without blanks at both ends.", ("trim(\" a \")", "a"), |a| map(a, "trim", |t| t.trim().into())),
    row("strlen", "X", "How many bytes.", ("strlen(\"abc\")", "3"), |a| {
        need_text(a, "strlen")?;
        let kernel = |columns: &[Column]| {
            let strings = convert(&columns[0], Type::String)?;
            let lengths: Vec<i32> =
                strings.texts().iter().map(|text| text.map_or(0, |text| text.len() as i32)).collect();
            Ok(Column::of_i32(Type::Int, lengths, None))
        };
        Ok(BoundRow { ty: Type::Int, kernel: Box::new(kernel) })
    }),
    row("concat", "X, Y", "Two texts in a row.", ("concat(\"a\", \"b\")", "ab"), |args| {
        let kernel = |columns: &[Column]| {
            let (x, y) = (convert(&columns[0], Type::String)?, convert(&columns[1], Type::String)?);
            let both = x.texts().iter().zip(y.texts());
            texts_of(both.map(|(x, y)| Some([x.unwrap_or(""), y.unwrap_or("")].concat())))
        };
        need_text(args, "concat")?;
        Ok(BoundRow { ty: Type::String, kernel: Box::new(kernel) })
    }),
    row(
        "substr",
        "X, offset, [length]",
        "The letters from an offset on.",
        ("substr(\"abcdef\", 2, 3)", "cde"),
        |args| {
            let from = whole(args, 1, "offset")?.unwrap_or(0).max(0) as usize;
            let count = whole(args, 2, "length")?.map_or(usize::MAX, |count| count.max(0) as usize);
            map(args, "substr", move |text| text.chars().skip(from).take(count).collect())
        },
    ),
    row("startsWith", "X, text", "Does it start so?", ("startsWith(\"abc\", \"ab\")", "true"), |args| {
        let start = text(args, 1, "text")?;
        test(args, "startsWith", move |text| text.starts_with(start.as_ref()))
    }),
    row("endsWith", "X, text", "Does it end so?", ("endsWith(\"abc\", \"bc\")", "true"), |args| {
        let end = text(args, 1, "text")?;
        test(args, "endsWith", move |text| text.ends_with(end.as_ref()))
    }),
    row(
        "strReplace",
        "X, pattern, replacement",
        "With each occurrence of a text replaced by another.",
        ("strReplace(\"a-b-c\", \"-\", \"+\")", "a+b+c"),
        |args| {
            let (pattern, replacement) = (text(args, 1, "pattern")?, text(args, 2, "replacement")?);
            map(args, "strReplace", move |text| match pattern.is_empty() {
                true => text.into(),
                false => text.replace(pattern.as_ref(), &replacement),
            })
        },
    ),
    row("strip", "X", "Without blanks, tabs and line ends at both ends.", ("strip(\" a \\n\")", "a"), |a| {
        map(a, "strip", |text| text.trim().into())
    }),
    row("ltrim", "X", "Without blanks at the start.", ("ltrim(\"  a\")", "a"), |a| {
        map(a, "ltrim", |text| text.trim_start().into())
    }),
    row("rtrim", "X", "Without blanks at the end.", ("rtrim(\"a  \")", "a"), |a| {
        map(a, "rtrim", |text| text.trim_end().into())
    }),
    row("left", "X, n", "The first letters.", ("left(\"abcdef\", 2)", "ab"), |a| {
        let count = count(a, 1, "n")?;
        map(a, "left", move |text| text.chars().take(count).collect())
    }),
    row("right", "X, n", "The last letters.", ("right(\"abcdef\", 2)", "ef"), |a| {
        let count = count(a, 1, "n")?;
        map(a, "right", move |text| {
            let start = text.char_indices().rev().take(count).last().map_or(text.len(), |(place, _)| place);
            text[start..].into()
        })
    }),
    row(
        "lpad",
        "X, length, [pattern]",
        "Made that long at the start by a pattern, blanks unless told, or cut.",
        ("lpad(\"7\", 3, \"0\")", "007"),
        |a| pad(a, "lpad", true),
    ),
    row(
        "rpad",
        "X, length, [pattern]",
        "Made that long at the end by a pattern, blanks unless told, or cut.",
        ("rpad(\"a\", 3, \"-\")", "a--"),
        |a| pad(a, "rpad", false),
    ),
    row("repeat", "X, n", "So many times in a row.", ("repeat(\"ab\", 3)", "ababab"), |a| {
        let count = count(a, 1, "n")?;
        if count > LETTERS_MAX {
            return Err(Diagnostic::new(format!("too many repeats: n=`{count}`, limit=`{LETTERS_MAX}`")));
        }
        map(a, "repeat", move |text| text.repeat(count.min(LETTERS_MAX / text.len().max(1))))
    }),
    row(
        "charAt",
        "X, index",
        "The letter at a place, as CHAR; NULL where there is none.",
        ("charAt(\"abc\", 1)", "98"),
        |a| {
            let place = whole(a, 1, "index")?.and_then(|place| usize::try_from(place).ok());
            number(a, "charAt", Type::Char, move |text| {
                let byte = place.and_then(|place| text.as_bytes().get(place)).filter(|byte| byte.is_ascii())?;
                Some(*byte as i64)
            })
        },
    ),
    row("asc", "X", "The code of the first letter.", ("asc(\"abc\")", "97"), |a| {
        number(a, "asc", Type::Int, |text| Some(text.chars().next()? as i64))
    }),
    row(
        "strpos",
        "X, text",
        "The place in bytes of the first occurrence, or -1.",
        ("strpos(\"abcb\", \"b\")", "1"),
        |a| {
            let wanted = text(a, 1, "text")?;
            number(a, "strpos", Type::Int, move |text| Some(place(text.find(wanted.as_ref()))))
        },
    ),
    row(
        "strFind",
        "X, text, [start=0]",
        "The place in bytes of the first occurrence from one on, or -1.",
        ("strFind(\"abcb\", \"b\", 2)", "3"),
        |a| {
            let (wanted, from) = (text(a, 1, "text")?, start(a, 2)?);
            number(a, "strFind", Type::Int, move |text| {
                Some(place(text.get(from..).and_then(|rest| rest.find(wanted.as_ref())).map(|found| found + from)))
            })
        },
    ),
    row(
        "initcap",
        "X",
        "Each word with a capital letter at its start.",
        ("initcap(\"hello WORLD\")", "Hello World"),
        |a| map(a, "initcap", initcap),
    ),
    row("wc", "X", "How many words.", ("wc(\"one two\")", "2"), |a| {
        number(a, "wc", Type::Int, |text| Some(text.split_whitespace().count() as i64))
    }),
    row("isAlpha", "X", "Are there letters alone?", ("isAlpha(\"abc\")", "true"), |a| {
        test(a, "isAlpha", |text| all(text, char::is_alphabetic))
    }),
    row("isDigit", "X", "Are there digits alone?", ("isDigit(\"12a\")", "false"), |a| {
        test(a, "isDigit", |text| all(text, |letter| letter.is_ascii_digit()))
    }),
    row("isNumeric", "X", "Are there digits alone?", ("isNumeric(\"123\")", "true"), |a| {
        test(a, "isNumeric", |text| all(text, char::is_numeric))
    }),
    row("isAlNum", "X", "Are there letters and digits alone?", ("isAlNum(\"a1\")", "true"), |a| {
        test(a, "isAlNum", |text| all(text, char::is_alphanumeric))
    }),
    row("isSpace", "X", "Are there blanks alone?", ("isSpace(\" \")", "true"), |a| {
        test(a, "isSpace", |text| all(text, char::is_whitespace))
    }),
    row("isUpper", "X", "Are there letters, and no small ones?", ("isUpper(\"AB1\")", "true"), |a| {
        test(a, "isUpper", |text| text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase))
    }),
    row("isLower", "X", "Are there letters, and no capital ones?", ("isLower(\"ab1\")", "true"), |a| {
        test(a, "isLower", |text| text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase))
    }),
    row(
        "isTitle",
        "X",
        "Does each word, and nothing else, begin with a capital letter?",
        ("isTitle(\"Ab Cd\")", "true"),
        |a| test(a, "isTitle", |text| text.chars().any(char::is_alphabetic) && initcap(text) == text),
    ),
    row(
        "ilike",
        "X, pattern",
        "Does a text match a pattern as `like` does, whatever the case of letters?",
        ("ilike(\"Apple\", \"aPP%\")", "true"),
        |a| {
            let pattern: Vec<char> = text(a, 1, "pattern")?.to_lowercase().chars().collect();
            test(a, "ilike", move |text| like_pattern(&pattern, &text.to_lowercase()))
        },
    ),
    row(
        "regexFind",
        "X, pattern, [start=0]",
        "The place in bytes of the first match of a regular expression, or -1.",
        ("regexFind(\"ab12\", \"[0-9]+\")", "2"),
        |a| {
            let (pattern, from) = (regex(a, 1)?, start(a, 2)?);
            number(a, "regexFind", Type::Int, move |text| {
                let found = if text.is_char_boundary(from) { pattern.find_at(text, from) } else { None };
                Some(place(found.map(|found| found.start())))
            })
        },
    ),
    row(
        "regexFindStr",
        "X, pattern",
        "The first match of a regular expression.",
        ("regexFindStr(\"ab12\", \"[0-9]+\")", "12"),
        |a| {
            let pattern = regex(a, 1)?;
            map(a, "regexFindStr", move |text| pattern.find(text).map_or("", |found| found.as_str()).into())
        },
    ),
    row(
        "regexCount",
        "X, pattern",
        "How many matches of a regular expression there are.",
        ("regexCount(\"a1b22\", \"[0-9]+\")", "2"),
        |a| {
            let pattern = regex(a, 1)?;
            number(a, "regexCount", Type::Int, move |text| Some(pattern.find_iter(text).count() as i64))
        },
    ),
    row(
        "regexReplace",
        "X, pattern, replacement",
        "With each match of a regular expression replaced; `$1` stands for what its first group matched.",
        ("regexReplace(\"ab12\", \"[0-9]\", \"x\")", "abxx"),
        |a| {
            let (pattern, replacement) = (regex(a, 1)?, text(a, 2, "replacement")?);
            map(a, "regexReplace", move |text| pattern.replace_all(text, replacement.as_ref()).into_owned())
        },
    ),
    Function {
        name: "split",
        parameters: "X, [delimiter]",
        summary: "The parts of a text between the delimiters, commas unless told; of each text in a vector, as a tuple.",
        example: ("split(\"a,b,c\", \",\")", "[\"a\",\"b\",\"c\"]"),
        form: Form::Script(split),
    },
];

fn split(_: &mut dyn Host, args: &Args) -> Result<Value> {
    let delimiter = match args.values.get(1) {
        Some(Some(value)) => value.as_text().map(str::to_string),
        _ => Some(",".to_string()),
    };
    let delimiter = delimiter.filter(|delimiter| !delimiter.is_empty());
    let delimiter = delimiter.ok_or_else(|| Diagnostic::new("a text is wanted: parameter=`delimiter`"))?;
    let parts = |text: &str| Value::texts(text.split(delimiter.as_str()));
    match args.values.first() {
        Some(Some(Value::Vector(column))) if column.ty().is_text() => {
            let strings = convert(column, Type::String)?;
            Ok(Value::Tuple(strings.texts().iter().map(|text| parts(text.unwrap_or(""))).collect()))
        }
        Some(Some(value)) if value.as_text().is_some() => Ok(parts(value.as_text().unwrap_or(""))),
        _ => Err(Diagnostic::new("a text is wanted: function=`split`, parameter=`X`")),
    }
}

fn place(found: Option<usize>) -> i64 {
    found.map_or(-1, |place| place as i64)
}

fn all(text: &str, fits: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(fits)
}

fn initcap(text: &str) -> String {
    let mut inside = false;
    let mut capital = String::with_capacity(text.len());
    for letter in text.chars() {
        match (letter.is_alphanumeric(), inside) {
            (true, false) => capital.extend(letter.to_uppercase()),
            (true, true) => capital.extend(letter.to_lowercase()),
            (false, _) => capital.push(letter),
        }
        inside = letter.is_alphanumeric();
    }
    capital
}

/// A number of letters or times, not below 0.
fn count(args: &[Argument], place: usize, name: &str) -> Result<usize> {
    let count = whole(args, place, name)?.and_then(|count| usize::try_from(count).ok());
    count.ok_or_else(|| Diagnostic::new(format!("a whole number from 0 on is wanted: parameter=`{name}`")))
}

fn start(args: &[Argument], place: usize) -> Result<usize> {
    if setting(args, place).is_none() { Ok(0) } else { count(args, place, "start") }
}

fn regex(args: &[Argument], place: usize) -> Result<Regex> {
    let pattern = text(args, place, "pattern")?;
    Regex::new(&pattern).map_err(|_| {
        Diagnostic::new(format!("not a regular expression: parameter=`pattern`, found=`{pattern}`"))
            .help("a bracket or a repetition in it is not complete; a `\\` before a mark takes its meaning away")
    })
}

fn pad(args: &[Argument], name: &str, before: bool) -> Result<BoundRow> {
    let (length, pattern) = (count(args, 1, "length")?, text(args, 2, "pattern")?);
    if length > LETTERS_MAX {
        return Err(Diagnostic::new(format!("text is too long: length=`{length}`, limit=`{LETTERS_MAX}`")));
    }
    let pattern: String = if pattern.is_empty() { " ".into() } else { pattern.as_ref().into() };
    map(args, name, move |text| {
        let own: String = text.chars().take(length).collect();
        let missing = length - own.chars().count();
        let padding: String = pattern.chars().cycle().take(missing).collect();
        if before { padding + &own } else { own + &padding }
    })
}

/// A whole number of each text; NULL of NULL.
fn number(
    args: &[Argument],
    name: &str,
    ty: Type,
    f: impl Fn(&str) -> Option<i64> + Send + Sync + 'static,
) -> Result<BoundRow> {
    need_text(args, name)?;
    let kernel = move |columns: &[Column]| {
        let strings = convert(&columns[0], Type::String)?;
        let values = strings.texts().iter().map(|text| text.and_then(&f).map_or(Scalar::Null, Scalar::Int));
        Ok(Column::of_scalars(ty, &values.collect::<Vec<_>>()))
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

fn need_text(args: &[Argument], name: &str) -> Result<()> {
    match args[0].ty {
        ty if ty.is_text() || ty == Type::Void => Ok(()),
        ty => Err(Diagnostic::new(format!("a text is wanted: function=`{name}`, type=`{ty}`"))),
    }
}

fn text(args: &[Argument], place: usize, name: &str) -> Result<Arc<str>> {
    match setting(args, place) {
        Some(Value::Scalar(_, Scalar::Text(text))) => Ok(text.clone()),
        None => Ok("".into()),
        Some(_) => Err(Diagnostic::new(format!("a text is wanted: parameter=`{name}`"))),
    }
}

/// A column of texts, if they are not too long in all.
fn texts_of(texts: impl Iterator<Item = Option<String>>) -> Result<Column> {
    let (mut all, mut bytes) = (vec![], 0);
    for text in texts {
        bytes += text.as_ref().map_or(0, String::len);
        if bytes > BYTES_MAX {
            return Err(Diagnostic::new(format!("texts are too long in all: limit=`{BYTES_MAX}`")));
        }
        all.push(text);
    }
    Ok(Column::of_texts(all.iter().map(Option::as_deref)))
}

/// A text of each text; a SYMBOL gives a STRING.
fn map(args: &[Argument], name: &str, f: impl Fn(&str) -> String + Send + Sync + 'static) -> Result<BoundRow> {
    need_text(args, name)?;
    let kernel = move |columns: &[Column]| {
        let strings = convert(&columns[0], Type::String)?;
        texts_of(strings.texts().iter().map(|text| text.map(&f)))
    };
    Ok(BoundRow { ty: Type::String, kernel: Box::new(kernel) })
}

/// A truth of each text; a NULL is an empty one.
fn test(args: &[Argument], name: &str, f: impl Fn(&str) -> bool + Send + Sync + 'static) -> Result<BoundRow> {
    need_text(args, name)?;
    let kernel = move |columns: &[Column]| {
        let strings = convert(&columns[0], Type::String)?;
        let texts = strings.texts();
        let of = |row: usize| f(if strings.is_null(row) { "" } else { texts.value(row) });
        Ok(Column::of_bools(BooleanBuffer::collect_bool(strings.len(), of), None))
    };
    Ok(BoundRow { ty: Type::Bool, kernel: Box::new(kernel) })
}
