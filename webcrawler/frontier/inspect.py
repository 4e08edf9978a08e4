"""What waits, and why? Questions that people ask a frontier; a crawl asks none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from operator import itemgetter
from typing import Any

import msgpack

from webcrawler import urls
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.scripts import Partition

TURN = 2**40  # these two as in _1_names.lua
BEHIND = 2**52
PLAIN = ("seen", "queued", "leased", "quarantined")


def stats(frontier: Frontier) -> dict[str, Any]:
    """The table of states; `seen` is the sum of the five."""
    counts: Counter[str] = Counter()
    for partition in frontier.partitions:
        found = frontier.client.hgetall(partition.prefix + "counts")
        counts.update({name.decode(): int(n) for name, n in found.items()})
    states: dict[str, Any] = {name: counts.get(name, 0) for name in PLAIN}
    reasons = {name: n for name, n in sorted(counts.items()) if name.startswith(("done/", "failed/")) and n}
    for state in ("done", "failed"):
        states[state] = sum(n for name, n in reasons.items() if name.startswith(state + "/"))
    refused = {name[8:]: n for name, n in sorted(counts.items()) if name.startswith("refused/")}
    order = ("seen", "queued", "leased", "done", "failed", "quarantined")
    return {
        **{name: states[name] for name in order},
        "servers": counts.get("servers", 0),
        "reasons": {name.partition("/")[2]: n for name, n in reasons.items()},
        "refused": refused,
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
    client, prefix = frontier.client, partition.prefix
    waiting = [client.zrange(prefix + name, 0, -1) for name in ("ready", "doubtful", "wait")]
    queues = {
        server.decode(): _Queue(frontier, prefix, server.decode(), limit)
        for part in waiting
        for server in part
    }
    in_turn = client.hget(prefix + "meta", "turns") == b"1"
    turns = count(int(client.hget(prefix + "counts", "turn") or 0) + 1)
    order = [(queue.rank(in_turn), server) for server, queue in queues.items()]
    heapify(order)
    while order:
        _, server = heappop(order)
        yield queues[server].pop(next(turns))
        if queues[server].entries:
            heappush(order, (queues[server].rank(in_turn), server))


class _Queue:
    """The first URLs of one server."""

    def __init__(self, frontier: Frontier, prefix: str, server: str, limit: int) -> None:
        self.server = server
        self.entries = frontier.client.zrange(f"{prefix}queue:{server}", 0, limit, withscores=True)
        newcomer, trying = frontier.client.hmget(f"{prefix}site:{server}", "newcomer", "trying")
        self._newcomer = 0 if trying else int(newcomer or 0)
        self._turn = int(frontier.client.hget(prefix + "turns", server) or 0)

    def rank(self, in_turn: bool) -> float:
        """As in _2_servers.lua."""
        head = float(self.entries[0][1])
        if not in_turn:
            return head
        if head >= BEHIND:
            return 2 * TURN + self._turn
        return self._newcomer or TURN + self._turn

    def pop(self, turn: int) -> str:
        """Takes its first URL at that turn, and assumes that it becomes a document."""
        self._newcomer, self._turn = 0, turn
        return self.server + str(self.entries.pop(0)[0].decode())


def quarantined(frontier: Frontier) -> list[dict[str, Any]]:
    """The URLs that were set aside because they kill workers or parsers, oldest first."""
    found = [
        (url.decode(), *map(int, value.split()))
        for partition in frontier.partitions
        for url, value in frontier.client.hgetall(partition.prefix + "quarantined").items()
    ]
    return [
        {"url": url, "quarantined_ms": when_ms, "times": times}
        for url, when_ms, times in sorted(found, key=itemgetter(1))
    ]


def explain(frontier: Frontier, url: str) -> dict[str, Any]:
    """The state of a URL, and how its server is treated; if `state` is "decided", the catalog knows more."""
    target = urls.outlink(url, url)
    server, path = urls.split(target.url)
    partition = frontier.partitions.of_server(server)
    client, prefix, member = frontier.client, partition.prefix, f"{server} {path}"
    lease = client.hget(prefix + "leases", target.url)
    retry = client.zscore(prefix + "retry", member)
    score = client.zscore(f"{prefix}queue:{server}", path)
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
        "server": {"name": server, "waiting": client.zcard(f"{prefix}queue:{server}"), **politeness},
        **_budgets(frontier, partition, server, path),
    }


def _budgets(frontier: Frontier, partition: Partition, server: str, path: str) -> dict[str, Any]:
    """How many URLs were added of a server, its domain, and the URL's path prefix."""
    prefix, domain = urls.path_prefix(path), urls.registrable_domain(server)
    of_server = frontier.client.hget(partition.prefix + "taken", server)
    of_prefix = frontier.client.hget(f"{partition.prefix}site:{server}", prefix)
    of_domain = frontier.client.hget(partition.prefix + "domains", domain)
    return {
        "taken": {
            "server": int(of_server or 0),
            "domain": {domain: int(of_domain or 0)},
            "prefix": {prefix: abs(int(of_prefix or 0))},
        }
    }
