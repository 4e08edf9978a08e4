"""The newest commits of both indexes, kept open between searches."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import Unavailable, WebcrawlerError
from webcrawler.index.tantivy import ANCHORS, TEXTS, VERSION, make_schema, register_analyzer, state, tantivy

_OTHERS = (WebcrawlerError, sqlite3.Error, KeyboardInterrupt, SystemExit)  # the index is not to blame
_TRIES = 5  # an index may be exchanged between our looking and opening

Pages = NDArray[np.int32]
Scores = NDArray[np.float64]


@contextmanager
def readable() -> Iterator[None]:
    """What a damaged file ends in, ValueError or a panic, which is no Exception, becomes Unavailable."""
    try:
        yield
    except _OTHERS:
        raise
    except BaseException as damage:
        message = f"cannot read the index ({damage}): `scrapy reindex` builds it anew"
        raise Unavailable(message) from damage


class Found(NamedTuple):
    """Pages by their score, best first."""

    total: int  # also those that are not here
    pages: Pages
    scores: Scores


NONE = Found(0, np.zeros(0, np.int32), np.zeros(0))


class Side:
    """One commit of one index."""

    def __init__(self, index: tantivy.Index, texts: Sequence[str], catalog: str = "") -> None:
        register_analyzer(index)
        self.schema, self.texts = make_schema(texts), tuple(texts)
        self.searcher = index.searcher()
        self.catalog = catalog  # the identity of the one that it follows

    def best(self, query: tantivy.Query, limit: int) -> Found:
        result = self.searcher.search(query, limit=self._bounded(limit))
        numbers = self.searcher.fast_field_values("number", [place for _, place in result.hits])
        scores = np.array([score for score, _ in result.hits], np.float64)
        count: int = result.count  # type: ignore[attr-defined]  # which its stubs leave out
        return Found(count, np.array(numbers, np.int32), scores)

    def pages(self, query: tantivy.Query, limit: int) -> Pages:
        """Page numbers, descending; 0.2 µs each."""
        limit = self._bounded(limit)
        hits = self.searcher.search(query, limit=limit, count=False, order_by_field="number").hits
        return np.array([number for number, _ in hits], np.int32)

    @cached_property
    def indexed(self) -> NDArray[np.bool_]:
        """Of page numbers up to the highest one that is here."""
        pages = self.pages(tantivy.Query.all_query(), self.searcher.num_docs)
        mask = np.zeros(int(pages.max(initial=0)) + 1, np.bool_)
        mask[pages] = True
        return mask

    @cached_property
    def servers(self) -> list[str]:
        return [server for server, _ in self.searcher.terms_with_prefix("server", "")]

    def holds(self, pages: Pages) -> NDArray[np.bool_]:
        mask = self.indexed
        return mask[np.minimum(pages, len(mask) - 1)] & (pages < len(mask))

    def _bounded(self, limit: int) -> int:
        """tantivy takes memory for `limit` hits at once, and ends the process for none."""
        return max(1, min(limit, self.searcher.num_docs))


class Both(NamedTuple):
    generation: object
    documents: Side
    anchors: Side


class Live:
    """Opens the indexes again whenever one of them has a new commit. Not safe between threads."""

    def __init__(self, crawl_dir: Path) -> None:
        self._index, self._anchors = crawl_dir / "index", crawl_dir / "anchors"
        self._both: Both | None = None

    def both(self) -> Both | None:
        """The newest commits that can be read; None where nothing is indexed.

        Raises:
            Unavailable: there is an index, and no commit of it could be read.
        """
        try:
            self._refresh()
        except Unavailable:
            if self._both is None:
                raise
        return self._both

    def _refresh(self, tries: int = _TRIES) -> None:
        newest = state.generation(self._index), state.generation(self._anchors)
        if self._both and (self._both.generation == newest or newest[0] is None):
            return  # nothing new, or being exchanged
        try:
            documents = _open(self._index, TEXTS)
        except Unavailable:
            if tries == 1:
                raise
            return self._refresh(tries - 1)
        try:
            anchors = _open(self._anchors, ANCHORS)
            if anchors.catalog != documents.catalog:
                anchors = _empty(ANCHORS)
        except Unavailable:  # an answer is worth more than the best answer
            anchors = _empty(ANCHORS)
        self._both = Both(newest, documents, anchors) if documents.searcher.num_docs else None


@readable()
def _open(folder: Path, texts: Sequence[str]) -> Side:
    if state.generation(folder) is None:
        if folder.is_dir() and any(folder.glob("*.toc")):
            raise Unavailable(
                f"the index {folder} was made by whoosh: set INDEX_ENGINE=whoosh, "
                "or `scrapy reindex` builds it anew by tantivy"
            )
        return _empty(texts)
    known = state.read(folder)
    if known is None:
        raise ValueError("it does not say what it follows")
    if known.version != VERSION:
        raise Unavailable(f"the index {folder} was made by another version: `scrapy reindex` builds it anew")
    return Side(tantivy.Index.open(str(folder)), texts, known.catalog)


def _empty(texts: Sequence[str]) -> Side:
    return Side(tantivy.Index(make_schema(texts)), texts)
