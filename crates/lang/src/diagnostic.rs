//! Errors that point at their place in a script.

use std::fmt;
use std::sync::Arc;

/// A stretch of a source text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// The stretch from the start of this one to the end of the other.
    pub fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end }
    }
}

/// A script's text and the name it is shown under.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's name, or what stands for it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A source of this name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }

    /// Line and column of a byte, both from 1; columns count characters.
    pub fn place(&self, byte: u32) -> (usize, usize) {
        let mut byte = (byte as usize).min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &self.text[..byte];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// A line of the text, from 1.
    pub fn line(&self, line: usize) -> &str {
        self.text.lines().nth(line - 1).unwrap_or("")
    }
}

/// What is wrong with a script, where, and what would mend it.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// The place at fault; `None` when the trouble is not in the text.
    pub span: Option<Span>,
    /// The text the span is in; filled in by whoever knows it.
    pub source: Option<Arc<Source>>,
    /// What is wrong, in one lowercase sentence with the facts last.
    pub message: String,
    /// What would mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn at(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: Some(span), source: None, message: message.into(), help: None }
    }

    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: None, source: None, message: message.into(), help: None }
    }

    /// The same error with a mend.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The same error, placed here unless it has a place already.
    pub fn or_at(mut self, span: Span) -> Diagnostic {
        self.span.get_or_insert(span);
        self
    }

    /// The same error, in this text unless it knows its text already.
    pub fn in_source(mut self, source: &Arc<Source>) -> Diagnostic {
        self.source.get_or_insert_with(|| source.clone());
        self
    }

    /// A mend that names the nearest of the known names, when one is near.
    pub fn suggest<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        match nearest(name, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(span), Some(source)) = (self.span, &self.source) {
            let (line, column) = source.place(span.start);
            write!(f, "{}:{line}:{column}: ", source.name)?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

impl From<data::Error> for Diagnostic {
    fn from(error: data::Error) -> Diagnostic {
        Diagnostic::new(error.to_string())
    }
}

/// The known name nearest to a mistyped one, if it is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    // One letter is as near to any other one.
    let limit = match name.chars().count() {
        0 | 1 => 0,
        letters => (letters / 3).max(1),
    };
    let distance = |known: &str| edits(&lower, &known.to_lowercase());
    known.into_iter().map(|known| (distance(known), known)).filter(|(far, _)| *far <= limit).min().map(|(_, near)| near)
}

/// The number of letters to insert, drop, change or swap with a neighbour to get from one word to the other.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = rows[i - 1][j - 1] + (from[i - 1] != to[j - 1]) as usize;
                let best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
                if swapped { best.min(rows[i - 2][j - 2] + 1) } else { best }
            };
        }
    }
    rows[from.len()][to.len()]
}
