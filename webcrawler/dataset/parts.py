"""Parquet files of a table: written once, under a name of their own, and never changed."""

from __future__ import annotations

import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import file_digest
from io import RawIOBase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import obstore
import pyarrow as pa
from pyarrow import parquet

from webcrawler.dataset.manifest import ROOT, Part, Store
from webcrawler.dataset.schema import TABLES
from webcrawler.objects import reached

ROWS_OF_GROUP = 131_072
BYTES_OF_GROUP = 64 << 20  # in memory
ROWS_READ = 4_096  # at a time: of texts some 60 MB
BUFFER_BYTES = 1 << 20


class Span(NamedTuple):
    """The changes of which rows are told."""

    epoch: int
    first_seq: int
    last_seq: int


class Parts:
    """The parts of one home in a store.

    Args:
        url: of the store, for messages.
        scratch: a folder for what is written before it is sent; it is emptied.
    """

    def __init__(self, store: Store, url: str, home: str, scratch: Path) -> None:
        self._store, self._url, self._home = store, url, home
        self.scratch = scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()

    def write(self, table: str, number: int, batches: Iterable[pa.RecordBatch], span: Span) -> Part | None:
        """Write rows as one part; None where there are none. No manifest names it yet.

        Args:
            number: of the manifest that will.
        Raises:
            Unavailable: the store does not take it.
            OSError: the disk is full: it is written here before it is sent.
        """
        with TemporaryDirectory(dir=self.scratch) as folder:
            file = Path(folder) / "part.parquet"
            if not (rows := _write(file, TABLES[table], batches)):
                return None
            path = f"{_folder(table, self._home)}/{number:010}-{secrets.token_hex(4)}.parquet"
            with file.open("rb") as written:
                digest = file_digest(written, "sha256").hexdigest()
            with reached(self._url):
                self._store.put(path, file)
            sys.audit("webcrawler.dataset.part")
            return Part(table, path, rows, file.stat().st_size, digest, *span)

    def read(self, parts: Sequence[Part], columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of some parts, in their order, some at a time."""
        for part in parts:
            with reached(self._url), opened(self._store, part) as file:
                yield from parquet.ParquetFile(file).iter_batches(ROWS_READ, columns=columns)

    def delete(self, paths: Sequence[str]) -> None:
        """Delete files; one that is not there is no fault."""
        for path in paths:
            with reached(self._url), suppress(FileNotFoundError):
                self._store.delete(path)

    def files(self) -> dict[str, int]:
        """The files of this home's tables by path, and how long they are; some may be of no manifest."""
        with reached(self._url):
            return {
                meta["path"]: meta["size"]
                for table in TABLES
                for some in self._store.list(_folder(table, self._home))
                for meta in some
            }


def opened(store: Store, part: Part) -> RawIOBase:
    """A part to read from, by ranges: what libraries take for a file."""
    return _Ranges(obstore.open_reader(store, part.path, buffer_size=BUFFER_BYTES))


class _Ranges(RawIOBase):
    """obstore's file with what else Python asks of one."""

    def __init__(self, file: obstore.ReadableFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        return bytes(self._file.read(size if size >= 0 else None))


def _write(file: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    rows, waiting = 0, list[pa.RecordBatch]()
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in batches:
            rows += batch.num_rows
            waiting.append(batch)
            if sum(map(len, waiting)) >= ROWS_OF_GROUP or sum(b.nbytes for b in waiting) >= BYTES_OF_GROUP:
                writer.write_table(pa.Table.from_batches(waiting, schema), ROWS_OF_GROUP)
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema), ROWS_OF_GROUP)
    return rows


def _folder(table: str, home: str) -> str:
    return f"{ROOT}/{table}/{home}"
