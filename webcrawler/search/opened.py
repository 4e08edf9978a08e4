"""Catalog, ranks and vocabulary of a data folder, kept open, and opened again when they are replaced."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, Unavailable
from webcrawler.linkgraph import stored
from webcrawler.records import Text
from webcrawler.scope import Watched
from webcrawler.search.vocabulary import Vocabulary
from webcrawler.search.vocabulary import load as load_vocabulary

BEGINNING = 48 << 10  # characters
REPEATS_SECONDS = 60.0  # how old what is known of repeated blocks may be: to read it takes a millisecond

T = TypeVar("T")


@contextmanager
def readable() -> Iterator[None]:
    """Raise Unavailable where an open catalog turns out to be damaged."""
    try:
        yield
    except sqlite3.Error as error:
        raise Unavailable(f"cannot read the catalog: {error}") from error


class Opened:
    """What a searcher reads beside the index; for one thread. Empty where there is no catalog.

    Args:
        job: as for `Catalog`.
    """

    def __init__(self, crawl_dir: Path, job: str = "") -> None:
        path = crawl_dir / "catalog.sqlite"
        self._scope = Watched(crawl_dir)
        self._catalog = _Cached(path, lambda: _catalog(path, job))
        self._unseen: tuple[object, NDArray[np.int64]] = None, np.zeros(0, np.int64)
        self._changed: tuple[object, int, NDArray[np.float64]] = None, 0, np.zeros(0)
        self._repeats: tuple[object, float, dict[str, frozenset[int]]] = None, 0.0, {}
        ranks, words = crawl_dir / "ranks", crawl_dir / "vocabulary"
        self._ranks = _Cached(ranks / stored.NAME, lambda: stored.load(ranks, self._identity), self._catalog)
        self._vocabulary = _Cached(words, lambda: load_vocabulary(words, self._identity), self._catalog)

    @property
    def generation(self) -> object:
        """Changes when ranks or vocabulary are replaced."""
        return self._ranks.version(), self._vocabulary.version()

    @property
    def catalog(self) -> Catalog | None:
        return self._catalog.get()

    @property
    def vocabulary(self) -> Vocabulary | None:
        return self._vocabulary.get()

    @property
    def _identity(self) -> str:
        return self.catalog.identity if self.catalog else ""

    def ranks_of(self, numbers: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return stored PageRank, mean 1; all 1 where there is none."""
        ranks = self._ranks.get()
        return ranks.of(numbers) if ranks else np.ones(len(numbers))

    def beginnings(self, numbers: Sequence[int]) -> dict[int, Text]:
        """Return texts with the beginnings of their bodies, without emphasis."""
        return self.catalog.texts(numbers, BEGINNING) if self.catalog else {}

    def repeated(self, server: str) -> frozenset[int]:
        """Return the digests of the blocks that repeat over the pages of a server."""
        version, until, known = self._repeats
        if version != self._catalog.version() or monotonic() >= until:
            known = {}
            self._repeats = self._catalog.version(), monotonic() + REPEATS_SECONDS, known
        if server not in known:
            known[server] = self.catalog.blocks.repeats(server).digests if self.catalog else frozenset()
        return known[server]

    def unseen(self) -> NDArray[np.int64]:
        """Return the numbers of the pages that only other searches of the web may see, ascending."""
        if catalog := self.catalog:
            version = self._catalog.version(), catalog.version
            if version != self._unseen[0]:
                self._unseen = version, catalog.unseen()
        return self._unseen[1]

    def changed(self) -> NDArray[np.float64]:
        """Return by page number when each page last changed, 0 where that is not known.

        The first call reads the times of all documents, a million in about a second; later ones what is new.
        """
        if catalog := self.catalog:
            version, (known, seq, times) = self._catalog.version(), self._changed
            if version != known:
                seq, times = 0, np.zeros(0)
            if (last := catalog.checks.last_seq()) != seq or version != known:
                numbers, found = catalog.checks.changed_after(seq)
                more = max(0, int(numbers.max(initial=-1)) + 1 - len(times))
                times = np.concatenate((times, np.zeros(more)))
                times[numbers] = found
                self._changed = version, last, times
        return self._changed[2]

    def may_be_shown(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which pages, never fetched, are within the bounds of the crawl and worth showing.

        Raises:
            Unavailable: the file with the bounds cannot be read.
        """
        catalog, found = self.catalog, np.ones(len(numbers), np.bool_)
        if catalog is None or not len(numbers):
            return found
        try:
            scope = self._scope.now()
        except BadInput as error:
            raise Unavailable(str(error)) from error
        hidden, urls = catalog.urls.hidden(numbers.tolist()), catalog.urls.of(numbers.tolist())
        for place, number in enumerate(numbers.tolist()):
            url = urls.get(number)  # None: the index is of a catalog that a backup has replaced
            found[place] = bool(url and number not in hidden and not scope.refusal(url))
        return found

    def linking_to(self, url: str) -> NDArray[np.int64]:
        """Return the numbers of the pages that link to a canonical URL."""
        return self.catalog.links.sources_of(url) if self.catalog else np.zeros(0, np.int64)


def _catalog(path: Path, job: str) -> Catalog:
    try:
        return Catalog(path, readonly=True, job=job)
    except BadInput as error:  # not the fault of the person who searches
        raise Unavailable(str(error)) from error


class _Cached(Generic[T]):
    """Something made from a file, and made again when the file is replaced or written.

    Args:
        catalog: what it belongs to: it is also made again when that is replaced.
    """

    def __init__(
        self, path: Path, make: Callable[[], T | None], catalog: _Cached[Catalog] | None = None
    ) -> None:
        self._path, self._make, self._catalog = path, make, catalog
        self._made: T | None = None
        self._of: object = None  # the version that it was made of

    def version(self) -> object:
        """Return what differs between two files; None where there is no file."""
        try:
            stat = self._path.stat()
        except OSError:
            return None
        # A catalog is the same one while it is written.
        changed = 0 if self._path.suffix == ".sqlite" else stat.st_mtime_ns
        return stat.st_dev, stat.st_ino, changed, self._catalog.version() if self._catalog else None

    def get(self) -> T | None:
        version = self.version()
        if version != self._of or (version and self._made is None):
            self._made, self._of = (self._make() if version else None), version
        return self._made
