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
from searched import entry, publish
from starlette.testclient import TestClient
from test_catalog import failure, fetch, link
from test_commands import Run, run  # noqa: F401  a fixture

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Entry, Hit
from webcrawler.search import Searcher, seen
from webcrawler.web import Config, make_app

HOUR, DAY = 3600.0, 86_400.0
NOW = time.time()
URL = "http://a.test/"
HIT = Hit(URL, "Title", 1000, "http://a.test", 1_700_000_000.0, "")


@pytest.mark.parametrize(
    ("hit", "says"),
    [
        (HIT._replace(checked=NOW - 7300, changed=NOW - 7300), "checked 2 h ago"),
        (
            HIT._replace(checked=NOW - 50, changed=1_700_000_000.0),
            "checked 50 s ago, unchanged since 14 Nov 2023",
        ),
        (HIT._replace(checked=NOW - 50), "checked 50 s ago"),
        (HIT._replace(checked=1_700_000_000.0), "checked on 14 Nov 2023"),
        (HIT._replace(checked=1_700_000_000.0, missing_since=NOW), "last seen 14 Nov 2023"),
        (HIT._replace(checked=NOW + 50), "checked 0 s ago"),  # the clock was wrong
        (HIT._replace(fetched=0.0), ""),
    ],
)
def test_a_hit_says_when_it_was_last_known_to_be_so(hit: Hit, says: str) -> None:
    assert seen(hit, NOW) == says


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    """A page that was fetched ten days ago, and never since; it links to one that was not fetched."""
    publish(tmp_path, [entry((URL, "Gene", "gene"), link("http://b.test/", "gene"), fetched=NOW - 10 * DAY)])
    return tmp_path


def write(crawl_dir: Path, *checks: Entry) -> None:
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.write([(check, None) for check in checks])


def not_modified(when: float) -> Entry:
    return Entry(fetch(URL, when, "not-modified", status=304))


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(seconds))


@pytest.fixture
def web(crawl_dir: Path) -> Iterator[TestClient]:
    with TestClient(make_app(Config(crawl_dir, rate="")), "http://localhost") as web:
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
def test_a_page_that_is_missing_or_fails_says_since_when(
    web: TestClient, crawl_dir: Path, reason: str
) -> None:
    write(crawl_dir, failure(URL, NOW - HOUR, reason, status=404 if reason == "not-found" else 0))

    hit = hits(web)[URL]

    assert (hit["checked"], hit["missing_since"]) == (iso(NOW - 10 * DAY), iso(NOW - HOUR))
    assert "last seen" in web.get("/search?q=gene").text


def test_a_check_is_seen_at_once_though_nothing_was_indexed(web: TestClient, crawl_dir: Path) -> None:
    assert "checked 10 d ago" in web.get("/search?q=gene").text

    write(crawl_dir, not_modified(NOW))

    text = web.get("/search?q=gene").text
    assert "ago, unchanged since" in text
    assert "checked 10 d ago" not in text


def test_a_changed_page_is_unchanged_since_then(crawl_dir: Path) -> None:
    changed = entry((URL, "Gene", "gene again"), fetched=NOW - 2 * DAY)
    publish(crawl_dir, [replace(changed, digest=b"other")])

    hit = Searcher(crawl_dir).search("gene").hits[0]

    assert (hit.checked, hit.changed) == pytest.approx((NOW - 2 * DAY, NOW - 2 * DAY))


def test_a_terminal_shows_it_too(run: Run, crawl_dir: Path) -> None:  # noqa: F811
    shown = run("search", "gene", folder=crawl_dir).out
    found = json.loads(run("search", "gene", "--json", folder=crawl_dir).out)

    assert "     checked 10 d ago\n" in shown
    assert "     never fetched: this is what links to it say" in shown
    assert found["hits"][0]["checked"] == iso(NOW - 10 * DAY)
