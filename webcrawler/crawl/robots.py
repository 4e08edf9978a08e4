"""May I fetch this? robots.txt by RFC 9309, one question a server, the answer shared in Redis.

Ours, as that of Scrapy 2.19 lets disallowed pages through when several wait for one robots.txt, and takes
an unreachable one for "allow all", where RFC 9309 2.3.1.4 says "complete disallow".
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgpack
from scrapy import Request, signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Response

from webcrawler import clock, urls
from webcrawler.connection import RedisError, is_passing
from webcrawler.crawl.base import Worker, is_crawl
from webcrawler.crawl.compressed import is_whole
from webcrawler.crawl.open_leases import is_ours
from webcrawler.crawl.responses import Refused, codings_of, href_of
from webcrawler.errors import BadUrl
from webcrawler.frontier import Client, Politeness, now_ms
from webcrawler.robots import Rules, robots_url, verdict
from webcrawler.settings import is_yes

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3600.0  # RFC 9309 2.4
COPY_SECONDS = 30 * DAY_SECONDS  # RFC 9309 2.3.1.4: "a reasonably long period of time"
UNREACHABLE_SECONDS = 3600.0  # after the last try, until anybody asks again
BODY_MAX = 512 * 1024  # RFC 9309 2.5


@dataclass(frozen=True, slots=True)
class Robots:
    """What holds for a server; `rules` is None for complete disallow (RFC 9309 2.3.1.4).

    While the server is unreachable a robots.txt that it once gave holds on for 30 days (2.4 allows it). Then
    it is complete disallow again, the more careful choice of 2.3.1.4.
    """

    rules: Rules | None
    status: int | None  # of the answer that holds
    body: bytes
    fetched: float  # when that answer came
    until: float  # when to ask again
    failures: int = 0  # to reach the server since, in a row
    settled: bool = False  # unreachable, and no tries are left

    def is_old(self, now: float) -> bool:
        return now >= self.until

    def outlives_failure(self, now: float) -> bool:
        """Tell whether it is a robots.txt young enough to hold while its server is unreachable."""
        return self.status is not None and 200 <= self.status < 300 and now < self.fetched + COPY_SECONDS


def judge(
    status: int | None, body: bytes, user_agent: str, known: Robots | None, now: float, polite: Politeness
) -> Robots:
    """Return what holds after an answer (no answer: status None); `known` held before. Blocks up to 0.3 s."""
    rules = verdict(status, body, user_agent)
    if rules is not None:
        return Robots(rules, status, body[:BODY_MAX], now, now + DAY_SECONDS)
    failures = (known.failures if known else 0) + 1
    settled = failures >= polite.tries
    until = now + _pause_seconds(failures, polite)
    if known is not None and known.outlives_failure(now):
        until = min(until, known.fetched + COPY_SECONDS)
        return replace(known, until=until, failures=failures, settled=settled)
    return Robots(None, status, b"", now, until, failures, settled)


def _pause_seconds(failures: int, polite: Politeness) -> float:
    """How long a server that was not reached is left alone, after so many failures in a row, at least one."""
    if failures >= polite.tries:
        return UNREACHABLE_SECONDS
    return polite.backoff * 2.0 ** (failures - 1)


class RobotsCache:
    """Reads and writes in Redis what is known of servers. Its calls block for a round trip or two.

    Args:
        key: gives the Redis key of a server.
        polite: as for `judge`: what is stored is never valid for longer than its tries allow.
    """

    def __init__(
        self, client: Client, key: Callable[[str], str], user_agent: str, polite: Politeness
    ) -> None:
        self._client, self._key, self._user_agent, self._polite = client, key, user_agent, polite

    def get(self, server: str) -> tuple[Robots | None, float]:
        """Return what was put there, old or not (a copy may hold on, failures count on), and the time."""
        key = self._key(server)
        now, packed = now_ms(self._client, key.removesuffix(f"robots:{server}")) / 1000, self._client.get(key)
        try:
            return (self._unpack(packed, now) if packed else None), now
        except (KeyError, TypeError, ValueError, zlib.error):  # written by another version
            return None, now

    def _unpack(self, packed: bytes, now: float) -> Robots:
        known = msgpack.unpackb(packed)
        body = zlib.decompressobj().decompress(known["body"], BODY_MAX)
        failures = int(known["failures"])
        longest = _pause_seconds(failures, self._polite) if failures else DAY_SECONDS
        return Robots(
            verdict(known["status"], body, self._user_agent),
            known["status"],
            body,
            min(float(known["fetched"]), now),  # a clock was set back since, or was ahead when this was put
            min(float(known["until"]), now + longest),
            failures,
            failures >= self._polite.tries,
        )

    def put(self, server: str, robots: Robots, now: float) -> None:
        known = {name: getattr(robots, name) for name in ("status", "fetched", "until", "failures")}
        known["body"] = zlib.compress(robots.body, 1)
        is_copy = robots.outlives_failure(now)
        keep_seconds = (robots.fetched + COPY_SECONDS if is_copy else robots.until) - now
        self._client.set(self._key(server), msgpack.packb(known), ex=max(60, round(keep_seconds)) + 60)


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
        crawler.signals.connect(self.flag_when_cut_short, signals.response_downloaded)

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

    def flag_when_cut_short(self, response: Response, request: Request) -> None:
        """Mark a compressed body without its end as Scrapy marks any other; it comes here as it was sent."""
        if "robots" not in request.meta or not 200 <= response.status < 300 or not response.body:
            return
        if not is_whole(response.body, codings_of(response.headers)):
            response.flags.append("dataloss")

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
                await asyncio.sleep(clock.ROBOTS_PAUSE_SECONDS)
