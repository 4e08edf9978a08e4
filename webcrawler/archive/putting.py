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
from webcrawler.archive.pages import forget, is_complete, is_here, listed, missing, put, sweep
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
        self._is_checked = False  # does the store have what it once had?
        self._failures, self._not_before, self._warned = 0, 0.0, ""

    def step(self, crawling: bool) -> bool:
        if self._work and self._work.done():
            self._end(self._work)
            self._work = None
        now = time.monotonic()
        if not self._work and now >= self._not_before:
            self._not_before = now + clock.WATCH_SECONDS
            if (waiting := self._waiting()) or not self._is_checked:
                self._work = self._thread.submit(self._put, waiting)
        return False

    def is_behind(self) -> bool:
        if self._work:
            return True
        return self._failures < TRIES and (not self._is_checked or bool(self._waiting()))

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _waiting(self) -> list[str]:
        """What is here, complete, and either not there or not to stay here."""
        there = listed(self._folder).get(self._address, {})
        return [
            path.name
            for path in sorted(self._folder.glob("*.warc.gz"))
            if self._is_due(path, there) and is_complete(path)
        ]

    def _is_due(self, path: Path, there: Mapping[str, Any]) -> bool:
        copy = there.get(path.name)
        return not self._keeps or copy is None or copy.bytes != path.stat().st_size

    def _put(self, waiting: list[str]) -> None:
        """Runs in the thread."""
        if not self._is_checked:
            waiting = sorted({*waiting, *self._put_again()})
            self._is_checked = True
        for name in waiting:
            sys.audit("webcrawler.elsewhere.before-put")
            put(self._folder, name, self._address)
            sys.audit("webcrawler.elsewhere.put")
            if not self._keeps:
                (self._folder / name).unlink()
                sync_folder(self._folder)
                sys.audit("webcrawler.elsewhere.only-there")

    def _put_again(self) -> list[str]:
        """What the store has no more, or not whole, and is here."""
        if self._address not in listed(self._folder):
            return []
        sweep(self._address)
        lost = missing(self._folder, self._address)
        if again := [name for name in lost if is_here(self._folder, name)]:
            forget(self._folder, self._address, again)
        if len(lost) > len(again):
            _log.warning("%s lacks %d files: `webcrawler check`", self._address, len(lost) - len(again))
        return again

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
