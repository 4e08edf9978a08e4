"""From a query to page numbers, best first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import Unavailable
from webcrawler.index import Live, Reading
from webcrawler.search.masks import ENOUGH, FIELDS, match
from webcrawler.search.matches import Matches, Part
from webcrawler.search.opened import Opened
from webcrawler.search.rankings import make_ranking
from webcrawler.text import Reference
from webcrawler.text.query import Query, QueryTerm

MAX_RANKED = 4_000  # pages that are put in order; nobody looks further
RELEVANCE, CHANGED = SORTS = ("relevance", "changed")  # what comes first


class Answer(NamedTuple):
    """Best first; of equal scores the lower page number."""

    total: int  # pages that satisfy the query
    pages: NDArray[np.int32]  # page numbers, maybe only the best of them
    scores: NDArray[np.float64]
    explain: Callable[[int], list[Part]]  # of a page number among them
    partial: bool = False  # the deadline cut the search short
    short: bool = False  # titles and anchors were enough: there are more than `total`
    terms: tuple[QueryTerm, ...] = ()  # for which prefixes of the query stand
    missing: tuple[str, ...] = ()  # words that no page has, as they were typed


class Engine:
    """For one thread."""

    def __init__(
        self, crawl_dir: Path, opened: Opened, reference: Reference, fresh_seconds: float = 0.0
    ) -> None:
        self._live = Live(crawl_dir, fresh_seconds)
        self._opened, self._reference = opened, reference
        self._reading: Reading | None = None

    @property
    def generation(self) -> object:
        """The generation of the newest commit that can be read; None where nothing is indexed.

        Raises:
            Unavailable: there is an index, and no commit of it can be read, or it is of another catalog.
        """
        self._reading = self._live.reading()
        if self._reading:
            catalog = self._opened.catalog
            if catalog is not None and catalog.identity != self._live.catalog:
                # page numbers of one catalog are other pages in another
                raise Unavailable("the index is of another catalog: `scrapy reindex` builds it anew")
        return self._reading.generation if self._reading else None

    def answer(
        self,
        query: Query,
        ranking: str,
        late: Callable[[], bool],
        within: Sequence[Query] = (),
        sort: str = RELEVANCE,
    ) -> Answer:
        """Search the commit whose `generation` was read last.

        Args:
            late: tells whether the deadline has passed.
            within: queries that a page has to satisfy as well; they do not count for its score.
            sort: what comes first; the newest change where it is CHANGED, whatever the score.
        Raises:
            BadInput: there is no such ranking.
        """
        order, reading = make_ranking(ranking, self._reference), self._reading
        assert reading is not None, "the generation says whether there is anything to search"
        enough = sys.maxsize if within else ENOUGH
        found, *others = (
            match(one.root, reading, self._opened.linking_to, late, enough, self._opened.changed)
            for one in (query, *within)
        )
        mask = np.logical_and.reduce([found.mask, *(other.mask for other in others)])
        unseen = self._opened.unseen()
        mask[unseen[unseen < len(mask)]] = False
        pages = np.flatnonzero(mask).astype(np.int32)
        matches = Matches(pages, reading, self._opened.ranks_of, self._opened.beginnings)
        terms = (*query.terms, *found.terms)
        scores = order.scores(terms, matches)
        best = _best(pages, scores if sort == RELEVANCE else self._changed(pages), MAX_RANKED)
        missing = (
            one.spelled
            for one in query.terms
            if not one.added and not any(reading.frequency(field, one.term) for field in FIELDS)
        )
        return Answer(
            len(pages),
            pages[best],
            scores[best],
            lambda page: order.explain(terms, matches, int(np.searchsorted(pages, page))),
            any(one.partial for one in (found, *others)),
            found.short,
            found.terms,
            tuple(dict.fromkeys(missing)),
        )

    def _changed(self, pages: NDArray[np.int32]) -> NDArray[np.float64]:
        """When they last changed; 0 where that is not known."""
        times = self._opened.changed()
        known = pages < len(times)
        return np.where(known, times[np.where(known, pages, 0)], 0.0) if len(times) else np.zeros(len(pages))


def _best(pages: NDArray[np.int32], by: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the places of the `limit` pages with the highest values; sorts no more than it must."""
    kept = np.arange(len(by))
    if len(by) > limit:
        kept = np.flatnonzero(by >= np.partition(by, -limit)[-limit])
    return kept[np.lexsort((pages[kept], -by[kept]))[:limit]]
