"""Where a frontier stands: what a status page shows of it. Reads only, and a bounded part of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from webcrawler.errors import Unavailable
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.inspect import stats
from webcrawler.frontier.scripts import Partition, now_ms

LOOKED_AT = 2_000  # servers in each of three places whose queues are measured: some 50 ms
LEASES_LOOKED_AT = 10_000


@dataclass(frozen=True, slots=True)
class ServerStanding:
    server: str
    queued: int
    leased: int
    downloads: int  # now
    due_seconds: float  # until it may be asked; 0: now
    answers: str  # "in time", "slowly" or "not asked yet"


@dataclass(frozen=True, slots=True)
class Standing:
    stats: dict[str, Any]  # the table of states, as `inspect.stats`
    ready: int  # servers that may be due, and answer in time
    doubtful: int  # servers that may be due, and are slow or were never asked
    waiting: int  # servers that are not due
    retrying: int  # URLs to be tried again at a time
    downloading: int  # leased URLs whose download is not over
    workers: int
    due_seconds: float | None  # until a waiting server or URL is due; None where none waits
    servers: list[ServerStanding]  # with the most URLs queued and leased, of those looked at
    all_servers: bool  # none was left out


def standing(frontier: Frontier, limit: int) -> Standing:
    """One look, not one moment: a few round trips to each partition.

    Raises:
        Unavailable: Redis does not answer.
    """
    try:
        return _standing(frontier, limit)
    except RedisError as error:
        raise Unavailable(f"Redis does not answer: {error}") from error


def _standing(frontier: Frontier, limit: int) -> Standing:
    looked_at = max(limit, LOOKED_AT // len(frontier.partitions))
    parts = [_part(frontier.client, partition, limit, looked_at) for partition in frontier.partitions]
    servers = sorted((row for part in parts for row in part.servers), key=_busy)
    dues = [part.due_seconds for part in parts if part.due_seconds is not None]
    return Standing(
        stats(frontier),
        ready=sum(part.ready for part in parts),
        doubtful=sum(part.doubtful for part in parts),
        waiting=sum(part.waiting for part in parts),
        retrying=sum(part.retrying for part in parts),
        downloading=sum(part.downloading for part in parts),
        workers=len(frontier.workers()),
        due_seconds=min(dues) if dues else None,
        servers=servers[:limit],
        all_servers=all(part.all_servers for part in parts),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    ready: int
    doubtful: int
    waiting: int
    retrying: int
    downloading: int
    due_seconds: float | None
    servers: list[ServerStanding]
    all_servers: bool


def _part(client: Any, partition: Partition, limit: int, looked_at: int) -> _Part:
    prefix, last = partition.prefix, looked_at - 1
    pipe = client.pipeline(transaction=False)
    for name in ("ready", "doubtful", "wait", "retry"):
        pipe.zcard(prefix + name)
    pipe.scard(prefix + "downloading")
    pipe.zrange(prefix + "wait", 0, 0, withscores=True)
    pipe.zrange(prefix + "retry", 0, 0, withscores=True)
    for name in ("ready", "doubtful", "wait"):
        pipe.zrange(prefix + name, 0, last)
    pipe.hlen(prefix + "leases")
    ready, doubtful, waiting, retrying, downloading, *firsts, a, b, c, leases = pipe.execute()
    now = now_ms(client, partition.base)
    dues = [max(0.0, (score - now) / 1000) for first in firsts for _, score in first]
    leased = _leased(client, prefix) if leases <= LEASES_LOOKED_AT else Counter()
    names = list(dict.fromkeys([*(name.decode() for name in (*a, *b, *c)), *leased]))
    return _Part(
        *(ready, doubtful, waiting, retrying, downloading),
        min(dues) if dues else None,
        _servers(client, partition, names, leased, now, limit),
        max(ready, doubtful, waiting) <= looked_at,
    )


def _servers(
    client: Any, partition: Partition, names: list[str], leased: Counter[str], now: int, limit: int
) -> list[ServerStanding]:
    pipe = client.pipeline(transaction=False)
    for name in names:
        pipe.zcard(f"{partition.prefix}queue:{name}")
    queued = dict(zip(names, pipe.execute() if names else [], strict=True))
    busiest = sorted(names, key=lambda name: (-queued[name] - leased[name], name))[:limit]
    for name in busiest:
        pipe.hmget(f"{partition.base}server:{name}", "next", "active", "pace")
    found = []
    for name, (due, active, pace) in zip(busiest, pipe.execute() if busiest else [], strict=True):
        answers = {None: "not asked yet", b"1": "in time"}.get(pace, "slowly")
        seconds = max(0.0, (float(due or 0) - now) / 1000)
        found.append(
            ServerStanding(name, queued[name], leased[name], max(0, int(active or 0)), seconds, answers)
        )
    return found


def _leased(client: Any, prefix: str) -> Counter[str]:
    urls = (url.decode() for url in client.hkeys(prefix + "leases"))
    return Counter(url[: url.index("/", 8)] for url in urls)


def _busy(row: ServerStanding) -> tuple[int, str]:
    return -row.queued - row.leased, row.server
