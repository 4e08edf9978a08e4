"""May I fetch this? robots.txt by RFC 9309, one question a server, the answer shared in Redis.

Ours, as that of Scrapy 2.19 lets disallowed pages through when several wait for one robots.txt, and takes
an unreachable one for "allow all", where RFC 9309 2.3.1.4 says "complete disallow".
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Response

from webcrawler import urls
from webcrawler.errors import BadUrl
from webcrawler.extensions import Crawl
from webcrawler.middlewares.refused import Refused
from webcrawler.middlewares.robotscache import BODY_MAX, Robots, RobotsCache
from webcrawler.settings import is_yes

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
T = TypeVar("T")

REDIRECTS_MAX = 5  # RFC 9309 2.3.1.2: at least five
DOWNLOAD_MAX = 64 * 2**20  # bytes, also when inflated; the download is stopped long before
SERVERS_MAX = 10_000  # kept in this process; the others are in Redis


class RobotsMiddleware:
    """Asks for robots.txt before the first page of a server; pages that wait for it share one answer."""

    def __init__(self, crawl: Crawl, user_agent: str) -> None:
        self._crawl, self._user_agent = crawl, user_agent
        self._asked: dict[str, asyncio.Task[Robots]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        if not is_yes(crawler.settings["ROBOTSTXT_OBEY"]):
            raise NotConfigured
        robots = cls(Crawl.of(crawler), crawler.settings["USER_AGENT"])
        crawler.signals.connect(robots.stop_when_long_enough, signals.bytes_received)
        return robots

    def stop_when_long_enough(self, data: bytes, request: Request) -> None:
        """What is over the part that is read (RFC 9309 2.5) is not downloaded."""
        if "robots" in request.meta:
            request.meta["robots"] += len(data)
            if request.meta["robots"] > BODY_MAX:
                raise StopDownload(fail=False)

    async def process_request(self, request: Request) -> None:
        if "robots" in request.meta:
            return
        robots = await self._robots(urls.server(request.url))
        if robots.rules is None and self._crawl.is_refused_host(request.url):
            raise Refused("address-refused")
        if robots.rules is None:
            raise Refused("robots-unreachable", retry=not robots.settled)
        if not robots.rules.allowed(request.url, self._user_agent):
            raise Refused("robots-disallowed")

    async def _robots(self, server: str) -> Robots:
        task = self._asked.get(server)
        if task is None or (task.done() and (task.exception() or task.result().is_old)):
            if len(self._asked) > SERVERS_MAX:
                self._asked = {name: task for name, task in self._asked.items() if not task.done()}
            task = self._asked[server] = asyncio.ensure_future(self._ask(server))
        return await asyncio.shield(task)

    async def _ask(self, server: str) -> Robots:
        """From Redis, else from the server."""
        frontier = self._crawl.frontier
        polite = frontier.politeness
        cache = RobotsCache(frontier.client, frontier.base, polite.tries)
        known = await self._insist(cache.get, server)
        if known is not None and not known.is_old:
            return known
        status, body = await self._download(server)
        failures = known.failures if known else 0
        robots = Robots.of(status, body, failures, polite.tries, polite.backoff)
        await self._insist(cache.put, server, robots)
        await self._insist(self._slow_down, server, robots)
        return robots

    def _slow_down(self, asked: str, robots: Robots) -> None:
        """Tells the frontier of a Crawl-delay, or when a server that was not reached may be asked again."""
        server = urls.server(urls.canonical(asked + "/"))  # as leases name it: without a root's dot
        if robots.rules is not None:
            crawl_delay = robots.rules.crawl_delay(self._user_agent) or 0.0
            self._crawl.frontier.postpone(server, 0.0, crawl_delay)
        elif not robots.settled:
            self._crawl.frontier.postpone(server, robots.until - time.time())

    async def _download(self, server: str) -> tuple[int | None, bytes]:
        """(status, body) after up to five redirects; (None, b"") when nothing was to be had."""
        url = server + "/robots.txt"
        for _ in range(REDIRECTS_MAX + 1):
            response = await self._get(url)
            if response is None:
                return None, b""
            location = response.headers.get("Location")
            if not (300 <= response.status < 400 and location):
                return response.status, response.body
            try:
                url = urls.resolve(location.decode("utf-8", "replace"), url)
            except BadUrl:
                break
        return 404, b""  # RFC 9309 2.3.1.2: too many redirects are as "unavailable": nothing is disallowed

    async def _get(self, url: str) -> Response | None:
        """Through the same middlewares as pages, so the same rules on addresses hold."""
        request = Request(
            url,
            meta={**self._crawl.request_meta, "robots": 0, "download_maxsize": DOWNLOAD_MAX},
            dont_filter=True,
        )
        try:
            return await self._crawl.crawler.engine.download_async(request)
        except Exception as error:
            logger.debug("no %s: %s", url, error)
            return None

    async def _insist(self, function: Callable[..., T], *arguments: object) -> T:
        """In a thread, again and again while Redis is away: that is no fault of the page."""
        while True:
            try:
                return await asyncio.to_thread(function, *arguments)
            except RedisError as error:
                if self._crawl.is_closing:
                    raise
                logger.warning("robots.txt waits for Redis: %s", error)
                await asyncio.sleep(0.5)
