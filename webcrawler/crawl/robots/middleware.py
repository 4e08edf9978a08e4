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
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Response

from webcrawler import urls
from webcrawler.crawl.robots.cache import BODY_MAX, Retries, Robots, RobotsCache, judge
from webcrawler.crawl.robots.compressed import is_whole
from webcrawler.crawl.worker import Refused, Worker
from webcrawler.errors import BadUrl
from webcrawler.robots import Rules
from webcrawler.settings import is_yes

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
T = TypeVar("T")

REDIRECTS_MAX = 5  # RFC 9309 2.3.1.2: at least five
DOWNLOAD_MAX = 64 * 2**20  # bytes, also when inflated; the download is stopped long before
SERVERS_MAX = 10_000  # kept in this process; the others are in Redis
RULES_MAX = 500_000  # kept in this process, about 100 MB


@dataclass(frozen=True, slots=True)
class Answer:
    """What holds for a server, in this process.

    Attributes:
        rules: None for complete disallow.
        settled: the server is not reached, and is not asked again soon.
        until: by this process' monotonic clock.
    """

    rules: Rules | None
    settled: bool
    until: float


class RobotsMiddleware:
    """Asks for robots.txt before the first page of a server; pages that wait for it share one answer."""

    def __init__(self, crawl: Worker, user_agent: str, timeout_s: float) -> None:
        """Give up on a robots.txt, redirects and all, after `timeout_s`."""
        self._crawl, self._user_agent, self._timeout_s = crawl, user_agent, timeout_s
        self._asked: dict[str, asyncio.Task[Answer]] = {}
        self._rules_kept = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        if not is_yes(crawler.settings["ROBOTSTXT_OBEY"]):
            raise NotConfigured
        timeout_s = crawler.settings.getfloat("DOWNLOAD_TIMEOUT") / 2  # a page waits for it, and then starts
        user_agent = crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"]
        robots = cls(Worker.of(crawler), user_agent, timeout_s)
        crawler.signals.connect(robots.stop_when_long_enough, signals.bytes_received)
        crawler.signals.connect(robots.flag_when_cut_short, signals.response_downloaded)
        return robots

    def stop_when_long_enough(self, data: bytes, request: Request) -> None:
        """Stop a download behind the part that is read (RFC 9309 2.5)."""
        if "robots" in request.meta:
            request.meta["robots"] += len(data)
            if request.meta["robots"] > BODY_MAX:
                raise StopDownload(fail=False)

    def flag_when_cut_short(self, response: Response, request: Request) -> None:
        """Mark a compressed body without its end as Scrapy marks any other; it comes here as it was sent."""
        if "robots" not in request.meta or not 200 <= response.status < 300 or not response.body:
            return
        listed = b",".join(response.headers.getlist("Content-Encoding")).lower().split(b",")
        codings = [name for part in listed if (name := part.strip()) not in (b"", b"identity")]
        if not is_whole(response.body, codings):
            response.flags.append("dataloss")

    async def process_request(self, request: Request) -> None:
        if "robots" in request.meta or request.meta.get("dont_obey_robotstxt"):
            return
        try:
            url = urls.resolve(request.url)
        except BadUrl:  # data: and the like, in other people's spiders
            return
        robots = await self._robots(urls.server(url))
        if robots.rules is None and self._crawl.is_refused_host(request.url):
            raise Refused("address-refused")
        if robots.rules is None:
            raise Refused("robots-unreachable", retry=not robots.settled)
        if not await self._allows(robots.rules, url):
            raise Refused("robots-disallowed")

    async def _allows(self, rules: Rules, url: str) -> bool:
        """Decide in a thread where so many wildcards would hold up the event loop."""
        return await asyncio.to_thread(rules.allowed, url) if rules.is_costly else rules.allowed(url)

    async def _robots(self, server: str) -> Answer:
        task = self._asked.get(server)
        if task is None or (task.done() and (task.exception() or task.result().until <= time.monotonic())):
            if len(self._asked) > SERVERS_MAX or self._rules_kept > RULES_MAX:
                self._asked = {name: task for name, task in self._asked.items() if not task.done()}
                self._rules_kept = 0
            task = self._asked[server] = asyncio.ensure_future(self._ask(server))
        return await asyncio.shield(task)

    async def _ask(self, server: str) -> Answer:
        """Ask Redis, else the server. What is slow in it, such as reading the rules, is done in threads."""
        frontier = self._crawl.frontier
        retries = Retries(frontier.politeness.tries, frontier.politeness.backoff)
        cache = RobotsCache(
            frontier.client, partial(frontier.shared_key, "robots"), self._user_agent, retries
        )
        robots, now = await self._with_redis(cache.get, server)
        asked = time.monotonic()
        if robots is None or robots.is_old(now):
            sys.audit("webcrawler.robots.asking")
            status, body = await self._download(server)
            sys.audit("webcrawler.robots.fetched")
            now += time.monotonic() - asked
            robots = await asyncio.to_thread(judge, status, body, self._user_agent, robots, now, retries)
            asked = time.monotonic()
            await self._with_redis(cache.put, server, robots, now)
            sys.audit("webcrawler.robots.stored")
            await self._with_redis(self._slow_down, server, robots, now)
            sys.audit("webcrawler.robots.told")
        self._rules_kept += robots.rules.size if robots.rules else 0
        return Answer(robots.rules, robots.settled, asked + robots.until - now)

    def _slow_down(self, asked: str, robots: Robots, now: float) -> None:
        """Tell the frontier of a Crawl-delay, or when a server that was not reached may be asked again."""
        server = urls.server(urls.canonical(asked + "/"))  # as leases name it: without a root's dot
        if robots.rules is not None:
            self._crawl.frontier.postpone(server, 0.0, robots.rules.crawl_delay or 0.0)
        elif not robots.settled:
            self._crawl.frontier.postpone(server, robots.until - now)

    async def _download(self, server: str) -> tuple[int | None, bytes]:
        """(status, body) after up to five redirects; (None, b"") when it was not to be had whole."""
        url, end = server + "/robots.txt", time.monotonic() + self._timeout_s
        for _ in range(REDIRECTS_MAX + 1):
            response = await self._get(url, end - time.monotonic())
            if response is None or "dataloss" in response.flags:  # half of the rules are not the rules
                return None, b""
            location = response.headers.get("Location")
            if not (300 <= response.status < 400 and location):
                return response.status, response.body
            try:
                url = urls.resolve(location.decode("utf-8", "replace"), url)
            except BadUrl:
                break
        return 404, b""  # RFC 9309 2.3.1.2: too many redirects are as "unavailable": nothing is disallowed

    async def _get(self, url: str, timeout_s: float) -> Response | None:
        """Through the same middlewares as pages, so the same rules on addresses hold."""
        bounds = {"download_maxsize": DOWNLOAD_MAX, "download_timeout": max(0.1, timeout_s)}
        request = Request(
            url,
            meta={**self._crawl.request_meta, "robots": 0, "dont_retry": True, **bounds},
            dont_filter=True,
        )
        try:
            return await self._crawl.crawler.engine.download_async(request)
        except Exception as error:
            logger.debug("no %s: %s", url, error)
            return None

    async def _with_redis(self, function: Callable[..., T], *arguments: object) -> T:
        """Call in a thread, again and again while Redis is away: that is no fault of the page."""
        while True:
            try:
                return await asyncio.to_thread(function, *arguments)
            except RedisError as error:
                if self._crawl.is_closing:
                    raise
                logger.warning("robots.txt waits for Redis: %s", error)
                await asyncio.sleep(0.5)
