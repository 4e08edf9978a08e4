"""What people do with a frontier that is not in use: clear it, or give it another mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from shlex import quote
from typing import Any

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.inspect import stats
from webcrawler.frontier.scripts import Client, Partition
from webcrawler.orderings import Source, ordering
from webcrawler.records import Link

BATCH = 1_000  # keys or URLs a call
NAMED = frozenset({"queue", "site", "seen", "held", "raised"})  # kinds of many keys; others have one key


def refuse_while_in_use(frontier: Frontier) -> None:
    """Raises BadInput: a crawl is alive."""
    while frontier.expire():  # 1,000 a call
        pass
    if frontier.workers():
        raise BadInput("a crawl is using this frontier: stop it first; after a kill -9 wait ten seconds")


def mode_of(client: Client, asked: str, name: str = "index") -> str:
    """The mode to go on in: the one asked for, else the one that the frontier was filled with, else breadth.

    Raises:
        BadInput: it was filled with a user's class, which has to be named again: data may name no module.
    """
    stored = Frontier(client, ordering("fifo"), name).stored_mode()
    if not asked and stored:
        try:
            ordering(stored, by_path=False)
        except BadInput:
            raise BadInput(
                f"the frontier was filled with mode={stored}: add -a mode={quote(stored)}"
            ) from None
    return asked or stored or "breadth"


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


def _own_keys(frontier: Frontier) -> Iterator[str]:
    """The keys of all partitions; reads the names of all keys of Redis once."""
    by_base = {partition.base: partition for partition in frontier.partitions}
    for key in frontier.keys_of("{crawl:"):
        partition = by_base.get(key[: key.find("}:") + 2])
        if partition and key.startswith(partition.prefix) and _is_own(partition, key):
            yield key


def _is_own(partition: Partition, key: str) -> bool:
    """False for keys of a frontier whose name begins like this one's (`shop:eu`, when this is `shop`)."""
    kind, _, rest = key.removeprefix(partition.prefix).partition(":")
    return kind in NAMED if rest else True


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
