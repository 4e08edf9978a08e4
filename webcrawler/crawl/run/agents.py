"""Agents: the processes of one crawl on one machine. The first starts the others, which end when it does.

A socket between the first and each of the others says which of them is alive: it closes when a process ends,
however it ends. Over it, an agent that has ended in good order tells what it counted.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from webcrawler import chance
from webcrawler.crawl.run.tally import Tally

logger = logging.getLogger(__name__)
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
        chance.seed(number)

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
