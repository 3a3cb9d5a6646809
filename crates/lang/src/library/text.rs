//! Functions of texts.

use super::cast::convert;
use super::settings::{setting, whole};
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Form, Function, Result};
use crate::value::Value;
use data::arrow::buffer::BooleanBuffer;
use data::{Column, Scalar, Type};
use std::sync::Arc;

const fn row(
    name: &'static str,
    parameters: &'static str,
    summary: &'static str,
    example: (&'static str, &'static str),
    bind: fn(&[Argument]) -> Result<BoundRow>,
) -> Function {
    Function { name, parameters, summary, example, form: Form::Row(bind) }
}

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
            let joined: Vec<String> = both.map(|(x, y)| [x.unwrap_or(""), y.unwrap_or("")].concat()).collect();
            Ok(Column::of_texts(joined.iter().map(|text| Some(text.as_str()))))
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
            map(args, "strReplace", move |text| text.replace(pattern.as_ref(), &replacement))
        },
    ),
];

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

/// A text of each text; a SYMBOL gives a STRING.
fn map(args: &[Argument], name: &str, f: impl Fn(&str) -> String + Send + Sync + 'static) -> Result<BoundRow> {
    need_text(args, name)?;
    let kernel = move |columns: &[Column]| {
        let strings = convert(&columns[0], Type::String)?;
        let texts: Vec<Option<String>> = strings.texts().iter().map(|text| text.map(&f)).collect();
        Ok(Column::of_texts(texts.iter().map(Option::as_deref)))
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
