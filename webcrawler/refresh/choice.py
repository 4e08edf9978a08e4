"""Which pages next? The best by value, within what politeness leaves to each server."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.refresh.value import Floats

Numbers = NDArray[np.integer]

IMPORTANCE = (0.1, 100.0)  # least and greatest, of the mean: one page cannot take all, none counts nothing
OVERDUE_SHARE = 0.5  # of the fetches, for pages that waited longer than the longest time


def importance(ranks: Floats) -> NDArray[np.float32]:
    """Weights of mean about 1: ranks over their mean, from 0.1 to 100."""
    mean = ranks.mean() if len(ranks) else 1.0
    return np.clip(ranks / (mean or 1.0), *IMPORTANCE).astype(np.float32)


def choose(
    scores: Floats,
    number: int,
    servers: Numbers | None = None,
    caps: Numbers | None = None,
    overdue: NDArray[np.bool_] | None = None,
) -> NDArray[np.int64]:
    """The best pages, best first.

    Args:
        scores: by page; one that is not above 0 is never chosen.
        number: how many, at most.
        servers: the server of each page; caps: by server, how many of its pages at most.
        overdue: pages that go before all others, as far as half of the fetches.
    Cost: O(pages · log pages) with caps, O(pages + number · log number) without.
    """
    if overdue is None or not overdue.any():
        return _best(scores, number, servers, caps)
    first = _best(np.where(overdue, scores, 0), int(np.ceil(number * OVERDUE_SHARE)), servers, caps)
    rest = scores.copy()
    rest[first] = 0
    if caps is not None and servers is not None:
        caps = caps - np.bincount(servers[first], minlength=len(caps))
    return np.concatenate((first, _best(rest, number - len(first), servers, caps)))


def _best(scores: Floats, number: int, servers: Numbers | None, caps: Numbers | None) -> NDArray[np.int64]:
    pages = np.flatnonzero(scores > 0)
    if caps is not None and servers is not None:
        pages = _within(pages, scores, servers, caps)
    if number < len(pages):
        pages = pages[np.argpartition(-scores[pages], number)[: max(number, 0)]]
    return pages[np.argsort(-scores[pages], kind="stable")]


def _within(pages: Numbers, scores: Floats, servers: Numbers, caps: Numbers) -> NDArray[np.int64]:
    """The best pages of each server, as many as its cap; only servers that have more are sorted."""
    of = servers[pages]
    crowded = (np.bincount(of, minlength=len(caps)) > caps)[of]
    free, pages = pages[~crowded], pages[crowded]
    pages = pages[np.lexsort((-scores[pages], servers[pages]))]
    of = servers[pages]
    starts = np.searchsorted(of, of)  # where each page's server begins
    return np.sort(np.concatenate((free, pages[np.arange(len(pages)) - starts < caps[of]])))
