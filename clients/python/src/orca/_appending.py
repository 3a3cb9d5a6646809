"""Rows on their way into a public table."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional

import pyarrow as pa
import pyarrow.flight as flight

from ._errors import OrcaError, UnavailableError, of_flight

if TYPE_CHECKING:
    from ._client import Client

#: How many rows go in one message where nobody says otherwise.
BATCH_ROWS = 65_536

#: How many pieces are on their way before the answer to the first is awaited.
PIECES_AHEAD = 16

#: How long a server that is not there is waited for, in seconds, in all.
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Appended:
    """What became of rows that were appended."""

    #: How many rows the table took.
    rows: int
    #: The number of the last append.
    seq: int
    #: The table held all of them already: they were appended before under the same writer and number.
    held: bool
    #: The offset of the first row.
    start: int
    #: The offset after the last row.
    end: int


def to_table(data: Any) -> pa.Table:
    """Rows in any of the forms that are taken: pyarrow, pandas, polars, a dictionary of columns, a list of rows."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, dict):
        return pa.table(data)
    if isinstance(data, (list, tuple)):
        return pa.Table.from_pylist(list(data))
    module = type(data).__module__.split(".")[0]
    if module == "pandas":
        return pa.Table.from_pandas(data, preserve_index=False).replace_schema_metadata(None)
    if module == "polars":
        return data.to_arrow()
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    raise TypeError(f"rows are a table, a frame, a dictionary of columns or a list of rows, not {type(data).__name__}")


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table as one batch; dictionaries of its chunks are made one."""
    batches = table.unify_dictionaries().combine_chunks().to_batches()
    if not batches:
        return pa.RecordBatch.from_pylist([], schema=table.schema)
    if len(batches) > 1:
        raise ValueError("rows are too many for one append; use an appender, which cuts them into pieces")
    return batches[0]


class Put:
    """An open stream of appends to one table, all of one schema."""

    def __init__(self, client: "Client", table: str, schema: pa.Schema) -> None:
        self.schema = schema
        descriptor = flight.FlightDescriptor.for_path("append", table)
        try:
            self._writer, self._reader = client._flight().do_put(descriptor, schema, client._options())
        except pa.ArrowException as error:
            raise of_flight(error) from error

    def send(self, batch: pa.RecordBatch, note: bytes) -> None:
        """Sends one append."""
        try:
            self._writer.write_with_metadata(batch, note)
        except pa.ArrowException as error:
            raise self._why(error) from error

    def answer(self) -> Appended:
        """Waits for what became of the oldest one that has no answer yet."""
        try:
            told = self._reader.read()
        except pa.ArrowException as error:
            raise self._why(error) from error
        if told is None or told.size == 0:
            # The stream has ended, or never begun: closing it tells why.
            try:
                self._writer.close()
            except pa.ArrowException as error:
                raise of_flight(error) from error
            raise UnavailableError("server has ended the appends without an answer")
        return Appended(**json.loads(told.to_pybytes()))

    def close(self) -> None:
        """Ends the stream when everything has its answer."""
        try:
            self._writer.close()
        except pa.ArrowException as error:
            raise of_flight(error) from error

    def _why(self, error: pa.ArrowException) -> OrcaError:
        # A write that fails says only that the stream is broken; closing it says why.
        try:
            self._writer.close()
        except pa.ArrowException as cause:
            return of_flight(cause)
        return of_flight(error)


def append(
    client: "Client", table: str, rows: pa.Table, writer: Optional[str], seq: Optional[int]
) -> Appended:
    """One append under this writer and number; without them one for each batch, by the server's own."""
    if (writer is None) != (seq is None):
        raise ValueError("writer and seq go together; an appender numbers its pieces itself")
    if writer is not None:
        batch, note = one_batch(rows), json.dumps({"writer": writer, "seq": seq}).encode()
        # To try again does no harm: the number tells the table that it has the rows.
        return patiently(lambda: _append_batches(client, table, [batch], note))
    batches = rows.unify_dictionaries().to_batches(max_chunksize=BATCH_ROWS) or [one_batch(rows)]
    return _append_batches(client, table, batches, b"")


