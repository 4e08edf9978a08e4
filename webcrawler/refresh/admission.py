"""Which documents are queued for a check now, and how many: the update decision of an incremental crawler.

Source: SV, "Incremental Crawler" (Cho and Garcia-Molina 2000): the UpdateModule.
"""

from __future__ import annotations

import json
import time
from collections.abc import Container, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler import clock, metrics, urls
from webcrawler.archive.catalog import Catalog, Due, KnownSitemap
from webcrawler.frontier import Again, Frontier, inspect
from webcrawler.job import sitemap_link
from webcrawler.refresh.collection import DAY_SECONDS, Collection, now_days
from webcrawler.refresh.signs import Trust
from webcrawler.refresh.value import choose

WINDOW = 10_000  # checks queued at a time, at most: some 2 MB of Redis
OF_A_SERVER = 500  # of them, at most, so that no slow server fills the window
LEAST = 20  # checks queued where nothing else waits
AUDITS = 0.01  # of the checks are of documents drawn at random from all: they say what no estimate has chosen
PATIENCE_SECONDS = 60.0  # for which documents of a server wait for its answer
HOUR_SECONDS = 3600.0
READ = "done/sitemap"  # the outcome of a sitemap whose newest fetch was one
AUDIT = '{"audit":true}'  # asks for the whole page
NOTHING = np.empty(0, np.int64)


