"""Writes the log beside the search page, in a thread: nobody waits for it."""

from __future__ import annotations

import logging
from contextlib import closing, suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread
from time import monotonic

from webcrawler import pace
from webcrawler.usage.log import NAME, QueryLog, Shown, today

MAX_WAITING = 1_000  # result pages and clicks; with more, new ones are not logged

Click = tuple[int, int]  # id of a result page, rank of the hit that was opened
_log = logging.getLogger(__name__)


class Recorder:
    """Takes what is to be logged, and never waits.

    What was not written within a second is lost if the process is killed. A fault is logged once, and what
    could not be written is dropped.

    Args:
        days: how many are kept.
    """

    def __init__(self, crawl_dir: Path, days: int) -> None:
        self._path, self._days = crawl_dir / NAME, days
        self._waiting: Queue[Shown | Click | None] = Queue(MAX_WAITING)
        self._thread = Thread(target=self._run, name="query log", daemon=True)
        self._complained = ""

    def start(self) -> None:
        self._thread.start()

    def add(self, one: Shown | Click) -> None:
        with suppress(Full):
            self._waiting.put_nowait(one)

    def close(self) -> None:
        """Write what waits, and end; called once, after `start`."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        self._write([])  # days that are over go, also where nobody asks anything
        while some := self._next():
            self._write([one for one in some if one is not None])
            if some[-1] is None:
                break

    def _next(self) -> list[Shown | Click | None]:
        """Wait for something, and return it with what comes within a second; None is the end."""
        some = [self._waiting.get()]
        until = monotonic() + pace.QUERY_LOG_SECONDS
        with suppress(Empty):
            while some[-1] is not None:
                some.append(self._waiting.get(timeout=max(0.0, until - monotonic())))
        return some

    def _write(self, some: list[Shown | Click]) -> None:
        shown = [one for one in some if isinstance(one, Shown)]
        clicks = [one for one in some if not isinstance(one, Shown)]
        try:
            with closing(QueryLog(self._path, self._days)) as log:
                log.write(shown, clicks, today())
        except Exception as error:  # the thread must live: `close` waits for it
            if self._complained != str(error):
                self._complained = str(error)
                _log.error("queries are not logged: %s: %s", self._path, error)
