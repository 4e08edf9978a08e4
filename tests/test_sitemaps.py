"""Sitemaps and feeds in a crawl: what only they name is found, within the crawl's bounds, and is no link."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import failpoints
import pytest
from inprocess import command
from localweb import Answer, Crawled, Route, Site, crawl, page, redirect, robots, sites

from webcrawler.archive.catalog import Catalog
from webcrawler.connection import connect
from webcrawler.frontier import Again, Frontier, ordering
from webcrawler.job import sitemap_link

pytestmark = pytest.mark.slow

XML = "application/xml"
ELSE = pytest.mark.deep("test_batch.py kills at the same steps")


def urlset(*locs: str, lastmod: str = "") -> Answer:
    stands = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    entries = "".join(f"<url><loc>{loc}</loc>{stands}</url>" for loc in locs)
    return Answer(f"<?xml version='1.0'?><urlset>{entries}</urlset>", kind=XML)


def index(*locs: str) -> Answer:
    entries = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
    return Answer(f"<sitemapindex>{entries}</sitemapindex>", kind=XML)


def announcing(*sitemaps: str) -> Answer:
    return robots("User-agent: *", "Disallow: /private", *(f"Sitemap: {url}" for url in sitemaps))


def bounded(folder: Path, site: Site, *arguments: str, **settings: object) -> Crawled:
    seeds = ("-a", f"seeds={site.url}/", "-a", "domains=127.0.0.1")
    return crawl(folder, "index", *seeds, *arguments, **settings)


def signs(crawled: Crawled) -> dict[str, set[tuple[str, float]]]:
    """What each page that a sitemap named is said to have changed: (path of the sitemap, when)."""
    catalog = Catalog(crawled.folder / "catalog.sqlite", readonly=True)
    paths = {number: urlsplit(url).path for number, url in catalog.urls.all()}
    found: dict[str, set[tuple[str, float]]] = {}
    query = "SELECT number, sitemap, coalesce(modified, 0) FROM signs"
    for number, sitemap, modified in catalog._db.execute(query):
        found.setdefault(paths[number], set()).add((paths[sitemap], modified))
    return found


@pytest.fixture
def site() -> Iterator[Site]:
    """Each of its pages is there, and is no other's duplicate."""
    with sites(a={"*": lambda _: page()}) as opened:
        yield opened["a"]


@pytest.fixture(scope="module")
def known() -> Iterator[Site]:
    """Announces sitemaps of each kind."""
    with sites(a={"/": page("/linked", "/named-too"), "*": page()}, b={"*": page()}) as opened:
        a, other = opened.values()
        elsewhere = f"http://localhost:{other.server.server_port}/x"
        pages = urlset("/only-here", "/named-too", "/private/x", elsewhere, "/a.zip", lastmod="2026-11-03")
        item = "<item><link>/news</link><pubDate>Tue, 03 Nov 2026 00:00:00 GMT</pubDate></item>"
        sitemaps = {
            "/index.xml": index("/pages.xml.gz", "/list.txt", f"{a.url}/index.xml"),
            "/feed": Answer(f"<rss><channel>{item}</channel></rss>", kind="application/rss+xml"),
            "/moved.xml": redirect("/new-place.xml"),
            "/gone.xml": Answer("gone", 404),
            "/soft.xml": page("/from-soft"),
            "/no.xml": Answer("nothing of the kind", kind="text/plain"),
            "/liar.xml": urlset("/from-liar")._replace(kind="text/html"),
        }
        a.routes |= sitemaps | {
            "/robots.txt": announcing(*(a.url + path for path in sitemaps), elsewhere),
            "/pages.xml.gz": Answer(gzip.compress(str(pages.body).encode()), kind="application/gzip"),
            "/list.txt": Answer(f"{a.url}/in-text\n", kind="text/plain"),
            "/new-place.xml": urlset(" " * 100_000, "/from-new-place"),  # too long for what is no page
        }
        yield a


