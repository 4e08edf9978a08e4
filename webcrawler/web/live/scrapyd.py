"""Searches of the web as jobs of a Scrapyd, which has access to the same CRAWL_DIR under the same path."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from webcrawler.errors import BadInput
from webcrawler.realtime import journal
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow, log_fault

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
