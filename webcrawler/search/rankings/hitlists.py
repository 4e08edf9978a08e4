"""Hit lists: types of hits are counted, alone and in near pairs (GO, Hit Lists, The Ranking Function)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.masks import FAR, Integers
from webcrawler.search.matches import Factor, Floats, Matches, Scores, spellings, typed, weights
from webcrawler.text.query import QueryTerm

MAX_RANKED = 40_000  # GO: "once a certain number (currently 40000) of matching documents are found"
PAIRED = 300  # the best pages, in which pairs are looked for
MOST_WORDS = 12  # of a query, those with the most weight; 15 ms a word on 40,000 pages
MOST_PAIRS = 8  # of neighbouring words in a query


class Kind(NamedTuple):
    """A type of hit."""

    label: str  # in an explanation
    weight: float


# By ascending weight, as a pair counts as the lesser of its two. GO gives no figures ("a black art"): these
# keep every type, with its count tapered, below a third of what a page can reach.
PLAIN, CAPITAL, META, LARGE, URL, TITLE, ANCHOR = range(7)
KINDS = (
    Kind("text", 1.0),
    Kind("text, with a capital", 1.2),
    Kind("description or own links", 1.2),
    Kind("heading or emphasis", 2.0),
    Kind("URL", 2.5),
    Kind("title", 4.0),
    Kind("links to it", 4.0),
)
# Anchor text is what other servers call a page; what its own server calls it counts as a description.
_FIELDS = {
    "body": PLAIN,
    "part": PLAIN,
    "meta": META,
    "anchor": META,
    "words": URL,
    "title": TITLE,
    "cited": ANCHOR,
}
_LARGE = 1  # sizes from here on are emphasis or headings

TAPER = 4.0  # saturation: the limit of a count-weight as hits of one type grow in number
# By how much a pair counts in each of the ten bins, beside the hits of its words.
NEARNESS = (1.0, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)
# GO: "binned into 10 different values ranging from a phrase match to not even close". The most words in
# between for each bin but the last, which has pairs of two anchor texts: those are 32 words or more apart.
FARTHEST = (0, 1, 2, 3, 5, 8, 12, 20, 31)
BINS = len(FARTHEST) + 1
IMPORTANCE = 12.0  # most that PageRank adds: about as much as the best title

WEIGHTS = np.array([kind.weight for kind in KINDS])
PAIR_WEIGHTS = np.outer(WEIGHTS, NEARNESS)  # GO: "every type and proximity pair has a type-prox-weight"

Places = NDArray[np.intp]


def by_hits(terms: Sequence[QueryTerm], matches: Matches) -> Scores:
    """Rank as GO does: by the dot product of count-weights and type-weights, the same of pairs, and PageRank.

    Each factor is bounded so that none dominates. Not as in GO: words count by their rarity, since some pages
    lack some of them; pages with all words still come first. Pairs are those of neighbouring words of the
    query, in the PAIRED best pages only. Of more than MAX_RANKED matches, those with hits in title or anchors
    are ranked, as GO looks into its short barrels first, then those with the most PageRank.

    Weakness: the length of a text does not count.
    """
    importance = matches.importance(IMPORTANCE)
    scores = importance.copy()
    for factor in _factors(terms, matches, importance):
        scores += factor.worth.sum(axis=1)
    bonus = _all_words(terms, matches, scores)

    def factors() -> Iterator[Factor]:
        for what, detail, worth in _factors(terms, matches, importance):
            for kind in np.flatnonzero(worth.any(axis=0)):
                yield Factor(f"{what} in {KINDS[kind].label}", detail, worth[:, kind])
        yield Factor("all words of the query", "ranks above pages missing a word", bonus)
        yield matches.importance_factor(IMPORTANCE)

    return Scores(scores + bonus, factors)


def count_weight(counts: Floats) -> Floats:
    """Return weights up to TAPER. GO: "increase linearly with counts at first but quickly taper off"."""
    return TAPER * -np.expm1(-counts / TAPER)


def _factors(terms: Sequence[QueryTerm], matches: Matches, base: Floats) -> Iterator[Factor]:
    """Yield what single words add, then what pairs add in the pages that are best by then.

    `worth` has the shape (matching pages, types of hit).
    """
    spelled, shares = spellings(terms), _shares(terms, matches)
    places, scores = _ranked(shares, matches), base.copy()
    for word, share in shares.items():
        counts = np.zeros((len(places), len(KINDS)))
        for _, found in _hits(word, places, matches):
            counts += _table(found.rows, found.kinds, len(places), len(KINDS))
        worth = np.zeros((len(matches.pages), len(KINDS)))
        worth[places] = share * count_weight(counts) * WEIGHTS
        scores += worth.sum(axis=1)
        yield Factor(spelled[word], f"{share:.0%} of the query", worth)
    best = places[np.argsort(-scores[places], kind="stable")[:PAIRED]]
    words = [word for word in typed(terms) if word in shares]
    for one, other in list(pairwise(words))[:MOST_PAIRS]:
        if one != other:
            share = (shares[one] + shares[other]) / 2
            near = _near(one, other, np.sort(best), matches) * share
            yield Factor(f"{spelled[one]} near {spelled[other]}", f"{share:.0%} of the query", near)


def _shares(terms: Sequence[QueryTerm], matches: Matches) -> dict[str, float]:
    """Return the share of each word in the query, by its rarity; of a long query, the MOST_WORDS heaviest."""
    worth = {word: weight * matches.idf(word) for word, weight in weights(terms).items()}
    heaviest = sorted(worth, key=lambda word: -worth[word])[:MOST_WORDS]
    total = sum(worth[word] for word in heaviest)
    return {word: worth[word] / total for word in worth if word in heaviest}


def _ranked(words: Mapping[str, float], matches: Matches) -> Places:
    """Return which of the matching pages are ranked, ascending."""
    if len(matches.pages) <= MAX_RANKED:
        return np.arange(len(matches.pages))
    short = np.zeros(len(matches.pages), np.int64)
    for field, word in product(("title", "cited"), words):
        short += matches.counts(field, word) > 0
    return np.sort(np.lexsort((-matches.ranks(), -short))[:MAX_RANKED])


def _near(one: str, other: str, places: Places, matches: Matches) -> Floats:
    """Return what pairs of two words add; shape (matching pages, types of hit), the bins are summed."""
    others = dict(_hits(other, places, matches))
    counts = np.zeros((len(places), PAIR_WEIGHTS.size))
    for field, found in _hits(one, places, matches):
        if field in others:
            pairs = nearest(found, others[field])
            counts += _table(pairs.rows, pairs.kinds * BINS + pairs.bins, len(places), PAIR_WEIGHTS.size)
    worth = np.zeros((len(matches.pages), len(KINDS)))
    worth[places] = (count_weight(counts) * PAIR_WEIGHTS.ravel()).reshape(-1, len(KINDS), BINS).sum(axis=2)
    return worth


def _hits(word: str, places: Places, matches: Matches) -> Iterator[tuple[str, Occurrences]]:
    """Yield the occurrences of a word in each field that has any."""
    for field, kind in _FIELDS.items():
        if not matches.counts(field, word).any():
            continue
        having, (starts, positions, sizes, capitals) = matches.hits(field, word, places)
        kinds = np.full(len(positions), kind, np.int64)
        if kind == PLAIN:
            kinds = np.where(sizes >= _LARGE, LARGE, np.where(capitals, CAPITAL, PLAIN))
        rows = np.repeat(having, np.diff(starts))
        yield field, Occurrences(rows, positions.astype(np.int64), kinds)


def _table(rows: Integers, columns: Integers, height: int, width: int) -> Floats:
    """Count how often each (row, column) is there; shape (height, width)."""
    counts = np.bincount(rows * width + columns, minlength=height * width)
    return counts.reshape(height, width).astype(np.float64)


def _all_words(terms: Sequence[QueryTerm], matches: Matches, scores: Floats) -> Floats:
    """Return what raises the pages that have all words above those that lack one."""
    lacking = np.zeros(len(scores), np.bool_)
    for word in set(typed(terms)):
        lacking |= ~np.any([matches.counts(field, word) > 0 for field in _FIELDS], axis=0)
    if not lacking.any() or lacking.all():
        return np.zeros(len(scores))
    return np.where(lacking, 0.0, scores[lacking].max())


class Occurrences(NamedTuple):
    """Where a word stands in one field of some pages; all arrays have one entry an occurrence."""

    rows: Integers  # which of the pages, ascending
    positions: Integers  # in words from the start of the field, ascending within a page
    kinds: Integers  # type of hit


class Pairs(NamedTuple):
    """Occurrences of two words, each of one with the nearest of the other."""

    rows: Integers
    bins: Integers  # 0: next to each other in the order typed … 9: not even close
    kinds: Integers  # the lesser of the two types


def nearest(first: Occurrences, second: Occurrences) -> Pairs:
    """Return each occurrence of the rarer word with the nearest of the other in the same page.

    Two words in the order that was not typed count as one word further apart.
    """
    rarer, other, direction = (first, second, 1)
    if len(first.rows) > len(second.rows):
        rarer, other, direction = (second, first, -1)
    if not len(rarer.rows):
        return Pairs(*[np.zeros(0, np.int64)] * 3)
    stride = 1 + max(int(rarer.positions.max()), int(other.positions.max()))
    wanted, among = (one.rows * stride + one.positions for one in (rarer, other))
    after = np.searchsorted(among, wanted)
    best, distance = np.zeros(len(wanted), np.int64), np.full(len(wanted), FAR)
    for candidate in (np.minimum(after, len(among) - 1), np.maximum(after - 1, 0)):
        steps = (among[candidate] - wanted) * direction
        apart = np.where(steps > 0, steps - 1, -steps)  # words in between
        nearer = (apart < distance) & (other.rows[candidate] == rarer.rows)
        best[nearer], distance[nearer] = candidate[nearer], apart[nearer]
    found = distance < FAR
    kinds = np.minimum(rarer.kinds, other.kinds[best])
    return Pairs(rarer.rows[found], np.searchsorted(FARTHEST, distance[found]), kinds[found])
