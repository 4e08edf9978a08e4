"""Helpers of the tests on the frontier: short ways to say what happens, and to look into Redis."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

import redis

from webcrawler.clock import now
from webcrawler.frontier import Done, Failed, Frontier, Report, maintenance, ordering, slots
from webcrawler.job import seed_link
from webcrawler.records import Entry, Fetch, Lease, Link, Text

OWN_TIMES = ("wait", "retry", "ends", "workers")  # sorted sets whose scores are times


def prefix_of(frontier: Frontier) -> str:
    """Of a frontier of one partition."""
    (partition,) = frontier.partitions
    return partition.prefix


def links(*urls: str) -> list[Link]:
    return [seed_link(url) for url in urls]


def lease_one(frontier: Frontier) -> Lease:
    found = frontier.lease(1)
    assert len(found.leases) == 1, f"nothing is due: {found}"
    return found.leases[0]


def fetch(frontier: Frontier, lease: Lease, seconds: float = 0.0, **report: object) -> None:
    frontier.fetched([Report(lease, seconds, **report)])  # type: ignore[arg-type]


def done(lease: Lease, *outlinks: str, reason: str = "document") -> Done:
    return Done(lease, reason, reason == "document", links(*outlinks))


def visit(frontier: Frontier, *outlinks: str, reason: str = "document") -> str:
    """One URL from lease to decision, as a crawl with one request at a time does it."""
    lease = lease_one(frontier)
    fetch(frontier, lease)
    assert frontier.complete([done(lease, *outlinks, reason=reason)]) != [-1]
    return lease.url


def visit_all(frontier: Frontier) -> list[str]:
    order = []
    while frontier.lease(0).queued:
        order.append(visit(frontier))
    return order


def fail(frontier: Frontier, lease: Lease, reason: str = "server-error", retry: bool = True) -> int:
    return frontier.fail([Failed(lease, f"failed/{reason}", retry)])[0]


def page(lease: Lease, *outlinks: Link, body: bytes = b"", noindex: bool = False) -> Entry:
    """A fetched document, as the pipelines hand it over."""
    body = body or lease.url.encode()
    html = (("Content-Type", "text/html"),)
    fetch = Fetch(lease, "done", "document", now(), 0.1, 200, html, body)
    text = Text(lease.url, "", "", "", "some words")
    return Entry(fetch, hashlib.sha1(body).digest(), None, tuple(outlinks), text, noindex, archive=True)


def rescore(frontier: Frontier, mode: str) -> int:
    frontier.order_by(ordering(mode))
    return maintenance.rescore(frontier, mode)


def let_pass(frontier: Frontier, seconds: float) -> None:
    """Time goes by: every time that stands in Redis moves back by as much. No test sleeps."""
    timed = [partition.prefix + name for partition in frontier.partitions for name in OWN_TIMES]
    servers = frontier.client.keys("*}:server:*")
    ask = frontier.client.pipeline(transaction=False)
    for key in timed:
        ask.zrange(key, 0, -1)
    for key in servers:
        ask.hexists(key, "next")
    found = ask.execute()
    move = frontier.client.pipeline(transaction=False)
    for key, members in zip(timed, found, strict=False):
        for member in members:
            move.zincrby(key, -seconds * 1000, member)
    for key, has_time in zip(servers, found[len(timed) :], strict=True):
        if has_time:
            move.hincrby(key, "next", -round(seconds * 1000))
    for partition in frontier.partitions:
        if frontier.client.hexists(partition.prefix + "meta", "heard"):
            move.hincrby(partition.prefix + "meta", "heard", -round(seconds * 1000))
    move.execute()


def set_back(frontier: Frontier, seconds: float) -> None:
    """Redis' clock is set back: by what it says then, every time that stands in Redis is as much later."""
    frontier.expire()  # as a worker does all the time: the newest time is known
    let_pass(frontier, -seconds)
    for partition in frontier.partitions:
        if clock := frontier.client.get(partition.base + "clock"):
            newest, ahead = map(int, clock.split())
            frontier.client.set(partition.base + "clock", f"{newest + round(1000 * seconds)} {ahead}")
    frontier.expire()


def now_ms(frontier: Frontier) -> int:
    """By the clock of its first partition."""
    return slots.now_ms(frontier.client, frontier.partitions[0].base)


def next_due_ms(frontier: Frontier, server: str, since: int = 0) -> int:
    """Milliseconds from now, or from that moment, until a server is due."""
    due = frontier.client.hget(frontier.shared_key("server", server), "next") or 0
    return int(due) - (since or now_ms(frontier))


def places(frontier: Frontier) -> dict[str, list[str]]:
    """Every URL that waits or is out, with each place it stands at; decided ones stand nowhere."""
    client, prefix = frontier.client, prefix_of(frontier)
    found: dict[str, list[str]] = {}
    for key in client.scan_iter(match=f"{prefix}queue:*"):
        server = key.decode().removeprefix(prefix + "queue:")
        for path in client.zrange(key, 0, -1):
            found.setdefault(server + path.decode(), []).append("queue")
    for member in client.zrange(prefix + "retry", 0, -1):
        found.setdefault(member.decode().replace(" ", ""), []).append("retry")
    for url in client.hkeys(prefix + "leases"):
        found.setdefault(url.decode(), []).append("leased")
    return found


def seen(client: redis.Redis, prefix: str) -> int:
    """How many ids the sets of seen URLs hold."""
    return sum(client.scard(key) for key in client.scan_iter(match=f"{prefix}seen:*"))


def breadth_first(web: dict[str, tuple[str, Sequence[str]]], seeds: Sequence[str]) -> list[str]:
    """Pinkerton's indexing mode over a known web: URL -> (what it comes to, outlinks)."""
    waiting: dict[str, list[str]] = {}
    accessed: Counter[str] = Counter()
    new: list[str] = []  # servers without a document, first found first
    order: list[str] = []
    known: set[str] = set()

    def find(urls: Sequence[str]) -> None:
        for url in (url for url in urls if url not in known):
            server = "http://" + urlsplit(url).netloc
            if server not in waiting:
                new.append(server)
            waiting.setdefault(server, []).append(url)
            known.add(url)

    find(seeds)
    while any(waiting.values()):
        servers = [s for s in new if waiting[s]] or sorted(
            (s for s in waiting if waiting[s]), key=accessed.get
        )
        url = waiting[servers[0]].pop(0)
        order.append(url)
        accessed[servers[0]] = len(order)
        find(web[url][1])
        if servers[0] in new and (web[url][0] == "document" or not waiting[servers[0]]):
            new.remove(servers[0])
    return order
