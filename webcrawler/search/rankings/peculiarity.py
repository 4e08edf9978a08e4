"""Peculiarity weighting, to the letter of Pinkerton 1994, "The Database" and "The Query Server"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from webcrawler.search.matches import Matches, spellings, weights
from webcrawler.search.scores import Floats, Part, Scores
from webcrawler.text.query import QueryTerm

FIELDS = ("title", "body")  # the text of a document (WC); the body holds the headings


@dataclass(frozen=True)
class Peculiarity:
    """Rank by the relevance of WC; the text of a document is its title and its body.

    Relevance = Σ over the words of the query of document weight times query weight, divided by the number of
    words. It is an inner product of vectors: a word that is typed twice is one word of twice the weight.

    Weakness: a weight is a share, so a page of one word, the right one, wins over any article; and the
    reference frequency divides twice, so the rarest word of a query outweighs all others. The length of
    titles above ten words is known only to some per cent.
    """

    reference: Callable[[str], float]  # stem -> frequency in the reference domain

    def __call__(self, terms: Sequence[QueryTerm], matches: Matches) -> Scores:
        scores = np.zeros(len(matches.pages))
        length = sum(weights(terms).values())
        for word, query_weight in self._query_weights(terms).items():
            scores += self._document_weights(word, matches) * (query_weight / length)
        return Scores(scores, partial(self._explain, terms, matches))

    def _explain(self, terms: Sequence[QueryTerm], matches: Matches, place: int) -> list[Part]:
        spelled, length, parts = spellings(terms), sum(weights(terms).values()), []
        for word, query_weight in self._query_weights(terms).items():
            found = float(self._document_weights(word, matches)[place])
            if found:
                detail = f"weight {found:.4g} in the document × {query_weight:.4g} in the query / {length:g}"
                parts.append(Part(spelled[word], detail, found * (query_weight / length)))
        return parts

    def _document_weights(self, word: str, matches: Matches) -> Floats:
        counts = sum((matches.counts(field, word).astype(np.float64) for field in FIELDS), np.zeros(1))
        lengths = sum((matches.lengths(field).astype(np.float64) for field in FIELDS), np.zeros(1))
        return weight(counts, np.maximum(lengths, 1), self.reference(word))

    def _query_weights(self, terms: Sequence[QueryTerm]) -> dict[str, float]:
        """Return the weights by the same formula, for the query's text."""
        found = weights(terms)
        length = sum(found.values())
        return {word: times / length / self.reference(word) for word, times in found.items()}


def weight(occurrences: Floats, lengths: Floats, reference_frequency: float) -> Floats:
    """Return how peculiar a word is to texts: its frequency there / its frequency in the reference domain.

    Args:
        occurrences: of the word, in each text.
        lengths: words of each text.
        reference_frequency: a share of all words, as in the texts.
    """
    return occurrences / lengths / reference_frequency
