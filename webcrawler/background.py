"""Companions: processes beside the crawls, one of a kind for each data folder; locks say who is at work.

The kernel frees a lock however its holder ends. NAME.lock belongs to a companion, whose process id is written
in it; `crawls.lock` is shared by all crawls, `searches.lock` by real-time searches, each of which has a lock
of its own as well. A companion has its lock from its birth: it inherits it from who starts it. It ends while
it holds that and the crawls' lock. A crawl that starts meanwhile waits in `hold_crawl` for some milliseconds,
and then finds no companion, never one that is about to end. So where all locks are free, nobody is at work or
about to begin. Commands that no crawl may disturb, as `scrapy rebuild`, hold the crawls' until they are done.
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
from typing import IO, NamedTuple, TypeVar

from webcrawler import clock, pace
from webcrawler.errors import BadInput, Unavailable

logger = logging.getLogger(__name__)
T = TypeVar("T")
SHARE_SECONDS = 0.01  # between two tries to share a lock
START_PATIENCE_SECONDS = 600.0
TELL_SECONDS = 5.0  # between two lines that say what is waited for
KILL_SECONDS = 0.02  # between two looks whether a killed process is gone
# Pause between rebuilds of a view: REST times the last rebuild's duration, at least LEAST_SECONDS.
REST = 20
LEAST_SECONDS = 60.0
RESUMABLE_SECONDS = 600.0  # for which what a real-time search that was killed has found is kept
# As `python -m MODULE`, but the module is the one that its package has imported, and not a second copy of it.
RUN = "import sys; from {} import main; sys.exit(main(sys.argv[1:]))"
LOCK = "WEBCRAWLER_LOCK"  # in the environment of a companion: the descriptor of the lock that it inherits
MayEnd = Callable[[Callable[[], bool]], bool]


def hold_crawl(crawl_dir: Path, patience_seconds: float = inf) -> IO[str]:
    """Hold the lock of a crawl until the file is closed; taken before any companion is started.

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
    who = "another crawl that begins, or `scrapy frontier rebuild`,"
    return _wait(crawl_dir / "starts.lock", fcntl.LOCK_EX, who, START_PATIENCE_SECONDS)


def hold_search(crawl_dir: Path, seq: int = 0) -> IO[str]:
    """Hold the lock of a real-time search until the file is closed: the follower works for it first.

    Args:
        seq: the catalog's last change before the search.
    """
    path = crawl_dir / "searches.lock"
    if first := try_lock(path):  # forgets when earlier ones began
        first.close()
    lock = _wait(path, fcntl.LOCK_SH, "another search that begins")
    print(seq, file=lock, flush=True)
    return lock


def searched_since(crawl_dir: Path) -> int:
    """The catalog's last change before the real-time searches that go on, or before even earlier ones."""
    return min(map(int, (crawl_dir / "searches.lock").read_text().split()), default=0)


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


def is_searched(crawl_dir: Path) -> bool:
    """Does a real-time search go on?"""
    return is_held(crawl_dir / "searches.lock")


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


