"""The loop of WebCrawler: search the index again as it grows, and follow the links of the best documents.

Source: Pinkerton 1994, "Real-time search mode".
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from webcrawler.archive import recall, take_in
from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Frontier, Seen
from webcrawler.records import Link
from webcrawler.search import Searcher

logger = logging.getLogger(__name__)

TOP = 100  # hits near the top of the list: candidates
FIRST = 100  # documents to begin with where the index has no answer
LEAST_CHANGE = 0.01  # of a relevance; a smaller one is not learned


class QueryLoop:
    """Takes the links of the best documents in the index into a frontier. For one thread.

    Args:
        admits: may this link be followed?
        job: as for `Catalog`.
    """

    def __init__(
        self,
        catalog: Path,
        searcher: Searcher,
        frontier: Frontier,
        admits: Callable[[Link], bool],
        job: str = "",
    ) -> None:
        self._path, self._searcher, self._frontier, self._admits = catalog, searcher, frontier, admits
        self._job = job
        # Page number -> relevance, of all that have been candidates; 0 for those that are no longer.
        self._candidates: dict[int, float] = {}

    def step(self, query: str) -> int:
        """Searches once more; returns how many documents became candidates."""
        ranked = self._searcher.rank(query, limit=TOP) if query else []
        best = max((score for _, score in ranked), default=0.0) or 1.0
        relevance = {number: max(0.0, score / best) for number, score in ranked}
        new = [number for number in relevance if number not in self._candidates]
        changed = self._changed(relevance)
        if not (new or changed):
            return 0
        with closing(Catalog(self._path, readonly=True, job=self._job)) as catalog:
            for seen in recall(catalog, list(changed), changed):
                self._frontier.ordering.learn(self._admitted(seen))
            found = self._follow(catalog, new, relevance)
        # Only now: where Redis failed above, the step is repeated.
        self._candidates |= changed | {number: relevance[number] for number in new}
        return found

    def begin_anywhere(self) -> int:
        """Begins with the documents crawled first, which often are overviews, where the query has no hits."""
        if not self._path.exists():
            return 0
        with closing(Catalog(self._path, readonly=True, job=self._job)) as catalog:
            return self._follow(catalog, catalog.first_documents(FIRST), {})

    def _changed(self, relevance: Mapping[int, float]) -> dict[int, float]:
        """Earlier candidates whose relevance is another one now."""
        if not self._frontier.ordering.learns:
            return {}
        now = {number: relevance.get(number, 0.0) for number in self._candidates}
        return {
            number: share
            for number, share in now.items()
            if abs(share - self._candidates[number]) >= LEAST_CHANGE
            or (self._candidates[number] and not share)
        }

    def _follow(self, catalog: Catalog, numbers: Sequence[int], relevance: Mapping[int, float]) -> int:
        known = catalog.documents(numbers)
        # Hits that were never fetched are known by their anchor text only: what links to them is followed.
        leading = [catalog.links.leading_to(number) for number in numbers if number not in known]
        linking = dict.fromkeys(link.source for link in leading if link)
        sources = [number for number in linking if number not in known and number not in self._candidates]
        seen = [one for some in recall(catalog, [*numbers, *sources], relevance) for one in some]
        take_in(self._frontier, self._admitted(seen))
        return len(seen)

    def _admitted(self, seen: Sequence[Seen]) -> list[Seen]:
        return [one._replace(links=[link for link in one.links if self._admits(link)]) for one in seen]
