"""The REST interface, by the standard library alone."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Mapping, Optional

from ._errors import UnavailableError, of_problem


class Rest:
    """Requests to one server."""

    def __init__(self, url: str, user: Optional[str], password: Optional[str], timeout_s: float) -> None:
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s
        self.authorization: Optional[str] = None
        if user is not None or password is not None:
            secret = f"{user or 'orca'}:{password or ''}".encode()
            self.authorization = "Basic " + base64.b64encode(secret).decode()

    def call(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[bytes] = None,
        content_type: str = "text/plain; charset=utf-8",
        timeout_s: Optional[float] = None,
    ) -> Any:
        """The JSON of the answer; ``None`` if it has no body."""
        told = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        url = self.url + path + ("?" + urllib.parse.urlencode(told) if told else "")
        request = urllib.request.Request(url, data=body, method=method)
        request.add_header("Accept", "application/json")
        if body is not None:
            request.add_header("Content-Type", content_type)
        if self.authorization is not None:
            request.add_header("Authorization", self.authorization)
        try:
            with urllib.request.urlopen(request, timeout=timeout_s or self.timeout_s) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise of_problem(error.code, _problem(error.read())) from None
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            reason = getattr(error, "reason", error)
            raise UnavailableError(f"server cannot be reached: url=`{self.url}`, {reason}") from error
        return json.loads(text) if text else None


def quote(name: str) -> str:
    """A name as a part of a path."""
    return urllib.parse.quote(name, safe="")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _problem(text: bytes) -> Mapping[str, Any]:
    try:
        problem = json.loads(text)
    except ValueError:
        return {"detail": text.decode(errors="replace").strip()} if text else {}
    return problem if isinstance(problem, dict) else {"detail": str(problem)}
