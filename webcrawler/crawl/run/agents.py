"""Agents: the processes of one crawl on one machine. The first starts the others, which end when it does.

A socket between the first and each of the others says which of them is alive: it closes when a process ends,
however it ends. Over it, an agent that has ended in good order tells what it counted.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import mmap
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from webcrawler import clock

logger = logging.getLogger(__name__)

COLUMNS = ("documents", "fetches", "added", "promised")
CELL_BYTES = 8


class Tally:
    """Counts in memory that processes share when they are forked; each changes its own row only.

    `documents` and `fetches` were decided, checks included; `added` is by how much the collection has grown;
    `promised` is how many URLs are leased, or about to be, that may yet be documents.

    Args:
        rows: how many processes.
    """

    def __init__(self, rows: int = 1) -> None:
        self._lock = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process lives)
        memory = mmap.mmap(-1, rows * len(COLUMNS) * CELL_BYTES)
        self._cells = memoryview(memory).cast("q")
        self.row = 0

    def add(self, column: str, number: int) -> None:
        self._cells[self._place(column, self.row)] += number

    def promise(self, number: int) -> None:
        """Say how many URLs of this process may yet be documents."""
        self._cells[self._place("promised", self.row)] = number

    def forget_promise(self, row: int) -> None:
        """A process has ended: what it held is somebody else's by now."""
        self._cells[self._place("promised", row)] = 0

    def has_turn(self, now: float) -> bool:
        """May this process lease where nearly all is promised that may still be fetched? A turn is a second.

        Else one that meets nothing but dead links could renew its promise, and keep others from the rest.

        Args:
            now: in seconds, by the same clock for all of them.
        """
        return (int(now) + self.row) % (len(self._cells) // len(COLUMNS)) == 0

    def total(self, column: str) -> int:
        return sum(self._cells[self._place(column, 0) :: len(COLUMNS)].tolist())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else promises anything meanwhile. A process that is killed holds nothing up."""
        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)

    def _place(self, column: str, row: int) -> int:
        return row * len(COLUMNS) + COLUMNS.index(column)


ENDED = "first_agent_ended"  # why another agent ends


class Other(NamedTuple):
    """Another agent, as the first one sees it."""

    number: int
    process: int
    line: socket.socket


class Agents:
    """This process among the agents of its crawl; made once by the first, before its event loop.

    Attributes:
        number: of this process, from 1.
        tally: what all of them have fetched.
    """

    def __init__(self, total: int = 1) -> None:
        self.number, self.total = 1, total
        self.tally = Tally(total)
        self._others: list[Other] = []
        self._is_ending = False
        self._first: socket.socket | None = None  # the line to it, in the others

    def __deepcopy__(self, memo: dict[int, Any]) -> Agents:
        return self  # Scrapy copies the settings that bring it to the crawl

    def start(self) -> None:
        """Fork the others; returns in each of them. No thread may have been started before."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number in range(2, self.total + 1):
            ours, theirs = socket.socketpair()
            if process := os.fork():
                theirs.close()
                self._others.append(Other(number, process, ours))
                continue
            ours.close()
            self._become(number, theirs)
            return

    def _become(self, number: int, line: socket.socket) -> None:
        for other in self._others:  # else their lines would stay open as long as this process lives
            other.line.close()
        self._others, self._first = [], line
        self.number, self.tally.row = number, number - 1
        clock.seed(number)

    @property
    def is_first(self) -> bool:
        return self.number == 1

    def watch(self, stop: Callable[[str], object]) -> None:
        """From now on, stop when the first agent ends; the first says which of the others were killed."""
        loop = asyncio.get_running_loop()
        if self._first:
            loop.add_reader(self._first, self._end_with_first, loop, stop)
        for other in self._others:
            loop.add_reader(other.line, self._note_end, loop, other)

    def _end_with_first(self, loop: asyncio.AbstractEventLoop, stop: Callable[[str], object]) -> None:
        assert self._first
        loop.remove_reader(self._first)
        stop(ENDED)

    def _note_end(self, loop: asyncio.AbstractEventLoop, other: Other) -> None:
        loop.remove_reader(other.line)
        if self._is_ending:
            return
        self.tally.forget_promise(other.number - 1)
        if not other.line.recv(1, socket.MSG_PEEK):
            logger.error("agent %d has died: the others fetch what it held", other.number)

    def end(self) -> None:
        """Tell the others to end; may be called again, from any thread."""
        self._is_ending = True
        for other in self._others:
            with suppress(OSError):  # it has ended
                other.line.shutdown(socket.SHUT_WR)

    def close(self, stats: Mapping[str, Any]) -> list[dict[str, int]]:
        """In the first agent, end the others, wait, and return what they counted; in these, tell the first.

        Args:
            stats: of this process; only whole numbers are told.
        """
        self.end()
        if self._first:
            counts = {name: value for name, value in stats.items() if type(value) is int}
            with suppress(OSError), self._first as line:  # it was killed
                line.sendall(json.dumps(counts).encode())
        told = []
        for other in self._others:
            with other.line, other.line.makefile("rb") as line, suppress(ConnectionError):
                told.append(json.loads(line.read() or b"{}"))
        return told

    def failed(self) -> list[str]:
        """Wait until the others have ended; says of each that failed how."""
        self.end()
        failed = []
        for other in self._others:
            status = os.waitstatus_to_exitcode(os.waitpid(other.process, 0)[1])
            if status:
                how = f"was killed by {signal.Signals(-status).name}" if status < 0 else "failed"
                failed.append(f"agent {other.number} {how}")
        return failed
