"""The result list as people see it: what answers the query, and how this search came to it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from contextlib import closing
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.realtime.journal import Found, Via
from webcrawler.records import Hit, Text
from webcrawler.search import Results, Searcher, cut_title

SHOWN = 30


class Listing:
    """For one thread. What is known of a page is looked up once.

    Args:
        similarity: of a text to what is looked for, 0 to 1.
        keeps: does a page of this similarity that the search has found stay in the index?
        seeds: canonical URLs that no link led to.
    """

    def __init__(
        self,
        path: Path,
        searcher: Searcher,
        similarity: Callable[[Text], float],
        keeps: Callable[[float], bool],
        seeds: Iterable[str] = (),
    ) -> None:
        self._path, self._searcher, self._similarity, self._keeps = path, searcher, similarity, keeps
        self._seeds = frozenset(seeds)
        self._known: dict[int, tuple[float, Via | None]] = {}

    def forget(self) -> None:
        """Something else is looked for: similarities are computed anew."""
        self._known.clear()

    def hits(self, query: str, found: Container[str]) -> tuple[list[Found], Results]:
        """The best documents; `found` are the canonical URLs that this search fetched."""
        results = self._searcher.search(query, limit=SHOWN)
        fetched = [hit for hit in results.hits if hit.fetched]
        if new := [hit.number for hit in fetched if hit.number not in self._known]:
            with closing(Catalog(self._path, readonly=True)) as catalog:
                texts = catalog.texts(new)
                for number in new:
                    similarity = self._similarity(texts[number]) if number in texts else 0.0
                    self._known[number] = similarity, self._via(catalog, number)
        return [self._found(rank, hit, found) for rank, hit in enumerate(fetched, 1)], results

    def _found(self, rank: int, hit: Hit, found: Container[str]) -> Found:
        similarity, via = self._known[hit.number]
        is_new = hit.url in found
        return Found(
            rank=rank,
            relevance=hit.relevance,
            title=hit.title,
            url=hit.url,
            server=hit.server,
            snippet=hit.snippet,
            number=hit.number,
            similarity=round(similarity, 3),
            source="web" if is_new else "index",
            via=via if is_new and hit.url not in self._seeds else None,
            kept=not is_new or self._keeps(similarity),
        )

    def _via(self, catalog: Catalog, number: int) -> Via | None:
        leading = catalog.links.leading_to(number)
        if leading and leading.rel == "redirect":  # the link that people see is one step further back
            is_seed = leading.url in self._seeds
            leading = None if is_seed else catalog.links.leading_to(leading.source) or leading
        if leading is None:
            return None
        text = catalog.texts([leading.source]).get(leading.source)
        return Via(url=leading.url, title=cut_title(text.title) if text else "", anchor=leading.anchor)
