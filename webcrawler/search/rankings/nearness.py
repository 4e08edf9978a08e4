"""Pages where the words of a query stand next to each other come before those where they are far apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Flat
from webcrawler.search.masks import PAGE, following
from webcrawler.search.matches import Factor, Floats, Matches, telling, typed
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
