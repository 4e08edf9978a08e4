"""The newest commits of index and anchors, kept open between searches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import numpy as np
from whoosh.index import TOC, EmptyIndexError, FileIndex
from whoosh.reading import IndexReader, MultiReader

from webcrawler.errors import Unavailable
from webcrawler.index.files import SafeStorage
from webcrawler.index.folder import (
    NAME,
    check_segments,
    read_again,
    read_toc,
)
from webcrawler.index.reader import Reading
from webcrawler.index.schema import VERSION, Indexable
from webcrawler.index.segments import segments
from webcrawler.index.writer import WhooshEngine, stored


class Live:
    """Opens index and anchors again whenever they have a new commit. Not safe between threads."""

    def __init__(self, crawl_dir: Path, fresh_seconds: float = 0.0, finds: Finds | None = None) -> None:
        """Open nothing yet.

        Args:
            fresh_seconds: how old the last look for new commits may be.
            finds: are read as if the index had them.
        """
        self._finds = finds
        self._index = _LiveIndex(crawl_dir / "index")
        self._anchors = _LiveIndex(crawl_dir / "anchors")
        self._reading: Reading | None = None
        self._fresh_seconds, self._fresh_until = fresh_seconds, 0.0

    @property
    def catalog(self) -> str:
        """The identity of the catalog that the reading's index follows."""
        return self._index.catalog or (self._finds.catalog if self._finds else "")

    def reading(self) -> Reading | None:
        """Return the newest commits that can be read; None where nothing is indexed.

        Where the anchors cannot be read, search goes on without them.

        Raises:
            Unavailable: there is an index, and no commit of it could be read.
        """
        now = monotonic()
        if self._reading and now < self._fresh_until:
            return self._reading
        self._fresh_until = now + self._fresh_seconds
        index = self._index.reader()
        if self._finds:
            index = self._finds.beside(index)
        try:
            anchors = self._anchors.reader()
        except Unavailable:
            anchors = None
        if index is None:
            return None
        if self._anchors.catalog != self.catalog:
            anchors = None
        own = self._finds.shows if self._finds else None
        generation = self._index.shows, self._anchors.shows if anchors else None, own
        if self._reading is None or self._reading.generation != generation:
            self._reading = Reading(segments(index), segments(anchors) if anchors else [], generation)
        return self._reading


def followed(folder: Path) -> str:
    """Return the identity of the catalog that one of the two follows; "" where nothing is indexed.

    Raises:
        Unavailable: it cannot be read, or a segment is not what was written.
    """
    opened = _LiveIndex(folder)
    opened.reader()
    return opened.catalog


class Finds:
    """The pages of a search of the web that the index does not have yet, in a temporary index of the search.

    It is read together with the index, so that one ranking scores all pages by the words of all. For one
    thread.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="webcrawler-search-")
        self._live = _LiveIndex(Path(self._folder.name) / "index")
        self._engine: WhooshEngine | None = None
        self._joint: tuple[IndexReader, IndexReader, IndexReader] | None = None  # of two, and both together
        self.catalog = ""  # the identity of the one that they are in

    @property
    def shows(self) -> object:
        """Changes with what is added and dropped."""
        return self._live.shows

    def add(self, pages: Sequence[Indexable], catalog: str) -> None:
        if not pages:
            return
        if self._engine is None:
            self._engine, self.catalog = WhooshEngine(Path(self._folder.name), catalog), catalog
        self._engine.commit((), pages, 0)

    def beside(self, index: IndexReader | None) -> IndexReader | None:
        """Return a reader of both; what the index has is dropped here."""
        own = self._live.reader()
        if index is None or own is None:
            return own if index is None else index
        if self._joint and self._joint[0] is index and self._joint[1] is own:
            return self._joint[2]
        both = np.intersect1d(stored(index, "number", ">u4"), stored(own, "number", ">u4"))
        if len(both) and self._engine:
            self._engine.commit(both.tolist(), (), 0)
            if (own := self._live.reader()) is None:
                return index
        leaves = [leaf for reader in (index, own) for leaf, _ in reader.leaf_readers()]
        self._joint = index, own, MultiReader(leaves)
        return self._joint[2]

    def close(self) -> None:
        if self._engine:
            self._engine.close()
        self._folder.cleanup()


class _LiveIndex:
    """One folder of the two. Not safe between threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader: IndexReader | None = None
        self.shows: object = None  # the commit that the reader shows
        self.catalog = ""  # the identity of the one it follows

    def reader(self) -> IndexReader | None:
        """Return the newest commit that can be read; None where nothing is indexed.

        Raises:
            Unavailable: there is an index, and no commit of it could be read.
        """
        try:
            # A list of the folder, made during a commit, may have neither the old commit nor the new one.
            read_again(self._refresh, EmptyIndexError)
        except EmptyIndexError:
            self._reader = None
        except Exception as error:  # a damaged file ends in any exception: Whoosh unpickles what it finds
            if self._reader is None:
                if isinstance(error, Unavailable):
                    raise
                fault = f"{type(error).__name__}: {error}"
                raise Unavailable(
                    f"cannot read the index {self._folder} ({fault}): `webcrawler reindex` builds it anew"
                ) from error
        return self._reader if self._reader and self._reader.doc_count() else None

    def _refresh(self) -> None:
        if not self._folder.is_dir():
            raise EmptyIndexError(str(self._folder))
        toc, storage = read_toc(self._folder), SafeStorage(str(self._folder))
        if toc.schema.version != VERSION:
            raise Unavailable(
                f"the index {self._folder} was made by another version: `webcrawler reindex` builds it anew"
            )
        # one that was deleted and made again counts its generations from the start: the time tells it apart
        newest = toc.generation, storage.file_modified(TOC._filename(NAME, toc.generation))
        if self._reader is None or newest != self.shows:
            check_segments(toc, self._folder)
            self._reader = FileIndex._reader(storage, toc.schema, toc.segments, toc.generation)
            self.shows, self.catalog = newest, toc.schema.catalog
