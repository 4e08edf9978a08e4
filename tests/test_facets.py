"""Filters: language and change in the query language, and how many matches each filter leaves."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from crawled import crawled, fetched

from webcrawler.clock import now
from webcrawler.index.follower import Follower
from webcrawler.records import Entry
from webcrawler.search import Searcher
from webcrawler.search.results import MOST, Count

DAY = 86_400.0


def page(url: str, days_ago: float, language: str = "") -> Entry:
    entry = fetched(url, title=f"Yeast of {url}")
    assert entry.text
    when = replace(entry.fetch, fetched=now() - days_ago * DAY)
    return replace(entry, fetch=when, text=entry.text._replace(language=language))


@pytest.fixture
def found(tmp_path: Path) -> Searcher:
    return searcher(
        tmp_path,
        page("http://a.test/1", 1, "de"),
        page("https://a.test/2", 3, "de"),
        page("http://a.test:8080/3", 20, "fr"),
        page("http://b.test/4", 300),
        page("http://c.test/5", 3_000, "en"),
    )


def searcher(folder: Path, *entries: Entry) -> Searcher:
    crawled(folder, *entries)
    with closing(Follower(folder)) as follower:
        follower.catch_up()
    return Searcher(folder, deadline_seconds=60)


def test_matches_are_counted_by_site_language_and_change(found: Searcher) -> None:
    counts = found.search("yeast", facets=True, limit=1).counts

    assert counts == {
        "site": [
            Count("a.test", 2, "site:a.test"),
            Count("a.test:8080", 1, "site:a.test:8080"),
            Count("b.test", 1, "site:b.test"),
            Count("c.test", 1, "site:c.test"),
        ],
        "language": [Count("de", 2, "lang:de"), Count("en", 1, "lang:en"), Count("fr", 1, "lang:fr")],
        "changed": [Count(value, n, f"changed:{value}") for value, n in (("7d", 2), ("30d", 3), ("365d", 4))],
    }


def test_only_what_matches_is_counted(found: Searcher) -> None:
    counts = found.search("yeast lang:de", facets=True, within=["site:a.test changed:2d"]).counts

    assert {facet: [(one.value, one.pages) for one in some] for facet, some in counts.items()} == {
        "site": [("a.test", 1)],
        "language": [("de", 1)],
        "changed": [("7d", 1), ("30d", 1), ("365d", 1)],
    }


def test_each_filter_but_of_sites_with_others_below_leaves_as_many_as_were_counted(found: Searcher) -> None:
    for one in (one for some in found.search("yeast", facets=True).counts.values() for one in some):
        if one.value != "a.test":  # whose other port is below it
            assert found.search(f"yeast {one.filter}").total == one.pages


def test_nothing_is_counted_unasked_or_where_nothing_matches(found: Searcher) -> None:
    assert found.search("yeast").counts == {}
    assert found.search("bread", facets=True).counts == {"site": [], "language": [], "changed": []}


def test_of_many_sites_those_with_the_most_matches_are_counted(tmp_path: Path) -> None:
    pages = [page(f"http://{n}.test/{m}", 1) for n in range(MOST + 3) for m in range(1 + (n == MOST))]

    sites = searcher(tmp_path, *pages).search("yeast", facets=True).counts["site"]

    assert len(sites) == MOST
    assert sites[0] == Count(f"{MOST}.test", 2, f"site:{MOST}.test")


def test_of_many_servers_those_with_the_most_pages_are_counted(
    found: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webcrawler.search.results.SERVERS", 1)

    assert found.search("yeast", facets=True).counts["site"] == [Count("a.test", 1, "site:a.test")]


def test_a_commit_is_counted_with_the_next_search(tmp_path: Path, found: Searcher) -> None:
    found.search("yeast", facets=True)
    searcher(tmp_path, page("http://d.test/6", 1, "nl"))

    counts = found.search("yeast", facets=True).counts

    assert "d.test" in [one.value for one in counts["site"]]
    assert "nl" in [one.value for one in counts["language"]]


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("yeast lang:de", 2),
        ("yeast -lang:de", 3),
        ("lang:fr OR lang:en", 2),
        ("yeast lang:xx", 0),
        ("yeast after:2000", 5),
        ("yeast before:2000-02", 0),
    ],
)
def test_a_filter_is_part_of_the_query(found: Searcher, query: str, total: int) -> None:
    assert found.search(query).total == total
