"""The rankings by name; another one is a row in RANKINGS.

`bm25f`, the default, combines the fields of a page with what the page is called by itself and by others;
`second_pass` adds to it for queries that are sentences, and where words stand together.
`hitlists` counts types of hits, and pairs of near ones (GO); `peculiarity` is WC's.

Commands, search page and evaluation read RANKINGS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from webcrawler.errors import BadInput
from webcrawler.search.matches import Factor, Floats, Matches, Ranking, Scores, adding, spellings, weights
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.search.rankings.hitlists import by_hits
from webcrawler.search.rankings.second_pass import FEWEST_WORDS, nearness, with_feedback
from webcrawler.text import Reference
from webcrawler.text.query import QueryTerm

__all__ = [
    "BM25F",
    "DEFAULT",
    "FEWEST_WORDS",
    "FIELDS",
    "RANKINGS",
    "Peculiarity",
    "Row",
    "make_ranking",
    "weight",
]
FIELDS = ("title", "body")  # the text of a document (WC); the body holds the headings


@dataclass(frozen=True)
class Peculiarity:
    """Rank to the letter of Pinkerton 1994, "The Database" and "The Query Server".

    The text of a document is its title and its body.

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


DEFAULT = "bm25f"


class Row(NamedTuple):
    made_with: Callable[[Callable[[], Reference]], Ranking]
    help: str  # what counts in it


RANKINGS = {
    "bm25f": Row(
        lambda reference: adding(with_feedback(BM25F()), nearness),
        "words, how near they are, what links say and importance",
    ),
    "hitlists": Row(lambda reference: by_hits, "how large words stand, and how near each other"),
    "peculiarity": Row(
        lambda reference: Peculiarity(reference().frequency), "words that are rare in the language"
    ),
}


def make_ranking(name: str, reference: Callable[[], Reference]) -> Ranking:
    """Make a ranking for one answer.

    Args:
        reference: gives how frequent words are in general; called only where a ranking asks for it.
    Raises:
        BadInput: no ranking has this name.
    """
    if name not in RANKINGS:
        raise BadInput(f"no ranking is called {name!r}: choose one of {', '.join(RANKINGS)}")
    return RANKINGS[name].made_with(reference)
