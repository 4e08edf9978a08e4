"""WEBCRAWLER_PACE: how long a process waits until it looks again what others have done."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SHOW = "from webcrawler import clock; print(clock.WATCH_SECONDS, clock.COMPANION_POLL_SECONDS)"


def started_with(said: str) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"WEBCRAWLER_PACE": said}
    return subprocess.run([sys.executable, "-c", SHOW], env=environ, capture_output=True, text=True)


@pytest.mark.parametrize(("said", "waits"), [("", "5.0 0.5"), ("0.1", "0.5 0.05"), ("3", "15.0 1.5")])
def test_waits_are_multiplied_by_it(said: str, waits: str) -> None:
    assert started_with(said).stdout == f"{waits}\n"


@pytest.mark.parametrize("said", ["fast", "0", "-1", "nan"])
def test_anything_but_a_number_above_0_is_one_line(said: str) -> None:
    done = started_with(said)

    assert done.returncode == 1
    assert done.stderr == f"WEBCRAWLER_PACE={said} is not valid: a number above 0, such as 0.1\n"
