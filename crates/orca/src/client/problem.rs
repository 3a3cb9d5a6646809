//! A server's refusal, back to what it was: one kind, and errors with their places and mends.

use crate::failure::Failure;
use env::Kind;
use lang::{Diagnostic, Source, Span};
use serde_json::Value as Json;

/// A line further down than any script has one is not believed.
const LINES_MAX: u64 = 1 << 20;

/// The failure that an answer of this status tells.
pub(super) fn failure(status: u16, body: &str) -> Failure {
    let Ok(problem @ Json::Object(_)) = serde_json::from_str(body) else {
        let text = body.trim();
        let told = if text.is_empty() { "without a reason" } else { text };
        return Failure::of(kind_of_status(status), format!("the server refuses: status=`{status}`, {told}"));
    };
    let kind = problem["kind"].as_str().and_then(kind_named).unwrap_or_else(|| kind_of_status(status));
    let errors: Vec<Diagnostic> = problem["errors"].as_array().into_iter().flatten().map(diagnostic).collect();
    if !errors.is_empty() {
        return Failure::several(kind, errors);
    }
    let told = problem["detail"].as_str().or(problem["title"].as_str());
    Failure::of(kind, told.unwrap_or("the server refuses"))
}

/// One failure from what a server says within an answer.
pub fn failure_within(problem: &Json) -> Failure {
    failure(problem["status"].as_u64().unwrap_or(500) as u16, &problem.to_string())
}

fn kind_named(name: &str) -> Option<Kind> {
    Some(match name {
        "invalid" => Kind::Invalid,
        "denied" => Kind::Denied,
        "not_found" => Kind::NotFound,
        "conflict" => Kind::Conflict,
        "unavailable" => Kind::Unavailable,
        "data" => Kind::Data,
        "internal" => Kind::Internal,
        _ => return None,
    })
}

fn kind_of_status(status: u16) -> Kind {
    match status {
        401 | 403 => Kind::Denied,
        404 => Kind::NotFound,
        409 => Kind::Conflict,
        422 => Kind::Data,
        429 | 502..=504 => Kind::Unavailable,
        500.. => Kind::Internal,
        _ => Kind::Invalid,
    }
}

fn diagnostic(error: &Json) -> Diagnostic {
    let text = |name: &str| error[name].as_str();
    let mut diagnostic = Diagnostic::new(text("message").unwrap_or("the server tells no reason"));
    diagnostic.help = text("help").map(String::from);
    let place = (error["line"].as_u64(), error["column"].as_u64(), text("source_line"));
    let (Some(line @ 1..LINES_MAX), Some(column @ 1..), Some(source_line)) = place else { return diagnostic };
    // The line stands where it stood, so that it is shown with its number.
    let above = line as usize - 1;
    let start = source_line.char_indices().nth(column as usize - 1).map_or(source_line.len(), |(byte, _)| byte);
    let length = match error["length"].as_u64() {
        Some(letters @ 1..) => source_line[start..].chars().take(letters as usize).map(char::len_utf8).sum(),
        _ => word(&source_line[start..]),
    };
    let source = Source::new(text("name").unwrap_or("script"), "\n".repeat(above) + source_line);
    let span = Span { start: (above + start) as u32, end: (above + start + length) as u32 };
    Diagnostic { span: Some(span), source: Some(source), ..diagnostic }
}

/// How long the word is that a text begins with; one letter if it begins with none.
fn word(text: &str) -> usize {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    if end == 0 { text.chars().next().map_or(0, char::len_utf8) } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_back_with_its_place_and_mend() {
        let body = r#"{"status":400,"kind":"invalid","detail":"x","errors":[{"message":"unknown function: function=`f`",
            "name":"bars.dos","line":3,"column":5,"source_line":"b = mavgg(a)","help":"did you mean `mavg`?"}]}"#;
        let failure = failure(400, body);
        assert_eq!(failure.to_string(), "bars.dos:3:5: unknown function: function=`f` (did you mean `mavg`?)");
        let error = &failure.diagnostics()[0];
        let (span, source) = (error.span.expect("a place"), error.source.as_ref().expect("a text"));
        assert_eq!(&source.text[span.start as usize..span.end as usize], "mavgg");
    }

    #[test]
    fn an_answer_of_something_else_is_told_as_it_is() {
        for (status, body, told, kind) in [
            (502, "<html>no</html>", "status=`502`, <html>no</html>", Kind::Unavailable),
            (404, "", "status=`404`, without a reason", Kind::NotFound),
            (409, r#"{"detail":"it is there"}"#, "it is there", Kind::Conflict),
        ] {
            let failure = failure(status, body);
            assert!(failure.to_string().contains(told), "{failure}");
            assert_eq!(failure.kind(), kind);
        }
    }
}
