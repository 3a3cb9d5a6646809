//! Why a query was refused or failed.

pub use env::Kind;

use crate::functions;
use crate::names::syntax;
use datafusion::common::{Column, DataFusionError, SchemaError};
use lang::nearest;
use std::fmt;

/// The result of a query.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in the text of a query; both count from 1, columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a query was refused or failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A name that nothing has.
    #[error("{}unknown {what}: {what}=`{name}`{}", at(place), meant(near))]
    Unknown {
        /// What kind of thing: `table`, `column`, `function`.
        what: &'static str,
        /// The name as it was written.
        name: String,
        /// The known name nearest to it.
        near: Option<String>,
        /// Where it stands.
        place: Option<Place>,
    },
    /// A text that is no query, or a query that means nothing.
    #[error("{}{reason}", at(place))]
    Invalid {
        /// What is wrong.
        reason: String,
        /// Where.
        place: Option<Place>,
    },
    /// A statement that changes something.
    #[error("only queries are answered: statement=`{statement}`")]
    NotAQuery {
        /// Its first word.
        statement: String,
    },
    /// Rows that the query could not be computed on, or could not be read.
    #[error("{reason}")]
    Data {
        /// What is wrong.
        reason: String,
    },
    /// Too little memory for the query.
    #[error("query needs too much: {reason}")]
    Exhausted {
        /// Of what.
        reason: String,
    },
    /// A fault of the program.
    #[error("query failed inside: {reason}")]
    Internal {
        /// What is known of it.
        reason: String,
    },
}

fn at(place: &Option<Place>) -> String {
    place.map_or(String::new(), |place| format!("{place}: "))
}

fn meant(near: &Option<String>) -> String {
    near.as_ref().map_or(String::new(), |near| format!(" (did you mean `{near}`?)"))
}

impl Error {
    /// What the caller can do.
    pub fn kind(&self) -> Kind {
        match self {
            Error::Unknown { .. } => Kind::NotFound,
            Error::Invalid { .. } | Error::NotAQuery { .. } => Kind::Invalid,
            Error::Data { .. } => Kind::Data,
            Error::Exhausted { .. } => Kind::Unavailable,
            Error::Internal { .. } => Kind::Internal,
        }
    }

    /// DataFusion's error in our words; `place` finds where a name stands in the query.
    pub(crate) fn of(error: &DataFusionError, place: impl Fn(&str) -> Option<Place>) -> Error {
        let span = error.diagnostic().and_then(|diagnostic| diagnostic.span);
        let span = span.map(|span| Place { line: span.start.line, column: span.start.column });
        match first(error) {
            DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
                SchemaError::FieldNotFound { field, valid_fields } => {
                    let near = nearest(&field.name, valid_fields.iter().map(|known| known.name.as_str()));
                    Error::Unknown {
                        what: "column",
                        name: written(field),
                        near: near.map(str::to_string),
                        place: span.or_else(|| place(&field.name)),
                    }
                }
                SchemaError::AmbiguousReference { field } => Error::Invalid {
                    reason: format!("ambiguous column: column=`{}`", written(field)),
                    place: span.or_else(|| place(&field.name)),
                },
                other => Error::Invalid { reason: lower(&other.to_string()), place: span },
            },
            DataFusionError::Plan(reason) => match unknown_function(reason) {
                Some((name, _)) if functions::needs_order(&name) => Error::Invalid {
                    reason: format!("a function of rows in order needs OVER: function=`{name}`"),
                    place: place(&name),
                },
                Some((name, near)) => Error::Unknown { what: "function", near, place: place(&name), name },
                None => Error::Invalid { reason: lower(reason), place: span },
            },
            DataFusionError::NotImplemented(reason) => {
                Error::Invalid { reason: format!("not supported: {}", lower(reason)), place: span }
            }
            DataFusionError::SQL(parse, _) => syntax(parse),
            DataFusionError::Configuration(reason) => Error::Invalid { reason: lower(reason), place: span },
            DataFusionError::ArrowError(arrow, _) => Error::Data { reason: lower(&arrow.to_string()) },
            DataFusionError::Execution(reason) => Error::Data { reason: lower(reason) },
            DataFusionError::External(reason) => Error::Data { reason: reason.to_string() },
            DataFusionError::ResourcesExhausted(reason) => Error::Exhausted { reason: lower(reason) },
            other => Error::Internal { reason: other.strip_backtrace() },
        }
    }
}

/// The error at the root, without the wrappings that say where it came up.
fn first(error: &DataFusionError) -> &DataFusionError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => first(inner),
        DataFusionError::Shared(inner) => first(inner),
        DataFusionError::Collection(errors) => errors.first().map_or(error, first),
        other => other,
    }
}

fn written(column: &Column) -> String {
    match &column.relation {
        Some(table) => format!("{}.{}", table.table(), column.name),
        None => column.name.clone(),
    }
}

/// DataFusion says `Invalid function 'x'.\nDid you mean 'y'?` in a text alone.
fn unknown_function(reason: &str) -> Option<(String, Option<String>)> {
    let (_, rest) = reason.split_once("Invalid function '")?;
    let (name, rest) = rest.split_once('\'')?;
    let near = rest.split_once("Did you mean '").and_then(|(_, near)| near.split_once('\''));
    Some((name.to_string(), near.map(|(near, _)| near.to_string())))
}

/// The first sentence, from a small letter on, as errors are written here.
fn lower(text: &str) -> String {
    let text = text.split("\n\nbacktrace:").next().unwrap_or(text).trim();
    let text = text.strip_prefix("sql parser error: ").unwrap_or(text);
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(letters).collect(),
        _ => text.to_string(),
    }
}
