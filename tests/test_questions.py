"""The questions that answers are judged by: tests/fixtures/six-sites and sections.tsv."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from testdata import data

from webcrawler.evaluation.judged import read_judgments

FIXTURES = Path(__file__).parent / "fixtures"
SITES = {
    "docs.python.org",
    "docs.sqlalchemy.org",
    "flask.palletsprojects.com",
    "git-scm.com",
    "www.psycopg.org",
    "www.sqlite.org",
}


def test_each_of_thirty_questions_about_six_sites_has_a_page_to_find() -> None:
    queries, grades, _ = read_judgments(FIXTURES / "six-sites")

    assert len(queries) == 30 and set(grades) == set(queries)
    assert all(max(of.values()) == 2 for of in grades.values())
    assert {urlsplit(url).hostname for of in grades.values() for url in of} == SITES


def test_sections_stand_on_the_best_pages_of_questions_about_docweb() -> None:
    _, grades, _ = read_judgments(data("queries-docs"))

    rows = [line.split("\t") for line in (FIXTURES / "sections.tsv").read_text().splitlines()]

    assert len(rows) == len({tuple(row) for row in rows})
    for query, url, fragment in rows:
        assert grades[query][url] == 2, (query, url)
        assert fragment.strip()
