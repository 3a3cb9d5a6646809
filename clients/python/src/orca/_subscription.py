"""Rows of a table as they come."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

import pyarrow as pa
import pyarrow.flight as flight

from ._errors import UnavailableError, of_flight

if TYPE_CHECKING:
    from ._client import Client


@dataclass(frozen=True)
class News:
    """Rows that came."""

    #: The era of the offsets: a table that was cut back has a new one.
    era: int
    #: The offset to go on from.
    next: int
    #: How many rows were passed over before these, because the reader was too slow.
    missed: int
    #: The rows.
    rows: pa.Table


class Subscription:
    """Rows of a table from an offset on, without end: iterate over it.

    When the connection breaks it goes on where it was. ``close``, also from another thread, ends it.
    """

    def __init__(self, client: "Client", ticket: dict[str, Any], reconnect_s: float) -> None:
        self._client = client
        self._ticket = ticket
        self._reconnect_s = reconnect_s
        self._reader: Optional[flight.FlightStreamReader] = None
        self._closed = threading.Event()
        #: The era of the offset; known once the server has answered.
        self.era: Optional[int] = None
        #: The offset to go on from; known once the server has answered.
        self.next: Optional[int] = None
        self._open()

    def __iter__(self) -> "Subscription":
        return self

    def __next__(self) -> News:
        until, pause = time.monotonic() + self._reconnect_s, 0.05
        while not self._closed.is_set():
            try:
                if self._reader is None:
                    self._open()
                news = self._read()
                # A filter may have left no row of what came.
                if news.rows.num_rows or news.missed:
                    return news
                until, pause = time.monotonic() + self._reconnect_s, 0.05
            except UnavailableError as error:
                self._reader = None
                if self._closed.is_set():
                    break
                if "reader is too slow" in error.message or time.monotonic() + pause > until:
                    raise
                self._closed.wait(pause)
                pause = min(2 * pause, 2.0)
        raise StopIteration

    def _open(self) -> None:
        ticket = dict(self._ticket)
        if self.next is not None:
            ticket["from"], ticket["era"] = self.next, self.era
        try:
            # No time is too long to wait for news.
            options = self._client._options(timeout_s=None)
            self._reader = self._client._flight().do_get(flight.Ticket(json.dumps(ticket).encode()), options)
        except pa.ArrowException as error:
            raise of_flight(error) from error
        # The first message has no rows and tells where the reading begins.
        self._read()

    def _read(self) -> News:
        assert self._reader is not None
        try:
            chunk = self._reader.read_chunk()
        except StopIteration:
            raise UnavailableError("server has ended the subscription") from None
        except pa.ArrowException as error:
            raise of_flight(error) from error
        note = json.loads(chunk.app_metadata.to_pybytes())
        self.era, self.next = note["era"], note["next"]
        return News(note["era"], note["next"], note["missed"], pa.Table.from_batches([chunk.data]))

    def close(self) -> None:
        """Ends it; whoever waits for news gets none."""
        self._closed.set()
        reader = self._reader
        if reader is not None:
            reader.cancel()

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncSubscription:
    """The same for asyncio: iterate over it with ``async for``."""

    def __init__(self, client: "Client", ticket: dict[str, Any], reconnect_s: float) -> None:
        self._make = lambda: Subscription(client, ticket, reconnect_s)
        self._inner: Optional[Subscription] = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="orca-subscription")

    def __aiter__(self) -> "AsyncSubscription":
        return self

    async def __anext__(self) -> News:
        loop = asyncio.get_running_loop()
        try:
            if self._inner is None:
                self._inner = await loop.run_in_executor(self._thread, self._make)
            news = await loop.run_in_executor(self._thread, next, self._inner, None)
        except (asyncio.CancelledError, GeneratorExit):
            self._end()
            raise
        if news is None:
            self._end()
            raise StopAsyncIteration
        return news

    async def aclose(self) -> None:
        """Ends it."""
        self._end()

    def _end(self) -> None:
        if self._inner is not None:
            self._inner.close()
        self._thread.shutdown(wait=False)

    async def __aenter__(self) -> "AsyncSubscription":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end()


def ticket_of(
    table: str,
    start: Union[str, int],
    era: Optional[int],
    filter: Optional[str],
    slow: str,
    lag_rows_max: Optional[int],
    rows_max: Optional[int],
) -> dict[str, Any]:
    """What a subscription asks for."""
    ticket = {
        "subscribe": table,
        "from": start,
        "era": era,
        "filter": filter,
        "slow": slow,
        "lag_rows_max": lag_rows_max,
        "rows_max": rows_max,
    }
    return {name: value for name, value in ticket.items() if value is not None}
