"""A search of the web that this server has started, and ends when its time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from webcrawler import clock, pace
from webcrawler.archive import discard_left_over
from webcrawler.realtime import Journal, RealtimeJob, journal
from webcrawler.web.failures import NotNow, log_fault
from webcrawler.web.live.launchers import NO_PROCESS, Launcher, delete_lists, write_arguments
from webcrawler.web.live.request import LiveRequest

NOT_READ = LiveRequest()  # until what was asked for is read
# for a search to end after it was asked to, and again after SIGTERM
GRACE_SECONDS = 20.0
MAX_ATTEMPTS = 3  # to end it: SIGTERM, then SIGKILL, then it is left alone
NEVER_BEGAN = "it did not begin within {:.0f} s"


def is_over(journal: Journal) -> bool:
    return journal["state"] == "finished"


class WatchedSearch:
    """One search. If it was stopped or is late it is asked to end, then sent SIGTERM, then killed.

    All methods but `until_over` block, so they are run in threads.
    """

    def __init__(self, crawl_dir: Path, launcher: Launcher, client: str) -> None:
        self.job, self.client, self.request = journal.new_job(), client, NOT_READ
        self.is_launched = self.is_over = False
        self.why = ""  # why it was asked to end, as journals have it
        self._crawl_dir, self._launcher = crawl_dir, launcher
        self._folder = crawl_dir.absolute() / "realtime"
        self._began = clock.now()
        self._complaint = ""
        self.asked: tuple[tuple[str, str], ...] = ()  # as `RealtimeJob.asked`
        self._given: dict[str, str] = {}
        self._attempts, self._attempted = 0, 0.0  # to end it: how many, and when the last

    def prepare(self, read: Callable[[], LiveRequest]) -> None:
        """Read what to search for.

        Raises:
            BadInput: the request is not valid.
            NotNow: its lists cannot be written.
        """
        request = read()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._given = write_arguments(self.job, request, self._folder)
            self.asked = RealtimeJob.read(**self._given).asked
        except OSError as error:
            self.drop()
            log_fault(f"cannot write to {self._folder}: {error}")
            raise NotNow(NO_PROCESS) from error
        except BaseException:
            self.drop()
            raise
        self.request = request

    def start(self) -> None:
        """Start what was prepared.

        Raises:
            NotNow: it cannot be started.
        """
        try:
            self._launcher.start(self.job, self._given)
            self.is_launched = True
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Leave nothing behind of what was prepared."""
        delete_lists(self.job, self._folder)

    def as_journal(self, found: Journal | None) -> Journal:
        """Its state as a journal: the one that it has written, or one in its place."""
        if found:
            if is_over(found) and found["reason"] == "failed" and self.why:
                found["reason"] = self.why  # it had to be killed
            return found
        return Journal(
            job=self.job,
            agent="",
            query=self.request.query,
            strategy=self.request.strategy,
            state="finished" if self.is_over else "starting",
            reason=(self.why or "failed") if self.is_over else "",
            started=self._began,
            updated=self._began,
            seconds=0.0 if self.is_over else clock.now() - self._began,
            fetched=0,
            similar=0,
            enough=self.request.enough,
            waiting=0,
            note=self._complaint,
            keep=self.request.keep,
            kept=0,
            hits=[],
        )

    async def until_over(self) -> None:
        """Watch it. An exception ends one check only, or the search would keep its place for ever."""
        while not self.is_over:
            try:
                self.is_over = await run_in_threadpool(self._look)
            except Exception as error:
                log_fault(f"cannot look after the search of the web {self.job}: {error!r}")
            await asyncio.sleep(pace.LIVE_WATCH_SECONDS)

    def stop(self, why: str) -> None:
        """Ask it to end: by its journal, or by its launcher if it has none yet.

        Does nothing before it is launched, and when it was asked already.

        Args:
            why: the reason, as journals have it.
        """
        if self.why or not self.is_launched:
            return
        self.why, self._attempted = why, clock.now()
        if journal.read(self._crawl_dir, self.job):
            journal.stop(self._crawl_dir, self.job)
        else:
            self._end()

    def _look(self) -> bool:
        """True if it is over, or nothing more can be done about it."""
        has_ended = self._launcher.is_over(self.job)
        found = journal.read(self._crawl_dir, self.job)
        if has_ended or found:
            delete_lists(self.job, self._folder)
        if has_ended:
            if not found and self.why == "stopped":
                self._launcher.forget(self.job)
            elif not found and not self._complaint:
                self._complaint = self._launcher.complaint(self.job)
            if found:
                journal.give_up(self._crawl_dir, self.job)  # if it had to be killed
            discard_left_over(self._crawl_dir)
            return True
        began = found["started"] if found else self._began
        allowed = self.request.max_time + GRACE_SECONDS if found else self._launcher.patience_seconds
        if clock.now() - began > allowed:
            if not found and not self.why:
                self._complaint = NEVER_BEGAN.format(allowed)
            self.stop("max_time" if found else "failed")
        if self.why and clock.now() - self._attempted > GRACE_SECONDS:
            self._end()
        return self._attempts >= MAX_ATTEMPTS

    def _end(self) -> None:
        """Use each way once: Scrapy takes a second SIGTERM as an order to end at once."""
        self._attempts, self._attempted = self._attempts + 1, clock.now()
        if self._attempts < MAX_ATTEMPTS:
            self._launcher.end(self.job, at_once=self._attempts > 1)
