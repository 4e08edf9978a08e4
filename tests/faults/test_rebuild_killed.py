"""kill -9 amid `webcrawler frontier rebuild`: nobody crawls what is there; the next rebuild ends as ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from crawled import crawled, fetched, link
from localweb import crawl, scrapy
from waiting import until

from webcrawler.connection import Connection, connect
from webcrawler.frontier import Frontier, inspect, ordering

pytestmark = [pytest.mark.faults, pytest.mark.deep("test_rebuild.py ends a rebuild half way")]
PAGES = 20_000


def url_of(n: int) -> str:
    return f"http://{n % 50}.test/{n}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of many pages; as many URLs were not fetched."""
    pages = [fetched(url_of(n), link(url_of(n + 1)), link(url_of(PAGES + n))) for n in range(PAGES)]
    return crawled(tmp_path_factory.mktemp("crawl"), *pages)


@pytest.fixture
def redis(folder: Path) -> Iterator[Connection]:
    """Stays when the rebuild is killed."""
    with connect(None, folder) as connection:
        connection.client.flushall()
        yield connection


def states(connection: Connection) -> dict[str, Any]:
    with closing(connection.new_client()) as client:
        return inspect.stats(Frontier(client, ordering("fifo")))


@pytest.mark.parametrize(("state", "number"), [("seen", 1_000), ("seen", 30_000), ("done", 5_000)])
def test_it_ends_the_same(folder: Path, redis: Connection, state: str, number: int) -> None:
    process = scrapy("frontier", "rebuild", folder=folder)
    until(lambda: states(redis)[state] >= number, f"{number} {state}", process)
    process.kill()
    process.communicate()
    cut = states(redis)
    assert cut["done"] < PAGES
    refused = crawl(folder, "index")
    assert (refused.status, "`webcrawler frontier rebuild` was interrupted" in refused.log) == (2, True)

    whole = scrapy("frontier", "rebuild", folder=folder)
    whole.communicate()

    assert whole.returncode == 0
    found = states(redis)
    assert (found["seen"], found["queued"], found["done"]) == (2 * PAGES, PAGES, PAGES)
    order = inspect.peek(Frontier(redis.client, ordering("fifo")), 100)
    assert order == [url_of(PAGES + n) for n in range(100)]
