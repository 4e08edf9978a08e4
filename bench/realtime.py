"""How soon does a real-time search show something, and how soon can others search what it finds?

    python bench/realtime.py CRAWL_DIR [--query "molecular biology"] [--rounds 3] [--json FILE]

A round is one `scrapy crawl realtime` on a terminal, on a copy of CRAWL_DIR; the demo web is its seed, and
no other server is asked. *First results*: from the start of the command until the first URL of the index is
on the screen; in seconds, and in those of the command's processor time, which a busy machine does not change.
*Searchable*, of each page found: from the answer of its server until another process, which asks the index
five times a second, has it among its hits.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from webcrawler import clock
from webcrawler.background import Views
from webcrawler.search import Searcher

ROOT = Path(__file__).resolve().parents[1]
ROWS, COLUMNS = 40, 120
ASKED_EVERY_SECONDS = 0.2
HITS = 200
SETTINGS = ("FRONTIER_DELAY=0", "PROTOCOLS=http", "ADDRESSES_ALLOWED=127.0.0.1/32", "RANKER_ENABLED=no")


def main() -> None:
    told = _arguments()
    rounds = []
    for _ in range(told.rounds):
        with _demo_web() as seeds, _copy(told.crawl_dir) as folder:
            rounds.append(_round(folder, told.query, seeds, told.strategy))
    found = [seconds for one in rounds for seconds in one["searchable"]]
    figures = {
        "query": told.query,
        "first results, s": [round(one["first"], 2) for one in rounds],
        "first results, median s": round(median(one["first"] for one in rounds), 2),
        "first results, median s of processor": round(median(one["processor"] for one in rounds), 2),
        "pages found": len(found),
        "searchable, median s": round(median(found), 2) if found else None,
        "searchable, at most s": round(max(found), 2) if found else None,
    }
    table = Table("figure", "value")
    for name, value in figures.items():
        table.add_row(name, str(value))
    Console().print(table)
    if told.json:
        told.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def _round(folder: Path, query: str, seeds: str, strategy: str) -> dict[str, Any]:
    other = Other(folder, query)
    with other:
        first, processor = _on_a_terminal(folder, query, seeds, strategy)
        other.wait_for_the_follower()
    return {"first": first, "processor": processor, "searchable": list(other.seconds.values())}


class Other:
    """Somebody who searches meanwhile."""

    def __init__(self, folder: Path, query: str) -> None:
        self._folder, self._query, self._began = folder, query, clock.now()
        self.seconds: dict[str, float] = {}  # by URL
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def wait_for_the_follower(self) -> None:
        while (lock := Views(self._folder).lock()) is None:
            time.sleep(0.1)
        lock.close()
        time.sleep(2 * ASKED_EVERY_SECONDS)

    def _ask(self) -> None:
        searcher = Searcher(self._folder)
        while not self._over.wait(ASKED_EVERY_SECONDS):
            hits = searcher.search(self._query, HITS).hits
            now = clock.now()
            for hit in hits:
                if hit.fetched > self._began:
                    self.seconds.setdefault(hit.url, now - hit.fetched)


def _on_a_terminal(folder: Path, query: str, seeds: str, strategy: str) -> tuple[float, float]:
    """Seconds until the first URL is shown, and of processor time; returns when the search has ended."""
    told = [f"query={query}", f"seeds={seeds}", "domains=127.0.0.1", f"strategy={strategy}", "keep=yes"]
    arguments = [part for one in told for part in ("-a", one)]
    settings = [part for one in SETTINGS for part in ("-s", one)]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "realtime", *arguments, *settings],
        cwd=ROOT,
        env=os.environ | {"CRAWL_DIR": str(folder), "TERM": "xterm"},
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown, first = b"", (0.0, 0.0)
    while data := _read(ours):
        shown += data
        if not first[0] and b"http://" in shown:
            first = time.monotonic() - began, _processor_seconds(process.pid)
    os.close(ours)
    if process.wait() or not first[0]:
        sys.exit(f"bench: the search came to nothing:\n{shown.decode(errors='replace')}")
    return first


def _processor_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


@contextmanager
def _demo_web() -> Iterator[str]:
    command = [sys.executable, "-m", "webcrawler.demo"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield ",".join(server.stdout.readline().split())
    finally:
        server.terminate()
        server.wait()


@contextmanager
def _copy(crawl_dir: Path) -> Iterator[Path]:
    """Archived pages are never changed, so they are not copied."""
    with tempfile.TemporaryDirectory(dir=crawl_dir.absolute().parent) as folder:
        copied = Path(folder) / "crawl"
        shutil.copytree(crawl_dir, copied, ignore=shutil.ignore_patterns("redis", "realtime", "pages"))
        if (crawl_dir / "pages").exists():
            shutil.copytree(crawl_dir / "pages", copied / "pages", copy_function=os.link)
        yield copied


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("crawl_dir", type=Path, help="data folder with an index; it is only read")
    parser.add_argument("--query", default="molecular biology")
    parser.add_argument("--strategy", default="adaptive")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
