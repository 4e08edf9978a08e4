"""Over one search of the web: it is asked to end when somebody says so or its time is up, then made to."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from webcrawler.realtime import journal
from webcrawler.web.failures import log_fault
from webcrawler.web.live import arguments
from webcrawler.web.live.launchers import Launcher
from webcrawler.web.live.started import Started

WATCH_SECONDS = 0.5  # between two looks
GRACE_SECONDS = journal.CAUGHT_UP_SECONDS + 10.0  # to end in when asked to, then when told to
NOTHING_MORE = 3  # presses: in good order, at once, and then it is left alone
NEVER_BEGAN = "it did not begin within {:.0f} s"


class Watch:
    """Its methods but `until_over` may wait: not for the event loop."""

    def __init__(self, crawl_dir: Path, launcher: Launcher, one: Started) -> None:
        self._crawl_dir, self._launcher, self._one = crawl_dir, launcher, one
        self._presses, self._pressed = 0, 0.0  # how often, and when last

    async def until_over(self) -> None:
        """A fault costs a look, not the watch: else its place would be taken for ever."""
        while not self._one.is_over:
            try:
                self._one.is_over = await run_in_threadpool(self._look)
            except Exception as error:
                log_fault(f"cannot look after the search of the web {self._one.job}: {error!r}")
            await asyncio.sleep(WATCH_SECONDS)

    def stop(self, why: str) -> None:
        """The first time, asks it to end: by its journal, or where it does not look there yet, by its runner.

        Args:
            why: as journals say it
        """
        if self._one.why:
            return
        self._one.why, self._pressed = why, time.time()
        if journal.read(self._crawl_dir, self._one.job):
            journal.stop(self._crawl_dir, self._one.job)
        else:
            self._press()

    def _look(self) -> bool:
        """Whether it is over, or nothing more can be done about it."""
        if self._launcher.is_over(self._one.job):
            self._bury()
            return True
        found = journal.read(self._crawl_dir, self._one.job)
        if found:
            self._forget_lists()
        if self._is_late(found):
            self._call_time(found is not None)
        if self._one.why and time.time() - self._pressed > GRACE_SECONDS:
            self._press()
        return self._presses >= NOTHING_MORE

    def _is_late(self, found: journal.Journal | None) -> bool:
        began = found["started"] if found else self._one.began
        allowed = self._one.asked.max_time + GRACE_SECONDS if found else self._launcher.patience_seconds
        return time.time() - began > allowed

    def _call_time(self, has_begun: bool) -> None:
        if not has_begun and not self._one.why:
            self._one.complaint = NEVER_BEGAN.format(self._launcher.patience_seconds)
        self.stop("max_time" if has_begun else "failed")

    def _press(self) -> None:
        """Each kind once: Scrapy takes a second SIGTERM for one that does not wait."""
        self._presses, self._pressed = self._presses + 1, time.time()
        if self._presses < NOTHING_MORE:
            self._launcher.end(self._one.job, at_once=self._presses > 1)

    def _bury(self) -> None:
        """What is said of one that has said nothing itself."""
        self._forget_lists()
        if journal.read(self._crawl_dir, self._one.job):
            return
        if self._one.why == "stopped":
            self._launcher.forget(self._one.job)
        elif not self._one.complaint:
            self._one.complaint = self._launcher.complaint(self._one.job)

    def _forget_lists(self) -> None:
        arguments.forget(self._one.job, self._crawl_dir / "realtime")
