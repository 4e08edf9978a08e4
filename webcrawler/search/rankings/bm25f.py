"""BM25F: the fields of a page are combined, then saturated once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches, Part
from webcrawler.search.rankings.weights import (
    idf,
    idf_of,
    importance,
    importance_part,
    normalised,
    spellings,
    weights,
)
from webcrawler.text.query import Asked

Floats = NDArray[np.float64]


class Name(NamedTuple):
    """A field that calls the page something."""

    called: str  # in an explanation
    weight: float  # the most that one word can add, in multiples of its idf
    b: float  # how far a word in a long name counts less
    most: float  # occurrences that count


# From the even half of the known items, and 201 navigational queries: explanation/ranking.md has the figures.
# A title that says its site twice calls the page by it once.
NAMES: Mapping[str, Name] = {
    "title": Name("what it calls itself", 1.0, 1.0, 1),
    "cited": Name("links of other servers", 1.5, 0.5, np.inf),
}


def called(name: str, words: Mapping[str, float], matches: Matches, of: Name) -> dict[str, Floats]:
    """What each of the weighted words adds by standing in a name.

    It is weight · coverage · query weight · idf · c / (1 + c), where idf is that in the names of all pages: a
    word of every text may be the name of one page only. c are its occurrences in a name of mean length.
    Coverage is the share of the query, by query weight · idf in texts, that the name holds: one word of it
    answers no sentence.
    """
    found = {word: normalised(name, word, of.b, matches, of.most) for word in words}
    shares = {word: weight * idf_of(word, matches) for word, weight in words.items()}
    held = np.zeros(len(matches.pages))
    for word, occurrences in found.items():
        held += shares[word] * (occurrences > 0)
    coverage = held / (sum(shares.values()) or 1)
    return {
        word: of.weight * coverage * words[word] * idf_in(name, word, matches) * c / (1 + c)
        for word, c in found.items()
    }


def idf_in(name: str, word: str, matches: Matches) -> float:
    return idf(matches.having(name, word), matches.documents)


K1 = 2.0  # occurrences in a text of mean length that give half of what endless many would give
K3 = 8.0  # the same for a word that the query repeats
IMPORTANCE = 6.0  # most that PageRank adds, and never more than the query is worth


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
    weight · occurrences / (1 - b + b · length / mean length). What a page is called counts beside that sum,
    in which a word that the text repeats would drown it: see `called`, for its title and for what others call
    it. A site's words in links to its own pages tell little. Importance adds at most what saying each word
    once in a text of mean length does, Σ query weight · idf: where words tell little, links do not outvote
    them.

    Source: Zaragoza, Craswell, Taylor, Saria, Robertson 2004, "Microsoft Cambridge at TREC-13", 3; the weight
    of a word in the query and k3: Robertson, Walker 1994, "Some Simple Effective Approximations".
    Weakness: words far apart count as much as a phrase.
    """

    fields: Mapping[str, Field] = field(default_factory=lambda: FIELDS)
    k1: float = K1
    k3: float = K3
    names: Mapping[str, Name] = field(default_factory=lambda: NAMES)
    importance: float = IMPORTANCE

    def scores(self, asked: Sequence[Asked], matches: Matches) -> Floats:
        words = self.query_weights(asked)
        scores = self.relevance(words, matches) + importance(matches.ranks(), self._most(words, matches))
        for name, of in self.names.items():
            for worth in called(name, words, matches, of).values():
                scores += worth
        return scores

    def explain(self, asked: Sequence[Asked], matches: Matches, place: int) -> list[Part]:
        """A row for each word in each field; what a word is worth is shared out by the fields' share of x."""
        spelled, rows, words = spellings(asked), [], self.query_weights(asked)
        page = matches.only(place)
        for word, query_weight in words.items():
            rarity = idf_of(word, page)
            for name, called_so, worth in self._of_word(word, page):
                count = f"{page.counts(name, word)[0]:g} × there, idf {rarity:.2f}"
                rows.append(Part(f"{spelled[word]} in {called_so}", count, query_weight * rarity * worth))
        for name, of in self.names.items():
            for word, added in called(name, words, page, of).items():
                if worth := float(added[0]):
                    detail = f"name of {page.lengths(name)[0]:g} words, idf {idf_in(name, word, page):.2f}"
                    rows.append(Part(f"{spelled[word]} in {of.called}", detail, worth))
        return [*rows, importance_part(page, self._most(words, page), 0)]

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
        return weight * normalised(name, word, b, matches)

    def _most(self, words: Mapping[str, float], matches: Matches) -> float:
        """That importance may add; all of it where no word is asked for."""
        worth = sum(weight * idf_of(word, matches) for word, weight in words.items())
        return min(self.importance, worth) if words else self.importance

    def _saturated(self, frequency: Floats) -> Floats:
        return (self.k1 + 1) * frequency / (self.k1 + frequency)
