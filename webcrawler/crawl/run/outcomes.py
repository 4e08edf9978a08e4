"""What fetches come to, on their way into the batch: documents through the pipelines, all others at once."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.python.failure import Failure

from webcrawler import clock, metrics
from webcrawler.archive import CHECKED, DOCUMENTS, broken, unread
from webcrawler.connection import RedisError, attempt
from webcrawler.crawl.base import Worker
from webcrawler.crawl.open_leases import PASSING, Blame, is_ours
from webcrawler.crawl.responses import reason_of_error
from webcrawler.crawl.run.agents import Tally
from webcrawler.crawl.run.seeds import Seeds
from webcrawler.crawl.run.stores import DIGEST_HINTS, Stores
from webcrawler.frontier import Again, Report
from webcrawler.job import is_sitemap
from webcrawler.parsing import declared_kind
from webcrawler.records import Entry, Fetch, Lease, Original

logger = logging.getLogger(__name__)
GONE = CHECKED + "gone"
GOOD = "done/document"
STAYED = (CHECKED + "unchanged", CHECKED + "not-modified")
OUR_FAULTS_MAX = 50  # in a row, after which the crawl ends
OUR_FAULT = (
    "downloads fail on this machine (%s): permit more descriptors (`ulimit -n`), or set CONCURRENT_REQUESTS"
)


class Decided(IgnoreRequest):
    """Raised for a response that is not a document, and is in the batch already."""


class Outcomes:
    """Collects what the pipelines add to each document, and hands each fetch to the batch, once.

    For the event loop. Every download ends here: as a document in `begin` and later `finish`, or else in
    `decide`, `failed` or `give_back`.

    Args:
        worker: whose leases are decided; it is stopped after `max_pages`.
        max_pages: documents and checks of this run; None: any number.
        seeds: are told what comes of them.
        room: new documents that the collection can take; None: any number.
        tally: `max_pages` and `room` are for all processes that it counts.
    """

    def __init__(
        self,
        worker: Worker,
        stores: Stores,
        max_pages: int | None,
        seeds: Seeds,
        room: int | None,
        tally: Tally,
    ) -> None:
        self._tally = tally
        self._worker, self._leases, self._stores, self._max_pages = worker, worker.leases, stores, max_pages
        self._seeds, self._room = seeds, room
        self._tries = stores.frontier.politeness.tries
        self._entries: dict[Lease, Entry] = {}  # of documents at the parsers, the spider and the pipelines
        self._not_documents: set[str] = set()  # URLs of open leases, on their way into a batch
        self.too_large: list[str] = []  # sitemaps of which not all could be read
        self._our_faults = 0  # in a row
        self._tasks: set[asyncio.Future[None]] = set()  # so that none is lost

    # ---- documents

    def begin(self, fetch: Fetch) -> None:
        """A document was fetched: the pipelines may add to it until `finish`."""
        self._entries[fetch.lease] = Entry(fetch)

    def fetch_of(self, response: Response) -> Fetch:
        """The fetch that brought this document."""
        assert response.request is not None
        return self._entries[response.request.meta["lease"]].fetch

    def extend(self, lease: Lease, add: Callable[[Entry], Entry]) -> None:
        """Adds a pipeline's part to a document, unless that is decided already."""
        if lease in self._entries:
            self._entries[lease] = add(self._entries[lease])

    def first_with(self, digest: bytes, fetched: Original) -> Original:
        """The first fetch known here to have brought these bytes: a hint, the catalog decides."""
        digests = self._stores.digests
        if len(digests) > DIGEST_HINTS:
            digests.clear()
        return digests.setdefault(digest, fetched)

    def finish(self, response: object) -> None:
        """All pipelines are through with the document of this response, whatever became of its item."""
        if entry := self._taken(response):
            self.decide(entry)

    def give_up(self, response: object, error: str) -> None:
        """The spider or a pipeline raised."""
        if entry := self._taken(response):
            self._stores.digests.pop(entry.digest, None)  # no later page is its duplicate
            self.decide(Entry(broken(entry.fetch, error), archive=True))

    def quarantine(self, response: Response, error: str) -> None:
        """A page that killed its parser: tried again while tries are left, then set aside."""
        if entry := self._taken(response):
            logger.warning("no parser survives %s: %s", entry.fetch.lease.url, error)
            poison = replace(entry.fetch, state="quarantined", reason="", retry=True, error=error)
            self.decide(Entry(poison, archive=True))

    def refuse(self, response: Response, error: str) -> None:
        """A document that nobody can read."""
        if entry := self._taken(response):
            self.decide(Entry(unread(entry.fetch, error), archive=True))

    async def give_back(self, response: Response) -> None:
        """The lease came to nothing through no fault of the URL: it goes back into the queue."""
        if entry := self._taken(response):
            await self._release(entry.fetch.lease)

    async def _release(self, lease: Lease) -> None:
        release = partial(self._stores.frontier.release, [lease])
        sys.audit("webcrawler.release.before")
        await asyncio.to_thread(attempt, release, self._stores.connection.revive)
        sys.audit("webcrawler.release.after")
        self._leases.close(lease)
        self._leases.changed.set()

    def _taken(self, response: object) -> Entry | None:
        request = getattr(response, "request", None)
        return None if request is None else self._entries.pop(request.meta.get("lease"), None)

    # ---- all fetches

    def failed(self, failure: Failure) -> None:
        """The errback of each leased request: decides what has not been decided by then."""
        error = failure.value
        if error is None or isinstance(error, Decided):
            return
        sys.audit("webcrawler.download.failed")
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
        lease: Lease = request.meta["lease"]
        reason, retry, slow_down = reason_of_error(error)
        if reason == "unreachable" and (refusal := self._worker.host_refusal(request.url)):
            # A certificate that expires is renewed, as a rule; of a server that was never good, nobody knows.
            is_known = self._worker.outages.good_page(lease.server) is not None
            reason, retry = refusal, refusal in PASSING and is_known
        now = time.monotonic()
        seconds = now - request.meta.get("started", now)
        report = Report(lease, seconds, slow_down, downloaded="started" in request.meta)
        if is_ours(error) or isinstance(error, RedisError):
            self._excuse(report, error)
            return
        message = f"{type(error).__name__}: {error}"[:500]
        fetch = Fetch(lease, "failed", reason, clock.now(), seconds, retry=retry, error=message)
        self.decide(Entry(self.judged(fetch, report), archive=True))

    def judged(self, fetch: Fetch, report: Report) -> Fetch:
        """Reports the end of a download; returns the fetch, which says whether it is tried again."""
        self._our_faults = 0
        blame = self._worker.report_end(report, fetch.reason if fetch.retry else "")
        if blame is Blame.SERVER and (good := self._worker.outages.good_page(fetch.lease.server)):
            self._begin(self._check(good))
        return replace(fetch, retry=fetch.retry and blame is not Blame.LONG, excused=blame is Blame.SERVER)

    async def _check(self, good: Lease) -> None:
        """Has a good page fetched again: it tells whether its server is away, or some pages of it fail."""
        again = partial(self._stores.frontier.again, [Again(good.url, GOOD, spelling=good.spelling)])
        await asyncio.to_thread(attempt, again, self._stores.connection.revive)
        self._leases.changed.set()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _excuse(self, report: Report, error: BaseException) -> None:
        """This machine could not ask: the URL goes back, and its server is left alone for a while."""
        self._leases.report(report._replace(slow_down=True))
        self._begin(self._release(report.lease))
        self._our_faults += 1
        logger.warning("%s goes back into the queue: %s", report.lease.url, error)
        if self._our_faults >= OUR_FAULTS_MAX and not self._worker.is_closing:
            logger.error(OUR_FAULT, error)
            self._worker.stop("machine_failed")

    def decide(self, entry: Entry) -> None:
        """Hands a fetch to the batch."""
        fetch, lease = entry.fetch, entry.fetch.lease
        if fetch.retry and not fetch.excused and lease.tries + 1 >= self._tries:  # no tries are left
            fetch = replace(fetch, retry=False)
            entry = replace(entry, fetch=fetch)
        if fetch.reason == "not-indexable":
            said = dict(fetch.headers).get("Content-Type", "")
            if kind := declared_kind(said, lease.spelling):
                self._worker.crawler.stats.inc_value(f"webcrawler/unread/{kind}")
        if is_sitemap(lease) and "too-large" in (fetch.reason, *entry.refused):
            self.too_large.append(lease.url)
        self._entries.pop(lease, None)
        if fetch.seconds:  # else no server was asked
            metrics.fetch_seconds.observe(fetch.seconds)
            metrics.fetched_bytes.inc(len(fetch.body))
        self._seeds.fetched(fetch)
        self._leases.end_download(lease.url)
        if f"{fetch.state}/{fetch.reason}" not in DOCUMENTS and not lease.was:
            self._not_documents.add(lease.url)
        self._stores.batch.put(entry)
        self._leases.changed.set()

    def settled(self, outcomes: Sequence[tuple[Lease, str]]) -> None:
        """The batch has written these leases and what became of them."""
        self._tally.add("fetches", len(outcomes))
        for lease, outcome in outcomes:
            if outcome == GOOD or (outcome in STAYED and lease.was == GOOD):
                self._worker.outages.gave_document(lease)
            self._leases.close(lease)
            self._seeds.settled(lease, outcome)
            self._not_documents.discard(lease.url)
            self._worker.crawler.stats.inc_value(f"webcrawler/{outcome}")
            metrics.fetches.labels(outcome).inc()
            self._tally.add("documents", outcome in DOCUMENTS or outcome.startswith(CHECKED))
            self._tally.add("added", (outcome in DOCUMENTS) - (outcome == GONE))
        self._stop_after_max_pages()
        self._leases.changed.set()

    @property
    def documents(self) -> int:
        """Decided in this run, with checks."""
        return self._tally.total("documents")

    @property
    def fetches(self) -> int:
        """Decided in this run."""
        return self._tally.total("fetches")

    def _stop_after_max_pages(self) -> None:
        if self._max_pages is not None and self.documents >= self._max_pages and not self._worker.is_closing:
            self._worker.stop("max_pages")

    @property
    def is_full(self) -> bool:
        """Has the collection as many documents as it may? Then new ones only replace others."""
        return self._room is not None and self._room <= self._tally.total("added")

    def allowance(self, wanted: int) -> int:
        """How many of the URLs wanted may be leased within max_pages and the room, should all be documents.

        So many are promised to this process until it asks again.
        """
        self._stop_after_max_pages()  # which another process may have reached
        with self._tally.locked():
            bounds = [] if self._max_pages is None else [self._max_pages - self.documents]
            if self._room is not None and not self.is_full:
                bounds.append(self._room - self._tally.total("added"))
            if not bounds:
                return wanted
            open_leases = len(self._leases.open.keys() - self._not_documents)
            self._tally.promise(open_leases)
            allowed = max(0, min(wanted, min(bounds) - self._tally.total("promised")))
            if allowed < wanted and not self._tally.has_turn(time.monotonic()):
                allowed = 0
            self._tally.promise(open_leases + allowed)
        return allowed
