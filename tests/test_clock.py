"""The clock of the product: set by a variable of the environment, held and moved by tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Clock

from webcrawler.clock import age, now, set_to

SAYS_NOW = "from webcrawler.clock import now; print(now())"


def said_by_a_process(**variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | variables
    return subprocess.run([sys.executable, "-c", SAYS_NOW], env=environment, capture_output=True, text=True)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> float:
    """What the machine's clock says during the test."""
    monkeypatch.setattr(time, "time", lambda: 1_000.25)
    return 1_000.25


@pytest.mark.parametrize(
    ("to", "moment"),
    [
        ("", 1_000.25),
        ("+86400", 87_400.25),
        ("-1.5", 998.75),
        ("@1700000000.55", 1_700_000_000.55),
        ("@0", 0.0),
    ],
)
def test_clock_is_ahead_behind_or_stands(clock: Clock, machine: float, to: str, moment: float) -> None:
    set_to(to)

    assert now() == moment


@pytest.mark.parametrize("to", ["86400", "@", "+", "tomorrow", "@-1", "+1e3", "@nan", "+1 "])
def test_what_is_no_clock_is_refused(to: str) -> None:
    with pytest.raises(SystemExit, match=f"^{re.escape(f'WEBCRAWLER_CLOCK={to} is not valid: ')}"):
        set_to(to)


def test_a_process_without_a_valid_clock_ends_with_one_line() -> None:
    done = said_by_a_process(WEBCRAWLER_CLOCK="tomorrow")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "WEBCRAWLER_CLOCK=tomorrow is not valid: +SECONDS, -SECONDS, or @SECONDS since 1970\n"
    )


def test_held_clock_stands_and_is_moved(clock: Clock) -> None:
    clock.hold(1_700_000_000.55)
    assert now() == now() == 1_700_000_000.55

    clock.move(-0.5)

    assert now() == 1_700_000_000.05


def test_moved_clock_goes_on(clock: Clock, machine: float, monkeypatch: pytest.MonkeyPatch) -> None:
    began = now()
    clock.move(60)
    clock.move(60)
    assert now() == pytest.approx(began + 120, abs=1e-6)

    monkeypatch.setattr(time, "time", lambda: machine + 1)

    assert now() == pytest.approx(began + 121, abs=1e-6)


def test_processes_have_the_clock_of_the_test_that_starts_them(clock: Clock) -> None:
    clock.hold(1_700_000_000.55)

    assert said_by_a_process().stdout == "1700000000.55\n"


def test_age_of_a_file_is_by_the_clock_of_files(clock: Clock, machine: float, tmp_path: Path) -> None:
    os.utime(tmp_path, (0, 900))
    clock.move(86_400)

    assert age(tmp_path.stat()) == 100.25
