"""Whatever happens to a crawl, nothing is lost and nothing is there twice: a short tests/faults/faults.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from failpoints import OF_CRAWLS

PROJECT = Path(__file__).parents[2]
KILLS = 60  # issue 3
RESUME_SECONDS = 10
LOST_OR_TWICE = [
    "urls_lost",
    "urls_wrong",
    "urls_too_many",
    "documents_lost",
    "documents_twice",
    "duplicates_wrong",
    "pages_unreadable",
    "index_lost",
    "index_twice",
    "index_too_many",
]

pytestmark = [
    pytest.mark.faults,
    pytest.mark.deep("test_kills.py, test_batch.py, test_purge.py and test_sitemaps.py kill in CI"),
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by /proc"),
]


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("faults")
    command = [sys.executable, "tests/faults/faults.py", "--short", "--folder", str(folder / "rounds")]
    if seed := os.environ.get("FAULTS_SEED"):
        command += ["--seed", seed]

    done = subprocess.run(
        [*command, "--json", str(folder / "faults.json")], cwd=PROJECT, capture_output=True, text=True
    )

    print(done.stdout)  # the seed, and the table
    assert (folder / "faults.json").exists(), done.stdout + done.stderr[-4000:]
    figures: dict[str, Any] = json.loads((folder / "faults.json").read_text())
    return figures


def test_nothing_went_wrong(figures: dict[str, Any]) -> None:
    assert figures["problems"] == []


@pytest.mark.parametrize("what", LOST_OR_TWICE)
def test_nothing_is_lost_and_nothing_is_there_twice(figures: dict[str, Any], what: str) -> None:
    assert figures[what] == 0


def test_states_add_up(figures: dict[str, Any]) -> None:
    assert figures["states_wrong"] == 0


def test_there_were_kills_enough_and_at_every_failpoint(figures: dict[str, Any]) -> None:
    assert figures["kills"] >= KILLS
    assert [name for name in OF_CRAWLS if not figures["failpoints"][name]] == []


def test_work_goes_on_soon_after_each_fault(figures: dict[str, Any]) -> None:
    slow = {
        kind: of_kind
        for kind, of_kind in figures["kinds"].items()
        if of_kind["resumed_max"] > 5 * RESUME_SECONDS
    }

    assert slow == {}


def test_what_is_fetched_again_was_in_flight(figures: dict[str, Any]) -> None:
    assert [one for one in figures["each_round"] if one.get("refetched", 0) > one.get("in_flight", 0)] == []
