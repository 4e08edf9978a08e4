"""What a ranking is given and what it gives back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Flat, Reading
from webcrawler.records import Text
from webcrawler.text import terms
from webcrawler.text.query import QueryTerm

MAX_VECTOR_CHARACTERS = 3_000  # of a text that is read for its words

Floats = NDArray[np.float32]


class Matches:
    """The documents that satisfy a query, and what a ranking may ask about them.

    Arrays are aligned to `pages` and computed when they are asked for, once.

    Args:
        pages: page numbers, ascending.
        ranks: stored PageRank of page numbers, mean 1.
        texts: the texts of page numbers, those that have one.
    """

    def __init__(
        self,
        pages: NDArray[np.int32],
        reading: Reading,
        ranks: Callable[[NDArray[np.int32]], NDArray[np.float64]],
        texts: Callable[[Sequence[int]], dict[int, Text]],
    ) -> None:
        self.pages = pages
        self.documents = reading.documents
        self._reading, self._ranks, self._texts = reading, ranks, texts
        self._places = np.full(reading.size, -1, np.int32)  # of each page number in `pages`
        self._places[pages] = np.arange(len(pages), dtype=np.int32)
        self._counts: dict[tuple[str, str], Floats] = {}
        self._lengths: dict[str, Floats] = {}
        self._frequencies: dict[str, int] = {}
        self._importance: Floats | None = None

    def counts(self, field: str, word: str) -> Floats:
        """Occurrences of a word in a field."""
        if (field, word) not in self._counts:
            posted = self._reading.posted(field, word)
            at, counts = self._places[posted.pages], np.zeros(len(self.pages), np.float32)
            counts[at[at >= 0]] = posted.counts[at >= 0]
            self._counts[field, word] = counts
        return self._counts[field, word]

    def lengths(self, field: str) -> Floats:
        """Words in a field."""
        if field not in self._lengths:
            self._lengths[field] = self._reading.lengths(field)[self.pages]
        return self._lengths[field]

    def mean_length(self, field: str) -> float:
        """Words in the field, over the pages of the collection that have it; 1 where none has."""
        return self._reading.mean_length(field)

    def frequency(self, word: str) -> int:
        """How many documents of the collection hold the word in title or body; 1 at least."""
        if word not in self._frequencies:
            held = np.zeros(self._reading.size, np.bool_)
            for field in ("title", "body"):
                held[self._reading.posted(field, word).pages] = True
            self._frequencies[word] = max(1, int(held.sum()))
        return self._frequencies[word]

    def roughly(self, word: str) -> int:
        """As `frequency`, with those that hold it in both counted twice; reads no posting list, 50 µs."""
        return max(1, sum(self._reading.frequency(field, word) for field in ("title", "body")))

    def having(self, field: str, word: str) -> int:
        """How many pages have the word in a field, 1 at least; reads no posting list."""
        return max(1, self._reading.frequency(field, word))

    def ranks(self) -> Floats:
        if self._importance is None:
            self._importance = self._ranks(self.pages).astype(np.float32)
        return self._importance

    def only(self, place: int) -> Matches:
        """One of the pages, with what is known of the collection: arrays of length 1, for explanations."""
        return _One(self, place)

    def hits(self, field: str, word: str, places: NDArray[np.intp]) -> tuple[NDArray[np.intp], Flat]:
        """The hits of a word in some of `pages`: which of `places` have any, and the hits of those."""
        posted = self._reading.posted(field, word)
        index = np.full(self._reading.size, -1, np.int64)
        index[posted.pages] = np.arange(len(posted.pages))
        at = index[self.pages[places]]
        rows = np.flatnonzero(at >= 0)
        return rows, posted.values.some(at[rows]).flat()

    def vectors(self, places: Sequence[int]) -> list[dict[str, int]]:
        """How often each term stands in title and body; their first 3,000 characters."""
        numbers = [int(self.pages[place]) for place in places]
        found = self._texts(numbers)
        texts = [f"{found[n].title}\n{found[n].body}" if n in found else "" for n in numbers]
        return [dict(Counter(terms(text[:MAX_VECTOR_CHARACTERS]))) for text in texts]


class _One(Matches):
    """Looks at what was computed for all pages already."""

    def __init__(self, of: Matches, place: int) -> None:
        self.documents, self._of, self._place = of.documents, of, slice(place, place + 1)
        self.pages = of.pages[self._place]
        self.mean_length, self.frequency = of.mean_length, of.frequency  # type: ignore[method-assign]
        self.having = of.having  # type: ignore[method-assign]

    def counts(self, field: str, word: str) -> Floats:
        return self._of.counts(field, word)[self._place]

    def lengths(self, field: str) -> Floats:
        return self._of.lengths(field)[self._place]

    def ranks(self) -> Floats:
        return self._of.ranks()[self._place]


class Part(NamedTuple):
    """One row of an explanation."""

    what: str  # "molecular in title"
    detail: str  # how it came to be, for people
    contribution: float


class Ranking(Protocol):
    def scores(self, terms: Sequence[QueryTerm], matches: Matches) -> NDArray[np.float64]:
        """Give each matching page a score, more is better."""

    def explain(self, terms: Sequence[QueryTerm], matches: Matches, place: int) -> list[Part]:
        """Say where the score of a page comes from; the contributions sum up to it."""
