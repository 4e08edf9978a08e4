"""What is the next fetch of a page worth? Formulas over arrays; times are days, rates are changes a day.

A page changes as a Poisson process of rate λ. Fetched every τ days, it is current for a share
F(τ) = (1 - e^(-λτ)) / λτ of the time (Cho and Garcia-Molina 2000). The *value* of a fetch is what one more
fetch a day adds to F: (1 - e^(-λτ)(1 + λτ)) / λ. The best use of a number of fetches is to spend each where
weight · value is greatest (Azar et al. 2018). Value grows with τ and never passes 1/λ, so a page that changes
faster than it can be fetched gives way by itself.

λ is not known. What is believed of it is a gamma distribution of shape a and rate b (days): its mean is a/b,
and E e^(-λτ) = (b/(b+τ))^a.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Numbers = NDArray[np.integer]
Pages = Numbers | slice

IMPORTANCE = (0.1, 100.0)  # least and greatest, of the mean: one page cannot take all, none counts nothing


def expected_value(a: Floats, b: Floats, days: Floats) -> Floats:
    """The expectation of the value over the belief, in days: b/(a-1) · (1 - (b/(b+τ))^(a-1)) - τ (b/(b+τ))^a.

    For a > 1 it never passes b/(a-1). For a ≤ 1 it grows without bound, so no page is forgotten.
    """
    log = np.log1p(days / b)
    return np.maximum(b * log * _shrinking((a - 1) * log) - days * np.exp(-a * log), 0)


def value_at_rate(rate: Floats, days: Floats) -> Floats:
    """The value where the rate is known, in days. A page that never changes is worth nothing."""
    passed = rate * days
    gain = -np.expm1(-passed) - passed * np.exp(-passed)
    return np.divide(gain, rate, out=np.zeros_like(gain), where=rate > 0)


def after_change(a: Floats, b: Floats, days: Floats, bursts: Floats) -> tuple[Floats, Floats]:
    """The belief after a check that found a change of unknown date: mean and variance of the exact posterior.

    With z_k = 1 - e^-G (b/(b+τ))^(a+k): E λ = a/b · z_1/z_0, E λ² = a(a+1)/b² · z_2/z_0. A change
    that a burst explains says nothing of the page; `bursts` is G, which see `refresh.bursts`.
    """
    log = np.log1p(np.maximum(days, 1e-6) / b)
    nothing, one, two = (-np.expm1(-(a + k) * log - bursts) for k in range(3))
    mean = a / b * one / nothing
    variance = a * (a + 1) / b**2 * two / nothing - mean**2
    return mean**2 / variance, mean / variance


def _shrinking(x: Floats) -> Floats:
    """(1 - e^(-x)) / x, which is 1 at 0."""
    near = np.abs(x) < 1e-9
    return np.where(near, 1.0, -np.expm1(-x) / np.where(near, 1.0, x))


# Which pages next? The best by value, within what politeness leaves to each server.


def importance(ranks: Floats) -> NDArray[np.float32]:
    """Weights of mean about 1: ranks over their mean, from 0.1 to 100."""
    mean = ranks.mean() if len(ranks) else 1.0
    return np.clip(ranks / (mean or 1.0), *IMPORTANCE).astype(np.float32)


def choose(
    scores: Floats,
    number: int,
    servers: Numbers | None = None,
    caps: Numbers | None = None,
) -> NDArray[np.int64]:
    """The best pages, best first.

    Args:
        scores: by page; one that is not above 0 is never chosen.
        number: how many, at most.
        servers: the server of each page; caps: by server, how many of its pages at most.
    Cost: O(pages · log pages) with caps, O(pages + number · log number) without.
    """
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
