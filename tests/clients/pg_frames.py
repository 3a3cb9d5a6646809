"""pandas, polars and ADBC's PostgreSQL driver against a server at work."""

import sys

import adbc_driver_postgresql.dbapi
import pandas
import polars
import pyarrow
import sqlalchemy

url = sys.argv[1]
query = "SELECT symbol, datetime, price, volume FROM trade LIMIT 1000"

engine = sqlalchemy.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
with engine.connect() as db:
    frame = pandas.read_sql(sqlalchemy.text(query), db)
    assert frame.shape == (1000, 4) and str(frame.dtypes["datetime"]).startswith("datetime64"), frame.dtypes
    assert frame.price.min() > 0
    frame = polars.read_database(query, db)
    assert frame.shape == (1000, 4) and frame.schema["datetime"] == polars.Datetime("us"), frame.schema

with adbc_driver_postgresql.dbapi.connect(url, autocommit=True) as db:
    with db.cursor() as cursor:
        cursor.execute(query)
        table = cursor.fetch_arrow_table()
        assert table.num_rows == 1000, table.num_rows
        kinds = {field.name: str(field.type) for field in table.schema}
        assert kinds == {"symbol": "string", "datetime": "timestamp[us]", "price": "double", "volume": "int32"}, kinds
        cursor.execute("SELECT * FROM every LIMIT 5")
        cursor.fetch_arrow_table()
        rows = pyarrow.table({"k": [f"adbc{i}" for i in range(1000)], "v": pyarrow.array(range(1000), pyarrow.int64())})
        assert cursor.adbc_ingest("pairs", rows, mode="append") in (-1, 1000)
        cursor.execute("SELECT count(*), sum(v) FROM pairs WHERE k LIKE 'adbc%'")
        assert cursor.fetchone() == (1000, 499500)
        cursor.execute("SELECT v FROM pairs WHERE k = $1", ("adbc7",))
        assert cursor.fetchone() == (7,)
    tables = db.adbc_get_objects(depth="columns").read_all().to_pylist()
    names = {table["table_name"] for catalog in tables for schema in catalog["catalog_db_schemas"] for table in schema["db_schema_tables"]}
    assert {"Trade", "pairs"} <= names, names
    assert db.adbc_get_table_schema("pairs").names == ["k", "v"]

frame = polars.read_database_uri(query, url, engine="adbc")
assert frame.shape == (1000, 4)
print("ok")
