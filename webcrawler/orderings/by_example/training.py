"""The documents that the classifier learns from, as rows of features.

A feature is a hashed stem, weighted by its frequency and by how rare it is in general English. Such a fixed
weight does better than idf over what was seen (average precision on docweb .47 against .43), and a row never
changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.by_example.examples import ScoredPage
from webcrawler.orderings.plain import draw
from webcrawler.orderings.topic import stems_of, weight
from webcrawler.records import Text
from webcrawler.text import english, terms

if TYPE_CHECKING:
    from webcrawler.orderings.by_example.model import Model

FEATURES = 2**15
BACKGROUND = 20  # documents of
COMMON = 5_000  # words
EXAMPLES = 300  # the first ones
OTHERS = 300  # a sample of all that was seen, drawn by their ids
GROWTH = 1.5  # of either; then the model is trained again


class Row(NamedTuple):
    """Features of a document: two columns. The weights have length 1; a place may occur twice."""

    places: NDArray[np.int32]
    weights: NDArray[np.float64]


def row_of(text: Text) -> Row:
    """The row of a page. Cost: about a millisecond for 5,000 words."""
    return row(Counter(stems_of(text)))


def row(counts: Mapping[str, int]) -> Row:
    features = [_feature(stem) for stem in counts]
    places = np.array([place for place, _ in features], np.int32)
    weights = np.log1p(np.fromiter(counts.values(), np.float64)) * np.array([one for _, one in features])
    length = np.linalg.norm(weights)
    return Row(places, weights / length if length else weights)


@cache
def background() -> list[Row]:
    """General English as documents about nothing, to learn from before other pages were seen."""
    import wordfreq  # takes 0.2 s

    words = wordfreq.top_n_list("en", COMMON, "small")
    stems = sorted(
        {stem for word in words for stem in terms(word)}, key=lambda s: (-english().frequency(s), s)
    )
    return [row(Counter(stems[start::BACKGROUND])) for start in range(BACKGROUND)]


@lru_cache(maxsize=200_000)
def _feature(stem: str) -> tuple[int, float]:
    return crc32(stem.encode()) % FEATURES, weight(stem)


@dataclass(slots=True)
class Document(ScoredPage):
    left: int = 0  # off-topic pages in a row that may come, this one included


class Training:
    """Documents to learn from; a bounded number, and a new model is due more and more rarely.

    Args:
        query: words that are looked for, as one more example.
    """

    def __init__(self, query: Row | None) -> None:
        self._query = [query] if query else []
        self._examples: dict[int, Document] = {}
        self._others: dict[int, Document] = {}
        self._seen = 0  # other documents
        self._learnt = (0, 0)  # examples and other documents that the last model is of

    def add(self, id: int, document: Document, is_example: bool) -> None:
        """Keeps a document if it is one to learn from; each counts once, with all its links."""
        if known := self.get(id):
            known.add(document.links)
            document = known
        if id in self._examples:
            return
        if is_example:
            if len(self._examples) < EXAMPLES:
                self._examples[id] = document
                self._others.pop(id, None)
        elif id not in self._others:
            self._seen += 1
            self._others[id] = document
            if len(self._others) > OTHERS:
                del self._others[max(self._others, key=lambda id: draw(id, 0))]

    def get(self, id: int) -> Document | None:
        return self._examples.get(id) or self._others.get(id)

    def documents(self) -> list[Document]:
        return [*self._examples.values(), *self._others.values()]

    def is_due(self) -> bool:
        examples, others = self._learnt
        has_examples = bool(self._query or self._examples)
        is_first = examples == others == 0
        return has_examples and (
            is_first or len(self._examples) > GROWTH * examples or self._seen > GROWTH * others
        )

    def model(self) -> Model:
        from webcrawler.orderings.by_example.model import train  # scikit-learn takes 1 s

        self._learnt = len(self._examples), self._seen
        examples = [*self._query, *(document.vector for document in self._examples.values())]
        return train(examples, [document.vector for document in self._others.values()])
