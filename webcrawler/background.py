"""The process beside the crawls of a data folder, and the locks that say who is at work.

The kernel frees a lock however its holder ends. `views.lock` belongs to the process that derives views, whose
id is written in it; `crawls.lock` is shared by all crawls, and each real-time search has a lock of its own.
The process has its lock from its birth: it inherits it from who starts it. It ends while it holds that and
the crawls' lock. A crawl that starts meanwhile waits in `hold_crawl` for some milliseconds, and then finds
none, never one that is about to end. So where all locks are free, nobody is at work or about to begin.
Commands that no crawl may disturb, as `webcrawler rebuild`, hold the crawls' until they are done.
"""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import IO, NamedTuple

from webcrawler import clock
from webcrawler.errors import Unavailable

logger = logging.getLogger(__name__)
SHARE_SECONDS = 0.01  # between two tries to share a lock
START_PATIENCE_SECONDS = 600.0
TELL_SECONDS = 5.0  # between two lines that say what is waited for
# Pause between rebuilds of a view: REST times the last rebuild's duration, at least LEAST_SECONDS.
REST = 20
LEAST_SECONDS = 60.0
RESUMABLE_SECONDS = 600.0  # for which what a real-time search that was killed has found is kept
RUN = "import sys; from webcrawler.views import main; sys.exit(main(sys.argv[1:]))"
VIEWS_NEED = (  # names of settings, beside those of Redis
    *("FRONTIER_DELAY", "REFRESH_SHARE", "REFRESH_POLICY", "REFRESH_AT_MOST"),
    *("COLLECTION_MAX", "RANKER_ENABLED", "REDIS_FSYNC"),
    *("PAGES_URL", "PAGES_KEEP", "DATASET_URL", "SINK_URL"),
)
LOCK = "WEBCRAWLER_LOCK"  # in the environment of that process: the descriptor of the lock that it inherits
MayEnd = Callable[[Callable[[], bool]], bool]


def hold_crawl(crawl_dir: Path, patience_seconds: float = inf) -> IO[str]:
    """Hold the lock of a crawl until the file is closed; taken before the views are started.

    Raises:
        Unavailable: a command such as rebuild is at work, and goes on for longer than that.
    """
    return _wait(
        crawl_dir / "crawls.lock", fcntl.LOCK_SH, "a command such as rebuild or import", patience_seconds
    )


def hold_start(crawl_dir: Path) -> IO[str]:
    """Hold the lock of whoever decides what a data folder and its frontier are, until the file is closed.

    So nobody acts on what another one is about to change. It is held for moments, but by `frontier rebuild`.

    Raises:
        Unavailable: somebody has held it for ten minutes.
    """
    crawl_dir.mkdir(parents=True, exist_ok=True)
    who = "another crawl that begins, or `webcrawler frontier rebuild`,"
    return _wait(crawl_dir / "starts.lock", fcntl.LOCK_EX, who, START_PATIENCE_SECONDS)


def search_lock(crawl_dir: Path, job: str) -> Path:
    """The lock that one real-time search holds as long as it runs."""
    return crawl_dir / "realtime" / f"{job}.lock"


def is_resumable(crawl_dir: Path, job: str) -> bool:
    """Tell whether a real-time search was killed so lately that it may go on: its lock is still there."""
    try:
        return clock.age(search_lock(crawl_dir, job).stat()) < RESUMABLE_SECONDS
    except FileNotFoundError:  # it ended in good order
        return False


def _wait(path: Path, kind: int, who: str, patience_seconds: float = inf) -> IO[str]:
    lock = path.open("a+")
    begun = told = time.monotonic()
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            time.sleep(SHARE_SECONDS)
        if (now := time.monotonic()) - begun > patience_seconds:
            lock.close()
            raise Unavailable(f"{who} is at work in {path.parent}")
        if now - told > TELL_SECONDS:
            told = now
            logger.warning(
                "waiting for %s, where %s is at work: %.0f s so far", path.parent, who, now - begun
            )


def is_crawling(crawl_dir: Path) -> bool:
    with try_lock(crawl_dir / "crawls.lock") or nullcontext() as free:
        return free is None


def _may_end(crawls: ExitStack, crawl_dir: Path, is_done: Callable[[], bool]) -> bool:
    """Tell whether no crawl is alive and all is done; if so, none begins as long as that lock is held."""
    lock = try_lock(crawl_dir / "crawls.lock")
    if lock and is_done():
        crawls.enter_context(lock)
        return True
    if lock:
        lock.close()
    return False


def is_held(lock: Path) -> bool:
    """Does a process hold it? Writes nothing: the folder may be somebody else's."""
    try:
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def try_lock(path: Path) -> IO[str] | None:
    """The file, locked and emptied; None if another process holds it."""
    lock = path.open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    lock.truncate(0)
    return lock