class Admission:
    """Queues checks through `Frontier.again`, a little ahead of the crawl.

    Args:
        share: of the fetches that go to checks while new URLs wait; 0 to 1.
        pause_s: the least pause between two fetches of a server.
    """

    def __init__(
        self,
        collection: Collection,
        catalog: Catalog,
        frontier: Frontier,
        share: float,
        pause_s: float,
    ) -> None:
        self._collection, self._catalog, self._frontier = collection, catalog, frontier
        self._share, self._pause_s = share, pause_s
        self._asked: set[int] = set()  # places that were queued by this process and have not been fetched yet
        self._sitemaps: list[KnownSitemap] | None = None  # read again when anything was fetched
        self._asked_gone: set[int] = set()  # page numbers, likewise
        self._asked_sitemaps: dict[int, float] = {}  # by page number, and when
        self._probes = Probes(catalog, frontier)
        self._last = time.monotonic()
        self._leased = frontier.turns()

    def step(self) -> None:
        """Take in what was fetched, and queue what is due."""
        collection, what = self._collection, self._frontier.refresh
        fetched = collection.follow()
        self._asked.difference_update(collection.places(fetched).tolist())
        self._asked_gone.difference_update(fetched.tolist())
        if self._sitemaps is None or len(fetched):
            self._sitemaps = collection.hear()
        sitemaps = self._sitemaps
        if what.startswith("once "):
            since = clock.past(float(what.partition(" ")[2]))
            if what != (begun := f"once {since}"):
                self._frontier.refresh = begun
            self._ask_sitemaps([one for one in sitemaps if not clock.happened(one.fetched, since)], since)
            self._once(since)
        elif what:
            due, now = collection.schedule.signs.due(), clock.now()
            servers = set(np.flatnonzero(due).tolist())
            late = [
                one
                for one in sitemaps
                if one.server in servers or not clock.happened(one.fetched, now - DAY_SECONDS)
            ]
            read = [one for one in late if one.outcome == READ]
            self._ask_sitemaps(read, now - HOUR_SECONDS)
            # Not hourly, though they stay late: a dead sitemap would be asked for without end.
            self._ask_sitemaps([one for one in late if one.outcome != READ], now - DAY_SECONDS)
            self._always(only=what == "only")

    def _ask_sitemaps(self, sitemaps: list[KnownSitemap], since: float) -> None:
        """Queue those that were decided and not asked for since then; the crawl finds new ones by itself.

        A frontier that was cleared takes them in as new: as sitemaps, which `again` alone would not know.
        """
        asked = self._asked_sitemaps
        due = [
            one for one in sitemaps if one.outcome and not clock.happened(asked.get(one.number, 0.0), since)
        ]
        asked |= dict.fromkeys((one.number for one in due), clock.now())
        links = [sitemap_link(one.url, one.of) for one in due]
        self._frontier.discover(links, within_budgets=False)
        trust = self._collection.trust
        checks = [
            Again(link.url, one.outcome, _request(one, trust, link.request), link.spelling)
            for one, link in zip(due, links, strict=True)
        ]
        self._queue(checks)

    def _queue(self, checks: Sequence[Again]) -> int:
        queued = self._frontier.again(checks)
        metrics.refresher_checks_queued.inc(queued)
        return queued

    def _tell(self, queued: int, due: NDArray[np.bool_]) -> None:
        """Say how many checks are queued, and due besides."""
        due = due.copy()
        due[list(self._asked)] = False
        metrics.checks_queued.set(queued)
        metrics.checks_due.set(int(np.count_nonzero(due)))

    def _once(self, since: float) -> None:
        checks = self._frontier.checks()
        left = ~clock.happened(self._collection.tried, since) & self._collection.checkable()
        left[list(self._asked)] = False
        self._tell(checks, left)
        room = WINDOW - checks
        if room <= 0:
            return
        if left.any():
            schedule = self._collection.schedule
            scores = np.where(left, schedule.values(now_days()) + 1e-6, 0)
            # The same ones whenever they are drawn in this pass. They go first, as it may be interrupted.
            drawn = np.random.default_rng(int(since)).random(len(left)) < AUDITS
            scores[left & drawn] = np.inf
            scores[self._held(left)] = 0
            caps = np.maximum(OF_A_SERVER - self._queued_by_server(), 0)
            chosen = choose(scores, room, schedule.servers, caps)
            self._queue_places(chosen, chosen[drawn[chosen]], since)
        else:
            # Not before all are made: a crawl that was killed meanwhile would begin another pass.
            if not self._ask_for_gone(room, since) and not self._frontier.checks():
                self._frontier.refresh = ""

    def _always(self, only: bool) -> None:
        seconds, leased = self._since_last()
        stats, checks = inspect.stats(self._frontier), self._frontier.checks()
        new = 0 if only else stats["queued"] + stats["leased"] - checks
        wanted = self._share * leased if new > 0 else max(2 * leased, LEAST)
        room = min(round(wanted) or 1, WINDOW) - checks
        at_risk, due = self._collection.at_risk(clock.now())
        is_due = np.zeros(len(self._collection), bool)
        is_due[due] = True
        self._tell(checks, is_due)
        if room <= 0:
            return
        self._queue_places(due[~np.isin(due, list(self._asked))][:room])
        self._ask_for_gone(room)
        share = self._share if new > 0 else 1.0
        cap = max(1, round(2 * share * seconds / self._pause_s)) if self._pause_s else WINDOW
        schedule = self._collection.schedule
        checkable = self._collection.checkable()
        waiting = self._held(checkable) | ~checkable
        waiting[list(self._asked)] = True
        waiting[at_risk] = True  # they have times of their own
        caps = np.maximum(cap - self._queued_by_server(), 0)
        chosen = schedule.choose(now_days(), room, caps, np.flatnonzero(waiting))
        self._queue_audits(len(chosen))
        self._queue_places(chosen)

    def _queued_by_server(self) -> NDArray[np.int64]:
        return np.bincount(self._collection.schedule.servers[list(self._asked)], minlength=self._servers())

    def _held(self, places: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Those whose server has not been asked yet how it says that a page is not there."""
        servers = self._collection.schedule.servers
        return np.isin(servers, self._probes.waiting({*np.unique(servers[places]).tolist()}))

    def _queue_audits(self, checks: int) -> None:
        """Draw as many documents as so many checks deserve, also those that were checked just now."""
        checkable = np.flatnonzero(self._collection.checkable())
        draws = np.random.default_rng(clock.draws.getrandbits(64))
        number = min(draws.binomial(checks, AUDITS), len(checkable))
        drawn = draws.choice(checkable, number, replace=False) if number else NOTHING
        self._queue_places(drawn, drawn)

    def _queue_places(
        self, places: NDArray[Any], audits: NDArray[Any] = NOTHING, before: float = np.inf
    ) -> None:
        """Queue documents that were last checked before this time.

        What another refresher had queued may have been checked since `follow`: it is read once more.
        """
        self._asked.update(places.tolist())
        numbers = self._collection.numbers
        due = self._catalog.checks.due(numbers[places].tolist())
        drawn = set(numbers[audits].tolist())
        late = [one for one in due if not clock.happened(one.checked, before)]
        self._queue(checks_of(late, drawn, self._collection.trust))

    def _ask_for_gone(self, room: int, since: float = 0.0) -> int:
        """Ask once more for what is gone or has failed; returns how many URLs are queued."""
        due = self._catalog.checks.gone(clock.now(), room, since)
        gone = [number for number in due if number not in self._asked_gone]
        self._asked_gone.update(gone)
        return self._queue(checks_of(self._catalog.checks.due(gone, documents=False)))

    def _servers(self) -> int:
        return int(self._collection.schedule.servers.max(initial=-1)) + 1

    def _since_last(self) -> tuple[float, int]:
        """Seconds and leases since the last call."""
        before, self._last = self._last, time.monotonic()
        leased, self._leased = self._leased, self._frontier.turns()
        return self._last - before, self._leased - leased


class Probes:
    """Asks each server for a path that cannot exist: what this brings tells a soft 404, which says 200."""

    def __init__(self, catalog: Catalog, frontier: Frontier) -> None:
        self._catalog, self._frontier = catalog, frontier
        self._known: set[int] = set()  # numbers of servers that need not be waited for
        self._asked: dict[int, float] = {}  # and when, of the others

    def waiting(self, servers: set[int]) -> list[int]:
        """Those of these servers, by number, that have not answered yet; asks those that were not asked."""
        names = self._catalog.checks.unprobed(sorted(servers - self._known))
        if new := [number for number in names if number not in self._asked]:
            self._frontier.again([Again(urls.probe(names[number]), "") for number in new])
            self._asked |= dict.fromkeys(new, time.monotonic())
        too_long = time.monotonic() - PATIENCE_SECONDS
        waiting = [number for number in names if self._asked[number] > too_long]
        self._known |= servers.difference(waiting)
        return waiting


def checks_of(due: Sequence[Due], audits: Container[int] = (), trust: Trust | None = None) -> list[Again]:
    """As the frontier takes them in.

    Args:
        audits: page numbers whose checks are audits.
        trust: whose 304 is believed; None: nobody's, and every page is sent whole.
    """

    def sent(one: Due) -> str:
        return AUDIT if one.number in audits else _request(one, trust)

    return [Again(one.url, one.was, sent(one), one.spelling) for one in due]


def _request(one: Due | KnownSitemap, trust: Trust | None, kind: str = "{}") -> str:
    """What a check sends so that an unchanged page need not be sent again (RFC 9110, 13.1), as JSON.

    Args:
        kind: JSON of what is sent besides.
    """
    sent: dict[str, Any] = json.loads(kind)
    if not (one.etag or one.last_modified):
        pass
    elif trust is None or not trust.is_conditional(one.server):
        sent["whole"] = True
    elif one.etag:
        sent["headers"] = {"If-None-Match": one.etag}
    else:
        sent["headers"] = {"If-Modified-Since": one.last_modified}
    return json.dumps(sent) if sent else ""
