//! Trees and values as text that parses back to the same tree, or evaluates to the same value.
//!
//! Graphs are stored and metrics are shown in this form, so one tree always gives one text.

use crate::lexer::null_suffix;
use crate::matrix::Matrix;
use crate::parser::{level, level_of};
use crate::tree::{Arg, Binary, Expr, ExprKind, FunctionDef, MetaItem, Select, Unary};
use crate::value::{Callee, Code, Dict, UserFunction, Value};
use data::{Batch, Column, Scalar, Type, format_bytes16, format_decimal, format_script, pair_of};
use std::fmt::{self, Display, Formatter, Write};
use std::sync::Arc;

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write_expr(f, self, level::LOWEST)
    }
}

impl Display for FunctionDef {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Display for Code {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str("<")?;
        write_item(f, &self.expr, &self.names)?;
        f.write_str(">")
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Value::Scalar(ty, scalar) => write_scalar(f, *ty, scalar),
            Value::Duration(count, unit) => write!(f, "{count}{unit}"),
            Value::Vector(column) => write_vector(f, column),
            Value::Tuple(values) => write_tuple(f, values),
            Value::Matrix(matrix) => write_matrix(f, matrix),
            Value::Pair(a, b) => write!(f, "{a} : {b}"),
            Value::Dict(dict) => write_dict(f, &dict.lock()),
            Value::Table(table) => write_table(f, &table.batch()),
            Value::Type(ty) => write!(f, "{ty}"),
            Value::Builtin(name) => f.write_str(name),
            Value::Function(function) => write_function(f, function),
            Value::Code(code) => write!(f, "{code}"),
            Value::Object(object) => f.write_str(object.class()),
        }
    }
}

/// Writes an expression, in brackets if it binds less tightly than its place asks.
fn write_expr(f: &mut Formatter, expr: &Expr, least: u8) -> fmt::Result {
    let own = level_of_expr(expr);
    if own < least {
        f.write_str("(")?;
        write_kind(f, expr)?;
        return f.write_str(")");
    }
    write_kind(f, expr)
}

fn level_of_expr(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Lambda(_) | ExprKind::Select(_) => level::LOWEST,
        // The `>` at its end would compare with an operand behind it.
        ExprKind::Metacode { .. } | ExprKind::Conditional(..) => level::CONDITIONAL,
        ExprKind::Binary(operator, ..) => level_of(*operator),
        ExprKind::Pair(..) | ExprKind::Range(..) => level::PAIR,
        ExprKind::Unary(..) => level::UNARY,
        ExprKind::Literal(Value::Scalar(ty, _)) if ty.is_text() => level::POSTFIX,
        // Decimals and what else has no literal are written as casts.
        ExprKind::Literal(Value::Scalar(ty, scalar)) if scalar_is_cast(*ty, scalar) => level::CAST,
        ExprKind::Literal(_) => level::UNARY,
        _ => level::POSTFIX,
    }
}

