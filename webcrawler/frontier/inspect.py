"""What waits, and why? Questions that people, status pages and live lists ask a frontier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from operator import itemgetter
from typing import Any

import msgpack
from redis.exceptions import RedisError

from webcrawler import urls
from webcrawler.errors import Unavailable
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.slots import Client, Partition, now_ms
from webcrawler.frontier.wire import PRIORITY_STEP
from webcrawler.orderings import PRIORITY_MAX

TURN = 2**40  # these as in _1_names.lua
BEHIND = 2**52
FIRST = -PRIORITY_MAX * PRIORITY_STEP
LOOKED_AT = 2_000  # servers in each of three places whose queues are measured: some 50 ms
LEASES_LOOKED_AT = 10_000


def stats(frontier: Frontier) -> dict[str, Any]:
    """The table of states; `seen` is the sum of the five."""
    counts: Counter[str] = Counter()
    for partition in frontier.partitions:
        found = frontier.client.hgetall(partition.prefix + "counts")
        counts.update({name.decode(): int(n) for name, n in found.items()})

    def below(state: str) -> dict[str, int]:
        return {
            name.removeprefix(state): n for name, n in sorted(counts.items()) if name.startswith(state) and n
        }

    done, failed = below("done/"), below("failed/")
    return {
        **{state: counts[state] for state in ("seen", "queued", "leased")},
        "done": sum(done.values()),
        "failed": sum(failed.values()),
        "quarantined": counts["quarantined"],
        "servers": counts["servers"],
        "reasons": done | failed,
        "refused": below("refused/"),
    }


def peek(frontier: Frontier, limit: int) -> list[str]:
    """The URLs that would be leased next if all servers were due and nothing new were found.

    Partitions take turns, a URL each.
    """
    orders = [_next(frontier, partition, limit) for partition in frontier.partitions]
    found: list[str] = []
    while orders and len(found) < limit:
        order = orders.pop(0)
        if (url := next(order, None)) is not None:
            found.append(url)
            orders.append(order)
    return found


def _next(frontier: Frontier, partition: Partition, limit: int) -> Iterator[str]:
    """The URLs of a partition in the order of their leases, if each of them becomes a document."""
    client, prefix = frontier.client, partition.prefix
    places = [client.zrange(prefix + name, 0, -1) for name in ("ready", "doubtful", "wait")]
    queues: dict[str, list[tuple[bytes, float]]] = {}
    newcomers, turns = Counter[str](), Counter[str]()
    for server in (name.decode() for names in places for name in names):
        queues[server] = client.zrange(f"{prefix}queue:{server}", 0, limit, withscores=True)
        newcomer, trying = client.hmget(f"{prefix}site:{server}", "newcomer", "trying")
        newcomers[server] = 0 if trying else int(newcomer or 0)
        turns[server] = int(client.hget(prefix + "turns", server) or 0)
    in_turn = client.hget(prefix + "meta", "turns") == b"1"

    def rank(server: str) -> float:  # as in _2_servers.lua
        head = queues[server][0][1]
        if not in_turn:
            return head
        if head >= BEHIND:
            return (2 + (head - BEHIND) // PRIORITY_STEP) * TURN + turns[server]
        return newcomers[server] or TURN + turns[server]

    order = [(rank(server), server) for server in queues]
    heapify(order)
    for turn in count(int(client.hget(prefix + "counts", "turn") or 0) + 1):
        if not order:
            return
        _, server = heappop(order)
        newcomers[server], turns[server] = 0, turn
        yield server + queues[server].pop(0)[0].decode()
        if queues[server]:
            heappush(order, (rank(server), server))


def quarantined(frontier: Frontier) -> list[dict[str, Any]]:
    """The URLs that were set aside because they kill workers or parsers, oldest first."""
    found = []
    for partition in frontier.partitions:
        for url, value in frontier.client.hgetall(partition.prefix + "quarantined").items():
            when_ms, times, *kind = value.decode().split()
            killed = {"quarantined_ms": int(when_ms), "times": int(times), "kills": "".join(kind)}
            found.append({"url": url.decode(), **killed})
    return sorted(found, key=itemgetter("quarantined_ms"))


def waiting(frontier: Frontier, server: str) -> int:
    """How many URLs of a server wait or are leased; checks count only while they are leased."""
    prefix = frontier.partitions.of_server(server).prefix
    pipe = frontier.client.pipeline(transaction=False)
    pipe.zcount(f"{prefix}queue:{server}", FIRST, "+inf")
    pipe.hget(f"{prefix}site:{server}", "out")
    queued, out = pipe.execute()
    return int(queued) + int(out or 0)


def explain(frontier: Frontier, url: str, key: str = "") -> dict[str, Any]:
    """The state of a URL, and how its server is treated; if `state` is "decided", the catalog knows more.

    Args:
        key: by which the frontier knows the URL's GET, where that is not the canonical URL.
    """
    target = urls.outlink(url, url)
    if key:
        target = target._replace(url=key, id=urls.url_id(key))
    server, path = urls.split(target.url)
    partition = frontier.partitions.of_server(server)
    client, prefix, member = frontier.client, partition.prefix, f"{server} {path}"
    lease = client.hget(prefix + "leases", target.url)
    retry = client.zscore(prefix + "retry", member)
    score = client.zscore(f"{prefix}queue:{server}", path)
    ahead = client.zrank(f"{prefix}queue:{server}", path)
    shard = str(target.id)[-4:]
    state = "unseen"
    if lease:
        state = "leased"
    elif retry is not None or score is not None:
        state = "queued"
    elif client.sismember(f"{prefix}seen:{shard}", target.id):
        is_poison = client.hexists(prefix + "quarantined", target.url)
        state = "quarantined" if is_poison else "decided"
    politeness = {
        k.decode(): int(float(v)) for k, v in client.hgetall(f"{partition.base}server:{server}").items()
    }
    return {
        "url": target.url,
        "id": target.id,
        "refused": target.refused,
        "state": state,
        "worker": msgpack.unpackb(lease)[1] if lease else None,
        "not_before_ms": retry,
        "tries": int((client.hget(prefix + "tries", member) or b"0 ").split()[0]),
        "behind": score is not None and score >= BEHIND,
        "priority": {} if score is None else _priority(frontier, partition, member, score) | {"ahead": ahead},
        "server": {"name": server, "waiting": client.zcard(f"{prefix}queue:{server}"), **politeness},
        "taken": _taken(client, prefix, server, path),
    }


def _priority(frontier: Frontier, partition: Partition, member: str, score: float) -> dict[str, Any]:
    """What a score in a queue is made of: as in _1_names.lua."""
    rest, number = divmod(int(score), PRIORITY_STEP)
    order = (
        "check, before all others" if score < FIRST else "by mode" if score < BEHIND else "behind all others"
    )
    note = frontier.client.hget(partition.prefix + "note", member)
    return {
        "mode": frontier.stored_mode(),
        "order": order,
        "value": -rest if order == "by mode" else None,
        "number": number,
        "note": int(note or 0),
    }


def _taken(client: Client, keys: str, server: str, path: str) -> dict[str, Any]:
    """How many URLs were added of a server, its domain, and the URL's path prefix."""
    prefix, domain = urls.path_prefix(path), urls.registrable_domain(server)

    def added(key: str, field: str) -> int:
        return abs(int(client.hget(keys + key, field) or 0))

    return {
        "server": added("taken", server),
        "domain": {domain: added("domains", domain)},
        "prefix": {prefix: added(f"site:{server}", prefix)},
    }


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
    numbers: list[list[int]] = []
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
        *found, due, again, first_ready, first_doubtful, first_waiting, leases = pipe.execute()
        numbers.append(found)
        dues += [max(0.0, (score - now) / 1000) for _, score in (*due, *again)]
        all_servers &= max(found[:3]) <= looked_at
        leased: Counter[str] = Counter()
        if leases <= LEASES_LOOKED_AT:
            out = (url.decode() for url in frontier.client.hkeys(prefix + "leases"))
            leased.update(urls.server(url) for url in out)
        known = [name.decode() for name in (*first_ready, *first_doubtful, *first_waiting)]
        names = list(dict.fromkeys([*known, *leased]))
        servers += _servers(frontier.client, partition, names, leased, now, limit)
    ready, doubtful, waiting, retrying, downloading = map(sum, zip(*numbers, strict=True))
    servers = sorted(servers, key=lambda row: (-row.queued - row.leased, row.server))[:limit]
    return Standing(
        stats=stats(frontier),
        ready=ready,
        doubtful=doubtful,
        waiting=waiting,
        retrying=retrying,
        downloading=downloading,
        workers=len(frontier.workers()),
        due_seconds=min(dues, default=None),
        servers=servers,
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
    found, politeness = [], pipe.execute() if busiest else []
    for name, (due, active, pace) in zip(busiest, politeness, strict=True):
        answers = {None: "not asked yet", b"1": "in time"}.get(pace, "slowly")
        seconds = max(0.0, (float(due or 0) - now) / 1000)
        downloads = max(0, int(active or 0))
        found.append(ServerStanding(name, queued[name], leased[name], downloads, seconds, answers))
    return found
