"""What a status page shows of a frontier; reads a bounded part of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from webcrawler.errors import Unavailable
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.inspect import stats
from webcrawler.frontier.scripts import Client, Partition, now_ms

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
    """What a frontier holds, by a few round trips to each partition; so not all of it at one moment.

    Args:
        limit: servers to show.

    Raises:
        Unavailable: Redis does not answer.
    """
    try:
        return _standing(frontier, limit)
    except RedisError as error:
        raise Unavailable(f"Redis does not answer: {error}") from error


def _standing(frontier: Frontier, limit: int) -> Standing:
    numbers: Counter[str] = Counter()
    dues: list[float] = []
    servers: list[ServerStanding] = []
    looked_at = max(limit, LOOKED_AT // len(frontier.partitions))
    all_servers = True
    for partition in frontier.partitions:
        now, prefix = now_ms(frontier.client, partition.base), partition.prefix
        pipe = frontier.client.pipeline(transaction=False)
        for name in ("ready", "doubtful", "wait", "retry"):
            pipe.zcard(prefix + name)
        pipe.scard(prefix + "downloading")
        for name in ("wait", "retry"):
            pipe.zrange(prefix + name, 0, 0, withscores=True)
        for name in ("ready", "doubtful", "wait"):
            pipe.zrange(prefix + name, 0, looked_at - 1)
        pipe.hlen(prefix + "leases")
        *found, due, again, ready, doubtful, waiting, leases = pipe.execute()
        numbers.update(
            dict(zip(("ready", "doubtful", "waiting", "retrying", "downloading"), found, strict=True))
        )
        dues += [max(0.0, (score - now) / 1000) for _, score in (*due, *again)]
        all_servers &= max(found[:3]) <= looked_at
        leased = _leased(frontier.client, prefix) if leases <= LEASES_LOOKED_AT else Counter()
        names = dict.fromkeys([*(name.decode() for name in (*ready, *doubtful, *waiting)), *leased])
        servers += _servers(frontier.client, partition, list(names), leased, now, limit)
    return Standing(
        stats=stats(frontier),
        ready=numbers["ready"],
        doubtful=numbers["doubtful"],
        waiting=numbers["waiting"],
        retrying=numbers["retrying"],
        downloading=numbers["downloading"],
        workers=len(frontier.workers()),
        due_seconds=min(dues, default=None),
        servers=sorted(servers, key=lambda row: (-row.queued - row.leased, row.server))[:limit],
        all_servers=all_servers,
    )


def _servers(
    client: Client, partition: Partition, names: list[str], leased: Counter[str], now: int, limit: int
) -> list[ServerStanding]:
    """Those of one partition with the most URLs."""
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
        downloads = max(0, int(active or 0))
        found.append(ServerStanding(name, queued[name], leased[name], downloads, seconds, answers))
    return found


def _leased(client: Client, prefix: str) -> Counter[str]:
    urls = (url.decode() for url in client.hkeys(prefix + "leases"))
    return Counter(url[: url.index("/", 8)] for url in urls)
