"""Work on a frontier that is not in use: clear it, change its mode, delete those of dead searches.

Each real-time search has a frontier of its own, which is deleted when the search ends or has died. A search
that dies leaves places of servers taken, and no other frontier knows of that: so all workers look for dead
searches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from shlex import quote
from typing import Any

import msgpack

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.frontier import wire
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.inspect import stats
from webcrawler.frontier.marks import KIND
from webcrawler.frontier.slots import Client, Partition, Partitions, now_ms
from webcrawler.orderings import Source, ordering
from webcrawler.records import Link

SEARCHES_BASE = "{crawl:0}:"
SEARCHES = f"{SEARCHES_BASE}searches"  # zset: name of a search's frontier -> ms when a worker was last alive
CARRIED = "carried"  # list: what waited in a frontier that is filled again
MISSING_MS = 600_000  # for which a search may be silent, as one that was killed, before its frontier goes
BATCH = 1_000  # keys or URLs a call
PARTITIONS_LEAST, PARTITIONS_EACH = 16, 4  # of a frontier for several workers
# Kinds of many keys; others have one key.
NAMED = frozenset({"queue", "site", "seen", "held", "raised", "marks"})


def refuse_while_in_use(frontier: Frontier) -> None:
    """Raises BadInput: a crawl is alive."""
    while frontier.expire():  # 1,000 a call
        pass
    if frontier.workers():
        raise BadInput("a crawl is using this frontier: stop it first; after a kill -9 wait ten seconds")


def mode_of(client: Client, asked: str, name: str = "index", otherwise: str = "") -> str:
    """The mode to go on in: the one asked for, else the one that the frontier was filled with, else breadth.

    Args:
        otherwise: that of a frontier that was lost.
    Raises:
        BadInput: it was filled with a user's class, which has to be named again: data may name no module.
    """
    stored = Frontier(client, ordering("fifo"), name).stored_mode() or otherwise
    if not asked and stored:
        try:
            ordering(stored, by_path=False)
        except BadInput:
            raise BadInput(
                f"the frontier was filled with mode={stored}: add -a mode={quote(stored)}"
            ) from None
    return asked or stored or "breadth"


def partitions_for(frontier: Frontier, workers: int) -> int:
    """The number of partitions for so many workers: enough for a fair share of them to each.

    As it is for one worker, where it was made already, or where Redis knows servers already: how these are
    treated, and whether they are blocked, is kept in their partition.
    """
    known = frontier.keys_of(Partitions.of(frontier.name, 1)[0].base + "server:")
    if workers == 1 or frontier.stored_partitions() or any(True for _ in known):
        return 0
    return max(PARTITIONS_LEAST, PARTITIONS_EACH * workers)


def clear(frontier: Frontier, with_servers: bool = True) -> int:
    """Forgets all that this frontier has seen; pages and catalog stay. Returns how many URLs.

    What all frontiers share, how servers are treated, goes with the last frontier; blocks stay.

    Raises:
        BadInput: a crawl is alive.
    """
    refuse_while_in_use(frontier)
    seen = stats(frontier)["seen"]
    _unlink(frontier, _own_keys(frontier))
    if with_servers and not any(key.endswith(":meta") for key in frontier.keys_of("{crawl:")):
        for partition in frontier.partitions:
            servers = frontier.keys_of(partition.base + "server:")
            _unlink(frontier, (key for key in servers if not frontier.client.hexists(key, "blocked")))
    return int(seen)


def begin_anew(frontier: Frontier, others: Collection[str]) -> None:
    """Empties a frontier that data folders are going to fill again; how servers are treated stays.

    What waited is set aside in Redis, as not all of it is in a catalog: see `carried`.

    Args:
        others: data folders that nobody may crawl it without.
    """
    client, first = frontier.client, frontier.partitions[0].prefix
    for partition in frontier.partitions:
        for some in _batches(_waiting(frontier, partition)):
            members = [" ".join(urls.split(link.url)) for link in some]
            names = [client.hmget(partition.prefix + name, members) for name in ("spelling", "request")]
            rows = zip([link.url for link in some], *names, strict=True)
            client.rpush(first + CARRIED, *map(wire.pack, rows))
    if others:
        client.sadd(frontier.rebuilding, *others)
    keys = sorted(_own_keys(frontier), key=lambda key: KIND in key)  # whom it knows last, lest it is killed
    stays = {first + CARRIED, frontier.rebuilding, *(one.prefix + "meta" for one in frontier.partitions)}
    _unlink(frontier, (key for key in keys if key not in stays))
    client.hdel(first + "meta", "scope")
    frontier.intake.forget()
    if not any(key.endswith(":downloading") for key in frontier.keys_of("{crawl:")):
        for key in chain.from_iterable(frontier.keys_of(one.base + "server:") for one in frontier.partitions):
            client.hdel(key, "active")  # of downloads that were lost with their keys


def carried(frontier: Frontier) -> Iterator[list[Link]]:
    """What waited when the frontier was emptied; after the last of it, it is set aside no more."""
    key = frontier.partitions[0].prefix + CARRIED
    for start in range(0, frontier.client.llen(key), BATCH):
        rows = map(msgpack.unpackb, frontier.client.lrange(key, start, start + BATCH - 1))
        yield [
            _link(url)._replace(spelling=(spelling or b"").decode() or url, request=(request or b"").decode())
            for url, spelling, request in rows
        ]
    frontier.client.unlink(key)


def count_tokens_from(frontier: Frontier, token: int) -> None:
    """Leases get higher tokens than this one, of a fetch: its clock may have been ahead of what it is now."""
    for counts in (partition.prefix + "counts" for partition in frontier.partitions):
        if int(frontier.client.hget(counts, "token") or 0) < token:
            frontier.client.hset(counts, "token", token)


def _own_keys(frontier: Frontier) -> Iterator[str]:
    """The keys of all partitions; reads the names of all keys of Redis once."""
    by_base = {partition.base: partition for partition in frontier.partitions}
    for key in frontier.keys_of("{crawl:"):
        partition = by_base.get(key[: key.find("}:") + 2])
        if partition and key.startswith(partition.prefix):
            kind, _, rest = key.removeprefix(partition.prefix).partition(":")
            if not rest or kind in NAMED:  # else it is of `shop:eu`, when this frontier is `shop`
                yield key


def _unlink(frontier: Frontier, keys: Iterable[str]) -> None:
    for some in _batches(iter(keys)):
        frontier.client.unlink(*some)


def rescore(frontier: Frontier, mode: str) -> int:
    """Gives the frontier a mode, and every waiting URL its priority by the frontier's ordering.

    Ties stay in order of discovery. Returns how many URLs.

    Raises:
        BadInput: a crawl is alive; URLs that it has leased would come back with their old priorities.
    """
    refuse_while_in_use(frontier)
    changed = 0
    frontier.set_mode(mode)
    # The pages that link there are not known any more, but what waits must not be taken for seeds.
    source = Source() if frontier.ordering.seeds_first or frontier.ordering.learns else None
    for partition in frontier.partitions:
        for some in _batches(_waiting(frontier, partition)):
            priorities = [frontier.ordering.first_priority(link, source) for link in some]
            changed += frontier.rescore(some, priorities, keep_classes=False)
    return changed


def refuse(frontier: Frontier, refusal: Callable[[str], str], scope: str) -> int:
    """Decides what waits and is refused now, as failed for that reason; also while crawls are alive.

    Asks for all URLs that wait, some seconds for a million, unless it did so for this scope last. Those with
    a request of their own, as sitemaps have, are left to the worker that leases them.

    Args:
        refusal: why a canonical URL is not to be fetched, or "".
        scope: names what the refusals come from.
    Returns:
        How many URLs.
    """
    refused = 0
    for partition in frontier.partitions if frontier.slots.stored("scope") != scope else ():
        for some in _batches(_waiting(frontier, partition)):
            by_reason: dict[str, list[str]] = {}
            for link in some:
                if reason := refusal(link.url):
                    by_reason.setdefault(reason, []).append(link.url)
            for reason, named in by_reason.items():
                members = [" ".join(urls.split(url)) for url in named]
                requests = frontier.client.hmget(partition.prefix + "request", members)
                plain = [url for url, request in zip(named, requests, strict=True) if not request]
                refused += frontier.refuse(plain, reason)
    frontier.client.hset(frontier.partitions[0].prefix + "meta", "scope", scope)
    return refused


def _waiting(frontier: Frontier, partition: Partition) -> Iterator[Link]:
    """All URLs that wait, also those to be tried again, which are in no queue."""
    client, prefix = frontier.client, partition.prefix
    for key in frontier.keys_of(prefix + "queue:"):
        server = key.removeprefix(prefix + "queue:")
        for path, _ in client.zscan_iter(key, count=BATCH):
            yield _link(server + path.decode())
    for member, _ in client.zscan_iter(prefix + "retry", count=BATCH):
        yield _link(member.decode().replace(" ", "", 1))


def _link(url: str) -> Link:
    return Link(url, urls.url_id(url), url)


def _batches(things: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(things, BATCH)):
        yield batch


def enter_search(client: Client, name: str) -> None:
    """Registers a search whose worker has said that it lives."""
    client.zadd(SEARCHES, {name: now_ms(client, SEARCHES_BASE)})


def leave_search(client: Client, name: str) -> None:
    """Deletes a search's frontier.

    Raises:
        BadInput: a worker of it is alive.
    """
    clear(Frontier(client, ordering("fifo"), name), with_servers=False)
    client.zrem(SEARCHES, name)


def look_after_searches(client: Client, is_dead: Callable[[str], bool] = lambda worker: False) -> None:
    """Gives back what dead searches hold, and deletes those that have been silent for long.

    Args:
        is_dead: is a worker known to be dead? What it holds is given back at once.
    """
    known = client.zrange(SEARCHES, 0, -1, withscores=True)
    now = now_ms(client, SEARCHES_BASE) if known else 0
    for name, seen_ms in known:
        frontier = Frontier(client, ordering("fifo"), name.decode())
        while frontier.expire_dead(is_dead):  # 1,000 a call
            pass
        if frontier.workers():
            client.zadd(SEARCHES, {name: now}, xx=True)
        elif now - seen_ms > MISSING_MS:
            with suppress(BadInput):  # it has just come back
                leave_search(client, name.decode())
