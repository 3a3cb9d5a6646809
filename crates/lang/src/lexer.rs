//! Text to tokens.
//!
//! Invariants:
//! - The last token is the only `End`, and spans rise from token to token.
//! - Every bracket that has a partner knows its index, so the parser can jump over what it does not understand.
//! - Whatever is no token is reported and left out; the lexer never stops early.

use crate::diagnostic::{Diagnostic, Span};
use crate::value::Value;
use data::{Scalar, Type, parse_temporal};
use std::sync::Arc;

/// What a token is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A scalar or a duration.
    Literal(Value),
    /// A name or a word of the language.
    Name(Arc<str>),
    /// An operator or a bracket.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// A token and what stands around it.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Does it begin a line?
    pub(crate) newline: bool,
    /// Does a blank, a newline or a remark stand before it?
    pub(crate) blank: bool,
    /// Of a bracket, the index of the token that closes or opens it.
    pub(crate) partner: Option<u32>,
}

/// All marks, the longer before their own beginnings.
const MARKS: &[&str] = &[
    "->", "<-", "<=", "<>", "<<", ">=", ">>", "==", "!=", "&&", "||", "**", "+=", "-=", "*=", "/=", "\\=", "::", "..",
    "+", "-", "*", "/", "\\", "%", "<", ">", "=", "!", "&", "|", "^", "$", "?", ":", ",", ";", ".", "(", ")", "[", "]",
    "{", "}", "@",
];

/// Words after which an operand begins, so that a `-` or `<` behind them is no operator between operands.
const OPENING_WORDS: &[&str] = &[
    "return", "throw", "assert", "else", "do", "in", "and", "or", "xor", "not", "between", "like", "select", "exec",
    "where", "having", "by", "set", "from", "limit", "top", "csort", "values", "go",
];

