"""Takes over what a crawl of scrapy-redis has left in Redis: its queue, and what it has seen."""

from __future__ import annotations

import hashlib
import importlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy.utils.request import fingerprint, request_from_dict
from scrapy_redis import defaults

from webcrawler.crawl.dropin.identity import key_of
from webcrawler.crawl.dropin.kept import Keeper
from webcrawler.crawl.dropin.pickles import Pickles
from webcrawler.crawl.dropin.values import loaded
from webcrawler.errors import BadInput
from webcrawler.frontier import Client, Frontier
from webcrawler.records import Link

BATCH = 500  # requests


def take_over(
    frontier: Frontier, spider: type[Spider], settings: BaseSettings, told: Callable[[int, int], object]
) -> dict[str, Any]:
    """Moves the queue of a spider, then its duplicate filter, into its frontier, which no crawl may be using.

    May be killed and run again. A request that cannot be read, or not be kept as JSON, is moved to the list
    QUEUE:refused.

    Weakness: fingerprints have to be those of scrapy-redis' own `RFPDupeFilter`.

    Args:
        told: is called with how many requests were moved so far, and of how many.
    """
    queue, filtered = (
        str(settings.get(name, getattr(defaults, name))) % {"spider": spider.name}
        for name in ("SCHEDULER_QUEUE_KEY", "SCHEDULER_DUPEFILTER_KEY")
    )
    left = _Queue(frontier.client, queue)
    moved, new, total = 0, 0, len(left)
    refused: Counter[str] = Counter()
    if total or frontier.client.exists(filtered):
        frontier.take_over()
    with ExitStack() as opened:
        read = _reader(settings, opened)
        while values := left.first():
            links, why = _links(values, read(values), spider)
            new += frontier.discover(links, within_budgets=False)
            left.remove(values, list(why))
            refused.update(why.values())
            moved += len(values)
            told(moved, total)
    return {"requests": moved, "new": new, "refused": dict(refused), "seen": frontier.import_seen(filtered)}


class _Queue:
    """Of any of the three kinds; what was pushed first comes first, or what has the highest priority."""

    def __init__(self, client: Client, key: str) -> None:
        self._client, self._key = client, key
        self._kind = client.type(key).decode()
        if self._kind not in ("none", "zset", "list"):
            raise BadInput(f"{key} is a {self._kind}, not a queue of scrapy-redis: set SCHEDULER_QUEUE_KEY")

    def __len__(self) -> int:
        return int(self._client.zcard(self._key) if self._kind == "zset" else self._client.llen(self._key))

    def first(self) -> list[bytes]:
        if self._kind == "zset":
            return list(self._client.zrange(self._key, 0, BATCH - 1))
        return list(reversed(self._client.lrange(self._key, -BATCH, -1)))

    def remove(self, values: Sequence[bytes], refused: Sequence[bytes]) -> None:
        pipe = self._client.pipeline(transaction=True)
        if refused:
            pipe.rpush(f"{self._key}:refused", *refused)
        if self._kind == "zset":
            pipe.zrem(self._key, *values)
        else:
            pipe.ltrim(self._key, 0, -len(values) - 1)
        pipe.execute()


def _reader(settings: BaseSettings, opened: ExitStack) -> Callable[[Sequence[bytes]], list[Any]]:
    """Of what SCHEDULER_SERIALIZER has written: requests as dicts, or errors where they were not read."""
    serializer = settings.get("SCHEDULER_SERIALIZER") or "scrapy_redis.picklecompat"
    if serializer == "scrapy_redis.picklecompat":
        return opened.enter_context(Pickles()).read
    loads = importlib.import_module(serializer).loads  # the project's own

    def read(value: bytes) -> Any:
        try:
            return loads(value)
        except Exception as error:  # whatever that module raises
            return error

    return lambda values: [read(value) for value in values]


def _links(
    values: Sequence[bytes], read: Sequence[Any], spider: type[Spider]
) -> tuple[list[Link], dict[bytes, str]]:
    """Links, and why the other values are refused."""
    bare = spider.__new__(spider)  # it lends the names of its methods, and is not started
    keeper = Keeper(bare, key_of("scrapy-redis", fingerprint), "")
    links: list[Link] = []
    refused: dict[bytes, str] = {}
    for value, found in zip(values, read, strict=True):
        try:
            if isinstance(found, Exception):
                raise found
            kind = found.get("_class", "scrapy.Request")
            made_by = loaded(":".join(kind.rsplit(".", 1)))
            if made_by is None or not issubclass(made_by, Request):
                raise ValueError(f"{kind} is no class of requests that is loaded")
            # the same in a second run
            links.append(keeper.link(request_from_dict(found, spider=bare), hashlib.sha1(value).hexdigest()))
        except Exception as error:  # what others have stored
            refused[value] = str(error) or type(error).__name__
    return links, refused
