"""How fast rows go in and out by Flight, over loopback: a million rows of SYMBOL, TIMESTAMP, DOUBLE, INT.

    python bench/clients/flight.py 127.0.0.1:8848

Prints one JSON object. The table `bench.orca_table.flight` is made anew for each size of batches.
"""

import json
import statistics
import sys
import time
import urllib.request

import adbc_driver_flightsql.dbapi as dbapi
import numpy
import pyarrow as pa
import pyarrow.flight as flight

ROWS, RUNS = 1_000_000, 5
address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8848"
client = flight.connect(f"grpc://{address}")


def script(text):
    request = urllib.request.Request(f"http://{address}/v1/scripts", data=text.encode(), method="POST")
    request.add_header("Content-Type", "text/plain")
    urllib.request.urlopen(request).read()


def made():
    chance = numpy.random.default_rng(7)
    symbols = pa.DictionaryArray.from_arrays(
        pa.array(chance.integers(0, 500, ROWS), pa.int32()), [f"S{number:04}" for number in range(500)]
    )
    times = pa.array(1_704_187_800_000 + numpy.arange(ROWS), pa.timestamp("ms"))
    return pa.table(
        {
            "sym": symbols,
            "at": times,
            "price": pa.array(chance.uniform(1, 100, ROWS)),
            "qty": pa.array(chance.integers(1, 1000, ROWS), pa.int32()),
        }
    )


def append(batches, writer):
    began = time.perf_counter()
    put, answers = client.do_put(flight.FlightDescriptor.for_path("append", "bench.orca_table.flight"), batches[0].schema)
    waiting = 0
    for seq, batch in enumerate(batches, 1):
        put.write_with_metadata(batch, json.dumps({"writer": writer, "seq": seq}).encode() if writer else b"")
        waiting += 1
        if waiting >= 16:
            answers.read()
            waiting -= 1
    for _ in range(waiting):
        last = json.loads(answers.read().to_pybytes())
    put.close()
    return ROWS / (time.perf_counter() - began)


def read():
    began = time.perf_counter()
    ticket = json.dumps({"sql": f"select * from bench.orca_table.flight limit {ROWS}"}).encode()
    rows = client.do_get(flight.Ticket(ticket)).read_all().num_rows
    assert rows == ROWS
    return rows / (time.perf_counter() - began)


def read_adbc(connection):
    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(f"select * from bench.orca_table.flight limit {ROWS}")
        assert cursor.fetch_arrow_table().num_rows == ROWS
    return ROWS / (time.perf_counter() - began)


def median(work):
    return round(statistics.median(work() for _ in range(RUNS)))


table = made()
script('if (!existsCatalog("bench")) { createCatalog("bench") }')
figures = {"rows": ROWS, "bytes_a_row": table.nbytes // ROWS}
for batch_rows in (8_192, 65_536):
    batches = table.to_batches(max_chunksize=batch_rows)
    script(
        """
        use catalog bench
        try { dropOrcaStreamTable("flight") } catch (ex) { }
        createOrcaStreamTable("flight", `sym`at`price`qty, [SYMBOL, TIMESTAMP, DOUBLE, INT])
        """
    )
    runs = iter(range(1000))
    figures[f"append_rows_per_s_batches_of_{batch_rows}"] = median(lambda: append(batches, f"bench-{next(runs)}"))
figures["read_rows_per_s"] = median(read)
with dbapi.connect(f"grpc://{address}", autocommit=True) as connection:
    figures["read_rows_per_s_adbc"] = median(lambda: read_adbc(connection))
print(json.dumps(figures, indent=2))
