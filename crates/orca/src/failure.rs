//! Why something the program was asked for did not come about: one kind for every way it is told, and the words.

use env::Kind;
use lang::Diagnostic;

/// Why a command or a request ends without success.
#[derive(Debug, Clone)]
pub struct Failure {
    kind: Kind,
    errors: Vec<Diagnostic>,
}

impl Failure {
    /// One error without a place, of a request that is wrong.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::of(Kind::Invalid, message)
    }

    /// One error without a place.
    pub fn of(kind: Kind, message: impl Into<String>) -> Failure {
        Failure { kind, errors: vec![Diagnostic::new(message)] }
    }

    /// One error with its place.
    pub fn placed(kind: Kind, error: Diagnostic) -> Failure {
        Failure { kind, errors: vec![error] }
    }

    /// Several errors of one kind.
    pub fn several(kind: Kind, errors: Vec<Diagnostic>) -> Failure {
        Failure { kind, errors }
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What went wrong.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.errors
    }

    /// What went wrong.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.errors
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, error) in self.errors.iter().enumerate() {
            write!(f, "{}{error}", if place > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl From<Vec<Diagnostic>> for Failure {
    fn from(errors: Vec<Diagnostic>) -> Failure {
        Failure { kind: Kind::Invalid, errors }
    }
}

impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Failure {
        Failure::from(vec![error])
    }
}

impl From<data::Error> for Failure {
    fn from(error: data::Error) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<env::Error> for Failure {
    fn from(error: env::Error) -> Failure {
        Failure::of(error.kind(), error.to_string())
    }
}

impl From<stream::Error> for Failure {
    fn from(error: stream::Error) -> Failure {
        Failure::of(error.kind(), error.to_string())
    }
}

impl From<master::Error> for Failure {
    fn from(error: master::Error) -> Failure {
        Failure::of(error.kind(), error.to_string())
    }
}

impl From<query::Error> for Failure {
    fn from(error: query::Error) -> Failure {
        Failure::of(error.kind(), error.to_string())
    }
}

impl From<connect::Error> for Failure {
    fn from(error: connect::Error) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::of(Kind::Unavailable, error.to_string())
    }
}
