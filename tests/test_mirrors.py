"""MIRRORS: a URL of a mirror is taken for the URL that it is a copy of, wherever it is found."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import pytest
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st
from localweb import Answer, Crawled, Site, crawl, page, redirect, robots

from webcrawler.errors import BadInput
from webcrawler.parsing import joined, parse
from webcrawler.records import Link
from webcrawler.urls import Mirrors, canonical, url_id

MIRROR, MAIN = "http://mirror.test/py/", "https://docs.test/"
TABLE = {
    MIRROR: MAIN,
    "http://mirror.test/py/old/": "https://old.test/",
    "http://copy.test": "http://main.test/a/",
    "http://main.test/a/copy/": "http://main.test/a/",  # below what it is a copy of
}


# ---- the table


@pytest.mark.parametrize(
    ("url", "original"),
    [
        ("http://mirror.test/py/", "https://docs.test/"),
        ("http://mirror.test/py/a/b?c=d", "https://docs.test/a/b?c=d"),
        ("http://mirror.test/py/old/a", "https://old.test/a"),  # the longest prefix holds
        ("http://mirror.test/python", "http://mirror.test/python"),
        ("http://mirror.test/", "http://mirror.test/"),
        ("https://mirror.test/py/", "https://mirror.test/py/"),  # another server
        ("http://mirror.test:8080/py/", "http://mirror.test:8080/py/"),
        ("http://copy.test/x", "http://main.test/a/x"),
        ("http://copy.test/copy/copy/x", "http://main.test/a/x"),
        ("https://docs.test/a", "https://docs.test/a"),
    ],
)
def test_url_of_a_mirror_is_that_of_its_original(url: str, original: str) -> None:
    assert Mirrors(TABLE).original(url) == original


@given(st.lists(st.sampled_from(["a", "copy", "py", "old"])), st.sampled_from([*TABLE, *TABLE.values()]))
def test_original_has_no_other_original(names: list[str], prefix: str) -> None:
    mirrors = Mirrors(TABLE)

    once = mirrors.original(canonical(prefix) + "/".join(names))

    assert mirrors.original(once) == once


def test_prefixes_are_canonical_however_they_are_written() -> None:
    written = {"HTTP://Mirror.test:80/%70y/": "https://docs.test:443"}

    assert Mirrors.read(json.dumps(written)).table == {MIRROR: MAIN}


@pytest.mark.parametrize("value", ["", "{}", {}])
def test_table_may_be_empty(value: str | dict[str, str]) -> None:
    assert Mirrors.read(value).original(MIRROR) == MIRROR


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("mirror.test", 'MIRRORS=mirror.test is not valid: write it as {"http://mirror.example/docs/": '),
        ('["http://a.test/"]', "is not valid: write it as"),
        ('{"http://a.test/": 1}', "is not valid: write it as"),
        ({"a.test": MAIN}, "MIRRORS: 'a.test' is not a server or a path that ends in /"),
        ({MIRROR: "docs"}, "'docs' is not a server or a path that ends in /"),
        ({"http://a.test/x": MAIN}, "'http://a.test/x' is not a server or a path that ends in /"),
        ({"http://a.test/?x=/": MAIN}, "'http://a.test/?x=/' is not a server"),
        ({"file:///a/": MAIN}, "'file:///a/' is not a server"),
        # itself, each other, a chain
        ({MAIN: MAIN}, "https://docs.test/ is a mirror of https://docs.test/, which is in the mirror"),
        ({MIRROR: MAIN, MAIN: MIRROR}, "name what https://docs.test/ is a copy of"),
        (
            {"http://a.test/": "http://b.test/x/", "http://b.test/": MAIN},
            "name what http://b.test/ is a copy of",
        ),
    ],
)
def test_bad_table_is_told_in_one_line(table: str | dict[str, str], told: str) -> None:
    with pytest.raises(BadInput) as bad:
        Mirrors.read(table)

    assert told in str(bad.value)
    assert "\n" not in str(bad.value)


def test_crawl_with_a_bad_table_does_not_start(run: Run) -> None:
    found = run("crawl", "index", "-s", 'MIRRORS={"a": "b"}')

    assert (found.status, found.out) == (2, "")
    assert found.err.splitlines()[-1].endswith("write http://host/path/")


# ---- links


def only_link(html: str) -> Link:
    mirrors = Mirrors(TABLE)
    found = parse(html.encode(), "http://a.test/").links
    [link] = joined(mirrors.link(link, ("http", "https")) for link in found)
    return link


def test_link_keeps_its_words_and_the_rest_of_its_spelling_but_for_an_odd_one_of_the_mirror() -> None:
    link = only_link(f"<p>see <a href={MIRROR}x/index.html>the docs</a> now")
    odd = only_link("<a href=http://mirror.test./%70y/x>odd</a>")

    assert (link.url, link.spelling) == (f"{MAIN}x/", f"{MAIN}x/index.html")
    assert (link.anchor, link.context) == ("the docs", "see now")
    assert odd.url == odd.spelling == f"{MAIN}x"


def test_page_has_one_link_to_an_original_and_its_mirror() -> None:
    """With the words of both, followed where one of them is."""
    link = only_link(f"<a rel=nofollow href={MIRROR}x>copy</a> <a href={MAIN}x>docs</a>")
    same = only_link(f"<a href={MIRROR}x>docs</a> <a href={MAIN}x>docs</a>")

    assert (link.url, link.anchor, link.rel) == (f"{MAIN}x", "copy · docs", "")
    assert same.anchor == "docs"


def test_link_is_refused_for_its_original_and_not_for_the_mirror() -> None:
    found = Mirrors({"http://a.test/cgi-bin/": MAIN, "http://b.test/": "http://main.test/cgi-bin/"})
    html = b"<a href=/cgi-bin/x>x</a> <a href=http://b.test/y>y</a>"
    [from_trap, to_trap] = parse(html, "http://a.test/").links

    assert from_trap.refused and not found.link(from_trap, ("http", "https")).refused
    assert not to_trap.refused and found.link(to_trap, ("http", "https")).refused == "location"


# ---- a crawl


class Web(NamedTuple):
    main: Site
    mirror: Site
    crawled: Crawled
    options: tuple[str, ...]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A main server, whose pages, sitemap, feed and redirects name its mirror; so does the seed."""
    main, mirror = Site().start(), Site(host="127.0.0.2").start()
    copy = mirror.url + "/py"
    mirror.routes |= {"/": page(), "/py/only-here": page("deeper"), "/py/deeper": page()}
    sitemap = f"<urlset><url><loc>{copy}/from-sitemap</loc></url></urlset>"
    feed = f"<rss><channel><item><link>{copy}/from-feed</link></item></channel></rss>"
    main.routes |= {path: page() for path in ("/deeper", "/b", "/from-sitemap", "/from-feed")} | {
        "/robots.txt": robots("User-agent: *", "Disallow: /private", f"Sitemap: {copy}/sitemap.xml"),
        "/": page(f"{copy}/a", "/a", "/moved", "/only-here", f"{copy}/private", f"{mirror.url}/"),
        "/a": Answer(f"<title>a</title><link rel=canonical href={copy}/a><p>some words of a"),
        "/moved": redirect(f"{copy}/b"),
        "/only-here": redirect(f"{copy}/only-here"),
        "/sitemap.xml": Answer(sitemap, kind="application/xml"),
        "/feed.xml": Answer(feed, kind="application/rss+xml"),
    }
    table = json.dumps({f"{copy}/": f"{main.url}/"})
    settings = {"ADDRESSES_ALLOWED": "127.0.0.0/8", "SITEMAPS": "all", "MIRRORS": table}
    arguments = ("index", "-a", f"seeds={copy}/", "-a", f"sitemaps={copy}/feed.xml")
    crawled = crawl(tmp_path_factory.mktemp("mirrors"), *arguments, **settings)
    yield Web(main, mirror, crawled, ("-s", f"MIRRORS={table}"))
    main.stop()
    mirror.stop()


