"""The docweb that is served, what is true of it, and crawls of it in processes of their own."""

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import localweb
import pytest
from testdata import absent
from warcio.archiveiterator import ArchiveIterator

from webcrawler.urls import canonical
from webcrawler.urls._outlink import DOCUMENTS, UNINDEXABLE

from .truth import SEED, Truth

PROJECT = Path(__file__).parents[2]
SETTINGS = {"PROTOCOLS": "http", "FRONTIER_DELAY": "0", "CRAWL_DELAY_MAX": "0", "FRONTIER_BACKOFF": "0.2"}
SETTINGS |= {"DOCUMENT_TYPES": ""}  # the truth is worked out from the HTML alone
# For crawls that are compared in the order of their pages alone.
WITHOUT_INDEX = ("-s", f"ITEM_PIPELINES={localweb.WITHOUT_INDEX}", "-s", "RANKER_ENABLED=no")


class Docweb(NamedTuple):
    """Its proxy and its folder."""

    proxy: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """For a crawl of it; settings of the developer's own do not count."""
        ours = {"CRAWL_DIR", "REDIS_URL", "LOG_LEVEL", "no_proxy", "NO_PROXY", "HTTP_PROXY"}
        kept = {k: v for k, v in os.environ.items() if k not in ours and not k.startswith("FRONTIER_")}
        return kept | SETTINGS | {"http_proxy": self.proxy}


@dataclass
class Crawled:
    """What stands in a data folder after a crawl."""

    docweb: Docweb
    folder: Path  # CRAWL_DIR
    pages: Path  # the feed

    def scrapy(self, *arguments: str) -> str:
        """The output of a command."""
        command = [sys.executable, "-m", "scrapy", *arguments]
        environment = self.docweb.environment | {"CRAWL_DIR": str(self.folder)}
        done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.scrapy(*arguments, "--json"))

    @cached_property
    def items(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.pages.read_text("utf-8").splitlines()]

    @cached_property
    def states(self) -> dict[str, Any]:
        """The frontier's table of states."""
        return self.json("frontier", "stats")

    @cached_property
    def fetches(self) -> dict[str, list[tuple[str, bool]]]:
        """The history of each URL, oldest first: (reason, worth another try)."""
        history: dict[str, list[tuple[str, bool]]] = {}
        for number, reason, retry in self._query(
            "SELECT number, reason, retry FROM fetches ORDER BY fetched"
        ):
            history.setdefault(self._urls[number], []).append((reason, bool(retry)))
        return history

    @cached_property
    def documents(self) -> dict[str, bool]:
        """Canonical URL -> is it a duplicate?"""
        rows = self._query("SELECT number, duplicate_of IS NOT NULL FROM documents")
        return {self._urls[number]: bool(is_duplicate) for number, is_duplicate in rows}

    def edges(self, of_redirects: bool) -> set[tuple[str, str]]:
        rows = self._query("SELECT source, target FROM links WHERE (rel = 'redirect') = ?", of_redirects)
        return {(self._urls[source], self._urls[target]) for source, target in rows}

    @cached_property
    def answered(self) -> Counter[str]:
        """How many WARC records with a server's answer each URL has."""
        count: Counter[str] = Counter()
        for path in (self.folder / "pages").glob("*.warc.gz"):
            with path.open("rb") as file:
                for record in ArchiveIterator(file):
                    if record.rec_type in ("response", "revisit"):
                        count[canonical(record.rec_headers.get_header("WARC-Target-URI"))] += 1
        return count

    @cached_property
    def _urls(self) -> dict[int, str]:
        """By page number."""
        return dict(
            self._query("SELECT u.number, s.name || u.path FROM urls u JOIN servers s ON s.number = u.server")
        )

    def _query(self, sql: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self.folder}/catalog.sqlite?mode=ro", uri=True)) as catalog:
            return catalog.execute(sql, values).fetchall()


@pytest.fixture(scope="session")
def docweb() -> Docweb:
    folder = os.environ.get("DOCWEB_DIR", "")
    if not (Path(folder) / "web.json").is_file() or not folder:
        absent("DOCWEB_DIR names no folder that docweb.py has built")
    docweb = Docweb(os.environ.get("DOCWEB_PROXY", "http://127.0.0.1:8800"), Path(folder).absolute())
    try:
        build_opener(ProxyHandler({"http": docweb.proxy})).open(SEED, timeout=5).close()
    except (URLError, OSError) as error:
        absent(f"docweb is not served at DOCWEB_PROXY={docweb.proxy}: {error}")
    return docweb


@pytest.fixture(scope="session")
def truth(docweb: Docweb) -> Truth:
    return Truth(docweb.folder, UNINDEXABLE | DOCUMENTS)


@pytest.fixture(scope="session")
def crawl(docweb: Docweb, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Crawled]:
    """Crawls docweb into a new folder, or goes on in one."""

    def run(mode: str, *arguments: str, into: Path | None = None) -> Crawled:
        folder = into or tmp_path_factory.mktemp(mode)
        crawled = Crawled(docweb, folder / "crawl", folder / "pages.jsonl")
        asked = ["-a", f"mode={mode}", "-a", f"seeds={SEED}", "-O", str(crawled.pages), *arguments]
        crawled.scrapy("crawl", "index", *asked)
        return crawled

    return run
