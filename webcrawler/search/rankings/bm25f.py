"""BM25F: the occurrences of a word in all fields of a page are combined, then saturated once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from webcrawler.search.matches import (
    Counts,
    Factor,
    Floats,
    Matches,
    Scores,
    idf,
    spellings,
    telling,
    weights,
)
from webcrawler.text.query import QueryTerm

K1 = 2.0  # saturation (k1): with so many occurrences, a text of mean length has half of the maximum
K3 = 8.0  # saturation (k3) of a word that is repeated in the query
IMPORTANCE = 6.0  # the most that PageRank adds; never more than the query is worth


class Field(NamedTuple):
    """How occurrences in a field count."""

    label: str  # in an explanation
    weight: float  # field weight: occurrences in the body that one here is worth
    b: float  # length normalisation (b): 0 none, 1 in proportion to the length


# k1, k3, title and body are tuned on Cranfield, CACM and ADI, all else on 201 navigational queries on the
# docweb: explanation/ranking.md has the figures.
FIELDS: Mapping[str, Field] = {
    "title": Field("title", 2.0, 0.3),
    "body": Field("text", 1.0, 0.5),
    "part": Field("parts of words", 0.5, 0.5),
    "words": Field("URL", 4.0, 0.75),
    "meta": Field("description", 1.0, 0.3),
    "anchor": Field("links to it", 0.5, 0.75),
    "around": Field("text around the content", 0.1, 0.5),
}


class Name(NamedTuple):
    """How words count that stand in a field that names the page."""

    label: str  # in an explanation
    weight: float  # the most that one word can add, in multiples of its idf
    b: float  # length normalisation (b)
    most: float  # occurrences that count, at most


# From the even half of the known items, and 201 navigational queries: explanation/ranking.md has the figures.
# A title with the name of its site in it twice is still one name.
NAMES: Mapping[str, Name] = {
    "title": Name("title, as a name", 1.0, 1.0, 1),
    "cited": Name("links of other servers", 1.5, 0.5, np.inf),
}


@dataclass(frozen=True)
class BM25F:
    """Rank by how often the words are in the fields of a page; rare words count more.

    relevance = Σ over words of query weight · idf · (k1 + 1) x / (k1 + x), and x = Σ over fields of
    weight · occurrences / (1 - b + b · length / mean length). What names the page is added to that sum, see
    `_named`: within x, words that the text repeats would hide it. Links within a site name a page less well
    than those of other servers. Importance adds at most what each word once in a text of mean length does,
    Σ query weight · idf, so links do not outweigh words where words say little.

    Source: Zaragoza, Craswell, Taylor, Saria, Robertson 2004, "Microsoft Cambridge at TREC-13", 3; the weight
    of a word in the query and k3: Robertson, Walker 1994, "Some Simple Effective Approximations".
    Weakness: words far apart count as much as a phrase.
    """

    fields: Mapping[str, Field] = field(default_factory=lambda: FIELDS)
    k1: float = K1
    k3: float = K3
    names: Mapping[str, Name] = field(default_factory=lambda: NAMES)
    importance: float = IMPORTANCE

    def __call__(self, terms: Sequence[QueryTerm], matches: Matches) -> Scores:
        words = self.query_weights(terms)
        scores = self.relevance(words, matches) + matches.importance(self._most(words, matches))
        for name in self.names:
            for added in self._named(name, words, matches).values():
                scores += added
        return Scores(scores, partial(self._factors, terms, matches))

    def _factors(self, terms: Sequence[QueryTerm], matches: Matches) -> Iterator[Factor]:
        """Yield for each word in each field its score, shared out by the fields' shares of x."""
        spelled, words = spellings(terms), self.query_weights(terms)
        for word, query_weight in words.items():
            shares = {name: self._share(name, word, matches) for name in self.fields}
            x = sum(shares.values(), np.zeros(len(matches.pages)))
            worth = query_weight * matches.idf(word) * (self.k1 + 1) / (self.k1 + x)
            for name, share in shares.items():
                detail = partial(_occurrences, matches.counts(name, word), matches.idf(word))
                yield Factor(f"{spelled[word]} in {self.fields[name].label}", detail, worth * share)
        for name, of in self.names.items():
            for word, added in self._named(name, words, matches).items():
                rarity = idf(matches.having(name, word), matches.documents)
                detail = partial(_name, matches.lengths(name), rarity)
                yield Factor(f"{spelled[word]} in {of.label}", detail, added)
        yield matches.importance_factor(self._most(words, matches))

    def query_weights(self, terms: Sequence[QueryTerm]) -> dict[str, float]:
        """Return the weight of each term: what it says for once, and less for each further time typed."""
        says, typed = telling(terms), weights(terms)
        return {word: says[word] * times * (self.k3 + 1) / (self.k3 + times) for word, times in typed.items()}

    def relevance(self, words: Mapping[str, float], matches: Matches) -> Floats:
        """Return the relevance of each page for weighted words."""
        found = np.zeros(len(matches.pages))
        for word, query_weight in words.items():
            x = np.zeros(len(found))
            for name in self.fields:
                x += self._share(name, word, matches)
            found += query_weight * matches.idf(word) * ((self.k1 + 1) * x / (self.k1 + x))
        return found

    def _share(self, name: str, word: str, matches: Matches) -> Floats:
        """Return what a field adds to x."""
        _, weight, b = self.fields[name]
        return weight * matches.normalised(name, word, b)

    def _named(self, name: str, words: Mapping[str, float], matches: Matches) -> dict[str, Floats]:
        """Return what each weighted word adds because a field that names the page has it.

        That is weight · coverage · query weight · idf · c / (1 + c), where c are its occurrences in a name of
        mean length, and idf is that in the names of all pages: a word of every text may be the name of one
        page only. Coverage is how much of the query, by query weight · idf in texts, the name has: a name
        with one word of a sentence is not an answer to it.
        """
        of = self.names[name]
        found = {word: matches.normalised(name, word, of.b, of.most) for word in words}
        shares = {word: weight * matches.idf(word) for word, weight in words.items()}
        held = np.zeros(len(matches.pages))
        for word, occurrences in found.items():
            held += shares[word] * (occurrences > 0)
        factor = of.weight * held / (sum(shares.values()) or 1)
        return {
            word: factor * words[word] * idf(matches.having(name, word), matches.documents) * c / (1 + c)
            for word, c in found.items()
        }

    def _most(self, words: Mapping[str, float], matches: Matches) -> float:
        """Return the most that importance may add; all of it where the query has no word."""
        worth = sum(weight * matches.idf(word) for word, weight in words.items())
        return min(self.importance, worth) if words else self.importance


def _occurrences(counts: Counts, rarity: float, place: int) -> str:
    count = counts[place]
    return f"{count:g} {'occurrence' if count == 1 else 'occurrences'}, idf {rarity:.2f}"


def _name(lengths: Counts, rarity: float, place: int) -> str:
    return f"name of {lengths[place]:g} words, idf {rarity:.2f}"
