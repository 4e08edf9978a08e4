"""Which sitemaps does a crawl read, and which of the URLs that they name does it follow?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import BaseSettings
from test_link_rules import BOUNDED, GIVEN, Search

from webcrawler.crawl.run import LinkRules, Sitemaps
from webcrawler.job import Job, seed_link, sitemap_link
from webcrawler.records import Entry, Fetch, Lease, Link, Sitemap

A, MAP = "http://a.test", "http://a.test/map.xml"
OPEN = Job("fifo")


def sitemaps(folder: Path, job: Job | None = OPEN, **settings: Any) -> Sitemaps:
    given = BaseSettings(GIVEN | {"CRAWL_DIR": str(folder), "SITEMAPS": "all", "SITEMAPS_MAX": 3} | settings)
    return Sitemaps.from_settings(given, job, LinkRules.from_settings(given, job or OPEN))


def lease(url: str = MAP, by: str = A) -> Lease:
    link = sitemap_link(url, by)
    return Lease(link.id, link.url, link.spelling, A, 1, request=link.request)


def read(found: Sitemaps, said: Sitemap | None, of: Lease | None = None) -> Entry:
    return found.entry(Fetch(of or lease(), "done", "sitemap", 1.0), said)


def named(*links: Link, is_index: bool = False, **refused: int) -> Sitemap:
    return Sitemap(is_index, links, refused)


# ---- which are read


@pytest.mark.parametrize(
    ("setting", "job", "is_read"),
    [
        ("all", OPEN, True),
        ("bounded", OPEN, False),
        ("bounded", BOUNDED, True),
        ("off", BOUNDED, False),
        ("all", Search("fifo"), False),
        ("all", None, False),  # another spider
    ],
)
def test_sitemaps_that_robots_txt_names_are_read_where_the_setting_says_so(
    tmp_path: Path, setting: str, job: Job | None, is_read: bool
) -> None:
    found = sitemaps(tmp_path, job, SITEMAPS=setting).announced(A, ["/map.xml"])

    assert [link.url for link in found] == ([MAP] if is_read else [])


def test_each_is_read_once_and_of_a_server_no_more_than_so_many(tmp_path: Path) -> None:
    found = sitemaps(tmp_path)
    first = found.announced(A, ["/1", "http://[", "/2"])

    assert [link.url for link in first] == [f"{A}/1", f"{A}/2"]
    assert [link.url for link in found.announced(A, ["/1", "/3", "/4"])] == [f"{A}/1", f"{A}/3"]
    assert len(found.announced("http://b.test", [f"/{n}" for n in range(9)])) == 3


def test_sitemaps_out_of_the_domains_and_protocols_of_a_crawl_are_not_read(tmp_path: Path) -> None:
    names = ["http://b.test/map.xml", "ftp://a.test/map.xml", "http://www.a.test/map.xml"]

    assert [link.url for link in sitemaps(tmp_path, BOUNDED).announced(A, names)] == names[2:]


def test_a_sitemap_on_a_mirror_is_that_of_its_original(tmp_path: Path) -> None:
    (link,) = sitemaps(tmp_path).announced(A, ["http://mirror.test/map.xml"])

    assert link.url == "http://main.test/docs/map.xml"


def test_of_an_index_the_newest_are_read_and_what_is_too_much_is_named(tmp_path: Path) -> None:
    links = [Link(f"{A}/{n}", n, f"{A}/{n}", rel="sitemap", modified=float(n)) for n in range(5)]

    entry = read(sitemaps(tmp_path), named(*links, is_index=True))

    assert [link.url[-1] for link in entry.links] == ["4", "3", "2", "1", "0"]
    assert [link.modified for link in entry.links] == [4.0, 3.0, 2.0, 1.0, 0.0]
    assert [link.refused for link in entry.links] == ["", "", "", "too-many", "too-many"]
    assert all(link.request for link in entry.links)  # each is read as a sitemap


def test_a_sitemap_that_has_moved_is_read_as_one(tmp_path: Path) -> None:
    target = sitemaps(tmp_path).moved(lease(), Link(f"{A}/new", 1, f"{A}/new"))

    assert target.rel == "redirect"
    assert target.request == sitemap_link(f"{A}/new", A).request


# ---- what they name


def test_an_answer_that_is_no_sitemap_has_failed(tmp_path: Path) -> None:
    entry = read(sitemaps(tmp_path), None)

    assert (entry.fetch.state, entry.fetch.reason) == ("failed", "not-indexable")


@pytest.mark.parametrize(
    ("url", "of", "by", "why"),
    [
        (f"{A}/1", MAP, A, ""),
        ("http://www.a.test/1", MAP, A, ""),
        ("http://b.test/1", MAP, A, "foreign"),
        ("http://b.test/1", MAP, "http://b.test", ""),  # whose robots.txt names this one
        ("http://b.test/1", MAP, "", ""),  # a person has named it
        (f"{A}/file.docx", MAP, A, ""),  # its type tells what it is
        ("http://mirror.test/1", MAP, "", ""),
    ],
)
def test_what_a_sitemap_names_is_followed_on_its_own_site_within_the_bounds(
    tmp_path: Path, url: str, of: str, by: str, why: str
) -> None:
    entry = seed_link(url)._replace(rel="sitemap")
    (link,) = read(sitemaps(tmp_path), named(entry), lease(of, by)).links

    assert link.refused == why
    assert "mirror" not in link.url


def test_what_is_no_url_is_counted(tmp_path: Path) -> None:
    assert read(sitemaps(tmp_path), named(malformed=2)).refused == {"malformed": 2}
