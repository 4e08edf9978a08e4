"""Feedback: what the best pages have in common is asked for too, and pages vouch for those like them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from webcrawler.search.matches import Matches, Part
from webcrawler.search.rankings.bm25f import BM25F, TEXT
from webcrawler.search.rankings.weights import idf, typed
from webcrawler.text.query import Asked

Floats = NDArray[np.float64]

_HALF = 2.0  # occurrences in a text of mean length that weigh half of what endless many would: k1 of bm25f
_B = 0.5  # b of its body


class Vectors:
    """One row a text, one column a word; a word weighs count / (count + _HALF), less in a long text."""

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
        """The words that weigh most in the sum of all texts, each by its share."""
        total = np.asarray(self.weights.T @ shares, np.float64)
        best = np.argsort(-total, kind="stable")[:most]
        return {self.words[column]: float(total[column]) for column in best if total[column]}

    def likeness(self) -> Floats:
        """[texts, texts] cosines of 0 to 1; words that many of the texts have tell less."""
        having = np.bincount(self.weights.indices, minlength=len(self.words))
        rarity = np.log1p((self.weights.shape[0] - having + 0.5) / (having + 0.5))
        found = self.weights @ diags_array(rarity)
        norms = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
        unit = diags_array(1 / np.where(norms, norms, 1)) @ found
        cosines: Floats = (unit @ unit.T).toarray()
        return cosines


# Tuned on Cranfield, CACM and ADI: explanation/ranking.md.
FEWEST_WORDS = 5  # of a query that is a sentence: with fewer, a few pages soon lead elsewhere
PAGES = 5  # that are taken for right; 10 break small collections
CANDIDATES = 100  # words whose frequencies are looked up
WORDS = 40  # added
ADDED = 0.4  # of the whole query's weight is theirs
LIKE = 70  # pages, best first, that may vouch for each other
NEIGHBOURS = 10  # for each page: those like it
VOUCHED = 0.5  # of the weight of a page's own score and its neighbours' together


class Step(NamedTuple):
    """What is added to the scores of the first pass."""

    what: str
    detail: str
    worth: Floats


class Feedback:
    """Rank; add the words peculiar to the top pages to the query; raise top pages that resemble others.

    Finds no further pages. A query of fewer than FEWEST_WORDS different words is ranked once only, and so is
    one that is the title of a page: reading 75 beginnings of texts and 40 posting lists takes longer than all
    the rest.

    Source: Rocchio 1971, "Relevance Feedback in Information Retrieval", with the first pass for a judge, its
    pages by their scores; Diaz 2005, "Regularizing Ad Hoc Retrieval Scores", for scores of neighbours.
    Weakness: where the best pages are wrong, it makes them more so.
    """

    def __init__(self, first: BM25F) -> None:
        self.first = first
        self._last: tuple[Sequence[Asked], Matches, list[Step]] | None = None  # explained after it was ranked

    def scores(self, asked: Sequence[Asked], matches: Matches) -> Floats:
        scores = self.first.scores(asked, matches)
        for step in self._steps(asked, matches):
            scores += step.worth
        return scores

    def explain(self, asked: Sequence[Asked], matches: Matches, place: int) -> list[Part]:
        """The first pass's rows, and one a step."""
        rows = self.first.explain(asked, matches, place)
        for what, detail, worth in self._steps(asked, matches):
            if worth[place]:
                rows.append(Part(what, detail, float(worth[place])))
        return rows

    def _steps(self, asked: Sequence[Asked], matches: Matches) -> list[Step]:
        told = set(typed(asked))
        if len(told) < FEWEST_WORDS or not len(matches.pages) or _is_title(told, matches):
            return []
        if self._last is None or self._last[0] is not asked or self._last[1] is not matches:
            scores = self.first.scores(asked, matches)
            words = self._words(asked, matches, scores)
            self._last = asked, matches, [words, _vouched(matches, scores + words.worth)]
        return self._last[2]

    def _words(self, asked: Sequence[Asked], matches: Matches, scores: Floats) -> Step:
        """The words that weigh most in the middle of the best texts."""
        best = _best(scores, PAGES)
        centre = Vectors(matches.vectors(best.tolist())).centre(scores[best], CANDIDATES)
        worth = {
            word: weight * idf(matches.roughly(word), matches.documents) for word, weight in centre.items()
        }
        added = dict(sorted(worth.items(), key=lambda one: -one[1])[:WORDS])
        asked_weight = sum(self.first.query_weights(asked).values())
        factor = asked_weight * ADDED / (1 - ADDED) / (sum(added.values()) or 1)
        weighted = {word: weight * factor for word, weight in added.items()}
        detail = ", ".join(list(added)[:5]) + ", …"
        return Step("words of the best pages", detail, self.first.relevance(weighted, matches, TEXT))


def _is_title(words: Collection[str], matches: Matches) -> bool:
    """Whether some title has them all: what looks like a sentence asks for that page then."""
    return bool(np.logical_and.reduce([matches.counts("title", word) > 0 for word in words]).any())


def _vouched(matches: Matches, scores: Floats) -> Step:
    """The mean score of the pages that are most like each of the best."""
    best = _best(scores, LIKE)
    likeness = Vectors(matches.vectors(best.tolist())).likeness()
    np.fill_diagonal(likeness, 0)
    farther = np.argsort(-likeness, axis=1, kind="stable")[:, NEIGHBOURS:]
    np.put_along_axis(likeness, farther, 0, axis=1)
    sums = likeness.sum(axis=1)
    worth = np.zeros(len(scores))
    worth[best] = VOUCHED / (1 - VOUCHED) * (likeness @ scores[best]) / np.where(sums, sums, 1)
    return Step("pages like it are good too", f"its {NEIGHBOURS} nearest of the best {LIKE}", worth)


def _best(scores: Floats, most: int) -> NDArray[np.intp]:
    """Places of the highest scores, ties by lower page number."""
    return np.argsort(-scores, kind="stable")[:most]
