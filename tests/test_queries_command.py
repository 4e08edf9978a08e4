"""`webcrawler queries`: what people and programs read of the log."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Run

from webcrawler.usage import NAME, QueryLog, Shown

DAY = 20_000  # 2024-10-04
URLS = ("http://a.test/", "http://b.test/")


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    shown = [
        Shown(1, DAY, "dna repair", 2, 0, True, URLS),
        Shown(2, DAY, "DNA repair", 2, 0, True, URLS),
        Shown(3, DAY + 1, "no\x1b[31m such", 0, 0, True, ()),
        Shown(4, DAY + 3, "yeast", 2, 0, False, URLS),
    ]
    with closing(QueryLog(tmp_path / NAME, 30)) as log:
        log.write(shown, [(1, 1), (4, 2)], DAY + 3)
    return tmp_path


def test_people_read_tables(run: Run, crawl_dir: Path) -> None:
    answer = run("queries", folder=crawl_dir)

    assert answer.status == 0
    assert answer.out.splitlines() == [
        "queries        4 in 4 days, 1.0 a day",
        "words          1.8 a query",
        "nothing found  25.0% of the queries",
        "clicks         after 50.0% of the queries",
        "",
        "day           queries   clicks",
        "2024-10-04          2        1",
        "2024-10-05          1        0",
        "2024-10-07          1        1",
        "",
        f"{'asked most':<50}    times   clicks",
        f"{'DNA repair':<50}        2        1",
        f"{'no[31m such':<50}        1        0",
        f"{'yeast':<50}        1        1",
        "",
        f"{'found nothing':<50}    times   clicks",
        f"{'no[31m such':<50}        1        0",
        "",
        "rank    shown   clicks    share",
        "   1        3        1    33.3%",
        "   2        3        1    33.3%",
    ]


def test_programs_read_the_same(run: Run, crawl_dir: Path) -> None:
    found = json.loads(run("queries", "--json", "-n", "1", folder=crawl_dir).out)

    assert found["queries"] == 4 and found["a_day"] == 1.0
    assert found["asked"] == [{"query": "DNA repair", "times": 2, "clicks": 1}]
    assert found["ranks"] == [{"rank": 1, "shown": 3, "clicks": 1}, {"rank": 2, "shown": 3, "clicks": 1}]


def test_without_a_log_it_says_how_to_keep_one(run: Run, tmp_path: Path) -> None:
    status, _, told = run("queries", folder=tmp_path)

    assert status == 2 and "QUERY_LOG_DAYS=30" in told
