"""Real crawls of docweb that look for a topic, each in a process and a data folder of its own."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from contenders import NOT_PASSED_ON, SEED
from processes import measure
from serving import ROOT

from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views
from webcrawler.evaluation.focused import RelevanceRules, Run, Topic, mode_of
from webcrawler.records import Text

AT_ONCE = 1000  # documents in memory
SETTINGS = {
    "PROTOCOLS": "http",
    "FRONTIER_DELAY": "0",
    "CRAWL_DELAY_MAX": "0",
    "FRONTIER_BACKOFF": "0.2",
    "FRONTIER_SERVER_CONCURRENCY": "8",
    "RANKER_ENABLED": "no",  # no strategy follows ranks
    "CRAWL_NICE": "0",
    "LOG_LEVEL": "WARNING",
}


class Lab(NamedTuple):
    """What all crawls have in common."""

    proxy: str
    pages: int  # documents of a crawl
    concurrency: int  # downloads at a time

    @property
    def settings(self) -> dict[str, str]:
        return SETTINGS | {"CONCURRENT_REQUESTS": str(self.concurrency)}


def crawled(lab: Lab, strategy: str, topics: Sequence[Topic], relevant: Mapping[str, int]) -> list[Run]:
    """Crawls for the first topic, and judges by the rule of each what was fetched, in the order of fetching.

    Several topics are for strategies that take no query.
    """
    with tempfile.TemporaryDirectory(prefix="focused-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        mode = mode_of(strategy, topics[0].query)
        asked = ["index", "-a", f"mode={mode}", "-a", f"seeds={SEED}", "-a", f"max_pages={lab.pages}"]
        seconds = _crawl(lab, asked, folder)
        with closing(Catalog(folder / "crawl/catalog.sqlite", readonly=True)) as catalog:
            order = fetched(catalog)[: lab.pages]
            found = judged(catalog, order, topics)
        tried = _tried(folder / "crawl/catalog.sqlite")
    return [
        Run(
            strategy=strategy,
            query=query,
            relevant=relevant[query],
            fetched=len(order),
            found=tuple(place for place, number in enumerate(order, 1) if number in numbers),
            tried=tried,
            seconds=round(seconds, 1),
        )
        for query, numbers in found.items()
    ]


def needs_query(strategy: str) -> bool:
    """Does a crawl depend on its topic?"""
    return mode_of(strategy, "query") != strategy


def whole(lab: Lab, folder: Path) -> Path:
    """Crawls all of docweb."""
    _crawl(lab, ["index", "-a", "mode=breadth", "-a", f"seeds={SEED}"], folder)
    return folder / "crawl"


def fetched(catalog: Catalog) -> list[int]:
    """The documents, duplicates included, in the order of fetching."""
    when = {
        number: document.fetched
        for start in range(1, catalog.urls.count() + 1, AT_ONCE)
        for number, document in catalog.documents(range(start, start + AT_ONCE)).items()
    }
    return sorted(when, key=when.__getitem__)


def _tried(file: Path) -> int:
    """URLs that were asked of a server, once each."""
    query = "SELECT count(DISTINCT number) FROM fetches WHERE status"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as catalog:
        return int(catalog.execute(query).fetchone()[0])


def judged(catalog: Catalog, numbers: Sequence[int], topics: Sequence[Topic]) -> dict[str, set[int]]:
    """The relevant ones of these documents by query."""
    return RelevanceRules(topics).relevant(_texts(catalog, numbers))


def _texts(catalog: Catalog, numbers: Sequence[int]) -> Iterator[tuple[int, Text]]:
    for start in range(0, len(numbers), AT_ONCE):
        yield from catalog.texts(numbers[start : start + AT_ONCE]).items()


def _crawl(lab: Lab, words: Sequence[str], folder: Path) -> float:
    """Seconds that it took; its index is left unfinished, as nobody asks for it."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
    environment = kept | lab.settings | {"http_proxy": lab.proxy, "CRAWL_DIR": str(folder / "crawl")}
    log = folder / "log"
    done = measure([sys.executable, "-m", "scrapy", "crawl", *words], environment, ROOT, log)
    if done.status:
        sys.exit(f"bench: {' '.join(words)} ended with {done.status}:\n{log.read_text()[-3000:]}")
    _end_views(folder / "crawl")
    return done.wall_seconds


def _end_views(crawl_dir: Path) -> None:
    """Not gently: what was made is thrown away, and on a busy machine its end would take minutes."""
    while (lock := Views(crawl_dir).lock()) is None:
        with suppress(ValueError, OSError):  # it has just taken the lock, or just ended
            process = int((crawl_dir / "views.lock").read_text())
            if str(crawl_dir).encode() in Path(f"/proc/{process}/cmdline").read_bytes():
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)
    lock.close()