fn write_kind(f: &mut Formatter, expr: &Expr) -> fmt::Result {
    match &expr.kind {
        ExprKind::Literal(Value::Vector(column)) => write_literal_vector(f, column),
        ExprKind::Literal(value) => write!(f, "{value}"),
        ExprKind::Name(name) => f.write_str(name),
        ExprKind::Member(object, name) => {
            write_expr(f, object, level::POSTFIX)?;
            write!(f, ".{name}")
        }
        ExprKind::Call(callee, args) => {
            // `a.b(x)` would be a method.
            let least = if matches!(callee.kind, ExprKind::Member(..)) { u8::MAX } else { level::POSTFIX };
            write_expr(f, callee, least)?;
            write_args(f, "(", args, ")")
        }
        ExprKind::Method(object, name, args) => {
            write_expr(f, object, level::POSTFIX)?;
            write!(f, ".{name}")?;
            write_args(f, "(", args, ")")
        }
        ExprKind::Partial(callee, args) => {
            write_expr(f, callee, level::POSTFIX)?;
            write_args(f, "{", args, "}")
        }
        ExprKind::Index(object, indexes) => {
            write_expr(f, object, level::POSTFIX)?;
            write_list(f, "[", indexes, "]")
        }
        ExprKind::Unary(operator, operand) => {
            f.write_str(if *operator == Unary::Not { "!" } else { "-" })?;
            // `-5` is a literal.
            let least = if matches!(operand.kind, ExprKind::Literal(_)) { u8::MAX } else { level::UNARY };
            write_expr(f, operand, least)
        }
        ExprKind::Binary(operator, left, right) => {
            let own = level_of(*operator);
            let (left_least, right_least) = match *operator {
                Binary::Power => (own + 1, own),
                // `(a < b) < c` is not `a < b < c`.
                _ if own == level::COMPARE => (own + 1, own + 1),
                _ => (own, own + 1),
            };
            write_expr(f, left, left_least)?;
            write!(f, " {} ", operator.symbol())?;
            write_expr(f, right, right_least)
        }
        ExprKind::Conditional(condition, yes, no) => {
            write_expr(f, condition, level::OR)?;
            f.write_str(" ? ")?;
            // A pair's `:` would end it.
            write_expr(f, yes, level::UNARY)?;
            f.write_str(" : ")?;
            write_expr(f, no, level::CONDITIONAL)
        }
        ExprKind::Vector(items) => write_list(f, "[", items, "]"),
        ExprKind::Tuple(items) => match &items[..] {
            [Some(only)] => {
                f.write_str("(")?;
                write_expr(f, only, level::CONDITIONAL)?;
                f.write_str(",)")
            }
            [Some(first), None] => {
                f.write_str("(")?;
                write_expr(f, first, level::CONDITIONAL)?;
                f.write_str(", NULL)")
            }
            items => write_list(f, "(", items, ")"),
        },
        ExprKind::Dict(entries) => {
            f.write_str("{")?;
            for (index, (key, value)) in entries.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_expr(f, key, level::UNARY)?;
                f.write_str(": ")?;
                write_expr(f, value, level::CONDITIONAL)?;
            }
            f.write_str("}")
        }
        ExprKind::Pair(a, b) => {
            write_expr(f, a, level::UNARY)?;
            // `9:30m` is a time of day, `9 : 30m` a pair.
            let plain = !matches!(&b.kind, ExprKind::Literal(value) if !matches!(value, Value::Scalar(Type::Int, _)));
            f.write_str(if plain { ":" } else { " : " })?;
            write_expr(f, b, level::UNARY)
        }
        ExprKind::Range(a, b) => {
            write_expr(f, a, level::UNARY)?;
            f.write_str("..")?;
            write_expr(f, b, level::UNARY)
        }
        ExprKind::Lambda(def) => write!(f, "{def}"),
        ExprKind::Metacode { list, items } => {
            f.write_str(if *list { "<[" } else { "<" })?;
            write_items(f, items)?;
            f.write_str(if *list { "]>" } else { ">" })
        }
        ExprKind::Select(select) => write_select(f, select),
    }
}

impl Binary {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        use Binary as B;
        match self {
            B::Add => "+",
            B::Subtract => "-",
            B::Multiply => "*",
            B::Divide => "/",
            B::Ratio => "\\",
            B::Modulo => "%",
            B::Power => "**",
            B::Equal => "==",
            B::NotEqual => "!=",
            B::Less => "<",
            B::LessEqual => "<=",
            B::Greater => ">",
            B::GreaterEqual => ">=",
            B::And => "&&",
            B::Or => "||",
            B::Xor => "xor",
            B::In => "in",
            B::Between => "between",
            B::Like => "like",
            B::BitAnd => "&",
            B::BitOr => "|",
            B::BitXor => "^",
            B::ShiftLeft => "<<",
            B::ShiftRight => ">>",
            B::Join => "<-",
            B::Cast => "$",
        }
    }
}

fn write_list(f: &mut Formatter, open: &str, items: &[Option<Expr>], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        if let Some(item) = item {
            write_expr(f, item, if items.len() == 1 { level::LOWEST } else { level::CONDITIONAL })?;
        }
    }
    f.write_str(close)
}

