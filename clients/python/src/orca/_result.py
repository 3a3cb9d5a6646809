"""The rows of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Optional

import pyarrow as pa

from ._errors import adbc_errors

if TYPE_CHECKING:
    import pandas
    import polars


class Result:
    """The rows of a query, as they come. They can be read once: as a whole, or batch by batch.

    Dropped or closed before its end, it ends the query.
    """

    def __init__(self, cursor: Any, reader: pa.RecordBatchReader) -> None:
        self._cursor = cursor
        self._reader: Optional[pa.RecordBatchReader] = reader
        self._schema = reader.schema

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._schema

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table."""
        batches = list(self)
        return pa.Table.from_batches(batches, self._schema)

    def to_pandas(self, **options: Any) -> "pandas.DataFrame":
        """All rows as a pandas frame; SYMBOL columns are categorical. ``options`` go to ``pyarrow.Table.to_pandas``."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> "polars.DataFrame":
        """All rows as a polars frame; SYMBOL columns are categorical."""
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def to_pylist(self) -> list[dict[str, Any]]:
        """All rows as dictionaries."""
        answer: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return answer

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The batches, each as it comes."""
        while self._reader is not None:
            with adbc_errors():
                try:
                    batch = self._reader.read_next_batch()
                except StopIteration:
                    break
                except (pa.ArrowException, OSError) as error:
                    from ._errors import of_adbc

                    self.close()
                    raise of_adbc(error) from error
            yield batch
        self.close()

    def close(self) -> None:
        """Ends it."""
        self._reader = None
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            cursor.close()

    def __enter__(self) -> "Result":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
