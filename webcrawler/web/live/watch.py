"""A search of the web that this server has started, and the task that ends it when its time is up."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from webcrawler.realtime import Journal, journal
from webcrawler.web.failures import log_fault
from webcrawler.web.live.launchers import Launcher, delete_lists
from webcrawler.web.live.request import LiveRequest

NOT_READ = LiveRequest()  # until what was asked for is read
WATCH_SECONDS = 0.5  # between two checks
GRACE_SECONDS = (
    journal.CAUGHT_UP_SECONDS + 10.0
)  # to end in after being asked to, and again after being told to
MAX_ATTEMPTS = 3  # to end it: in good order, at once, and then it is left alone
NEVER_BEGAN = "it did not begin within {:.0f} s"


@dataclass(slots=True)
class Started:
    """A search that this server has started."""

    job: str
    client: str
    request: LiveRequest = NOT_READ
    began: float = field(default_factory=time.time)
    is_over: bool = False
    why: str = ""  # why it was asked to end, as journals have it
    complaint: str = ""


def is_over(journal: Journal) -> bool:
    return journal["state"] == "finished"


def corrected(one: Started, journal: Journal) -> Journal:
    """The journal, with the reason why it was asked to end, in case it had to be killed."""
    if one.why and is_over(journal) and journal["reason"] == "failed":
        journal["reason"] = one.why
    return journal


def first_journal(one: Started) -> Journal:
    """What is said of a search that has not written a journal yet."""
    now = time.time()
    return Journal(
        job=one.job,
        query=one.request.query,
        strategy=one.request.strategy,
        state="finished" if one.is_over else "starting",
        reason=(one.why or "failed") if one.is_over else "",
        started=one.began,
        updated=one.began,
        seconds=0.0 if one.is_over else now - one.began,
        fetched=0,
        similar=0,
        enough=one.request.enough,
        waiting=0,
        note=one.complaint,
        hits=[],
    )


class Watch:
    """Ends a search that was stopped or is late: first it is asked to end, then told to, then killed.

    Its methods but `until_over` block, so they run in threads.
    """

    def __init__(self, crawl_dir: Path, launcher: Launcher, one: Started) -> None:
        self._crawl_dir, self._launcher, self._one = crawl_dir, launcher, one
        self._attempts, self._attempted = 0, 0.0  # to end it: how many, and when the last

    async def until_over(self) -> None:
        """An exception ends one check, not the task: else the search would keep its place for ever."""
        while not self._one.is_over:
            try:
                self._one.is_over = await run_in_threadpool(self._look)
            except Exception as error:
                log_fault(f"cannot look after the search of the web {self._one.job}: {error!r}")
            await asyncio.sleep(WATCH_SECONDS)

    def stop(self, why: str) -> None:
        """Ask it to end: by its journal, or by its launcher if it has none yet. Later calls do nothing.

        Args:
            why: the reason, as journals have it.
        """
        if self._one.why:
            return
        self._one.why, self._attempted = why, time.time()
        if journal.read(self._crawl_dir, self._one.job):
            journal.stop(self._crawl_dir, self._one.job)
        else:
            self._end()

    def _look(self) -> bool:
        """True if it is over, or nothing more can be done about it."""
        if self._launcher.is_over(self._one.job):
            self._conclude()
            return True
        found = journal.read(self._crawl_dir, self._one.job)
        if found:
            self._delete_lists()
        if self._is_late(found):
            if not found and not self._one.why:
                self._one.complaint = NEVER_BEGAN.format(self._launcher.patience_seconds)
            self.stop("max_time" if found else "failed")
        if self._one.why and time.time() - self._attempted > GRACE_SECONDS:
            self._end()
        return self._attempts >= MAX_ATTEMPTS

    def _is_late(self, found: Journal | None) -> bool:
        began = found["started"] if found else self._one.began
        allowed = self._one.request.max_time + GRACE_SECONDS if found else self._launcher.patience_seconds
        return time.time() - began > allowed

    def _end(self) -> None:
        """Each way once: Scrapy takes a second SIGTERM as an order to end at once."""
        self._attempts, self._attempted = self._attempts + 1, time.time()
        if self._attempts < MAX_ATTEMPTS:
            self._launcher.end(self._one.job, at_once=self._attempts > 1)

    def _conclude(self) -> None:
        """Say what became of it, if it has not done so itself."""
        self._delete_lists()
        if journal.read(self._crawl_dir, self._one.job):
            return
        if self._one.why == "stopped":
            self._launcher.forget(self._one.job)
        elif not self._one.complaint:
            self._one.complaint = self._launcher.complaint(self._one.job)

    def _delete_lists(self) -> None:
        delete_lists(self._one.job, self._crawl_dir / "realtime")
