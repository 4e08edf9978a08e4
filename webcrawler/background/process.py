"""Processes beside crawls: one of a kind for a data folder, until all is done and no crawl is alive."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from webcrawler.background.locks import is_crawling, try_lock
from webcrawler.errors import BadInput

T = TypeVar("T")
POLL_SECONDS = 0.5


class Companion(NamedTuple):
    """A kind of companion; it says what it has to say in NAME.log."""

    name: str
    module: str  # python -m MODULE CRAWL_DIR

    def start(self, crawl_dir: Path, told: bytes = b"", *options: str) -> None:
        """Starts one in a session of its own; where one is there already, the new one ends at once.

        Args:
            told: what it reads from its standard input; no other user of the machine sees it there.
        """
        # The crawl may have been imported from a zipped egg that only sys.path knows of.
        path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
        with (crawl_dir / f"{self.name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", self.module, str(crawl_dir.absolute()), *options],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": path},
            )
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(told)

    def ensure_started(self, crawl_dir: Path, told: bytes = b"", *options: str) -> None:
        """Starts one where none is at work; cheap enough to ask every few seconds."""
        lock = self.lock(crawl_dir)
        if lock is not None:
            lock.close()
            self.start(crawl_dir, told, *options)

    def lock(self, crawl_dir: Path) -> IO[str] | None:
        """The right to be at work, until it is closed; None where another one is."""
        return try_lock(crawl_dir / f"{self.name}.lock")

    @contextmanager
    def at_work(self, crawl_dir: Path) -> Iterator[IO[str] | None]:
        """That right, with this process's id in the file; None where another one is at work."""
        lock = self.lock(crawl_dir)
        with lock or nullcontext():
            if lock:
                print(os.getpid(), file=lock, flush=True)
            yield lock

    def take_over(self, crawl_dir: Path) -> IO[str]:
        """Waits for that right; one that is at work is told to end."""
        while (lock := self.lock(crawl_dir)) is None:
            with suppress(ValueError, ProcessLookupError):  # it has just taken the lock, or just ended
                os.kill(int((crawl_dir / f"{self.name}.lock").read_text()), signal.SIGTERM)
            time.sleep(POLL_SECONDS)
        return lock


FOLLOWER = Companion("index", "webcrawler.index.follower")
RANKER = Companion("ranks", "webcrawler.linkgraph.ranker")
VOCABULARY = Companion("vocabulary", "webcrawler.search.vocabulary.lexicographer")


def settle_in(name: str, gives_way: bool = True) -> Callable[[], bool]:
    """Sets up a new process: its log, its priority below the crawl. Returns a function: has SIGTERM come?"""
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {name} %(process)d: %(message)s")
    stops: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stops.append(number))
    if gives_way:
        give_way(10)  # the crawl goes first
    return lambda: bool(stops)


def when_made(
    make: Callable[[], T], crawl_dir: Path, stopped: Callable[[], bool] = lambda: False
) -> T | None:
    """What needs the catalog, once a crawl has made that; None where no crawl is alive to make it."""
    while not stopped():
        try:
            return make()
        except BadInput as error:
            if not is_crawling(crawl_dir):
                logging.getLogger(__name__).warning("%s", error)
                return None
        time.sleep(POLL_SECONDS)
    return None


def give_way(niceness: int) -> None:
    """Lets others use the processors first: this process, and its session where that is its own.

    Linux shares the processors among sessions first, where it groups them (sched(7), autogroup).
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(os.nice(0)))
