"""What went wrong, as one family of exceptions: its class says what the caller can do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence
from contextlib import contextmanager


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, with its place in the text of a script or query where it has one."""

    message: str
    line: Optional[int] = None
    column: Optional[int] = None
    source_line: Optional[str] = None
    help: Optional[str] = None


class OrcaError(Exception):
    """What the server refused, or could not do.

    ``kind`` is the server's word for it; ``errors`` is all that is wrong, ``line`` and ``column`` the place of the
    first (both count from 1).
    """

    kind = "internal"

    def __init__(self, message: str, errors: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.errors: tuple[Problem, ...] = tuple(errors) or (_placed(message),)

    @property
    def line(self) -> Optional[int]:
        """The line of the first error, if it has a place."""
        return self.errors[0].line

    @property
    def column(self) -> Optional[int]:
        """The column of the first error, if it has a place."""
        return self.errors[0].column


class InvalidError(OrcaError):
    """The request is wrong and will be wrong again."""

    kind = "invalid"


class DeniedError(OrcaError):
    """The caller may not do it, or the login is wrong."""

    kind = "denied"


class NotFoundError(OrcaError):
    """What the request speaks of is not there."""

    kind = "not_found"


class ConflictError(OrcaError):
    """The request clashes with what is there."""

    kind = "conflict"


class UnavailableError(OrcaError):
    """It may go well later: the server is not there, or busy, or stopping."""

    kind = "unavailable"


class DataError(OrcaError):
    """Stored data are damaged or unreadable."""

    kind = "data"


class InternalError(OrcaError):
    """The server is wrong."""

    kind = "internal"


_BY_KIND: Mapping[str, type[OrcaError]] = {
    error.kind: error
    for error in (InvalidError, DeniedError, NotFoundError, ConflictError, UnavailableError, DataError, InternalError)
}

# What gRPC calls each kind; clients write the words in several ways, so they are compared without signs and case.
_BY_STATUS: Mapping[str, type[OrcaError]] = {
    "invalidargument": InvalidError,
    "permissiondenied": DeniedError,
    "unauthorized": DeniedError,
    "unauthenticated": DeniedError,
    "notfound": NotFoundError,
    "alreadyexists": ConflictError,
    "unavailable": UnavailableError,
    "failedprecondition": DataError,
    "cancelled": UnavailableError,
    "canceled": UnavailableError,
    "timeout": UnavailableError,
    "deadlineexceeded": UnavailableError,
    "io": UnavailableError,
}

_PLACE = re.compile(r"^(?:.*?:)?(\d+):(\d+): (.*)$", re.DOTALL)


def _placed(message: str) -> Problem:
    found = _PLACE.match(message)
    if found is None:
        return Problem(message)
    return Problem(found.group(3), int(found.group(1)), int(found.group(2)))


def of_problem(status: int, problem: Mapping[str, Any]) -> OrcaError:
    """The error that a REST answer tells of (RFC 9457)."""
    fallback = {401: "denied", 403: "denied", 404: "not_found", 409: "conflict", 422: "data", 503: "unavailable"}
    kind = problem.get("kind") or fallback.get(status, "invalid" if status < 500 else "internal")
    errors = [
        Problem(
            str(error.get("message", "")),
            error.get("line"),
            error.get("column"),
            error.get("source_line"),
            error.get("help"),
        )
        for error in problem.get("errors") or []
    ]
    message = problem.get("detail") or problem.get("title") or f"HTTP status {status}"
    return _BY_KIND.get(str(kind), InternalError)(str(message), errors)


def of_text(status: str, message: str) -> OrcaError:
    """The error of a gRPC status."""
    plain = re.sub(r"[^a-z]", "", status.lower())
    return _BY_STATUS.get(plain, InternalError)(message)


def of_adbc(error: Exception) -> OrcaError:
    """The error that the ADBC driver tells of."""
    text = str(error)
    # INVALID_ARGUMENT: [FlightSQL] message (InvalidArgument; ExecuteQuery). Details
    told = list(re.finditer(r" \((\w+); \w+\)", text))
    message, status = (text[: told[-1].start()], told[-1].group(1)) if told else (text, None)
    message = re.sub(r"^[A-Z_]+: ", "", message)
    message = re.sub(r"^(\[FlightSQL\] )+", "", message)
    if status is None:
        code = getattr(error, "status_code", None)
        status = getattr(code, "name", "") or ""
    if "connection refused" in text.lower() or "connection error" in text.lower():
        status = "unavailable"
    return of_text(status, message)


def of_flight(error: Exception) -> OrcaError:
    """The error that pyarrow's Flight client tells of."""
    text = str(error)
    # Flight returned not found error, with message: ... . gRPC client debug context: ...
    found = re.search(r"Flight returned (.*?) error, with message: (.*)$", text, re.DOTALL)
    message = found.group(2) if found else text
    message = re.split(r"\.? (?:gRPC )?[Cc]lient (?:debug )?context: ", message)[0]
    message = re.split(r"\. Detail: ", message)[0]
    name = type(error).__name__
    by_name = {
        "ArrowInvalid": "invalidargument",
        "ArrowKeyError": "notfound",
        "FlightUnavailableError": "unavailable",
        "FlightUnauthenticatedError": "unauthenticated",
        "FlightUnauthorizedError": "permissiondenied",
        "FlightTimedOutError": "timeout",
        "FlightCancelledError": "cancelled",
    }
    status = by_name.get(name) or (found.group(1) if found else "")
    return of_text(status, message)


@contextmanager
def adbc_errors() -> Iterator[None]:
    """Turns the errors of the ADBC driver into those of this package."""
    import adbc_driver_manager

    try:
        yield
    except adbc_driver_manager.Error as error:
        raise of_adbc(error) from error


@contextmanager
def flight_errors() -> Iterator[None]:
    """Turns the errors of pyarrow's Flight client into those of this package."""
    import pyarrow

    try:
        yield
    except pyarrow.ArrowException as error:
        raise of_flight(error) from error
