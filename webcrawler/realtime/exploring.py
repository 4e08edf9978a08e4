"""WC's loop: the query is asked of the whole index again and again, and its best documents lead on.

Source: Pinkerton 1994, "Real-time search mode".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from webcrawler import urls
from webcrawler.catalog import Catalog
from webcrawler.frontier import Frontier, Seen
from webcrawler.recall import recall, take_in
from webcrawler.records import Link
from webcrawler.search import Searcher

TOP = 100  # hits near the top of the list: candidates
FIRST = 100  # documents to begin with where the index has no answer


class Exploring:
    """Takes what the best documents of the index link to into a frontier; for one thread.

    Args:
        admits: may this link be followed?
    """

    def __init__(
        self, catalog: Path, searcher: Searcher, frontier: Frontier, admits: Callable[[Link], bool]
    ) -> None:
        self._path, self._searcher, self._frontier, self._admits = catalog, searcher, frontier, admits
        self._explored: set[int] = set()  # page numbers of those that were candidates

    def step(self, query: str) -> int:
        """Asks once more; returns how many documents became candidates."""
        ranked = self._searcher.rank(query, limit=TOP) if query else []
        best = max((score for _, score in ranked), default=0.0) or 1.0
        relevance = {number: max(0.0, score / best) for number, score in ranked}
        return self._explore([number for number in relevance if number not in self._explored], relevance)

    def begin_anywhere(self) -> int:
        """Where nothing answers: from the documents that were known first, as sites begin with overviews."""
        if not self._path.exists():
            return 0
        with closing(Catalog(self._path, readonly=True)) as catalog:
            return self._follow(catalog, catalog.first_documents(FIRST), {})

    def _explore(self, numbers: Sequence[int], relevance: dict[int, float]) -> int:
        if not numbers:
            return 0
        with closing(Catalog(self._path, readonly=True)) as catalog:
            found = self._follow(catalog, numbers, relevance)
        self._explored.update(numbers)  # not where Redis failed: once more then
        return found

    def _follow(self, catalog: Catalog, numbers: Sequence[int], relevance: dict[int, float]) -> int:
        seen = [one for some in recall(catalog, numbers, relevance) for one in some]
        known = catalog.documents(numbers)
        seen += _named(catalog, [number for number in numbers if number not in known], relevance)
        take_in(self._frontier, [self._admitted(one) for one in seen])
        return len(seen)

    def _admitted(self, seen: Seen) -> Seen:
        return seen._replace(links=[link for link in seen.links if self._admits(link)])


def _named(catalog: Catalog, numbers: Sequence[int], relevance: dict[int, float]) -> list[Seen]:
    """Hits that were never fetched, known by their anchors: as links of the documents that call them so."""
    targets = catalog.urls_of(numbers)
    links, best = defaultdict[int, list[Link]](list), defaultdict[int, float](float)
    for number in numbers:
        leading, target = catalog.leading_link(number), urls.outlink(targets[number], targets[number])
        if leading and not target.refused:
            links[leading.source].append(Link(target.url, target.id, target.spelling, leading.anchor))
            best[leading.source] = max(best[leading.source], relevance.get(number, 0.0))
    sources = catalog.documents(list(links))
    own = {document.id: links[number] for number, document in sources.items()}
    seen = [one for some in recall(catalog, list(sources), best) for one in some]
    return [one._replace(links=own[one.id]) for one in seen]
