"""Edges as a Parquet file, in row groups: memory does not grow with the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from webcrawler.errors import BadInput

COLUMNS = ("source", "target", "source_url", "target_url", "anchor", "rel")
ROW_GROUP = 100_000  # edges: some 20 MB while they are written

Edge = tuple[int, int, str, str, str, str]


def write(edges: Iterable[Edge], file: Path) -> None:
    """Raises BadInput: pyarrow is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BadInput("Parquet needs pyarrow: run `make dev`, or pip install pyarrow") from None
    types = [pyarrow.int64()] * 2 + [pyarrow.string()] * 4
    schema = pyarrow.schema(list(zip(COLUMNS, types, strict=True)))
    # Each row group keeps its URLs once, as a dictionary: pyarrow's default for all columns.
    with parquet.ParquetWriter(file, schema, compression="zstd") as out:
        for group in _groups(iter(edges)):
            columns = zip(*group, strict=True)
            arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, types, strict=True)]
            out.write_batch(pyarrow.record_batch(arrays, schema=schema))


def _groups(edges: Iterator[Edge]) -> Iterator[list[Edge]]:
    return iter(lambda: list(islice(edges, ROW_GROUP)), [])
