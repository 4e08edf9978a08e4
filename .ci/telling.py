"""What is told at the end of all stages: what is red and why, the table of stages, and the total."""

from __future__ import annotations

from collections import Counter

from layers import Stage
from running import Run, counted

LINES = 30  # of each that is red


def tell_red(runs: list[Run], unsteady: set[str], seed: int | None) -> None:
    again = "" if seed is None else f" WEBCRAWLER_SEED={seed} PYTHONHASHSEED={seed}"
    for run in runs:
        for event in run.red:
            what = "UNSTEADY, red, then passed alone:" if event.test in unsteady else "FAILED"
            _tell(f"{what} {event.test} ({event.place}){again}", event.text)
        if run.state != "passed" and not run.red:
            _tell(f"{run.state} {run.stage.name}{again}", run.output(LINES))
        for event in run.under_way:
            _tell(f"UNDER WAY {event.test} ({event.place})")


def _tell(title: str, text: str = "") -> None:
    print(f"\n{title}", *text.splitlines()[-LINES:], sep="\n    ")


def tell_stages(stages: list[Stage], runs: list[Run], ended: str) -> None:
    print(f"\n== all stages{ended and f', ended by {ended}'}")
    for run in runs:
        print(run)
    begun = [run.stage for run in runs]
    for stage in stages:
        if stage not in begun:
            print(f"{stage.name}: not run")


def tell_total(runs: list[Run], seconds: float) -> None:
    counts = sum((run.counts for run in runs), Counter[str]())
    minutes = f"({int(seconds) // 60}:{int(seconds) % 60:02})"
    print(f"{counted(counts) or 'no tests ran'} in {seconds:.2f}s {minutes}", flush=True)
