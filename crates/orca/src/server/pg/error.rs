//! Errors as PostgreSQL tells them: a code of five letters, a message, a hint, and a place in the text.

use crate::failure::Failure;
use env::Kind;
use query::{Place, Statement};

/// An error, or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PgError {
    pub(super) severity: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// Which character of the query's text, from 1 on.
    pub(super) position: Option<usize>,
}

/// What ends the handling of a message.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It is told to the client, who may go on.
    Told(PgError),
    /// The client is gone.
    Gone,
}

impl From<PgError> for Trouble {
    fn from(error: PgError) -> Trouble {
        Trouble::Told(error)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(_: std::io::Error) -> Trouble {
        Trouble::Gone
    }
}

impl PgError {
    /// An error of this code.
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> PgError {
        PgError { severity: "ERROR", code, message: message.into(), hint: None, position: None }
    }

    /// An error that ends the connection.
    pub(super) fn fatal(code: &'static str, message: impl Into<String>) -> PgError {
        PgError { severity: "FATAL", ..PgError::new(code, message) }
    }

    /// What the client may want to know; nothing ends.
    pub(super) fn warning(code: &'static str, message: impl Into<String>) -> PgError {
        PgError { severity: "WARNING", ..PgError::new(code, message) }
    }

    /// A frame that is none.
    pub(super) fn protocol(message: impl Into<String>) -> PgError {
        PgError::fatal("08P01", message)
    }

    pub(super) fn is_fatal(&self) -> bool {
        self.severity == "FATAL"
    }

    /// An error in the text of a statement, which may be one of several.
    pub(super) fn of_statement(error: query::Error, statement: &Statement) -> PgError {
        PgError::of_query(error, &statement.text, statement.offset)
    }

    /// An error in a query's text, before which `offset` characters stand.
    pub(super) fn of_query(error: query::Error, text: &str, offset: usize) -> PgError {
        use query::Error as E;
        let at = |place: Option<Place>| place.and_then(|place| position(text, place)).map(|at| offset + at);
        match error {
            E::Unknown { what, name, near, place } => {
                let code = match what {
                    "table" => "42P01",
                    "column" => "42703",
                    "function" => "42883",
                    "schema" => "3F000",
                    "catalog" => "3D000",
                    _ => "42704",
                };
                let hint = near.map(|near| format!("did you mean `{near}`?"));
                let error = PgError::new(code, format!("unknown {what}: {what}=`{name}`"));
                PgError { hint, position: at(place), ..error }
            }
            E::Invalid { reason, place } => {
                let code = match reason.as_str() {
                    reason if reason.starts_with("cannot read the query") => "42601",
                    reason if reason.starts_with("ambiguous column") => "42702",
                    reason if reason.starts_with("not supported") => "0A000",
                    reason if reason.contains("cast") || reason.contains("parse") => "22P02",
                    reason if reason.contains("coerce") || reason.contains("signature") => "42883",
                    _ => "42000",
                };
                PgError { position: at(place), ..PgError::new(code, reason) }
            }
            error @ E::NotAQuery { .. } => PgError::new("0A000", error.to_string()),
            E::Data { reason } => {
                let code = match reason.to_lowercase() {
                    reason if reason.contains("divide by zero") => "22012",
                    reason if reason.contains("overflow") => "22003",
                    reason if reason.contains("cast") || reason.contains("parse") => "22P02",
                    _ => "22000",
                };
                PgError::new(code, reason)
            }
            error @ E::Exhausted { .. } => PgError::new("53200", error.to_string()),
            error @ E::Internal { .. } => PgError::new("XX000", error.to_string()),
        }
    }
}

impl From<Failure> for PgError {
    fn from(failure: Failure) -> PgError {
        let code = match failure.kind() {
            Kind::Invalid => "22023",
            Kind::Denied => "42501",
            Kind::NotFound => "42P01",
            Kind::Conflict => "55000",
            Kind::Unavailable => "57P03",
            Kind::Data => "22000",
            Kind::Internal => "XX000",
        };
        PgError::new(code, failure.to_string())
    }
}

/// Which character of a text stands at a place, from 1 on.
fn position(text: &str, place: Place) -> Option<usize> {
    let line = place.line.checked_sub(1)? as usize;
    let before: usize = text.split('\n').take(line).map(|line| line.chars().count() + 1).sum();
    Some(before + place.column as usize).filter(|position| *position > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_as_the_number_of_a_character() {
        assert_eq!(position("select\n 'ä', x", Place { line: 2, column: 7 }), Some(14));
        assert_eq!(position("select x", Place { line: 1, column: 8 }), Some(8));
        assert_eq!(position("select x", Place { line: 0, column: 0 }), None);
        let error = query::Error::Unknown {
            what: "column",
            name: "pirce".into(),
            near: Some("price".into()),
            place: Some(Place { line: 1, column: 8 }),
        };
        let told = PgError::of_query(error, "select pirce from t", 10);
        assert_eq!((told.code, told.position), ("42703", Some(18)));
        assert_eq!(told.hint.as_deref(), Some("did you mean `price`?"));
    }
}
