"""Processes that accompany crawls: one of a kind for a data folder, until all is done and no crawl is alive.

Locks, all freed by the kernel however their holder ends: NAME.lock is the companion's (its process id stands
in it), `crawls.lock` is shared by all crawls, `searches.lock` by those that somebody waits for. A companion
ends holding its own and that of the crawls, so a crawl that starts meanwhile waits those milliseconds in
`hold_crawl` and then finds no companion, never one about to end.
"""

from __future__ import annotations

import fcntl
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

from webcrawler import failpoints
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
RANKER = Companion("ranks", "webcrawler.ranking.ranker")
VOCABULARY = Companion("vocabulary", "webcrawler.vocabulary.lexicographer")


def settle_in(name: str, gives_way: bool = True) -> Callable[[], bool]:
    """A new process makes itself at home: its log, behind the crawl, armed. Returns whether SIGTERM came."""
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {name} %(process)d: %(message)s")
    stops: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stops.append(number))
    if gives_way:
        give_way(10)  # the crawl goes first
    failpoints.arm(os.environ)
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


def hold_crawl(crawl_dir: Path) -> IO[str]:
    """Says that a crawl is alive until the file is closed; taken before any companion is started."""
    lock = (crawl_dir / "crawls.lock").open("a+")
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def hold_search(crawl_dir: Path) -> IO[str]:
    """Says that somebody waits for what is crawled, until the file is closed: the follower hurries."""
    lock = (crawl_dir / "searches.lock").open("a+")
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def is_searched(crawl_dir: Path) -> bool:
    """Does a real-time search go on?"""
    return is_held(crawl_dir / "searches.lock")


def is_crawling(crawl_dir: Path) -> bool:
    with try_lock(crawl_dir / "crawls.lock") or nullcontext() as free:
        return free is None


def may_end(lock: IO[str], crawl_dir: Path, is_done: Callable[[], bool]) -> bool:
    """Gives a companion's lock up where no crawl is alive and all is done."""
    with try_lock(crawl_dir / "crawls.lock") or nullcontext() as quiet:
        if quiet and is_done():
            lock.close()  # before the other one: see above
            return True
    return False


def is_held(lock: Path) -> bool:
    """Does a process hold it? Only looks: the folder may be one that others write."""
    try:
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def try_lock(path: Path) -> IO[str] | None:
    """The file, locked and emptied; None where somebody else has it."""
    lock = path.open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    lock.truncate(0)
    return lock
