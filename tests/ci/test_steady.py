"""`make steady`: what fails now and then is found, and nothing goes on afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from localweb import PROJECT

pytestmark = pytest.mark.slow

STEADY = str(PROJECT / ".ci/steady.py")
CONFTEST = """
from types import SimpleNamespace
from webcrawler import clock
clock.time = SimpleNamespace(time=lambda: 1000.25)
"""
RECORDS = """
import os
from webcrawler import clock

def test_it():
    seeds = os.environ["WEBCRAWLER_SEED"], os.environ["PYTHONHASHSEED"]
    print(*seeds, f"{clock.now():.2f}", os.environ.get("WEBCRAWLER_CLOCK"), file=open("runs", "a"))

test_again = test_it
"""
FAILS_AT_FIRST = """
from pathlib import Path

def test_it():
    first = not Path("again").exists()
    Path("again").touch()
    assert not first, "not the first time"
"""


def steady(folder: Path, text: str) -> tuple[int, str]:
    (folder / "test_it.py").write_text(text)
    with subprocess.Popen(
        [sys.executable, STEADY, "--times", "2", "test_it.py"],
        cwd=folder,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        told, _ = run.communicate()
    with pytest.raises(ProcessLookupError):  # nobody is left of those that it began
        os.killpg(run.pid, 0)
    return run.returncode, told


def test_each_run_has_a_seed_of_its_own_and_the_last_one_begins_at_55_hundredths(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)

    status, told = steady(tmp_path, RECORDS)

    runs = [line.split() for line in (tmp_path / "runs").read_text().splitlines()]
    assert status == 0
    assert told.splitlines()[-1] == "3 of 3 runs were green"
    assert all(seed == of_hashes for seed, of_hashes, *_ in runs) and len({seed for seed, *_ in runs}) == 3
    assert [moment for _, _, *moment in runs] == [["1000.25", "None"]] * 4 + [["1000.55", "+0.300000"]] * 2


def test_a_red_run_is_told_with_its_seed(tmp_path: Path) -> None:
    status, told = steady(tmp_path, FAILS_AT_FIRST)

    assert status == 1
    assert told.startswith("WEBCRAWLER_SEED=") and "AssertionError: not the first time" in told
