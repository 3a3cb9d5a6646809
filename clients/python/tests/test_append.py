import random
import threading

import orca
import pandas
import polars
import pyarrow as pa
import pytest

ROW = {"sym": "A", "at": 1_000, "price": 1.5, "qty": 3}
COLUMNS = {name: [value] for name, value in ROW.items()}


@pytest.mark.parametrize(
    "data",
    [
        COLUMNS,
        [ROW],
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        pa.table(COLUMNS).to_reader(),
        pandas.DataFrame(COLUMNS),
        pandas.DataFrame(COLUMNS, index=["x"]).astype({"sym": "category"}),
        polars.DataFrame(COLUMNS),
        polars.DataFrame(COLUMNS).with_columns(polars.col("sym").cast(polars.Categorical)),
    ],
    ids=["columns", "rows", "table", "batch", "reader", "pandas", "pandas-category", "polars", "polars-category"],
)
def test_rows_in_every_form(lab, data):
    assert lab.append("Tick", data) == orca.Appended(rows=1, seq=1, held=False, start=0, end=1)
    rows = lab.sql("select sym, price, qty from Tick").to_pylist()
    assert rows == [{"sym": "A", "price": 1.5, "qty": 3}]


def test_what_is_no_rows_is_refused(lab):
    with pytest.raises(TypeError):
        lab.append("Tick", 7)
    with pytest.raises(ValueError):
        lab.append("Tick", COLUMNS, writer="w")


def test_a_repeat_under_the_same_number_changes_nothing(lab):
    first = lab.append("Tick", COLUMNS, writer="w", seq=5)
    again = lab.append("Tick", COLUMNS, writer="w", seq=5)
    assert (first.held, again.held) == (False, True)
    assert (again.start, again.end) == (first.start, first.end)
    assert lab.last_seq("Tick", "w") == 5
    with pytest.raises(orca.ConflictError):
        lab.append("Tick", {**COLUMNS, "qty": [4]}, writer="w", seq=5)


def test_a_wrong_column_is_named(lab):
    with pytest.raises(orca.InvalidError, match=r"unknown column: column=`pricee`.*did you mean `price`\?"):
        lab.append("Tick", {"sym": ["A"], "at": [1], "pricee": [1.0], "qty": [1]})
    with pytest.raises(orca.NotFoundError, match="no such table"):
        lab.append("Tack", COLUMNS)


def test_many_rows_go_in_pieces(lab):
    rows = 200_000
    frame = {"sym": ["A", "B"] * (rows // 2), "at": range(rows), "price": [1.0] * rows, "qty": range(rows)}
    taken = lab.append("Tick", {name: list(values) for name, values in frame.items()})
    assert (taken.rows, taken.start, taken.end) == (rows, 0, rows)
    sums = lab.sql("select count(*) as n, sum(qty) as s from Tick").to_pylist()
    assert sums == [{"n": rows, "s": rows * (rows - 1) // 2}]


def test_an_appender_numbers_its_pieces_and_goes_on_where_it_stopped(lab):
    def piece(number):
        return {"sym": ["A"], "at": [number], "price": [1.0], "qty": [number]}

    with lab.appender("Tick", writer="loader") as appender:
        for number in range(100):
            appender.append(piece(number))
    assert (appender.rows, appender.held, appender.seq) == (100, 0, 101)
    # The same from the start again changes nothing.
    with lab.appender("Tick", writer="loader", seq=1) as appender:
        for number in range(100):
            appender.append(piece(number))
    assert (appender.rows, appender.held) == (100, 100)
    # By default it goes on behind what the table holds.
    with lab.appender("Tick", writer="loader") as appender:
        assert appender.seq == 101
        appender.append(piece(100))
    assert lab.sql("select count(distinct qty) as d, count(*) as n from Tick").to_pylist() == [{"d": 101, "n": 101}]


def test_an_appender_sends_again_what_had_no_answer(lab, wire):
    chance = random.Random(3)
    with orca.connect(wire.url, catalog=lab._catalog) as shaky:
        with shaky.appender("Tick", writer="broken") as appender:
            for number in range(300):
                appender.append({"sym": ["A"], "at": [number], "price": [1.0], "qty": [number]})
                if chance.random() < 0.05:
                    # What was sent may have come or not.
                    wire.cut()
        assert appender.rows == 300
    numbers = lab.sql("select qty from Tick").to_arrow()["qty"].to_pylist()
    assert numbers == list(range(300))


def test_an_append_under_a_number_is_tried_again(lab, wire):
    with orca.connect(wire.url, catalog=lab._catalog) as shaky:
        for number in range(1, 30):
            if number % 3 == 0:
                threading.Timer(0.001 * (number % 5), wire.cut).start()
            shaky.append("Tick", {**COLUMNS, "qty": [number]}, writer="single", seq=number)
    numbers = lab.sql("select qty from Tick").to_arrow()["qty"].to_pylist()
    assert numbers == list(range(1, 30))


def test_an_appender_that_is_refused_says_why(lab):
    with pytest.raises(orca.InvalidError, match="missing column"):
        with lab.appender("Tick", writer="wrong") as appender:
            appender.append({"sym": ["A"]})
            appender.flush()
