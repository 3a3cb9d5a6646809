//! Errors as the terminal shows them: the place, the line, what is wrong and what would mend it.

use ariadne::{CharSet, Config, IndexType, Label, Report, ReportKind};
use lang::Diagnostic;
use std::fmt::Write;

/// All diagnostics as one text, one after another.
pub fn diagnostics(errors: &[Diagnostic], color: bool) -> String {
    let mut text = String::new();
    for error in errors {
        match (&error.span, &error.source) {
            (Some(span), Some(source)) => {
                let place = (source.name.as_str(), span.start as usize..(span.end.max(span.start) as usize));
                let config = Config::new()
                    .with_color(color)
                    .with_index_type(IndexType::Byte)
                    .with_char_set(CharSet::Ascii)
                    .with_compact(true);
                let mut report = Report::build(ReportKind::Error, place.clone())
                    .with_config(config)
                    .with_message(&error.message)
                    .with_label(Label::new(place).with_message("here"));
                if let Some(help) = &error.help {
                    report = report.with_help(help);
                }
                let mut bytes = vec![];
                let cache = (source.name.as_str(), ariadne::Source::from(source.text.as_str()));
                match report.finish().write(cache, &mut bytes) {
                    Ok(()) => text.push_str(&String::from_utf8_lossy(&bytes)),
                    Err(_) => writeln!(text, "error: {error}").expect("text takes text"),
                }
            }
            _ => writeln!(text, "error: {error}").expect("text takes text"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::{Source, Span};

    #[test]
    fn an_error_shows_its_place_its_line_and_its_mend() {
        let source = Source::new("bars.dos", "a = 1\nb = mavgg(a, 3)\n");
        let error = Diagnostic::at(Span { start: 10, end: 15 }, "unknown function: function=`mavgg`");
        let text = diagnostics(&[error.help("did you mean `mavg`?").in_source(&source)], false);
        for part in ["bars.dos:2:5", "unknown function", "b = mavgg(a, 3)", "did you mean `mavg`?"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
