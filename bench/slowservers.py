"""A thousand servers that take two seconds, a thousand requests at once: what processors or politeness allow?

    python bench/slowservers.py [--servers 1000] [--answer 2] [--pages 10] [--rounds 3] [--json FILE]

Each server has an address of its own on loopback and pages of 1 KB. Bare Scrapy without delays says what the
processors allow, a page in the answer and a delay of a second what politeness allows. Our crawl has
everything on: parsers, WARC, catalog, index. Rounds are interleaved, the table shows medians.

    pages/s   from the first request to the last answer, as the servers see it
    allowed   what processors or politeness allow in this round, whichever is less
    x         pages/s of what is allowed
    MB        peak memory of the crawling process
    ms/page   processor time of the crawling process, and of those that it started
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

from contenders import NOT_PASSED_ON, PEERS, catch_up
from processes import measure
from rich.console import Console
from rich.table import Table
from serving import ROOT

DELAY_SECONDS = 1.0
AT_ONCE = 1000
WORDS, VOCABULARY = 140, 20_000
OURS = {
    "CONCURRENT_REQUESTS": AT_ONCE,
    "FRONTIER_SERVER_CONCURRENCY": 1,
    "FRONTIER_DELAY": DELAY_SECONDS,
    "FRONTIER_SLOWNESS": 0,
    "ADDRESSES_ALLOWED": "127.0.0.0/8",
    "ROBOTSTXT_OBEY": "no",
    "LOG_LEVEL": "WARNING",
}
BARE = {"CONCURRENT_REQUESTS": AT_ONCE}


class Run(NamedTuple):
    """One crawl; its fields are columns of the table."""

    pages_s: float
    allowed: float
    x: float
    pages: float
    mb: float
    own_ms: float
    others_ms: float


def main() -> None:
    arguments = _arguments()
    runs: dict[str, list[Run]] = {"bare Scrapy": [], "ours": []}
    for _ in range(arguments.rounds):
        most = arguments.servers / (arguments.answer + DELAY_SECONDS)
        for name, done in runs.items():
            done.append(_run(name, arguments, most))
            most = min(most, done[-1].pages_s)
            print(f"{name}: {done[-1]}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    table = Table("", *("/".join(field.rsplit("_", 1)) for field in Run._fields))
    for name, done in runs.items():
        table.add_row(name, *(f"{median(values):.3g}" for values in zip(*done, strict=True)))
    Console(width=100).print(table)
    if arguments.json:
        rows = {name: [run._asdict() for run in done] for name, done in runs.items()}
        arguments.json.write_text(json.dumps(rows, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--servers", type=int, default=1000, metavar="N", help="(1000)")
    parser.add_argument("--answer", type=float, default=2.0, metavar="S", help="of a page (2)")
    parser.add_argument("--pages", type=int, default=10, metavar="N", help="of each server (10)")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="of both (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(name: str, arguments: argparse.Namespace, most: float) -> Run:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, _servers(arguments) as servers:
        at, is_ours, log = Path(folder), name == "ours", Path(folder) / "log"
        what = ["crawl", "index"] if is_ours else ["runspider", str(PEERS / "plain.py")]
        settings = (OURS | {"CRAWL_DIR": at / "crawl"}) if is_ours else BARE
        settings |= {"STATS_CLASS": "counts.CountsFile", "COUNTS_FILE": at / "counts.json"}
        given = [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]
        seed = ["-a", f"seed{'s' * is_ours}={servers.url}"]
        command = [sys.executable, "-m", "scrapy", *what, *seed, *given]
        measured = measure(command, _environment(), ROOT if is_ours else at, log)
        if measured.status:
            sys.exit(f"bench: {name} ended with {measured.status}:\n{log.read_text()[-3000:]}")
        pages, seconds = servers.stop()
        if is_ours:
            catch_up(at / "crawl")  # the next run shall have the machine
        peak_mb = json.loads((at / "counts.json").read_text())["peak_mb"]
    own, others = (1000 * cpu / pages for cpu in (measured.cpu_seconds, measured.others_cpu_seconds))
    return Run(pages / seconds, most, pages / seconds / most, pages, peak_mb, own, others)


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in NOT_PASSED_ON}
    return kept | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, PEERS.parent))), "no_proxy": "*"}


# ---- the servers, in a process of their own


class Servers:
    """All of them: one process that listens on each address of loopback."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        options = {"--servers": arguments.servers, "--answer": arguments.answer, "--pages": arguments.pages}
        words = [str(part) for option in options.items() for part in option]
        command = [sys.executable, __file__, "--serve", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip()

    def stop(self) -> tuple[int, float]:
        """How many pages they gave, and the seconds from the first request to the last answer."""
        self.process.terminate()
        pages, seconds = json.loads(self.process.communicate()[0] or "[0, 0]")
        return pages, seconds


@contextmanager
def _servers(arguments: argparse.Namespace) -> Iterator[Servers]:
    servers = Servers(arguments)
    try:
        yield servers
    finally:
        servers.process.kill()
        servers.process.wait()


class Answering(asyncio.Protocol):
    """One connection, with one request at a time."""

    asked = answered = 0
    first = last = 0.0

    def __init__(self, arguments: argparse.Namespace, loop: asyncio.AbstractEventLoop) -> None:
        self._arguments, self._loop = arguments, loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        host = data.lower().partition(b"\r\nhost: ")[2].partition(b"\r\n")[0].decode()
        path = data.split(b" ", 2)[1].decode()
        if not host.startswith("127.0.0.1:"):  # the list of all servers
            Answering.first = Answering.first or time.monotonic()
        self._loop.call_later(self._arguments.answer, self._answer, host, path)

    def _answer(self, host: str, path: str) -> None:
        body = _page(host, path, self._arguments.servers, self._arguments.pages)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)
        Answering.answered += 1
        Answering.last = time.monotonic()


@cache
def _page(host: str, path: str, servers: int, pages: int) -> bytes:
    """Always the same for a URL, and like no other page."""
    draw = random.Random(host + path)
    address, _, port = host.partition(":")
    if address == "127.0.0.1":
        links = [f"http://127.1.{n // 250}.{n % 250 + 1}:{port}/0" for n in range(servers)]
    else:
        links = [f"/{n}" for n in range(pages)]
    text = " ".join(f"w{draw.randrange(VOCABULARY)}" for _ in range(WORDS))
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<!doctype html><title>{host}{path}</title><p>{text}<p>{anchors}".encode()


async def serve(arguments: argparse.Namespace) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    server = await loop.create_server(lambda: Answering(arguments, loop), "0.0.0.0", 0, backlog=AT_ONCE)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
    await ended.wait()
    print(json.dumps([Answering.answered, Answering.last - Answering.first]), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(_arguments())) if "--serve" in sys.argv else main()
