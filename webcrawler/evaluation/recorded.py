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

MADE_UP = "http://graph.example/"  # prefix of the URLs of pages without one


@dataclass(frozen=True)
class Recorded:
    """A graph whose pages have URLs; anchors and texts, too, if it comes from a catalog."""

    graph: Graph
    labels: NDArray[np.int64]  # what the file calls each page
    urls: Sequence[str]  # canonical, each once
    anchors: Sequence[str] = ()  # of each link, beside graph.targets; none are known where empty
    texts: Callable[[Sequence[int]], dict[int, Text]] | None = None  # of pages by label; None: it has none

    def page(self, start: str = "") -> int:
        """The page of this name, URL or number; without one, the first page with links.

        Raises:
            BadInput: there is no such page.
        """
        if not start:
            return int(np.flatnonzero(np.diff(self.graph.starts))[0])
        spellings, number = _spellings(start), as_number(start)
        found = [page for page, url in enumerate(self.urls) if url in spellings]
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
        """The part that can be reached from a page; nothing else counts (Cho 1998, section 6).

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
    """The number, if the text is one that can be a page number."""
    return int(start) if start.isdecimal() and len(start) <= DIGITS_MAX else None


def _spellings(start: str) -> set[str]:
    found = set()
    for url in (start, f"http://{start}", MADE_UP + quote(start, safe="%/")):
        try:
            found.add(urls.canonical(url))
        except BadUrl:
            continue
    return found