class Views(NamedTuple):
    """The process that derives index, ranks, words and checks of a data folder; it logs to views.log."""

    crawl_dir: Path

    def ensure_started(self, settings: bytes = b"") -> subprocess.Popen[bytes] | None:
        """Start one where none is at work; cheap enough to ask every few seconds.

        Args:
            settings: as JSON, through its standard input, which no other user of the machine can see.
        """
        with self.lock() or nullcontext() as lock:
            return self._start(settings, lock) if lock else None

    def start_anew(self, settings: bytes) -> subprocess.Popen[bytes]:
        """Start one with these settings, in place of one that is at work with others."""
        with self.take_over() as lock:
            return self._start(settings, lock)

    def _start(self, settings: bytes, lock: IO[str]) -> subprocess.Popen[bytes]:
        """Start one in a session of its own, which goes on to hold the lock."""
        # The crawl may have been imported from a zipped egg that only sys.path knows of.
        path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
        with (self.crawl_dir / "views.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", RUN, str(self.crawl_dir.absolute())],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": path, LOCK: str(lock.fileno())},
                pass_fds=[lock.fileno()],
            )
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(settings)
        return process

    def lock(self) -> IO[str] | None:
        """Hold views.lock until the file is closed; None where a process is at work."""
        return try_lock(self.crawl_dir / "views.lock")

    def is_at_work(self) -> bool:
        return is_held(self.crawl_dir / "views.lock")

    @contextmanager
    def at_work(self) -> Iterator[MayEnd | None]:
        """Hold views.lock, with this process's id in it; None if another one is at work.

        Gives what tells whether no crawl is alive and all is done. Once it has, none begins before the end.
        """
        inherited = os.environ.pop(LOCK, "")
        lock = os.fdopen(int(inherited), "a+") if inherited else self.lock()
        with ExitStack() as crawls, lock or nullcontext():  # the crawls' lock is free last
            if lock:
                print(os.getpid(), file=lock, flush=True)
            yield partial(_may_end, crawls, self.crawl_dir) if lock else None

    def take_over(self) -> IO[str]:
        """Tell the one that is at work to end, and wait for its lock."""
        while (lock := self.lock()) is None:
            with suppress(ValueError, ProcessLookupError):  # it has just taken the lock, or just ended
                os.kill(int((self.crawl_dir / "views.lock").read_text()), signal.SIGTERM)
            time.sleep(clock.COMPANION_POLL_SECONDS)
        return lock


def lower_priority(niceness: int) -> None:
    """Let others use the processors first: for this process, and for its session where it leads one.

    Linux shares the processors among sessions first, where it groups them (sched(7), autogroup).
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(os.nice(0)))


class Renewal:
    """Decides when a view of the whole catalog is made again; subclasses make it.

    Args:
        last_seq: returns the number of the catalog's newest change.
        seq: that of the last change which the view holds.
        growth: it is due when there are this many times as many changes. While a crawl grows, making it again
            and again then costs no more than growth / (growth - 1) times the last making.
        first_seconds: for which it is not due at first: how long it takes is not known yet.
    """

    def __init__(
        self, last_seq: Callable[[], int], seq: int, growth: float, first_seconds: float = LEAST_SECONDS
    ) -> None:
        self._last_seq, self._seq, self._growth = last_seq, seq, growth
        self._not_before = time.monotonic() + first_seconds

    @abstractmethod
    def make(self, seq: int) -> str:
        """Make the view, of the catalog as of that change or later. Returns what was made, for the log."""

    def step(self, crawling: bool) -> bool:
        """Make it again where it is due, and once no crawl is alive where it is behind; return False."""
        if self.is_due() if crawling else self.is_behind():
            self.renew()
        return False

    def is_behind(self) -> bool:
        return self._last_seq() != self._seq  # lower: it was restored from a backup

    def is_due(self) -> bool:
        """Is it old enough to be renewed while a crawl goes on?"""
        return time.monotonic() >= self._not_before and self.is_outgrown()

    def is_outgrown(self) -> bool:
        """Are there so many more changes that making it again is worth its cost?"""
        return not self._seq <= self._last_seq() <= self._seq * self._growth

    def renew(self) -> None:
        """Make it again. If that fails (the disk is full) the old one stays until it is due again."""
        began = time.monotonic()
        self._seq = self._last_seq()  # asked before all else is read: what is newer is not missed
        try:
            made = self.make(self._seq)
            logger.info("stored %s, in %.1f s", made, time.monotonic() - began)
        except (OSError, sqlite3.Error) as error:
            logger.warning("%s failed: %s", type(self).__name__, error)
        now = time.monotonic()
        self._not_before = now + max(REST * (now - began), LEAST_SECONDS)

    def close(self) -> None:
        """Nothing is open."""
