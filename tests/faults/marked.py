"""Processes that a run has started, whoever their parents are: a mark in their environment tells (Linux)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

NAME = "FAULTS_RUN"
POLL_SECONDS = 0.01


class Mark:
    """One run's mark; `environment` goes into that of all that it starts."""

    def __init__(self) -> None:
        self.environment = {NAME: uuid4().hex}
        self._text = f"{NAME}={self.environment[NAME]}".encode()

    def is_on(self, pid: int) -> bool:
        try:
            return self._text in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:  # it has ended, or is somebody else's
            return False

    def processes(self) -> list[int]:
        """Those that live and bear the mark, this one left out."""
        pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
        return [pid for pid in pids if pid != os.getpid() and self.is_on(pid)]

    def leftovers(self, seconds: float) -> list[str]:
        """The command lines of those that are still there after that time, or none as soon as none is."""
        with suppress(TimeoutError):
            until(lambda: not self.processes(), seconds)
        return [command_line(pid) for pid in self.processes()]

    def kill_all(self) -> None:
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").replace("\0", " ")[:120]
    return ""


def until(condition: Callable[[], bool], seconds: float, what: str = "") -> None:
    """Returns when it holds.

    Raises:
        TimeoutError: it does not, for so long.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s in vain {what}")
        time.sleep(POLL_SECONDS)
