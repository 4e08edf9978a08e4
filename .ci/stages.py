"""All that must hold, stage by stage (layers.py): `python .ci/stages.py [STAGE…]`, in the project's folder.

The output of a stage goes to build/ci; the terminal has a line when it begins and one when it ends, and what
a red one wrote. Red tests run once more, alone: that tells which are unsteady, and pardons none. At the end,
also where the run is ended from outside or by its time limit, all that is red is told with its last lines.
The very last line sums up all tests as pytest does.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from random import SystemRandom

import telling
from layers import LANES, STAGES, Stage
from running import Run

OUTPUT = Path("build/ci")
MINUTES = 80.0


class Runner:
    """Runs stages until all are over, or until it is ended."""

    def __init__(self, options: tuple[str, ...], minutes: float) -> None:
        self.ended = ""  # by what
        self._options = options
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, self._end)
        signal.setitimer(signal.ITIMER_REAL, minutes * 60)
        OUTPUT.mkdir(parents=True, exist_ok=True)

    def _end(self, number: int, _frame: object) -> None:
        self.ended = "the time limit" if number == signal.SIGALRM else signal.Signals(number).name

    def phases(self, stages: list[Stage], stops: bool) -> list[Run]:
        runs: list[Run] = []
        for phase in sorted({stage.phase for stage in stages}):
            runs += self.side_by_side(stage for stage in stages if stage.phase == phase)
            if self.ended or (stops and any(run.state != "passed" for run in runs)):
                break
        return runs

    def side_by_side(self, stages: Iterable[Stage]) -> list[Run]:
        """The longest first; who needs all lanes waits until they are free."""
        waiting = sorted(stages, key=lambda stage: -stage.seconds)
        runs: list[Run] = []
        while not self.ended and (waiting or any(run.state == "runs" for run in runs)):
            for stage in waiting.copy():
                taken = sum(run.stage.lanes for run in runs if run.state == "runs")
                if taken + stage.lanes <= LANES:
                    waiting.remove(stage)
                    runs.append(Run(stage, OUTPUT, self._options))
            time.sleep(0.1)
            for run in runs:
                run.look()
        for run in runs:
            run.end()
        return runs

    def unsteady(self, runs: list[Run]) -> set[str]:
        """The red tests that pass when they run once more, alone."""
        red = sorted({event.test for run in runs for event in run.red})
        again = self.side_by_side([Stage("once more", ("pytest", *red))] if red else [])
        passed = {event.test for run in again for event in run.events if event.became == "passed"}
        return passed - {event.test for run in again for event in run.red}


def main(arguments: list[str] | None = None, stages: tuple[Stage, ...] = STAGES) -> int:
    given = parsed(arguments, stages)
    chosen = [stage for stage in stages if stage.name in given.stages]
    seed = draw() if given.deep else None
    began = time.monotonic()
    limits = ("--maxfail=20", "--without-deep") if seed is None else (f"--shuffled={seed}",)
    runner = Runner(("-rs", "--durations=10", *limits), 0 if given.deep else given.minutes)
    runs = runner.phases(chosen, stops=not (given.all or given.deep))
    unsteady = runner.unsteady(runs)
    telling.tell_red(runs, unsteady, seed)
    telling.tell_stages(chosen, runs, runner.ended)
    telling.tell_total(runs, time.monotonic() - began)
    return 0 if [run.state for run in runs] == ["passed"] * len(chosen) else 1


def parsed(arguments: list[str] | None, stages: tuple[Stage, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="All that must hold, stage by stage.")
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="only these")
    parser.add_argument("--all", action="store_true", help="go on where a phase is red")
    parser.add_argument("--deep", action="store_true", help="all stages, from a fresh seed, without limits")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="time limit (default %(default)g)")
    given = parser.parse_args(arguments)
    names = [stage.name for stage in stages if given.deep or not stage.deep]
    if unknown := {*given.stages} - {*names}:
        parser.error(f"no such stages: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    given.stages = given.stages or names
    return given


def draw() -> int:
    """The seed of all chance in what is started from here, unless one is given."""
    seed = int(os.environ.get("WEBCRAWLER_SEED") or SystemRandom().randrange(2**32))
    os.environ |= {"WEBCRAWLER_SEED": str(seed), "PYTHONHASHSEED": str(seed), "HYPOTHESIS_PROFILE": "deep"}
    return seed


if __name__ == "__main__":
    sys.exit(main())
