"""How fast a crawl is, by the times in its catalog."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from webcrawler.archive.catalog import Catalog

BIN_SECONDS = 5
HOUR_SECONDS = 3_600
CHANGES = 200_000  # to read at first, at most: an hour of 55 pages/s, 0.3 s


@dataclass(frozen=True, slots=True)
class Rates:
    """Documents in each stretch of time, the oldest first; the last one is still going on."""

    per_second: float  # over the last ten to fifteen seconds
    recent: list[int]  # 60 stretches of 5 seconds
    hour: list[int]  # 60 minutes


class Activity:
    """Remembers what it has read: each look reads the changes since the last one."""

    def __init__(self) -> None:
        self._identity = ""
        self._seq = 0
        self._bins: Counter[int] = Counter()

    def look(self, catalog: Catalog, now: float) -> Rates:
        if catalog.identity != self._identity:  # another catalog was put in its place
            self._identity, self._seq = catalog.identity, 0
            self._bins.clear()
        since = now - HOUR_SECONDS - 60
        self._seq, found = catalog.fetches.documents_lately(self._seq, since, BIN_SECONDS, CHANGES)
        self._bins.update(found)
        for old in [number for number in self._bins if number * BIN_SECONDS < since]:
            del self._bins[old]
        return rates(self._bins, now)


def rates(bins: Counter[int], now: float) -> Rates:
    """Of documents by time // BIN_SECONDS."""
    newest, a_minute = int(now // BIN_SECONDS), 60 // BIN_SECONDS
    minute = newest // a_minute
    return Rates(
        per_second=sum(bins[newest - back] for back in range(3)) / (2 * BIN_SECONDS + now % BIN_SECONDS),
        recent=[bins[number] for number in range(newest - 59, newest + 1)],
        hour=[
            sum(bins[at * a_minute + part] for part in range(a_minute))
            for at in range(minute - 59, minute + 1)
        ],
    )
