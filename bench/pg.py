"""What the PostgreSQL front does in a second: point queries on one connection, and rows of a COPY.

    python bench/pg.py postgresql://orca@127.0.0.1:8849/market --point "SELECT ..."

The table of the COPY has the columns sym SYMBOL, time TIMESTAMP, price DOUBLE, qty INT.
"""

import argparse
import time

import psycopg


def points(db, query, count, prepare):
    """Seconds of each of so many queries."""
    taken = []
    for turn in range(count):
        start = time.perf_counter()
        db.execute(query, [turn % 50], prepare=prepare).fetchall()
        taken.append(time.perf_counter() - start)
    return taken


def copy(db, table, rows):
    """Seconds of a COPY of so many rows, the making of the text left out."""
    lines = [
        f"S{row % 100:03}\t2024-01-02 09:30:{row // 20000 % 60:02}.{row % 1000:03}\t{row % 977 / 4 + 10}\t{row % 500}\n"
        for row in range(rows)
    ]
    text = "".join(lines).encode()
    pieces = [text[at : at + 65_536] for at in range(0, len(text), 65_536)]
    start = time.perf_counter()
    with db.cursor().copy(f"COPY {table} FROM STDIN") as stream:
        for piece in pieces:
            stream.write(piece)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--point", help="a query with one %%s, a number from 0 to 49")
    parser.add_argument("--copy", help="a table of sym, time, price, qty")
    parser.add_argument("--queries", type=int, default=5_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with psycopg.connect(arguments.url, autocommit=True) as db:
        if arguments.point:
            points(db, arguments.point, 200, True)
            taken = sorted(points(db, arguments.point, arguments.queries, True))
            rate = len(taken) / sum(taken)
            at = lambda part: taken[min(int(len(taken) * part), len(taken) - 1)] * 1_000
            print(f"points/s {rate:.0f}  p50 {at(0.5):.2f} ms  p99 {at(0.99):.2f} ms")
        if arguments.copy:
            taken = min(copy(db, arguments.copy, arguments.rows) for _ in range(3))
            print(f"copied rows/s {arguments.rows / taken:.0f}")


if __name__ == "__main__":
    main()
