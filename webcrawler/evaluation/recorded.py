"""Recorded graphs: what a crawl found, to crawl it again in other orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from webcrawler import urls
from webcrawler.errors import BadInput, BadUrl
from webcrawler.evaluation.files import DIGITS_MAX
from webcrawler.linkgraph import Graph
from webcrawler.records import Text

MADE_UP = "http://graph.example/"  # where pages without a URL stand


def _no_texts(numbers: Sequence[int]) -> dict[int, Text]:
    return {}


@dataclass(frozen=True)
class Recorded:
    """A graph whose pages have URLs, and some more where it comes from a catalog."""

    graph: Graph
    labels: NDArray[np.int64]  # what the file calls each page
    urls: Sequence[str]  # canonical, each once
    anchors: Sequence[str] = ()  # of each link, beside graph.targets; none are known where empty
    has_texts: bool = False
    texts: Callable[[Sequence[int]], dict[int, Text]] = _no_texts  # of pages by label

    def page(self, start: str = "") -> int:
        """The page of that name, URL or number; the first that links to others where none is said.

        Raises:
            BadInput: there is none.
        """
        if not start:
            return int(np.flatnonzero(np.diff(self.graph.starts))[0])
        meant, number = _spellings(start), as_number(start)
        found = [page for page, url in enumerate(self.urls) if url in meant]
        if not found and number is not None:
            found = np.flatnonzero(self.labels == number).tolist()
        if not found:
            raise BadInput(f"--start: the graph has no page {start[:200]!r}; it has {self._some_pages()}")
        return found[0]

    def _some_pages(self) -> str:
        if self.urls[0].startswith(MADE_UP):
            return f"pages {self.labels[0]} to {self.labels[-1]}"
        return f"{self.urls[0]} and {len(self.urls) - 1:,} more"

    def reachable(self, start: int) -> Recorded:
        """The part that can be reached from there: all that counts (Cho 1998, section 6).

        Raises:
            BadInput: the page has no links.
        """
        graph = self.graph
        reached = np.zeros(graph.pages, bool)
        reached[breadth_first_order(graph.matrix(), start, return_predecessors=False)] = True
        if reached.sum() < 2:
            raise BadInput(f"--start: page {self.labels[start]} links to no other page; choose another")
        kept = reached[graph.sources]
        number = np.cumsum(reached) - 1
        pages = np.flatnonzero(reached)
        return replace(
            self,
            graph=Graph.of(number[graph.sources[kept]], number[graph.targets[kept]], len(pages)),
            labels=self.labels[pages],
            urls=[self.urls[page] for page in pages.tolist()],
            anchors=[self.anchors[link] for link in np.flatnonzero(kept).tolist()] if self.anchors else (),
        )


def as_number(start: str) -> int | None:
    """What is meant where it is the number of a page."""
    return int(start) if start.isdecimal() and len(start) <= DIGITS_MAX else None


def _spellings(start: str) -> set[str]:
    found = set()
    for url in (start, f"http://{start}", MADE_UP + quote(start, safe="%/")):
        try:
            found.add(urls.canonical(url))
        except BadUrl:
            continue
    return found
