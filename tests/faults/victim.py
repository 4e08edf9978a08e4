"""A crawl whose processes are killed: for kills.py. Processes are found by /proc, so on Linux only."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from marked import POLL_SECONDS, Mark, until
from redis import RedisError
from redisserver import impatient

from webcrawler.connection.embedded import EmbeddedServer
from webcrawler.frontier import Frontier, inspect, ordering
from webcrawler.index import follower
from webcrawler.search import vocabulary

PROJECT = Path(__file__).parents[2]
SEED = "http://directory.test/"
SETTINGS = {
    "PROTOCOLS": "http",
    "FRONTIER_SLOWNESS": "0",
    "CRAWL_DELAY_MAX": "0",
    "FRONTIER_BACKOFF": "0.2",
    "LOG_LEVEL": "DEBUG",
}
LATER_SECONDS = 1.0
PATIENCE_SECONDS = 120.0  # for what should take a few
END_SECONDS = 900.0
LEFTOVER_SECONDS = 30.0  # a busy parser ends by its page's deadline
KILLED = "=== kill -9"  # a line in the log


class Kill(NamedTuple):
    kind: str
    documents: int  # in the catalog, when it came
    in_flight: int  # leases out
    resumed: float  # seconds


class Victim:
    """One crawl of docweb into `folder`; its settings go into this process' environment.

    Args:
        delay: seconds between fetches of a server, so that the crawl lasts as long as its kills.
    """

    def __init__(self, folder: Path, proxy: str, delay: float, chance: random.Random) -> None:
        folder.mkdir(parents=True)
        self.folder, self.log, self._chance = folder, folder.with_suffix(".log"), chance
        self.crashes: list[int] = []  # exit statuses of crawls that failed by themselves
        self._mark = Mark()
        ours = {"http_proxy": proxy, "CRAWL_DIR": str(folder), "FRONTIER_DELAY": str(delay)}
        os.environ.update(SETTINGS | ours | self._mark.environment)
        os.environ.pop("REDIS_URL", None)
        socket = EmbeddedServer(folder / "redis", "everysec", tuple).socket
        self._frontier = Frontier(impatient(unix_socket_path=str(socket)), ordering("breadth"))
        self._start()

    def kill(self, kind: str, at: int) -> Kill:
        """At that many documents, and a moment later; returns when work goes on."""
        self._until(lambda: self.documents() >= at or self._ended(), END_SECONDS)
        time.sleep(self._chance.uniform(0, LATER_SECONDS))
        if self._ended():
            self._start()
        documents, in_flight = self.documents(), self._states()["leased"]
        is_back = getattr(self, f"_kill_{kind}")()
        began = time.monotonic()
        with self.log.open("a") as log:
            print(KILLED, kind, file=log)
        if kind == "crawl":
            in_flight = self._states()["leased"]  # it stands still now
            self._start()
        self._until(lambda: is_back() or self._ended())
        return Kill(kind, documents, in_flight, time.monotonic() - began)

    def finish(self) -> int:
        """Lets the crawl and all that follows it come to their end; returns the exit status."""
        if self._ended():
            self._start()
        status = self._crawl.wait(END_SECONDS)
        follower.wait_until_caught_up(self.folder)
        vocabulary.wait_until_made(self.folder)  # at niceness 10, beside other tests: a minute
        self._until(lambda: self._follower() is None, END_SECONDS)  # it merges the index last
        return status

    def documents(self) -> int:
        return self._one("SELECT count(*) FROM documents")

    def states(self) -> dict[str, Any]:
        """The table of states, when all is over."""
        command = [sys.executable, "-m", "scrapy", "frontier", "stats", "--json"]
        states: dict[str, Any] = json.loads(subprocess.check_output(command, cwd=PROJECT))
        return states

    def leftovers(self) -> list[str]:
        """The command lines of processes that are still there when all should have ended."""
        return self._mark.leftovers(LEFTOVER_SECONDS)

    def _start(self) -> None:
        """The crawl, from its seed or where it stands."""
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "crawl",
            "index",
            "-a",
            "mode=breadth",
            "-a",
            f"seeds={SEED}",
        ]
        with self.log.open("ab") as log:
            self._crawl = subprocess.Popen(command, cwd=PROJECT, stdout=log, stderr=log)

    def _kill_crawl(self) -> Callable[[], bool]:
        """As all of these, returns whether work goes on, to be asked."""
        self._crawl.kill()
        self._crawl.wait()
        decided = self._decided()
        return lambda: self._decided() > decided

    def _kill_server(self) -> Callable[[], bool]:
        pid, decided = int((self.folder / "redis" / "server").read_text()), self._decided()
        os.kill(pid, signal.SIGKILL)
        return lambda: self._decided() > decided

    def _kill_follower(self) -> Callable[[], bool]:
        self._until(lambda: self._follower() is not None or self._ended())
        pid = self._follower()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        return lambda: self._follower() not in (None, pid)

    def _follower(self) -> int | None:
        """Its process id, while it lives."""
        with suppress(FileNotFoundError, ValueError):
            pid = int((self.folder / "views.lock").read_text())
            return pid if self._mark.is_on(pid) else None
        return None

    def _ended(self) -> bool:
        """Has the crawl come to its end? One that failed is started anew."""
        if self._crawl.poll():
            self.crashes.append(self._crawl.returncode)
            self._start()
        return self._crawl.returncode is not None

    def _decided(self) -> int:
        states = self._states()
        return int(states["done"] + states["failed"])

    def _states(self) -> dict[str, Any]:
        """Waits for a server that was killed."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return inspect.stats(self._frontier)
            except RedisError:
                if time.monotonic() > end:
                    raise
                if self._ended():  # nobody is there to revive it
                    self._start()
                time.sleep(POLL_SECONDS)

    def _one(self, query: str) -> int:
        try:
            uri = f"file:{self.folder}/catalog.sqlite?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as catalog:
                return int(catalog.execute(query).fetchone()[0])
        except sqlite3.OperationalError:  # not made yet
            return 0

    def _until(self, condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
        until(condition, seconds, f"; the log is {self.log}")
