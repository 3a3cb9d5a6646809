"""Orca from Python: SQL, appends, subscriptions and stream graphs.

>>> import orca
>>> client = orca.connect()
>>> client.sql("select 1 + 1 as two").to_arrow().to_pylist()
[{'two': 2}]
"""

from ._appending import Appended, Appender
from ._client import Client, Graph, Ran, connect
from ._errors import (
    ConflictError,
    DataError,
    DeniedError,
    InternalError,
    InvalidError,
    NotFoundError,
    OrcaError,
    Problem,
    UnavailableError,
)
from ._graph import Code, Stream, StreamGraph, code
from ._result import Result
from ._subscription import AsyncSubscription, News, Subscription

__all__ = [
    "Appended",
    "Appender",
    "AsyncSubscription",
    "Client",
    "Code",
    "ConflictError",
    "DataError",
    "DeniedError",
    "Graph",
    "InternalError",
    "InvalidError",
    "News",
    "NotFoundError",
    "OrcaError",
    "Problem",
    "Ran",
    "Result",
    "Stream",
    "StreamGraph",
    "Subscription",
    "UnavailableError",
    "code",
    "connect",
]

__version__ = "0.1.0"
