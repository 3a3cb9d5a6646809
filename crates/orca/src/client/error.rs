//! Why a request to a server did not come about.

use crate::failure::Failure;
use env::Kind;

/// Why a command against a server ends without success.
#[derive(Debug, Clone)]
pub enum Error {
    /// The server gives no answer, or only a part of one.
    Unreachable {
        /// Where it was looked for.
        url: String,
        /// What the system says.
        reason: String,
    },
    /// It was refused or failed, there or here.
    Failed(Failure),
}

impl Error {
    /// May the same request go well later?
    pub fn may_pass(&self) -> bool {
        match self {
            Error::Unreachable { .. } => true,
            Error::Failed(failure) => failure.kind() == Kind::Unavailable,
        }
    }

    /// Is what was asked for not there?
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Failed(failure) if failure.kind() == Kind::NotFound)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Unreachable { url, reason } => {
                write!(
                    f,
                    "the server cannot be reached: url=`{url}`, {reason} (start one with `orca serve`, or name it with --url)"
                )
            }
            Error::Failed(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl<E: Into<Failure>> From<E> for Error {
    fn from(error: E) -> Error {
        Error::Failed(error.into())
    }
}
