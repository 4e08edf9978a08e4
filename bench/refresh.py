"""A step of the refresher over a million documents: time, and bytes a document.

    .venv/bin/python bench/refresh.py [--pages 1000000] [--servers 10000] [--json FILE]

Documents are checked a few times first, so that beliefs differ. A step is what the refresher does between two
looks at the frontier: take in checks of 1 % of the pages, learn from them, and choose as many, with a cap for
each server. Prints the medians of five steps, in processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import median

import numpy as np

from webcrawler.refresh import Schedule

SHARE = 0.01  # of the pages, taken in and chosen by each step
STEPS = 5


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--servers", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    for policy in ("expected", "ep", "eb"):
        figures = measured(policy, asked.pages, asked.servers)
        print(policy.ljust(10), *(f"{name} {value:.3f}" for name, value in figures.items()), sep="   ")
        if asked.json and policy == "expected":
            asked.json.write_text(json.dumps(figures) + "\n")


def measured(policy: str, pages: int, servers: int) -> dict[str, float]:
    random = np.random.default_rng(1)
    schedule = Schedule(policy, at_least=60.0, at_most=1 / 24)
    of = np.sort((random.pareto(1, pages) * servers / 10).astype(np.int64) % servers)
    schedule.add(of, np.zeros(pages), 1 + random.pareto(1.1, pages))
    everyone = np.arange(pages)
    for day in (1.0, 3.0, 9.0):
        schedule.see(everyone, np.full(pages, day), (random.random(pages) < 0.2).astype(np.int8))
    caps = np.full(servers, int(pages * SHARE * 0.1))
    times: dict[str, list[float]] = {"follow": [], "learn": [], "choose": [], "step": []}
    for step in range(STEPS):
        now = 20.0 + step
        checks = random.choice(pages, int(pages * SHARE), replace=False)
        changed = (random.random(len(checks)) < 0.2).astype(np.int8)
        marks = [time.process_time()]
        schedule.see(checks, np.full(len(checks), now), changed)
        marks.append(time.process_time())
        schedule.learn()
        marks.append(time.process_time())
        schedule.choose(now, int(pages * SHARE), caps)
        marks.append(time.process_time())
        for name, seconds in zip(times, [*np.diff(marks), marks[-1] - marks[0]], strict=True):
            times[name].append(seconds)
    held = sum(array.nbytes for array in schedule.arrays().values())
    return {**{f"{name} s": median(seconds) for name, seconds in times.items()}, "bytes a page": held / pages}


if __name__ == "__main__":
    main()
