"""Peculiarity weighting, to the letter of Pinkerton 1994, "The Database" and "The Query Server"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from webcrawler.search.matches import Factor, Floats, Matches, Scores, spellings, weights
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
        spelled, words = spellings(terms), weights(terms)
        factors, length = list[Factor](), sum(words.values())
        for word, times in words.items():
            weighs = self._document_weights(word, matches)
            query_weight = times / length / self.reference(word)  # by the same formula, for the query's text
            detail = partial(_product, weighs, query_weight, length)
            factors.append(Factor(spelled[word], detail, weighs * (query_weight / length)))
        return Scores(sum((one.worth for one in factors), np.zeros(len(matches.pages))), lambda: factors)

    def _document_weights(self, word: str, matches: Matches) -> Floats:
        counts = sum((matches.counts(field, word).astype(np.float64) for field in FIELDS), np.zeros(1))
        lengths = sum((matches.lengths(field).astype(np.float64) for field in FIELDS), np.zeros(1))
        return weight(counts, np.maximum(lengths, 1), self.reference(word))


def _product(weighs: Floats, query_weight: float, length: float, place: int) -> str:
    return f"weight {weighs[place]:.4g} in the document × {query_weight:.4g} in the query / {length:g}"


def weight(occurrences: Floats, lengths: Floats, reference_frequency: float) -> Floats:
    """Return how peculiar a word is to texts: its frequency there / its frequency in the reference domain.

    Args:
        occurrences: of the word, in each text.
        lengths: words of each text.
        reference_frequency: a share of all words, as in the texts.
    """
    return occurrences / lengths / reference_frequency
