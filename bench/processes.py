"""One crawl as a process: seconds until its end, and the processor time of it and of all that it started."""

from __future__ import annotations

import os
import subprocess
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MARK = "BENCH_RUN"  # in the environment of every process of one run
SAMPLE_SECONDS = 0.25
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    status: int
    wall_seconds: float  # from its start to its exit
    cpu_seconds: float  # of the process itself
    others_cpu_seconds: float  # of the processes that it started, until its exit; within 0.25 s


def measure(command: list[str], environment: dict[str, str], folder: Path, log: Path) -> Measured:
    """Runs a command to its end; Linux, as it reads /proc."""
    mark = uuid.uuid4().hex
    started = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment | {MARK: mark}, cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
    meter = _Meter(f"{MARK}={mark}".encode(), process.pid)
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its /proc entry stays until `wait`
        wall = time.perf_counter() - started
        others = meter.stop()
        cpu = _cpu_seconds(process.pid)
        return Measured(process.wait(), wall, cpu, others)
    except BaseException:
        process.terminate()
        process.wait()
        raise


class _Meter(threading.Thread):
    """Looks at all processes with the mark again and again: what ends is remembered as last seen."""

    def __init__(self, mark: bytes, main: int) -> None:
        super().__init__(daemon=True)
        self._mark, self._main = mark, main
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
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != self._main:
                with suppress(OSError):  # it has just ended, or is somebody else's
                    if self._mark in (entry / "environ").read_bytes().split(b"\0"):
                        self._cpu_seconds[int(entry.name)] = _cpu_seconds(int(entry.name))


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process and its threads, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
