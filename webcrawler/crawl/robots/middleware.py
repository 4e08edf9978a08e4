"""May I fetch this? robots.txt by RFC 9309, one question a server, the answer shared in Redis.

Ours, as that of Scrapy 2.19 lets disallowed pages through when several wait for one robots.txt, and takes
an unreachable one for "allow all", where RFC 9309 2.3.1.4 says "complete disallow".
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from scrapy import Request, signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Response

from webcrawler import pace, urls
from webcrawler.connection import RedisError, is_passing
from webcrawler.crawl.base import Worker, is_crawl
from webcrawler.crawl.outages import is_ours
from webcrawler.crawl.responses import Refused, href_of
from webcrawler.crawl.robots.cache import BODY_MAX, Robots, RobotsCache, judge
from webcrawler.errors import BadUrl
from webcrawler.robots import robots_url
from webcrawler.settings import is_yes

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
T = TypeVar("T")

REDIRECTS_MAX = 5  # RFC 9309 2.3.1.2: at least five
DOWNLOAD_MAX = 64 * 2**20  # bytes, also when inflated; the download is stopped long before
SERVERS_MAX = 10_000  # kept in this process; the others are in Redis
RECALLED_SECONDS = 300.0  # until Redis is asked again, where `frontier again` may have removed it
RULES_MAX = 500_000  # kept in this process, about 100 MB


class RobotsMiddleware:
    """Asks for robots.txt before the first page of a server; pages that wait for it share one answer."""

    def __init__(self, crawl: Worker) -> None:
        crawler, settings = crawl.crawler, crawl.crawler.settings
        self._crawl = crawl
        self._user_agent: str = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        # Of a robots.txt, redirects and all: a page waits for it, and then starts.
        self._timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT") / 2
        # By server: what holds, without its text, and until when, by the monotonic clock.
        self._asked: dict[str, asyncio.Task[tuple[Robots, float]]] = {}
        self._rules_kept = 0
        crawler.signals.connect(self.stop_when_long_enough, signals.bytes_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware | RobotsTxtMiddleware:
        """Scrapy's own, where `scrapy shell` and the like fetch a page without a frontier."""
        if not is_yes(crawler.settings["ROBOTSTXT_OBEY"]):
            raise NotConfigured
        if not is_crawl(crawler):
            return RobotsTxtMiddleware.from_crawler(crawler)
        return cls(Worker.of(crawler))

    def _count(self, what: str) -> None:
        """Under the name that Scrapy's own middleware has for it."""
        self._crawl.crawler.stats.inc_value(f"robotstxt/{what}")

    def stop_when_long_enough(self, data: bytes, request: Request) -> None:
        """Stop a download behind the part that is read (RFC 9309 2.5)."""
        if "robots" in request.meta:
            request.meta["robots"] += len(data)
            if request.meta["robots"] > BODY_MAX:
                raise StopDownload(fail=False)

    async def process_request(self, request: Request) -> None:
        if "robots" in request.meta or request.meta.get("dont_obey_robotstxt"):
            return
        try:
            url = urls.resolve(request.url)
        except BadUrl:  # data: and the like, in other spiders
            return
        robots = await self._robots(urls.server(url))
        rules = robots.rules
        if rules is None and (refusal := self._crawl.host_refusal(request.url)):
            raise Refused(refusal)
        if rules is None:
            raise Refused("robots-unreachable", retry=not robots.settled)
        # So many wildcards would hold up the event loop.
        is_allowed = await asyncio.to_thread(rules.allowed, url) if rules.is_costly else rules.allowed(url)
        if not is_allowed:
            self._count("forbidden")
            raise Refused("robots-disallowed")

    async def _robots(self, server: str) -> Robots:
        task = self._asked.get(server)
        if task is None or (task.done() and (task.exception() or task.result()[1] <= time.monotonic())):
            if len(self._asked) > SERVERS_MAX or self._rules_kept > RULES_MAX:
                self._asked = {name: task for name, task in self._asked.items() if not task.done()}
                self._rules_kept = 0
            task = self._asked[server] = asyncio.ensure_future(self._ask(server))
        robots, _ = await asyncio.shield(task)
        return robots

    async def _ask(self, server: str) -> tuple[Robots, float]:
        """Ask Redis, else the server. What is slow in it, such as reading the rules, is done in threads."""
        frontier, polite = self._crawl.frontier, self._crawl.frontier.politeness
        key = partial(frontier.shared_key, "robots")
        cache = RobotsCache(frontier.client, key, self._user_agent, polite)
        robots, now = await self._with_redis(cache.get, server)
        asked = time.monotonic()
        if robots is None or robots.is_old(now):
            sys.audit("webcrawler.robots.asking")
            self._count("request_count")
            status, body = await self._download(server)
            if status is not None:
                self._count("response_count")
                self._count(f"response_status_count/{status}")
            sys.audit("webcrawler.robots.fetched")
            now += time.monotonic() - asked
            robots = await asyncio.to_thread(judge, status, body, self._user_agent, robots, now, polite)
            asked = time.monotonic()
            await self._with_redis(cache.put, server, robots, now)
            sys.audit("webcrawler.robots.stored")
            await self._with_redis(self._slow_down, server, robots, now)
            sys.audit("webcrawler.robots.told")
        if robots.rules:
            self._crawl.take_sitemaps(server, robots.rules.sitemaps)
        self._rules_kept += robots.rules.size if robots.rules else 0
        return replace(robots, body=b""), asked + min(robots.until - now, RECALLED_SECONDS)

    def _slow_down(self, asked: str, robots: Robots, now: float) -> None:
        """Tell the frontier of a Crawl-delay, or when a server that was not reached may be asked again."""
        server = urls.server(urls.canonical(asked + "/"))  # as leases name it: without a root's dot
        if robots.rules is not None:
            self._crawl.frontier.postpone(server, 0.0, robots.rules.crawl_delay or 0.0)
        elif not robots.settled:
            self._crawl.frontier.postpone(server, robots.until - now)

    async def _download(self, server: str) -> tuple[int | None, bytes]:
        """(status, body) after up to five redirects; (None, b"") when it was not to be had whole."""
        url, end = robots_url(server), time.monotonic() + self._timeout_s
        for _ in range(REDIRECTS_MAX + 1):
            response = await self._get(url, end - time.monotonic())
            if response is None or "dataloss" in response.flags:  # half of the rules are not the rules
                return None, b""
            location = response.headers.get("Location")
            if not (300 <= response.status < 400 and location):
                return response.status, response.body
            try:
                url = urls.resolve(href_of(location), url)
            except BadUrl:
                break
            if not url.startswith(("http:", "https:", server[: server.index(":") + 1])):
                break
        return 404, b""  # RFC 9309 2.3.1.2: too many redirects are as "unavailable": nothing is disallowed

    async def _get(self, url: str, timeout_s: float) -> Response | None:
        """Through the same middlewares as pages, so the same rules on addresses hold."""
        bounds = {"download_maxsize": DOWNLOAD_MAX, "download_timeout": max(0.1, timeout_s)}
        request = Request(
            url,
            headers={"Accept-Encoding": "identity"},  # nobody says whether an inflated body is whole
            meta={**self._crawl.request_meta, "robots": 0, "dont_retry": True, **bounds},
            dont_filter=True,
        )
        try:
            return await self._crawl.crawler.engine.download_async(request)
        except Exception as error:
            if is_ours(error):
                raise
            self._count(f"exception_count/{type(error)}")
            logger.debug("no %s: %s", url, error)
            return None

    async def _with_redis(self, function: Callable[..., T], *arguments: object) -> T:
        """Call in a thread, again and again while Redis is away: that is not a fault of the page."""
        while True:  # not by `retry`, which would keep one of few threads all the time
            try:
                return await asyncio.to_thread(function, *arguments)
            except RedisError as error:
                if not (self._crawl.is_closing or is_passing(error)):
                    self._crawl.fail(error, "scheduler_failed")
                if self._crawl.is_closing or not is_passing(error):
                    raise
                logger.warning("robots.txt waits for Redis: %s", error)
                await asyncio.sleep(pace.ROBOTS_PAUSE_SECONDS)
