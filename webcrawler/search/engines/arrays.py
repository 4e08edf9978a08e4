"""The engine over Whoosh's index: posting lists become arrays, and rankings count on those."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from webcrawler.index import Live, Reading
from webcrawler.search.engines.engine import Answer, best, check_catalog
from webcrawler.search.masks import ENOUGH, FIELDS, match
from webcrawler.search.matches import Matches, Part
from webcrawler.search.opened import Opened
from webcrawler.search.rankings import make_ranking
from webcrawler.text import Reference
from webcrawler.text.query import Query

MAX_RANKED = 4_000  # pages that are put in order; no one pages further


class ArrayEngine:
    def __init__(
        self, crawl_dir: Path, opened: Opened, reference: Reference, fresh_seconds: float = 0.0
    ) -> None:
        self._live = Live(crawl_dir, fresh_seconds)
        self._opened, self._reference = opened, reference
        self._reading: Reading | None = None

    @property
    def generation(self) -> object:
        self._reading = self._live.reading()
        if self._reading:
            check_catalog(self._live.catalog, self._opened.catalog)
        return self._reading.generation if self._reading else None

    def answer(
        self, query: Query, ranking: str, late: Callable[[], bool], within: Sequence[Query] = ()
    ) -> Answer:
        order, reading = make_ranking(ranking, self._reference), self._reading
        assert reading is not None, "the generation says whether there is anything to search"
        all_there_is = sys.maxsize if within else ENOUGH
        found, *others = (
            match(one.root, reading, self._opened.linking_to, late, all_there_is) for one in (query, *within)
        )
        mask = np.logical_and.reduce([found.mask, *(other.mask for other in others)])
        partial = any(one.partial for one in (found, *others))
        pages = np.flatnonzero(mask).astype(np.int32)
        matches = Matches(pages, reading, self._opened.ranks_of, self._opened.beginnings)
        asked = (*query.asked, *found.asked)
        scores = order.scores(asked, matches)

        def explain(page: int) -> list[Part]:
            return order.explain(asked, matches, int(np.searchsorted(pages, page)))

        first, highest = best(pages, scores, MAX_RANKED)
        return Answer(
            len(pages), first, highest, explain, partial, found.short, found.asked, _missing(query, reading)
        )


def _missing(query: Query, reading: Reading) -> tuple[str, ...]:
    nowhere = (
        asked.spelled
        for asked in query.asked
        if not asked.added and not any(reading.frequency(field, asked.term) for field in FIELDS)
    )
    return tuple(dict.fromkeys(nowhere))
