"""Documents that the cluster refuses: set aside in the data folder, shown by `webcrawler sink errors`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from webcrawler.clock import now
from webcrawler.files import replaced

FILE = "sink-errors.json"
MOST = 1_000  # that are listed, the newest


class Refused:
    """What was refused last of each URL. One process writes the file."""

    def __init__(self, crawl_dir: Path) -> None:
        self._path = crawl_dir / FILE
        self._known = read(crawl_dir)

    def add(self, url: str, index: str, why: str) -> None:
        self._known.pop(url, None)  # to the end
        self._known[url] = {"index": index, "why": why, "at": now()}
        self._store()

    def discard(self, written: Iterable[tuple[str, str]]) -> None:
        """These were written after all: pairs of a URL and an index."""
        gone = [url for url, index in written if self._known.get(url, {}).get("index") == index]
        for url in gone:
            del self._known[url]
        if gone:
            self._store()

    def _store(self) -> None:
        self._known = dict(list(self._known.items())[-MOST:])
        with replaced(self._path) as file:
            file.write(json.dumps(self._known).encode())


def read(crawl_dir: Path) -> dict[str, dict[str, Any]]:
    """By URL, why it was refused and when, the oldest first."""
    with suppress(FileNotFoundError, ValueError):
        found: dict[str, dict[str, Any]] = json.loads((crawl_dir / FILE).read_bytes())
        return found
    return {}
