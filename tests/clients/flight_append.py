"""Appends by pyarrow: one a batch, idempotent by writer and number, however often and in whatever order they are retried."""

import json
import random
import sys

import pyarrow as pa
import pyarrow.flight as flight

client = flight.connect(f"grpc://{sys.argv[1]}")
table = "lab.orca_table.ticks"


def batch(first, rows=10):
    numbers = range(first, first + rows)
    return pa.record_batch(
        {
            "n": pa.array(numbers, pa.int64()),
            "sym": pa.array([f"s{number % 7}" for number in numbers]).dictionary_encode(),
            "at": pa.array([number * 1000 for number in numbers], pa.timestamp("us")),
            "x": pa.array([number / 2 for number in numbers], pa.float32()),
        }
    )


def put(batches, notes, path=("append", table)):
    writer, reader = client.do_put(flight.FlightDescriptor.for_path(*path), batches[0].schema)
    answers = []
    try:
        for rows, note in zip(batches, notes):
            writer.write_with_metadata(rows, json.dumps(note).encode() if note is not None else b"")
            told = reader.read()
            if told is None:
                break
            answers.append(json.loads(told.to_pybytes()))
    finally:
        writer.close()
    return answers


def refused(batches, notes, path=("append", table)):
    try:
        put(batches, notes, path)
    except (pa.ArrowException, pa.ArrowInvalid, KeyError) as error:
        return str(error)
    raise AssertionError("was not refused")


# Each batch is an append and has an answer.
answers = put([batch(0), batch(10)], [{"writer": "w", "seq": 1}, {"writer": "w", "seq": 2}])
assert answers == [
    {"seq": 1, "rows": 10, "held": False, "start": 0, "end": 10},
    {"seq": 2, "rows": 10, "held": False, "start": 10, "end": 20},
], answers

# A repeat changes nothing, and says where its rows are.
answers = put([batch(0)], [{"writer": "w", "seq": 1}])
assert answers == [{"seq": 1, "rows": 10, "held": True, "start": 0, "end": 10}], answers

# Other rows under a used number are refused.
assert "w" in refused([batch(50)], [{"writer": "w", "seq": 2}])

# Without a note the server writes, under its own numbers.
answers = put([batch(20), batch(30)], [None, None])
assert [answer["held"] for answer in answers] == [False, False]
assert [(answer["start"], answer["end"]) for answer in answers] == [(20, 30), (30, 40)]

# What is wrong is told by its name.
wrong = batch(0)
assert "missing column: column=`x`" in refused([wrong.select(["n", "sym", "at"])], [None])
told = refused([wrong.append_column("symb", wrong["x"])], [None])
assert "unknown column: column=`symb`" in told and "did you mean `sym`" in told, told
text = wrong.set_column(3, "x", pa.array(["one"] * 10))
assert "not a DOUBLE value: value=`one`, column=`x`, row=`1`" in refused([text], [None])
assert "writer and seq go together" in refused([wrong], [{"writer": "w"}])
assert "unknown field `sequence`" in refused([wrong], [{"writer": "w", "sequence": 1}])
assert "the writer is not a client" in refused([wrong], [{"writer": "journal/1/sink", "seq": 1}])
assert "no such table" in refused([wrong], [None], ("append", "lab.orca_table.none"))
assert "known=`append/TABLE`" in refused([wrong], [None], ("put", table))

# Appends that are retried at random, each on a connection that may break off before its answer: each row once.
chance, pieces = random.Random(11), 60
# A writer's numbers come in order, but those before may come again at any time.
for number in range(1, pieces + 1):
    again = [number] + [chance.randint(1, number) for _ in range(chance.randint(0, 3))]
    for seq in again:
        writer, reader = client.do_put(flight.FlightDescriptor.for_path("append", table), batch(0).schema)
        writer.write_with_metadata(batch(1000 + 10 * seq), json.dumps({"writer": "retried", "seq": seq}).encode())
        if chance.random() < 0.3 and seq != number:
            # Gone before the answer.
            del reader, writer
        else:
            assert json.loads(reader.read().to_pybytes())["seq"] == seq
            writer.close()

info = client.get_flight_info(flight.FlightDescriptor.for_path(table))
assert info.total_records == 40 + 10 * pieces, info.total_records
rows = client.do_get(info.endpoints[0].ticket).read_all()
numbers = [number for number in rows["n"].to_pylist() if number >= 1000]
assert sorted(numbers) == list(range(1010, 1010 + 10 * pieces))
assert rows["sym"].to_pylist()[:3] == ["s0", "s1", "s2"]
assert rows.schema.equals(client.get_schema(flight.FlightDescriptor.for_path(table)).schema)
assert [entry.descriptor.path for entry in client.list_flights()] == [[table.encode()]]
print("fine")
