"""Frames of pandas, polars and pyarrow through the REST API, while rows arrive. Argument: the server's address."""

import io
import json
import sys
import urllib.request

import pandas
import polars
import pyarrow
import pyarrow.ipc

SERVER = sys.argv[1]
ARROW = "application/vnd.apache.arrow.stream"


def ask(path, media=None, body=None, accept=None):
    headers = {name: value for name, value in (("content-type", media), ("accept", accept)) if value}
    request = urllib.request.Request(SERVER + path, data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def sql(query, accept):
    return ask("/v1/sql", "text/plain", query.encode(), accept)


ask("/v1/scripts", "text/plain", b"""
use catalog market
createOrcaStreamTable("F", `sym`time`price`n, [SYMBOL, TIMESTAMP, DOUBLE, LONG])
""")

frame = pandas.DataFrame(
    {
        "sym": ["A", "B", None],
        "time": pandas.to_datetime(["2024-01-02 09:30:00", "2024-01-02 09:30:01", None]),
        "price": [1.5, None, 3.0],
        "n": [1, 2, 3],
    }
)


def stream(table):
    out = io.BytesIO()
    with pyarrow.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


rows = "/v1/tables/F/rows"
# pandas has nanoseconds, polars microseconds and large strings: the table has milliseconds and symbols.
done = json.loads(ask(f"{rows}?writer=pandas&seq=1", ARROW, stream(pyarrow.Table.from_pandas(frame))))
assert (done["rows"], done["held"]) == (3, False), done
done = json.loads(ask(f"{rows}?writer=polars&seq=1", ARROW, stream(polars.from_pandas(frame).to_arrow())))
assert done["offsets"] == {"start": 3, "end": 6}, done
done = json.loads(ask(rows, "text/csv", polars.from_pandas(frame).write_csv().encode()))
assert done["rows"] == 3, done
done = json.loads(ask(rows, "application/x-ndjson", frame.to_json(orient="records", lines=True, date_format="iso").encode()))
assert done["rows"] == 3, done

table = pyarrow.ipc.open_stream(sql("select * from F order by n, _offset", ARROW)).read_all()
assert table.num_rows == 12, table
assert table.column("n").to_pylist() == [1] * 4 + [2] * 4 + [3] * 4
assert len({str(value) for value in table.column("time").to_pylist()[:4]}) == 1, table.column("time")
assert table.column("sym").to_pylist() == ["A"] * 4 + ["B"] * 4 + [None] * 4
by_csv = pandas.read_csv(io.BytesIO(sql("select * from F where n = 1", "text/csv")), parse_dates=["time"])
assert (by_csv["price"] == 1.5).all() and len(by_csv) == 4, by_csv
by_json = polars.read_json(io.BytesIO(sql("select * from F where n = 2", "application/json")))
assert by_json["sym"].to_list() == ["B"] * 4, by_json

before = json.loads(sql("select count(*) as n from Trade", "application/json"))[0]["n"]
candles = polars.from_arrow(pyarrow.ipc.open_stream(sql("select * from kline_1min", ARROW)).read_all())
after = json.loads(sql("select count(*) as n from Trade", "application/json"))[0]["n"]
assert after >= before and "symbol" in candles.columns
print("ok")
