"""Kill -9 amid the checks of a collection: each check counts once. A short tests/faults/refreshes.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
KILLS = os.environ.get("REFRESH_KILLS", "10")

pytestmark = [
    pytest.mark.faults,
    pytest.mark.deep("test_catalog_checks.py and test_refresh.py"),
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by /proc"),
]


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("refreshes")
    command = [sys.executable, "tests/faults/refreshes.py", "--kills", KILLS, "--folder", str(folder)]
    if seed := os.environ.get("FAULTS_SEED"):
        command += ["--seed", seed]

    done = subprocess.run(
        [*command, "--json", str(folder / "figures.json")], cwd=PROJECT, capture_output=True, text=True
    )

    print(done.stdout)  # the seed, and each pass
    assert (folder / "figures.json").exists(), done.stdout + done.stderr[-4000:]
    figures: dict[str, Any] = json.loads((folder / "figures.json").read_text())
    return figures


def test_no_check_is_lost_or_counted_twice_and_no_page_leaves(figures: dict[str, Any]) -> None:
    assert figures["problems"] == []


def test_there_were_kills_enough(figures: dict[str, Any]) -> None:
    assert sum(figures["kills"].values()) >= int(KILLS)
