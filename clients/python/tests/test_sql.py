import datetime

import orca
import pandas
import polars
import pyarrow as pa
import pytest


def test_a_query_comes_as_arrow_pandas_polars_and_batches(lab):
    lab.append("Tick", {"sym": ["A", "B", None], "at": [1, 2, 3], "price": [1.5, 2.5, None], "qty": [1, 2, 3]})
    table = lab.sql("select * from Tick").to_arrow()
    assert table.schema.field("sym").type == pa.dictionary(pa.int32(), pa.string())
    assert table.column("sym").to_pylist() == ["A", "B", None]
    frame = lab.sql("select * from Tick").to_pandas()
    assert isinstance(frame["sym"].dtype, pandas.CategoricalDtype)
    assert frame["at"][0] == pandas.Timestamp("1970-01-01 00:00:00.001")
    frame = lab.sql("select * from Tick").to_polars()
    assert isinstance(frame, polars.DataFrame) and frame["price"].to_list() == [1.5, 2.5, None]
    assert sum(batch.num_rows for batch in lab.sql("select * from Tick")) == 3
    assert lab.sql("select * from Tick where qty > 5").to_arrow().num_rows == 0


def test_parameters_are_values_and_no_text(lab):
    lab.append("Tick", [{"sym": "A'; drop", "at": datetime.datetime(2024, 1, 2), "price": 1, "qty": 2}])
    rows = lab.sql("select qty from Tick where sym = $1 and price < $2", ["A'; drop", 7]).to_pylist()
    assert rows == [{"qty": 2}]
    at = datetime.datetime(2024, 1, 2)
    assert lab.sql("select count(*) as n from Tick where at = $1", [at]).to_pylist() == [{"n": 1}]


def test_insert_gives_how_many(lab):
    assert lab.sql("insert into Tick values ('A', null, 1.0, 1)").to_pylist() == [{"rows": 1}]
    assert lab.sql("select qty from Tick").to_pylist() == [{"qty": 1}]


def test_an_error_has_kind_and_place(lab):
    with pytest.raises(orca.NotFoundError) as caught:
        lab.sql("select sym,\n  prise from Tick")
    assert (caught.value.line, caught.value.column) == (2, 3)
    assert caught.value.errors[0].message == "unknown column: column=`prise` (did you mean `price`?)"
    assert caught.value.kind == "not_found"


def test_a_text_that_is_no_query_is_invalid(lab):
    with pytest.raises(orca.InvalidError) as caught:
        lab.sql("selec 1")
    assert caught.value.kind == "invalid"


def test_a_result_that_is_not_read_to_its_end_is_no_burden(lab):
    lab.append("Tick", {"sym": ["A"] * 100_000, "at": [1] * 100_000, "price": [1.0] * 100_000, "qty": [1] * 100_000})
    for _ in range(20):
        with lab.sql("select a.qty from Tick a cross join Tick b") as result:
            next(iter(result))
    assert lab.sql("select 1 as one").to_pylist() == [{"one": 1}]


def test_dbapi_is_a_connection_of_its_own(lab):
    with lab.dbapi() as connection, connection.cursor() as cursor:
        cursor.execute("select 42")
        assert cursor.fetchone() == (42,)


def test_no_server_is_unavailable():
    with orca.connect("http://127.0.0.1:9") as nowhere:
        with pytest.raises(orca.UnavailableError):
            nowhere.sql("select 1").to_arrow()
        with pytest.raises(orca.UnavailableError):
            nowhere.tables()
