"""Does the search page stay quick while a crawl writes and a thousand slow clients hold on to it?

    python bench/page.py CRAWL_DIR [--rate 50] [--seconds 60] [--clients 1000] [--seeds URLS] [--nice 0]

A real `scrapy serve` (SERVE_RATE off) over CRAWL_DIR, which is written to: a crawl of SEEDS (default: the
demo web; `http_proxy` may lead to a docweb) without delays runs on it meanwhile, with all its companions.
Searches are sent at even times, whether earlier ones are answered or not, each on a connection of its own;
seconds count from when one is due until its answer is whole. Queries are drawn as for search.py, each asked
about twice: of what people ask a search engine, about half was asked before. Of the slow clients half never
finish their request's head, a third hold connections that they do not use, the others read an answer byte by
byte; all come again when they are thrown out. An answer that is not 200, or none within 10 s, is an error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from rich.console import Console
from rich.table import Table
from search import draw_queries

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 10.0
IMPOLITE = {"FRONTIER_DELAY": "0", "CRAWL_DELAY_MAX": "0", "PROTOCOLS": "http"}
HEAD = "GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SCRAPY = [sys.executable, "-m", "scrapy"]


def main() -> None:
    told = _arguments()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    chance = random.Random(told.seed)
    queries = list(draw_queries(told.crawl_dir, told.rate * told.seconds // 2, chance))
    asked = [f"/search?q={quote_plus(chance.choice(queries))}" for _ in range(told.rate * told.seconds)]
    with _serving(told.crawl_dir) as (server, port), _crawling(told.crawl_dir, told.seeds, told.nice):
        figures = asyncio.run(Load(port, server, asked, told.rate, told.clients).run())
    _print(figures)
    if told.json:
        told.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


class Load:
    """Those that ask, and those that only hold on."""

    def __init__(self, port: int, server: int, asked: list[str], rate: int, clients: int) -> None:
        self._port, self._server, self._rate, self._clients = port, server, rate, clients
        self._asked = asked
        self._seconds: list[float] = []
        self._faults: list[str] = []
        self._held: list[int] = []
        self._crawled: list[int] = []
        self._crawling: list[bool] = []
        self._open = 0
        self._all_here = asyncio.Event()

    async def run(self) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        kinds = [self._never_ask] * 3 + [self._only_stay] * 2 + [self._read_slowly]
        slow = [asyncio.create_task(kinds[n % len(kinds)]()) for n in range(self._clients)]
        await self._all_here.wait()
        began = _processor_seconds(self._server)
        begin, searches = loop.time() + 0.1, []
        for number, path in enumerate(self._asked):
            due = begin + number / self._rate
            await asyncio.sleep(due - loop.time())
            searches.append(asyncio.create_task(self._search(path, due)))
            if number % self._rate == 0:
                self._held.append(self._open)
                searches.append(asyncio.create_task(self._look()))
        await asyncio.gather(*searches)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        return self._figures(began)

    async def _search(self, path: str, due: float) -> None:
        try:
            answer = await asyncio.wait_for(self._get(path), PATIENCE_SECONDS)
            if not answer.startswith(b"HTTP/1.1 200") or not answer.rstrip().endswith(b"</html>"):
                self._faults.append(answer[:100].decode("latin-1"))
        except (OSError, TimeoutError) as error:
            self._faults.append(repr(error))
        self._seconds.append(asyncio.get_running_loop().time() - due)

    async def _look(self) -> None:
        """How far the crawl is."""
        with suppress(OSError, TimeoutError, ValueError, TypeError):  # no frontier, no answer
            answer = await asyncio.wait_for(self._get("/api/status"), PATIENCE_SECONDS)
            status = json.loads(answer.partition(b"\r\n\r\n")[2])
            self._crawling.append(status["crawling"])
            self._crawled.append(status["frontier"]["stats"]["done"])

    async def _get(self, path: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(f"{HEAD.format(path)}Connection: close\r\n\r\n".encode())
            return await reader.read(-1)
        finally:
            writer.close()

    # Slow clients: each comes again when it is thrown out.

    async def _never_ask(self) -> None:
        while True:
            await self._hold(HEAD.format("/").encode(), 1)

    async def _only_stay(self) -> None:
        while True:
            await self._hold(HEAD.format("/").encode() + b"\r\n", 65_536)

    async def _read_slowly(self) -> None:
        while True:
            await self._hold(HEAD.format("/api").encode() + b"\r\n", 1)

    async def _hold(self, sent: bytes, at_once: int) -> None:
        """Until the server has had enough."""
        await asyncio.sleep(random.random())
        loop = asyncio.get_running_loop()
        with suppress(OSError), socket.socket() as client:
            client.setblocking(False)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            await loop.sock_connect(client, ("127.0.0.1", self._port))
            self._open += 1
            if self._open >= self._clients * 0.95:
                self._all_here.set()
            try:
                await loop.sock_sendall(client, sent)
                while await loop.sock_recv(client, at_once):  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
            finally:
                self._open -= 1

    def _figures(self, began: float) -> dict[str, Any]:
        ordered = sorted(self._seconds)
        return {
            "searches": len(ordered),
            "searches_per_second": self._rate,
            "errors": len(self._faults),
            "first_errors": self._faults[:5],
            "p50_ms": round(ordered[len(ordered) // 2] * 1000, 1),
            "p99_ms": round(ordered[-(-len(ordered) * 99 // 100) - 1] * 1000, 1),
            "max_ms": round(ordered[-1] * 1000, 1),
            "slow_clients_held": [min(self._held), max(self._held)],
            "crawl_ran_all_the_time": all(self._crawling),
            "pages_crawled_meanwhile": max(self._crawled, default=0) - min(self._crawled, default=0),
            "server_processor_seconds": round(_processor_seconds(self._server) - began, 1),
            "server_rss_mb": _peak_mb(self._server),
            "load_average": os.getloadavg()[0],
        }


@contextmanager
def _serving(crawl_dir: Path) -> Iterator[tuple[int, int]]:
    """Process and port."""
    command = [*SCRAPY, "serve", "--port", "0", "-s", "SERVE_RATE="]
    server = subprocess.Popen(command, cwd=ROOT, env=_told(crawl_dir), stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        line = server.stdout.readline()
        found = re.search(r":(\d+)\b", line.partition("//")[2])
        if found is None:
            sys.exit(f"page: the server did not start: {line}")
        yield server.pid, int(found[1])
    finally:
        server.terminate()
        server.wait()


@contextmanager
def _crawling(crawl_dir: Path, seeds: str, nice: int) -> Iterator[None]:
    command = ["nice", "-n", str(nice), *SCRAPY, "crawl", "index", "-L", "ERROR", "-a", f"seeds={seeds}"]
    crawl = subprocess.Popen(command, cwd=ROOT, env=_told(crawl_dir), stdout=subprocess.DEVNULL)
    try:
        time.sleep(PATIENCE_SECONDS)  # it has begun to write by then
        yield
    finally:
        crawl.terminate()
        crawl.wait()


def _told(crawl_dir: Path) -> dict[str, str]:
    return os.environ | IMPOLITE | {"CRAWL_DIR": str(crawl_dir.absolute())}


def _peak_mb(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text("ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) // 1000


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _print(figures: dict[str, Any]) -> None:
    table = Table("figure", "value")
    for name, value in figures.items():
        table.add_row(name.replace("_", " "), str(value))
    Console().print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("crawl_dir", type=Path, help="data folder; the crawl writes to it")
    parser.add_argument("--rate", type=int, default=50, help="searches a second")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=1000, help="slow clients")
    parser.add_argument("--seeds", default="", help="of the crawl that runs meanwhile")
    parser.add_argument("--nice", type=int, default=0, help="of the crawl: 10 leaves searches the first turn")
    parser.add_argument("--seed", type=int, default=1, help="of the queries")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
