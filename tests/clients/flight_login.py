"""A login by each of the ways that clients have; without one, nothing."""

import sys

import adbc_driver_flightsql.dbapi as dbapi
import adbc_driver_manager
import orca
import pyarrow.flight as flight

url = sys.argv[1]
location = url.replace("http://", "grpc://")


def denied(work):
    try:
        work()
    except (orca.DeniedError, flight.FlightUnauthenticatedError, adbc_driver_manager.Error) as error:
        return error
    raise AssertionError("was let in")


with orca.connect(url, "ann", "secret") as client:
    assert client.sql("select 1 as one").to_pylist() == [{"one": 1}]
    assert client.tables() == []
    client.run('createCatalog("lab")\nuse catalog lab\ncreateOrcaStreamTable("t", [`x], [INT])')
    client.append("t", {"x": [1]}, writer="w", seq=1)
    assert next(client.subscribe("t")).rows.num_rows == 1

with orca.connect(url) as stranger:
    denied(lambda: stranger.sql("select 1").to_arrow())
    denied(stranger.tables)
    denied(lambda: stranger.append("t", {"x": [2]}))
    denied(lambda: stranger.subscribe("t"))
with orca.connect(url, "ann", "guess") as guesser:
    denied(lambda: guesser.sql("select 1").to_arrow())

# By a handshake, as other programs do it.
login = {adbc_driver_manager.DatabaseOptions.USERNAME.value: "ann", adbc_driver_manager.DatabaseOptions.PASSWORD.value: "secret"}
with dbapi.connect(location, db_kwargs=login, autocommit=True) as connection, connection.cursor() as cursor:
    cursor.execute("select count(*) from t")
    assert cursor.fetchone() == (1,)
client = flight.connect(location)
token = client.authenticate_basic_token("ann", "secret")
options = flight.FlightCallOptions(headers=[token])
assert [info.total_records for info in client.list_flights(options=options)] == [1]
refused = denied(lambda: list(client.list_flights()))
assert isinstance(refused, flight.FlightUnauthenticatedError) and "login is required" in str(refused), refused
print("fine")
