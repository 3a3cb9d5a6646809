//! Colours of what is typed: words, functions, texts, numbers, remarks.

use super::SharedMode;
use super::completion::{SCRIPT_WORDS, SQL_WORDS};
use super::input::Mode;
use lang::library;
use reedline::{Color, Highlighter, StyledText};

/// Colours lines.
pub struct Colors {
    /// How lines are read.
    pub mode: SharedMode,
}

impl Highlighter for Colors {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut styled = StyledText::new();
        for (color, text) in pieces(*self.mode.lock(), line) {
            styled.push((color.normal(), text.to_string()));
        }
        styled
    }
}

/// A line cut into stretches of one colour.
fn pieces(mode: Mode, line: &str) -> Vec<(Color, &str)> {
    let mut pieces = vec![];
    let mut rest = line;
    if line.starts_with('\\') {
        let end = line.find(char::is_whitespace).unwrap_or(line.len());
        pieces.push((Color::Purple, &line[..end]));
        rest = &line[end..];
    }
    while let Some(letter) = rest.chars().next() {
        let (color, len) = piece(mode, letter, rest);
        pieces.push((color, &rest[..len]));
        rest = &rest[len..];
    }
    pieces
}

/// The colour and length of what a text begins with.
fn piece(mode: Mode, letter: char, text: &str) -> (Color, usize) {
    let until = |end: Option<usize>| end.unwrap_or(text.len());
    let while_ = |is: fn(char) -> bool| until(text.find(|letter: char| !is(letter)));
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let remark = if mode == Mode::Sql { "--" } else { "//" };
    if text.starts_with(remark) {
        return (Color::DarkGray, until(text.find('\n')));
    }
    if text.starts_with("/*") {
        return (Color::DarkGray, until(text.find("*/").map(|end| end + 2)));
    }
    match letter {
        '"' | '\'' => {
            let mut escaped = false;
            let end = text.char_indices().skip(1).find(|(_, inner)| {
                let closes = *inner == letter && !escaped;
                escaped = *inner == '\\' && !escaped && mode == Mode::Script;
                closes
            });
            (Color::Green, until(end.map(|(place, _)| place + 1)))
        }
        '`' => (Color::Green, 1 + text[1..].find(|letter: char| !is_word(letter)).unwrap_or(text.len() - 1)),
        '0'..='9' => (Color::Yellow, while_(|letter| letter.is_alphanumeric() || matches!(letter, '.' | ':' | '_'))),
        letter if is_word(letter) => {
            let len = while_(|letter| letter.is_alphanumeric() || letter == '_');
            let word = &text[..len];
            let words = if mode == Mode::Sql { SQL_WORDS } else { SCRIPT_WORDS };
            let is_known = |word: &str| match mode {
                Mode::Sql => words.contains(&word.to_lowercase().as_str()),
                Mode::Script => words.contains(&word),
            };
            match word {
                word if is_known(word) => (Color::Blue, len),
                word if library::find(word).is_some() => (Color::Cyan, len),
                _ => (Color::Default, len),
            }
        }
        letter => (Color::Default, letter.len_utf8()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_is_kept_and_words_have_their_colours() {
        for (mode, line) in [
            (Mode::Script, "a = mavg(`x`y, 3) // é \"not\" closed"),
            (Mode::Sql, "SELECT 'it''s', \"x\", 1.5e3 -- ende"),
            (Mode::Script, "\"open"),
            (Mode::Script, "\\d Trade"),
            (Mode::Script, "`"),
        ] {
            let pieces = pieces(mode, line);
            assert_eq!(pieces.iter().map(|(_, text)| *text).collect::<String>(), line);
        }
        let colored = pieces(Mode::Sql, "SELECT mavg(x, 3) /* a */");
        for wanted in
            [(Color::Blue, "SELECT"), (Color::Cyan, "mavg"), (Color::Yellow, "3"), (Color::DarkGray, "/* a */")]
        {
            assert!(colored.contains(&wanted), "{wanted:?}");
        }
    }
}
