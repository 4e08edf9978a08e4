"""/status: is a crawl running, how fast, what waits, what holds it back; as a page and as JSON.

/status/pages: the first URLs that are broken, or in another state, and which pages link to them.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler import clock, connection, metrics
from webcrawler.archive.catalog import Catalog
from webcrawler.background import is_held
from webcrawler.errors import BadInput, Unavailable, WebcrawlerError
from webcrawler.frontier import Frontier, Standing, bottleneck, ordering, standing
from webcrawler.index import applied_seq, indexed_documents
from webcrawler.web.config import Config
from webcrawler.web.live import LivePages
from webcrawler.web.parameters import read
from webcrawler.web.render import json_answer, page

LEAST_SECONDS = 1.0  # between two readings
SHARE = 10  # a slow reading is followed by a pause this many times as long
REDIS_SECONDS = 1.0  # that Redis may take to answer
LATELY_SECONDS = 10
SERVERS = 20
PARTS = ("redis", "pages", "index", "anchors", "ranks", "vocabulary", "feedback")
PROCESSES = {"crawl": "crawls.lock", "views": "views.lock"}
NOT_HERE = "its Redis does not run"
SILENT = "Redis does not answer now"
SLOWEST_REFRESH = 3_600
LISTED, LINKS = 100, 3
BUSY = "others are asking for such a list: try again in a moment"


Overview = dict[str, Any]  # the keys of /api/status; what is unknown is None or empty


class Overviews:
    """Never starts a Redis, and waits a second for one at most. All who ask share the newest overview."""

    def __init__(self, config: Config) -> None:
        self._config, self._crawl_dir = config, config.crawl_dir
        self._threads = ThreadPoolExecutor(2, "status")  # one may wait for Redis
        self._lock = asyncio.Lock()
        self._asked: asyncio.Future[tuple[Standing | None, str]] | None = None
        self._newest: Overview | None = None
        self._good_until = 0.0

    async def newest(self) -> Overview:
        async with self._lock:
            if self._newest is None or time.monotonic() >= self._good_until:
                began = time.monotonic()
                frontier, unknown = await self._standing()
                loop = asyncio.get_running_loop()
                self._newest = await loop.run_in_executor(self._threads, self._read, frontier, unknown)
                now = time.monotonic()
                self._good_until = now + max(LEAST_SECONDS, SHARE * (now - began))
            return self._newest

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _standing(self) -> tuple[Standing | None, str]:
        """The state of the frontier, or why it is unknown; one question to Redis at a time."""
        loop = asyncio.get_running_loop()
        self._asked = self._asked or loop.run_in_executor(self._threads, self._read_frontier)
        if not (await asyncio.wait([self._asked], timeout=REDIS_SECONDS))[0]:
            return None, SILENT
        asked, self._asked = self._asked, None
        return asked.result()

    def _read_frontier(self) -> tuple[Standing | None, str]:
        where = {"REDIS_URL": self._config.redis_url, "CRAWL_DIR": str(self._crawl_dir)}
        try:
            with connection.visit(where) as visited:
                frontier = Frontier(visited.client, ordering("fifo"), self._config.frontier)
                return standing(frontier, SERVERS), ""
        except (BadInput, Unavailable):
            return None, NOT_HERE

    def _read(self, frontier: Standing | None, unknown: str) -> Overview:
        crawl_dir, path, now = self._crawl_dir, self._crawl_dir / "catalog.sqlite", clock.now()
        processes = {name: is_held(crawl_dir / lock) for name, lock in PROCESSES.items()}
        if self._config.frontier != "index":  # spiders of others hold no lock of a data folder
            processes["crawl"] = bool(frontier and frontier.workers)
        gauges = metrics.gauges(crawl_dir)
        held_back = bottleneck(processes["crawl"], frontier, unknown, gauges)
        documents, per_second, outcomes, lag, wrong = 0, None, dict[str, int](), None, ""
        try:
            with closing(Catalog(path, readonly=True)) as catalog:
                documents = catalog.count_documents()
                per_second = catalog.fetches.documents_since(now - LATELY_SECONDS) / LATELY_SECONDS
                outcomes = {} if frontier else catalog.fetches.outcomes()
                if (crawl_dir / "index").exists():
                    lag = max(0, catalog.last_seq() - applied_seq(crawl_dir / "index"))
        except WebcrawlerError:
            wrong = "unreadable" if path.exists() else "nothing was crawled yet"
        return {
            "time": now,
            "crawling": processes["crawl"],
            "held_back": held_back.sentence,
            "held_back_by": held_back.cause,
            "documents": documents,
            "per_second": per_second,
            "frontier": asdict(frontier) if frontier else None,
            "frontier_unknown": unknown,
            "outcomes": outcomes,
            "indexed": indexed_documents(crawl_dir / "index"),
            "index_lag": lag,
            "sizes": _sizes(crawl_dir),
            "free_bytes": shutil.disk_usage(crawl_dir).free if crawl_dir.exists() else 0,
            "catalog_unknown": wrong,
            "processes": processes,
            "figures": gauges,
        }


def _sizes(crawl_dir: Path) -> dict[str, int]:
    """Bytes by part of the data folder; the catalog with its log."""
    parts = {name: (crawl_dir / name).rglob("*") for name in PARTS}
    parts["catalog"] = crawl_dir.glob("catalog.sqlite*")
    sizes = {name: sum(map(_size, paths)) for name, paths in parts.items()}
    return {name: size for name, size in sizes.items() if size}


def _size(path: Path) -> int:
    with suppress(OSError):  # gone meanwhile
        return path.stat().st_size if path.is_file() else 0
    return 0


def routes(overviews: Overviews, live: LivePages, catalog: Path) -> list[Route]:
    turn = asyncio.Lock()  # one at a time: all URLs are read where few are in a state

    async def status(request: Request) -> Response:
        refresh = read(request).whole("refresh", 0, 0, SLOWEST_REFRESH)
        overview, agents = await overviews.newest(), await live.agents(request)
        answer = page(request, "status.html", now=overview, refresh=refresh, agents=agents)
        answer.headers["Cache-Control"] = "no-store"
        return answer

    async def api(request: Request) -> Response:
        return json_answer(await overviews.newest(), cache="no-store")

    async def pages(request: Request) -> Response:
        state = read(request).one("state") or "broken"
        if turn.locked():
            raise HTTPException(503, BUSY, {"Retry-After": "2"})
        async with turn:
            found = await asyncio.to_thread(_listed, catalog, state)
        return page(request, "pages.html", state=state, found=found[:LISTED], are_all=len(found) <= LISTED)

    return [Route("/status", status), Route("/api/status", api), Route("/status/pages", pages)]


def _listed(path: Path, state: str) -> list[dict[str, object]]:
    """One more than are shown, where there are more."""
    try:
        catalog = Catalog(path, readonly=True)
    except BadInput as error:  # no fault of the visitor
        if not path.exists():
            return []
        raise Unavailable(str(error)) from error
    with closing(catalog):
        return list(islice(catalog.listed(state, LINKS, to_visitors=True), LISTED + 1))
