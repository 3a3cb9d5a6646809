"""A connection to one server."""

from __future__ import annotations

import threading
import urllib.parse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import pyarrow as pa
import pyarrow.flight as flight

from . import _appending, _subscription
from ._appending import Appended, Appender
from ._errors import adbc_errors, of_flight
from ._rest import Rest, quote
from ._result import Result
from ._subscription import AsyncSubscription, Subscription

if TYPE_CHECKING:
    from ._graph import StreamGraph

URL = "http://127.0.0.1:8848"


def connect(
    url: str = URL,
    user: Optional[str] = None,
    password: Optional[str] = None,
    *,
    catalog: Optional[str] = None,
    timeout_s: float = 60.0,
) -> "Client":
    """A client of the server at this address.

    ``catalog`` is the one that bare names belong to; without it, the only one there is. ``timeout_s`` bounds how long a
    request may take; queries and subscriptions take as long as they take. Nothing is asked of the server yet.
    """
    return Client(url, user, password, catalog=catalog, timeout_s=timeout_s)


@dataclass(frozen=True)
class Ran:
    """What a script came to."""

    #: Its last value, as text that evaluates to it again.
    value: str
    #: The lines it printed.
    printed: tuple[str, ...]
    #: What its author may want to know.
    warnings: tuple[str, ...]
    #: The current catalog after it.
    catalog: Optional[str]


class Graph:
    """A graph of the server, by its name."""

    def __init__(self, client: "Client", name: str) -> None:
        self._client = client
        #: Its name.
        self.name = name

    def _path(self, rest: str = "") -> str:
        return f"/v1/graphs/{quote(self.name)}{rest}"

    def show(self) -> dict[str, Any]:
        """What it is, and its state."""
        answer: dict[str, Any] = self._client._rest.call("GET", self._path())
        return answer

    def explain(self) -> dict[str, Any]:
        """Its plan, placement, actions and facts."""
        answer: dict[str, Any] = self._client._rest.call("GET", self._path("/explain"), {"format": "json"})
        return answer

    def drop(self, include_tables: bool = False) -> None:
        """Stops it and forgets its state; its own public tables too, if they are included."""
        self._client._rest.call("DELETE", self._path(), {"include_tables": include_tables})

    def __repr__(self) -> str:
        return f"Graph({self.name!r})"


