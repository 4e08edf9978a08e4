"""The searches of the web of one data folder: those that this server started, and others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from starlette.concurrency import run_in_threadpool

from webcrawler import clock
from webcrawler.archive import discard_left_over
from webcrawler.errors import BadInput
from webcrawler.realtime import Journal, journal
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow
from webcrawler.web.live.launchers import Children, Launcher, Scrapyd, delete_lists, delete_old_lists
from webcrawler.web.live.request import LiveRequest
from webcrawler.web.live.watch import WatchedSearch, is_over

KEPT = 200  # searches that are over
LISTED = 25
SAME_SECONDS = 600.0  # for which who asks the same as before is shown what was found
IN_GOOD_ORDER = ("enough", "max_pages", "max_time", "nothing_left")
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
        """Start a search, unless the same is there already; returns its name.

        Args:
            read: reads what to search for, which takes a second for bookmarks; called in a thread.
        Raises:
            BadInput: the request is not valid.
            OneAtATime: a search of this client still runs.
            NotNow: too many searches run, or it cannot be started.
        """
        new = WatchedSearch(self._crawl_dir, self.launcher, client)
        await run_in_threadpool(new.prepare, read)
        try:
            known = await run_in_threadpool(journal.jobs, self._crawl_dir)
            asked = await run_in_threadpool(self._all_asked, known)
            if same := self._same(new, known, asked):
                new.drop()
                return same
            self._check_places(known, client)
        except BaseException:
            new.drop()
            raise

        self._started[new.job] = new  # before the next await, so that the next request counts it
        try:
            await run_in_threadpool(new.start)
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

    def _same(self, new: WatchedSearch, known: Sequence[Journal], asked: Mapping[str, dict[str, str]]) -> str:
        """The name of a search for the same that runs or has ended lately in good order, or ""."""
        if new.request.again:
            return ""
        found = {one["job"]: one for one in known}
        found |= {one.job: one.as_journal(found.get(one.job)) for one in self._started.values()}
        for job, one in sorted(found.items(), key=lambda item: -item[1]["started"]):
            is_there = (not is_over(one) and not self.is_stopping(job)) or (
                one["reason"] in IN_GOOD_ORDER and abs(clock.now() - one["updated"]) < SAME_SECONDS
            )
            if is_there and asked.get(job) == dict(new.asked):
                return job
        return ""

    def _all_asked(self, known: Sequence[Journal]) -> dict[str, dict[str, str]]:
        """What each search was asked for, by name; reads files."""
        found = {one["job"]: journal.asked(self._crawl_dir, one["job"]).words for one in known}
        return found | {job: dict(one.asked) for job, one in list(self._started.items())}

    def _check_places(self, known: Sequence[Journal], client: str) -> None:
        """Raises OneAtATime and NotNow."""
        ended = {one.job: one.is_over for one in self._started.values()}
        for one in known:  # also those of a terminal
            started = self._started.get(one["job"])
            ended[one["job"]] = is_over(started.as_journal(one) if started else one)
        running = [job for job, has_ended in ended.items() if not has_ended]
        if own := next((job for job in running if self.is_of(job, client)), None):
            raise OneAtATime(own)
        if len(running) >= self._most:
            raise NotNow(TOO_MANY)

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
