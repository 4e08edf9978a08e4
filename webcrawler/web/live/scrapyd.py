"""Searches of the web as jobs of a Scrapyd, which has to have access to the same CRAWL_DIR."""

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

from webcrawler.errors import BadInput
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow, log_fault

SPIDER = "realtime"
ANSWER_SECONDS = 5.0
LOOK_SECONDS = 2.0  # between two questions about a job
GONE = 2  # answers in a row that list it neither as pending nor as running: one may fall between the two
MAX_ANSWER_BYTES = 1_000_000
SILENT = "Scrapyd, which runs searches of the web, does not answer: try again later"
REFUSED = "Scrapyd, which runs searches of the web, refused it; the operator finds more in the log"
LOST = "Scrapyd ended the search before it began; the operator finds more in its log"


class Scrapyd:
    """Raises BadInput: SERVE_SCRAPYD is not a URL."""

    patience_seconds = 600.0  # other jobs of the Scrapyd may come first

    def __init__(self, config: Config) -> None:
        self._crawl_dir = str(config.crawl_dir.absolute())
        self._project = config.scrapyd_project
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
        self._seen: dict[str, tuple[float, int]] = {}  # when a job was asked about, and misses in a row

    def start(self, job: str, arguments: Mapping[str, str]) -> None:
        """Raises NotNow: it does not answer, or refuses."""
        others = {name: value for name, value in arguments.items() if name != "job"}  # Scrapyd adds it
        setting = f"CRAWL_DIR={self._crawl_dir}"
        self._ask("schedule", {"spider": SPIDER, "jobid": job, "setting": setting, **others})

    def is_over(self, job: str) -> bool:
        """By the lists of other jobs: that of finished ones is short, and lacks jobs cancelled early."""
        asked, missed = self._seen.get(job, (-LOOK_SECONDS, 0))
        if missed < GONE and time.monotonic() - asked >= LOOK_SECONDS:
            with suppress(NotNow):  # unknown: nothing changes
                found = self._ask("listjobs", {}, post=False)
                listed = [*found.get("pending", []), *found.get("running", [])]
                missed = 0 if any(one["id"] == job for one in listed) else missed + 1
            self._seen[job] = time.monotonic(), missed
        return missed >= GONE

    def end(self, job: str, at_once: bool) -> None:
        """The second time ends it at once."""
        with suppress(NotNow):  # it is in the log, and the search ends by its own limits
            self._ask("cancel", {"job": job})

    def complaint(self, job: str) -> str:
        return LOST

    def forget(self, job: str) -> None:
        self._seen.pop(job, None)

    def _ask(self, what: str, fields: Mapping[str, str], post: bool = True) -> dict[str, Any]:
        form = urlencode({"project": self._project, **fields})
        url = f"{self._url}/{what}.json"
        if post:
            request = Request(url, form.encode(), headers=self._headers)
        else:
            request = Request(f"{url}?{form}", headers=self._headers)
        try:
            with self._open(request, timeout=ANSWER_SECONDS) as answer:
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
