"""What rankings share: the words of a query, what each tells, and what the importance of a page adds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches, Part
from webcrawler.text.query import Asked


def weights(asked: Sequence[Asked]) -> dict[str, float]:
    """Term to its weight in the query: a word that is typed twice has twice the weight."""
    summed: dict[str, float] = {}
    for word in asked:
        summed[word.term] = summed.get(word.term, 0.0) + word.weight
    return summed


def typed(asked: Sequence[Asked]) -> list[str]:
    """The terms that a person typed, in their order; not those that the thesaurus or a prefix* stands for."""
    return [word.term for word in asked if not word.added and word.weight >= 1]


def spellings(asked: Sequence[Asked]) -> dict[str, str]:
    """Term to how it was typed first."""
    return {word.term: word.spelled for word in reversed(asked)}


def idf(frequency: int, documents: int) -> float:
    """How much a word tells, from the number of documents that hold it; positive.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework", 3.1; plus 1 in the logarithm
    as Lucene has it, so that a word of more than half the documents does not count against them.
    """
    return math.log1p((max(documents, frequency) - frequency + 0.5) / (frequency + 0.5))


def idf_of(word: str, matches: Matches) -> float:
    return idf(matches.frequency(word), matches.documents)


def normalised(name: str, word: str, b: float, matches: Matches, most: float = np.inf) -> NDArray[np.float64]:
    """Occurrences in a field, at most `most` of them, as if it were of mean length.

    `b` says how far those in a long text count less: 0 not at all, 1 in proportion.
    """
    counts = matches.counts(name, word)
    having, found = np.flatnonzero(counts), np.zeros(len(counts))
    if len(having):
        lengths = matches.lengths(name)[having] / matches.mean_length(name)
        found[having] = np.minimum(counts[having], most) / (1 - b + b * lengths)
    return found


HALF = 3.0  # PageRank (mean 1) that gives half of the weight: navigational queries, explanation/ranking.md


def importance(ranks: NDArray[np.floating], weight: float) -> NDArray[np.float64]:
    """0 to `weight`, growing with PageRank and levelling off: no page is first for its links alone.

    Source: Craswell, Robertson, Zaragoza, Taylor 2005, "Relevance Weighting for Query Independent Evidence",
    the saturating transformation.
    """
    found = ranks.astype(np.float64)
    return weight * found / (found + HALF)


def importance_part(matches: Matches, weight: float, place: int) -> Part:
    """The row of an explanation."""
    rank = matches.ranks()[place : place + 1]
    return Part("importance", f"PageRank {rank[0]:.2f}", float(importance(rank, weight)[0]))
