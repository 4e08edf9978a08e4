"""How fast a crawl is, by the times in its catalog, and what holds it back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Standing
from webcrawler.web.readable import count

BIN_SECONDS = 5
HOUR_SECONDS = 3_600
CHANGES = 200_000  # to read at first, at most: an hour of 55 pages/s, 0.3 s
MANY_DOWNLOADED = 400  # two batches: more than that waits for parsers or for the disk
FEW_SERVERS = 8
SOON_SECONDS = 0.1  # too soon to mention


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


def held_back(crawling: bool, standing: Standing | None, unknown: str) -> str:
    """What holds the crawl back now, in one sentence: rules of thumb, the most telling first.

    Args:
        standing: of the frontier; None if it cannot be asked, and `unknown` says why.
    """
    if not crawling:
        return "No crawl runs on this data folder."
    if standing is None:
        return f"A crawl runs; what holds it back is not known: {unknown}"
    counts = standing.stats
    may_be_asked = standing.ready + standing.doubtful
    downloaded = counts["leased"] - standing.downloading
    if not counts["queued"] and not counts["leased"]:
        return "Nothing is left to fetch: every URL that was found is decided."
    if not standing.workers:
        return "A crawl starts or ends: no worker has said lately that it lives."
    if downloaded > MANY_DOWNLOADED:
        return f"Parsers and disk: {downloaded:,} pages are downloaded and wait to be parsed and written."
    if not counts["queued"]:
        return f"The end is near: the last {count(counts['leased'], 'URL')} are being fetched."
    if not standing.ready and standing.waiting >= standing.doubtful:
        return _politeness(standing)
    if not standing.ready:
        slow = count(standing.doubtful, "server")
        return f"Slow servers: of {slow} that may be asked none has answered in time so far."
    if may_be_asked < FEW_SERVERS and standing.waiting:
        return (
            f"Few servers: {may_be_asked} of {may_be_asked + standing.waiting:,} may be asked, "
            "and each has a pause after every page."
        )
    return (
        f"Downloads: {count(may_be_asked, 'server')} may be asked; concurrency or the network is the limit."
    )


def _politeness(standing: Standing) -> str:
    due = standing.due_seconds
    when = f" The next is due in {due:.1f} s." if due is not None and due >= SOON_SECONDS else ""
    if standing.waiting:
        servers = count(standing.waiting, "server")
        return f"Politeness: {servers} with URLs must not be asked yet.{when}"
    if standing.retrying:
        return f"Tries: {count(standing.retrying, 'URL')} wait to be tried again.{when}"
    return "Politeness: every server with URLs has a download now."
