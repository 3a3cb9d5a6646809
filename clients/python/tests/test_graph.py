import doctest

import orca
import orca._graph
import pytest

TRADE = {"symbol": "SYMBOL", "datetime": "TIMESTAMP", "price": "DOUBLE", "volume": "INT"}


def candles(catalog):
    g = orca.StreamGraph("klines", catalog=catalog)
    one, five = g.source("Trade", TRADE).fork(2)
    for stream, minutes in ((one, 1), (five, 5)):
        (
            stream.parallelize("symbol", 4)
            .time_series_engine(
                minutes * 60_000,
                minutes * 60_000,
                ["first(price)", "max(price)", "sum(volume)"],
                time_column="datetime",
                key="symbol",
            )
            .set_engine_name(f"minutes_{minutes}")
            .reactive_state_engine(["datetime", "first_price", "max_price * 2 as twice"], key="symbol")
            .sync()
            .sink(f"kline_{minutes}min")
        )
    return g


def test_the_examples_of_the_builder_are_true():
    assert doctest.testmod(orca._graph).failed == 0


def test_a_graph_is_submitted_shown_explained_and_dropped(client, catalog):
    graph = client.submit(candles(catalog))
    assert graph.name == f"{catalog}.orca_graph.klines"
    assert [entry["state"] for entry in client.graphs() if entry["graph"] == graph.name] == ["running"]
    assert graph.show()["graph"] == graph.name
    assert graph.explain()
    trade = f"{catalog}.orca_table.Trade"
    rows = [("A", "2024-01-02T09:30:01", 10.0, 100), ("A", "2024-01-02T09:30:59", 11.0, 200)]
    rows += [("A", "2024-01-02T09:31:00", 12.0, 400)]
    client.append(trade, [dict(zip(TRADE, row)) for row in rows])
    with client.subscribe(f"{catalog}.orca_table.kline_1min") as news:
        [row] = next(news).rows.to_pylist()
    assert (row["symbol"], row["first_price"], row["twice"]) == ("A", 10.0, 22.0)
    tables = {entry["table"] for entry in client.tables()}
    assert {trade, f"{catalog}.orca_table.kline_5min"} <= tables
    assert [column["name"] for column in client.table(trade)["columns"]] == list(TRADE)
    assert client.schema(trade).names == list(TRADE)
    graph.drop(include_tables=True)
    with pytest.raises(orca.NotFoundError):
        client.table(f"{catalog}.orca_table.kline_5min")


def test_every_call_of_the_builder_is_one_that_the_server_knows(client, catalog):
    g = orca.StreamGraph("all", catalog=catalog)
    g.set_config_map({"subscription.batchSize": 100})
    quotes = g.keyed_source("Quote", ["symbol", "id"], {"id": "LONG", **TRADE}, cache_size=5_000)
    newest = g.latest_keyed_source("Newest", "symbol", "datetime", TRADE, cache_size=5_000, retention_minutes=60)
    dear = quotes.map("t -> select symbol, datetime, price from t where price > 1").set_local_config_once(
        {"subscription.throttle": 1}
    )
    dear.buffer("dear").sink("dear_too", compress=False)
    dear.keyed_buffer("dear_keyed", "symbol", cache_size=2_000).keyed_sink("dear_keyed_too", ["symbol"], cache_size=2_000)
    newest.latest_keyed_buffer("last", "symbol", "datetime", cache_size=2_000).latest_keyed_sink(
        "last_too", "symbol", ["datetime"], cache_size=2_000
    )
    newest.engine("reactiveStateEngine", orca.code("<[price * 2 as twice]>"), keyColumn="symbol").sink("twice")
    newest.reactive_state_engine("price + 1 as more", key="symbol", filter="price > 0").sink("more")
    client.submit(g)
    other = orca.StreamGraph("other", catalog=catalog)
    other.source_by_name("dear").reactive_state_engine(["price"], key="symbol").sink("dear_again")
    graph = client.submit(other)
    client.append(f"{catalog}.orca_table.Newest", {"symbol": ["A"], "datetime": [1], "price": [3.0], "volume": [1]})
    with client.subscribe(f"{catalog}.orca_table.twice") as news:
        assert next(news).rows["twice"].to_pylist() == [6.0]
    graph.drop()


def test_a_graph_that_is_wrong_says_all_that_is(client, catalog):
    g = orca.StreamGraph("wrong", catalog=catalog)
    s = g.source("Trade", TRADE)
    s.reactive_state_engine(["prise + 1"], key="symbol").sink("a")
    s.parallelize("symbool", 2).sync().sink("b")
    with pytest.raises(orca.InvalidError) as caught:
        client.submit(g)
    told = [error.message for error in caught.value.errors]
    assert any("prise" in message for message in told) and any("symbool" in message for message in told), told
    lines = g.script().split("\n")
    assert "prise" in lines[caught.value.errors[0].line - 1]


def test_a_script_has_a_value_and_says_what_it_prints(client):
    ran = client.run('print("here")\n1 + 2')
    assert (ran.value, ran.printed) == ("3", ("here",))
    with pytest.raises(orca.InvalidError) as caught:
        client.run("1 +\n  nonsuch")
    assert caught.value.line == 2


def test_names_and_values_are_written_as_the_language_has_them():
    with pytest.raises(ValueError):
        orca.StreamGraph("bare")
    with pytest.raises(ValueError):
        orca.StreamGraph("a b", catalog="lab")
    assert orca.StreamGraph("lab.orca_graph.g").full_name == "lab.orca_graph.g"
    g = orca.StreamGraph("g", catalog="lab")
    g.source('a"b\\', {"x": "DOUBLE", "y": "DECIMAL64(2)"}, compress=False)
    assert 'g.source("a\\"b\\\\", ["x", "y"], [DOUBLE, "DECIMAL64(2)"], compress=false)' in g.script()
