"""When a hit was last known to be as it is shown: on the page, in a terminal, and for programs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Clock, Run
from searched import entry, publish
from starlette.testclient import TestClient
from test_catalog import failure, fetch, link

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Entry, Hit
from webcrawler.search import Searcher, seen
from webcrawler.web import Config, make_app

HOUR, DAY = 3600.0, 86_400.0
NOW = 1_800_000_000.0
URL = "http://a.test/"
FETCHED = 1_700_000_000.0  # 14 Nov 2023
HIT = Hit(URL, "Title", 1000, "http://a.test", FETCHED, "")


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ({"checked": NOW - 7300, "changed": NOW - 7300}, "checked 2 h ago"),
        ({"checked": NOW - 50, "changed": FETCHED}, "checked 50 s ago, unchanged since 14 Nov 2023"),
        ({"checked": NOW - 50}, "checked 50 s ago"),
        ({"checked": FETCHED, "changed": FETCHED - 1_000}, "checked on 14 Nov 2023"),
        ({"checked": FETCHED}, "checked on 14 Nov 2023"),
        ({"checked": FETCHED, "missing_since": NOW}, "last seen 14 Nov 2023"),
        ({"checked": NOW + 50}, "checked 0 s ago"),  # the clock was wrong
        ({"fetched": 0.0}, ""),
    ],
)
def test_a_hit_says_when_it_was_last_known_to_be_so(times: dict[str, float], says: str) -> None:
    assert seen(HIT._replace(**times), NOW) == says


@pytest.fixture(autouse=True)
def stands_at_now(clock: Clock) -> None:
    clock.hold(NOW)


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    """A page that was fetched ten days ago, and never since; it links to one that was not fetched."""
    publish(tmp_path, [entry((URL, "Gene", "gene"), link("http://b.test/", "gene"), fetched=NOW - 10 * DAY)])
    return tmp_path


def write(crawl_dir: Path, *checks: Entry) -> None:
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.write([(check, None) for check in checks])


def not_modified(when: float, url: str = URL) -> Entry:
    return Entry(fetch(url, when, "not-modified", status=304))


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(seconds))


@pytest.fixture
def web(crawl_dir: Path) -> Iterator[TestClient]:
    with TestClient(make_app(Config(crawl_dir)), "http://localhost") as web:
        yield web


def hits(web: TestClient) -> dict[str, dict[str, Any]]:
    return {hit["url"]: hit for hit in web.get("/api/search?q=gene").json()["hits"]}


def test_programs_are_told_when_it_was_checked_and_since_when_it_is_unchanged(
    web: TestClient, crawl_dir: Path
) -> None:
    write(crawl_dir, not_modified(NOW - HOUR))

    found = hits(web)

    assert found[URL]["checked"] == iso(NOW - HOUR)
    assert found[URL]["changed"] == found[URL]["fetched"] == iso(NOW - 10 * DAY)
    assert found[URL]["missing_since"] is None
    assert [found["http://b.test/"][key] for key in ("fetched", "checked", "changed")] == [None] * 3


@pytest.mark.parametrize("reason", ["not-found", "timeout"])
def test_a_page_that_is_gone_or_fails_says_since_when(web: TestClient, crawl_dir: Path, reason: str) -> None:
    write(crawl_dir, failure(URL, NOW - HOUR, reason, status=404 if reason == "not-found" else 0))

    hit = hits(web)[URL]

    assert (hit["checked"], hit["missing_since"]) == (iso(NOW - 10 * DAY), iso(NOW - HOUR))
    assert "last seen" in web.get("/search?q=gene").text


def test_a_check_is_seen_at_once_though_nothing_was_indexed(web: TestClient, crawl_dir: Path) -> None:
    assert "checked 10 d ago" in web.get("/search?q=gene").text

    write(crawl_dir, not_modified(NOW))

    text = web.get("/search?q=gene").text
    assert "ago, unchanged since" in text and "checked 10 d ago" not in text


def test_a_changed_page_is_unchanged_since_then(crawl_dir: Path) -> None:
    changed = entry((URL, "Gene", "gene again"), fetched=NOW - 2 * DAY)
    publish(crawl_dir, [replace(changed, digest=b"other")])

    hit = Searcher(crawl_dir).search("gene").hits[0]

    assert (hit.checked, hit.changed) == pytest.approx((NOW - 2 * DAY, NOW - 2 * DAY))


def test_a_terminal_shows_it_too(run: Run, crawl_dir: Path) -> None:
    shown = run("search", "gene", folder=crawl_dir).out
    found = json.loads(run("search", "gene", "--json", folder=crawl_dir).out)

    assert "     checked 10 d ago\n" in shown
    assert "     never fetched: this is what links to it say" in shown
    assert found["hits"][0]["checked"] == iso(NOW - 10 * DAY)


# ---- queries

PAGES = {"http://a.test/old": 30, "http://a.test/new": 1, "http://b.test/middle": 8}


@pytest.fixture
def changing(tmp_path: Path) -> Path:
    """Three pages, with days since they were found; the newest has the least to say of genes."""
    rows = [(url, "Gene", "gene " * days) for url, days in PAGES.items()]
    publish(tmp_path, [entry(row, fetched=NOW - len(row[2]) / 5 * DAY) for row in rows])
    return tmp_path


def found(folder: Path, query: str, **options: Any) -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in Searcher(folder).search(query, **options).hits]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("gene changed:7d", {"new"}),
        ("gene changed:9d", {"new", "middle"}),
        ("gene -changed:9d", {"old"}),
        ("gene changed:9d site:b.test", {"middle"}),
        ("changed:9d", {"new", "middle"}),
        (f"gene changed:<={iso(NOW - 8 * DAY)[:10]}", {"old", "middle"}),
        (f"gene changed:{iso(NOW - 31 * DAY)[:10]}..{iso(NOW - 29 * DAY)[:10]}", {"old"}),
        ("gene changed:<2020-01-01", set()),
        ("gene changed:yesterday", set()),
    ],
)
def test_queries_ask_for_what_changed(changing: Path, query: str, expected: set[str]) -> None:
    assert set(found(changing, query)) == expected


def test_a_check_that_found_nothing_new_is_no_change_and_another_is(changing: Path) -> None:
    searcher = Searcher(changing)
    assert [hit.url for hit in searcher.search("gene changed:12h").hits] == []

    again = entry(("http://a.test/old", "Gene", "gene 0"), fetched=NOW)
    write(changing, not_modified(NOW, "http://a.test/new"), replace(again, digest=b"other"))

    assert [hit.url for hit in searcher.search("gene changed:12h").hits] == ["http://a.test/old"]


def test_what_changed_last_comes_first_when_asked_for(changing: Path) -> None:
    assert found(changing, "gene", sort="changed") == ["new", "middle", "old"]
    assert found(changing, "gene") != ["new", "middle", "old"]
    assert found(changing, "gene", sort="changed", start=1, limit=1) == ["middle"]
    assert max(hit.relevance for hit in Searcher(changing).search("gene", sort="changed").hits) == 1000


def test_all_three_ways_to_ask_sort(run: Run, changing: Path) -> None:
    shown = run("search", "gene", "--sort", "changed", "--json", folder=changing).out
    in_terminal = [hit["url"] for hit in json.loads(shown)["hits"]]
    with TestClient(make_app(Config(changing)), "http://localhost") as web:
        by_api = [hit["url"] for hit in web.get("/api/search?q=gene&sort=changed").json()["hits"]]
        text = web.get("/search?q=gene&sort=changed").text
        wrong = web.get("/api/search?q=gene&sort=age")

    assert in_terminal == by_api == ["http://a.test/new", "http://b.test/middle", "http://a.test/old"]
    assert text.index('href="http://a.test/new"') < text.index('href="http://a.test/old"')
    assert (wrong.status_code, wrong.json()["error"]) == (400, "no order 'age': sort by relevance or changed")
    assert run("search", "gene", "--sort", "age", folder=changing).status == 2