/// The tokens of a text, and what in it is none.
pub(crate) fn lex(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, tokens: vec![], errors: vec![] };
    lexer.run();
    pair_brackets(&mut lexer.tokens);
    (lexer.tokens, lexer.errors)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    errors: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        loop {
            let before = self.at;
            let newline = self.skip_blanks() || self.tokens.is_empty();
            let blank = newline || self.at > before;
            let start = self.at;
            let Some(letter) = self.rest().chars().next() else {
                self.push(Kind::End, start, newline, blank);
                return;
            };
            let kind = match letter {
                '"' | '\'' => Some(self.quoted(letter)),
                '`' => Some(self.backtick()),
                '0'..='9' => Some(self.number(false)),
                '.' if self.digit_at(1) && !self.after_operand(blank) => Some(self.number(false)),
                '-' if self.sign_of_a_literal(blank) => Some(self.number(true)),
                letter if letter.is_alphabetic() || letter == '_' => Some(self.name()),
                letter => self.mark(letter, blank),
            };
            if let Some(kind) = kind {
                self.push(kind, start, newline, blank);
            }
        }
    }

    fn push(&mut self, kind: Kind, start: usize, newline: bool, blank: bool) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span, newline, blank, partner: None });
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn digit_at(&self, ahead: usize) -> bool {
        self.byte(ahead).is_ascii_digit()
    }

    fn fail(&mut self, start: usize, message: impl Into<String>) {
        let span = self.span(start);
        self.errors.push(Diagnostic::at(span, message));
    }

    /// Skips blanks and remarks; true if a line ended.
    fn skip_blanks(&mut self) -> bool {
        let mut newline = false;
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => {
                        newline |= rest[..end].contains('\n');
                        self.at += end + 2;
                    }
                    None => {
                        let start = self.at;
                        self.at += 2;
                        self.fail(start, "remark is not closed: expected `*/`");
                        self.at = self.text.len();
                    }
                }
            } else {
                match rest.chars().next() {
                    Some(blank) if blank.is_whitespace() || blank == '\u{feff}' => {
                        newline |= blank == '\n';
                        self.at += blank.len_utf8();
                    }
                    _ => return newline,
                }
            }
        }
    }

    /// Does the token before end an operand, so that what follows is an operator?
    fn after_operand(&self, blank: bool) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            Some(Kind::Literal(_)) => true,
            Some(Kind::Name(name)) => !(blank && OPENING_WORDS.contains(&&**name)),
            Some(Kind::Mark(mark)) => matches!(*mark, ")" | "]" | "}"),
            Some(Kind::End) | None => false,
        }
    }

    /// Is the `-` here the sign of a number? Yes where an operand begins, and in `-2 -3 4`, a vector.
    fn sign_of_a_literal(&self, blank: bool) -> bool {
        let number = self.digit_at(1) || self.byte(1) == b'.' && self.digit_at(2);
        let follows_a_number = matches!(
            self.tokens.last().map(|token| &token.kind),
            Some(Kind::Literal(Value::Scalar(ty, _))) if ty.is_number()
        );
        number && (!self.after_operand(blank) || blank && follows_a_number)
    }

    fn name(&mut self) -> Kind {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let after = rest.as_bytes();
        // `append!` changes its argument; `a!=b` compares.
        let bang = after.get(end) == Some(&b'!') && after.get(end + 1) != Some(&b'=');
        let name = &rest[..end + bang as usize];
        let kind = match name {
            "true" => Kind::Literal(Value::Scalar(Type::Bool, Scalar::Bool(true))),
            "false" => Kind::Literal(Value::Scalar(Type::Bool, Scalar::Bool(false))),
            "NULL" => Kind::Literal(Value::NULL),
            name => Kind::Name(name.into()),
        };
        self.at += name.len();
        kind
    }

    fn backtick(&mut self) -> Kind {
        self.at += 1;
        let rest = self.rest();
        let mut end = 0;
        for (place, letter) in rest.char_indices() {
            // A dot belongs to the word when more of it follows: `600300.SH.
            let inner_dot = letter == '.' && rest[place + 1..].starts_with(|c: char| c.is_alphanumeric());
            if !(letter.is_alphanumeric() || letter == '_' || inner_dot && place > 0) {
                break;
            }
            end = place + letter.len_utf8();
        }
        let word = Value::text(&rest[..end]);
        self.at += end;
        Kind::Literal(word)
    }

    fn quoted(&mut self, quote: char) -> Kind {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(letter) = self.rest().chars().next() else {
                self.fail(start, format!("string is not closed: expected=`{quote}`"));
                break;
            };
            self.at += letter.len_utf8();
            if letter == quote {
                break;
            }
            if letter != '\\' {
                text.push(letter);
                continue;
            }
            let escaped = self.rest().chars().next();
            self.at += escaped.map_or(0, char::len_utf8);
            match escaped {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some(same @ ('\\' | '"' | '\'')) => text.push(same),
                // Not an escape: a path or a pattern keeps its backslash.
                Some(other) => text.extend(['\\', other]),
                None => text.push('\\'),
            }
        }
        match text.as_bytes() {
            // One letter in single quotes is a CHAR.
            [byte] if quote == '\'' && byte.is_ascii() => {
                Kind::Literal(Value::Scalar(Type::Char, Scalar::Int(*byte as i64)))
            }
            _ => Kind::Literal(Value::text(&text)),
        }
    }

    fn mark(&mut self, letter: char, blank: bool) -> Option<Kind> {
        // Where an operand begins, `<` opens metacode and is never half of `<-` or `<<`.
        let opens_code = letter == '<' && !self.after_operand(blank);
        let fits = |mark: &&&str| self.rest().starts_with(**mark) && !(opens_code && mark.len() > 1);
        if let Some(mark) = MARKS.iter().find(fits) {
            self.at += mark.len();
            return Some(Kind::Mark(mark));
        }
        let start = self.at;
        self.at += letter.len_utf8();
        let span = self.span(start);
        let error = Diagnostic::at(span, format!("unexpected character: found=`{}`", letter.escape_debug()));
        self.errors.push(match plain_form(letter) {
            Some(plain) => error.help(format!("did you mean `{plain}`?")),
            None => error,
        });
        None
    }

    /// A number, a time, or a length of time. A NULL stands for what cannot be read.
    fn number(&mut self, negative: bool) -> Kind {
        let start = self.at;
        self.at += negative as usize;
        if !negative && let Some((ty, len)) = temporal_shape(self.rest().as_bytes()) {
            self.at += len;
            let text = &self.text[start..self.at];
            return match parse_temporal(ty, text) {
                Ok(value) => Kind::Literal(Value::Scalar(ty, Scalar::Int(value))),
                Err(error) => {
                    self.fail(start, error.to_string());
                    Kind::Literal(Value::NULL)
                }
            };
        }
        let body = self.at;
        self.digits();
        let mut real = false;
        if self.byte(0) == b'.' && self.digit_at(1) {
            real = true;
            self.at += 1;
            self.digits();
        } else if self.byte(0) == b'.' && self.byte(1) != b'.' && !is_word(self.byte(1)) {
            real = true;
            self.at += 1;
        }
        if matches!(self.byte(0), b'e' | b'E')
            && (self.digit_at(1) || matches!(self.byte(1), b'+' | b'-') && self.digit_at(2))
        {
            real = true;
            self.at += 2;
            self.digits();
        }
        let digits: String = self.text[body..self.at].chars().filter(|&c| c != '_').collect();
        let suffix_start = self.at;
        while is_word(self.byte(0)) {
            self.at += 1;
        }
        match number_value(negative, &digits, real, &self.text[suffix_start..self.at]) {
            Ok(value) => Kind::Literal(value),
            Err(message) => {
                let found = &self.text[start..self.at];
                let error = Diagnostic::at(self.span(start), format!("{message}: found=`{found}`"));
                self.errors.push(match message {
                    UNKNOWN_LETTERS => {
                        error.help("a length of time ends with y M w d B H m s ms us ns, a number with b c h i l f F")
                    }
                    _ => error,
                });
                Kind::Literal(Value::NULL)
            }
        }
    }

    fn digits(&mut self) {
        while self.digit_at(0) || self.byte(0) == b'_' && self.digit_at(1) {
            self.at += 1;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The plain mark that a typographic one stands for.
fn plain_form(letter: char) -> Option<char> {
    Some(match letter {
        '，' | '、' => ',',
        '（' => '(',
        '）' => ')',
        '；' => ';',
        '：' => ':',
        '“' | '”' | '‘' | '’' => '"',
        '【' => '[',
        '】' => ']',
        '《' => '<',
        '》' => '>',
        _ => return None,
    })
}

/// The type and length of the date or time that the text begins with.
fn temporal_shape(text: &[u8]) -> Option<(Type, usize)> {
    let fits = |at: usize, shape: &str| {
        text.len() >= at + shape.len()
            && shape.bytes().zip(&text[at..]).all(
                |(want, &have)| {
                    if want == b'd' { have.is_ascii_digit() } else { have == want }
                },
            )
    };
    let ends = |at: usize| !text.get(at).is_some_and(|&byte| is_word(byte));
    // The clock at a place: its length and the digits of its fraction.
    let clock = |at: usize| {
        let hours = if fits(at, "dd:dd:dd") {
            2
        } else if fits(at, "d:dd:dd") {
            1
        } else {
            return None;
        };
        let whole = hours + 6;
        let fraction = match text.get(at + whole) {
            Some(b'.') => text[at + whole + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
            _ => 0,
        };
        Some((whole + if fraction > 0 { fraction + 1 } else { 0 }, fraction))
    };
    if fits(0, "dddd.dd.dd") && !text.get(10).is_some_and(u8::is_ascii_digit) {
        if matches!(text.get(10), Some(b'T' | b' ')) {
            if let Some((len, fraction)) = clock(11) {
                let ty = match fraction {
                    0 => Type::Datetime,
                    1..=3 => Type::Timestamp,
                    _ => Type::Nanotimestamp,
                };
                return ends(11 + len).then_some((ty, 11 + len));
            }
            if text[10] == b'T' && fits(11, "dd:dd") && ends(16) {
                return Some((Type::Datetime, 16));
            }
            if text[10] == b'T' && fits(11, "dd") && ends(13) {
                return Some((Type::Datehour, 13));
            }
        }
        return ends(10).then_some((Type::Date, 10));
    }
    if fits(0, "dddd.ddM") && ends(8) {
        return Some((Type::Month, 8));
    }
    if let Some((len, fraction)) = clock(0) {
        let ty = match fraction {
            0 => Type::Second,
            1..=3 => Type::Time,
            _ => Type::Nanotime,
        };
        return ends(len).then_some((ty, len));
    }
    let minute = if fits(0, "dd:ddm") { 6 } else { 5 };
    (fits(0, "dd:ddm") || fits(0, "d:ddm")).then_some((Type::Minute, minute)).filter(|_| ends(minute))
}

const UNKNOWN_LETTERS: &str = "unknown letters behind a number";

/// The value of a number's digits and the letters behind them.
fn number_value(negative: bool, digits: &str, real: bool, suffix: &str) -> Result<Value, &'static str> {
    let sign = if negative { -1 } else { 1 };
    if digits == "00"
        && !negative
        && let Some(ty) = null_type(suffix)
    {
        return Ok(Value::Scalar(ty, Scalar::Null));
    }
    if matches!(suffix, "f" | "F") || real && suffix.is_empty() {
        let value = digits.parse::<f64>().map_err(|_| "not a number")? * sign as f64;
        let (ty, value) = if suffix == "f" { (Type::Float, value as f32 as f64) } else { (Type::Double, value) };
        // A number too great for its type is NULL, as an overflow in arithmetic is.
        return Ok(Value::Scalar(ty, if value.is_finite() { Scalar::Float(value) } else { Scalar::Null }));
    }
    if real {
        return Err(UNKNOWN_LETTERS);
    }
    let value = digits.parse::<i128>().map_err(|_| "integer is out of range")? * sign;
    let integer = |ty: Type, max: i128| match value {
        // The least value of each integer type is its NULL.
        value if value == -max - 1 => Ok(Value::Scalar(ty, Scalar::Null)),
        value if value.abs() <= max => Ok(Value::Scalar(ty, Scalar::Int(value as i64))),
        _ => Err("integer is out of range"),
    };
    match suffix {
        "" if value.abs() <= i32::MAX as i128 + 1 && value != i32::MAX as i128 + 1 => {
            integer(Type::Int, i32::MAX as i128)
        }
        "i" => integer(Type::Int, i32::MAX as i128),
        "" | "l" | "L" => integer(Type::Long, i64::MAX as i128),
        "h" => integer(Type::Short, i16::MAX as i128),
        "c" => integer(Type::Char, i8::MAX as i128),
        "b" if value == 0 || value == 1 => Ok(Value::Scalar(Type::Bool, Scalar::Bool(value == 1))),
        "y" | "M" | "w" | "d" | "B" | "H" | "m" | "s" | "ms" | "us" | "ns" => {
            let count = i64::try_from(value).map_err(|_| "integer is out of range")?;
            Ok(Value::Duration(count, suffix.into()))
        }
        _ => Err(UNKNOWN_LETTERS),
    }
}

/// The length of time that a text such as `5m` says.
pub(crate) fn duration(text: &str) -> Option<Value> {
    let text = text.trim();
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (digits, unit) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    number_value(negative, digits, false, unit).ok().filter(|value| matches!(value, Value::Duration(..)))
}

/// The type of the NULL that is written `00` and these letters.
fn null_type(suffix: &str) -> Option<Type> {
    use Type as T;
    Some(match suffix {
        "b" => T::Bool,
        "c" => T::Char,
        "h" => T::Short,
        "i" => T::Int,
        "l" => T::Long,
        "f" => T::Float,
        "F" => T::Double,
        "d" => T::Date,
        "M" => T::Month,
        "m" => T::Minute,
        "s" => T::Second,
        "t" => T::Time,
        "D" => T::Datetime,
        "T" => T::Timestamp,
        "n" => T::Nanotime,
        "N" => T::Nanotimestamp,
        _ => return None,
    })
}

/// The letters that [`null_type`] reads as this type.
pub(crate) fn null_suffix(ty: Type) -> Option<&'static str> {
    ["b", "c", "h", "i", "l", "f", "F", "d", "M", "m", "s", "t", "D", "T", "n", "N"]
        .into_iter()
        .find(|suffix| null_type(suffix) == Some(ty))
}

/// Tells each bracket its partner. One that is left open inside another gets none.
fn pair_brackets(tokens: &mut [Token]) {
    let mut open: Vec<(usize, &str)> = vec![];
    for index in 0..tokens.len() {
        let Kind::Mark(mark) = tokens[index].kind else { continue };
        let closes = match mark {
            "(" | "[" | "{" => {
                open.push((index, mark));
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        if let Some(place) = open.iter().rposition(|&(_, opening)| opening == closes) {
            tokens[index].partner = Some(open[place].0 as u32);
            tokens[open[place].0].partner = Some(index as u32);
            open.truncate(place);
        }
    }
}
