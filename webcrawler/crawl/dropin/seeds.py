"""Seeds that people push to a Redis key while a spider runs, as with scrapy-redis."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

from scrapy import Request, Spider
from scrapy.settings import BaseSettings

from webcrawler.frontier import Client
from webcrawler.records import Link

logger = logging.getLogger(__name__)

BATCH = 500  # seeds
LOCK_MS = 10_000  # one process at a time reads the key


class SeedKey:
    """A list of URLs or JSON.

    A seed leaves the key when it is in the frontier; what is not a seed is moved to the list KEY:refused.

    Args:
        link: what the frontier takes in for a request.
    """

    def __init__(self, client: Client, key: str, spider: Spider, link: Callable[[Request], Link]) -> None:
        self._client, self.key, self._spider, self._link = client, key, spider, link
        self._is_refused = False  # has the log said that the key is of another kind?

    def take(self, discover: Callable[[Sequence[Link]], object]) -> int:
        """Moves some of what is there into the frontier; returns how many values. Blocks."""
        kind = self._client.type(self.key)
        if kind not in (b"none", b"list") and not self._is_refused:
            self._is_refused = True
            logger.error("%s is a %s: push seeds to a list", self.key, kind.decode())
        if kind != b"list" or not self._client.set(f"{self.key}:reader", "", nx=True, px=LOCK_MS):
            return 0
        try:
            values = list(self._client.lrange(self.key, 0, BATCH - 1))
            links, refused = self._read(values)
            discover(links)  # whatever the budgets say: it leaves the key for good
            if refused:
                self._client.rpush(f"{self.key}:refused", *refused)
            pipe = self._client.pipeline(transaction=False)
            for value in values:
                pipe.lrem(self.key, 1, value)
            pipe.execute()
        finally:
            self._client.delete(f"{self.key}:reader")
        return len(values)

    def _read(self, values: list[bytes]) -> tuple[list[Link], list[bytes]]:
        links: list[Link] = []
        refused: list[bytes] = []
        # Spiders of scrapy-redis have a method of their own for it.
        make = getattr(self._spider, "make_request_from_data", None)
        for value in values:
            try:
                made = make(value) if make else request_of(value.decode().strip(), self._spider)
                requests = [made] if isinstance(made, Request) else made or ()
                links += [self._link(request) for request in requests]
            except Exception as error:  # the spider's own code, and other people's texts
                logger.error("no seed, moved to %s:refused: %.200r (%s)", self.key, value, error)
                refused.append(value)
        return links, refused


def request_of(text: str, spider: Spider) -> Request:
    """From a URL, or JSON with "url" and arguments of a Request.

    Raises:
        ValueError, TypeError, AttributeError: it is neither.
    """
    if not text.startswith("{"):
        return Request(text)
    given: dict[str, Any] = json.loads(text)
    for name in ("callback", "errback"):
        if name in given:
            given[name] = getattr(spider, given[name])
    return Request(**given)


def seeds_key(spider: Spider | type[Spider], settings: BaseSettings) -> str:
    """The key of a spider's seeds: its `redis_key`, else REDIS_START_URLS_KEY, else NAME:start_urls."""
    key = getattr(spider, "redis_key", None) or settings.get("REDIS_START_URLS_KEY")
    return str((key or "%(name)s:start_urls") % {"name": spider.name})
