"""`webcrawler evaluate --freshness`: what people see, and what programs read."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from conftest import Run
from localweb import PROJECT

pytestmark = pytest.mark.slow

SMALL = "synthetic?pages=200&servers=5&days=12"


@pytest.fixture
def run(run: Run) -> Run:
    return lambda *arguments: run("evaluate", "--freshness", *map(str, arguments))


def test_there_is_a_table_for_each_budget_with_a_row_for_each_policy(run: Run) -> None:
    answer = run(SMALL, "--policies", "uniform,expected", "--budgets", "0.1,0.5", "--seeds", "1,2")

    assert answer.status == 0, answer.err
    first = r"synthetic\S+: 200 pages of \d servers, [\d,]+ changes in 12 days; seeds 1, 2\."
    assert re.match(first, answer.out)
    tables = answer.out.split("\n\n")[1:]
    assert [table.split()[0] for table in tables] == ["0.1", "0.5"]
    for table in tables:
        rows = [line.split() for line in table.splitlines()[1:]]
        assert [row[0] for row in rows] == ["uniform", "expected", "oracle"]  # with which all are compared
        assert [row[1] for row in rows] == ["2", "2", "2"]
        assert rows[-1][2] == "1.000"


def test_programs_read_each_run(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"

    answer = run(SMALL, "--policies", "ep,oracle", "--budgets", "0.2", "--seeds", "1,2", "--json", file)

    assert answer.status == 0, answer.err
    runs = json.loads(file.read_text())["runs"]
    assert [run["policy"] for run in runs] == ["ep", "ep", "oracle", "oracle"]
    assert [run["seed"] for run in runs] == [1, 2, 1, 2]
    assert set(runs[0]) == {
        "world", "seed", "policy", "budget", "fresh", "plain", "age", "used", "wasted", "never",
        "calibration", "reported", "told", "held", "seconds", "of_oracle",
    }  # fmt: skip
    assert runs[0]["of_oracle"] == pytest.approx(runs[0]["fresh"] / runs[2]["fresh"], abs=1e-4)
    assert runs[2]["reported"] is None


def test_curves_are_drawn_by_budget(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")

    answer = run(SMALL, "--policies", "expected", "--budgets", "0.1,0.5", "--plots", tmp_path)

    assert answer.status == 0, answer.err
    assert answer.out.endswith("freshness.svg\n")
    texts = "".join(xml.parse(tmp_path / "freshness.svg").getroot().itertext())
    assert "expected" in texts and "fetches a page and day" in texts


def test_seed_of_the_world_counts_alone(run: Run) -> None:
    answer = run(f"{SMALL}&seed=5", "--policies", "uniform", "--budgets", "0.1", "--seeds", "1,2")

    assert "seeds 5." in answer.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "name one graph"),
        ([SMALL, "--policies", "best"], "--policies: no policy 'best'; there are uniform,"),
        ([SMALL, "--budgets", "0"], "--budgets=0 is not a number above 0"),
        ([SMALL, "--budgets", "nan"], "--budgets=nan is not a number above 0"),
        ([SMALL, SMALL], "synthetic stands alone"),
        (["missing.tsv"], "cannot read missing.tsv"),
        ([PROJECT / "README.md"], "README.md, line 1: page, group, day it vanished"),
        ([SMALL, "--focused", "topics.json"], "give --focused or --freshness, not both"),
        ([SMALL, "--pages", "5"], "--pages belongs to --focused TOPICS.json"),
    ],
)
def test_wrong_use_is_told_in_one_line(run: Run, arguments: list[object], complaint: str) -> None:
    answer = run(*arguments)

    assert answer.status == 2
    assert answer.err.startswith(f"error: {complaint}" if "README" not in complaint else "error: ")
    assert complaint in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("years", "complaint"),
    [
        ("2012", "--window=2012: write two years, as 2012-2015"),
        ("2015-2012", "--window=2015-2012: write two years"),
        ("1960-1970", "--window=1960-1970: write two years"),
        ("a-b", "--window=a-b: write two years"),
        ("2001-2005", "trace.tsv 2001-2005: no page was there all that time"),
    ],
)
def test_window_is_two_years_with_pages(run: Run, tmp_path: Path, years: str, complaint: str) -> None:
    file = tmp_path / "trace.tsv"
    file.write_text("a\tmanual\t\t14000\n")

    answer = run(file, "--window", years)

    assert answer.status == 2
    assert complaint in answer.err
