import asyncio
import threading
import time

import orca
import pytest


def ticks(first, rows):
    numbers = list(range(first, first + rows))
    return {"sym": [f"s{n % 3}" for n in numbers], "at": numbers, "price": [n / 2 for n in numbers], "qty": numbers}


def test_news_come_from_the_first_row_on_and_go_on(lab):
    lab.append("Tick", ticks(0, 100))
    with lab.subscribe("Tick") as subscription:
        news = next(subscription)
        assert news.rows["qty"].to_pylist() == list(range(100))
        assert (news.next, news.missed) == (100, 0)
        threading.Timer(0.2, lambda: lab.append("Tick", ticks(100, 10))).start()
        news = next(subscription)
        assert news.rows["qty"].to_pylist() == list(range(100, 110))
        assert subscription.next == 110


def test_start_filter_and_rows_max(lab):
    lab.append("Tick", ticks(0, 100))
    with lab.subscribe("Tick", start=40, rows_max=10) as subscription:
        assert next(subscription).rows["qty"].to_pylist() == list(range(40, 50))
    with lab.subscribe("Tick", filter="sym = 's1' and qty >= 50", rows_max=10) as subscription:
        assert next(subscription).rows["qty"].to_pylist() == [52, 55, 58]
    with lab.subscribe("Tick", start="next") as subscription:
        lab.append("Tick", ticks(500, 1))
        assert next(subscription).rows["qty"].to_pylist() == [500]
    with lab.subscribe("Tick", slow="drop_oldest", lag_rows_max=30) as subscription:
        news = next(subscription)
        assert news.missed == 71 and news.rows.num_rows == 30


def test_what_is_wrong_is_told(lab):
    with pytest.raises(orca.NotFoundError, match="unknown column"):
        lab.subscribe("Tick", filter="prise > 1")
    with pytest.raises(orca.NotFoundError):
        lab.subscribe("Tack")
    lab.append("Tick", ticks(0, 100))
    with pytest.raises(orca.UnavailableError, match="reader is too slow"):
        next(lab.subscribe("Tick", slow="disconnect", lag_rows_max=10))


def test_it_goes_on_where_it_was_when_the_connection_breaks(lab, wire):
    lab.append("Tick", ticks(0, 100))
    seen = []
    with orca.connect(wire.url, catalog=lab._catalog) as shaky, shaky.subscribe("Tick", rows_max=10) as subscription:
        while len(seen) < 100:
            seen += next(subscription).rows["qty"].to_pylist()
            if len(seen) in (30, 60, 90):
                wire.cut()
        threading.Timer(0.2, lambda: lab.append("Tick", ticks(100, 10))).start()
        threading.Timer(0.1, wire.cut).start()
        seen += next(subscription).rows["qty"].to_pylist()
    assert seen == list(range(110))


def test_close_ends_a_reader_that_waits(lab):
    subscription = lab.subscribe("Tick", start="next")
    threading.Timer(0.3, subscription.close).start()
    began = time.monotonic()
    assert list(subscription) == []
    assert time.monotonic() - began < 5


def test_asyncio(lab):
    async def read():
        seen = []
        async with lab.asubscribe("Tick") as subscription:
            lab.append("Tick", ticks(0, 50))
            async for news in subscription:
                seen += news.rows["qty"].to_pylist()
                if len(seen) >= 60:
                    return seen
                await asyncio.to_thread(lab.append, "Tick", ticks(50, 10))

    assert asyncio.run(asyncio.wait_for(read(), 20))[:60] == list(range(60))


def test_asyncio_can_be_cancelled_while_it_waits(lab):
    async def wait():
        async for _ in lab.asubscribe("Tick", start="next"):
            pass

    async def main():
        task = asyncio.create_task(wait())
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 5
