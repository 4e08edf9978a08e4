"""What waits, and why? Questions that people ask of a frontier; none of them is on the crawl's way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgpack

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.orderings import Ordering
from webcrawler.records import Link

TURN = 2**40  # as in _common.lua
PLAIN = ("seen", "queued", "leased", "quarantined")


def stats(frontier: Frontier) -> dict[str, Any]:
    """The table of states; `seen` is the sum of the five."""
    counts = {
        name.decode(): int(n) for name, n in frontier.client.hgetall(frontier.prefix + "counts").items()
    }
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
    """The URLs that would come next, one at a time, if all servers were due and nothing new were found."""
    return list(islice(_next(frontier), limit))


def _next(frontier: Frontier) -> Iterator[str]:
    client, prefix = frontier.client, frontier.prefix
    servers = {s.decode() for name in ("ready", "wait") for s in client.zrange(prefix + name, 0, -1)}
    queues = {server: _queue(frontier, server) for server in servers}
    if client.hget(prefix + "meta", "turns") != b"1":
        waiting = ((score, server + path) for server, queue in queues.items() for path, score in queue)
        yield from (url for _, url in sorted(waiting))
        return
    newcomers, turns = client.hgetall(prefix + "newcomers"), client.hgetall(prefix + "turns")

    def rank(server: str) -> int:
        name = server.encode()
        return int(newcomers[name]) if name in newcomers else TURN + int(turns.get(name, 0))

    while queues:
        for server in sorted(queues, key=rank):
            path, _ = queues[server].pop(0)
            yield server + path
            if not queues[server]:
                del queues[server]


def _queue(frontier: Frontier, server: str) -> list[tuple[str, float]]:
    entries = frontier.client.zrange(f"{frontier.prefix}queue:{server}", 0, -1, withscores=True)
    return [(path.decode(), score) for path, score in entries]


def explain(frontier: Frontier, url: str) -> dict[str, Any]:
    """Where a URL stands and how its server is treated; `state` is "decided" where the catalog knows more."""
    target = urls.outlink(url, url)
    server, path = urls.split(target.url)
    client, prefix, member = frontier.client, frontier.prefix, f"{server} {path}"
    lease = client.hget(prefix + "leases", target.url)
    retry = client.zscore(prefix + "retry", member)
    score = client.zscore(f"{prefix}queue:{server}", path)
    shard = int(str(target.id)[-6:]) % 4096  # as in _common.lua
    state = "unseen"
    if lease:
        state = "leased"
    elif retry is not None or score is not None:
        state = "queued"
    elif client.sismember(f"{prefix}seen:{shard}", target.id):
        state = "decided"
    politeness = {
        k.decode(): int(float(v)) for k, v in client.hgetall(f"{frontier.base}server:{server}").items()
    }
    return {
        "url": target.url,
        "id": target.id,
        "refused": target.refused,
        "state": state,
        "worker": msgpack.unpackb(lease)[1] if lease else None,
        "not_before_ms": retry,
        "tries": int((client.hget(prefix + "tries", member) or b"0 ").split()[0]),
        "server": {"name": server, "waiting": client.zcard(f"{prefix}queue:{server}"), **politeness},
    }


def _refuse_while_in_use(frontier: Frontier) -> None:
    while frontier.expire():  # so many a call
        pass
    if frontier.workers():
        raise BadInput("a crawl is using this frontier: stop it first; after a kill -9 wait ten seconds")


def clear(frontier: Frontier) -> int:
    """Forgets all that this frontier has seen; pages and catalog stay. Returns how many URLs.

    Raises:
        BadInput: a crawl is alive.
    """
    _refuse_while_in_use(frontier)
    seen = stats(frontier)["seen"]
    for pattern in (frontier.prefix + "*", frontier.base + "server:*"):
        for keys in _batches(frontier.client.scan_iter(match=pattern.replace("{", "\\{"), count=1000), 1000):
            frontier.client.unlink(*keys)
    return int(seen)


def rescore(frontier: Frontier, mode: str, ordering: Ordering) -> Counter[str]:
    """Gives every waiting URL the priority of another ordering; discovery numbers stay.

    Raises:
        BadInput: a crawl is alive; what it has leased would come back with its old priority.
    """
    _refuse_while_in_use(frontier)
    changed: Counter[str] = Counter()
    client = frontier.client
    for key in client.scan_iter(match=frontier.prefix.replace("{", "\\{") + "queue:*", count=1000):
        server = key.decode().partition(":queue:")[2]
        scores = {}
        for path, score in client.zrange(key, 0, -1, withscores=True):
            scores[path] = _score(server + path.decode(), int(score), ordering)
        client.zadd(key, scores, xx=True)
        changed[server] = len(scores)
    for member, value in client.hgetall(frontier.prefix + "tries").items():
        url, (tries, score) = member.decode().replace(" ", ""), value.split()
        client.hset(
            frontier.prefix + "tries", member, b"%s %d" % (tries, _score(url, int(float(score)), ordering))
        )
    client.hset(frontier.prefix + "meta", mapping={"mode": mode, "turns": int(ordering.servers_take_turns)})
    for server in changed:
        frontier.postpone(server, 0.0)  # its rank follows its new head
    return changed


def _score(url: str, score: int, ordering: Ordering) -> int:
    """The score of a URL by another ordering: the discovery number is what the old one leaves of 2^32."""
    return score % 2**32 - ordering.first_priority(Link(url, urls.url_id(url), url)) * 2**32


def _batches(keys: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    while batch := list(islice(keys, size)):
        yield batch
