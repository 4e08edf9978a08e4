"""The searches of the web of one data folder: those that this server started, and others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool

from webcrawler.archive import discard_left_over
from webcrawler.errors import BadInput
from webcrawler.realtime import Journal, journal
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow
from webcrawler.web.live.launchers import Children, Launcher, delete_lists, delete_old_lists
from webcrawler.web.live.request import LiveRequest
from webcrawler.web.live.scrapyd import Scrapyd
from webcrawler.web.live.watch import NOT_READ, WatchedSearch, is_over

KEPT = 200  # searches that are over
LISTED = 25
TOO_MANY = "the maximum number of searches of the web is already running: try again when one has ended"


class OneAtATime(Exception):
    """Raised for a client whose search `job` still runs."""

    def __init__(self, job: str) -> None:
        super().__init__(job)
        self.job = job


class Searches:
    """For use on one event loop. Raises BadInput: the URL of the Scrapyd is not valid."""

    def __init__(self, config: Config) -> None:
        self._crawl_dir, self._most = config.crawl_dir, config.live_jobs
        self._folder = config.crawl_dir.absolute() / "realtime"
        self.launcher: Launcher = Scrapyd(config) if config.scrapyd else Children(config)
        self._started: dict[str, WatchedSearch] = {}
        self._watching: set[asyncio.Task[None]] = set()

    async def start(self, read: Callable[[], LiveRequest], client: str) -> str:
        """Start a search; returns its name.

        Args:
            read: reads what to search for, which takes a second for bookmarks; called in a thread, and only
                if the client may start a search.
        Raises:
            BadInput: the request is not valid.
            OneAtATime: a search of this client still runs.
            NotNow: too many searches run, or it cannot be started.
        """
        known = await run_in_threadpool(journal.jobs, self._crawl_dir)
        ended = {one.job: one.is_over for one in self._started.values()}
        ended |= {one["job"]: is_over(one) for one in known}  # also those of a terminal
        running = [job for job, has_ended in ended.items() if not has_ended]
        if own := next((job for job in running if self.is_of(job, client)), None):
            raise OneAtATime(own)
        if len(running) >= self._most:
            raise NotNow(TOO_MANY)

        new = WatchedSearch(self._crawl_dir, self.launcher, client)
        self._started[new.job] = new  # before the next await, so that the next request counts it
        try:
            await run_in_threadpool(new.start, read)
        except BaseException:
            del self._started[new.job]
            raise
        task = asyncio.create_task(new.until_over())
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)
        over = [one.job for one in self._started.values() if one.is_over]
        for job in over[:-KEPT]:
            del self._started[job]
            self.launcher.forget(job)
        return new.job

    def look(self, job: str) -> Journal | None:
        """What is known of a search, whoever started it; None if there is none. Reads a file."""
        try:
            found = journal.read(self._crawl_dir, job)
        except BadInput:  # not a name that a search can have
            return None
        started = self._started.get(job)
        return started.as_journal(found) if started else found

    def recent(self, client: str | None = None) -> list[Journal]:
        """Searches of one client, or of all, the newest first. Reads a hundred files."""
        known = {one["job"]: one for one in journal.jobs(self._crawl_dir)}
        for search in list(self._started.values()):
            if search.request is not NOT_READ:
                known[search.job] = search.as_journal(known.get(search.job))
        own = [one for one in known.values() if self.is_of(one["job"], client)]
        return sorted(own, key=lambda one: -one["started"])[:LISTED]

    def is_stopping(self, job: str) -> bool:
        return job in self._started and self._started[job].why != ""

    def is_of(self, job: str, client: str | None) -> bool:
        """Did this client start it? None stands for any client, "" for an unknown one."""
        if not client:
            return client is None
        return job in self._started and self._started[job].client == client

    async def stop(self, job: str) -> None:
        """Ask it to end. One that this server started is killed if it does not."""
        found = await run_in_threadpool(self.look, job)
        if found is None or is_over(found):
            return
        if job in self._started:
            await run_in_threadpool(self._started[job].stop, "stopped")
        elif found["state"] != "starting":
            await run_in_threadpool(journal.stop, self._crawl_dir, job)

    def tidy(self) -> None:
        """Delete what a server or a search that was killed left behind."""
        delete_old_lists(self._folder, self.launcher.patience_seconds)
        discard_left_over(self._crawl_dir)

    async def leave(self) -> None:
        """End the searches of this server, as the server ends."""
        for task in self._watching:
            task.cancel()
        for one in list(self._started.values()):
            if not one.is_over:
                await self.stop(one.job)
                delete_lists(one.job, self._folder)  # they have been read
