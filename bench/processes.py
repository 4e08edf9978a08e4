"""One crawl as a process: seconds until its end, and the processor time of it and of all that it started."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

SAMPLE_SECONDS = 0.25
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    status: int
    wall_seconds: float  # from its start to its exit
    cpu_seconds: float  # of the process itself
    others_cpu_seconds: float  # of the processes that it started, until its exit; within 0.25 s


def measure(command: list[str], environment: dict[str, str], folder: Path, log: Path) -> Measured:
    """Runs a command to its end; Linux, as it reads /proc."""
    started = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
    meter = _Meter(process.pid)
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its /proc entry stays until `wait`
        wall = time.perf_counter() - started
        others = meter.stop()
        cpu = _cpu_seconds(_status(process.pid))
        return Measured(process.wait(), wall, cpu, others)
    except BaseException:
        process.terminate()
        process.wait()
        raise


class _Meter(threading.Thread):
    """Looks at a process's descendants again and again: those that end are remembered as last seen."""

    def __init__(self, main: int) -> None:
        super().__init__(daemon=True)
        self._main = main
        self._cpu_seconds: dict[int, float] = {}
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self._look()

    def stop(self) -> float:
        self._ended.set()
        self.join()
        self._look()
        return sum(self._cpu_seconds.values())

    def _look(self) -> None:
        for pid in sorted(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()):
            with suppress(OSError):  # it has just ended
                status = _status(pid)
                parent = int(status[1])
                if pid in self._cpu_seconds or parent == self._main or parent in self._cpu_seconds:
                    self._cpu_seconds[pid] = _cpu_seconds(status)


def _status(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on: state, parent, …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _cpu_seconds(status: list[str]) -> float:
    """User and system time of a process and its threads, without its children."""
    return (int(status[11]) + int(status[12])) / TICKS_PER_SECOND
