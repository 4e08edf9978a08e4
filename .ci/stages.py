"""All that must hold, stage by stage: `python .ci/stages.py`.

Stages that do not disturb each other run two at a time, the longest first. Kills, zoo and faults have time
bounds: nothing runs beside them. Every stage runs whatever became of the others, shows its output at its end,
and says its result and time. The last line sums up all tests as pytest does.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
COUNTS = re.compile(r"(\d+) (passed|failed|skipped|xfailed|xpassed|error)")
SUMMARY = re.compile(rf"^(=+ )?{COUNTS.pattern}.* in [\d.]+s", re.MULTILINE)


class Stage(NamedTuple):
    name: str
    commands: tuple[tuple[str, ...], ...]


class Result(NamedTuple):
    name: str
    passed: bool
    seconds: float
    counts: Counter[str]  # of tests

    def __str__(self) -> str:
        return f"== {self.name}: {'passed' if self.passed else 'FAILED'} in {self.seconds:.0f} s"


def tests(name: str, marks: str, *options: str) -> Stage:
    return Stage(name, (("pytest", "-rs", "--durations=10", "-m", marks, *options),))


SLOW = "slow and not (browser or cluster or docweb or faults or scrapyd or zoo)"
MISSION = "tests/mission"  # a test for each row of the papers, whose seconds are told together
WAITING = "tests/test_stopped_writer.py"  # for time limits, nearly all of its minute
KILLS = "tests/docweb/test_kills.py"  # its crawl has to be back at work within a time limit
# Of what is installed; apart from the other slow tests, so that the last ones of these do not run alone.
INSTALLED = tuple(f"tests/test_{name}.py" for name in ("docs_site", "extras", "operate", "packaging"))
ONE_AT_A_TIME = (
    Stage("style", (("ruff", "check", "."), ("ruff", "format", "--check", "."))),
    Stage("types", (("mypy",),)),
    Stage("contracts", (("lint-imports",),)),
    # three, as they wait for processes and servers a third of their time
    tests(
        "fast tests",
        "not slow",
        *("--ignore", MISSION, "-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"),
    ),
    tests("kills", "docweb", KILLS),
    tests("zoo", "zoo"),
    tests("faults", "faults"),
)
TWO_AT_A_TIME = (
    tests("docweb", "docweb", "--ignore", KILLS),
    # two, for the same reason
    tests(
        "slow",
        SLOW,
        *(f"--ignore={path}" for path in (MISSION, WAITING, *INSTALLED)),
        *("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"),
    ),
    tests("installed", SLOW, *INSTALLED),
    tests("mission", "", MISSION),
    tests("browser", "browser and not docweb"),
    tests("scrapyd", "scrapyd", "--ignore", MISSION),
    tests("stopped writer", "slow", WAITING),
    tests("cluster", "cluster"),
)


def run(stage: Stage) -> Result:
    began = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        passed = True
        for program, *arguments in stage.commands:
            command = [BIN / program, *arguments]
            passed &= subprocess.run(command, cwd=PROJECT, stdout=output, stderr=output).returncode == 0
        output.seek(0)
        text = output.read()
    summaries = list(SUMMARY.finditer(text))
    counts = Counter(
        {what: int(number) for number, what in COUNTS.findall(summaries[-1][0])} if summaries else {}
    )
    result = Result(stage.name, passed, time.monotonic() - began, counts)
    print(f"\n== {stage.name}\n{text}{result}", flush=True)
    return result


def main() -> int:
    began = time.monotonic()
    results = [run(stage) for stage in ONE_AT_A_TIME]
    with ThreadPoolExecutor(2) as two:
        results += two.map(run, TWO_AT_A_TIME)
    print("", *results, sep="\n")
    counts = sum((result.counts for result in results), Counter[str]())
    seconds = time.monotonic() - began
    of_each = ", ".join(f"{counts[what]} {what}" for what in sorted(counts))
    print(f"{of_each} in {seconds:.2f}s ({int(seconds) // 60}:{int(seconds) % 60:02})")
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
