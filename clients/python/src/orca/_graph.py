"""Stream graphs, built as a script builds them; a graph prints the script it stands for."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional, Sequence, Union

#: Names of columns and their types, as the script language writes these.
Columns = Mapping[str, str]

#: One column or several.
Names = Union[str, Sequence[str]]

#: Expressions over columns, such as ``"first(price)"``; or code that is written out.
Metrics = Union[str, "Code", Sequence[str]]


class Code(str):
    """A piece of script that is written as it stands, such as ``code("5m")``."""


def code(text: str) -> Code:
    """A piece of script that is written as it stands."""
    return Code(text)


class StreamGraph:
    """A graph under construction. Nothing runs until it is submitted.

    >>> g = StreamGraph("doubled", catalog="lab")
    >>> s = g.source("Trade", {"sym": "SYMBOL", "price": "DOUBLE"})
    >>> s = s.reactive_state_engine(["price * 2 as twice"], key="sym").sink("doubled")
    >>> print(g.script())
    if (!existsCatalog("lab")) {
        createCatalog("lab")
    }
    go
    use catalog lab
    <BLANKLINE>
    g = createStreamGraph("doubled")
    g.source("Trade", ["sym", "price"], [SYMBOL, DOUBLE])
        .reactiveStateEngine(<[price * 2 as twice]>, keyColumn="sym")
        .sink("doubled")
    g.submit()
    """

    def __init__(self, name: str, catalog: Optional[str] = None) -> None:
        parts = name.split(".")
        if len(parts) == 3 and parts[1].lower() == "orca_graph" and catalog in (None, parts[0]):
            catalog, name = parts[0], parts[2]
        elif len(parts) > 1:
            raise ValueError(f"a graph's name is bare or full, catalog.orca_graph.name: {name!r}")
        if catalog is None:
            raise ValueError("a graph is in a catalog: StreamGraph(name, catalog=...), or a full name")
        for part in (catalog, name):
            if not re.fullmatch(r"[^\W\d_]\w*", part):
                raise ValueError(f"a name starts with a letter and has letters, digits and underscores: {part!r}")
        #: Its name in its catalog.
        self.name = name
        #: Its catalog, which is created if it does not exist.
        self.catalog = catalog
        self._config: Optional[Mapping[str, Any]] = None
        self._nodes: list[_Node] = []

    @property
    def full_name(self) -> str:
        """Its full name."""
        return f"{self.catalog}.orca_graph.{self.name}"

    def source(self, name: str, columns: Columns, **kept: Any) -> "Stream":
        """A public table whose rows come into the graph. ``kept`` says how the table is kept (``cache_size=…``)."""
        return self._begin("source", [name, *_declared(columns)], kept)

    def keyed_source(self, name: str, key: Names, columns: Columns, **kept: Any) -> "Stream":
        """A source that takes the first row of each key."""
        return self._begin("keyedSource", [name, key, *_declared(columns)], kept)

    def latest_keyed_source(
        self, name: str, key: Names, time_column: Names, columns: Columns, **kept: Any
    ) -> "Stream":
        """A source that takes a row if it is newer than the newest one of its key."""
        return self._begin("latestKeyedSource", [name, key, time_column, *_declared(columns)], kept)

    def source_by_name(self, name: str) -> "Stream":
        """A public table that exists already, such as one another graph writes."""
        return self._begin("sourceByName", [name], {})

    def set_config_map(self, config: Mapping[str, Any]) -> "StreamGraph":
        """Sets how rows are handed on in the whole graph; gives the graph."""
        self._config = dict(config)
        return self

    def script(self, checkpoints: Optional[Mapping[str, Any]] = None) -> str:
        """The script that builds and submits it. ``checkpoints`` says when its state is kept."""
        lines = [
            f"if (!existsCatalog({_text(self.catalog)})) {{",
            f"    createCatalog({_text(self.catalog)})",
            "}",
            "go",
            f"use catalog {self.catalog}",
            "",
            f"g = createStreamGraph({_text(self.name)})",
        ]
        if self._config is not None:
            lines.append(f"g.setConfigMap({_value(self._config)})")
        for node in self._nodes:
            if node.is_variable:
                lines.append(f"{node.variable} = {node.chain()}")
            elif not node.children:
                lines.append(node.chain())
        lines.append(f"g.submit({'' if checkpoints is None else _value(checkpoints)})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return f"StreamGraph({self.full_name!r})"

    def _begin(self, call: str, given: Sequence[Any], more: Mapping[str, Any]) -> "Stream":
        return Stream(self, self._add(None, None, _call(call, given, more)))

    def _add(self, parent: Optional["_Node"], branch: Optional[int], call: str) -> "_Node":
        node = _Node(len(self._nodes) + 1, parent, branch, call)
        if parent is not None:
            parent.children += 1
        self._nodes.append(node)
        return node


class _Node:
    """One call of the script."""

    def __init__(self, number: int, parent: Optional["_Node"], branch: Optional[int], call: str) -> None:
        self.variable = f"s{number}"
        self.parent = parent
        self.branch = branch
        self.call = call
        self.children = 0

    @property
    def is_variable(self) -> bool:
        """Several go on from it, so it needs a name."""
        return self.children > 1 or self.call.startswith("fork(")

    def chain(self) -> str:
        """The calls up to this one, from the nearest that has a name."""
        calls: list[str] = []
        node: Optional[_Node] = self
        while node is not None:
            calls.append(node.call)
            above, branch = node.parent, node.branch
            if above is not None and above.is_variable:
                start = above.variable + ("" if branch is None else f"[{branch}]")
                break
            node = above
        else:
            start = "g"
        first, *others = reversed(calls)
        return "".join([f"{start}.{first}", *(f"\n    .{call}" for call in others)])


class Stream:
    """The rows that a call gives; every method adds a call and gives the stream behind it."""

    def __init__(self, graph: StreamGraph, node: _Node, branch: Optional[int] = None) -> None:
        self.graph = graph
        self._node = node
        self._branch = branch

    def time_series_engine(
        self,
        window_size: Any,
        step: Any,
        metrics: Metrics,
        *,
        time_column: Optional[Names] = None,
        use_system_time: Optional[bool] = None,
        key: Optional[Names] = None,
        **more: Any,
    ) -> "Stream":
        """One row for each key and window, when the window closes. ``more`` are the engine's other parameters
        (``use_window_start_time=True``)."""
        named = {"timeColumn": time_column, "useSystemTime": use_system_time, "keyColumn": key}
        return self._then("timeSeriesEngine", [window_size, step, _metrics(metrics)], {**named, **more})

    def reactive_state_engine(self, metrics: Metrics, *, key: Optional[Names] = None, **more: Any) -> "Stream":
        """One row for each row, of expressions that may look back within their key. ``filter`` and ``key_purge_filter`` are
        expressions too."""
        for name in ("filter", "key_purge_filter"):
            if isinstance(more.get(name), str) and not isinstance(more[name], Code):
                more[name] = Code(f"<{more[name]}>")
        return self._then("reactiveStateEngine", [_metrics(metrics)], {"keyColumn": key, **more})

    def engine(self, name: str, *arguments: Any, **more: Any) -> "Stream":
        """Any engine by the name a script calls it; metrics are given as :func:`code`, ``code("<[sum(x)]>")``."""
        return self._then(name, list(arguments), more)

    def map(self, function: str) -> "Stream":
        """Changes each batch by a function, ``"t -> select * from t where price > 0"``."""
        return self._then("map", [Code(function)], {})

    def fork(self, count: int) -> tuple["Stream", ...]:
        """The same rows in several branches."""
        if count < 2:
            raise ValueError(f"a fork has at least 2 branches: {count}")
        node = self._add("fork", [count], {})
        return tuple(Stream(self.graph, node, branch) for branch in range(count))

    def parallelize(self, column: str, count: int) -> "Stream":
        """Splits the rows by a column's value, until :meth:`sync`."""
        return self._then("parallelize", [column, count], {})

    def sync(self) -> "Stream":
        """Merges the parts again, in the order of the rows that caused theirs."""
        return self._then("sync", [], {})

    def set_engine_name(self, name: str) -> "Stream":
        """Names the engine just defined."""
        return self._then("setEngineName", [name], {})

    def set_local_config_once(self, config: Mapping[str, Any]) -> "Stream":
        """Sets how rows are handed on to the next node."""
        return self._then("setLocalConfigOnce", [config], {})

    def buffer(self, name: str, **kept: Any) -> "Stream":
        """Keeps the rows in a public table and goes on with them."""
        return self._then("buffer", [name], kept)

    def keyed_buffer(self, name: str, key: Names, **kept: Any) -> "Stream":
        """A buffer that takes the first row of each key."""
        return self._then("keyedBuffer", [name, key], kept)

    def latest_keyed_buffer(self, name: str, key: Names, time_column: Names, **kept: Any) -> "Stream":
        """A buffer that takes a row if it is newer than the newest one of its key."""
        return self._then("latestKeyedBuffer", [name, key, time_column], kept)

    def sink(self, name: str, **kept: Any) -> "Stream":
        """Writes the rows to a public table. The stream can go on."""
        return self._then("sink", [name], kept)

    def keyed_sink(self, name: str, key: Names, **kept: Any) -> "Stream":
        """A sink that takes the first row of each key."""
        return self._then("keyedSink", [name, key], kept)

    def latest_keyed_sink(self, name: str, key: Names, time_column: Names, **kept: Any) -> "Stream":
        """A sink that takes a row if it is newer than the newest one of its key."""
        return self._then("latestKeyedSink", [name, key, time_column], kept)

    def _then(self, call: str, given: Sequence[Any], more: Mapping[str, Any]) -> "Stream":
        return Stream(self.graph, self._add(call, given, more))

    def _add(self, call: str, given: Sequence[Any], more: Mapping[str, Any]) -> _Node:
        return self.graph._add(self._node, self._branch, _call(call, given, more))


def _declared(columns: Columns) -> list[Any]:
    plain = re.compile(r"[A-Z][A-Z0-9]*")
    types = [Code(ty.upper()) if plain.fullmatch(ty.upper()) else ty for ty in columns.values()]
    return [list(columns), types]


def _metrics(metrics: Metrics) -> Code:
    if isinstance(metrics, Code):
        return metrics
    return Code(f"<[{metrics if isinstance(metrics, str) else ', '.join(metrics)}]>")


def _call(name: str, given: Sequence[Any], more: Mapping[str, Any]) -> str:
    named = (f"{_camel(key)}={_value(value)}" for key, value in more.items() if value is not None)
    return f"{name}({', '.join([*map(_value, given), *named])})"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _value(value: Any) -> str:
    """A value as the script language writes it."""
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(str(key))}: {_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_value, value)) + "]"
    raise TypeError(f"a script has no value of this type: {type(value).__name__}")


def _text(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'
