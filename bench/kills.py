"""kill -9 of a crawl's processes at random times, again and again, and what the crawl has lost in the end.

    python bench/kills.py DOCWEB [--proxy URL] [--kills 10] [--seed N] [--folder DIR] [--json FILE]

Crawls docweb (`../shared/docweb`, built into the folder DOCWEB and served behind the proxy). The crawl, the
index follower and the embedded server are each killed --kills times, in random order, at random numbers of
documents and up to 2 s later; crawl and follower are started again at once, the server is the crawl's to
revive. Then the crawl runs to its end. `resumed` is the time from the new start (of the server: from its
end) until a lease is decided, of the follower until the index has grown; `refetched` counts documents
downloaded anew, `in flight` what was leased when a process died. Leftover processes are found by /proc.
"""

import argparse
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from redis import Redis, RedisError
from rich.console import Console
from rich.table import Table

from webcrawler.connection.embedded import EmbeddedServer
from webcrawler.frontier import Frontier, inspect, ordering
from webcrawler.index import follower

PROJECT = Path(__file__).parents[1]
SEED = "http://directory.test/"
SETTINGS = {"PROTOCOLS": "http", "FRONTIER_DELAY": "0", "CRAWL_DELAY_MAX": "0", "FRONTIER_BACKOFF": "0.2"}
MARK = "KILLS_RUN"  # in the environment of all that a run starts
KINDS = ("crawl", "follower", "server")
LATER_SECONDS = 2.0
PATIENCE_SECONDS = 120.0  # for what should take a few
END_SECONDS = 900.0
POLL_SECONDS = 0.02
DOWNLOADED = re.compile(r"Crawled \(200\) <GET (\S+)>")


class Kill(NamedTuple):
    kind: str
    documents: int  # in the catalog, when it came
    in_flight: int  # leases out
    resumed: float  # seconds


@dataclass
class Run:
    """One crawl and its troubles."""

    folder: Path  # CRAWL_DIR
    proxy: str
    chance: random.Random
    crashes: list[int] = field(default_factory=list)  # exit statuses of crawls that ended by themselves too early
    crawl: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder.with_suffix(".log")
        self.mark = uuid4().hex
        ours = {"http_proxy": self.proxy, "CRAWL_DIR": str(self.folder), "LOG_LEVEL": "DEBUG", MARK: self.mark}
        os.environ.update(SETTINGS | ours)
        os.environ.pop("REDIS_URL", None)
        socket = EmbeddedServer(self.folder / "redis", "everysec", tuple).socket
        self.frontier = Frontier(Redis(unix_socket_path=str(socket)), ordering("breadth"))

    def start(self) -> None:
        """The crawl, from the start or where it stands."""
        arguments = ["crawl", "index", "-a", "mode=breadth", "-a", f"seeds={SEED}"]
        with self.log.open("ab") as log:
            self.crawl = subprocess.Popen(
                [sys.executable, "-m", "scrapy", *arguments], cwd=PROJECT, stdout=log, stderr=log
            )

    def kill(self, kind: str, at: int) -> Kill:
        """At that many documents, and a moment later."""
        self._until(lambda: self.documents() >= at or self._ended(), END_SECONDS)
        time.sleep(self.chance.uniform(0, LATER_SECONDS))
        if self._ended():
            self.start()
        documents, in_flight = self.documents(), self._states()["leased"]
        return Kill(kind, documents, in_flight, getattr(self, f"_kill_{kind}")())

    def finish(self) -> int:
        """Lets the crawl come to its end; returns its exit status."""
        if self._ended():
            self.start()
        assert self.crawl
        return self.crawl.wait(END_SECONDS)

    def _kill_crawl(self) -> float:
        assert self.crawl
        self.crawl.kill()
        self.crawl.wait()
        decided, began = self._decided(), time.monotonic()
        self.start()
        self._until(lambda: self._decided() > decided or self._ended())
        return time.monotonic() - began

    def _kill_server(self) -> float:
        pid, decided = int((self.folder / "redis" / "server").read_text()), self._decided()
        os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        self._until(lambda: self._decided() > decided or self._ended())
        return time.monotonic() - began

    def _kill_follower(self) -> float:
        if self._follower() is None:
            follower.start(self.folder)
            self._until(lambda: self._follower() is not None)
        os.kill(self._follower() or 0, signal.SIGKILL)
        self._until(lambda: self._follower() is None)
        applied, began = follower.applied_seq(self.folder / "index"), time.monotonic()
        follower.start(self.folder)
        self._until(lambda: follower.applied_seq(self.folder / "index") > applied or self._is_indexed())
        return time.monotonic() - began

    def _follower(self) -> int | None:
        """Its process id, while it lives."""
        text = (self.folder / "index.lock").read_text() if (self.folder / "index.lock").exists() else ""
        return int(text) if text.strip() and int(text) in processes(self.mark) else None

    def _is_indexed(self) -> bool:
        last = self._one("SELECT coalesce(max(seq), 0) FROM changes")
        return follower.applied_seq(self.folder / "index") >= last

    def _ended(self) -> bool:
        """Is the crawl over? One that failed is started anew."""
        if self.crawl and self.crawl.poll():
            self.crashes.append(self.crawl.returncode)
            self.start()
        return self.crawl is None or self.crawl.returncode is not None

    def documents(self) -> int:
        return self._one("SELECT count(*) FROM documents")

    def _decided(self) -> int:
        states = self._states()
        return int(states["done"] + states["failed"])

    def _states(self) -> dict[str, Any]:
        """Waits for a server that was killed."""
        found: list[dict[str, Any]] = []

        def ask() -> bool:
            try:
                found.append(inspect.stats(self.frontier))
            except RedisError:
                return False
            return True

        self._until(ask)
        return found[0]

    def _one(self, query: str) -> int:
        try:
            uri = f"file:{self.folder}/catalog.sqlite?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as catalog:
                return int(catalog.execute(query).fetchone()[0])
        except sqlite3.OperationalError:  # not made yet
            return 0

    def _until(self, condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds:.0f} s in vain; the log is {self.log}")
            time.sleep(POLL_SECONDS)
