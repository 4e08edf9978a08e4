"""Bytes of Redis per URL: waiting, and decided, when only its id is left."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import redis
from rich.console import Console
from rich.table import Table
from synthetic import ScrapyRedis, link, open_frontier, request

from webcrawler.connection import Connection, connect
from webcrawler.frontier import Done, Frontier, Report
from webcrawler.records import Link

URLS_PER_SERVER = 100
CALL = 1_000
PEER_URLS = 200_000
KINDS = ("used_memory", "used_memory_dataset")
Bytes = dict[str, float]


def measure(urls: int, per_server: int) -> dict[str, Bytes]:
    """Fills a new server for each of the two, and prints a table."""
    rows: dict[str, Bytes] = {}
    for fill, number in ((_peer, min(urls, PEER_URLS)), (_ours, urls)):
        with tempfile.TemporaryDirectory() as folder, connect(None, Path(folder)) as connection:
            rows |= fill(connection, number, max(1, number // per_server))
    table = Table(
        "bytes per URL",
        "used_memory",
        "dataset",
        title=f"{urls:,} URLs of 64 characters, {per_server:,} a server",
    )
    for name, row in rows.items():
        table.add_row(name, *(f"{row[kind]:.1f}" for kind in KINDS))
    Console().print(table)
    return rows


def _numbered(urls: int, servers: int) -> Iterator[list[Link]]:
    """Links in calls of 1,000, the same number for each server, server after server."""
    for start in range(0, urls, CALL):
        yield [link(number * servers // urls, number) for number in range(start, min(start + CALL, urls))]


def _used(client: redis.Redis) -> Bytes:
    info = client.info("memory")
    return {kind: float(info[kind]) for kind in KINDS}


def _ours(connection: Connection, urls: int, servers: int) -> dict[str, Bytes]:
    frontier = open_frontier(connection, "ann")
    _take_all(frontier)  # loads the scripts
    before = _used(connection.client)
    for links in _numbered(urls, servers):
        frontier.discover(links)
    waiting = _used(connection.client)
    print("filled; now all are fetched", file=sys.stderr, flush=True)
    _take_all(frontier)
    return {
        "waiting, with its id": _per_url(before, waiting, urls),
        "decided": _per_url(before, _used(connection.client), urls),
    }


def _take_all(frontier: Frontier) -> None:
    while leases := frontier.lease(250).leases:
        frontier.fetched([Report(lease, 0.0) for lease in leases])
        frontier.complete([Done(lease, "document", True) for lease in leases])


def _peer(connection: Connection, urls: int, servers: int) -> dict[str, Bytes]:
    """Its commands through a pipeline, as this is not about speed."""
    peer, client = ScrapyRedis(connection.client), connection.client
    before = _used(client)
    for links in _numbered(urls, servers):
        client.sadd(peer.dupefilter.key, *(peer.dupefilter.request_fingerprint(request(of)) for of in links))
    decided = _used(client)
    for links in _numbered(urls, servers):
        client.zadd(peer.queue.key, {peer.queue._encode_request(request(of)): 0 for of in links})
    waiting = _used(client)
    return {
        "scrapy-redis, waiting, with its fingerprint": _per_url(before, waiting, urls),
        "scrapy-redis, decided": _per_url(before, decided, urls),
    }


def _per_url(before: Bytes, after: Bytes, urls: int) -> Bytes:
    return {kind: (after[kind] - before[kind]) / urls for kind in KINDS}