@pytest.fixture(scope="module")
def crawled(known: Site, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return bounded(tmp_path_factory.mktemp("crawl"), known)


FOUND = {
    "/only-here": "a gzipped sitemap in an index",
    "/in-text": "a text sitemap in an index",
    "/news": "a feed",
    "/from-new-place": "a sitemap that has moved",
    "/from-soft": "HTML where a sitemap should be",
    "/from-liar": "a sitemap that says it is HTML",
}


@pytest.mark.parametrize("path", FOUND, ids=FOUND.values())
def test_page_that_only_a_sitemap_names_is_found(crawled: Crawled, known: Site, path: str) -> None:
    assert known.url + path in crawled.documents()
    assert known.times(path) == 1


OUTCOMES = {
    "/index.xml": "done/sitemap",
    "/pages.xml.gz": "done/sitemap",
    "/list.txt": "done/sitemap",
    "/feed": "done/sitemap",
    "/moved.xml": "done/redirect",
    "/new-place.xml": "done/sitemap",
    "/gone.xml": "failed/not-found",
    "/soft.xml": "done/document",
    "/no.xml": "failed/not-indexable",
    "/liar.xml": "done/sitemap",
    "/private/x": "failed/robots-disallowed",
}


@pytest.mark.parametrize(("path", "wanted"), OUTCOMES.items())
def test_sitemaps_have_a_reason_of_their_own(crawled: Crawled, known: Site, path: str, wanted: str) -> None:
    assert crawled.reason(known.url + path) == wanted


def test_every_url_is_in_one_state(crawled: Crawled) -> None:
    states = crawled.frontier["states"]

    assert states["seen"] == states["done"] + states["failed"] > 0
    assert states["reasons"]["sitemap"] == list(OUTCOMES.values()).count("done/sitemap")
    assert states["refused"] == {"foreign": 1}


def test_nothing_outside_the_domains_is_asked(crawled: Crawled, known: Site) -> None:
    """Neither a sitemap there, which robots.txt names, nor a page, which a sitemap names."""
    assert set(crawled.frontier["servers"]) == {known.url}


def test_entries_of_sitemaps_are_no_edges(crawled: Crawled, known: Site) -> None:
    assert {edge[:2] for edge in crawled.edges()} == {
        (known.url + source, known.url + target)
        for source, target in [
            ("/", "/linked"),
            ("/", "/named-too"),
            ("/moved.xml", "/new-place.xml"),
            ("/soft.xml", "/from-soft"),
        ]
    }


def test_catalog_keeps_what_sitemaps_say_of_pages(crawled: Crawled) -> None:
    third = 1793664000.0  # 3 November 2026

    assert signs(crawled) == {
        "/only-here": {("/pages.xml.gz", third)},
        "/named-too": {("/pages.xml.gz", third)},
        "/private/x": {("/pages.xml.gz", third)},
        "/a.zip": {("/pages.xml.gz", third)},
        "/pages.xml.gz": {("/index.xml", 0.0)},
        "/list.txt": {("/index.xml", 0.0)},
        "/in-text": {("/list.txt", 0.0)},
        "/news": {("/feed", third)},
        "/from-new-place": {("/new-place.xml", 0.0)},
        "/from-liar": {("/liar.xml", 0.0)},
    }


# ---- which sitemaps are read


WANTED = [
    # (arguments and settings, is the announced sitemap read?)
    (["-a", "domains=127.0.0.1"], {}, True),
    ([], {}, False),  # a broad crawl
    ([], {"SITEMAPS": "all"}, True),
    (["-a", "domains=127.0.0.1"], {"SITEMAPS": "off"}, False),
]


@pytest.mark.parametrize(("arguments", "settings", "is_read"), WANTED)
def test_announced_sitemaps_are_read_where_the_crawl_is_bounded_or_the_setting_says_all(
    site: Site, tmp_path: Path, arguments: list[str], settings: dict[str, object], is_read: bool
) -> None:
    site.routes |= {"/robots.txt": announcing("/map.xml"), "/map.xml": urlset("/new")}

    crawl(tmp_path, "index", "-a", f"seeds={site.url}/", *arguments, **settings)

    assert site.pages == (["/", "/map.xml", "/new"] if is_read else ["/"])


def test_sitemap_that_a_person_names_is_read_and_may_name_other_sites_within_the_domains(
    tmp_path: Path,
) -> None:
    with sites(a={}, b={"*": page()}, c={"*": page()}) as opened:
        a, b, c = opened.values()
        outside = f"http://localhost:{c.server.server_port}/out"
        a.routes["/feed"] = urlset(f"{b.url}/1", outside)
        found = crawl(tmp_path, "index", "-a", f"sitemaps={a.url}/feed", "-a", "domains=127.0.0.1")

        assert found.documents() == {f"{b.url}/1"}
        assert found.frontier["states"]["refused"] == {"domain": 1}


def test_a_scope_is_for_pages_and_not_for_the_sitemaps_that_name_them(site: Site, tmp_path: Path) -> None:
    site.routes |= {"/robots.txt": announcing("/map.xml"), "/map.xml": urlset("/docs/1", "/blog/2")}

    found = crawl(tmp_path, "index", "-a", f"seeds={site.url}/docs/", "-a", f"include={site.url}/docs/*")

    assert found.documents() == {f"{site.url}/docs/", f"{site.url}/docs/1"}
    assert found.frontier["states"]["refused"] == {"scope": 1}


def test_sitemap_on_another_host_may_name_the_pages_of_the_host_that_announced_it(tmp_path: Path) -> None:
    with sites(a={"*": page()}, b={}) as opened:
        a, b = opened.values()
        host = f"http://localhost:{b.server.server_port}"
        a.routes["/robots.txt"] = announcing(f"{host}/map.xml")
        b.routes["/map.xml"] = urlset(f"{a.url}/1", f"{host}/2", "http://127.0.0.2/3")
        b.routes["/2"] = page()
        both = {"ADDRESSES_ALLOWED": "127.0.0.1/32,::1/128"}
        found = crawl(tmp_path, "index", "-a", f"seeds={a.url}/", SITEMAPS="all", **both)

        assert found.documents() == {f"{a.url}/", f"{a.url}/1", f"{host}/2"}
        assert found.frontier["states"]["refused"] == {"foreign": 1}


def test_of_each_server_so_many_sitemaps_are_read_of_an_endless_index_and_of_a_long_robots_txt(
    tmp_path: Path,
) -> None:
    def endless(site: Site) -> Answer:
        return index(*(f"/{len(site.asked)}-{n}.xml" for n in range(9)))

    many = announcing(*(f"/{n}.xml" for n in range(29)), "mailto:a@a.test", "")
    endless_index: dict[str, Route] = {"/robots.txt": announcing("/0.xml"), "/": page(), "*": endless}
    with sites(a=endless_index, b={"/robots.txt": many, "/": page(), "*": urlset()}) as opened:
        a, b = opened.values()
        seeds = ("-a", f"seeds={a.url}/,{b.url}/", "-a", "domains=127.0.0.1")
        found = crawl(tmp_path, "index", *seeds, SITEMAPS_MAX=20)

        assert len(a.pages) == 1 + 20
        assert set(b.pages) == {"/", *(f"/{n}.xml" for n in range(20))}
        assert found.frontier["states"]["reasons"] == {"document": 2, "sitemap": 40}


def test_bomb_ends_its_parser_and_nothing_else(site: Site, tmp_path: Path) -> None:
    """It is tried as often as any page that kills its parser, and then set aside."""
    bomb = gzip.compress(b"<rss>" + b"<item><link>x</link></item>" * 2_000_000)
    site.routes |= {"/robots.txt": announcing("/bomb.gz"), "/": page("/1")}
    site.routes["/bomb.gz"] = Answer(bomb, kind="application/gzip")

    found = bounded(tmp_path, site, PARSER_TIMEOUT=2, FRONTIER_TRIES=2)

    assert found.documents() == {f"{site.url}/", f"{site.url}/1"}
    assert found.frontier["states"]["quarantined"] == 1


@pytest.mark.parametrize(
    "failpoint",
    [
        "catalog.sitemap",
        pytest.param("batch.catalogued", marks=ELSE),
        pytest.param("complete.after", marks=ELSE),
    ],
)
def test_a_sitemap_counts_once_although_its_worker_is_killed(
    site: Site, tmp_path: Path, failpoint: str
) -> None:
    sitemap = urlset("/1", "/2", lastmod="2026-11-03")
    site.routes |= {"/robots.txt": announcing("/map.xml"), "/map.xml": sitemap}
    armed = failpoints.environment(f"{failpoint}:kill")

    killed = bounded(tmp_path, site, process="is killed", variables=armed)
    found = bounded(tmp_path, site)

    assert killed.status == -9
    assert found.frontier["states"]["reasons"] == {"document": 3, "sitemap": 1}
    assert [site.times(path) for path in ("/1", "/2")] == [1, 1]
    assert set(signs(found)) == {"/1", "/2"}


# ---- read again


def test_a_sitemap_that_was_fetched_as_a_page_is_read_once_a_person_says_what_it_is(
    site: Site, tmp_path: Path
) -> None:
    site.routes |= {"/": page("/map.xml"), "/map.xml": urlset("/1")}
    first = crawl(tmp_path, "index", "-a", f"seeds={site.url}/")
    assert first.reason(f"{site.url}/map.xml") == "failed/not-indexable"

    for _ in range(2):
        found = crawl(tmp_path, "index", "-a", f"sitemaps={site.url}/map.xml")

    assert site.pages == ["/", "/map.xml", "/map.xml", "/1"]
    assert found.frontier["states"]["reasons"] == {"document": 2, "sitemap": 1}


def test_a_sitemap_that_is_due_again_brings_what_is_new_in_it_and_nothing_else(
    site: Site, tmp_path: Path
) -> None:
    site.routes["/map.xml"] = urlset("/1", "/2", lastmod="2026-11-03")
    crawl(tmp_path, "index", "-a", f"sitemaps={site.url}/map.xml")
    site.routes["/map.xml"] = urlset("/1", "/2", "/3", lastmod="2026-11-03")
    again(tmp_path)

    found = crawl(tmp_path, "index", "-a", f"sitemaps={site.url}/map.xml")

    assert site.pages == ["/map.xml", "/1", "/2", "/map.xml", "/3"]
    assert found.frontier["states"]["reasons"] == {"document": 3, "sitemap": 1}
    assert "'webcrawler/done/sitemap': 1" in found.log  # and no check of a document


def test_sitemaps_of_a_frontier_that_was_cleared_are_read_anew_as_sitemaps(
    site: Site, tmp_path: Path
) -> None:
    site.routes["/map.xml"] = urlset("/1")
    crawl(tmp_path, "index", "-a", f"sitemaps={site.url}/map.xml")
    assert command("frontier", "clear", folder=tmp_path).status == 0
    again(tmp_path)

    found = crawl(tmp_path, "index", "-a", f"seeds={site.url}/home")

    assert found.frontier["states"]["reasons"] == {"document": 2, "sitemap": 1}


def again(folder: Path) -> None:
    """Every sitemap that is known is due."""
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        known = catalog.signs.sitemaps()
    links = [sitemap_link(one.url, one.of) for one in known]
    due = [Again(one.url, one.outcome, link.request) for one, link in zip(known, links, strict=True)]
    with connect(None, folder) as connection:
        frontier = Frontier(connection.client, ordering("fifo"))
        frontier.discover(links, within_budgets=False)  # those that a frontier does not know any more
        frontier.again(due)
