"""The second pass over the best pages of a ranking: where its words stand together, and what those pages say.

By pseudo-relevance feedback, words of the best pages are added, and similar pages raise each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Flat
from webcrawler.search.masks import PAGE, following
from webcrawler.search.matches import Factor, Floats, Matches, Ranking, adding, telling, typed
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.text.query import QueryTerm

# From the questions about docweb: explanation/ranking.md has the figures.
BEST = 200  # pages whose positions are read
SLACK = 5  # further words that may stand among those of the query
POWER = 3.0  # of the share of the query that stands together: two words of three are worth .3 of all
FIELDS = ("body", "title", "cited", "words", "part")
LEAST_HEADING = 2  # size in a hit from which on a word is part of a heading

Places = NDArray[np.intp]
# Of a word in a field: row of the page times PAGE, plus position, ascending; and size.
_Hits = tuple[NDArray[np.int64], NDArray[np.int8]]


class Kind(NamedTuple):
    """Where the words stand together."""

    label: str  # in an explanation
    weight: float  # the most it adds, in multiples of the idf of all words
    fields: tuple[str, ...]
    least_size: int  # of the hits that count


KINDS = (
    Kind("words together", 0.5, FIELDS, -1),
    Kind("words together in a heading", 0.5, ("body",), LEAST_HEADING),
)
IDENTIFIER_WEIGHT = 1.0  # of a name in code, in multiples of the idf of its words


def nearness(terms: Sequence[QueryTerm], matches: Matches, scores: Floats) -> list[Factor]:
    """Of the BEST pages, raise those where the query's words are together, and those with its names.

    worth = Σ over kinds of weight · Σ idf · (share of the query, by idf, that stands within SLACK more words
    than it has) ^ POWER. A name in code, such as `a_b`, is worth the idf of its words where they stand as
    they were typed, in any page, and again in pages that are called so: they define it.

    Source: the windows of Metzler and Croft 2005, "A Markov Random Field Model for Term Dependencies", over
    all words at once instead of pairs. Cost: 1 ms a word.
    Weakness: it finds nothing among pages that were ranked behind the BEST.
    """
    found = list[Factor]()
    for identifier in matches.identifiers:
        times = identifier.held.astype(np.float64) + identifier.named
        worth = IDENTIFIER_WEIGHT * sum(map(matches.idf, identifier.terms)) * times
        found.append(Factor(identifier.spelled, "the whole name", worth))
    says = telling(terms)
    idfs = {word: says[word] * matches.idf(word) for word in typed(terms)}
    if len(idfs) < 2 or not len(scores):
        return found
    places = np.sort(np.argsort(-scores, kind="stable")[:BEST])
    hits = {field: {word: _hits(field, word, places, matches) for word in idfs} for field in FIELDS}
    sections = _sections(places, matches)
    hits["body"] = {word: with_headings(found, sections) for word, found in hits["body"].items()}
    for kind in KINDS:
        closest = [_closest(hits[field], idfs, kind.least_size, len(places)) for field in kind.fields]
        worth = np.zeros(len(scores))
        worth[places] = kind.weight * sum(idfs.values()) * np.max(closest, axis=0) ** POWER
        found.append(Factor(kind.label, f"within {len(idfs) + SLACK} words", worth))
    return found


def with_headings(hits: _Hits, sections: _Hits) -> _Hits:
    """Return the hits, those in headings of sections as large as headings: names of an API are plain text."""
    (keys, sizes), (starts, lengths) = hits, sections
    if not len(starts):
        return hits
    section = np.maximum(np.searchsorted(starts, keys, "right") - 1, 0)
    headed = (keys >= starts[section]) & (keys <= starts[section] + lengths[section])
    return keys, np.where(headed, np.maximum(sizes, LEAST_HEADING), sizes)


def _closest(hits: Mapping[str, _Hits], idfs: Mapping[str, float], least_size: int, pages: int) -> Floats:
    """Return the greatest share of the query, 0 to 1, that stands together in each of so many pages."""
    found = {word: keys[sizes >= least_size] for word, (keys, sizes) in hits.items()}
    best, farthest = np.zeros(pages), len(idfs) + SLACK - 1
    for word, first in found.items():  # each could be where the words begin
        held = np.full(len(first), idfs[word])
        for other, keys in found.items():
            if other != word and len(keys):
                held += idfs[other] * (following(keys, first) - first <= farthest)
        np.maximum.at(best, first // PAGE, held)
    return best / (sum(idfs.values()) or 1)


def _hits(field: str, word: str, places: Places, matches: Matches) -> _Hits:
    if not matches.counts(field, word).any():
        return np.zeros(0, np.int64), np.zeros(0, np.int8)
    rows, found = matches.hits(field, word, places)
    return _keyed(rows, found)


def _sections(places: Places, matches: Matches) -> _Hits:
    return _keyed(np.arange(len(places)), matches.sections(places))


def _keyed(rows: Places, found: Flat) -> _Hits:
    starts, positions, sizes, _ = found
    return np.repeat(rows.astype(np.int64), np.diff(starts)) * PAGE + positions, sizes


Ints = NDArray[np.intp]

_HALF = 2.0  # occurrences in a text of mean length that weigh half of what endlessly many would: k1 of bm25f
_B = 0.5  # b of its body
_COLUMNS = 32


class Vectors:
    """How much each word weighs in each text: count / (count + _HALF), and less in a long text."""

    def __init__(self, counts: Sequence[Mapping[str, int]]) -> None:
        self.columns: dict[str, int] = {}  # by word
        places = [self.columns.setdefault(word, len(self.columns)) for of in counts for word in of]
        found = np.array([count for of in counts for count in of.values()], np.float64)
        lengths = np.array([sum(of.values()) for of in counts], np.float64)
        halves = _HALF * (1 - _B + _B * lengths / (lengths.mean() if lengths.any() else 1))
        # of each word of each text: the places of the text and of the word, and its weight
        self._rows = np.repeat(np.arange(len(counts)), [len(of) for of in counts])
        self._columns = np.array(places, np.intp)
        self._weights = found / (found + halves[self._rows])
        self._size = len(counts)
        having = np.bincount(self._columns, minlength=len(self.columns))
        self.rarity: Floats = np.log1p((self._size - having + 0.5) / (having + 0.5))  # idf among the texts

    def centre(self, shares: Floats, most: int) -> dict[str, float]:
        """Return the words that weigh most in the weighted sum of all texts, and their weights there."""
        shared = self._weights * shares[self._rows]
        total = np.bincount(self._columns, shared, len(self.columns))
        words = list(self.columns)
        best = np.argsort(-total, kind="stable")[:most]
        return {words[column]: float(total[column]) for column in best if total[column]}

    def relevance(self, words: Mapping[str, float]) -> Floats:
        """Return the sum of what weighted words weigh in each text."""
        of_columns = np.zeros(len(self.columns))
        of_columns[[self.columns[word] for word in words]] = list(words.values())
        weighted = self._weights * of_columns[self._columns]
        return np.bincount(self._rows, weighted, self._size).astype(np.float64, copy=False)

    def likeness(self, texts: Ints) -> Floats:
        """Return the cosine of each two of some texts, 0 to 1; words that many of these have weigh less."""
        place = np.full(self._size, -1)
        place[texts] = np.arange(len(texts))
        rows = place[self._rows]
        some = rows >= 0
        rows, columns, weights = rows[some], self._columns[some], self._weights[some]
        having = np.bincount(columns, minlength=len(self.columns))
        weights = weights * np.log1p((len(texts) - having + 0.5) / (having + 0.5))[columns]
        norms = np.sqrt(np.bincount(rows, weights**2, len(texts)))
        # a word of one text is in no product: it is most words
        shared = having[columns] > 1
        found = np.zeros((len(texts), np.count_nonzero(having > 1)), np.float32)
        found[rows[shared], np.cumsum(having > 1)[columns[shared]] - 1] = (weights / norms[rows])[shared]
        # in pieces so small that BLAS starts no threads: they cost more than they bring
        pieces = np.array_split(found, max(1, found.shape[1] // _COLUMNS), axis=1)
        cosines = np.zeros((len(texts), len(texts)))
        for piece in pieces:
            cosines += piece @ piece.T
        np.fill_diagonal(cosines, 1)
        return cosines


# Tuned on Cranfield, CACM and ADI: explanation/ranking.md.
FEWEST_WORDS = 4  # of a query that is a sentence: with fewer, a few pages soon lead elsewhere
PAGES = 5  # that are assumed to be relevant; 10 break small collections
RANKED = 200  # the best pages: only these gain by added words
CANDIDATES = 100  # words of the heaviest in the PAGES, of which the rarest among the RANKED are added
WORDS = 40  # added
ADDED = 0.4  # the share of the added words in the weight of the whole query
LIKE = 70  # the best pages, which are compared with each other
NEIGHBOURS = 10  # for each page: those like it
VOUCHED = 0.5  # the weight of the neighbours' scores beside the page's own


def with_feedback(first: BM25F) -> Ranking:
    """Rank; add the words peculiar to the top pages to the query; raise top pages that resemble others.

    Finds no further pages, and reads no posting list but those of the query: the pages' vectors are in the
    index. A query of fewer than FEWEST_WORDS different words is only ranked once, and so is one that is the
    title of a page.

    Source: Rocchio 1971, "Relevance Feedback in Information Retrieval", with the best pages in place of those
    that a person judged, weighted by their scores; Diaz 2005, "Regularizing Ad Hoc Retrieval Scores", for
    scores of neighbours.
    Weakness: where the best pages are wrong, it makes them more so.
    """
    return adding(first, partial(_feedback, first))


def _feedback(first: BM25F, terms: Sequence[QueryTerm], matches: Matches, scores: Floats) -> list[Factor]:
    if not _is_sentence(terms, matches):
        return []
    best = _best(scores, RANKED)
    vectors = Vectors(matches.vectors(best))
    gained, detail = _gained(first, terms, vectors, scores[best])
    vouched = _neighbours(vectors, scores[best] + gained)
    near = f"its {NEIGHBOURS} nearest of the best {LIKE}"
    return [
        Factor("words of the best pages", detail, _spread(gained, best, len(scores))),
        Factor("similar to the best pages", near, _spread(vouched, best, len(scores))),
    ]


def _gained(first: BM25F, terms: Sequence[QueryTerm], vectors: Vectors, scores: Floats) -> tuple[Floats, str]:
    """Return what the words of the first texts, the best, add to each, and which words add most."""
    rarity = vectors.rarity
    shares = np.where(np.arange(len(scores)) < PAGES, scores, 0)
    worth = {
        word: weight * float(rarity[vectors.columns[word]])
        for word, weight in vectors.centre(shares, CANDIDATES).items()
    }
    added = dict(sorted(worth.items(), key=lambda one: -one[1])[:WORDS])
    query_weight = sum(first.query_weights(terms).values())
    factor = (first.k1 + 1) * query_weight * ADDED / (1 - ADDED) / (sum(added.values()) or 1)
    weighted = {word: one * factor * float(rarity[vectors.columns[word]]) for word, one in added.items()}
    return vectors.relevance(weighted), ", ".join(list(added)[:5]) + ", …"


def _is_sentence(terms: Sequence[QueryTerm], matches: Matches) -> bool:
    """Tell whether there are enough telling words, and no title has them all."""
    says = telling(terms)
    words = {word for word in typed(terms) if says[word] == 1}
    if len(words) < FEWEST_WORDS or not len(matches.pages):
        return False
    return not np.logical_and.reduce([matches.counts("title", word) > 0 for word in words]).any()


def _neighbours(vectors: Vectors, scores: Floats) -> Floats:
    """Return what each of the best texts gains: the mean score of those that are most like it."""
    best = _best(scores, LIKE)
    likeness = vectors.likeness(best)
    np.fill_diagonal(likeness, 0)
    farther = np.argsort(-likeness, axis=1, kind="stable")[:, NEIGHBOURS:]
    np.put_along_axis(likeness, farther, 0, axis=1)
    sums = likeness.sum(axis=1)
    means = likeness @ scores[best] / np.where(sums, sums, 1)
    return _spread(VOUCHED / (1 - VOUCHED) * means, best, len(scores))


def _best(scores: Floats, most: int) -> Ints:
    """Return the places of the highest scores; of equal scores the lower page number is first."""
    return np.argsort(-scores, kind="stable")[:most]


def _spread(worth: Floats, places: Ints, size: int) -> Floats:
    """Return an array that is 0 but at these places."""
    found = np.zeros(size)
    found[places] = worth
    return found
