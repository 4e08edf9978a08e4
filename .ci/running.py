"""A stage under way: its process, its output in a file, and what has become of its tests."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import events
from layers import Stage

HERE = Path(__file__).parent
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
GRACE_SECONDS = 3  # for those who are ended to stop their servers
SHOWN_LINES = 500


class Run:
    """Of a stage, from its begin."""

    def __init__(self, stage: Stage, folder: Path, options: tuple[str, ...]) -> None:
        path = folder.absolute() / stage.name.replace(" ", "-")
        self._events = path.with_suffix(".events")
        self._events.unlink(missing_ok=True)
        self.stage = stage
        self.state = "runs"
        self.events: list[events.Event] = []
        self.log = path.with_suffix(".log")
        self.seconds = 0.0
        self._began = time.monotonic()
        told = ("-p", "events", f"--events={self._events}", f"--junitxml={path}.xml")
        self._process = self._start(told + options)
        print(f"-- {stage.name} begins", flush=True)

    def _start(self, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
        """All that is pytest in it takes the options."""
        program, *arguments = self.stage.command
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [shutil.which(program, path=PATH) or program, *arguments],
                env=os.environ | {"PYTHONPATH": str(HERE), "PYTEST_ADDOPTS": shlex.join(options)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def look(self) -> None:
        """Whether it is over now."""
        if self.state == "runs" and (status := self._process.poll()) is not None:
            self._close("FAILED" if status else "passed")

    def end(self) -> None:
        """Before it is over; what tests say of that does not count."""
        if self.state == "runs":
            self._close("ENDED")
            os.killpg(self._process.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_SECONDS)
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _close(self, state: str) -> None:
        self.state = state
        self.seconds = time.monotonic() - self._began
        self.events = events.read(self._events)
        if state == "FAILED":
            print(f"\n{self.output(SHOWN_LINES)}")
        print(f"== {self}", flush=True)

    def __str__(self) -> str:
        tests = counted(self.counts)
        return f"{self.stage.name}: {self.state} in {self.seconds:.0f} s{tests and f', {tests}'}"

    @property
    def red(self) -> list[events.Event]:
        return [event for event in self.events if event.became in ("failed", "error")]

    @property
    def under_way(self) -> list[events.Event]:
        """The tests that had begun when it ended."""
        over = {event.test for event in self.events if event.became == "over"}
        return [event for event in self.events if event.became == "begun" and event.test not in over]

    @property
    def counts(self) -> Counter[str]:
        """Of its tests; what is red without a red test is an error itself."""
        counts = Counter(event.became for event in self.events if event.became not in ("begun", "over"))
        if self.state != "passed" and not self.red:
            counts["error"] += 1
        return counts

    def output(self, lines: int) -> str:
        """The last lines of it."""
        text = self.log.read_text("utf-8", errors="replace").splitlines()
        left_out = [f"… {len(text) - lines} lines before these: {self.log}"] if len(text) > lines else []
        return "\n".join(left_out + text[-lines:])


def counted(counts: Counter[str]) -> str:
    """As pytest says it."""
    return ", ".join(
        f"{number} {what}{'s' * (what == 'error' and number > 1)}" for what, number in sorted(counts.items())
    )
