"""What a ranking gets, the scores that it returns and how they came to be, and what rankings share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Flat, Posted, Reading, Vector
from webcrawler.search.masks import PAGE, keys
from webcrawler.text.query import QueryTerm

OVERLAPPED = 0.98  # a page with 東京都 is hardly about 京都
HALF = 3.0  # PageRank (mean 1) that gives half of the weight: navigational queries, explanation/ranking.md

Floats = NDArray[np.float64]
Counts = NDArray[np.float32]


class Part(NamedTuple):
    """A row of an explanation."""

    what: str  # "molecular in title"
    detail: str  # how it was computed, for people
    contribution: float


class Factor(NamedTuple):
    """Something that adds to the scores of pages."""

    what: str
    detail: str | Callable[[int], str]  # of all pages, or of the one at a place
    worth: Floats  # of each matching page


class Scores:
    """Scores of matching pages; higher is better."""

    def __init__(self, values: Floats, factors: Callable[[], Iterable[Factor]]) -> None:
        """`factors` gives what the values are the sums of, when they are explained."""
        self.values = values
        self._factors, self._added = factors, list[Factor]()

    def add(self, factors: Iterable[Factor]) -> None:
        for factor in factors:
            self.values = self.values + factor.worth
            self._added.append(factor)

    def parts(self, places: Sequence[int]) -> list[list[Part]]:
        """Return where the scores of the pages at some places come from."""
        if not places:
            return []  # the factors are not even made
        rows = [list[Part]() for _ in places]
        for what, detail, worth in chain(self._factors(), self._added):
            for row, place in zip(rows, places, strict=True):
                if worth[place]:
                    said = detail if isinstance(detail, str) else detail(place)
                    row.append(Part(what, said, float(worth[place])))
        return rows


class Identifier(NamedTuple):
    """A name in code that was typed, such as `a_b`."""

    spelled: str
    terms: tuple[str, ...]
    held: NDArray[np.bool_]  # which of the matching pages have it, its words next to each other,
    named: NDArray[np.bool_]  # and which have it in their title, or are called so by a link, of any server


class Matches:
    """The documents that satisfy a query, and what a ranking may ask about them.

    Arrays are aligned to `pages`; they are computed when first needed, once.
    """

    def __init__(
        self,
        pages: NDArray[np.int32],
        reading: Reading,
        ranks: Callable[[NDArray[np.int32]], Floats],
        identifiers: Sequence[Identifier] = (),
        overlaps: Mapping[str, Sequence[str]] = {},
    ) -> None:
        """
        Args:
            pages: page numbers, ascending.
            ranks: gives the stored PageRank of page numbers, mean 1.
            overlaps: by word, others that end with its first character.
        """
        self.pages, self._overlaps = pages, overlaps
        self.documents, self.identifiers = reading.documents, identifiers
        self._reading, self._ranks = reading, ranks
        self._places = np.full(reading.size, -1, np.int32)  # of each page number in `pages`
        self._places[pages] = np.arange(len(pages), dtype=np.int32)
        self._counts: dict[tuple[str, str], Counts] = {}
        self._lengths: dict[str, Counts] = {}
        self._frequencies: dict[str, int] = {}
        self._importance: Counts | None = None

    def counts(self, field: str, word: str) -> Counts:
        """Return how often a word occurs in a field; by OVERLAPPED less where another ends in it."""
        if (field, word) not in self._counts:
            posted = self._reading.posted(field, word)
            at, counts = self._places[posted.pages], np.zeros(len(self.pages), np.float32)
            counts[at[at >= 0]] = posted.counts[at >= 0]
            if word in self._overlaps and len(posted.pages):
                np.subtract.at(counts, self._overlapped(field, word, posted), OVERLAPPED)
            self._counts[field, word] = counts
        return self._counts[field, word]

    def _overlapped(self, field: str, word: str, posted: Posted) -> NDArray[np.int32]:
        """Return the place of a page for each occurrence of a word in which another one ends."""
        wanted = self._places >= 0
        others = [keys(self._reading.posted(field, other), wanted) for other in self._overlaps[word]]
        found = keys(posted, wanted)
        return self._places[found[np.isin(found - 1, np.concatenate(others))] // PAGE]

    def lengths(self, field: str) -> Counts:
        """Return how many words a field has."""
        if field not in self._lengths:
            self._lengths[field] = self._reading.lengths(field)[self.pages]
        return self._lengths[field]

    def mean_length(self, field: str) -> float:
        """Return the mean number of words over the pages of the collection with the field; 1 if none."""
        return self._reading.mean_length(field)

    def frequency(self, word: str) -> int:
        """Return how many documents have the word, or a compound of it, in title or body, at least 1."""
        if word not in self._frequencies:
            self._frequencies[word] = max(1, self._reading.documents_with(word))
        return self._frequencies[word]

    def having(self, field: str, word: str) -> int:
        """Return how many pages have the word in a field, at least 1; reads no posting list."""
        return max(1, self._reading.frequency(field, word))

    def idf(self, word: str) -> float:
        """Return the inverse document frequency of a word in title or body."""
        return idf(self.frequency(word), self.documents)

    def normalised(self, field: str, word: str, b: float, most: float = np.inf) -> Floats:
        """Return the occurrences in a field, at most `most`, as if the field were of mean length.

        Args:
            b: how much less they count in a long text: 0 not at all, 1 in proportion.
        """
        counts = self.counts(field, word)
        having, found = np.flatnonzero(counts), np.zeros(len(counts))
        if len(having):
            lengths = self.lengths(field)[having] / self.mean_length(field)
            found[having] = np.minimum(counts[having], most) / (1 - b + b * lengths)
        return found

    def ranks(self) -> Counts:
        """Return PageRank, mean 1 over all pages."""
        if self._importance is None:
            self._importance = self._ranks(self.pages).astype(np.float32)
        return self._importance

    def importance(self, weight: float) -> Floats:
        """Return 0 to `weight`, growing with PageRank and levelling off: links alone put no page first.

        Source: Craswell, Robertson, Zaragoza, Taylor 2005, "Relevance Weighting for Query Independent
        Evidence", the saturating transformation.
        """
        ranks = self.ranks().astype(np.float64)
        return weight * ranks / (ranks + HALF)

    def importance_factor(self, weight: float) -> Factor:
        """Return what importance adds, for an explanation."""
        return Factor(
            "importance", lambda place: f"PageRank {self.ranks()[place]:.2f}", self.importance(weight)
        )

    def hits(self, field: str, word: str, places: NDArray[np.intp]) -> tuple[NDArray[np.intp], Flat]:
        """Return which of some `places` of `pages` have the word in a field, and its hits there."""
        posted = self._reading.posted(field, word)
        # of as many pages as have the word, not of as many as there are
        order = np.argsort(posted.pages, kind="stable")
        wanted, known = self.pages[places], posted.pages[order]
        at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        rows = np.flatnonzero(known[at] == wanted) if len(known) else np.zeros(0, np.intp)
        return rows, posted.values.some(order[at[rows]]).flat()

    def sections(self, places: NDArray[np.intp]) -> Flat:
        """Return where the sections of some pages begin in their text, as `Reading.sections` does."""
        return self._reading.sections(self.pages[places].tolist()).flat()

    def vectors(self, places: NDArray[np.intp]) -> list[Vector]:
        """Return how often each term occurs at the beginning of some pages."""
        return self._reading.vectors(self.pages[places].tolist())


Ranking: TypeAlias = "Callable[[Sequence[QueryTerm], Matches], Scores]"


def adding(
    first: Ranking, factors: Callable[[Sequence[QueryTerm], Matches, Floats], list[Factor]]
) -> Ranking:
    """Rank, and add to each score what the factors are worth that follow from the scores of `first`."""

    def rank(terms: Sequence[QueryTerm], matches: Matches) -> Scores:
        scores = first(terms, matches)
        scores.add(factors(terms, matches, scores.values))
        return scores

    return rank


def weights(terms: Sequence[QueryTerm]) -> dict[str, float]:
    """Return the weight of each term in the query: one that is typed twice has twice the weight."""
    summed: dict[str, float] = {}
    for word in terms:
        summed[word.term] = summed.get(word.term, 0.0) + word.weight
    return summed


def typed(terms: Sequence[QueryTerm]) -> list[str]:
    """Return the terms that a person typed, in their order; none of the thesaurus or of a prefix*."""
    return [word.term for word in terms if not word.added]


def telling(terms: Sequence[QueryTerm]) -> dict[str, float]:
    """Return how much each term says, 0 to 1, by its frequency in general language."""
    return {word.term: word.telling for word in terms}


def spellings(terms: Sequence[QueryTerm]) -> dict[str, str]:
    """Return how each term was typed first."""
    return {word.term: word.spelled for word in reversed(terms)}


def idf(frequency: int, documents: int) -> float:
    """Return the inverse document frequency of a word: positive, high for a word of few documents.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework", 3.1; with 1 added in the
    logarithm as in Lucene, so that a word of more than half the documents does not lower their scores.
    """
    return math.log1p((max(documents, frequency) - frequency + 0.5) / (frequency + 0.5))
