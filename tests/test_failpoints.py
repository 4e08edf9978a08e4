"""Failpoints: each stands where the table says, strikes when it is told to, and costs nothing else."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import failpoints
import pytest
from failpoints import FAILPOINTS, HOOK

from webcrawler.errors import Unavailable

PROJECT = Path(__file__).parents[1]
SOURCES = [path for room in ("webcrawler", "spiders", "pipelines") for path in (PROJECT / room).rglob("*.py")]
USE = re.compile(r'sys\.audit(?:\(|, )"webcrawler\.([^"]+)"')  # as a call, or as a callback
NAME = "lease.after"
ANNOUNCED = f"import sys; sys.audit('webcrawler.{NAME}')"


@pytest.fixture(autouse=True)
def unarmed() -> Iterator[None]:
    yield
    failpoints.arm({})


def reach(name: str) -> None:
    sys.audit(f"webcrawler.{name}")


def run(code: str, failpoints: str, once: str = "") -> int:
    """The exit status of a process that is armed from outside and runs that code."""
    armed = {"FAILPOINTS": failpoints, "FAILPOINTS_ONCE": once, "PYTHONPATH": str(HOOK)}
    return subprocess.run([sys.executable, "-c", code], env=os.environ | armed).returncode


def test_each_failpoint_stands_once_where_the_table_says_and_no_other_does() -> None:
    texts = {str(path.relative_to(PROJECT)): path.read_text("utf-8") for path in SOURCES}
    found = [(name, path) for path, text in texts.items() for name in USE.findall(text)]

    assert sorted(found) == sorted((name, file) for name, (file, _) in FAILPOINTS.items())


def test_every_step_of_a_url_has_some() -> None:
    rooms = {name.partition(".")[0] for name in FAILPOINTS}

    assert len(FAILPOINTS) >= 30
    assert rooms >= {"discover", "lease", "robots", "download", "parse", "parser", "batch", "pages", "close"}
    assert rooms >= {"catalog", "complete", "fail", "release", "index", "heartbeat", "redis", "leave"}


def test_nothing_happens_where_nothing_is_armed() -> None:
    for name in FAILPOINTS:
        reach(name)


def test_it_strikes_at_the_passing_that_is_asked_for() -> None:
    failpoints.arm({"FAILPOINTS": f"{NAME}:enospc:3"})

    reach(NAME)
    reach(NAME)
    with pytest.raises(OSError, match="No space left"):
        reach(NAME)
    reach(NAME)


def test_without_a_passing_it_is_the_first_and_others_are_not_struck() -> None:
    failpoints.arm({"FAILPOINTS": f"{NAME}:unavailable"})

    reach("lease.before")
    with pytest.raises(Unavailable):
        reach(NAME)


def test_several_can_be_armed() -> None:
    failpoints.arm({"FAILPOINTS": f"lease.before:0, {NAME}:enospc"})

    reach("lease.before")
    with pytest.raises(OSError):
        reach(NAME)


@pytest.mark.parametrize(("action", "status"), [("kill", -signal.SIGKILL), ("exit", failpoints.EXIT_STATUS)])
def test_a_process_can_be_ended(action: str, status: int) -> None:
    assert run(ANNOUNCED, f"{NAME}:{action}") == status


def test_a_process_that_such_a_process_starts_is_armed_too() -> None:
    child = f"import subprocess, sys; sys.exit(-subprocess.call([sys.executable, '-c', {ANNOUNCED!r}]))"

    assert run(child, f"{NAME}:kill") == signal.SIGKILL


def test_with_a_folder_it_strikes_in_one_process_only(tmp_path: Path) -> None:
    statuses = [run(ANNOUNCED, f"{NAME}:kill", once=str(tmp_path)) for _ in range(2)]

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
    with pytest.raises(ValueError, match=re.escape(wrong)) as refused:
        failpoints.arm({"FAILPOINTS": wrong})

    assert "\n" not in str(refused.value)


def test_a_crawl_refuses_an_unknown_one_before_it_opens_anything(tmp_path: Path) -> None:
    armed = {"FAILPOINTS": "lease.never:kill", "PYTHONPATH": str(HOOK), "CRAWL_DIR": str(tmp_path / "crawl")}
    command = [sys.executable, "-m", "scrapy", "crawl", "index"]

    done = subprocess.run(command, cwd=PROJECT, env=os.environ | armed, capture_output=True, text=True)

    assert done.returncode == 2
    assert done.stderr.startswith("error: FAILPOINTS=lease.never:kill: there is no failpoint 'lease.never'")
    assert not (tmp_path / "crawl").exists()
