"""What runs a search of the web, and the arguments that it is given.

A child process runs it, or a Scrapyd if one is configured. Lists of URLs are passed in files,
one URL a line, as URLs may contain commas. They are deleted when the search has read them.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from webcrawler import clock
from webcrawler.errors import BadInput
from webcrawler.realtime import journal
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow, log_fault
from webcrawler.web.live.request import LiveRequest

LISTS = ("seeds", "examples")
BROKE = "the search could not begin; the operator finds more in its log"
NO_PROCESS = "no search of the web can be started now: try again later"


class Launcher(Protocol):
    """Starts and ends searches. Its methods may block, so they run in threads.

    Attributes:
        patience_seconds: that a search may take to begin after it was started.
    """

    patience_seconds: float

    def start(self, job: str, arguments: Mapping[str, str]) -> None:
        """Raises NotNow if it cannot."""

    def is_over(self, job: str) -> bool:
        """True if it neither runs nor waits for its turn."""

    def end(self, job: str, at_once: bool) -> None:
        """Ask it to end, or with `at_once` kill it."""

    def complaint(self, job: str) -> str:
        """Why a search ended without a journal, for visitors: without names of hosts or files."""

    def forget(self, job: str) -> None:
        """Drop what is known of a search that is over."""


class Children:
    """Processes in sessions of their own: Ctrl-C ends the server, which then asks them to end."""

    patience_seconds = 60.0

    def __init__(self, config: Config) -> None:
        self._crawl_dir = config.crawl_dir.absolute()
        self._settings = dict(config.live_settings)
        self._project = Path.cwd()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, job: str, arguments: Mapping[str, str]) -> None:
        words = [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
        try:
            with self._file(job, "log").open("ab") as log:
                self._processes[job] = subprocess.Popen(
                    [sys.executable, "-m", "scrapy", "crawl", "realtime", *words],
                    cwd=self._project,
                    env=os.environ | self._settings | {"CRAWL_DIR": str(self._crawl_dir)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:
            log_fault(f"cannot start a search of the web: {error}")
            raise NotNow(NO_PROCESS) from error

    def is_over(self, job: str) -> bool:
        process = self._processes.get(job)
        return process is None or process.poll() is not None

    def end(self, job: str, at_once: bool) -> None:
        if not self.is_over(job):
            self._processes[job].send_signal(signal.SIGKILL if at_once else signal.SIGTERM)

    def complaint(self, job: str) -> str:
        log_fault(f"a search of the web could not begin: see {self._file(job, 'log')}")
        return BROKE

    def forget(self, job: str) -> None:
        """Its log is deleted too, unless it has a journal: then both are kept equally long."""
        self._processes.pop(job, None)
        if not self._file(job, "json").exists():
            self._file(job, "log").unlink(missing_ok=True)

    def _file(self, job: str, suffix: str) -> Path:
        return self._crawl_dir / "realtime" / f"{job}.{suffix}"


def write_arguments(job: str, request: LiveRequest, folder: Path) -> dict[str, str]:
    """The arguments of the spider, after writing its lists to files.

    Raises:
        OSError: a file cannot be written.
    """
    given = {"job": job, "strategy": request.strategy}
    if request.query:
        given["query"] = request.query
    if request.domains:
        given["domains"] = ",".join(request.domains)
    for name in ("enough", "max_pages", "max_time", "keep"):
        given[name] = str(getattr(request, name))
    for name in LISTS:
        if urls := getattr(request, name):
            file = folder / f"{job}.{name}"
            file.touch(mode=0o600)
            file.write_text("\n".join(urls), "utf-8")
            given[name] = f"@{file}"
    return given


def delete_lists(job: str, folder: Path) -> None:
    for name in LISTS:
        (folder / f"{job}.{name}").unlink(missing_ok=True)


def delete_old_lists(folder: Path, patience_seconds: float) -> None:
    """Delete lists left by a server that was killed: of searches that have read them, or never began."""
    for name in LISTS:
        for file in folder.glob(f"*.{name}"):
            with suppress(OSError):  # deleted meanwhile, or not ours
                is_read = file.with_suffix(".json").exists()
                if is_read or clock.age(file.stat()) > patience_seconds:
                    file.unlink(missing_ok=True)


PROJECT, SPIDER = "webcrawler", "realtime"
ANSWER_SECONDS = 5.0
START_SECONDS = 30.0  # for the first job of a project, for which Scrapyd lists the spiders
MAX_ANSWER_BYTES = 1_000_000
SILENT = "Scrapyd, which runs searches of the web, does not answer: try again later"
REFUSED = "Scrapyd, which runs searches of the web, refused it; the operator finds more in the log"
LOST = "Scrapyd ended the search before it began; the operator finds more in its log"


class Scrapyd:
    """Raises BadInput: SERVE_SCRAPYD is not a URL."""

    patience_seconds = 600.0  # other jobs of the Scrapyd may come first

    def __init__(self, config: Config) -> None:
        self._crawl_dir = config.crawl_dir.absolute()
        parts = urlsplit(config.scrapyd)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput("SERVE_SCRAPYD is not an address; write http://127.0.0.1:6800")
        self._url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._headers = {}
        if parts.username:
            credentials = base64.b64encode(f"{parts.username}:{parts.password or ''}".encode()).decode()
            self._headers["Authorization"] = f"Basic {credentials}"
        # not through the proxy of the environment, which is for crawls
        self._open = build_opener(ProxyHandler({})).open
        self._gone: set[str] = set()  # jobs that did not run when they were to be ended

    def start(self, job: str, arguments: Mapping[str, str]) -> None:
        """Raises NotNow: it does not answer, or refuses."""
        others = {name: value for name, value in arguments.items() if name != "job"}  # Scrapyd adds it
        fields = {"spider": SPIDER, "jobid": job, "setting": f"CRAWL_DIR={self._crawl_dir}", **others}
        self._ask("schedule", fields, START_SECONDS)

    def is_over(self, job: str) -> bool:
        """By its journal, and its lock, which a job that died does not hold."""
        found = journal.read(self._crawl_dir, job)
        if found is None:
            return job in self._gone
        return found["state"] == "finished" and not journal.is_alive(self._crawl_dir, job)

    def end(self, job: str, at_once: bool) -> None:
        """The second time ends it at once."""
        with suppress(NotNow):  # it is in the log, and the search ends by its own limits
            if self._ask("cancel", {"job": job}, ANSWER_SECONDS).get("prevstate") != "running":
                self._gone.add(job)

    def complaint(self, job: str) -> str:
        return LOST

    def forget(self, job: str) -> None:
        self._gone.discard(job)

    def _ask(self, what: str, fields: Mapping[str, str], seconds: float) -> dict[str, Any]:
        form = urlencode({"project": PROJECT, **fields}).encode()
        request = Request(f"{self._url}/{what}.json", form, headers=self._headers)
        try:
            with self._open(request, timeout=seconds) as answer:
                found = json.loads(answer.read(MAX_ANSWER_BYTES))
        except HTTPError as error:
            log_fault(f"Scrapyd: {what}: {error}")
            raise NotNow(REFUSED) from None
        except (OSError, ValueError) as error:
            log_fault(f"Scrapyd: {what}: {error}")
            raise NotNow(SILENT) from None
        if not isinstance(found, dict) or found.get("status") != "ok":
            log_fault(f"Scrapyd: {what}: {str(found)[:500]}")
            raise NotNow(REFUSED)
        return found
