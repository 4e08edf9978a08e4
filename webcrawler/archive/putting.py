"""Puts WARC files elsewhere once nobody writes them any more: a view, for which no page waits (`PAGES_URL`).

Where PAGES_KEEP is no, a file goes from here once the store has it and the list says so.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import is_complete, listed, put
from webcrawler.errors import WebcrawlerError
from webcrawler.files import sync_folder
from webcrawler.scope import read_begun
from webcrawler.settings import is_yes

TRIES = 10  # in vain, some minutes: then what waits is left to the views of the next crawl
_log = logging.getLogger(__name__)


class Putting:
    """A thread of its own puts files, one after the other, as a large one may take minutes."""

    def __init__(self, catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> None:
        self._folder = crawl_dir / "pages"
        self._address = _address(crawl_dir, str(settings["PAGES_URL"]).rstrip("/"), catalog)
        keeps = settings.get("PAGES_KEEP")
        self._keeps = keeps is None or is_yes(keeps)
        self._thread = ThreadPoolExecutor(1, "putting")
        self._work: Future[None] | None = None
        self._failures, self._not_before, self._warned = 0, 0.0, ""

    def step(self, crawling: bool) -> bool:
        if self._work and self._work.done():
            self._end(self._work)
            self._work = None
        now = time.monotonic()
        if not self._work and now >= self._not_before:
            self._not_before = now + clock.WATCH_SECONDS
            if waiting := self._waiting():
                self._work = self._thread.submit(self._put, waiting)
        return False

    def is_behind(self) -> bool:
        return bool(self._work) or (self._failures < TRIES and bool(self._waiting()))

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _waiting(self) -> list[str]:
        """What is here, complete, and either not there or not to stay here."""
        there = listed(self._folder).get(self._address, {})
        return [
            path.name
            for path in sorted(self._folder.glob("*.warc.gz"))
            if not (self._keeps and path.name in there) and is_complete(path)
        ]

    def _put(self, waiting: list[str]) -> None:
        """Runs in the thread."""
        for name in waiting:
            sys.audit("webcrawler.elsewhere.before-put")
            put(self._folder, name, self._address)
            sys.audit("webcrawler.elsewhere.put")
            if not self._keeps:
                (self._folder / name).unlink()
                sync_folder(self._folder)
                sys.audit("webcrawler.elsewhere.only-there")

    def _end(self, work: Future[None]) -> None:
        """Raises what is no fault of the store or the disk."""
        try:
            work.result()
            self._failures, self._warned = 0, ""
        except (WebcrawlerError, OSError) as error:
            self._failures = min(self._failures + 1, TRIES)
            self._not_before = time.monotonic() + clock.PUTTING_RETRY_SECONDS * self._failures
            if str(error) != self._warned:
                _log.warning("pages stay here for now, and are put elsewhere later: %s", error)
            self._warned = str(error)


def _address(crawl_dir: Path, url: str, catalog: Catalog) -> str:
    """Where the files of this data folder go: below PAGES_URL, by its name, also with another catalog."""
    url = url if "://" in url else str(Path(url).absolute())
    for address in listed(crawl_dir / "pages"):
        if address.rpartition("/")[0] == url:
            return address
    begun = read_begun(crawl_dir)
    return f"{url}/{(begun and begun.folder) or catalog.identity}"
