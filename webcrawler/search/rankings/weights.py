"""What rankings share: the weights of a query's words, and what the importance of a page adds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches, Part
from webcrawler.text.query import QueryTerm


class Factor(NamedTuple):
    """Something that adds to the scores of pages."""

    what: str
    detail: str
    worth: NDArray[np.float64]  # first axis: matching pages


def weights(terms: Sequence[QueryTerm]) -> dict[str, float]:
    """Return the weight of each term in the query: one that is typed twice has twice the weight."""
    summed: dict[str, float] = {}
    for word in terms:
        summed[word.term] = summed.get(word.term, 0.0) + word.weight
    return summed


def typed(terms: Sequence[QueryTerm]) -> list[str]:
    """Return the terms that a person typed, in their order; none of the thesaurus or of a prefix*."""
    return [word.term for word in terms if not word.added and word.weight >= 1]


def spellings(terms: Sequence[QueryTerm]) -> dict[str, str]:
    """Return how each term was typed first."""
    return {word.term: word.spelled for word in reversed(terms)}


def idf(frequency: int, documents: int) -> float:
    """Return the inverse document frequency of a word: positive, high for a word of few documents.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework", 3.1; with 1 added in the
    logarithm as in Lucene, so that a word of more than half the documents does not lower their scores.
    """
    return math.log1p((max(documents, frequency) - frequency + 0.5) / (frequency + 0.5))


def idf_of(word: str, matches: Matches) -> float:
    return idf(matches.frequency(word), matches.documents)


def normalised(name: str, word: str, b: float, matches: Matches, most: float = np.inf) -> NDArray[np.float64]:
    """Return the occurrences in a field, at most `most`, as if the field were of mean length.

    Args:
        b: how much less they count in a long text: 0 not at all, 1 in proportion.
    """
    counts = matches.counts(name, word)
    having, found = np.flatnonzero(counts), np.zeros(len(counts))
    if len(having):
        lengths = matches.lengths(name)[having] / matches.mean_length(name)
        found[having] = np.minimum(counts[having], most) / (1 - b + b * lengths)
    return found


HALF = 3.0  # PageRank (mean 1) that gives half of the weight: navigational queries, explanation/ranking.md


def importance(ranks: NDArray[np.floating], weight: float) -> NDArray[np.float64]:
    """Return 0 to `weight`, growing with PageRank and levelling off, so that links alone put no page first.

    Source: Craswell, Robertson, Zaragoza, Taylor 2005, "Relevance Weighting for Query Independent Evidence",
    the saturating transformation.
    """
    found = ranks.astype(np.float64)
    return weight * found / (found + HALF)


def importance_part(matches: Matches, weight: float, place: int) -> Part:
    """Return what importance adds to a page, as a row of an explanation."""
    rank = matches.ranks()[place : place + 1]
    return Part("importance", f"PageRank {rank[0]:.2f}", float(importance(rank, weight)[0]))
