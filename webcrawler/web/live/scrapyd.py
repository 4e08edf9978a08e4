"""Searches of the web as jobs of Scrapyds.

They have access to the same CRAWL_DIR, or each has its own, and the searches report to this server.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from webcrawler import pace
from webcrawler.errors import BadInput
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow, log_fault

SPIDER = "realtime"
ANSWER_SECONDS = 5.0
START_SECONDS = 30.0  # for the first job of a project, for which Scrapyd lists the spiders
GONE = 2  # answers in a row that list it neither as pending nor as running: one may fall between the two
MAX_ANSWER_BYTES = 1_000_000
SILENT = "Scrapyd, which runs searches of the web, does not answer: try again later"
REFUSED = "Scrapyd, which runs searches of the web, refused it; the operator finds more in the log"
LOST = "Scrapyd ended the search before it began; the operator finds more in its log"


class Scrapyds:
    """Several machines: each search is given to the one that has the fewest jobs.

    Raises:
        BadInput: an address of SERVE_SCRAPYD is not a URL.
    """

    patience_seconds = 600.0  # other jobs of the Scrapyd may come first

    def __init__(self, config: Config) -> None:
        self.has_own_folder = config.scrapyd_folder == "own"
        self._machines = [Scrapyd(url, config) for url in config.scrapyd]
        self._of: dict[str, Scrapyd] = {}

    def start(self, job: str, arguments: Mapping[str, str]) -> None:
        """A search that is resumed goes on where its folder is.

        Raises:
            NotNow: no machine answers, or all refuse.
        """
        if job in self._of:
            return self._of[job].start(job, arguments)
        refused = NotNow(SILENT)
        for machine in self._by_load():
            try:
                machine.start(job, arguments)
            except NotNow as error:
                refused = error
            else:
                self._of[job] = machine
                return
        raise refused

    def _by_load(self) -> list[Scrapyd]:
        """Those that answer, the one with the fewest jobs first."""
        if len(self._machines) == 1:
            return self._machines
        loads = [machine.load() for machine in self._machines]
        known = [place for place, load in enumerate(loads) if load is not None]
        return [self._machines[place] for place in sorted(known, key=lambda place: loads[place] or 0)]

    def is_over(self, job: str) -> bool:
        return job not in self._of or self._of[job].is_over(job)

    def end(self, job: str, at_once: bool) -> None:
        """The second time ends it at once."""
        if job in self._of:
            self._of[job].end(job)

    def complaint(self, job: str) -> str:
        return LOST

    def forget(self, job: str) -> None:
        if machine := self._of.pop(job, None):
            machine.forget(job)


class Scrapyd:
    """One of them. Raises BadInput: its URL is not valid."""

    def __init__(self, url: str, config: Config) -> None:
        own = config.scrapyd_folder == "own"
        self._settings = {} if own else {"setting": f"CRAWL_DIR={config.crawl_dir.absolute()}"}
        self._project = config.scrapyd_project
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput("SERVE_SCRAPYD is not an address, or several; write http://127.0.0.1:6800")
        self._url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._headers = {}
        if parts.username:
            credentials = base64.b64encode(f"{parts.username}:{parts.password or ''}".encode()).decode()
            self._headers["Authorization"] = f"Basic {credentials}"
        # not through the proxy of the environment, which is for crawls
        self._open = build_opener(ProxyHandler({})).open
        self._seen: dict[str, tuple[float, int]] = {}  # when a job was asked about, and misses in a row

    def start(self, job: str, arguments: Mapping[str, str]) -> None:
        """Raises NotNow: it does not answer, or refuses."""
        others = {name: value for name, value in arguments.items() if name != "job"}  # Scrapyd adds it
        fields = {"spider": SPIDER, "jobid": job, **self._settings, **others}
        self._ask("schedule", fields, seconds=START_SECONDS)
        self._seen.pop(job, None)  # of an earlier run

    def load(self) -> int | None:
        """Jobs that run or wait; None where it does not answer."""
        try:
            found = self._ask("daemonstatus", {}, post=False)
            return int(found["running"]) + int(found["pending"])
        except (NotNow, KeyError, TypeError, ValueError):
            return None

    def is_over(self, job: str) -> bool:
        """By the lists of other jobs: that of finished ones is short, and lacks jobs cancelled early."""
        asked, missed = self._seen.get(job, (-pace.SCRAPYD_LOOK_SECONDS, 0))
        if missed < GONE and time.monotonic() - asked >= pace.SCRAPYD_LOOK_SECONDS:
            with suppress(NotNow):  # unknown: nothing changes
                found = self._ask("listjobs", {}, post=False)
                listed = [*found.get("pending", []), *found.get("running", [])]
                missed = 0 if any(one["id"] == job for one in listed) else missed + 1
            self._seen[job] = time.monotonic(), missed
        return missed >= GONE

    def end(self, job: str) -> None:
        with suppress(NotNow):  # it is in the log, and the search ends by its own limits
            self._ask("cancel", {"job": job})

    def forget(self, job: str) -> None:
        self._seen.pop(job, None)

    def _ask(
        self, what: str, fields: Mapping[str, str], post: bool = True, seconds: float = ANSWER_SECONDS
    ) -> dict[str, Any]:
        form = urlencode({"project": self._project, **fields})
        url = f"{self._url}/{what}.json"
        if post:
            request = Request(url, form.encode(), headers=self._headers)
        else:
            request = Request(f"{url}?{form}", headers=self._headers)
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
