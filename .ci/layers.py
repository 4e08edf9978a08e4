"""Which tests run where: one row a stage. All rows are `make test-all`; `.ci/run` leaves out what is deep.

That is whole stages, and tests with that mark. Each test belongs to one stage, but for what deep stages run
again; tests/ci/test_layers.py holds that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

LANES = 3  # with four, two processors are no sooner done, and each stage takes longer


class Stage(NamedTuple):
    """A command that runs in one lane, beside another; whoever needs all lanes runs alone."""

    name: str
    command: tuple[str, ...]
    phase: int = 3  # begins when the one before is over, in CI only if that is green
    lanes: int = 1
    seconds: int = 0  # on CI's machine, about: the longest begins first
    deep: bool = False  # not in CI


def tests(name: str, marks: str, *options: str, **needs: Any) -> Stage:
    return Stage(name, ("pytest", "-m", marks, *options), **needs)


def without(*paths: str) -> tuple[str, ...]:
    return tuple(f"--ignore={path}" for path in paths)


TWO = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")  # whole files go to each of two processes


# Only the files that have such tests: to collect all of them takes a quarter of a minute.
def files(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/test_{name}.py" for name in names)


SLOW = "slow and not (browser or cluster or docweb or faults or fleet or opensearch or scrapyd or zoo)"
MISSION = "tests/mission"  # a test for each row of the papers, whose seconds are told together
# One wheel and its environments are made once for all of these.
INSTALLED = files("documented", "docs_site", "extras", "operate", "packaging")
BROWSER = files("about", "live_in_browser", "query_log_in_browser", "search_box", "search_in_browser", "xss")

FLEET = files("dataset_in_s3", "graph_jobs", "graph_sql", "pages_in_s3")

# What these do depends on when processes begin, are stopped and end.
PROCESSES = files(
    *("agents", "connection", "follower", "parserpool", "purge", "ranker", "search_first", "serve_command"),
    *("side_by_side", "sitemaps", "stopped_writer", "stored_ranks", "views"),
)


def quick_at(seconds: float) -> tuple[str, ...]:
    """The quick tests, each of which begins at this moment."""
    return ("python", "-m", "pytest", "-m", "not slow", "-p", "moment", f"--begins-at={seconds}")


STAGES = (
    Stage("style", ("ruff", "check", "."), phase=1),
    Stage("format", ("ruff", "format", "--check", "."), phase=1),
    Stage("types", ("mypy",), phase=1, seconds=15),
    Stage("contracts", ("lint-imports",), phase=1),
    # It leaves bytecode, which the processes of the fast tests would each make.
    Stage("collection", ("pytest", "--collect-only", "-qq"), phase=1, seconds=40),
    Stage("fast tests", ("make", "test"), phase=2, lanes=LANES, seconds=200),
    tests("crawls", SLOW, *TWO, *without(MISSION, *INSTALLED, *PROCESSES), lanes=2, seconds=1_200),
    tests("processes", SLOW, *PROCESSES, seconds=700),
    tests("installed", SLOW, *INSTALLED, seconds=300),
    tests("mission", "slow", MISSION, seconds=170),
    tests("docweb", "docweb", "tests/docweb", seconds=360),
    tests("zoo", "zoo", "tests/zoo", seconds=180),
    tests("browser", "browser", *BROWSER, seconds=250),
    tests("scrapyd", "scrapyd", *files("scrapyd", "scrapyd_foreign"), seconds=100),
    tests("cluster", "cluster", *files("cluster"), seconds=20),
    tests("fleet", "fleet", *FLEET, seconds=180),
    tests("opensearch", "opensearch", "tests/cluster", seconds=200),
    tests("faults", "faults", "tests/faults", lanes=LANES, seconds=440, deep=True),
    Stage("late in a second", quick_at(0.55), seconds=400, deep=True),
    Stage("midnight", quick_at(86_399.8), seconds=400, deep=True),
    Stage("twenty times", ("python", ".ci/steady.py", *PROCESSES), lanes=LANES, seconds=9_000, deep=True),
)
