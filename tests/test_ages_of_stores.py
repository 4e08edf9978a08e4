"""Parts of a data folder are of different age, as in copies: a crawl says so, and what it names mends it."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import redis
from inprocess import command
from localweb import Answer, Crawled, Site, crawl, page, sites

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import record_at
from webcrawler.connection import connect
from webcrawler.errors import Unavailable
from webcrawler.frontier import Frontier, ordering

pytestmark = pytest.mark.slow
SERVERS, PAGES = 8, 20
PARTS = ("catalog.sqlite", "catalog.sqlite-wal", "pages", "redis")
LOST, OLD_CATALOG = "Redis has lost", "the catalog of this data folder lacks"
OLD_PAGES = "records that the catalog knows"
QUICK = {"BATCH_SECONDS": 0.02, "BATCH_DOCUMENTS": 5}


class Web:
    """Servers of pages that each lead to two more. A data folder is copied after so many requests."""

    def __init__(self, opened: dict[str, Site]) -> None:
        self.servers = list(opened.values())
        self.copies: dict[int, tuple[Path, Path]] = {}  # by requests: from where to where
        self._asked, self._mutex = 0, threading.Lock()
        for site in self.servers:
            for n in range(PAGES):
                site.routes[f"/{n}"] = self._route(page(f"/{2 * n + 1}", f"/{2 * n + 2}"))

    def _route(self, answer: Answer) -> Any:
        def asked(_: Site) -> Answer:
            with self._mutex:
                self._asked += 1
                if copied := self.copies.pop(self._asked, None):
                    # Not by this process: to close a file would release the locks of SQLite on it.
                    subprocess.run(["cp", "-r", *map(str, copied)], check=True)
            return answer

        return asked

    @property
    def seeds(self) -> str:
        return "".join(f"{site.url}/0\n" for site in self.servers)

    @property
    def urls(self) -> set[str]:
        return {f"{site.url}/{n}" for site in self.servers for n in range(PAGES)}


class Copied(NamedTuple):
    """A data folder as it was copied early and late in its crawl."""

    web: Web
    early: Path
    late: Path


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copied]:
    folder, copies = tmp_path_factory.mktemp("crawled") / "crawl", tmp_path_factory.mktemp("copies")
    with sites(**{f"site{n}": {} for n in range(SERVERS)}) as opened:
        web = Web(opened)
        web.copies = {n: (folder, copies / name) for n, name in ((60, "early"), (110, "late"))}
        whole = crawl(folder, "index", "-a", f"seeds={web.seeds}", **QUICK)
        assert whole.documents() == web.urls, whole.log
        yield Copied(web, copies / "early", copies / "late")


def put_together(copied: Copied, to: Path, **ages: str) -> Path:
    """A data folder of which each part is "early", "late" or missing (""); what is not named is late."""
    shutil.copytree(copied.late, to, ignore=lambda *_: {*PARTS, "crawls.lock"})
    for part in PARTS:
        age = ages.get(part.rpartition("-")[2].partition(".")[0], "late")
        source = getattr(copied, age) / part if age else to / "nowhere"
        if source.is_dir():
            shutil.copytree(source, to / part, ignore=shutil.ignore_patterns("*.sock", "*.lock", "*.pid"))
        elif source.exists():
            shutil.copy(source, to / part)
    if (to / "redis").exists():
        with connect(None, to) as connected:  # else its worker counts as alive for some seconds
            Frontier(connected.client, ordering("fifo")).expire_dead(lambda worker: True)
    return to


def go_on(folder: Path) -> tuple[list[str], Crawled]:
    """Crawl, and do what is said, until there is nothing more to do; what was said, and the last crawl."""
    said: list[str] = []
    while True:
        crawled = crawl(folder, "index", **QUICK)
        commands = re.findall(r"`webcrawler ((?:frontier )?rebuild)`", crawled.log)
        if not commands:
            return said, crawled
        errors = [line for line in crawled.log.splitlines() if line.startswith("error: ")]
        assert (crawled.status, len(errors)) == (2, 1), (
            crawled.log
        )  # a slow machine may say what it waits for
        assert len(said) < 3, "what it says does not mend it"
        said.append(crawled.log)
        for one in commands:
            assert command(*one.split(), folder=folder).status == 0


def unreadable(folder: Path) -> list[str]:
    """Documents whose bodies are nowhere."""
    found = []
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        for document in catalog.documents([number for number, _ in catalog.urls.all()]).values():
            try:
                assert document.place and record_at(folder / "pages", document.place).response.body
            except (Unavailable, AssertionError):
                found.append(document.url)
    return found


@pytest.mark.parametrize(
    ("ages", "lacks"),
    [
        ({}, []),
        ({"redis": "early"}, []),
        ({"redis": ""}, [LOST]),
        ({"wal": ""}, [OLD_CATALOG]),
        ({"wal": "early"}, [OLD_CATALOG]),
        ({"catalog": "early", "wal": "early"}, [OLD_CATALOG]),
        ({"catalog": "", "wal": ""}, [OLD_CATALOG]),
        ({"pages": "early"}, [OLD_PAGES]),
        ({"pages": "early", "redis": "early"}, [OLD_PAGES]),
        ({"pages": "early", "redis": ""}, [LOST, OLD_PAGES]),
        ({"catalog": "early", "wal": "early", "pages": "early"}, [OLD_CATALOG]),
    ],
    ids=str,
)
def test_nothing_is_lost_by_what_the_crawl_says(
    copied: Copied, tmp_path: Path, ages: dict[str, str], lacks: list[str]
) -> None:
    folder = put_together(copied, tmp_path / "crawl", **ages)

    said, crawled = go_on(folder)

    assert crawled.status == 0, crawled.log
    assert [lacking in one for lacking, one in zip(lacks, said, strict=True)] == [True] * len(lacks)
    assert crawled.documents() == copied.web.urls
    assert unreadable(folder) == []


def whole(folder: Path) -> Path:
    """The catalog without a log beside it, which who has read it last leaves there."""
    path = folder / "catalog.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def test_folders_that_share_a_frontier_fill_it_together(
    copied: Copied, tmp_path: Path, client: redis.Redis
) -> None:
    """What the older one of two catalogs lacks is fetched again, and nothing that the other has."""
    client.flushall()
    shared = {"REDIS_URL": f"unix://{client.connection_pool.connection_kwargs['path']}", **QUICK}
    older, other = tmp_path / "older", tmp_path / "other"
    one, another = copied.web.servers[:2]
    crawl(older, "index", "-a", f"seeds={one.url}/0", "-a", "max_pages=5", **shared)
    early = shutil.copy(whole(older), tmp_path)
    crawl(older, "index", **shared)
    crawl(other, "index", "-a", f"seeds={another.url}/0", **shared)
    shutil.copy(early, whole(older))
    asked = len(another.asked)

    assert "the catalog of this data folder lacks" in crawl(older, "index", **shared).log
    assert command("frontier", "rebuild", folder=older, **shared).status == 0
    assert "for each data folder that shares" in crawl(older, "index", **shared).log
    assert command("frontier", "rebuild", folder=other, **shared).status == 0
    crawled = crawl(older, "index", **shared)

    assert crawled.status == 0, crawled.log
    assert crawled.documents() == {url for url in copied.web.urls if url.startswith(one.url)}
    assert len(another.asked) == asked

    assert command("frontier", "rebuild", folder=older, **shared).status == 0
    assert "with --alone if the others are gone" in crawl(older, "index", **shared).log
    assert command("frontier", "rebuild", "--alone", folder=older, **shared).status == 0
    assert crawl(older, "index", **shared).status == 0
    client.flushall()
