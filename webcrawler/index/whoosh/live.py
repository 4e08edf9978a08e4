"""The newest commit of one of Whoosh's indexes, kept open between searches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import time_ns

from whoosh.index import TOC, EmptyIndexError, FileIndex
from whoosh.reading import IndexReader

from webcrawler.errors import Unavailable
from webcrawler.index.whoosh.folder import NAME, OTHER_ENGINE, check_segments, is_of_other_engine, read_toc
from webcrawler.index.whoosh.pickles import SafeStorage
from webcrawler.index.whoosh.schema import VERSION

_SETTLED_NS = 1_000_000_000  # no clock of a file system is coarser
_TRIES = 5  # a commit removes the files of the one before, maybe between our listing and opening them


class LiveIndex:
    """Not safe between threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader: IndexReader | None = None
        self.shows: object = None  # the commit that the reader shows
        self.catalog = ""  # the identity of the one it follows
        self._seen: tuple[int, int] | None = None  # the folder when it was looked into, its inode and time

    def reader(self) -> IndexReader | None:
        """The newest commit that can be read; None where nothing is indexed.

        Raises:
            Unavailable: there is an index, and no commit of it could be read.
        """
        try:
            _patiently(self._refresh)
        except EmptyIndexError:
            self._reader = None
            if is_of_other_engine(self._folder):
                message = (
                    f"cannot read the index {self._folder} ({OTHER_ENGINE}): `scrapy reindex` builds it anew"
                )
                raise Unavailable(message) from None
        except Unavailable:
            if self._reader is None:
                raise
        except Exception as error:  # a broken file ends in any exception: Whoosh unpickles what it finds
            if self._reader is None:
                fault = f"{type(error).__name__}: {error}"
                message = f"cannot read the index {self._folder} ({fault}): `scrapy reindex` builds it anew"
                raise Unavailable(message) from error
        return self._reader if self._reader and self._reader.doc_count() else None

    def _refresh(self) -> None:
        """A commit changes the folder: while that is as it was, there is none to look for."""
        if not self._folder.is_dir():
            raise EmptyIndexError(str(self._folder))
        state, now = self._folder.stat(), time_ns()
        seen = state.st_ino, state.st_mtime_ns
        if self._reader is not None and seen == self._seen:
            return
        self._seen = None
        toc, storage = read_toc(self._folder), SafeStorage(str(self._folder))
        if toc.schema.version != VERSION:
            raise Unavailable(
                f"the index {self._folder} was made by another version: `scrapy reindex` builds it anew"
            )
        # one that was deleted and made again counts its generations from the start: the time tells it apart
        newest = toc.generation, storage.file_modified(TOC._filename(NAME, toc.generation))
        if self._reader is None or newest != self.shows:
            check_segments(toc, self._folder)
            self._reader = FileIndex._reader(storage, toc.schema, toc.segments, toc.generation)
            self.shows, self.catalog = newest, toc.schema.catalog
        if now - state.st_mtime_ns > _SETTLED_NS:  # else a second commit may have the same time
            self._seen = seen


def _patiently(refresh: Callable[[], None]) -> None:
    for left in reversed(range(_TRIES)):
        try:
            return refresh()
        except (FileNotFoundError, EmptyIndexError):
            if not left:
                raise
