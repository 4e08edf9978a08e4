"""Peculiarity weighting, to the letter of Pinkerton 1994, "The Database" and "The Query Server"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from webcrawler.search.matches import Contribution, Matches


def weight(occurrences: int, length: int, reference_frequency: float) -> float:
    """How peculiar a word is to a text: its frequency there / its frequency in the reference domain.

    Both are relative: `occurrences` among the `length` words of the text, stop words left out of both.
    """
    return occurrences / length / reference_frequency


def relevance(document: Mapping[str, float], query: Mapping[str, float], query_length: int) -> float:
    """Sum, over the words of the query, document weight times query weight; divide by the number of words.

    As an inner product of vectors, a word that is typed twice is one word of twice the weight.
    """
    return sum(document.get(word, 0.0) * weight for word, weight in query.items()) / query_length


@dataclass(frozen=True)
class Peculiarity:
    """Rank by the relevance of WC; the text of a document is its title and its body.

    Weakness: a weight is a share, so a page of one word, the right one, wins over any article; and the
    reference frequency divides twice, so the rarest word of a query outweighs all others.
    """

    reference: Callable[[str], float]  # stem -> frequency in the reference domain

    def scores(self, words: tuple[str, ...], matches: Matches) -> dict[int, float]:
        """`relevance` of each matching document; written out by word, as there may be 100,000 of them."""
        scores = dict.fromkeys(matches.lengths, 0.0)
        for word, query_weight in self._query_weights(words).items():
            factor = query_weight / self.reference(word) / len(words)
            for document, occurrences in matches.counts[word].items():
                if document in scores:
                    scores[document] += occurrences / matches.lengths[document] * factor
        return scores

    def explain(self, words: tuple[str, ...], matches: Matches, document: int) -> list[Contribution]:
        length = matches.lengths[document]
        return [
            Contribution(word, found, asked, relevance({word: found}, {word: asked}, len(words)))
            for word, asked in self._query_weights(words).items()
            if (found := weight(matches.counts[word].get(document, 0), length, self.reference(word)))
        ]

    def _query_weights(self, words: tuple[str, ...]) -> dict[str, float]:
        """The same formula on the query's text."""
        return {
            word: weight(occurrences, len(words), self.reference(word))
            for word, occurrences in Counter(words).items()
        }
