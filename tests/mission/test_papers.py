"""What the documentation says of the papers is what these tests look at."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs/explanation/papers.md").read_text("utf-8")
OF_THE_USER = {1, 2, 3, 4, 5}


def test_each_row_of_the_mission_has_one_test_and_one_row_in_the_documentation() -> None:
    rows = [int(number) for number in re.findall(r"(?m)^\| (\d+) \|", PAGE)]
    sources = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    tests = [int(number) for text in sources for number in re.findall(r"(?m)^def test_(\d\d)_", text)]

    assert sorted(tests) == list(range(1, 47))
    assert sorted(rows) == sorted(set(tests) - OF_THE_USER)


def test_each_row_without_a_number_names_its_tests() -> None:
    rows = re.findall(r"(?m)^\| (.*?) ?\|.* \| [●◐–] \|", PAGE)
    unnumbered = [re.findall(r"`(test_\w+\.py)`", cell) for cell in rows if not cell.isdecimal()]

    assert len(unnumbered) == 5
    assert all(names for names in unnumbered)
    assert all((PROJECT / "tests" / name).is_file() for names in unnumbered for name in names)


def test_each_quotation_of_the_readme_is_in_the_list_of_the_papers_words() -> None:
    """The papers themselves are not in the project."""
    readme = (
        (PROJECT / "README.md").read_text("utf-8").partition("## What it does\n")[2].partition("\n## ")[0]
    )
    quoted = re.findall(r'"([^"]+)"', re.sub(r"`[^`]*`", "", readme))
    known = re.findall(r'(?m)^\| .* \| "(.+)" \|$', PAGE.partition("## In the papers' words")[2])

    spoken = [" ".join(words.split()) for words in quoted]
    assert {words[0].lower() + words[1:] for words in spoken} == {
        words[0].lower() + words[1:] for words in known
    }
