"""The searches of the web that this server has started: so many at once, watched until they are over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool

from webcrawler.errors import BadInput
from webcrawler.realtime import journal
from webcrawler.realtime.job import RealtimeJob
from webcrawler.realtime.journal import Journal
from webcrawler.web.config import Config
from webcrawler.web.errors import NotNow, note
from webcrawler.web.live.asking import Asked
from webcrawler.web.live.launching import NO_PROCESS, Children, Launcher
from webcrawler.web.live.scrapyd import Scrapyd
from webcrawler.web.live.started import LISTS, Started, unsaid, written

WATCH_SECONDS = 0.5  # between two looks at one that runs
GRACE_SECONDS = 8.0  # to end in when asked to, then when told to
KEPT = 200  # that are over
TOO_MANY = "as many searches of the web as may be are running: try again when one has ended"


class OneAtATime(Exception):
    """Raised for a client whose search runs still; `job` is that one."""

    def __init__(self, job: str) -> None:
        super().__init__(job)
        self.job = job


class Searches:
    """Of one event loop. Raises BadInput: the Scrapyd of the settings has no address."""

    def __init__(self, config: Config) -> None:
        self._crawl_dir, self._most = config.crawl_dir, config.live_jobs
        self.launcher: Launcher = Scrapyd(config) if config.scrapyd else Children(config)
        self._started: dict[str, Started] = {}
        self._watching: set[asyncio.Task[None]] = set()

    async def start(self, ask: Callable[[], Asked], client: str) -> str:
        """The name of the new search.

        Args:
            ask: reads what is asked for, in a thread; bookmarks take a second: nobody has many read at once
        Raises:
            BadInput: that cannot be searched for.
            OneAtATime: one of this client runs. NotNow: too many do, or it cannot be started.
        """
        running = [one for one in self._started.values() if self._is_running(one)]
        if own := next((one for one in running if one.client == client), None):
            raise OneAtATime(own.job)
        if len(running) >= self._most:
            raise NotNow(TOO_MANY)
        new = Started(journal.new_job(), Asked(), client)
        self._started[new.job] = new  # before anything is waited for: the next one counts it
        try:
            await run_in_threadpool(self._launch, new, ask)
        except BaseException:
            del self._started[new.job]
            raise
        task = asyncio.create_task(self._watch(new))
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)
        self._forget()
        return new.job

    def look(self, job: str) -> Journal | None:
        """What is known of a search, whoever has started it; its state is "starting" before it says anything.

        Reads a file.
        """
        try:
            found = journal.read(self._crawl_dir, job)
        except BadInput:  # no name of any
            return None
        if found is None and job in self._started:
            return unsaid(self._started[job])
        return found

    def recent(self, client: str = "") -> list[Journal]:
        """The newest first: of that client, or all that are known. Reads a hundred files."""
        own = [job for job, one in self._started.items() if client in ("", one.client)]
        known = {one["job"]: one for one in journal.jobs(self._crawl_dir) if not client or one["job"] in own}
        new = {job: unsaid(self._started[job]) for job in own if job not in known}
        return sorted((known | new).values(), key=lambda one: -one["started"])

    def is_stopping(self, job: str) -> bool:
        return job in self._started and self._started[job].told_to_stop > 0

    def is_of(self, job: str, client: str) -> bool:
        return job in self._started and self._started[job].client == client

    async def stop(self, job: str) -> None:
        """Asks it to end; what it found stays. One of ours that does not obey is made to end."""
        found = await run_in_threadpool(self.look, job)
        if found and found["state"] != "finished":
            await run_in_threadpool(self._stop, job, found["state"] == "starting")

    async def leave(self) -> None:
        """The server ends: those that it started do, too."""
        for task in self._watching:
            task.cancel()
        for one in list(self._started.values()):
            if not one.is_over:
                await self.stop(one.job)
                self._tidy(one.job)  # it has read them

    def _stop(self, job: str, at_start: bool) -> None:
        started = self._started.get(job)
        if started and not started.told_to_stop:
            started.told_to_stop = time.time()
        if at_start:  # nobody looks for the file yet
            self.launcher.end(job, at_once=False)
        else:
            journal.stop(self._crawl_dir, job)

    def _is_running(self, one: Started) -> bool:
        if one.is_over:
            return False
        found = journal.read(self._crawl_dir, one.job)
        return found is None or found["state"] != "finished"

    def _launch(self, new: Started, ask: Callable[[], Asked]) -> None:
        new.asked = ask()
        folder = self._crawl_dir / "realtime"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            arguments = written(new, folder.absolute())
        except OSError as error:
            note(f"cannot write to {folder}: {error}")
            raise NotNow(NO_PROCESS) from error
        try:
            RealtimeJob.read(**arguments)
            self.launcher.start(new.job, arguments)
        except BaseException:
            self._tidy(new.job)
            raise

    async def _watch(self, one: Started) -> None:
        while not await run_in_threadpool(self.launcher.is_over, one.job):
            await asyncio.sleep(WATCH_SECONDS)
            if await run_in_threadpool(self._press, one):
                break
        one.complaint = await run_in_threadpool(self._ended, one)
        one.is_over = True

    def _press(self, one: Started) -> bool:
        """Ends what should have ended; whether there is nothing more to be done about it."""
        now, found = time.time(), journal.read(self._crawl_dir, one.job)
        allowed = one.asked.max_time if found else self.launcher.patience_seconds
        late = now - (found["started"] if found else one.began) - allowed
        if late > GRACE_SECONDS and not one.told_to_stop:
            self._stop(one.job, at_start=not found)
        waited = now - one.told_to_stop if one.told_to_stop else 0.0
        if waited > GRACE_SECONDS:
            self.launcher.end(one.job, at_once=waited > 2 * GRACE_SECONDS)
        return waited > 4 * GRACE_SECONDS

    def _ended(self, one: Started) -> str:
        self._tidy(one.job)
        if journal.read(self._crawl_dir, one.job) or one.told_to_stop:
            return ""
        return self.launcher.complaint(one.job)

    def _tidy(self, job: str) -> None:
        """The addresses that somebody gave are for the search alone."""
        for name in LISTS:
            (self._crawl_dir / "realtime" / f"{job}.{name}").unlink(missing_ok=True)

    def _forget(self) -> None:
        over = [one.job for one in self._started.values() if one.is_over]
        for job in over[:-KEPT]:
            del self._started[job]
