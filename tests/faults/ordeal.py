"""One crawl of the odd web under faults, from its seed to its end: for faults.py (Linux: it reads /proc)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from hook.failpoints import environment
from marked import Mark, until
from oddweb import OddWeb
from redis import Redis, RedisError
from redisserver import RedisServer, impatient
from toxics import Toxics
from verdict import Verdict, judge

from webcrawler.connection import connect
from webcrawler.connection.embedded import EmbeddedServer
from webcrawler.frontier import Frontier, inspect, ordering
from webcrawler.index import follower
from webcrawler.search import vocabulary

PROJECT = Path(__file__).parents[2]
SETTINGS = {
    "ADDRESSES_ALLOWED": "127.0.0.1/32",
    "PROTOCOLS": "http",
    "FRONTIER_SLOWNESS": "0",
    "CRAWL_DELAY_MAX": "0",
    "FRONTIER_BACKOFF": "0.1",
    "BATCH_DOCUMENTS": "10",
    "BATCH_SECONDS": "0.2",
    "PARSER_WORKERS": "1",
    "LOG_LEVEL": "INFO",
}
STRUCK_DOWN = (-signal.SIGKILL, -signal.SIGTERM)  # the latter before it could listen to it
PATIENCE_SECONDS = 60.0  # for what should take a few
LEFTOVER_SECONDS = 60.0  # a busy parser ends by its page's deadline, and views finish what they are at


@dataclass(slots=True)
class Fault:
    kind: str  # "worker", "redis", "failpoint", …
    name: str = ""
    kills: bool = False  # by kill -9
    in_flight: int = 0  # leases out when it came
    resumed: float | None = (
        None  # seconds until another lease was decided; None: there was nothing left to do
    )
    began: float = field(default=0.0, repr=False)  # when work could go on
    decided: int = field(default=0, repr=False)
    drained: float | None = None  # seconds that an orderly end took

    def figures(self) -> dict[str, Any]:
        kept = ("kind", "name", "kills", "in_flight", "resumed", "drained")
        return {name: getattr(self, name) for name in kept}


class Ordeal:
    """Workers over one data folder; their Redis is embedded, or `tcp` behind a proxy of faults.

    Args:
        delay: seconds between fetches of a server: so the crawl lasts as long as its faults.
    """

    def __init__(
        self, folder: Path, web: OddWeb, chance: random.Random, tcp: bool, workers: int, delay: float
    ) -> None:
        self.folder, self.web, self.chance = folder, web, chance
        self.mark = Mark()
        self.faults: list[Fault] = []
        self.problems: list[str] = []
        self.missed: list[str] = []  # failpoints that a worker did not come by
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder.with_suffix(".log")
        web.forget()
        self.server = RedisServer(folder.parent / f"{folder.name}-redis", self.mark) if tcp else None
        self.toxics = Toxics(self.server.port) if self.server else None
        self._environment = _clean() | SETTINGS | self.mark.environment
        self._environment |= {"CRAWL_DIR": str(folder), "FRONTIER_DELAY": str(delay)}
        if self.toxics:
            self._environment["REDIS_URL"] = f"redis://127.0.0.1:{self.toxics.port}/0"
        self._frontier = Frontier(self._client(), ordering("breadth"))
        self._counter = count()
        self.arguments: list[str] = []  # of the workers that are started from now on, beside the seed
        self._last: dict[str, Any] = {"leased": 0, "done": 0, "failed": 0}
        self.workers: list[subprocess.Popen[bytes]] = []
        for slot in range(workers):
            self.start(slot)

    # ---- workers

    def start(self, slot: int = 0, failpoints: str = "") -> Path:
        """A worker, from the seed or where the crawl stands; returns where failpoints leave a word."""
        once = self.folder.parent / f"{self.folder.name}-once" / str(next(self._counter))
        once.mkdir(parents=True)
        command = [sys.executable, "-m", "scrapy", "crawl", "index", "-a", "mode=breadth"]
        command += ["-a", f"seeds={self.web.seed}", *self.arguments]
        armed = environment(failpoints, once)
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command, cwd=PROJECT, stdout=log, stderr=log, env=self._environment | armed
            )
        self.workers[slot : slot + 1] = [process]
        return once

    def kill(self, slot: int = 0) -> None:
        """kill -9, unless it has come to its end; it is not started again."""
        worker = self.workers[slot]
        if worker.poll() is None:
            self.note(Fault("worker", kills=True))
            worker.kill()
            worker.wait()

    def start_missing(self) -> None:
        """Workers in the place of those that were killed."""
        for slot, worker in enumerate(self.workers):
            if worker.poll() in STRUCK_DOWN:
                self.start(slot)

    def lively(self) -> list[str]:
        """Workers that Redis takes for alive."""
        with suppress(RedisError):
            return self._frontier.workers()
        return []

    def has_ended(self) -> bool:
        """Have all workers come to the crawl's end? One that failed is a problem, and started again."""
        self._watch()
        for slot, worker in enumerate(self.workers):
            status = worker.poll()
            if status and status not in STRUCK_DOWN:
                self.problems.append(f"a worker ended with status {status}, see {self.log}")
                self.start(slot)
        return all(worker.returncode == 0 for worker in self.workers)

    def kill_views(self) -> None:
        """kill -9 of the process that derives views, where one is at work; the workers start another."""
        with suppress(FileNotFoundError, ValueError, ProcessLookupError):
            pid = int((self.folder / "views.lock").read_text())
            if self.mark.is_on(pid):
                self.note(Fault("views", kills=True))
                os.kill(pid, signal.SIGKILL)

    # ---- Redis

    def kill_redis(self) -> None:
        """kill -9; an embedded one is the workers' to revive."""
        self.note(Fault("redis", kills=True))
        if self.server:
            self.server.kill()
            time.sleep(self.chance.uniform(0.0, 1.0))
            self.server.start()
        else:
            with suppress(FileNotFoundError, ValueError, ProcessLookupError):
                os.kill(int((self.folder / "redis" / "server").read_text()), signal.SIGKILL)
        self.faults[-1].began = time.monotonic()

    def states(self) -> dict[str, Any] | None:
        """The frontier's table, which must add up whenever it is seen; None at once while Redis is away."""
        try:
            states = inspect.stats(self._frontier)
        except RedisError:
            return None
        parts = sum(states[state] for state in ("queued", "leased", "done", "failed", "quarantined"))
        if parts != states["seen"]:
            self.problems.append(f"states do not add up: {states}")
        self._last = states
        return states

    # ---- faults and what comes after

    def note(self, fault: Fault) -> Fault:
        """A fault comes now; those before it that were not over yet are over from now on."""
        states = self.states() or self._last
        fault.in_flight, fault.decided = states["leased"], states["done"] + states["failed"]
        self.faults.append(fault)
        for one in self._pending():
            one.began = time.monotonic()
        return fault

    def wait(self, condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS, what: str = "") -> bool:
        """Until it holds, or the crawl is at its end: False."""
        ended = False

        def look() -> bool:
            nonlocal ended
            ended = self.has_ended()
            return ended or condition()

        until(look, seconds, f"{what}; the log is {self.log}")
        return not ended

    def wait_for_work(self) -> bool:
        """Until work goes on after all faults; False where none is left."""
        return self.wait(lambda: not self._pending(), what="for work to go on")

    def decided(self) -> int:
        states = self.states() or self._last
        return int(states["done"] + states["failed"])

    def finish(self, may_refetch: bool = False) -> dict[str, Any]:
        """Lets the crawl come to its end, index and vocabulary too; what there is then.

        Args:
            may_refetch: is it no problem if more is fetched again than was in flight?
        """
        self.start_missing()
        until(self.has_ended, PATIENCE_SECONDS * 2, f"for the end; the log is {self.log}")
        follower.wait_until_caught_up(self.folder)
        vocabulary.wait_until_made(self.folder)
        truth = self.web.truth()
        states = self._final_states()
        verdict = judge(self.folder, truth, states)
        self.close()
        if left := self.mark.leftovers(LEFTOVER_SECONDS):
            self.problems.append(f"processes are left over: {left}")
        in_flight, refetched = sum(fault.in_flight for fault in self.faults), self._refetched()
        if refetched > in_flight and not may_refetch:
            self.problems.append(f"{refetched} fetched again, {in_flight} were in flight")
        if not verdict.is_good:
            self.problems.append(f"{_bad(verdict)}, the data folder is {self.folder}")
        faults = [fault.figures() for fault in self.faults]
        figures = {"urls": states["seen"], "in_flight": in_flight, "refetched": refetched}
        return {
            **figures,
            **verdict._asdict(),
            "missed": self.missed,
            "faults": faults,
            "problems": self.problems,
        }

    def close(self) -> None:
        if self.toxics:
            self.toxics.stop()
        if self.server:
            self.server.stop()

    def _watch(self) -> None:
        pending = self._pending()
        states = self.states() if pending else None
        for fault in pending if states else ():
            if states and states["done"] + states["failed"] > fault.decided:
                fault.resumed = time.monotonic() - fault.began

    def _pending(self) -> list[Fault]:
        return [fault for fault in self.faults if fault.resumed is None]

    def _client(self) -> Redis:
        if self.server:
            return impatient(port=self.server.port, socket_timeout=5.0)
        socket = EmbeddedServer(self.folder / "redis", "everysec", tuple).socket
        return impatient(unix_socket_path=str(socket), socket_timeout=5.0)

    def _final_states(self) -> dict[str, Any]:
        if self.server:
            return self.states() or {}
        with connect(None, self.folder):  # the last worker has stopped it
            return self.states() or {}

    def _refetched(self) -> int:
        needed = {url: 2 if "/shy-" in url else 1 for url in self.web.asked}
        asked = {url: times for url, times in self.web.asked.items() if not url.endswith("/robots.txt")}
        return sum(times - needed[url] for url, times in asked.items() if times > needed[url])


def _bad(verdict: Verdict) -> str:
    return ", ".join(f"{name}: {number}" for name, number in verdict._asdict().items() if number)


def _clean() -> dict[str, str]:
    """This process' environment without what would change a crawl."""
    unwanted = {"REDIS_URL", "FAILPOINTS", "FAILPOINTS_ONCE"}
    return {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and k not in unwanted}
