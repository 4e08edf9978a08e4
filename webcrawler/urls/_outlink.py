"""All that a parser wants to know of a link, in one call."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from webcrawler.urls._canonical import canonical_of, url_id
from webcrawler.urls._refusal import MAX_LENGTH, refusal
from webcrawler.urls._resolve import resolve

PROTOCOLS = frozenset({"http", "https"})


class Target(NamedTuple):
    """Where a link leads; the first four fields of a `Link`, by name."""

    url: str  # canonical
    id: int
    spelling: str
    refused: str  # why it is not worth fetching, or ""


def outlink(href: str, base: str, protocols: Collection[str] = PROTOCOLS) -> Target:
    """Return where `href` on the page `base` leads.

    About 3 µs for one of the last 16,384 targets (pages repeat their navigation), 9 µs for another.

    Raises:
        UnfetchableUrl: as `resolve`.
    """
    return _target(resolve(href, base), frozenset(protocols))


@lru_cache(maxsize=16_384)
def _target(spelling: str, protocols: frozenset[str]) -> Target:
    url = canonical_of(spelling)
    refused = refusal(url, protocols) or ("length" if len(spelling) > MAX_LENGTH else "")
    return Target(url, url_id(url), spelling, refused)
