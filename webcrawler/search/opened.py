"""Catalog, ranks and vocabulary of a data folder: a searcher sees the files that are there now."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, Unavailable
from webcrawler.linkgraph import stored
from webcrawler.records import Text
from webcrawler.scope import Watched
from webcrawler.search import vocabulary
from webcrawler.search.shown import Listed, Seen, title_of
from webcrawler.text import content

BEGINNING_BYTES = 48 << 10
ANCHORS = 20  # of a page without a title that are looked at
REPEATS_SECONDS = 60.0  # how old what is known of repeated blocks may be: to read it takes a millisecond


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
        self._path, self._job = crawl_dir / "catalog.sqlite", job
        self._ranks, self._words = crawl_dir / "ranks", crawl_dir / "vocabulary"
        self._scope = Watched(crawl_dir)
        self._forget(None, None)

    def _forget(self, file: object, catalog: Catalog | None) -> None:
        """Begin with another catalog."""
        self._file, self._catalog = file, catalog
        self._unseen: tuple[int | None, NDArray[np.int64]] = None, np.zeros(0, np.int64)
        self._changed, self._changed_seq = np.zeros(0), 0
        self._repeats: dict[str, frozenset[int]] = {}
        self._repeats_until = 0.0

    @property
    def shown(self) -> FolderPages:
        return FolderPages(self)

    @property
    def catalog(self) -> Catalog | None:
        """The catalog, opened again when another file has taken its place.

        Raises:
            Unavailable: it cannot be read.
        """
        stamp = _stamp(self._path)
        file = stamp and stamp[:2]  # it is the same one while it is written
        if file != self._file:
            try:
                self._forget(file, Catalog(self._path, readonly=True, job=self._job) if file else None)
            except BadInput as error:  # not the fault of the person who searches
                raise Unavailable(str(error)) from error
        return self._catalog

    @property
    def generation(self) -> object:
        """Changes when catalog, ranks or vocabulary are replaced."""
        _ = self.catalog
        return self._file, _stamp(self._ranks / stored.NAME), _stamp(self._words / vocabulary.NAME)

    @property
    def vocabulary(self) -> vocabulary.Vocabulary | None:
        catalog = self.catalog
        return vocabulary.load(self._words, catalog.identity) if catalog else None

    def ranks_of(self, numbers: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return stored PageRank, mean 1; all 1 where there is none."""
        catalog = self.catalog
        stamp = _stamp(self._ranks / stored.NAME)
        if catalog and stamp:
            with suppress(LookupError):
                return _ranks(self._ranks, catalog.identity, stamp).of(numbers)
        return np.ones(len(numbers))

    def beginnings(self, numbers: Sequence[int]) -> dict[int, Text]:
        """Return texts with the beginnings of their bodies, without emphasis."""
        return self.catalog.texts(numbers, BEGINNING_BYTES) if self.catalog else {}

    def repeated(self, server: str) -> frozenset[int]:
        """Return the digests of the blocks that repeat over the pages of a server."""
        if not (catalog := self.catalog):
            return frozenset()
        if monotonic() >= self._repeats_until:
            self._repeats, self._repeats_until = {}, monotonic() + REPEATS_SECONDS
        if server not in self._repeats:
            self._repeats[server] = catalog.blocks.repeats(server).digests
        return self._repeats[server]

    def unseen(self) -> NDArray[np.int64]:
        """Return the numbers of the pages that only other searches of the web may see, ascending."""
        if (catalog := self.catalog) and catalog.version != self._unseen[0]:
            self._unseen = catalog.version, catalog.unseen()
        return self._unseen[1]

    def changed(self) -> NDArray[np.float64]:
        """Return by page number when each page last changed, 0 where that is not known.

        The first call reads the times of all documents, a million in about a second; later ones what is new.
        """
        if (catalog := self.catalog) and (last := catalog.checks.last_seq()) != self._changed_seq:
            numbers, times = catalog.checks.changed_after(self._changed_seq)
            more = max(0, int(numbers.max(initial=-1)) + 1 - len(self._changed))
            self._changed = np.concatenate((self._changed, np.zeros(more)))
            self._changed[numbers] = times
            self._changed_seq = last
        return self._changed

    def may_be_shown(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which pages, never fetched, are within the bounds of the crawl and worth showing.

        Raises:
            Unavailable: the file with the bounds cannot be read.
        """
        if not (catalog := self.catalog) or not len(numbers):
            return np.ones(len(numbers), np.bool_)
        try:
            scope = self._scope.now()
        except BadInput as error:
            raise Unavailable(str(error)) from error
        pages = numbers.tolist()
        hidden, urls = catalog.urls.hidden(pages), catalog.urls.of(pages)
        # without a URL: the index is of a catalog that a backup has replaced
        shown = (page in urls and page not in hidden and not scope.refusal(urls[page]) for page in pages)
        return np.fromiter(shown, np.bool_, len(pages))

    def linking_to(self, url: str) -> NDArray[np.int64]:
        """Return the numbers of the pages that link to a canonical URL."""
        return self.catalog.links.sources_of(url) if self.catalog else np.zeros(0, np.int64)


class FolderPages:
    """What is shown of the pages of a data folder."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def listed(self, numbers: Sequence[int]) -> dict[int, Listed]:
        if (catalog := self._opened.catalog) is None:
            return {}
        hidden, older = catalog.urls.hidden(numbers), catalog.near_duplicates(numbers)
        servers = catalog.urls.servers_of(numbers)
        return {
            number: Listed(servers[number], older.get(number, number))
            for number in numbers
            if number in servers and number not in hidden
        }

    def seen(self, numbers: Sequence[int]) -> dict[int, Seen]:
        if (catalog := self._opened.catalog) is None:
            return {}
        documents, texts = catalog.documents(numbers), self._opened.beginnings(numbers)
        urls, servers = catalog.urls.of(numbers), catalog.urls.servers_of(numbers)
        known, found = catalog.checks.known(numbers), dict[int, Seen]()
        for number in numbers:
            document = documents.get(number)
            text = self._main(servers[number], texts[number]) if number in texts else None
            found[number] = Seen(
                urls[number],
                number,
                text,
                [] if title_of(text) else catalog.anchors.most_frequent(number, ANCHORS),
                document.fetched if document else 0.0,
                bool(document and document.place),
                known.get(number),
            )
        return found

    def whole(self, number: int) -> Text | None:
        if (catalog := self._opened.catalog) is None or not (texts := catalog.texts([number])):
            return None
        return self._main(catalog.urls.servers_of([number])[number], texts[number])

    def numbered(self, number: int) -> int:
        return number

    def _main(self, server: str, text: Text) -> Text:
        return content.split(text._replace(emphasis=()), self._opened.repeated(server))[0]


@lru_cache(2)
def _ranks(folder: Path, identity: str, stamp: object) -> stored.Ranks:
    """Read ranks once for all threads, until they are replaced: that takes a millisecond.

    Raises:
        LookupError: they cannot be read now. It is not remembered: the next search tries again.
    """
    if ranks := stored.load(folder, identity):
        return ranks
    raise LookupError(f"no ranks of this catalog in {folder}")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what differs between two files; None where there is no file."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns
