"""What sitemaps say of pages: kept once, and followed by seq."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from test_catalog import A, B, C, edges, fetch, link, write

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Entry, Link
from webcrawler.urls import url_id

MAP, INDEX = "http://a.test/map.xml", "http://a.test/index.xml"
A_TEST = "http://a.test"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        yield catalog


def entry(url: str, modified: float = 0.0, **fields: object) -> Link:
    return link(url, rel="sitemap")._replace(modified=modified, **fields)


def sitemap(
    *links: Link, time: float = 10, url: str = MAP, token: int = 1, status: int = 200, digest: bytes = b"1"
) -> Entry:
    headers = (("ETag", f'"{time}"'), ("Last-Modified", "today")) if status == 200 else ()
    answer = fetch(url, time, "sitemap", status=status, headers=headers)
    request = json.dumps({"kind": "sitemap", "of": A_TEST})
    answer = replace(answer, state="done", lease=answer.lease._replace(token=token, request=request))
    return Entry(answer, digest if status == 200 else b"", links=links)


def told(catalog: Catalog, after: int = 0) -> list[tuple[str, float, float]]:
    urls = dict(catalog.urls.all())
    query = "SELECT number, coalesce(modified, 0), seen FROM signs WHERE seq > ? ORDER BY seq"
    return [(urls[number], *dates) for number, *dates in catalog._db.execute(query, (after,))]


def test_each_entry_is_a_sign_with_its_date(catalog: Catalog) -> None:
    write(catalog, sitemap(entry(A, 5.0), entry(B)))

    assert told(catalog) == [(A, 5.0, 10.0), (B, 0.0, 10.0)]
    assert catalog.signs.of(A) == [(MAP, 5.0)]
    assert catalog.signs.of(C) == []


def test_only_what_a_sitemap_says_anew_comes_again(catalog: Catalog) -> None:
    write(catalog, sitemap(entry(A, 5.0), entry(B, 5.0), entry(C, 5.0)))
    last = len(told(catalog))

    write(catalog, sitemap(entry(A, 5.0), entry(B, 7.0), entry(C), time=20, token=2))

    assert told(catalog, after=last) == [(B, 7.0, 20.0)]
    assert sorted(told(catalog)) == [(A, 5.0, 10.0), (B, 7.0, 20.0), (C, 5.0, 10.0)]


def test_two_sitemaps_may_say_different_things_of_a_page(catalog: Catalog) -> None:
    write(catalog, sitemap(entry(A, 5.0)), sitemap(entry(A, 6.0), url=INDEX))

    assert catalog.signs.of(A) == [(INDEX, 6.0), (MAP, 5.0)]


def test_a_sitemap_is_no_page_and_its_entries_are_no_edges(catalog: Catalog) -> None:
    write(catalog, sitemap(entry(A), entry(B)))

    assert catalog.find(MAP) is None
    assert edges(catalog) == set()
    assert catalog.changes(0, 10) == []


def test_known_sitemaps_can_be_asked_for_again(catalog: Catalog) -> None:
    child = entry(C, 5.0, request=json.dumps({"kind": "sitemap", "of": A_TEST}))
    write(catalog, sitemap(child, url=INDEX))

    assert [known[2:] for known in catalog.signs.sitemaps()] == [
        (INDEX, A_TEST, 10.0, b"1", '"10"', "today", "done/sitemap"),
        (C, A_TEST, 0.0, b"", "", "", ""),
    ]


def test_an_unchanged_sitemap_brings_nothing_but_the_time(catalog: Catalog) -> None:
    write(catalog, sitemap(entry(A, 5.0)))
    write(catalog, sitemap(time=20, token=2, status=304))

    assert told(catalog) == [(A, 5.0, 10.0)]
    assert [known[4:] for known in catalog.signs.sitemaps()] == [
        (20.0, b"1", '"10"', "today", "done/sitemap")
    ]


def test_sitemap_under_an_older_lease_says_nothing(catalog: Catalog) -> None:
    write(catalog, sitemap(entry(A, 5.0), token=2))
    write(catalog, sitemap(entry(A, 9.0), entry(B), token=1, time=99))

    assert told(catalog) == [(A, 5.0, 10.0)]
    assert catalog.signs.sitemaps()[0].fetched == 10.0


def test_what_is_refused_and_the_sitemap_itself_are_no_signs(catalog: Catalog) -> None:
    write(catalog, sitemap(entry(A, refused="foreign"), entry(MAP), entry(B)))

    assert told(catalog) == [(B, 0.0, 10.0)]


def test_blocked_servers_say_nothing(catalog: Catalog) -> None:
    catalog.block(A_TEST)
    write(catalog, sitemap(entry(B)))

    assert told(catalog) == []


def test_the_same_bytes_again_are_nothing_new(catalog: Catalog) -> None:
    first = write(catalog, sitemap(entry(A)))
    other = write(catalog, sitemap(entry(A), time=20, token=2, digest=b"2"))
    same = write(catalog, sitemap(entry(A), time=30, token=3, digest=b"2"))

    assert (first.unchanged, other.unchanged, same.unchanged) == (set(), set(), {url_id(MAP)})
