"""When is it safe? WARC, then catalog, then the frontier: durable before acknowledged.

A thread of its own writes what the crawl hands over, so that no download waits for a disk.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Container, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count, groupby
from typing import NamedTuple, TypeVar

from redis.exceptions import RedisError

from webcrawler.archive.catalog import Catalog, Verdict
from webcrawler.archive.pages import PageStore
from webcrawler.connection import FOREVER, retry
from webcrawler.errors import Unavailable
from webcrawler.frontier import Done, Failed, Frontier, Reports, Seen
from webcrawler.records import Entry, Fetch, Lease, Link, Place

logger = logging.getLogger(__name__)
T = TypeVar("T")

PAUSE_MAX_SECONDS = 5.0  # between tries of a disk or a Redis that is away: work goes on soon after

# Outcomes of a page that is there.
DOCUMENTS = frozenset({"done/document", "done/duplicate", "done/noindex", "done/not-modified"})
LOST = ("failed/", "quarantined")
BODY_BYTES = 16 * 2**20  # of one batch; memory holds about twice that, with the texts
BODY_BYTES_WAITING = 2 * BODY_BYTES
Settled = Callable[[Sequence[tuple[Lease, str]]], object]


class Outlinks(NamedTuple):
    """What a page links to: what is followed, and how much is not, by reason."""

    followed: Sequence[Link]
    refused: Counter[str]

    def without(self, explored: Container[int]) -> Outlinks:
        # A redirect's target stands for the page that was asked for, a seed perhaps.
        new = [link for link in self.followed if link.id not in explored or link.rel == "redirect"]
        return Outlinks(new, self.refused + Counter({"explored": len(self.followed) - len(new)}))


class Batch:
    """A bounded queue and the thread behind it.

    Args:
        catalog: opens the catalog, called in the thread.
        settled: called in the thread with the leases of a batch that is durable and decided, and what came of
            each, as the frontier counts it; "retry/REASON" when it is to be tried again, "stale" when
            somebody else holds it by now.
        reports: of downloads that are over; told before what came of them.
        broken: called in the thread when it ends by an error of ours.
        revive: called when something does not answer, before the next try.
        documents, seconds: a batch is written once it holds this many entries, or this long after the first.
        limit: entries waiting, from which on `full` is true; 0: two batches.
        only_new: links to what the catalog has explored are not followed; counted as refused.
    """

    def __init__(
        self,
        pages: PageStore,
        catalog: Callable[[], Catalog],
        frontier: Frontier,
        settled: Settled,
        reports: Reports | None = None,
        broken: Callable[[], object] = lambda: None,
        revive: Callable[[], object] = lambda: None,
        documents: int = 200,
        seconds: float = 1.0,
        limit: int = 0,
        only_new: bool = False,
    ) -> None:
        self._pages, self._open_catalog, self._frontier = pages, catalog, frontier
        self._settled, self._broken, self._revive = settled, broken, revive
        self._reports = reports or Reports()
        self._documents, self._seconds, self._limit = documents, seconds, limit or 2 * documents
        self._only_new = only_new
        self._queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._bytes_in = self._bytes_out = 0  # of bodies; each is counted by one thread
        self._flush_now = False
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="batch", daemon=True)
        self._thread.start()

    @property
    def full(self) -> bool:
        """Is the disk behind? Then nothing more should be fetched."""
        is_long = self._queue.qsize() >= self._limit
        return self._thread.is_alive() and (is_long or self._bytes_in - self._bytes_out >= BODY_BYTES_WAITING)

    def put(self, entry: Entry) -> None:
        """Hand an entry over. Never waits."""
        sys.audit("webcrawler.batch.before-put")
        self._bytes_in += len(entry.fetch.body)
        self._queue.put(entry)
        sys.audit("webcrawler.batch.after-put")

    def flush(self) -> None:
        """Write what is there now, as somebody waits for its outlinks."""
        if not self._flush_now:
            self._flush_now = True
            self._queue.put(None)

    def close(self, seconds: float = 60.0) -> None:
        """Write the rest and end; give up on a disk or a Redis that does not come back in that time."""
        self._closing = True
        self.flush()
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            with closing(self._open_catalog()) as catalog, closing(self._pages):
                while not (self._closing and self._queue.empty()):
                    entries = self._gather()
                    if entries:
                        self._write(catalog, entries)
                        self._bytes_out += sum(len(entry.fetch.body) for entry in entries)
        except Exception:
            # An error of ours. What was not written stays leased, and goes back when this worker ends.
            logger.critical("cannot write what was fetched", exc_info=True)
            self._broken()

    def _gather(self) -> list[Entry]:
        """The next batch: enough entries, or old enough, or asked for by `flush`."""
        entries: list[Entry] = []
        room = BODY_BYTES
        end = time.monotonic() + self._seconds
        while len(entries) < self._documents and room > 0:
            wait = end - time.monotonic() if not (self._flush_now or self._closing) else 0.0
            try:
                entry = self._queue.get(timeout=max(0.0, wait)) if wait > 0 else self._queue.get_nowait()
            except queue.Empty:
                break
            if entry is not None:
                if not entries:
                    end = time.monotonic() + self._seconds
                entries.append(entry)
                room -= len(entry.fetch.body)
        if self._queue.empty():
            self._flush_now = False
        return entries

    def _write(self, catalog: Catalog, entries: list[Entry]) -> None:
        """Write the batch; where that fails by an error of ours, entry by entry, a bad one as a failure."""
        try:
            self._write_all(catalog, entries)
        except Exception:
            (first, *others) = entries
            if not others and first.fetch.reason == "unparsable":
                raise
            logger.error(
                "cannot write %d entries, first %s", len(entries), first.fetch.lease.url, exc_info=True
            )
            for entry in entries:
                alone = replace(entry, duplicate_of="")  # the other one may be the one that is not stored
                self._write(catalog, [alone] if others else [Entry(broken(entry.fetch, "cannot be stored"))])

    def _write_all(self, catalog: Catalog, entries: list[Entry]) -> None:
        """Repeat each step until it succeeds; none does twice what it has done."""
        sys.audit("webcrawler.batch.gathered")
        places = self._until_done(lambda: self._keep(entries))
        sys.audit("webcrawler.batch.stored")
        verdict = self._until_done(lambda: catalog.write(list(zip(entries, places, strict=True))))
        sys.audit("webcrawler.batch.catalogued")
        outlinks = self._outlinks(catalog, entries)
        tries, decisions = count(), list(zip(entries, outlinks, strict=True))
        ordering = self._frontier.ordering
        if ordering.learns:
            ordering.learn([_seen(*one) for one in decisions if one[0].fetch.state == "done"])
        outcomes = self._until_done(lambda: self._decide(decisions, verdict, next(tries) > 0))
        if ordering.learns:
            ordering.learn(_lost(outcomes))
            self._until_done(self._frontier.replan)
        sys.audit("webcrawler.batch.settled")
        self._settled(outcomes)

    def _outlinks(self, catalog: Catalog, entries: list[Entry]) -> list[Outlinks]:
        found = list(map(_outlinks, entries))
        if not self._only_new:
            return found
        explored = catalog.fetches.explored({link.id for one in found for link in one.followed})
        return [one.without(explored) for one in found]

    def _keep(self, entries: list[Entry]) -> list[Place | None]:
        places = [self._pages.append(entry) if entry.archive else None for entry in entries]
        self._pages.sync()
        return places

    def _report_downloads(self) -> None:
        """Report finished downloads before their leases are decided, else servers would be due at once."""
        reports = self._reports.take()
        try:
            if reports:
                self._frontier.fetched(reports)
        except BaseException:
            self._reports.put_back(reports)
            raise

    def _decide(
        self, decisions: list[tuple[Entry, Outlinks]], verdict: Verdict, is_again: bool
    ) -> list[tuple[Lease, str]]:
        """Tell the frontier what came of each lease.

        Args:
            is_again: an earlier call may have decided them already, and its answer was lost.
        """
        self._report_downloads()
        outcomes: list[tuple[Lease, str]] = []
        for is_done, group in groupby(decisions, lambda one: one[0].fetch.state == "done"):
            if is_done:
                done = [_done(entry, found, verdict, self._note(entry)) for entry, found in group]
                sys.audit("webcrawler.complete.before")
                answers = self._frontier.complete(done)
                sys.audit("webcrawler.complete.after")
                for one, answer in zip(done, answers, strict=True):
                    outcomes.append((one.lease, f"done/{one.reason}" if answer >= 0 or is_again else "stale"))
            else:
                failed = [_failed(entry) for entry, _ in group]
                sys.audit("webcrawler.fail.before")
                answers = self._frontier.fail(failed)
                sys.audit("webcrawler.fail.after")
                for lost, answer in zip(failed, answers, strict=True):
                    named = {-1: "stale", 0: lost.outcome, 1: "retry/" + lost.outcome.rpartition("/")[2]}
                    outcomes.append((lost.lease, named[answer]))
            sys.audit("webcrawler.decide.between")
        return outcomes

    def _note(self, entry: Entry) -> int:
        return self._frontier.ordering.page_note(entry.text, entry.fetch.lease)

    def _until_done(self, step: Callable[[], T]) -> T:
        return retry(
            step,
            self._revive,
            seconds=FOREVER,
            pause=0.1,
            longest_pause=PAUSE_MAX_SECONDS,
            is_passing=lambda error: isinstance(error, OSError | Unavailable | RedisError),
            on_failure=lambda error: logger.error("cannot write a batch, trying again: %s", error),
        )


def broken(fetch: Fetch, error: str) -> Fetch:
    """The same fetch, failed as unparsable."""
    return replace(fetch, state="failed", reason="unparsable", retry=True, target=None, error=error)


def _outlinks(entry: Entry) -> Outlinks:
    target = entry.fetch.target
    followed: list[Link] = []
    refused = Counter(entry.refused)
    for link in (*entry.links, target) if target else entry.links:
        why = link.refused or ("nofollow" if link.rel == "nofollow" else "")
        if why:
            refused[why] += 1
        elif link.id != entry.fetch.lease.id:
            followed.append(link)
    return Outlinks(followed, refused)


def _seen(entry: Entry, outlinks: Outlinks) -> Seen:
    lease = entry.fetch.lease
    return Seen(lease.id, lease.url, entry.text, outlinks.followed)


def _lost(outcomes: Sequence[tuple[Lease, str]]) -> list[Seen]:
    """What failed for good. What is tried again or is another worker's by now is not decided yet."""
    return [Seen(lease.id, lease.url) for lease, outcome in outcomes if outcome.startswith(LOST)]


def _done(entry: Entry, outlinks: Outlinks, verdict: Verdict, note: int) -> Done:
    lease, reason = entry.fetch.lease, entry.fetch.reason
    if reason == "document":
        reason = "duplicate" if lease.id in verdict.duplicates else "noindex" if entry.noindex else reason
    repeats = lease.id in verdict.duplicates or lease.id in verdict.near
    is_document = f"done/{reason}" in DOCUMENTS
    return Done(lease, reason, is_document, outlinks.followed, outlinks.refused, repeats, note)


def _failed(entry: Entry) -> Failed:
    fetch = entry.fetch
    outcome = fetch.state if fetch.state == "quarantined" else f"failed/{fetch.reason}"
    return Failed(fetch.lease, outcome, fetch.retry)
