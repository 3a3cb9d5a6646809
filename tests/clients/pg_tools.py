"""Replays what Grafana, DBeaver, Metabase, pgcli and pgAdmin send on connect; each statement must be answered."""

import pathlib
import sys

import psycopg

url = sys.argv[1]
text = (pathlib.Path(__file__).parent / "pg_tools.sql").read_text()
failed, answered = [], 0
with psycopg.connect(url, autocommit=True) as db:
    for statement in text.split(";\n"):
        statement = "\n".join(line for line in statement.splitlines() if not line.startswith("--")).strip()
        if not statement:
            continue
        # As tools send them: a text for libpq, a prepared one for JDBC and Go.
        for prepare in (False, True):
            try:
                cursor = db.execute(statement.encode(), prepare=prepare) if not prepare else db.execute(statement.encode(), binary=True)
                if cursor.description:
                    cursor.fetchall()
                answered += 1
            except Exception as error:  # noqa: BLE001: all that fail are told at once.
                failed.append(f"{error}\n    in {statement[:400]}")

    # Grafana: the tables of its builder, their columns, and a time series with its macros expanded.
    tables = db.execute(
        "SELECT CASE WHEN quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '\"$user\"' THEN user ELSE trim(s[i]) END"
        " FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1),"
        " array_upper(string_to_array(current_setting('search_path'),','),1)) as i,"
        " string_to_array(current_setting('search_path'),',') s) THEN quote_ident(table_name)"
        " ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS \"table\""
        " FROM information_schema.tables"
        " WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') ORDER BY 1"
    ).fetchall()
    assert any("kline_1min" in table for (table,) in tables), tables
    series = db.execute(
        "SELECT floor(extract(epoch from datetime)/60)*60 AS \"time\", symbol AS metric, avg(price) FROM trade"
        " WHERE datetime BETWEEN '2000-01-01T00:00:00Z' AND '2100-01-01T00:00:00Z' GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 10"
    ).fetchall()
    assert len(series) == 10, series
assert not failed, "\n".join([f"{len(failed)} failed, {answered} were answered"] + failed)
print(answered)
