"""Several workers on one crawl share its frontier: nobody does again what another has done."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from localweb import Answer, Crawled, Site, crawl, page

from webcrawler.connection import connect
from webcrawler.frontier import Frontier, inspect, ordering

WORKERS = ("ann", "bob")  # by their User-Agent
SITES, PAGES = 6, 15
PATIENCE_SECONDS = 30.0


class SharedWeb:
    """Sites whose front pages are answered when every worker has asked for one."""

    def __init__(self) -> None:
        self._complete = threading.Event()
        inner = {f"/{n}": page("/", f"/{(n + 1) % PAGES}", "/gone") for n in range(PAGES)}
        self.sites = [Site({"/": self._front_page, **inner}).start() for _ in range(SITES)]
        self.fronts = [f"{site.url}/" for site in self.sites]

    def fetched(self) -> Counter[tuple[str, str]]:
        """How often each worker asked for each URL; robots.txt is left out."""
        return Counter(
            (request.headers["User-Agent"], site.url + request.path)
            for site in self.sites
            for request in site.received
            if request.path != "/robots.txt"
        )

    def _front_page(self, site: Site) -> Answer:
        if {worker for worker, _ in self.fetched()} == set(WORKERS):
            self._complete.set()
        self._complete.wait(PATIENCE_SECONDS)
        return page(*self.fronts, *(f"/{number}" for number in range(PAGES)))

    def close(self) -> None:
        for site in self.sites:
            site.stop()


@pytest.mark.slow
def test_two_workers_on_one_redis_and_one_data_folder_fetch_no_url_twice(tmp_path: Path) -> None:
    options = {"CONCURRENT_REQUESTS": 2, "FRONTIER_SERVER_CONCURRENCY": 9, "process": "one of two workers"}
    options["BUDGET_REPEATS"] = 0  # the pages repeat each other: no server is to be asked for one more
    options["REDIS_URL"] = f"unix://{tmp_path}/redis/redis.sock"

    def work(worker: str) -> Crawled:
        seeds = "seeds=" + ",".join(web.fronts)
        return crawl(tmp_path / "crawl", "index", "-a", seeds, USER_AGENT=worker, **options)

    with connect(None, tmp_path) as connection, closing(SharedWeb()) as web:
        with ThreadPoolExecutor(len(WORKERS)) as pool:
            crawls = list(pool.map(work, WORKERS))

        assert [each.status for each in crawls] == [0, 0], crawls[0].log + crawls[1].log
        fetched = web.fetched()
        everywhere = {f"{site.url}/{path}" for site in web.sites for path in ("", "gone", *range(PAGES))}
        assert {url for _, url in fetched} == everywhere
        assert sum(fetched.values()) == len(everywhere), "a URL was fetched twice"
        assert {worker for worker, _ in fetched} == set(WORKERS)
        assert crawls[0].documents() == {url for url in everywhere if not url.endswith("/gone")}
        states = inspect.stats(Frontier(connection.client, ordering("breadth")))
        assert states["seen"] == states["done"] + states["failed"] == len(everywhere)
