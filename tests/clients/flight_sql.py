"""What people do with ADBC: queries to pandas and polars, parameters, INSERT, what there is. Rows arrive meanwhile."""

import json
import sys

import adbc_driver_flightsql.dbapi as dbapi
import adbc_driver_manager
import pandas
import polars
import pyarrow as pa
import pyarrow.flight as flight

location = sys.argv[1]
connection = dbapi.connect(f"grpc://{location}", autocommit=True)


def refused(statement, parameters=None):
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement, parameters)
            cursor.fetchall()
        except adbc_driver_manager.Error as error:
            return error
    raise AssertionError(f"was not refused: {statement}")


# Rows, as Arrow, pandas and polars have them.
with connection.cursor() as cursor:
    cursor.execute("select symbol, datetime, price, volume from market.orca_table.Trade limit 20000")
    table = cursor.fetch_arrow_table()
assert table.num_rows == 20000
assert table.schema.types == [
    pa.dictionary(pa.int32(), pa.string()),
    pa.timestamp("ms"),
    pa.float64(),
    pa.int32(),
], table.schema
frame = table.to_pandas()
assert isinstance(frame["symbol"].dtype, pandas.CategoricalDtype)
assert frame["price"].min() > 0
assert polars.from_arrow(table)["symbol"].n_unique() == frame["symbol"].nunique()

# The same question has the same answer in each reader.
question = "select symbol, count(*) as n, sum(volume) as v from Trade where _offset < 10000 group by symbol order by symbol"
by_pandas = pandas.read_sql(question, connection)
by_polars = polars.read_database(question, connection)
assert by_pandas["n"].sum() == 10000
assert list(by_pandas["v"]) == by_polars["v"].to_list()

# A table that grows is counted as it is.
with connection.cursor() as cursor:
    counts = []
    for _ in range(5):
        cursor.execute("select count(*) from Trade")
        counts.append(cursor.fetchone()[0])
    assert counts == sorted(counts) and counts[0] >= 20000, counts

# Parameters take the type that the query wants.
with connection.cursor() as cursor:
    cursor.execute("select count(*) from Trade where _offset < $1 and price > $2", (1000, 0))
    assert cursor.fetchone() == (1000,)
    cursor.execute("select $1 + 1 as next", (41,))
    assert cursor.fetchone() == (42,)
    cursor.execute("select $1 as nothing", (None,))
    assert cursor.fetchone() == (None,)
assert "parameters are missing" in str(refused("select $1"))

# INSERT, once and many times.
with connection.cursor() as cursor:
    cursor.execute("insert into notes values ('a', 1), ('b', 2)")
    assert cursor.fetchall() == [(2,)]
    cursor.executemany("insert into notes values ($1, $2)", [("c", 3), ("d", 4), ("e", None)])
    assert cursor.rowcount == 3, cursor.rowcount
    cursor.execute("select * from notes")
    assert cursor.fetchall() == [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", None)]
    # An INSERT runs even if nobody reads what it gives.
    cursor.execute("insert into notes values ('f', 6)")
with connection.cursor() as cursor:
    cursor.execute("select count(*) from notes where text = 'f'")
    assert cursor.fetchone() == (1,)

# Bulk ingestion.
with connection.cursor() as cursor:
    rows = pa.table({"N": pa.array([7, 8], pa.int64()), "text": pa.array(["g", "h"]).dictionary_encode()})
    assert cursor.adbc_ingest("notes", rows, mode="append") == 2
    cursor.execute("select text, n from notes where n >= 7")
    assert cursor.fetchall() == [("g", 7), ("h", 8)]
    for name, mode, part in [("notes", "create", "already"), ("none", "append", "no such table"), ("none", "create", "script")]:
        try:
            cursor.adbc_ingest(name, rows, mode=mode)
        except adbc_driver_manager.Error as error:
            assert part in str(error), error
        else:
            raise AssertionError(f"was not refused: {name} {mode}")

    # Rows that do not fit are told of as such, however many follow them.
    text = pa.table({"n": ["one"] * 100_000, "text": ["x"] * 100_000}).to_reader(max_chunksize=1_000)
    try:
        cursor.adbc_ingest("notes", text, mode="append")
    except adbc_driver_manager.Error as error:
        assert "not a INT value: value=`one`, column=`n`, row=`1`" in str(error), error
    else:
        raise AssertionError("was not refused")

# Errors say what, and where.
error = refused("select prise from Trade")
assert error.status_code == adbc_driver_manager.AdbcStatusCode.NOT_FOUND, error.status_code
assert "1:8: unknown column: column=`prise` (did you mean `price`?)" in str(error), error
error = refused("drop table Trade")
assert "only queries are answered" in str(error), error

# What there is.
info = connection.adbc_get_info()
assert info["vendor_name"] == "Orca", info
assert connection.adbc_get_table_types() == ["SYSTEM TABLE", "TABLE"]
schema = connection.adbc_get_table_schema("Trade", db_schema_filter="orca_table")
assert schema.names == ["symbol", "datetime", "price", "volume"]
assert schema.field("symbol").type == pa.dictionary(pa.int32(), pa.string())
objects = connection.adbc_get_objects(depth="all").read_all().to_pylist()
[catalog] = [entry for entry in objects if entry["catalog_name"] == "market"]
tables = {
    (schema["db_schema_name"], table["table_name"]): table
    for schema in catalog["catalog_db_schemas"]
    for table in schema["db_schema_tables"]
}
assert tables["orca_table", "Trade"]["table_type"] == "TABLE"
assert tables["orca_sys", "graphs"]["table_type"] == "SYSTEM TABLE"
columns = [column["column_name"] for column in tables["orca_table", "Trade"]["table_columns"]]
assert columns == ["symbol", "datetime", "price", "volume"], columns

# A query that nobody reads to its end does not stand in the way.
with connection.cursor() as cursor:
    cursor.execute("select a.price from Trade a cross join Trade b")
    reader = cursor.fetch_record_batch()
    reader.read_next_batch()
    cursor.adbc_cancel()
with connection.cursor() as cursor:
    cursor.execute("select 1")
    assert cursor.fetchone() == (1,)

# One that somebody else cancels ends with an error, and only once.
client = flight.connect(f"grpc://{location}")
ticket = flight.Ticket(json.dumps({"sql": "select a.price from Trade a cross join Trade b", "id": "mine"}).encode())
reader = client.do_get(ticket)
reader.read_chunk()
endless = flight.FlightInfo(pa.schema([]), flight.FlightDescriptor.for_path("x"), [flight.FlightEndpoint(ticket, [])])
info = endless.serialize()
assert len(info) < 16_384
request = bytes([0x0A, len(info) & 0x7F | 0x80, len(info) >> 7]) + info
[answer] = client.do_action(flight.Action("CancelFlightInfo", request))
assert answer.body.to_pybytes() == bytes([8, 1])
try:
    while True:
        reader.read_chunk()
except flight.FlightCancelledError as error:
    assert "query was cancelled" in str(error), error
try:
    list(client.do_action(flight.Action("CancelFlightInfo", request)))
except KeyError as error:
    assert "no such query is running" in str(error), error
else:
    raise AssertionError("was cancelled twice")

connection.close()
print("fine")