class Companion(NamedTuple):
    """A kind of process beside the crawls; it logs to NAME.log."""

    name: str
    module: str  # of its `main`, which takes the data folder

    def ensure_started(
        self, crawl_dir: Path, stdin: bytes = b"", in_hurry: bool = False
    ) -> subprocess.Popen[bytes] | None:
        """Start one where none is at work; cheap enough to ask every few seconds.

        Args:
            stdin: what it reads from its standard input, which no other user of the machine can see.
            in_hurry: one that is at work at a lower priority is displaced.
        """
        if in_hurry:
            self.displace(crawl_dir)
        with self.lock(crawl_dir) or nullcontext() as lock:
            return self._start(crawl_dir, stdin, lock) if lock else None

    def _start(self, crawl_dir: Path, stdin: bytes, lock: IO[str]) -> subprocess.Popen[bytes]:
        """Start one in a session of its own, which goes on to hold the lock."""
        # The crawl may have been imported from a zipped egg that only sys.path knows of.
        path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
        with (crawl_dir / f"{self.name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", RUN.format(self.module), str(crawl_dir.absolute())],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": path, LOCK: str(lock.fileno())},
                pass_fds=[lock.fileno()],
            )
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(stdin)
        return process

    def lock(self, crawl_dir: Path) -> IO[str] | None:
        """Hold NAME.lock until the file is closed; None if another companion of the kind is at work."""
        return try_lock(crawl_dir / f"{self.name}.lock")

    @contextmanager
    def at_work(self, crawl_dir: Path) -> Iterator[MayEnd | None]:
        """Hold NAME.lock, with this process's id in it; None if another companion of the kind is at work.

        Gives what tells whether no crawl is alive and all is done. Once it has, none begins before the end.
        """
        inherited = os.environ.pop(LOCK, "")
        lock = os.fdopen(int(inherited), "a+") if inherited else self.lock(crawl_dir)
        with ExitStack() as crawls, lock or nullcontext():  # the crawls' lock is free last
            if lock:
                print(os.getpid(), file=lock, flush=True)
            yield partial(_may_end, crawls, crawl_dir) if lock else None

    def take_over(self, crawl_dir: Path) -> IO[str]:
        """Tell the one that is at work to end, and wait for its lock."""
        while (lock := self.lock(crawl_dir)) is None:
            with suppress(ValueError, ProcessLookupError):  # it has just taken the lock, or just ended
                os.kill(int((crawl_dir / f"{self.name}.lock").read_text()), signal.SIGTERM)
            time.sleep(pace.COMPANION_POLL_SECONDS)
        return lock

    def displace(self, crawl_dir: Path) -> None:
        """Kill the one that is at work if its priority is below that of this process.

        Nobody but root can raise it, and a step that it is in may take minutes where the processors are busy.
        """
        while is_held(crawl_dir / f"{self.name}.lock") and (process := self._below_us(crawl_dir)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            time.sleep(KILL_SECONDS)

    def _below_us(self, crawl_dir: Path) -> int:
        """The process id of the one at work where its priority is below ours; 0 where it is not."""
        try:
            process = int((crawl_dir / f"{self.name}.lock").read_text())
            os.kill(process, 0)  # may we end it?
            return process if os.getpriority(os.PRIO_PROCESS, process) > os.nice(0) else 0
        except (ValueError, OSError):  # it has just taken the lock or ended, is a command or somebody else's
            return 0


FOLLOWER = Companion("index", "webcrawler.index.follower")
RANKER = Companion("ranks", "webcrawler.linkgraph.ranker")
REFRESHER = Companion("refresh", "webcrawler.refresh.refresher")
VOCABULARY = Companion("vocabulary", "webcrawler.search.vocabulary.builder")


def prepare(name: str, below_crawl: bool = True) -> Callable[[], bool]:
    """Set up this process as a companion: its log, and a priority below that of crawls.

    Returns:
        A function that tells whether SIGTERM has come.
    """
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {name} %(process)d: %(message)s")
    stops: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stops.append(number))
    if below_crawl:
        lower_priority(10)
    return lambda: bool(stops)


def wait_for(open: Callable[[], T], crawl_dir: Path, stopped: Callable[[], bool] = lambda: False) -> T | None:
    """Open what needs a catalog once there is one; None where no crawl is alive to make it."""
    while not stopped():
        try:
            return open()
        except BadInput as error:
            if not is_crawling(crawl_dir):
                logger.warning("%s", error)
                return None
        time.sleep(pace.COMPANION_POLL_SECONDS)
    return None


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
    """

    def __init__(self, last_seq: Callable[[], int], seq: int, growth: float) -> None:
        self._last_seq, self._seq, self._growth = last_seq, seq, growth
        self._not_before = time.monotonic() + LEAST_SECONDS

    @abstractmethod
    def make(self, seq: int) -> str:
        """Make the view, of the catalog as of that change or later. Returns what was made, for the log."""

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