fn write_args(f: &mut Formatter, open: &str, args: &[Arg], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (index, arg) in args.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        let Some(value) = &arg.value else { continue };
        let least = if args.len() == 1 { level::LOWEST } else { level::CONDITIONAL };
        match &arg.name {
            Some(name) if is_identifier(name) => {
                write!(f, "{name}=")?;
                write_expr(f, value, least)?;
            }
            Some(name) => {
                write_expr(f, value, level::OR)?;
                write_alias(f, std::slice::from_ref(name))?;
            }
            None => write_expr(f, value, least)?,
        }
    }
    f.write_str(close)
}

fn write_items(f: &mut Formatter, items: &[MetaItem]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        write_item(f, &item.expr, &item.names)?;
    }
    Ok(())
}

fn write_item(f: &mut Formatter, expr: &Expr, names: &[Arc<str>]) -> fmt::Result {
    write_expr(f, expr, level::CONDITIONAL)?;
    write_alias(f, names)
}

fn write_alias(f: &mut Formatter, names: &[Arc<str>]) -> fmt::Result {
    match names {
        [] => Ok(()),
        [name] if is_identifier(name) => write!(f, " as {name}"),
        names => {
            f.write_str(" as ")?;
            write_words(f, names)
        }
    }
}

/// Texts in a row: with backticks where all are words, else as strings.
fn write_words(f: &mut Formatter, words: &[Arc<str>]) -> fmt::Result {
    if words.iter().all(|word| word.chars().all(|c| c.is_alphanumeric() || c == '_')) {
        return words.iter().try_for_each(|word| write!(f, "`{word}"));
    }
    for (index, word) in words.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { " " })?;
        write_string(f, word)?;
    }
    Ok(())
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !matches!(name, "true" | "false" | "NULL")
}

fn write_string(f: &mut Formatter, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(f, "\\{letter}")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            letter => f.write_char(letter)?,
        }
    }
    f.write_char('"')
}

/// A call that makes the matrix, within one that labels it.
fn write_matrix(f: &mut Formatter, matrix: &Matrix) -> fmt::Result {
    let labels = [matrix.row_labels(), matrix.column_labels()];
    let labelled = labels.iter().any(Option::is_some);
    f.write_str(if labelled { "rename!(matrix(" } else { "matrix(" })?;
    if matrix.columns().is_empty() {
        write!(f, "{}, {}, 0", matrix.ty(), matrix.rows())?;
    }
    for (place, column) in matrix.columns().iter().enumerate() {
        f.write_str(if place == 0 { "" } else { ", " })?;
        write_vector(f, column)?;
    }
    f.write_str(")")?;
    if labelled {
        for labels in labels {
            f.write_str(", ")?;
            match labels {
                Some(labels) => write_vector(f, labels)?,
                None => f.write_str("NULL")?,
            }
        }
        f.write_str(")")?;
    }
    Ok(())
}

fn scalar_is_cast(ty: Type, scalar: &Scalar) -> bool {
    ty.is_decimal() || scalar.is_null() && null_suffix(ty).is_none() && ty != Type::Void
}

fn write_scalar(f: &mut Formatter, ty: Type, scalar: &Scalar) -> fmt::Result {
    match scalar {
        Scalar::Null if ty == Type::Void => f.write_str("NULL"),
        Scalar::Null if ty.is_text() => f.write_str("\"\""),
        Scalar::Null => match null_suffix(ty) {
            Some(suffix) => write!(f, "00{suffix}"),
            None => write!(f, "NULL${ty}"),
        },
        Scalar::Bool(value) => write!(f, "{value}"),
        Scalar::Int(value) if ty.is_temporal() => f.write_str(&format_script(ty, *value)),
        Scalar::Int(value) => {
            let suffix = match ty {
                Type::Char => "c",
                Type::Short => "h",
                Type::Long => "l",
                _ => "",
            };
            write!(f, "{value}{suffix}")
        }
        Scalar::Float(value) if !value.is_finite() => f.write_str("00F"),
        Scalar::Float(value) if ty == Type::Float => write!(f, "{}f", *value as f32),
        Scalar::Float(value) => write!(f, "{value:?}"),
        Scalar::Decimal(digits) => write!(f, "\"{}\"${ty}", format_decimal(ty, *digits)),
        Scalar::Text(text) => write_string(f, text),
        Scalar::Bytes(bytes) => {
            f.write_str("blob(")?;
            write_string(f, &String::from_utf8_lossy(bytes))?;
            f.write_str(")")
        }
        Scalar::Bytes16(bytes) if matches!(ty, Type::Complex | Type::Point) => {
            let (first, second) = pair_of(bytes);
            write!(f, "{}({first:?}, {second:?})", ty.to_string().to_lowercase())
        }
        Scalar::Bytes16(bytes) => write!(f, "{}(\"{}\")", ty.to_string().to_lowercase(), format_bytes16(ty, bytes)),
        Scalar::List(column) => write_vector(f, column),
    }
}

