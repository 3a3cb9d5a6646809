"""psycopg against a server at work: queries, parameters, both formats, cursors, pipelines, COPY, errors, cancel."""

import datetime
import decimal
import sys
import threading
import uuid

import psycopg
from psycopg import sql

url = sys.argv[1]


def expect(error, state, work):
    try:
        work()
    except error as caught:
        assert caught.sqlstate == state, (caught.sqlstate, state, caught)
        return caught
    raise AssertionError(f"no error, {state} was expected")


with psycopg.connect(url, autocommit=True) as db:
    assert db.info.server_version == 160006, db.info.server_version
    assert db.info.parameter_status("TimeZone") == "UTC"

    # Names know no case; rows keep coming while they are counted.
    first = db.execute("SELECT count(*) FROM TRADE").fetchone()[0]
    while db.execute("select count(*) from trade").fetchone()[0] <= first:
        pass

    # Every type, in both formats.
    db.execute(
        "INSERT INTO every VALUES (true, 1, 2, 3, 4, DATE '2024-02-03', TIMESTAMP '2024-02-03 04:05:06.007',"
        " 1.5, 2.5, 'sym', 'text ''quoted''', 12.34)"
    )
    for binary in (False, True):
        row = db.execute("SELECT * FROM every WHERE s = %s", ["sym"], binary=binary).fetchone()
        assert row == (
            True, 1, 2, 3, 4, datetime.date(2024, 2, 3), datetime.datetime(2024, 2, 3, 4, 5, 6, 7000),
            1.5, 2.5, "sym", "text 'quoted'", decimal.Decimal("12.34"),
        ), (binary, row)

    # Parameters of every kind; NULL too.
    for value, kind in [
        (5, int), (2**40, int), (1.25, float), ("x", str), (decimal.Decimal("1.50"), decimal.Decimal),
        (datetime.datetime(2024, 1, 2, 3, 4, 5), datetime.datetime), (datetime.date(2024, 1, 2), datetime.date),
        (True, bool), (uuid.UUID(int=7), uuid.UUID), (b"\x00\xff", bytes),
    ]:
        for marker in ("%s", "%b", "%t"):
            got = db.execute(f"SELECT {marker}", [value], binary=marker == "%b").fetchone()[0]
            assert isinstance(got, kind) and got == value, (marker, value, got)
    assert db.execute("SELECT %s::bigint", [None]).fetchone()[0] is None
    assert db.execute("SELECT count(*) FROM every WHERE i = %s AND t < %s", [3, datetime.datetime.now()]).fetchone()[0] == 1

    # INSERT by parameters, many at once, and in a pipeline.
    with db.cursor() as cursor:
        cursor.executemany("INSERT INTO pairs VALUES (%s, %s)", [(f"many{i}", i) for i in range(20)])
        assert cursor.rowcount == 20, cursor.rowcount
    with db.pipeline():
        cursors = [db.execute("INSERT INTO pairs (v, k) VALUES (%s, %s)", [i, f"pipe{i}"]) for i in range(20)]
        total = db.execute("SELECT count(*) FROM pairs")
    assert total.fetchone()[0] == 40
    assert db.execute("SELECT sum(v) FROM pairs WHERE k LIKE 'pipe%'").fetchone()[0] == 190

    # A prepared statement sees the rows of the moment it runs.
    for round in range(8):
        db.execute("INSERT INTO pairs SELECT k, v FROM pairs WHERE k = %s LIMIT 1", ["many1"], prepare=True)
        count = db.execute("SELECT count(*) FROM pairs WHERE k = %s", ["many1"], prepare=True).fetchone()[0]
        assert count == 2 + round, (round, count)

    # COPY in three forms, in a few columns, and out.
    with db.cursor().copy("COPY pairs (v, k) FROM STDIN") as copy:
        for i in range(1_000):
            copy.write_row((i, None if i % 10 == 0 else f"copy\t{i}"))
    with db.cursor().copy("COPY pairs FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["text", "int8"])
        for i in range(1_000):
            copy.write_row((f"binary{i}", i))
    with db.cursor().copy("COPY pairs FROM STDIN WITH (FORMAT csv, HEADER true)") as copy:
        copy.write('k,v\n"a ""csv"", row",1\n')
    assert db.execute("SELECT count(*) FROM pairs WHERE k LIKE 'copy%'").fetchone()[0] == 900
    assert db.execute("SELECT count(*) FROM pairs WHERE k LIKE 'binary%'").fetchone()[0] == 1_000
    assert db.execute("SELECT k FROM pairs WHERE k LIKE '%csv%'").fetchone()[0] == 'a "csv", row'
    with db.cursor().copy("COPY (SELECT k, v FROM pairs WHERE k LIKE 'copy%' ORDER BY v LIMIT 2) TO STDOUT") as copy:
        assert [row for row in copy.rows()] == [("copy\t1", "1"), ("copy\t2", "2")]
    with db.cursor().copy("COPY pairs TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["text", "int8"])
        copied = sum(1 for _ in copy.rows())
    assert copied == db.execute("SELECT count(*) FROM pairs").fetchone()[0]

    # What is wrong is told with its code, place and mend, and the connection goes on.
    wrong = expect(psycopg.errors.UndefinedTable, "42P01", lambda: db.execute("SELECT * FROM trad"))
    assert "trade" in (wrong.diag.message_hint or "").lower(), wrong.diag.message_hint
    wrong = expect(psycopg.errors.UndefinedColumn, "42703", lambda: db.execute("SELECT 'ä',\n pirce FROM trade"))
    assert wrong.diag.statement_position == "14", wrong.diag.statement_position
    expect(psycopg.errors.SyntaxError, "42601", lambda: db.execute("SELEC 1"))
    expect(psycopg.errors.UndefinedFunction, "42883", lambda: db.execute("SELECT nosuch(1)"))
    expect(psycopg.errors.FeatureNotSupported, "0A000", lambda: db.execute("DELETE FROM pairs"))
    expect(psycopg.errors.InvalidTextRepresentation, "22P02", lambda: db.execute("SELECT * FROM every WHERE i = %s", ["x"]))
    before = db.execute("SELECT count(*) FROM pairs").fetchone()[0]

    def half():
        with db.cursor().copy("COPY pairs FROM STDIN") as copy:
            copy.write("good\t1\nbad\tx\n")

    expect(psycopg.errors.InvalidTextRepresentation, "22P02", half)

    def given_up():
        with db.cursor().copy("COPY pairs FROM STDIN") as copy:
            copy.write("good\t1\n")
            raise ZeroDivisionError

    try:
        given_up()
    except ZeroDivisionError:
        pass
    assert db.execute("SELECT count(*) FROM pairs").fetchone()[0] == before

    # A query ends when another connection asks, or its time is over.
    slow = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 1000000) b"
    timer = threading.Timer(0.3, db.cancel)
    timer.start()
    expect(psycopg.errors.QueryCanceled, "57014", lambda: db.execute(slow))
    timer.join()
    db.execute("SET statement_timeout = '200ms'")
    expect(psycopg.errors.QueryCanceled, "57014", lambda: db.execute(slow))
    db.execute("RESET statement_timeout")
    assert db.execute("SELECT 1").fetchone() == (1,)

# Transactions have their form, and say what they cannot do.
with psycopg.connect(url) as db:
    notices = []
    db.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    db.execute("INSERT INTO pairs VALUES ('stays', 1)")
    db.rollback()
    assert any("stay" in notice for notice in notices), notices
    assert db.execute("SELECT count(*) FROM pairs WHERE k = 'stays'").fetchone()[0] == 1
    expect(psycopg.errors.UndefinedTable, "42P01", lambda: db.execute("SELECT * FROM nosuch"))
    expect(psycopg.errors.InFailedSqlTransaction, "25P02", lambda: db.execute("SELECT 1"))
    db.rollback()

    # Cursors of the server, with parameters, and across transactions.
    with db.cursor("walk") as cursor:
        cursor.itersize = 7
        cursor.execute("SELECT k, v FROM pairs WHERE k LIKE %s ORDER BY v", ["binary%"])
        assert [name.name for name in cursor.description] == ["k", "v"]
        assert cursor.fetchone() == ("binary0", 0)
        assert cursor.fetchmany(3) == [(f"binary{i}", i) for i in (1, 2, 3)]
        cursor.scroll(6)
        assert cursor.fetchone() == ("binary10", 10)
        assert len(list(cursor)) == 989
    with db.cursor("held", withhold=True) as cursor:
        cursor.execute("SELECT v FROM pairs WHERE k LIKE 'binary%' ORDER BY v")
        db.commit()
        assert cursor.fetchone() == (0,)
    with db.cursor("bin") as cursor:
        cursor.execute("SELECT v FROM pairs WHERE k LIKE 'binary%' ORDER BY v", binary=True)
        assert cursor.fetchmany(2) == [(0,), (1,)]

    # Names that come from elsewhere.
    db.execute(sql.SQL("SELECT {} FROM {}").format(sql.Identifier("K"), sql.Identifier("orca_table", "pairs")))

for what, state in [("dbname=nosuch", "3D000")]:
    try:
        psycopg.connect(url.rsplit("/", 1)[0] + "/nosuch")
    except psycopg.OperationalError as error:
        assert "no such database" in str(error), error
    else:
        raise AssertionError(f"{what} was let in, {state} was expected")
print("ok")
