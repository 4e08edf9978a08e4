"""From all hits to those of one result page: what nearly repeats is folded, what crowds stands behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

PER_SERVER = 2  # of one result page that stand where their relevance puts them
CROWDED = 0.7  # what the relevance of a further one counts beside that of other servers
PAGES = 10  # result pages that are arranged at once: a hit that has to wait does so for nine pages at most


class Ranked(NamedTuple):
    """A page that answers the query."""

    number: int  # its page number
    score: float
    repeats: int  # the page number of the older document that it nearly repeats, else its own
    server: str
    folded: int = 0  # hits that nearly repeat it


class Shown(NamedTuple):
    hit: Ranked
    from_server: int  # hits of its server that had to wait, at the last one of that server


def fold(ranked: Iterable[Ranked], limit: int) -> list[Ranked]:
    """The best hits without near-duplicates, at most `limit`.

    A document is folded into one that it nearly repeats, or that nearly repeats it, or the same third one.
    To be near to something folded is not enough: after a few steps those may have nothing in common.
    Reads as far as the first document that has no place: what is folded ranks before that one.
    """
    kept: dict[int, Ranked] = {}
    folded: Counter[int] = Counter()
    first: dict[int, int] = {}  # page number -> the one kept for it
    for hit in ranked:
        into = first.get(hit.number, first.get(hit.repeats))
        if into is not None:
            folded[into] += 1
        elif len(kept) == limit:
            break
        else:
            kept[hit.number] = hit
            first[hit.number] = first[hit.repeats] = hit.number
    return [hit._replace(folded=folded[number]) for number, hit in kept.items()]


def result_page(hits: Sequence[Ranked], start: int, limit: int) -> list[Shown]:
    """Those from `start` on, a multiple of `limit`; further hits of a server than two may have to wait.

    They wait while other servers have hits at least CROWDED times as relevant, and come with the next result
    page, so nothing is lost. Within a page the best come first.
    """
    block = start // (PAGES * limit) * PAGES * limit
    left, page = list(hits[block : block + PAGES * limit]), list[Ranked]()
    for _ in range(block, start + 1, limit):
        page, left = _take(left, limit)
    waiting = Counter(hit.server for hit in left)
    others = len({hit.server for hit in page}) > 1
    shown = [Shown(hit, waiting.pop(hit.server, 0) if others else 0) for hit in reversed(page)]
    return shown[::-1]


def _take(hits: Sequence[Ranked], limit: int) -> tuple[list[Ranked], list[Ranked]]:
    """The next result page, and what is left, both in the order of relevance."""
    seen: Counter[str] = Counter()
    counted = []
    for place, hit in enumerate(hits):
        seen[hit.server] += 1
        counted.append((-hit.score * (1 if seen[hit.server] <= PER_SERVER else CROWDED), place))
    taken = {place for _, place in sorted(counted)[:limit]}
    page = [hit for place, hit in enumerate(hits) if place in taken]
    return page, [hit for place, hit in enumerate(hits) if place not in taken]
