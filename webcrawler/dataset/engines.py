"""Where jobs run: DuckDB on this machine, or a cluster of Spark, behind the same few calls.

The text of a job is the same on both, and so are its results. What differs between them stands here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from webcrawler.dataset.place import Place
from webcrawler.errors import BadInput, require

ENGINES = ("duckdb", "spark")
MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?([MG])B?", re.IGNORECASE)
MASTER = "local[*]"
PARTITIONS = 8  # of a table, in Spark on this machine; by itself it makes 200
PARAMETER = re.compile(r"(?<![\w:]):(\w+)")


class Engine(Protocol):
    """Tables by name, made by SQL."""

    faults: tuple[type[Exception], ...]  # what the engine itself raises

    def view(self, name: str, keys: Sequence[str]) -> None:
        """Name the rows of Parquet parts of the dataset, at least one."""

    def define(self, name: str, text: str) -> None:
        """Name what a query gives, which is made anew for each that reads it."""

    def keep(self, name: str, text: str, **values: object) -> None:
        """Make a table of what a query gives; it may read the table that it replaces.

        Args:
            values: of the :parameters that the text names; others are left out.
        """

    def drop(self, name: str) -> None:
        """Forget a table."""

    def value(self, text: str) -> Any:
        """Return the first column of the first row, of which there is one at least."""

    def write(self, text: str, folder: str, **values: object) -> None:
        """Write the rows of a query as Parquet parts, at least one, into a folder of the dataset."""

    def close(self) -> None: ...


def open_engine(
    name: str, place: Place, scratch: str, work: Path, memory: str = "", master: str = ""
) -> Engine:
    """Return the engine of that name.

    Args:
        scratch: a folder of the dataset, for what machines of a cluster hand on to each other.
        work: an empty folder of this machine, for what does not fit in memory.
        memory: what it may take, as "1GB"; "": what it takes by itself.
        master: of Spark, as "spark://host:7077".
    Raises:
        BadInput: there is no such engine, it is not installed, or the memory is no number of MB or GB.
    """
    megabytes = read_memory(memory)
    if name == "duckdb":
        require("dataset", "--engine duckdb")
        return DuckDB(place, work, megabytes)
    if name == "spark":
        if not find_spec("pyspark"):
            raise BadInput("--engine spark needs pyspark, of the version of the cluster: pip install pyspark")
        return Spark(place, scratch, work, megabytes, master or MASTER)
    raise BadInput(f"no engine {name[:40]!r}: choose one of {', '.join(ENGINES)}")


def read_memory(text: str) -> int:
    """Return megabytes; 0 for none. Raises BadInput: it is no amount of memory."""
    found = MEMORY.fullmatch(text.strip())
    if text and (not found or not float(found[1])):
        raise BadInput(f"--memory {text[:40]!r} is no amount of memory, such as 800MB or 1GB")
    return max(1, int(float(found[1]) * (1024 if found[2] in "Gg" else 1))) if found else 0


class DuckDB:
    """A database in the work folder, so that what it holds in memory can leave it at any time."""

    def __init__(self, place: Place, work: Path, megabytes: int) -> None:
        import duckdb

        self._place, self._work = place, work
        self.faults: tuple[type[Exception], ...] = (duckdb.Error,)
        self.db = duckdb.connect(str(work / "tables.duckdb"))
        self.db.execute("SET preserve_insertion_order = false; SET TimeZone = 'UTC'")
        self.db.execute(f"SET temp_directory = '{quoted(str(work / 'spilled'))}'")
        if megabytes:
            self.db.execute(f"SET memory_limit = '{megabytes}MiB'")

    def view(self, name: str, keys: Sequence[str]) -> None:
        files = [str(self._place.local(key, self._work / "parts")) for key in keys]
        self.db.read_parquet(files, hive_partitioning=False).create_view(name, replace=True)

    def define(self, name: str, text: str) -> None:
        self.db.execute(f"CREATE VIEW {name} AS {text}")

    def keep(self, name: str, text: str, **values: object) -> None:
        self._execute(f"CREATE TABLE new_{name} AS {text}", values)
        self.drop(name)
        self.db.execute(f"ALTER TABLE new_{name} RENAME TO {name}")

    def drop(self, name: str) -> None:
        self.db.execute(f"DROP TABLE IF EXISTS {name}")

    def value(self, text: str) -> Any:
        return self.db.execute(text).fetchall()[0][0]

    def write(self, text: str, folder: str, **values: object) -> None:
        part = self._work / "part.parquet"
        self._execute(f"COPY ({text}) TO '{quoted(str(part))}' (FORMAT parquet, COMPRESSION zstd)", values)
        self._place.put(f"{folder}/0.parquet", part)
        part.unlink()

    def close(self) -> None:
        self.db.close()

    def _execute(self, text: str, values: Mapping[str, object]) -> None:
        used = _used(text, values)
        self.db.execute(PARAMETER.sub(r"$\1", text), used)


class Spark:
    """Each table is written to a folder of the dataset, which all machines of the cluster reach.

    A checkpoint in memory cuts a plan as well, but is lost with one executor, and a hundred do not fit.
    """

    def __init__(self, place: Place, scratch: str, work: Path, megabytes: int, master: str) -> None:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession

        self._place, self._scratch, self._numbers = place, scratch, count()
        self._kept = dict[str, str]()  # folders, by table
        self.faults: tuple[type[Exception], ...] = (PySparkException, Py4JError)
        build = SparkSession.builder.master(master).appName("webcrawler graph run")
        for key, value in {
            "spark.driver.memory": f"{megabytes or 2048}m",
            "spark.log.level": "ERROR",
            "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str((work / "warehouse").absolute()),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }.items():
            build = build.config(key, value)
        if master.startswith("local"):
            build = build.config("spark.sql.shuffle.partitions", PARTITIONS)
        self.spark = build.getOrCreate()

    def view(self, name: str, keys: Sequence[str]) -> None:
        self.spark.read.parquet(*map(self._place.hadoop, keys)).createOrReplaceTempView(name)

    def define(self, name: str, text: str) -> None:
        self.spark.sql(text).createOrReplaceTempView(name)

    def keep(self, name: str, text: str, **values: object) -> None:
        aside, before = f"{self._scratch}/{name}-{next(self._numbers)}", self._kept.get(name)
        self.spark.sql(text, args=_used(text, values)).write.parquet(self._place.hadoop(aside))
        self.view(name, [aside])
        self._kept[name] = aside
        if before:
            self._place.remove(before)

    def drop(self, name: str) -> None:
        self.spark.catalog.dropTempView(name)
        if before := self._kept.pop(name, None):
            self._place.remove(before)

    def value(self, text: str) -> Any:
        return self.spark.sql(text).collect()[0][0]

    def write(self, text: str, folder: str, **values: object) -> None:
        frame = self.spark.sql(text, args=_used(text, values))
        frame.write.mode("overwrite").option("compression", "zstd").parquet(self._place.hadoop(folder))

    def close(self) -> None:
        self.spark.stop()
        self._place.remove(self._scratch)


def _used(text: str, values: Mapping[str, object]) -> dict[str, object]:
    named = set(PARAMETER.findall(text))
    return {name: value for name, value in values.items() if name in named}


def quoted(text: str) -> str:
    return text.replace("'", "''")
