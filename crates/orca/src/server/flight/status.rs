//! Failures as gRPC tells them.

use crate::failure::Failure;
use env::Kind;
use tonic::{Code, Status};

/// Headers have little room: what is longer is cut.
const TEXT_MAX: usize = 4_000;

/// The status of a failure.
pub(super) fn status(failure: impl Into<Failure>) -> Status {
    let failure = failure.into();
    let code = match failure.kind() {
        Kind::Invalid => Code::InvalidArgument,
        Kind::Denied => Code::PermissionDenied,
        Kind::NotFound => Code::NotFound,
        Kind::Conflict => Code::AlreadyExists,
        Kind::Unavailable => Code::Unavailable,
        Kind::Data => Code::FailedPrecondition,
        Kind::Internal => Code::Internal,
    };
    let mut text = failure.to_string();
    if let Some((end, _)) = text.char_indices().take_while(|(place, _)| *place <= TEXT_MAX).last()
        && text.len() > TEXT_MAX
    {
        text.truncate(end);
    }
    Status::new(code, text)
}

/// A request that is wrong.
pub(super) fn invalid(message: impl Into<String>) -> Status {
    status(Failure::new(message))
}

/// What Arrow could not do with what a client sent or wants.
pub(super) fn arrow_status(error: impl std::fmt::Display) -> Status {
    invalid(format!("not as Arrow has it: {error}"))
}
