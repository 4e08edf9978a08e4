"""The SQL of the jobs, one query a file, for DuckDB and Spark alike: names of tables and :parameters only."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def text(name: str) -> str:
    """Return the query of sql/`name`.sql, without its comments."""
    lines = files("webcrawler.dataset").joinpath("sql", f"{name}.sql").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("--"))
