"""Failpoints: each stands where the table says, strikes when it is told to, and costs nothing else."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from webcrawler import failpoints
from webcrawler.errors import BadInput, Unavailable
from webcrawler.failpoints import FAILPOINTS

PROJECT = Path(__file__).parents[1]
SOURCES = [path for room in ("webcrawler", "spiders", "pipelines") for path in (PROJECT / room).rglob("*.py")]
# As a call, or as a callback.
USE = re.compile(r'failpoints\.reach(?:\(|, )"([^"]+)"')
STRUCK = "from webcrawler import failpoints; import os; failpoints.arm(os.environ); {}"
NAME = "lease.after"


@pytest.fixture(autouse=True)
def unarmed() -> Iterator[None]:
    yield
    failpoints.arm({})


def run(code: str, **environment: str) -> int:
    """The exit status of a process that is armed and runs that code."""
    command = [sys.executable, "-c", STRUCK.format(code)]
    return subprocess.run(command, cwd=PROJECT, env=os.environ | environment).returncode


def test_each_failpoint_stands_once_where_the_table_says_and_no_other_does() -> None:
    found = [
        (name, str(path.relative_to(PROJECT)))
        for path in SOURCES
        for name in USE.findall(path.read_text("utf-8"))
    ]

    assert sorted(found) == sorted((name, file) for name, (file, _) in FAILPOINTS.items())


def test_every_step_of_a_url_has_some() -> None:
    rooms = {name.partition(".")[0] for name in FAILPOINTS}

    assert len(FAILPOINTS) >= 30
    assert rooms >= {
        "discover",
        "lease",
        "robots",
        "download",
        "parse",
        "parser",
        "batch",
        "pages",
        "catalog",
    }
    assert rooms >= {"complete", "fail", "release", "index", "heartbeat", "redis", "close", "leave"}


def test_nothing_happens_where_nothing_is_armed() -> None:
    for name in FAILPOINTS:
        failpoints.reach(name)


def test_it_strikes_at_the_passing_that_is_asked_for() -> None:
    failpoints.arm({"FAILPOINTS": f"{NAME}:enospc:3"})

    failpoints.reach(NAME)
    failpoints.reach(NAME)
    with pytest.raises(OSError, match="No space left"):
        failpoints.reach(NAME)
    failpoints.reach(NAME)


def test_without_a_passing_it_is_the_first() -> None:
    failpoints.arm({"FAILPOINTS": f"{NAME}:unavailable"})

    with pytest.raises(Unavailable):
        failpoints.reach(NAME)


def test_others_are_not_struck() -> None:
    failpoints.arm({"FAILPOINTS": f"{NAME}:enospc"})

    failpoints.reach("lease.before")


def test_several_can_be_armed() -> None:
    failpoints.arm({"FAILPOINTS": f"lease.before:0, {NAME}:enospc"})

    failpoints.reach("lease.before")
    with pytest.raises(OSError):
        failpoints.reach(NAME)


def test_counts_go_on_when_it_is_armed_again_the_same_way() -> None:
    environment = {"FAILPOINTS": f"{NAME}:enospc:2"}
    failpoints.arm(environment)
    failpoints.reach(NAME)

    failpoints.arm(environment)

    with pytest.raises(OSError):
        failpoints.reach(NAME)


@pytest.mark.parametrize(("action", "status"), [("kill", -signal.SIGKILL), ("exit", failpoints.EXIT_STATUS)])
def test_a_process_can_be_ended(action: str, status: int) -> None:
    assert run(f"failpoints.reach({NAME!r})", FAILPOINTS=f"{NAME}:{action}") == status


def test_with_a_folder_it_strikes_in_one_process_only(tmp_path: Path) -> None:
    environment = {"FAILPOINTS": f"{NAME}:kill", "FAILPOINTS_ONCE": str(tmp_path)}

    statuses = [run(f"failpoints.reach({NAME!r})", **environment) for _ in range(2)]

    assert statuses == [-signal.SIGKILL, 0]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize(
    "wrong",
    [
        "lease.never:kill",  # no such failpoint
        "lease.after",  # no action
        "lease.after:burn",
        "lease.after:kill:0",  # passings count from 1
        "lease.after:kill:soon",
        "lease.after:kill:1:2",
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(wrong: str) -> None:
    with pytest.raises(BadInput, match=re.escape(wrong)) as refused:
        failpoints.arm({"FAILPOINTS": wrong})

    assert "\n" not in str(refused.value)


def test_a_crawl_refuses_an_unknown_one_before_it_opens_anything(tmp_path: Path) -> None:
    environment = {"FAILPOINTS": "lease.never:kill", "CRAWL_DIR": str(tmp_path / "crawl")}

    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "index"],
        cwd=PROJECT, env=os.environ | environment, capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 2
    assert done.stderr.startswith("error: FAILPOINTS=lease.never:kill: there is no failpoint 'lease.never'")
    assert not (tmp_path / "crawl").exists()
