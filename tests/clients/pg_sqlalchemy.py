"""SQLAlchemy against a server at work: the inspector, a reflected table, selects and inserts."""

import sys

import sqlalchemy as sa

url = sys.argv[1].replace("postgresql://", "postgresql+psycopg://")
engine = sa.create_engine(url)
inspector = sa.inspect(engine)

assert inspector.default_schema_name == "orca_table", inspector.default_schema_name
assert {"orca_table", "orca_sys"} <= set(inspector.get_schema_names()), inspector.get_schema_names()
assert {"Trade", "kline_1min", "pairs"} <= set(inspector.get_table_names()), inspector.get_table_names()
assert "graphs" in inspector.get_table_names(schema="orca_sys")
assert inspector.has_table("kline_1min") and not inspector.has_table("nosuch")
columns = {column["name"]: column["type"] for column in inspector.get_columns("every")}
kinds = {name: type(kind).__name__ for name, kind in columns.items()}
assert kinds == {
    "b": "BOOLEAN", "c": "SMALLINT", "h": "SMALLINT", "i": "INTEGER", "l": "BIGINT", "d": "DATE", "t": "TIMESTAMP",
    "f": "REAL", "g": "DOUBLE_PRECISION", "s": "TEXT", "x": "TEXT", "m": "NUMERIC",
}, kinds
assert (columns["m"].precision, columns["m"].scale) == (18, 2), columns["m"]
assert not inspector.get_pk_constraint("every")["constrained_columns"]
assert not inspector.get_foreign_keys("every") and not inspector.get_indexes("every")
assert not inspector.get_unique_constraints("every") and not inspector.get_check_constraints("every")
assert inspector.get_view_names() == []

metadata = sa.MetaData()
pairs = sa.Table("pairs", metadata, autoload_with=engine)
trade = sa.Table("Trade", metadata, autoload_with=engine)
with engine.begin() as db:
    db.execute(pairs.insert(), [{"k": f"alchemy{i}", "v": i} for i in range(5)])
with engine.connect() as db:
    wanted = sa.select(pairs.c.k, pairs.c.v).where(pairs.c.k.like("alchemy%"), pairs.c.v >= 2).order_by(pairs.c.v)
    assert db.execute(wanted).all() == [("alchemy2", 2), ("alchemy3", 3), ("alchemy4", 4)]
    total = db.execute(sa.select(sa.func.count(), sa.func.max(trade.c.price)).select_from(trade)).one()
    assert total[0] > 0 and total[1] > 0, total
    grouped = sa.select(trade.c.symbol, sa.func.avg(trade.c.price).label("mean")).group_by(trade.c.symbol)
    rows = db.execute(grouped.order_by(trade.c.symbol).limit(3)).mappings().all()
    assert len(rows) == 3 and all(row["mean"] > 0 for row in rows), rows
print("ok")
