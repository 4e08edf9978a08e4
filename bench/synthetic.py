"""What the frontier's benchmarks are fed with: made-up links, and the two frontiers that take them.

All that depends on how a `Frontier` is made is in `open_frontier`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate

import redis
from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import PriorityQueue

from webcrawler.connection import Connection
from webcrawler.crawl.membership import read_budgets
from webcrawler.frontier import Frontier, Politeness, ordering
from webcrawler.records import Link
from webcrawler.settings import SETTINGS
from webcrawler.urls import url_id

URL_LENGTH = 64
SECTIONS = ("news", "docs", "blog", "wiki")
BATCH = 50  # links of a page
OWN_SERVER = 20  # of them to the page's own server


def open_frontier(connection: Connection, worker: str) -> Frontier:
    """Without pauses, with the default budgets, on connections of its own as in a process of its own."""
    frontier = Frontier(
        connection.new_client(),
        ordering("breadth"),
        politeness=Politeness(delay=0.0),
        worker=worker,
        budgets=read_budgets(BaseSettings({name: SETTINGS[name].default for name in SETTINGS})),
    )
    frontier.open("breadth")
    return frontier


class ScrapyRedis:
    """What scrapy-redis's scheduler does between Scrapy and Redis, with its defaults."""

    def __init__(self, client: redis.Redis) -> None:
        spider = Spider(name="peer")
        self.dupefilter = RFPDupeFilter(client, "peer:dupefilter")
        self.queue = PriorityQueue(client, spider, "%(spider)s:requests")

    def enqueue(self, requests: Sequence[Request]) -> None:
        for request in requests:
            if not self.dupefilter.request_seen(request):
                self.queue.push(request)

    def pop(self, number: int) -> None:
        for _ in range(number):
            self.queue.pop()


def link(server: int, number: int) -> Link:
    """A canonical link of 64 characters; two numbers are two links, whatever their servers."""
    hashed = number * 0x9E3779B97F4A7C15 % 2**64
    url = f"http://www.site{server:06}.example/{SECTIONS[hashed % 4]}/{number:08}-{hashed:016x}.htm"
    return Link(url, url_id(url), url)


def request(of: Link) -> Request:
    """As a spider on scrapy-redis yields it at depth 1."""
    return Request(of.url, meta={"depth": 1})


class Pages:
    """The links of page after page, all new; servers are chosen anew for each page.

    A page links 20 times to its own server, else to many, a few of them popular (Zipf).
    """

    def __init__(self, servers: int, seed: int = 1) -> None:
        self._servers = range(servers)
        self._popularity = list(accumulate(1 / rank for rank in range(1, servers + 1)))
        self._random = random.Random(seed)
        self._number = 0

    def zipf(self) -> list[Link]:
        others = self._random.choices(self._servers, cum_weights=self._popularity, k=BATCH - OWN_SERVER)
        return self._links([*self._own(), *others])

    def distinct(self) -> list[Link]:
        """Each on another server."""
        return self._links(self._random.sample(self._servers, BATCH))

    def _own(self) -> list[int]:
        return [self._random.choice(self._servers)] * OWN_SERVER

    def _links(self, servers: Sequence[int]) -> list[Link]:
        self._number += len(servers)
        return [link(server, self._number - at) for at, server in enumerate(servers)]