class Client:
    """One server. Made by :func:`connect`; may be used by several threads."""

    def __init__(
        self,
        url: str,
        user: Optional[str],
        password: Optional[str],
        *,
        catalog: Optional[str],
        timeout_s: float,
    ) -> None:
        self._rest = Rest(url, user, password, timeout_s)
        self._timeout_s = timeout_s
        self._catalog = catalog
        parts = urllib.parse.urlsplit(url if "//" in url else f"//{url}")
        secure = parts.scheme in ("https", "grpc+tls")
        host, port = parts.hostname or "127.0.0.1", parts.port or (443 if secure else 8848)
        host = f"[{host}]" if ":" in host else host
        self._location = f"{'grpc+tls' if secure else 'grpc+tcp'}://{host}:{port}"
        self._lock = threading.Lock()
        self._flight_client: Optional[flight.FlightClient] = None
        self._local = threading.local()
        self._connections: list[Any] = []

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._rest.url

    def sql(self, query: str, parameters: Optional[Sequence[Any]] = None) -> Result:
        """The rows of a query, as they come; an INSERT gives one row, the number of rows it inserted.

        ``parameters`` are the values of ``$1``, ``$2``, ….
        """
        with adbc_errors():
            cursor = self._connection().cursor()
            try:
                cursor.execute(query, tuple(parameters) if parameters is not None else None)
                return Result(cursor, cursor.fetch_record_batch())
            except BaseException:
                cursor.close()
                raise

    def append(
        self, table: str, data: Any, writer: Optional[str] = None, seq: Optional[int] = None
    ) -> Appended:
        """Appends rows to a public table: a pandas or polars frame, a pyarrow table, a dictionary of columns or a list of
        rows. Columns go by name.

        With a ``writer`` and a number ``seq`` all rows are one append, and to append them again under the same number
        changes nothing, so it may be retried; this method does so while the server is not there. Without, the rows go in
        appends of at most 65,536 rows, and a repeat appends again.
        """
        return _appending.append(self, self._full(table), _appending.to_table(data), writer, seq)

    def appender(self, table: str, writer: str, seq: Optional[int] = None) -> Appender:
        """Appends pieces under one writer and numbers them itself, from ``seq`` on; by default from the number after the
        last one that the table holds of this writer."""
        return Appender(self, self._full(table), writer, seq)

    def last_seq(self, table: str, writer: str) -> Optional[int]:
        """The last number that a table holds of a writer; ``None`` if there is none."""
        path = f"/v1/tables/{quote(self._full(table))}/writers/{quote(writer)}"
        answer: Optional[int] = self._rest.call("GET", path)["seq"]
        return answer

    def subscribe(
        self,
        table: str,
        start: Union[str, int] = "first",
        *,
        era: Optional[int] = None,
        filter: Optional[str] = None,
        slow: str = "wait",
        lag_rows_max: Optional[int] = None,
        rows_max: Optional[int] = None,
        reconnect_s: float = 30.0,
    ) -> Subscription:
        """Rows of a table from an offset on, as they come.

        ``start`` is ``"first"``, ``"next"`` or an offset; ``era`` the era of that offset. ``filter`` is a condition as it
        stands after WHERE. ``slow`` says what happens to a reader that is more than ``lag_rows_max`` rows behind:
        ``"wait"`` (it reads on), ``"drop_oldest"`` (it goes on with the newest rows) or ``"disconnect"``. ``rows_max``
        bounds the rows of one piece of news. When the connection breaks it goes on where it was, if the server is there
        again within ``reconnect_s``.
        """
        ticket = _subscription.ticket_of(self._full(table), start, era, filter, slow, lag_rows_max, rows_max)
        return Subscription(self, ticket, reconnect_s)

    def asubscribe(
        self,
        table: str,
        start: Union[str, int] = "first",
        *,
        era: Optional[int] = None,
        filter: Optional[str] = None,
        slow: str = "wait",
        lag_rows_max: Optional[int] = None,
        rows_max: Optional[int] = None,
        reconnect_s: float = 30.0,
    ) -> AsyncSubscription:
        """The same as :meth:`subscribe`, for ``async for``."""
        ticket = _subscription.ticket_of(self._full(table), start, era, filter, slow, lag_rows_max, rows_max)
        return AsyncSubscription(self, ticket, reconnect_s)

    def run(self, script: str, *, name: str = "python", session: Optional[str] = None) -> Ran:
        """Runs a script. Each has variables of its own, unless it goes on with a ``session``."""
        query = {"name": name, "session": session, "wait": True}
        ran = self._rest.call("POST", "/v1/scripts", query, script.encode(), timeout_s=max(self._timeout_s, 600.0))
        said = ran.get("said", [])
        return Ran(
            value=ran.get("value", ""),
            printed=tuple(line["text"] for line in said if line["kind"] == "printed"),
            warnings=tuple(line["text"] for line in said if line["kind"] == "warned"),
            catalog=ran.get("catalog"),
        )

    def submit(self, graph: "StreamGraph") -> Graph:
        """Submits a graph: runs the script it stands for."""
        self.run(graph.script(), name=f"{graph.name}.dos")
        return Graph(self, graph.full_name)

    def graphs(self) -> list[dict[str, Any]]:
        """The graphs there are, and their states."""
        answer: list[dict[str, Any]] = self._rest.call("GET", "/v1/graphs")
        return answer

    def graph(self, name: str) -> Graph:
        """A graph by its name."""
        return Graph(self, name)

    def tables(self) -> list[dict[str, Any]]:
        """The public tables there are."""
        answer: list[dict[str, Any]] = self._rest.call("GET", "/v1/tables")
        return answer

    def table(self, name: str) -> dict[str, Any]:
        """One public table, with its columns."""
        answer: dict[str, Any] = self._rest.call("GET", f"/v1/tables/{quote(self._full(name))}")
        return answer

    def schema(self, table: str) -> pa.Schema:
        """Names and types of a public table's columns."""
        try:
            return self._flight().get_schema(
                flight.FlightDescriptor.for_path(self._full(table)), self._options()
            ).schema
        except pa.ArrowException as error:
            raise of_flight(error) from error

    def dbapi(self) -> Any:
        """A new ADBC connection (``adbc_driver_flightsql.dbapi.Connection``), for what speaks DBAPI. Its maker closes it."""
        from adbc_driver_flightsql import DatabaseOptions, dbapi

        options: dict[str, str] = {}
        if self._rest.authorization is not None:
            options[DatabaseOptions.AUTHORIZATION_HEADER.value] = self._rest.authorization
        if self._catalog is not None:
            options[DatabaseOptions.RPC_CALL_HEADER_PREFIX.value + "orca-catalog"] = self._catalog
        options[DatabaseOptions.WITH_MAX_MSG_SIZE.value] = str(256 << 20)
        with adbc_errors():
            return dbapi.connect(self._location, db_kwargs=options, autocommit=True)

    def close(self) -> None:
        """Ends the connections."""
        with self._lock:
            connections, self._connections = self._connections, []
            flight_client, self._flight_client = self._flight_client, None
        self._local = threading.local()
        for connection in connections:
            connection.close()
        if flight_client is not None:
            flight_client.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def _full(self, table: str) -> str:
        """A bare name in this client's catalog."""
        if self._catalog is not None and "." not in table:
            return f"{self._catalog}.orca_table.{table}"
        return table

    def _connection(self) -> Any:
        """This thread's ADBC connection."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self.dbapi()
            with self._lock:
                self._connections.append(connection)
        return connection

    def _flight(self) -> flight.FlightClient:
        with self._lock:
            if self._flight_client is None:
                self._flight_client = flight.connect(self._location)
            return self._flight_client

    def _options(self, timeout_s: Optional[float] = None) -> flight.FlightCallOptions:
        headers = []
        if self._rest.authorization is not None:
            headers.append((b"authorization", self._rest.authorization.encode()))
        return flight.FlightCallOptions(timeout=timeout_s, headers=headers)