/// A vector as a literal where it can be one.
fn write_literal_vector(f: &mut Formatter, column: &Column) -> fmt::Result {
    let ty = column.ty();
    if column.len() < 2 || !(ty == Type::String || null_suffix(ty).is_some()) {
        return write_vector(f, column);
    }
    if ty == Type::String {
        let texts: Vec<Arc<str>> = column.texts().iter().map(|text| text.unwrap_or("").into()).collect();
        return write_words(f, &texts);
    }
    for row in 0..column.len() {
        f.write_str(if row == 0 { "" } else { " " })?;
        write_scalar(f, ty, &column.get(row))?;
    }
    Ok(())
}

fn write_vector(f: &mut Formatter, column: &Column) -> fmt::Result {
    let ty = column.ty();
    // What no literal has the type of is cast.
    let cast = match ty {
        Type::Symbol => Some("symbol"),
        Type::Array(_) | Type::Void => None,
        _ if column.is_empty() => {
            return write!(f, "array({ty}, 0)");
        }
        _ => None,
    };
    if let Some(cast) = cast {
        write!(f, "{cast}(")?;
    }
    if matches!(ty, Type::Array(_)) {
        write!(f, "array({ty}, 0).append!(")?;
    }
    f.write_str("[")?;
    for row in 0..column.len() {
        f.write_str(if row == 0 { "" } else { ", " })?;
        write_scalar(f, ty, &column.get(row))?;
    }
    f.write_str("]")?;
    if cast.is_some() || matches!(ty, Type::Array(_)) {
        f.write_str(")")?;
    }
    Ok(())
}

fn write_tuple(f: &mut Formatter, values: &[Value]) -> fmt::Result {
    f.write_str("(")?;
    for (index, value) in values.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        write!(f, "{value}")?;
    }
    f.write_str(if values.len() == 1 { ",)" } else { ")" })
}

fn write_dict(f: &mut Formatter, dict: &Dict) -> fmt::Result {
    let ty = dict.keys.unwrap_or(Type::String);
    if dict.set {
        f.write_str("set(")?;
        write_vector(f, &dict.key_column())?;
        return f.write_str(")");
    }
    if ty.is_text() {
        f.write_str("{")?;
        for (index, (key, value)) in dict.entries.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            write_scalar(f, ty, key)?;
            write!(f, ": {value}")?;
        }
        return f.write_str("}");
    }
    let keys = Column::of_scalars(ty, dict.entries.iter().map(|(key, _)| key));
    f.write_str("dict(")?;
    write_vector(f, &keys)?;
    f.write_str(", ")?;
    write_tuple(f, &dict.entries.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>())?;
    f.write_str(")")
}

fn write_table(f: &mut Formatter, rows: &Batch) -> fmt::Result {
    f.write_str("table(")?;
    for (index, (field, column)) in rows.schema().fields().iter().zip(rows.columns()).enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        write_vector(f, column)?;
        write_alias(f, std::slice::from_ref(&field.name))?;
    }
    f.write_str(")")
}

fn write_function(f: &mut Formatter, function: &UserFunction) -> fmt::Result {
    match &function.callee {
        Callee::Builtin(name) => f.write_str(name)?,
        Callee::Defined(def) if function.given.is_empty() => return write!(f, "{def}"),
        Callee::Defined(def) => write!(f, "({def})")?,
    }
    if function.given.is_empty() {
        return Ok(());
    }
    f.write_str("{")?;
    for (index, value) in function.given.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        if let Some(value) = value {
            write!(f, "{value}")?;
        }
    }
    // One empty place must be seen.
    if let [None] = &function.given[..] {
        f.write_str(",")?;
    }
    f.write_str("}")
}

