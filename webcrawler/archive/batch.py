"""When is a page safe? Once `Catalog.write` has returned; only then is the frontier told.

The order is WARC, then catalog, then frontier: durable before acknowledged. Until the frontier knows, the URL
stays leased, and a crash has it fetched again. A thread of its own writes what the crawl hands over, so
that no download waits for a disk.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count, groupby
from typing import Any, TypeVar

from redis.exceptions import RedisError

from webcrawler import metrics
from webcrawler.archive.catalog import GONE, REFUSING, Catalog, Verdict
from webcrawler.archive.familiar import Familiar
from webcrawler.archive.pages import PageStore
from webcrawler.connection import FOREVER, is_passing, retry
from webcrawler.frontier import Done, Failed, Frontier, Reports, Seen, decisions, marks
from webcrawler.records import Entry, Fetch, Lease, Link, Place

logger = logging.getLogger(__name__)
T = TypeVar("T")

PAUSE_MAX_SECONDS = 5.0  # between tries of a disk or a Redis that is away: work goes on soon after

# Outcomes of a page that is there.
DOCUMENTS = frozenset({"done/document", "done/duplicate", "done/noindex", "done/not-modified"})
CHECKED = "checked/"  # begins the outcomes of checks
LOST = ("failed/", "quarantined")
BODY_BYTES = 16 * 2**20  # of one batch; memory holds about twice that, with the texts
BODY_BYTES_WAITING = 2 * BODY_BYTES
Settled = Callable[[Sequence[tuple[Lease, str]]], object]


class Batch:
    """A bounded queue and the thread behind it.

    Args:
        catalog: opens the catalog, called in the thread.
        settled: called in the thread with the leases of a batch that is durable and decided, and what came of
            each, as the frontier counts it; "retry/REASON" when it is to be tried again, "stale" when
            somebody else holds it by now. Of checks of documents "checked/" and what `_check` says.
        reports: of downloads that are over; told before what came of them.
        broken: called in the thread with the error by which it ends: of ours, or of Redis.
        revive: called when something does not answer, before the next try.
        entries, seconds: a batch is written once it holds this many entries, or this long after the first.
        only_new: links to what the catalog has explored are not followed; counted as refused.
        folder: the name by which the frontier knows the data folder; "" where nobody asks what it has.
        suspect: called in the thread with servers of repeats, which may answer any path with a page.
    """

    def __init__(
        self,
        pages: PageStore,
        catalog: Callable[[], Catalog],
        frontier: Frontier,
        settled: Settled,
        reports: Reports | None = None,
        broken: Callable[[Exception], object] = lambda error: None,
        revive: Callable[[], object] = lambda: None,
        entries: int = 200,
        seconds: float = 1.0,
        only_new: bool = False,
        folder: str = "",
        suspect: Callable[[Sequence[str]], object] = lambda servers: None,
    ) -> None:
        self._pages, self._open_catalog, self._frontier = pages, catalog, frontier
        self._settled, self._broken, self._revive, self._suspect = settled, broken, revive, suspect
        self._familiar = Familiar()
        self._reports = reports or Reports()
        self._entries, self._seconds, self._only_new, self._folder = entries, seconds, only_new, folder
        self._queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._bytes_in = self._bytes_out = 0  # of bodies; each is counted by one thread
        self._flush_now = False
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="batch", daemon=True)
        self._thread.start()

    @property
    def full(self) -> bool:
        """Is the disk behind, by two batches or more? Then nothing more should be fetched."""
        is_long = self._queue.qsize() >= 2 * self._entries
        return self._thread.is_alive() and (is_long or self._bytes_in - self._bytes_out >= BODY_BYTES_WAITING)

    @property
    def waiting(self) -> int:
        """How many entries wait to be written."""
        return self._queue.qsize()

    def put(self, entry: Entry) -> None:
        """Hand an entry over. Never waits."""
        sys.audit("webcrawler.batch.before-put")
        self._bytes_in += len(entry.fetch.body)
        self._queue.put(entry)
        sys.audit("webcrawler.batch.after-put")

    def flush(self) -> None:
        """Write what is there now, as the crawl waits for its outlinks."""
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
        except Exception as error:
            # What was not written stays leased, and goes back when this worker ends.
            if not isinstance(error, RedisError):
                logger.critical("cannot write what was fetched", exc_info=True)
            self._broken(error)

    def _gather(self) -> list[Entry]:
        """The next batch: enough entries, or old enough, or asked for by `flush`."""
        entries: list[Entry] = []
        room = BODY_BYTES
        end = time.monotonic() + self._seconds
        while len(entries) < self._entries and room > 0:
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
            with metrics.batch_commit_seconds.time():
                self._write_all(catalog, entries)
            metrics.batch_entries.inc(len(entries))
        except RedisError:  # which is to blame, and no entry
            raise
        except Exception:
            (first, *others) = entries
            if not others and first.fetch.reason == "unparsable":
                raise
            logger.error(
                "cannot write %d entries, first %s", len(entries), first.fetch.lease.url, exc_info=True
            )
            for entry in entries:
                alone = replace(entry, original=None)  # the other one may be the one that is not stored
                self._write(catalog, [alone] if others else [Entry(broken(entry.fetch, "cannot be stored"))])

    def _write_all(self, catalog: Catalog, entries: list[Entry]) -> None:
        """Repeat each step until it succeeds; none does twice what it has done."""
        sys.audit("webcrawler.batch.gathered")
        verdict = self._store(catalog, entries)
        explored = _explored(catalog, entries) if self._only_new else frozenset()
        found = [(entry, *_followed(entry, explored, verdict)) for entry in entries]
        self._learn(
            Seen(entry.fetch.lease.id, entry.fetch.lease.url, entry.text, links)
            for entry, links, _ in found
            if entry.fetch.state == "done" and not entry.fetch.lease.was
        )
        outcomes = self._decide([self._decision(*one, verdict) for one in found])
        sys.audit("webcrawler.batch.settled")
        checks = {e.fetch.lease: _check(e, verdict) for e in entries if e.fetch.lease.was in DOCUMENTS}
        settled = [
            (lease, outcome if outcome.startswith(("retry/", "stale")) else checks.get(lease, outcome))
            for lease, outcome in outcomes
        ]
        if decisions.are_logged():
            _log(entries, explored, settled)
        self._settled(settled)

    def _store(self, catalog: Catalog, entries: list[Entry]) -> Verdict:
        """Make a batch durable: its WARC records, then the catalog."""
        entries = self._until_done(lambda: _with_originals(entries, catalog))
        places = self._until_done(lambda: self._append(entries))
        sys.audit("webcrawler.batch.stored")
        verdict = self._until_done(lambda: catalog.write(list(zip(entries, places, strict=True))))
        sys.audit("webcrawler.batch.catalogued")
        if self._folder:
            last = entries[-1].fetch.lease
            self._until_done(lambda: marks.mark(self._frontier, self._folder, last.id, last.token))
        return verdict

    def _append(self, entries: list[Entry]) -> list[Place | None]:
        places = [self._pages.append(entry) if entry.archive else None for entry in entries]
        self._pages.sync()
        return places

    def _learn(self, seen: Iterable[Seen]) -> None:
        if self._frontier.ordering.learns:
            self._frontier.ordering.learn(list(seen))

    def _decision(
        self, entry: Entry, followed: list[Link], refused: Counter[str], verdict: Verdict
    ) -> Done | Failed:
        fetch, lease, reason = entry.fetch, entry.fetch.lease, entry.fetch.reason
        stays = lease.was if lease.id in verdict.held or reason in ("not-modified", "scope") else ""
        if fetch.state != "done":
            outcome = fetch.state if fetch.state == "quarantined" else f"failed/{reason}"
            return Failed(lease, stays or outcome, fetch.retry, fetch.excused)
        if lease.id in verdict.soft:
            return Failed(lease, stays or "failed/not-found", False)
        if stays:
            return Done(lease, stays.partition("/")[2], True, followed, refused)
        is_duplicate = lease.id in verdict.duplicates
        if reason == "document":
            reason = "duplicate" if is_duplicate else "noindex" if entry.noindex else reason
        is_known = is_duplicate or lease.id in verdict.near
        is_page = reason in ("document", "probe")
        repeats = not lease.was and (is_known or (is_page and self._familiar.repeats(entry)))
        note = self._frontier.ordering.page_note(entry.text, lease)
        return Done(lease, reason, f"done/{reason}" in DOCUMENTS, followed, refused, repeats, note)

    def _decide(self, decided: list[Done | Failed]) -> list[tuple[Lease, str]]:
        """Tell the frontier what came of each lease, and teach its ordering; returns what it counts."""
        reports, tries = self._reports.take(), count()  # told first, else servers would be due at once
        try:
            self._until_done(lambda: self._frontier.fetched(reports) if reports else None)
        except BaseException:
            self._reports.put_back(reports)
            raise
        outcomes = self._until_done(lambda: self._complete(decided, next(tries) > 0))
        if self._frontier.ordering.learns:  # what is tried again or is another worker's is not decided yet
            self._learn(Seen(lease.id, lease.url) for lease, how in outcomes if how.startswith(LOST))
            self._until_done(self._frontier.replan)
        pages = ((d.lease.server, d.repeats) for d in decided if isinstance(d, Done) and d.is_document)
        if suspects := self._familiar.suspects(pages):
            self._until_done(lambda: self._suspect(suspects))
        return outcomes

    def _complete(self, decided: list[Done | Failed], is_again: bool) -> list[tuple[Lease, str]]:
        """Complete leases or let them fail, in this order.

        Args:
            is_again: an earlier call may have decided them already, and its answer was lost.
        """
        outcomes: list[tuple[Lease, str]] = []
        for kind, group in groupby(decided, type):
            some: list[Any] = list(group)
            if kind is Done:
                sys.audit("webcrawler.complete.before")
                answers = self._frontier.complete(some)
                sys.audit("webcrawler.complete.after")
                for one, answer in zip(some, answers, strict=True):
                    outcomes.append((one.lease, f"done/{one.reason}" if answer >= 0 or is_again else "stale"))
            else:
                sys.audit("webcrawler.fail.before")
                answers = self._frontier.fail(some)
                sys.audit("webcrawler.fail.after")
                for one, answer in zip(some, answers, strict=True):
                    named = {-1: "stale", 0: one.outcome, 1: "retry/" + one.outcome.rpartition("/")[2]}
                    outcomes.append((one.lease, named[answer]))
            sys.audit("webcrawler.decide.between")
        return outcomes

    def _until_done(self, step: Callable[[], T]) -> T:
        return retry(
            step,
            self._revive,
            seconds=FOREVER,
            pause=0.1,
            longest_pause=PAUSE_MAX_SECONDS,
            is_passing=lambda error: isinstance(error, OSError) or is_passing(error),
            on_failure=lambda error: logger.error("cannot write a batch, trying again: %s", error),
        )


def broken(fetch: Fetch, error: str) -> Fetch:
    """The same fetch, failed as unparsable."""
    return replace(fetch, state="failed", reason="unparsable", retry=True, target=None, error=error)


def unread(fetch: Fetch, error: str) -> Fetch:
    """The same fetch, failed as not indexable: a document that cannot be read."""
    return replace(fetch, state="failed", reason="not-indexable", target=None, error=error)


def _links(entry: Entry) -> Sequence[Link]:
    target = entry.fetch.target
    return (*entry.links, target) if target else entry.links


def _explored(catalog: Catalog, entries: list[Entry]) -> Container[int]:
    """Those of the links that lead to what the catalog has, or knows to be nowhere."""
    links = (link for entry in entries for link in _links(entry))
    return catalog.fetches.explored({x.id for x in links if not x.refused and x.rel != "nofollow"})


def _with_originals(entries: list[Entry], catalog: Catalog) -> list[Entry]:
    """Entries that name the record which has their body, where the catalog has the same bytes at that URL."""
    kept = catalog.kept([entry.fetch.lease.id for entry in entries if entry.archive])

    def is_kept(entry: Entry) -> bool:
        digest, _ = kept.get(entry.fetch.lease.id, (b"", None))
        return bool(digest) and (entry.fetch.status == 304 or entry.digest == digest)

    return [replace(one, original=kept[one.fetch.lease.id][1]) if is_kept(one) else one for one in entries]


def _check(entry: Entry, verdict: Verdict) -> str:
    """What a check told: not-modified, unchanged, changed, missing or failed (it stays), gone, refused."""
    fetch, id = entry.fetch, entry.fetch.lease.id
    if fetch.reason in ("scope", "removed"):
        return CHECKED + "refused"
    if id in verdict.held:
        is_missing = (fetch.reason in GONE and fetch.status not in REFUSING) or id in verdict.soft
        return CHECKED + ("missing" if is_missing else "failed")
    if id in verdict.unchanged:
        return CHECKED + ("not-modified" if fetch.status == 304 else "unchanged")
    is_there = f"{fetch.state}/{fetch.reason}" in DOCUMENTS and id not in verdict.soft
    return CHECKED + ("changed" if is_there else "gone")


def _followed(entry: Entry, explored: Container[int], verdict: Verdict) -> tuple[list[Link], Counter[str]]:
    """The links that are followed, and how many are not, by reason.

    Of a check only those that are new: what was taken in before must not raise what waits a second time.
    """
    followed: list[Link] = []
    lease = entry.fetch.lease
    if lease.was and lease.id in verdict.unchanged:
        return followed, Counter()
    known = verdict.links_before.get(lease.id, ())
    refused = Counter(entry.refused)
    for link in _links(entry):
        if link.id in known:
            continue
        if why := _refusal(link, lease, explored):
            refused[why] += 1
        elif link.id != lease.id:
            followed.append(link)
    return followed, refused


def _refusal(link: Link, lease: Lease, explored: Container[int]) -> str:
    """Why a link is not followed; "" where it is. The target of a redirect stands for the page asked for."""
    why = link.refused or ("nofollow" if link.rel == "nofollow" else "")
    is_explored = link.id in explored and link.id != lease.id and link.rel != "redirect"
    return why or ("explored" if is_explored else "")


def _log(entries: Sequence[Entry], explored: Container[int], settled: Sequence[tuple[Lease, str]]) -> None:
    """Log what became of each fetch, and which links are not followed."""
    fetches = {entry.fetch.lease: entry.fetch for entry in entries}
    decisions.log_fetched((fetches[lease], outcome) for lease, outcome in settled)
    for entry in entries:
        lease = entry.fetch.lease
        refusals = ((link.url, _refusal(link, lease, explored)) for link in _links(entry))
        decisions.log_refused(((url, why) for url, why in refusals if why), lease.url)
