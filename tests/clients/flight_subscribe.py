"""Subscriptions by pyarrow: from the first row, the next one or any offset; filters; what is told of the place."""

import json
import sys
import threading

import pyarrow as pa
import pyarrow.flight as flight

client = flight.connect(f"grpc://{sys.argv[1]}")
table = "market.orca_table.Trade"


def ticket(**wanted):
    return flight.Ticket(json.dumps({"subscribe": table, **wanted}).encode())


def read(reader, rows):
    """So many rows at least, and the last note."""
    batches, count = [], 0
    while count < rows:
        chunk = reader.read_chunk()
        note = json.loads(chunk.app_metadata.to_pybytes())
        batches.append(chunk.data)
        count += chunk.data.num_rows
    return pa.Table.from_batches(batches), note


def refused(**wanted):
    try:
        client.do_get(ticket(**wanted)).read_chunk()
    except (pa.ArrowException, KeyError) as error:
        return str(error)
    raise AssertionError(f"was not refused: {wanted}")


# From the first row on, in order, and on while rows arrive.
reader = client.do_get(ticket())
place = reader.read_chunk()
assert place.data.num_rows == 0 and json.loads(place.app_metadata.to_pybytes())["next"] == 0
rows, note = read(reader, 30_000)
reader.cancel()
expected = client.do_get(flight.Ticket(json.dumps({"sql": f"select * from {table} where _offset < {rows.num_rows}"}).encode()))
assert rows.unify_dictionaries().combine_chunks().equals(expected.read_all().unify_dictionaries().combine_chunks())
assert note["next"] == rows.num_rows and note["missed"] == 0

# Where one ended another goes on.
reader = client.do_get(ticket(**{"from": note["next"], "era": note["era"], "rows_max": 100}))
more, further = read(reader, 100)
assert further["next"] == note["next"] + more.num_rows
reader.cancel()

# The next row is behind those that are there.
reader = client.do_get(ticket(**{"from": "next"}))
place = json.loads(reader.read_chunk().app_metadata.to_pybytes())
assert place["next"] >= 30_000
rows, _ = read(reader, 100)
reader.cancel()

# A filter; the place goes on even where nothing is left.
dear = sorted(rows["price"].to_pylist())[rows.num_rows // 2]
reader = client.do_get(ticket(filter=f"price > {dear} and symbol is not null"))
rows, note = read(reader, 1_000)
assert min(rows["price"].to_pylist()) > dear and note["next"] > rows.num_rows
reader.cancel()

# Too slow, and what is said of it.
reader = client.do_get(ticket(slow="drop_oldest", lag_rows_max=500))
rows, note = read(reader, 500)
assert note["next"] > 20_000, note
reader.cancel()
try:
    reader = client.do_get(ticket(slow="disconnect", lag_rows_max=10))
    read(reader, 10**9)
except flight.FlightUnavailableError as error:
    assert "reader is too slow" in str(error) and "go on from=`0`" in str(error), error
else:
    raise AssertionError("was not disconnected")

# What is wrong is told.
assert "known=`wait, drop_oldest, disconnect`" in refused(slow="never")
assert "first, next or a number" in refused(**{"from": "last"})
assert "unknown field `form`" in refused(form=1)
assert "unknown column" in refused(filter="prise > 1")
assert "9" in refused(**{"from": 0, "era": 9})
assert refused(**{"from": 10**12})

# Many readers at once, each with all rows.
sums = []


def sum_up():
    mine = flight.connect(f"grpc://{sys.argv[1]}")
    reader = mine.do_get(ticket())
    rows, _ = read(reader, 20_000)
    sums.append(sum(rows["volume"].to_pylist()[:20_000]))
    reader.cancel()


threads = [threading.Thread(target=sum_up) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(sums) == 8 and len(set(sums)) == 1, sums
print("fine")
