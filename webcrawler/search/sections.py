"""Which sections of a page answer a query: by where its words stand in the index; no text is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Posted, Reading

MOST = 3  # sections of a page that are shown
HEADED = 1.0  # what a word in the heading adds, in multiples of its idf; to stand in the section is worth 1,
REPEATED = 0.25  # and to stand there often is worth up to that;
NEAR = 1.0  # two words next to each other add that much of the lower idf of the two; further apart, less
TITLED = 0.3  # of these three, for a word in the title of the page: all of its sections are about that
MARGIN = 0.1  # of the idf of all words: by so much a section has to be better than the beginning of the page
SHARE = 0.7  # of the worth of the best one that the others have to have

Ints: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"


def best_sections(words: Mapping[str, float], reading: Reading, pages: Sequence[int]) -> dict[int, list[int]]:
    """Return which sections of each page answer best, at most MOST, best first.

    Pages are left out whose beginning, from the title to the first section, answers as well. The words of the
    title count for all sections of a page.

    Args:
        words: the terms of the query with their idf.
    Returns:
        By page number, the places of sections among those of the page.
    """
    sections = _starts(reading, pages)
    some = list(sections) if words else []
    among = np.zeros(reading.size, np.bool_)
    among[some] = True
    bodies = {word: _hits(reading.posted("body", word), among) for word in words}
    titles = {word: _hits(reading.posted("title", word), among) for word in words}
    nothing, found = np.zeros((2, 0), np.int64), dict[int, list[int]]()
    for page in some:
        body = [bodies[word].get(page, nothing)[0] for word in words]
        title = [titles[word].get(page, nothing)[0] for word in words]
        if best := _best(np.array(list(words.values())), body, title, *sections[page]):
            found[page] = best
    return found


def _best(idfs: Floats, body: Sequence[Ints], title: Sequence[Ints], starts: Ints, sizes: Ints) -> list[int]:
    regions = np.concatenate(([0], starts))  # the beginning of the page, and then its sections
    headings = np.concatenate(([0], starts + sizes + 1))  # where they end; that of the page is its title
    telling = idfs * np.array([TITLED if len(named) else 1.0 for named in title])
    worth = _near(telling, body, regions)
    worth[0] = max(worth[0], _near(telling, title, np.zeros(1, np.int64))[0])
    for idf, tells, positions, named in zip(idfs, telling, body, title, strict=True):
        inside = np.searchsorted(starts, positions, "right")
        counts = np.bincount(inside, minlength=len(regions))
        headed = np.bincount(inside[positions < headings[inside]], minlength=len(regions)) > 0
        headed[0] = len(named) > 0
        stands = np.maximum(counts > 0, len(named) > 0)
        worth += idf * stands + tells * (HEADED * headed + REPEATED * counts / (counts + 2))
    order = np.argsort(-worth[1:], kind="stable")[:MOST]
    least = max(worth[0] + MARGIN * telling.sum(), SHARE * worth[1:].max())
    return [int(place) for place in order if worth[place + 1] >= least]


def _near(idfs: Floats, words: Sequence[Ints], regions: Ints) -> Floats:
    """Return what each region gains by words of the query that are next to each other, or nearly.

    Of each two words, those count in a region that are nearest to each other, with no other word of the query
    between them.
    """
    found, positions, many = np.zeros(len(regions)), np.concatenate(words), len(words)
    order = np.argsort(positions, kind="stable")
    positions, of = positions[order], np.repeat(np.arange(many), [len(one) for one in words])[order]
    inside = np.searchsorted(regions[1:], positions, "right")
    pairs = np.flatnonzero((of[1:] != of[:-1]) & (inside[1:] == inside[:-1]))
    if len(pairs):
        first, second = np.sort((of[pairs], of[pairs + 1]), axis=0)
        gaps = np.maximum(positions[pairs + 1] - positions[pairs], 1)
        keys = (inside[pairs] * many + first) * many + second
        order = np.lexsort((gaps, keys))
        known, nearest = np.unique(keys[order], return_index=True)
        lower = np.minimum(idfs[first], idfs[second])
        np.add.at(found, known // many**2, NEAR * (lower / gaps)[order][nearest])
    return found


def _starts(reading: Reading, pages: Sequence[int]) -> dict[int, Ints]:
    """Return positions and sizes of the sections of those pages that have any."""
    starts, positions, sizes, _ = reading.sections(pages).flat()
    parts = np.split(np.array((positions, sizes), np.int64), starts[1:-1], axis=1)
    return {page: part for page, part in zip(pages, parts, strict=True) if part.size}


def _hits(posted: Posted, among: NDArray[np.bool_]) -> dict[int, Ints]:
    """Return positions and sizes of a term's hits, in those of the pages `among` that have it."""
    rows = np.flatnonzero(among[posted.pages])
    hits = posted.values.some(rows).flat()
    parts = np.split(np.array((hits.positions, hits.sizes), np.int64), hits.starts[1:-1], axis=1)
    return dict(zip(posted.pages[rows].tolist(), parts, strict=True)) if len(rows) else {}
