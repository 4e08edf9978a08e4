"""Frontiers of one Redis on one server: do they keep its rate together, and what do they ask of Redis?

    python bench/sharing.py [--delays 0.1,1] [--answer-ms 50] [--frontiers 2] [--seconds 20] [--json FILE]

A server with pages without end is crawled by one spider over the frontier, then by several, each with a
frontier of its own on the same Redis. Politeness allows one page in the delay and the time of an answer.

    pages/s   that the server was asked for, by all; x  of what politeness allows
    least     share of the frontier that got the fewest, of an even share
    longest   time that a frontier went without a page, in turns of one delay and answer
    gap       shortest pause between two downloads, of the delay: 1 or more, or politeness was broken
    trips/s   reads of Redis, heartbeats included
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from serving import ROOT

sys.path.insert(0, str(Path(__file__).parent / "faults"))
from marked import Mark, until
from redisserver import RedisServer

START_SECONDS = 10.0
PEER = Path(__file__).parent / "peers" / "plain.py"


class Endless:
    """A server with pages without end, on a thread of its own; frontiers are told apart by User-Agent."""

    def __init__(self, answer_seconds: float) -> None:
        self.asked: list[tuple[str, float, float]] = []  # by whom, from when to when
        self._answer_seconds = answer_seconds
        self._loop = asyncio.new_event_loop()
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                begun = time.monotonic()
                await asyncio.sleep(self._answer_seconds)
                agent = request.lower().partition(b"user-agent: ")[2].partition(b"\r\n")[0].decode()
                self.asked.append((agent, begun, time.monotonic()))
                path = request.split(b" ", 2)[1].strip(b"/")
                body = b"".join(b'<a href="/%b%d">next</a> ' % (path, n) for n in range(3))
                head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()


class Run(NamedTuple):
    """One crawl of the server; its fields are the columns of the table."""

    delay: float
    frontiers: int
    pages_s: float
    x: float
    least: float
    longest: float
    gap: float
    trips_s: float


def main() -> None:
    arguments = _arguments()
    runs = [
        _run(delay, frontiers, arguments.answer_ms / 1000, arguments.seconds)
        for delay in map(float, arguments.delays.split(","))
        for frontiers in (1, arguments.frontiers)
    ]
    table = Table(*(name.replace("_", "/") for name in Run._fields))
    for run in runs:
        table.add_row(*(f"{value:.3g}" for value in run))
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps([run._asdict() for run in runs], indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--delays", default="0.1,1", metavar="S,S", help="FRONTIER_DELAY (0.1,1)")
    parser.add_argument("--answer-ms", type=int, default=50, metavar="MS", help="of each page (50)")
    parser.add_argument("--frontiers", type=int, default=2, metavar="N", help="beside each other (2)")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="of each crawl (20)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _run(delay: float, frontiers: int, answer_seconds: float, seconds: float) -> Run:
    web, names = Endless(answer_seconds), [f"shop{n}" for n in range(frontiers)]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        redis = RedisServer(Path(folder) / "redis", Mark())
        opened.callback(redis.stop)
        for name in names:
            process = subprocess.Popen(_command(name, web.url, delay, redis.port), env=_environment())
            opened.callback(process.wait)
            opened.callback(process.terminate)
        with suppress(TimeoutError):  # one may find no place
            until(lambda: len({by for by, *_ in web.asked}) == frontiers, START_SECONDS, "for all frontiers")
        begun, trips = time.monotonic(), redis.client.info()["total_reads_processed"]
        time.sleep(seconds)
        ended, trips = time.monotonic(), redis.client.info()["total_reads_processed"] - trips
    asked = sorted((since, until, by) for by, since, until in web.asked if begun <= since < ended)
    shares = Counter(by for *_, by in asked)
    turns = [sorted(since for since, _, by in asked if by == name) for name in names]
    waits = [later - one for times in turns for one, later in pairwise(times)]
    gaps = [later[0] - one[1] for one, later in pairwise(asked)]
    return Run(
        delay,
        frontiers,
        len(asked) / (ended - begun),
        len(asked) / (ended - begun) * (delay + answer_seconds),
        min(shares[name] for name in names) * frontiers / len(asked),
        max(waits, default=ended - begun) / (delay + answer_seconds),
        min(gaps) / (delay or 1.0),
        trips / (ended - begun),
    )


def _command(name: str, url: str, delay: float, port: int) -> list[str]:
    settings = {
        "ADDONS": '{"webcrawler.addon.WebCrawlerAddon": 500}',
        "REDIS_URL": f"redis://127.0.0.1:{port}",
        "FRONTIER_NAME": name,
        "FRONTIER_DELAY": delay,
        "FRONTIER_SLOWNESS": 0,
        "FRONTIER_SERVER_CONCURRENCY": 1,
        "USER_AGENT": name,
        "LOG_ENABLED": False,
    }
    words = [word for setting, value in settings.items() for word in ("-s", f"{setting}={value}")]
    return [sys.executable, "-m", "scrapy", "runspider", str(PEER), "-a", f"seed={url}{name}", *words]


def _environment() -> dict[str, str]:
    """Outside of our project, whose settings are not the spider's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SCRAPY_", "CRAWL"))}
    return kept | {"PYTHONPATH": str(ROOT), "SCRAPY_PROJECT": "none"}


if __name__ == "__main__":
    main()
