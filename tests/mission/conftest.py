"""What many rows look at: one crawl of a small town, made once, and a search of the web beyond it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from live import served
from localweb import Site, crawl, page
from test_shared_finds import TOKEN, taking

from webcrawler.realtime import journal
from webcrawler.realtime.journal import Journal
from webcrawler.web import make_app

from .town import EVERYTHING, WITHIN, Town, html, opened_town


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with opened_town(tmp_path_factory.mktemp("town")) as town:
        yield town


@pytest.fixture
def crawl_dir(town: Town, tmp_path: Path) -> Path:
    """A copy of what the crawl of the town has left, for one test."""
    return Path(shutil.copytree(town.folder, tmp_path / "town"))


@pytest.fixture
def endless() -> Iterator[Site]:
    """Pages on molecular biology, each with a link to the next one."""
    numbers = count()
    about = lambda _: html(f"Molecular biology {next(numbers)}", "genes", (f"/{next(numbers)}", "genes"))  # noqa: E731
    site = Site({"*": about, "/robots.txt": page()}).start()
    yield site
    site.stop()


class Searched(NamedTuple):
    """A search of the web, and the main index that it was told to share with."""

    folder: Path
    main: Path
    journal: Journal
    asked: list[str]  # of the server beyond the town, in order


@pytest.fixture(scope="session")
def searched(town: Town, tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """`webcrawler crawl realtime`, with what the town's index knows to begin with."""
    folder, main = (tmp_path_factory.mktemp(name) / "crawl" for name in ("searched", "main"))
    shutil.copytree(town.folder, folder)
    with served(make_app(taking(main, ADDRESSES_ALLOWED=WITHIN))) as (host, port):
        done = crawl(
            folder,
            *("realtime", "-a", "query=molecular biology", "-a", "strategy=webcrawler"),
            *("-a", "enough=3", "-a", "job=mission"),
            variables={"SHARE_URL": f"http://{host}:{port}", "SHARE_TOKEN": TOKEN},
            ADDRESSES_ALLOWED=WITHIN,
            CONCURRENT_REQUESTS=1,
            ITEM_PIPELINES=EVERYTHING,
            LOG_LEVEL="INFO",
        )
    found = journal.read(folder, "mission")
    assert found is not None, done.log
    return Searched(folder, main, found, town.beyond.pages)
