"""What an ordering has learnt outlives its process: `learnt/` in the data folder."""

from __future__ import annotations

import fcntl
import logging
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from threading import RLock
from typing import IO, Any

import msgpack

from webcrawler.archive.kept import pack, records_of, restore, unpack
from webcrawler.connection import retry
from webcrawler.durable import replaced
from webcrawler.frontier import Frontier, Ordering, Seen, Source
from webcrawler.orderings import guarded
from webcrawler.records import Lease, Link, Section, Text

VERSION = 1  # of the file; any other is not read
CALLS_MAX = 16 * 2**20  # bytes of calls, some 500 pages; a larger state waits for as many bytes of them
CALLED = {kind.__name__: kind for kind in (Lease, Link, Section, Seen, Source, Text)}
Plan = tuple[list[Link], list[int]]
logger = logging.getLogger(__name__)


class Learnt(Ordering):
    """An ordering that learns, and a file from which its next process knows the same.

    The file holds what was learnt up to some time, and the calls since then, which are made again: whatever
    instant a process is killed at, the next one goes on as it would have. A power failure may cost the last
    seconds. When the calls are long, and at the end, the file is replaced by what was learnt.

    For several threads. Without room on the disk it forgets its file, and the crawl goes on.

    Attributes:
        is_restored: did the file know something?
    """

    def __init__(self, own: Ordering, mode: str, file: Path) -> None:
        self._own, self._mode, self._path = own, mode, file
        self.servers_take_turns, self.on_repeat = own.servers_take_turns, own.on_repeat
        self.takes_notes, self.learns = own.takes_notes, own.learns
        self.seeds_first, self.band = own.seeds_first, own.band
        self._lock = RLock()
        self._planned: Plan = ([], [])  # last
        self._is_sent = True
        self.is_restored = self._read()
        self._file: IO[bytes] | None = None
        self._calls = self._state = 0  # bytes
        self._begin()

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        with self._lock:
            self._write("first_priority", link, source)
            return self._own.first_priority(link, source)

    def note(self, link: Link, source: Source) -> int:
        return self._own.note(link, source)

    def page_note(self, text: Text | None, lease: Lease) -> int:
        with self._lock:
            self._write("page_note", text, lease)
            return self._own.page_note(text, lease)

    def out_of_turn(self, source: Source) -> Source:
        return self._own.out_of_turn(source)

    def learn(self, seen: Sequence[Seen]) -> None:
        with self._lock:
            self._write("learn", list(seen))
            self._own.learn(seen)

    def plan(self) -> Plan:
        """What the process before had planned last comes first: nobody knows whether it was told."""
        with self._lock:
            again: Plan = ([], []) if self._is_sent else self._planned
            self._write("plan")
            links, priorities = self._own.plan()
            self._planned, self._is_sent = (links, priorities), True
            if self._calls > max(CALLS_MAX, self._state):
                self._begin()
            return again[0] + links, again[1] + priorities

    def close(self) -> None:
        with self._lock:
            if self._file:
                self._begin()
            if self._file:
                self._file.close()
                self._file = None

    # ---- the file

    def _read(self) -> bool:
        """Restores what is there; an incomplete call at its end was not followed by anything."""
        if not self._path.exists():
            return False
        with self._path.open("rb") as file:
            calls = msgpack.Unpacker(file, max_buffer_size=0)
            try:
                version, mode, state, planned = next(calls)
            except (StopIteration, ValueError):
                return False
            if (version, mode) != (VERSION, self._mode):
                return False
            try:
                restore(self._own, unpack(state, records_of(self._own)))
                links, priorities = unpack(planned, CALLED)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                logger.warning("%s cannot be read, and is made anew: %s", self._path, error)
                self._own = guarded(mode)
                return False
            self._planned, self._is_sent = (links, priorities), False
            try:
                for call in calls:
                    self._call(*unpack(call, CALLED))
            except (ValueError, KeyError, TypeError) as error:
                logger.warning("%s cannot be read to its end: %s", self._path, error)
            return True

    def _call(self, name: str, *arguments: Any) -> None:
        found = getattr(self._own, name)(*arguments)
        if name == "plan":
            self._planned = found

    def _begin(self) -> None:
        """Replaces the file by what was learnt."""
        try:
            state = pack(self._own)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with replaced(self._path) as file:
                file.write(msgpack.packb([VERSION, self._mode, state, pack(list(self._planned))]))
            if self._file:
                self._file.close()
            self._file = self._path.open("ab")
            self._calls, self._state = 0, len(state)
        except OSError as error:
            self._give_up(error)

    def _write(self, name: str, *arguments: Any) -> None:
        """Notes a call before it is made, so that it survives a kill at any instant."""
        if self._file is None:
            return
        call = msgpack.packb(pack([name, *arguments]))
        self._calls += len(call)
        try:
            self._file.write(call)
            self._file.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        logger.error("cannot keep what was learnt in %s: %s; the crawl goes on without it", self._path, error)
        self._file = None
        self._path.unlink(missing_ok=True)


def go_on(frontier: Frontier, learnt: Learnt, revive: Callable[[], object] = lambda: None) -> None:
    """Lets an opened frontier go on with what was learnt.

    A process that was killed may have learnt from pages, and not yet told the frontier what that changes.

    Args:
        revive: called when Redis does not answer, before the next try.
    """
    frontier.order_by(learnt)
    if learnt.is_restored:
        retry(frontier.replan, revive)


def remember(own: Ordering, mode: str, folder: Path, agent: int = 1) -> tuple[Learnt, IO[bytes]]:
    """An ordering that learns, with what the same agent has learnt before for the same mode.

    Where crawls run beside each other in one data folder, each has files of its own. Close it, and then the
    lock that comes with it.

    Args:
        agent: its number in the crawl, from 1.
    """
    folder = folder / "learnt"
    folder.mkdir(parents=True, exist_ok=True)
    for crawl in count(1):
        name = f"agent{agent}" + (f"-{crawl}" if crawl > 1 else "")
        lock = (folder / f"{name}.lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        return Learnt(own, mode, folder / f"{name}.msgpack"), lock
    raise AssertionError("there is always another number")
