"""Small parts of a table become one, without the rows that newer ones have replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa

from webcrawler.dataset.engines import quoted
from webcrawler.dataset.manifest import Manifest, Part
from webcrawler.dataset.parts import ROWS_READ, Parts
from webcrawler.dataset.schema import TABLES
from webcrawler.dataset.texts import text
from webcrawler.errors import Unavailable

FEW = 16  # small parts of a table that may stand side by side
SMALL_BYTES = 32 << 20
LEAST_ROWS = 10_000  # of documents; what is replaced among fewer does not matter
MEMORY = "256MB"  # of DuckDB, which spills what is more


def due(manifest: Manifest, documents: int) -> list[Part]:
    """The parts of a table that are to be written anew as one; none while an epoch is not complete.

    Small ones, once there are many; else the one that was written first, while more than half of the
    documents have been replaced or are gone.

    Args:
        documents: how many the catalog has.
    """
    if any(part.epoch != manifest.epoch for part in manifest.parts):
        return []
    for table in TABLES:
        small = [p for p in manifest.parts if p.table == table and p.bytes < SMALL_BYTES]
        if len(small) >= FEW:
            return small
    told = sum(part.rows for part in manifest.parts if part.table == "documents")
    return [min(manifest.parts, key=_number)] if told > max(LEAST_ROWS, 2 * documents) else []


def _number(part: Part) -> str:
    """That of its first manifest; a part's name begins with it."""
    return part.path.rpartition("/")[2]


@contextmanager
def alive(parts: Parts, some: Sequence[Part], urls: Sequence[Part]) -> Iterator[Iterator[pa.RecordBatch]]:
    """Of some parts of a table the rows that hold.

    Args:
        urls: all parts of that table.
    Raises:
        Unavailable: one of them cannot be read now, or is damaged.
    """
    table = some[0].table
    schema = TABLES[table]
    with TemporaryDirectory(dir=parts.scratch) as folder, closing(duckdb.connect()) as db:
        try:
            db.execute(
                f"SET memory_limit = '{MEMORY}'; SET threads = 1; SET temp_directory = '{quoted(folder)}'"
            )
            db.execute("SET TimeZone = 'UTC'")
            db.register("urls", _reader(parts, urls, "urls", ["url_id", "seq"]))
            db.execute("CREATE TEMP TABLE newest AS SELECT url_id, max(seq) AS seq FROM urls GROUP BY url_id")
            db.register("told", _reader(parts, some, table))
            found: Any = db.sql(text("alive").replace(":key", schema.names[0]))
            yield (batch.cast(schema) for batch in found.to_arrow_reader(ROWS_READ))
        except (duckdb.Error, pa.ArrowException) as error:
            said = str(error).partition("\n")[0][:300]
            raise Unavailable(f"parts of {table} cannot become one: {said}") from error


def _reader(
    parts: Parts, some: Sequence[Part], table: str, columns: list[str] | None = None
) -> pa.RecordBatchReader:
    schema = TABLES[table]
    if columns:
        schema = pa.schema([schema.field(name) for name in columns])
    return pa.RecordBatchReader.from_batches(schema, parts.read(some, columns))