def _append_batches(client: "Client", table: str, batches: list[pa.RecordBatch], note: bytes) -> Appended:
    put = Put(client, table, batches[0].schema)
    answers: list[Appended] = []
    for sent, batch in enumerate(batches, start=1):
        put.send(batch, note)
        if sent - len(answers) >= PIECES_AHEAD:
            answers.append(put.answer())
    while len(answers) < len(batches):
        answers.append(put.answer())
    put.close()
    first, last = answers[0], answers[-1]
    rows = sum(answer.rows for answer in answers)
    return Appended(rows, last.seq, all(answer.held for answer in answers), first.start, last.end)


def patiently(work: Callable[[], Appended]) -> Appended:
    """Does work that may be done twice, again while the server is not there."""
    until, pause = time.monotonic() + PATIENCE_S, 0.05
    while True:
        try:
            return work()
        except UnavailableError:
            if time.monotonic() + pause > until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 2.0)


class Appender:
    """Appends pieces under one writer and numbers them itself, several on their way at a time.

    A piece that got no answer, because the connection broke, is sent again under its number, so each piece is in the
    table once. Used in a ``with`` block, it ends when all pieces have their answers.

    >>> with client.appender("Trade", writer="loader") as appender:
    ...     for frame in frames:
    ...         appender.append(frame)
    """

    def __init__(self, client: "Client", table: str, writer: str, seq: Optional[int] = None) -> None:
        self._client = client
        self._table = table
        self.writer = writer
        self._put: Optional[Put] = None
        self._waiting: deque[tuple[int, pa.RecordBatch]] = deque()
        if seq is None:
            seq = (client.last_seq(table, writer) or 0) + 1
        #: The number of the next piece.
        self.seq = seq
        #: How many rows the table took of the pieces that have their answer.
        self.rows = 0
        #: How many of these pieces it held already.
        self.held = 0

    def append(self, data: Any, batch_rows: int = BATCH_ROWS) -> None:
        """Appends rows, in pieces of at most ``batch_rows``. Returns before the last pieces have their answers."""
        table = to_table(data).unify_dictionaries()
        for batch in table.to_batches(max_chunksize=batch_rows):
            number, self.seq = self.seq, self.seq + 1
            self._waiting.append((number, batch))
            self._do(lambda: self._send(number, batch))
            while len(self._waiting) >= PIECES_AHEAD:
                self._do(self._answer)

    def flush(self) -> None:
        """Waits until every piece has its answer."""
        while self._waiting:
            self._do(self._answer)

    def close(self) -> None:
        """Waits until every piece has its answer, and ends."""
        self.flush()
        if self._put is not None:
            self._put.close()
            self._put = None

    def _send(self, number: int, batch: pa.RecordBatch) -> None:
        if self._put is not None and self._put.schema != batch.schema:
            # Another schema is another stream; what is under way in this one comes first.
            while len(self._waiting) > 1:
                self._answer()
            self._put.close()
            self._put = None
        if self._put is None:
            self._put = Put(self._client, self._table, batch.schema)
        self._put.send(batch, json.dumps({"writer": self.writer, "seq": number}).encode())

    def _answer(self) -> None:
        assert self._put is not None
        answer = self._put.answer()
        self._waiting.popleft()
        self.rows += answer.rows
        self.held += int(answer.held)

    def _do(self, work: Callable[[], None]) -> None:
        until, pause = time.monotonic() + PATIENCE_S, 0.05
        while True:
            try:
                return work()
            except UnavailableError:
                self._put = None
                if time.monotonic() + pause > until:
                    raise
            except OrcaError:
                self._put = None
                self._waiting.clear()
                raise
            time.sleep(pause)
            pause = min(2 * pause, 2.0)
            work = self._again

    def _again(self) -> None:
        """Sends all that has no answer once more, and waits for the answers."""
        self._put = None
        for number, batch in list(self._waiting):
            self._send_alone(number, batch)

    def _send_alone(self, number: int, batch: pa.RecordBatch) -> None:
        put = Put(self._client, self._table, batch.schema)
        put.send(batch, json.dumps({"writer": self.writer, "seq": number}).encode())
        answer = put.answer()
        put.close()
        self._waiting.popleft()
        self.rows += answer.rows
        self.held += int(answer.held)

    def __enter__(self) -> "Appender":
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if failure is None:
            self.close()
        else:
            self._put, self._waiting = None, deque()
