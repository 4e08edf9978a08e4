"""Peculiarity weighting, to the letter of Pinkerton 1994, "The Database" and "The Query Server"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches, Part
from webcrawler.search.rankings.weights import spellings, weights
from webcrawler.text.query import Asked

FIELDS = ("title", "body")  # the text of a document (WC); the body holds the headings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Peculiarity:
    """Rank by the relevance of WC; the text of a document is its title and its body.

    Relevance = Σ over the words of the query of document weight times query weight, by the number of words.
    As an inner product of vectors, a word that is typed twice is one word of twice the weight.
    Weakness: a weight is a share, so a page of one word, the right one, wins over any article; and the
    reference frequency divides twice, so the rarest word of a query outweighs all others. Titles of more than
    ten words are as long as the index says, to some per cent.
    """

    reference: Callable[[str], float]  # stem -> frequency in the reference domain

    def scores(self, asked: Sequence[Asked], matches: Matches) -> Floats:
        scores = np.zeros(len(matches.pages))
        length = sum(weights(asked).values())
        for word, query_weight in self._query_weights(asked).items():
            scores += self._document_weights(word, matches) * (query_weight / length)
        return scores

    def explain(self, asked: Sequence[Asked], matches: Matches, place: int) -> list[Part]:
        spelled, length, parts = spellings(asked), sum(weights(asked).values()), []
        for word, query_weight in self._query_weights(asked).items():
            found = float(self._document_weights(word, matches)[place])
            if found:
                detail = f"weight {found:.4g} in the document × {query_weight:.4g} in the query / {length:g}"
                parts.append(Part(spelled[word], detail, found * (query_weight / length)))
        return parts

    def _document_weights(self, word: str, matches: Matches) -> Floats:
        counts = sum((matches.counts(field, word).astype(np.float64) for field in FIELDS), np.zeros(1))
        lengths = sum((matches.lengths(field).astype(np.float64) for field in FIELDS), np.zeros(1))
        return weight(counts, np.maximum(lengths, 1), self.reference(word))

    def _query_weights(self, asked: Sequence[Asked]) -> dict[str, float]:
        """The same formula on the query's text."""
        found = weights(asked)
        length = sum(found.values())
        return {word: times / length / self.reference(word) for word, times in found.items()}


def weight(occurrences: Floats, lengths: Floats, reference_frequency: float) -> Floats:
    """How peculiar a word is to texts: its frequency there / its frequency in the reference domain.

    Both are relative: `occurrences` among the `lengths` words of a text, stop words left out of both.
    """
    return occurrences / lengths / reference_frequency
