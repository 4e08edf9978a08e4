"""WC's loop: the query is asked of the whole index again and again, and its best documents lead on.

Source: Pinkerton 1994, "Real-time search mode".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from webcrawler.archive import recall, take_in
from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Frontier, Seen
from webcrawler.records import Link
from webcrawler.search import Searcher

TOP = 100  # hits near the top of the list: candidates
FIRST = 100  # documents to begin with where the index has no answer
SLIGHTLY = 0.01  # a relevance that changes by less is not told again


class QueryLoop:
    """Takes what the best documents of the index link to into a frontier; for one thread.

    Args:
        admits: may this link be followed?
    """

    def __init__(
        self, catalog: Path, searcher: Searcher, frontier: Frontier, admits: Callable[[Link], bool]
    ) -> None:
        self._path, self._searcher, self._frontier, self._admits = catalog, searcher, frontier, admits
        self._told: dict[int, float] = {}  # page number -> relevance, of what was a candidate; 0: no longer

    def step(self, query: str) -> int:
        """Asks once more; returns how many documents became candidates."""
        ranked = self._searcher.rank(query, limit=TOP) if query else []
        best = max((score for _, score in ranked), default=0.0) or 1.0
        relevance = {number: max(0.0, score / best) for number, score in ranked}
        new = [number for number in relevance if number not in self._told]
        changed = self._changed(relevance)
        if not (new or changed):
            return 0
        with closing(Catalog(self._path, readonly=True)) as catalog:
            self._tell_again(catalog, changed)
            found = self._follow(catalog, new, relevance)
        # Not where Redis failed: once more then.
        self._told |= changed | {number: relevance[number] for number in new}
        return found

    def begin_anywhere(self) -> int:
        """Where nothing answers: from the documents that were known first, as sites begin with overviews."""
        if not self._path.exists():
            return 0
        with closing(Catalog(self._path, readonly=True)) as catalog:
            return self._follow(catalog, catalog.first_documents(FIRST), {})

    def _changed(self, relevance: Mapping[int, float]) -> dict[int, float]:
        """What was told before and is not so by now."""
        if not self._frontier.ordering.learns:
            return {}
        now = {number: relevance.get(number, 0.0) for number in self._told}
        return {
            number: share
            for number, share in now.items()
            if abs(share - self._told[number]) >= SLIGHTLY or (self._told[number] and not share)
        }

    def _tell_again(self, catalog: Catalog, changed: Mapping[int, float]) -> None:
        for seen in recall(catalog, list(changed), changed):
            self._frontier.ordering.learn(self._admitted(seen))

    def _follow(self, catalog: Catalog, numbers: Sequence[int], relevance: Mapping[int, float]) -> int:
        known = catalog.documents(numbers)
        named = _named_by(catalog, [number for number in numbers if number not in known])
        sources = [number for number in named if number not in known and number not in self._told]
        seen = [one for some in recall(catalog, [*numbers, *sources], relevance) for one in some]
        take_in(self._frontier, self._admitted(seen))
        return len(seen)

    def _admitted(self, seen: Sequence[Seen]) -> list[Seen]:
        return [one._replace(links=[link for link in one.links if self._admits(link)]) for one in seen]


def _named_by(catalog: Catalog, numbers: Sequence[int]) -> list[int]:
    """Of hits that were never fetched, known by their anchors: the documents that call them so, once each."""
    leading = (catalog.links.leading_to(number) for number in numbers)
    return list(dict.fromkeys(link.source for link in leading if link))
