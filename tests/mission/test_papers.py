"""What the documentation says of the papers is what these tests look at."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
OF_THE_USER = {1, 2, 3, 4, 5}


def test_each_row_of_the_mission_has_one_test_and_one_row_in_the_documentation() -> None:
    page = (PROJECT / "docs/explanation/papers.md").read_text("utf-8")
    rows = [int(number) for number in re.findall(r"(?m)^\| (\d+) \|", page)]
    sources = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    tests = [int(number) for text in sources for number in re.findall(r"(?m)^def test_(\d\d)_", text)]

    assert sorted(tests) == list(range(1, 47))
    assert sorted(rows) == sorted(set(tests) - OF_THE_USER)
