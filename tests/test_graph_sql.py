"""Each query of the graph jobs means the same to DuckDB and Spark: rows and types, on awkward tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import fleet_tables
import pyarrow as pa
import pytest
from pyarrow import parquet
from testdata import needed

from webcrawler.dataset.engines import DuckDB, Engine, open_engine
from webcrawler.dataset.place import Place
from webcrawler.dataset.texts import text

SQL = sorted(path.name[:-4] for path in files("webcrawler.dataset").joinpath("sql").iterdir())  # type: ignore[attr-defined]
# In this order each finds what it reads; a step that replaces what it reads is kept under its own name.
ORDER = (
    *("known", "documents", "links", "duplicates", "near_duplicates", "stands_for", "stands_for_round"),
    *("anchor_counts", "anchor_totals", "anchors", "anchors_elsewhere", "hidden", "edges", "ranks_start"),
    *("ranks_round", "last_ranks", "domain_edges", "domains", "terms"),
)
VALUES: dict[str, Any] = {"damping": 0.85, "most": 3}
NOT_IN_BOTH = (  # words that one of the two does not know, or reads differently
    *("qualify", "unnest", "explode", "struct", "limit", "xor", "log2", "hash", "md5", "epoch_ms"),
    *("string_agg", "list_agg", "regexp_replace", "strlen", "isnull", "ifnull", "nvl", "asof", "pivot"),
)


def test_the_order_of_this_file_has_every_query() -> None:
    assert sorted(ORDER) == [name for name in SQL if name != "current_urls"]


@pytest.mark.parametrize("name", SQL)
def test_a_query_keeps_to_what_both_dialects_have(name: str) -> None:
    query = re.sub(r"'[^']*'", "''", text(name).lower())

    assert not set(re.findall(r"[a-z_0-9]+", query)) & set(NOT_IN_BOTH)
    assert not re.search(r"[\^\"`;\[\]{}]|::|\|\|", query)
    assert not re.search(r"order by [^)]*\bsince\b(?! nulls last)", query), "they place nulls differently"
    assert not re.search(r"(?<!cast\()\bsum\((?!case|r\.pagerank)", query), "DuckDB's type of it is HUGEINT"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("dataset")
    place = Place(str(folder / "set"))
    fleet_tables.put(place, folder, fleet_tables.web(seed=7))
    return place


@pytest.fixture(scope="module")
def duckdb(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with closing(open_engine("duckdb", place, "scratch", tmp_path_factory.mktemp("duckdb"))) as engine:
        yield engine


@pytest.fixture(scope="module")
def spark(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    needed("pyspark", "fleet")
    work = tmp_path_factory.mktemp("spark")
    with closing(open_engine("spark", place, "scratch", work, "1GB", "local[2]")) as engine:
        yield engine


@pytest.fixture(scope="module")
def made(place: Place, duckdb: Engine) -> dict[str, pa.Table]:
    return dict(results(place, duckdb, "duckdb"))


def results(place: Place, engine: Engine, name: str) -> Iterator[tuple[str, pa.Table]]:
    """Run each query once, and read back what it gives."""
    for table in ("urls", "documents", "links", "postings"):
        keys = [file.key for file in place.files(f"v1/{table}")]
        engine.view(f"all_{table}", keys)
    for query in ORDER:
        if query == "edges":
            engine.keep("pages", "SELECT url_id FROM known WHERE current")
        if query == "ranks_start":
            engine.keep("last_ranks", "SELECT url_id, CAST(2 AS DOUBLE) AS pagerank FROM hidden")
        if query == "last_ranks":
            engine.keep("all_ranks", "SELECT url_id, pagerank FROM ranks")
        if query == "domains":
            ranked = "SELECT target_id AS url_id, CAST(1 AS DOUBLE) AS pagerank FROM domain_edges"
            engine.keep("domain_ranks", f"SELECT DISTINCT url_id, pagerank FROM ({ranked}) r")
        replaced = {"ranks_start": "ranks", "ranks_round": "ranks", "stands_for_round": "stands_for"}
        engine.keep(replaced.get(query, query), text(query), **VALUES)
        engine.write(f"SELECT * FROM {replaced.get(query, query)}", f"out/{name}/{query}")
        parts = [file.key for file in place.files(f"out/{name}/{query}") if file.key.endswith(".parquet")]
        tables = [parquet.read_table(place.local(part, Path())) for part in parts]
        yield query, pa.concat_tables(tables)


def same(one: pa.Table, other: pa.Table) -> None:
    assert one.schema.names == other.schema.names
    assert one.schema.types == other.schema.types
    for row, twin in zip(ordered(one), ordered(other), strict=True):
        for value, its in zip(row, twin, strict=True):
            assert value == its or (isinstance(value, float) and math.isclose(value, its, rel_tol=1e-9))


def ordered(table: pa.Table) -> list[tuple[Any, ...]]:
    rows = list(zip(*table.to_pydict().values(), strict=True))
    return sorted(rows, key=lambda row: [str(round(v, 9) if isinstance(v, float) else v) for v in row])


def test_every_query_gives_something_on_these_tables(made: dict[str, pa.Table]) -> None:
    assert {name for name, rows in made.items() if not len(rows)} == set()


@pytest.mark.fleet
@pytest.mark.timeout(900)  # Spark
def test_both_engines_give_the_same_rows_of_the_same_types(
    place: Place, spark: Engine, made: dict[str, pa.Table]
) -> None:
    for name, rows in results(place, spark, "spark"):
        same(made[name], rows)


def test_what_is_in_force_is_what_readers_are_told(duckdb: DuckDB, made: dict[str, pa.Table]) -> None:
    duckdb.keep("urls", text("current_urls"))
    asked = "SELECT url_id, home, epoch, seq, state FROM {} ORDER BY url_id"
    rows = duckdb.db.execute(asked.format("urls")).fetchall()
    assert rows == duckdb.db.execute(asked.format("known WHERE current")).fetchall()

    for table, key in (("documents", "url_id"), ("links", "source_id")):
        duckdb.keep(
            "theirs",
            f"""SELECT r.* FROM all_{table} r
            JOIN urls u ON u.url_id = r.{key} AND u.home = r.home AND u.epoch = r.epoch AND u.seq = r.seq""",
        )
        asked = f"SELECT {key}, home, count(*) FROM {{}} GROUP BY ALL ORDER BY ALL"
        ours = duckdb.db.execute(asked.format(f"{table} WHERE current")).fetchall()
        assert ours == duckdb.db.execute(asked.format("theirs")).fetchall()