fn write_select(f: &mut Formatter, select: &Select) -> fmt::Result {
    f.write_str(if select.exec { "exec " } else { "select " })?;
    if select.items.is_empty() {
        f.write_str("*")?;
    }
    write_items(f, &select.items)?;
    f.write_str(" from ")?;
    write_expr(f, &select.from, level::POSTFIX)?;
    for (index, condition) in select.filter.iter().enumerate() {
        f.write_str(if index == 0 { " where " } else { ", " })?;
        write_expr(f, condition, level::CONDITIONAL)?;
    }
    for (word, items) in
        [(" group by ", &select.group), (" context by ", &select.context), (" pivot by ", &select.pivot)]
    {
        if !items.is_empty() {
            f.write_str(word)?;
            write_items(f, items)?;
        }
    }
    if let Some(having) = &select.having {
        f.write_str(" having ")?;
        write_expr(f, having, level::CONDITIONAL)?;
    }
    for (word, keys) in [(" csort ", &select.csort), (" order by ", &select.order)] {
        for (index, key) in keys.iter().enumerate() {
            f.write_str(if index == 0 { word } else { ", " })?;
            write_expr(f, &key.expr, level::CONDITIONAL)?;
            f.write_str(if key.descending { " desc" } else { "" })?;
            f.write_str(key.nulls_first.map_or("", |first| if first { " nulls first" } else { " nulls last" }))?;
        }
    }
    if let Some(limit) = &select.limit {
        f.write_str(" limit ")?;
        write_expr(f, limit, level::CONDITIONAL)?;
    }
    Ok(())
}

/// The name of the column that an expression without `as` makes: `sum(volume)` → `sum_volume`, `price * volume` →
/// `price_mul`, `abs(price - bid)` → `abs`; a bare column keeps its name.
pub fn column_name(expr: &Expr) -> String {
    let bare = |expr: &Expr| match &expr.kind {
        ExprKind::Name(name) | ExprKind::Member(_, name) => Some(name.to_string()),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Name(name) | ExprKind::Member(_, name) => name.trim_start_matches("::").to_string(),
        ExprKind::Call(callee, args) | ExprKind::Partial(callee, args) => {
            let function = column_name(callee);
            match args.first().and_then(|arg| bare(arg.value.as_ref()?)).filter(|name| name != "*") {
                Some(column) => format!("{function}_{column}"),
                None => function,
            }
        }
        ExprKind::Method(object, name, _) => match bare(object) {
            Some(column) => format!("{name}_{column}"),
            None => name.to_string(),
        },
        ExprKind::Binary(operator, left, _) => match &left.kind {
            ExprKind::Literal(_) => operator.function().to_string(),
            _ => format!("{}_{}", column_name(left), operator.function()),
        },
        ExprKind::Unary(operator, operand) => {
            let word = if *operator == Unary::Negate { "neg" } else { "not" };
            bare(operand).map_or(word.to_string(), |column| format!("{word}_{column}"))
        }
        ExprKind::Index(object, _) => format!("{}_at", column_name(object)),
        ExprKind::Conditional(..) => "iif".to_string(),
        ExprKind::Literal(Value::Scalar(ty, scalar)) if ty.is_text() => scalar.as_text().unwrap_or("").to_string(),
        _ => expr.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::column_name;
    use crate::diagnostic::Source;
    use crate::parser::parse_expr;

    #[test]
    fn columns_without_a_name_are_named_after_their_function() {
        for (text, wanted) in [
            ("price", "price"),
            ("quotes.price", "price"),
            ("sum(volume)", "sum_volume"),
            ("first(first_price)", "first_first_price"),
            ("mavg(sum_volume, 5)", "mavg_sum_volume"),
            ("price * volume", "price_mul"),
            ("val * 10", "val_mul"),
            ("abs(price - (bid + ask) / 2)", "abs"),
            ("toArray(val)", "toArray_val"),
            ("price.sum()", "sum_price"),
        ] {
            let expr = parse_expr(&Source::new("test", text)).expect("an expression");
            assert_eq!(column_name(&expr), wanted);
        }
    }
}
