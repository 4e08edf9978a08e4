"""BM25F: the fields of a page are combined, then saturated once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches, Part
from webcrawler.search.query import Asked
from webcrawler.search.rankings.importance import importance, part
from webcrawler.search.rankings.words import idf_of, spellings, weights

K1 = 2.0  # occurrences in a text of mean length that give half of what endless many would give
K3 = 8.0  # the same for a word that the query repeats
CITED, CITED_B = 3.0, 0.75  # what other servers call a page, beside its own words
IMPORTANCE = 6.0  # most that PageRank adds

Floats = NDArray[np.float64]


class Field(NamedTuple):
    """How a field counts."""

    called: str  # in an explanation
    weight: float  # occurrences in the body that one here is worth
    b: float  # how far occurrences in a long text count less: 0 not at all, 1 in proportion


# k1, k3, title and body are tuned on Cranfield, CACM and ADI, all else on 201 navigational queries on the
# docweb: explanation/ranking.md has the figures.
FIELDS: Mapping[str, Field] = {
    "title": Field("title", 2.0, 0.3),
    "body": Field("text", 1.0, 0.5),
    "words": Field("URL", 4.0, 0.75),
    "meta": Field("description", 1.0, 0.3),
    "anchor": Field("links to it", 0.5, 0.75),
}
TEXT = ("title", "body")  # what a page says itself


@dataclass(frozen=True)
class BM25F:
    """Rank by how often the words stand in the fields of a page, rare words first.

    relevance = Σ over words of query weight · idf · (k1 + 1) x / (k1 + x), and x = Σ over fields of
    weight · occurrences / (1 - b + b · length / mean length). What other servers call the page saturates by
    itself: Σ of CITED · coverage · query weight · idf · c / (1 + c), with c as x for that field alone, and
    coverage the share of the query that those words make up. A site's words for its own pages tell little,
    those of others would drown in one sum with the text, and one word of a long link answers no sentence.

    Source: Zaragoza, Craswell, Taylor, Saria, Robertson 2004, "Microsoft Cambridge at TREC-13", 3; the weight
    of a word in the query and k3: Robertson, Walker 1994, "Some Simple Effective Approximations".
    Weakness: words far apart count as much as a phrase.
    """

    fields: Mapping[str, Field] = field(default_factory=lambda: FIELDS)
    k1: float = K1
    k3: float = K3
    cited: float = CITED
    importance: float = IMPORTANCE

    def scores(self, asked: Sequence[Asked], matches: Matches) -> Floats:
        words = self.query_weights(asked)
        scores = self.relevance(words, matches) + importance(matches.ranks(), self.importance)
        for worth in self._cited(words, matches).values():
            scores += worth
        return scores

    def explain(self, asked: Sequence[Asked], matches: Matches, place: int) -> list[Part]:
        """A row for each word in each field; what a word is worth is shared out by the fields' share of x."""
        spelled, rows, words = spellings(asked), [], self.query_weights(asked)
        page = matches.only(place)
        cited = self._cited(words, page)
        for word, query_weight in words.items():
            rarity = idf_of(word, page)
            detail = f"idf {rarity:.2f}"
            for name, called, worth in self._of_word(word, page):
                count = f"{page.counts(name, word)[0]:g} × there, {detail}"
                rows.append(Part(f"{spelled[word]} in {called}", count, query_weight * rarity * worth))
            if worth := float(cited[word][0]):
                rows.append(Part(f"{spelled[word]} in links of other servers", detail, worth))
        return [*rows, part(page, self.importance, 0)]

    def query_weights(self, asked: Sequence[Asked]) -> dict[str, float]:
        """Term to its weight, growing ever less with each time that it is typed; 1 for once."""
        return {word: times * (self.k3 + 1) / (self.k3 + times) for word, times in weights(asked).items()}

    def relevance(self, words: Mapping[str, float], matches: Matches, fields: Collection[str] = ()) -> Floats:
        """Of each matching page for weighted words, all fields or some looked at."""
        found = np.zeros(len(matches.pages))
        for word, query_weight in words.items():
            frequency = np.zeros(len(found))
            for name in fields or self.fields:
                frequency += self._share(name, word, matches)
            found += query_weight * idf_of(word, matches) * self._saturated(frequency)
        return found

    def _of_word(self, word: str, page: Matches) -> Iterator[tuple[str, str, float]]:
        """(field, how it is called, worth before idf) wherever the word stands in the one page."""
        shares = {name: float(self._share(name, word, page)[0]) for name in self.fields}
        frequency = sum(shares.values())
        for name, share in shares.items():
            if share:
                yield name, self.fields[name].called, share * (self.k1 + 1) / (self.k1 + frequency)

    def _share(self, name: str, word: str, matches: Matches) -> Floats:
        """Of one field in x."""
        _, weight, b = self.fields[name]
        return weight * _normalised(name, word, b, matches)

    def _saturated(self, frequency: Floats) -> Floats:
        return (self.k1 + 1) * frequency / (self.k1 + frequency)

    def _cited(self, words: Mapping[str, float], matches: Matches) -> dict[str, Floats]:
        """What each word adds that other servers call a page."""
        found = {word: _normalised("cited", word, CITED_B, matches) for word in words}
        weights = {word: weight * idf_of(word, matches) for word, weight in words.items()}
        coverage = np.zeros(len(matches.pages))
        for word, weight in weights.items():
            coverage += weight / sum(weights.values()) * (found[word] > 0)
        return {
            word: self.cited * coverage * weight * found[word] / (1 + found[word])
            for word, weight in weights.items()
        }


def _normalised(name: str, word: str, b: float, matches: Matches) -> Floats:
    """Occurrences in a field as if it were of mean length."""
    counts = matches.counts(name, word)
    having, found = np.flatnonzero(counts), np.zeros(len(counts))
    if len(having):
        lengths = matches.lengths(name)[having] / matches.mean_length(name)
        found[having] = counts[having] / (1 - b + b * lengths)
    return found