@pytest.mark.slow
def test_whatever_names_the_mirror_leads_to_the_original(web: Web) -> None:
    """Seeds, links, sitemaps, what these name, feeds, redirects."""
    found = ("/", "/a", "/b", "/from-sitemap", "/from-feed")

    assert {web.crawled.reason(web.main.url + path) for path in found} == {"done/document"}
    assert all(web.main.times(path) == 1 for path in (*found, "/sitemap.xml", "/feed.xml"))


@pytest.mark.slow
def test_mirror_is_asked_for_what_is_not_in_the_table_and_what_its_original_sends_there(web: Web) -> None:
    assert sorted(web.mirror.pages) == ["/", "/py/only-here"]
    assert web.crawled.reason(f"{web.main.url}/only-here") == "done/redirect"
    assert web.crawled.reason(f"{web.mirror.url}/py/only-here") == "done/document"
    assert web.crawled.reason(f"{web.main.url}/deeper") == "done/document"


@pytest.mark.slow
def test_robots_txt_is_that_of_the_server_that_is_asked(web: Web) -> None:
    assert web.crawled.reason(f"{web.main.url}/private") == "failed/robots-disallowed"
    assert web.main.times("/robots.txt") == web.mirror.times("/robots.txt") == 1


@pytest.mark.slow
def test_link_to_the_mirror_is_an_in_link_of_the_original(web: Web) -> None:
    edges, home = web.crawled.edges(), f"{web.main.url}/"

    assert edges[home, f"{home}a", ""] == edges[f"{home}moved", f"{home}b", "redirect"] == 1


@pytest.mark.slow
def test_page_that_names_its_mirror_as_canonical_means_itself(web: Web) -> None:
    with closing(sqlite3.connect(web.crawled.folder / "catalog.sqlite")) as catalog:
        [(canonical_id,)] = catalog.execute("SELECT canonical FROM documents WHERE canonical IS NOT NULL")

    assert canonical_id == url_id(f"{web.main.url}/a")


@pytest.mark.slow
def test_commands_take_a_url_of_the_mirror_for_the_original(web: Web, run: Run) -> None:
    def told(*arguments: str) -> Any:
        return json.loads(run("frontier", *arguments, *web.options, "--json", folder=web.crawled.folder).out)

    found, again = told("explain", f"{web.mirror.url}/py/a"), told("again", f"{web.mirror.url}/py/*")

    assert (found["url"], found["state"]) == (f"{web.main.url}/a", "done/document")
    assert again["queued"] > 5
