"""Figures as tidy rows, one observation each, for files and for other libraries."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from webcrawler import extras
from webcrawler.errors import BadInput

Rows = Sequence[Mapping[str, Any]]

ENDINGS = (".csv", ".parquet")


def check(file: Path) -> None:
    """Raises BadInput: neither CSV nor Parquet, or pyarrow is not installed."""
    if file.suffix not in ENDINGS:
        raise BadInput(f"--tidy={file}: the name ends in {' or '.join(ENDINGS)}")
    if file.suffix == ".parquet":
        extras.require("parquet", f"--tidy={file}")


def write(rows: Rows, file: Path, ending: str) -> None:
    """A header and a row for each; empty cells where a value is unknown.

    Args:
        ending: which format: the name of the file may end differently while it is written.
    """
    if ending == ".parquet":
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(columns(rows)), file, compression="zstd")
        return
    with file.open("w", encoding="utf-8", newline="") as opened:
        table = csv.writer(opened)
        table.writerow(names(rows))
        table.writerows([row.get(name) for name in names(rows)] for row in rows)


def columns(rows: Rows) -> dict[str, list[Any]]:
    """The rows as columns; one with both numbers and texts becomes text."""
    return {name: _alike([row.get(name) for row in rows]) for name in names(rows)}


def names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def to_pandas(rows: Rows) -> Any:
    """A pandas.DataFrame. Raises BadInput: pandas is not installed."""
    return library("pandas").DataFrame(columns(rows))


def to_polars(rows: Rows) -> Any:
    """A polars.DataFrame. Raises BadInput: polars is not installed."""
    return library("polars").DataFrame(columns(rows))


def library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise BadInput(f"this needs {name}: pip install {name}") from None


def _alike(values: Iterable[Any]) -> list[Any]:
    values = list(values)
    is_mixed = len({isinstance(value, str) for value in values if value is not None}) > 1
    return [value if value is None or not is_mixed else str(value) for value in values]
