"""The searches of the web of one data folder: those that this server started, and others.

A child process runs each, in a session of its own: Ctrl-C ends the server, which then asks them to end. Lists
of URLs are passed in files, one URL a line, as URLs may contain commas.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from webcrawler import clock
from webcrawler.archive import discard_left_over
from webcrawler.errors import BadInput
from webcrawler.realtime import Journal, RealtimeJob, journal
from webcrawler.web.config import Config
from webcrawler.web.live_request import LiveRequest
from webcrawler.web.render import NotNow, log_fault

Process = subprocess.Popen[bytes]
LISTS = ("seeds", "examples")
REMEMBERED = 200  # searches that are over
LISTED = 25
SAME_SECONDS = 600.0  # for which who asks the same as before is shown what was found
IN_GOOD_ORDER = ("enough", "max_pages", "max_time", "nothing_left")
START_SECONDS = 60.0  # that a search may take to begin
GRACE_SECONDS = 20.0  # for a search to end by itself, and after each way to end it
TOO_MANY = "the maximum number of searches of the web is already running: try again when one has ended"
BROKE = "the search could not begin; the operator finds more in its log"
NO_PROCESS = "no search of the web can be started now: try again later"


class OneAtATime(Exception):
    """Raised for a client whose search `job` still runs."""

    def __init__(self, job: str) -> None:
        super().__init__(job)
        self.job = job


def is_over(journal: Journal) -> bool:
    return journal["state"] == "finished"


def launched(config: Config, job: str, arguments: Mapping[str, str]) -> Process:
    """The process of a search. Raises OSError: it cannot be started."""
    words = [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
    crawl_dir = config.crawl_dir.absolute()
    with (crawl_dir / "realtime" / f"{job}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", "crawl", "realtime", *words],
            env=os.environ | dict(config.live_settings) | {"CRAWL_DIR": str(crawl_dir)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


class WatchedSearch:
    """A search that this server started. If it was stopped or is late it is asked to end, then killed."""

    def __init__(self, crawl_dir: Path, request: LiveRequest, client: str) -> None:
        self.job, self.client, self.request = journal.new_job(), client, request
        self.process: Process | None = None
        self.why = ""  # why it was asked to end, as journals have it
        self._crawl_dir, self._began = crawl_dir, clock.now()
        self._deadline = self._began + START_SECONDS
        self._ways_tried = 0  # to end it

    @property
    def is_over(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def begin(self, launch: Callable[[str, dict[str, str]], Process]) -> None:
        """Blocks.

        Raises:
            BadInput: the request is not valid.
            NotNow: it cannot be started.
        """
        try:
            self._list("").parent.mkdir(parents=True, exist_ok=True)
            arguments = self._arguments()
            RealtimeJob.read(**arguments)
            self.process = launch(self.job, arguments)
        except OSError as error:
            log_fault(f"cannot start a search of the web: {error}")
            raise NotNow(NO_PROCESS) from error
        finally:
            if not self.process:
                self.delete_lists()

    def _arguments(self) -> dict[str, str]:
        """The arguments of the spider, after writing its lists to files."""
        fields = ("query", "strategy", "enough", "max_pages", "max_time", "keep")
        given = {"job": self.job} | {name: str(getattr(self.request, name)) for name in fields}
        given["domains"] = ",".join(self.request.domains)
        for name in LISTS:
            if urls := getattr(self.request, name):
                self._list(name).touch(mode=0o600)
                self._list(name).write_text("\n".join(urls), "utf-8")
                given[name] = f"@{self._list(name)}"
        return {name: value for name, value in given.items() if value}

    def _list(self, name: str) -> Path:
        return self._crawl_dir.absolute() / "realtime" / f"{self.job}.{name}"

    def delete_lists(self) -> None:
        with suppress(OSError):
            for name in LISTS:
                self._list(name).unlink(missing_ok=True)

    def as_journal(self, written: Journal | None) -> Journal:
        """Its state as a journal: the one that it has written, or one in its place."""
        if written:
            if self.is_over and not is_over(written):  # it was killed; its parsers may hold its lock
                written["state"], written["reason"] = "finished", "failed"
            if written["reason"] == "failed":
                written["reason"] = self.why or "failed"
            return written
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
            note=BROKE if self.is_over and self.why in ("", "failed") else "",
            keep=self.request.keep,
            kept=0,
            hits=[],
        )

    async def until_over(self) -> None:
        while not self.is_over:
            await asyncio.sleep(clock.LIVE_WATCH_SECONDS)
            await run_in_threadpool(self._try, self._look)
        await run_in_threadpool(self._try, self._clear_away)

    def _try(self, step: Callable[[], None]) -> None:
        """Do a step. An exception ends that step only, or the search would keep its place for ever."""
        try:
            step()
        except Exception as error:
            log_fault(f"cannot look after the search of the web {self.job}: {error!r}")

    def _look(self) -> None:
        """End it where it is late: to begin, to end by itself, or to end as it was told."""
        written = journal.read(self._crawl_dir, self.job)
        if written and not self.why:
            self._deadline = written["started"] + self.request.max_time + GRACE_SECONDS
        if clock.now() > self._deadline:
            self.why = self.why or ("max_time" if written else "failed")
            self._end()

    def stop(self, why: str) -> None:
        """Ask it to end, unless it was asked already, is over, or is not started yet."""
        if self.process and not self.is_over and not self.why:
            self.why = why
            self._try(self._end)

    def _end(self) -> None:
        """By its journal if it has begun, then by SIGTERM, which Scrapy takes for an order, then SIGKILL."""
        assert self.process
        self._deadline = clock.now() + GRACE_SECONDS
        self._ways_tried += 1
        if self._ways_tried == 1 and journal.read(self._crawl_dir, self.job):
            with suppress(OSError):
                return journal.stop(self._crawl_dir, self.job)
        self.process.send_signal(signal.SIGTERM if self._ways_tried <= 2 else signal.SIGKILL)

    def _clear_away(self) -> None:
        self.delete_lists()
        if journal.read(self._crawl_dir, self.job):
            journal.give_up(self._crawl_dir, self.job)  # if it had to be killed
        elif self.why in ("", "failed"):
            log_fault(f"a search of the web could not begin: see realtime/{self.job}.log")
        discard_left_over(self._crawl_dir)


class Searches:
    """For use on one event loop."""

    def __init__(self, config: Config) -> None:
        self._crawl_dir, self._most = config.crawl_dir, config.live_jobs
        self.launch = lambda job, arguments: launched(config, job, arguments)
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
        request = await run_in_threadpool(read)
        journals = {one["job"]: one for one in await run_in_threadpool(journal.jobs, self._crawl_dir)}
        journals |= {job: one.as_journal(journals.get(job)) for job, one in self._started.items()}
        if same := self._same(request, journals):
            return same
        running = [job for job, one in journals.items() if not is_over(one)]  # also those of a terminal
        if own := next((job for job in running if self.is_of(job, client)), None):
            raise OneAtATime(own)
        if len(running) >= self._most:
            raise NotNow(TOO_MANY)

        new = WatchedSearch(self._crawl_dir, request, client)
        self._started[new.job] = new  # before the next await, so that the next request counts it
        try:
            await run_in_threadpool(new.begin, self.launch)
        except BaseException:
            del self._started[new.job]
            raise
        task = asyncio.create_task(new.until_over())
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)
        for job in [job for job, one in self._started.items() if one.is_over][:-REMEMBERED]:
            del self._started[job]
        return new.job

    def _same(self, request: LiveRequest, journals: Mapping[str, Journal]) -> str:
        """The name of the newest search for the same that runs or has ended lately in good order, or ""."""
        for job, search in reversed(self._started.items()):
            if request.again or replace(search.request, again="") != request:
                continue
            now = journals[job]
            ended_well = now["reason"] in IN_GOOD_ORDER and abs(clock.now() - now["updated"]) < SAME_SECONDS
            if ended_well or not (is_over(now) or search.why):
                return job
        return ""

    def look(self, job: str) -> Journal | None:
        """What is known of a search, whoever started it; None if there is none. Reads a file."""
        try:
            written = journal.read(self._crawl_dir, job)
        except BadInput:  # not a name that a search can have
            return None
        return self._started[job].as_journal(written) if job in self._started else written

    def recent(self, client: str | None = None) -> list[Journal]:
        """Searches of one client, or of all, the newest first. Reads a hundred files."""
        journals = {one["job"]: one for one in journal.jobs(self._crawl_dir)}
        journals |= {one.job: one.as_journal(journals.get(one.job)) for one in list(self._started.values())}
        own = [one for one in journals.values() if self.is_of(one["job"], client)]
        return sorted(own, key=lambda one: -one["started"])[:LISTED]

    def is_stopping(self, job: str) -> bool:
        return job in self._started and self._started[job].why != ""

    def is_of(self, job: str, client: str | None) -> bool:
        """Did this client start it? None stands for any client, "" for an unknown one."""
        if not client:
            return client is None
        return job in self._started and self._started[job].client == client

    def stop(self, job: str) -> None:
        """Ask it to end. One that this server started is killed if it does not. Reads a file."""
        found = self.look(job)
        if job in self._started:
            self._started[job].stop("stopped")
        elif found and found["state"] == "running":
            journal.stop(self._crawl_dir, job)

    def leave(self) -> None:
        """End the searches of this server, as the server ends."""
        for task in self._watching:
            task.cancel()
        for one in self._started.values():
            if not one.is_over:
                one.stop("stopped")
                one.delete_lists()  # they have been read
