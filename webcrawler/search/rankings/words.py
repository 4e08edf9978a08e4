"""The words of a query, each once."""

from __future__ import annotations

import math
from collections.abc import Sequence

from webcrawler.search.matches import Matches
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
