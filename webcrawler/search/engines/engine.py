"""What an engine gives for a query: page numbers, best first. One file for each engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import Unavailable
from webcrawler.search.matches import Part
from webcrawler.text.query import Asked, Query


class Answer(NamedTuple):
    """Best first; of equal scores the older page number."""

    total: int  # pages that satisfy the query
    pages: NDArray[np.int32]  # page numbers, maybe only the best of them
    scores: NDArray[np.float64]
    explain: Callable[[int], list[Part]]  # of a page number among them
    partial: bool = False  # the deadline cut the search short
    short: bool = False  # titles and anchors were enough: there are more than `total`
    asked: tuple[Asked, ...] = ()  # words that prefix* stood for
    missing: tuple[str, ...] = ()  # words as they were typed that no page has, as far as the engine tells


class SearchEngine(Protocol):
    """For one thread."""

    @property
    def generation(self) -> object:
        """Of the newest commit that can be read; None where nothing is indexed.

        Raises:
            Unavailable: there is an index, and no commit of it can be read.
        """

    def answer(
        self, query: Query, ranking: str, late: Callable[[], bool], within: Sequence[Query] = ()
    ) -> Answer:
        """Search the commit whose generation was asked for last.

        Args:
            late: whether the deadline has passed.
            within: queries that a page has to satisfy, too; they weigh nothing.
        Raises:
            BadInput: the engine has no such ranking.
        """


def check_catalog(followed: str, catalog: Catalog | None) -> None:
    """Page numbers of one catalog are other pages in another.

    Raises:
        Unavailable: the index follows another catalog than the one that is open.
    """
    if catalog is not None and catalog.identity != followed:
        raise Unavailable("the index is of another catalog: `scrapy reindex` builds it anew")


def best(
    pages: NDArray[np.int32], scores: NDArray[np.float64], limit: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The `limit` pages with the highest scores in their order; sorts no more than it must."""
    if len(scores) > limit:
        kept = scores >= np.partition(scores, -limit)[-limit]
        pages, scores = pages[kept], scores[kept]
    order = np.lexsort((pages, -scores))[:limit]
    return pages[order], scores[order]
