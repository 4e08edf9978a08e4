"""Answers queries over one data folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from webcrawler.errors import Unavailable
from webcrawler.index import Finds, Live, follower, indexed_documents
from webcrawler.search.answering import DEADLINE_SECONDS, Answering
from webcrawler.search.engine import Engine
from webcrawler.search.opened import Opened, readable
from webcrawler.text import Reference


class Searcher(Answering):
    """Sees the newest commit with every search, also while a follower commits.

    A thread needs a searcher of its own.
    """

    def __init__(
        self,
        crawl_dir: Path,
        reference: Reference | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
        fresh_seconds: float = 0.0,
        job: str = "",
        finds: Finds | None = None,
    ) -> None:
        """
        Args:
            reference: how frequent words are in general; by default in the language of most pages, if that is
                known, else in the collection itself.
            deadline_seconds: what is read of the index by then gives a partial answer, and a note says so.
            fresh_seconds: how long a new commit may be missed; to look for one takes a millisecond.
            job: name of a search of the web; its finds are seen, those of others are not.
            finds: of that search, which the index need not have yet.
        """
        super().__init__(Opened(crawl_dir, job), deadline_seconds)
        self._crawl_dir, self._reference = crawl_dir, reference
        self._live = Live(crawl_dir, fresh_seconds, finds)
        self._last: Engine | None = None

    @property
    @readable()
    def generation(self) -> object:
        """Changes with index, ranks and vocabulary: answers may be cached while it is the same."""
        engine = self._engine()
        return engine and engine.reading.generation, self._opened.generation

    @property
    @readable()
    def last_fetch(self) -> int:
        """Ascends with the fetches, by which it may change what is said of a hit: when it was checked."""
        return self._opened.catalog.checks.last_seq() if self._opened.catalog else 0

    @property
    def documents(self) -> int:
        return indexed_documents(self._crawl_dir / "index")

    def check(self) -> None:
        """Open what searches read.

        Raises:
            Unavailable: the index or the catalog is there and cannot be read.
        """
        _ = self._engine(), self._opened.catalog

    def _engine(self, texts: Sequence[str] = ()) -> Engine | None:
        """Return what answers by the newest commit that can be read; None where nothing is indexed.

        Raises:
            Unavailable: there is an index, and no commit of it can be read, or it is of another catalog.
        """
        reading, catalog = self._live.reading(), self._opened.catalog
        if reading is None:
            return None
        if catalog is not None and catalog.identity != self._live.catalog:
            # page numbers of one catalog are other pages in another
            raise Unavailable("the index is of another catalog: `webcrawler reindex` builds it anew")
        if self._last is None or self._last.reading is not reading:
            self._last = Engine(reading, self._opened, self._reference)
        return self._last

    def _not_indexed(self) -> str:
        if self._opened.catalog and (behind := follower.lag(self._crawl_dir)):
            return (
                f"the index is still being made, {behind:,} changes to go: `webcrawler report` waits for it"
            )
        return f"nothing is indexed in {self._crawl_dir} yet: `webcrawler crawl index` fills it"

    def _why_partial(self) -> str:
        return f"stopped after {self._deadline_seconds:g} s"
