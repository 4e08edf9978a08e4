"""Pseudo-relevance feedback: words of the best pages are added, and similar pages raise each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from webcrawler.search.matches import Factor, Matches, Part, idf, telling, typed
from webcrawler.search.rankings.bm25f import BM25F, TEXT
from webcrawler.text.query import QueryTerm

Floats = NDArray[np.float64]

_HALF = 2.0  # occurrences in a text of mean length that weigh half of what endlessly many would: k1 of bm25f
_B = 0.5  # b of its body


class Vectors:
    """Shape (texts, words): a word weighs count / (count + _HALF), and less in a long text."""

    def __init__(self, counts: Sequence[Mapping[str, int]]) -> None:
        columns: dict[str, int] = {}
        places = [columns.setdefault(word, len(columns)) for of in counts for word in of]
        self.words = list(columns)
        rows = np.repeat(np.arange(len(counts)), [len(of) for of in counts])
        found = np.array([count for of in counts for count in of.values()], np.float64)
        lengths = np.array([sum(of.values()) for of in counts], np.float64)
        halves = _HALF * (1 - _B + _B * lengths / (lengths.mean() or 1))
        shape = len(counts), len(columns)
        self.weights = csr_array((found / (found + halves[rows]), (rows, places)), shape=shape)

    def centre(self, shares: Floats, most: int) -> dict[str, float]:
        """Return the words that weigh most in the weighted sum of all texts, and their weights there."""
        total = np.asarray(self.weights.T @ shares, np.float64)
        best = np.argsort(-total, kind="stable")[:most]
        return {self.words[column]: float(total[column]) for column in best if total[column]}

    def likeness(self) -> Floats:
        """Return the cosine of each two texts, 0 to 1; words that many of the texts have weigh less."""
        having = np.bincount(self.weights.indices, minlength=len(self.words))
        rarity = np.log1p((self.weights.shape[0] - having + 0.5) / (having + 0.5))
        found = self.weights @ diags_array(rarity)
        norms = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
        unit = diags_array(1 / np.where(norms, norms, 1)) @ found
        cosines: Floats = (unit @ unit.T).toarray()
        return cosines


# Tuned on Cranfield, CACM and ADI: explanation/ranking.md.
FEWEST_WORDS = 5  # of a query that is a sentence: with fewer, a few pages soon lead elsewhere
PAGES = 5  # that are assumed to be relevant; 10 break small collections
CANDIDATES = 100  # words whose frequencies are looked up
WORDS = 40  # added
ADDED = 0.4  # the share of the added words in the weight of the whole query
LIKE = 70  # the best pages, which are compared with each other
NEIGHBOURS = 10  # for each page: those like it
VOUCHED = 0.5  # the weight of the neighbours' scores beside the page's own


class PseudoRelevanceFeedback:
    """Rank; add the words peculiar to the top pages to the query; raise top pages that resemble others.

    Finds no further pages. A query of fewer than FEWEST_WORDS different words is only ranked once, and so is
    one that is the title of a page: reading 75 beginnings of texts and 40 posting lists takes longer than all
    the rest.

    Source: Rocchio 1971, "Relevance Feedback in Information Retrieval", with the best pages in place of those
    that a person judged, weighted by their scores; Diaz 2005, "Regularizing Ad Hoc Retrieval Scores", for
    scores of neighbours.
    Weakness: where the best pages are wrong, it makes them more so.
    """

    def __init__(self, first: BM25F) -> None:
        self.first = first
        self._last: tuple[object, object, list[Factor]] | None = None  # ranked last: explained afterwards

    def scores(self, terms: Sequence[QueryTerm], matches: Matches) -> Floats:
        scores = self.first.scores(terms, matches)
        for factor in self._factors(terms, matches):
            scores += factor.worth
        return scores

    def explain(self, terms: Sequence[QueryTerm], matches: Matches, place: int) -> list[Part]:
        """Return the rows of the first ranking, and one a factor."""
        rows = self.first.explain(terms, matches, place)
        for what, detail, worth in self._factors(terms, matches):
            if worth[place]:
                rows.append(Part(what, detail, float(worth[place])))
        return rows

    def _factors(self, terms: Sequence[QueryTerm], matches: Matches) -> list[Factor]:
        says = telling(terms)
        words = {word for word in typed(terms) if says[word] == 1}
        if len(words) < FEWEST_WORDS or not len(matches.pages):
            return []
        if np.logical_and.reduce([matches.counts("title", word) > 0 for word in words]).any():
            return []  # what looks like a sentence is the title of a page
        if self._last is None or self._last[0] is not terms or self._last[1] is not matches:
            scores = self.first.scores(terms, matches)
            added = self._words(terms, matches, scores)
            self._last = terms, matches, [added, _neighbours(matches, scores + added.worth)]
        return self._last[2]

    def _words(self, terms: Sequence[QueryTerm], matches: Matches, scores: Floats) -> Factor:
        """Return what the words add that weigh most in the best texts."""
        best = _best(scores, PAGES)
        centre = Vectors(matches.vectors(best.tolist())).centre(scores[best], CANDIDATES)
        worth = {
            word: weight * idf(matches.roughly(word), matches.documents) for word, weight in centre.items()
        }
        added = dict(sorted(worth.items(), key=lambda one: -one[1])[:WORDS])
        query_weight = sum(self.first.query_weights(terms).values())
        factor = query_weight * ADDED / (1 - ADDED) / (sum(added.values()) or 1)
        weighted = {word: weight * factor for word, weight in added.items()}
        detail = ", ".join(list(added)[:5]) + ", …"
        return Factor("words of the best pages", detail, self.first.relevance(weighted, matches, TEXT))


def _neighbours(matches: Matches, scores: Floats) -> Factor:
    """Return what each of the best pages gains: the mean score of the pages that are most like it."""
    best = _best(scores, LIKE)
    likeness = Vectors(matches.vectors(best.tolist())).likeness()
    np.fill_diagonal(likeness, 0)
    farther = np.argsort(-likeness, axis=1, kind="stable")[:, NEIGHBOURS:]
    np.put_along_axis(likeness, farther, 0, axis=1)
    sums = likeness.sum(axis=1)
    worth = np.zeros(len(scores))
    worth[best] = VOUCHED / (1 - VOUCHED) * (likeness @ scores[best]) / np.where(sums, sums, 1)
    return Factor("similar to the best pages", f"its {NEIGHBOURS} nearest of the best {LIKE}", worth)


def _best(scores: Floats, most: int) -> NDArray[np.intp]:
    """Return the places of the highest scores; of equal scores the lower page number is first."""
    return np.argsort(-scores, kind="stable")[:most]
