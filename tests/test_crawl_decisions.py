"""What one crawl of a small web decides of each of its URLs; it is made once, and each test reads a fact.

The web has what spider, pipelines and middlewares tell apart: who may index and follow a page, what came of a
download that was cut short, what is out of bounds, and what else than pages is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from dumped import dumped
from localweb import WITHOUT_INDEX, Answer, Crawled, Route, Site, crawl, page, redirect, robots, sites

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import Record, records
from webcrawler.records import Document, Text
from webcrawler.scope import change

TRIES = 3
PADDING = "# " + "x" * 100_000  # past what of a body is always read
HTML = "<!doctype html>"


def linking(to: str, head: str = "", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(f"{HTML}<title>{to}</title>{head}<p>words <a href={to}>on</a>", headers=named)


def half(whole: Answer, sent: int) -> Answer:
    """Its connection closes after so many bytes."""
    assert isinstance(whole.body, str)
    return whole._replace(
        body=whole.body[:sent], headers={"Content-Length": str(len(whole.body)), "Connection": "close"}
    )


TWO_LINKS = Answer(f"{HTML}<title>Two</title><a href=/first-half>1</a>{' ' * 99}<a href=/second-half>2</a>")
LINE = (
    "The same words in the same order, as many as it takes to be told from others by people who read twice. "
)
WORDS = LINE * 5 + "Few pages of any site say a line again and then go on with another one. "
TWIN = Answer(f"{HTML}<title>Twins</title><link rel=canonical href=/named-by-its-twin>{WORDS}")


def half_once(site: Site) -> Answer:
    return TWO_LINKS if site.times("/half-once") > 1 else half(TWO_LINKS, 90)


def sitemap(*urls: str) -> Answer:
    named = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Answer(f"<urlset><!-- {PADDING} -->{named}</urlset>", kind="text/xml")


ROUTES: dict[str, Route] = {
    # robots.txt is larger than what is read of other types
    "/robots.txt": robots(PADDING, "User-agent: *", "Disallow: /private", "Sitemap: /map.xml"),
    "/map.xml": sitemap("/only-in-the-map", "http://foreign.test/"),
    "/moved-map.xml": redirect("/other-map.xml"),
    "/other-map.xml": sitemap("/only-in-the-other"),
    # who may index and follow
    "/noindex": linking("/from-noindex", "<meta name=robots content=noindex>"),
    "/header-noindex": linking("/from-header-noindex", X_Robots_Tag="noindex"),
    "/nofollow": linking("/from-nofollow", "<meta name=robots content=nofollow>"),
    "/header-nofollow": linking("/from-header-nofollow", X_Robots_Tag="nofollow"),
    # cut short
    "/half": half(TWO_LINKS._replace(body=TWO_LINKS.body.replace("-half", "-of-half")), 100),  # type: ignore[union-attr,arg-type]
    "/half-once": half_once,
    "/half-missing": half(Answer("no such page", 404), 4),
    # out of bounds
    "/away": redirect("http://away.test/"),
    "/draft": page(),
    "/to-draft": redirect("/draft-2"),
    "/calendar/1": page(),
    "/private": page(),
    "/waits": page(),
    # no pages
    "/film": Answer(b"f" * 100_000, kind="video/mp4"),
    "/clip": Answer(b"c" * 1_000, kind="video/mp4"),
    "/odd": Answer("an odd status", 1042),
    "/empty": Answer(""),
    # the same page
    "/twin": TWIN,
    "/named-by-its-twin": TWIN,
    "/nearly": Answer(f"{HTML}<title>Twins, nearly</title>{WORDS}"),
    # links that are none
    "/mail": Answer(f"{HTML}<title>Mail</title><a href=mailto:a@a.test>a</a><a href=ftp://a.test/>b</a>"),
}  # fmt: skip
LINKED = [path for path in ROUTES if path not in ("/robots.txt", "/map.xml", "/other-map.xml")]


class Web(NamedTuple):
    site: Site
    crawled: Crawled
    items: dict[str, dict[str, Any]]  # that were exported, by path

    def url(self, path: str) -> str:
        return self.site.url + path

    def catalog(self) -> closing[Catalog]:
        return closing(Catalog(self.crawled.folder / "catalog.sqlite", readonly=True))

    def document(self, path: str) -> Document:
        with self.catalog() as catalog:
            found = catalog.find(self.url(path))
        assert found, f"{path} is no document"
        return found

    def text(self, path: str) -> Text | None:
        number = self.document(path).number
        with self.catalog() as catalog:
            return catalog.texts([number]).get(number)

    def kept(self) -> dict[str, Record]:
        """The last WARC record of each path."""
        found = records(self.crawled.folder / "pages")
        return {record.response.url.removeprefix(self.site.url): record for record in found}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("decisions") / "crawl"
    exported = folder.with_name("items.jsonl")
    with sites(site=dict(ROUTES)) as opened:
        site = opened["site"]

        def removes(site: Site) -> Answer:  # with one download at a time, what comes later waits
            change(folder, lambda scope: replace(scope, removed=(f"{site.url}/waits",)))
            return page()

        site.routes |= {"/": page("/removes", *LINKED), "/removes": removes}
        crawled = crawl(
            folder,
            *("index", "-a", f"seeds={site.url}/", "-a", "mode=fifo", "-a", "domains=127.0.0.1"),
            *("-a", f"sitemaps={site.url}/moved-map.xml", "-a", f"exclude={site.url}/draft*"),
            FRONTIER_TRIES=TRIES,
            FRONTIER_SERVER_CONCURRENCY=1,
            SITEMAPS="all",
            TRAP_PATHS="/calendar/",
            FEEDS=json.dumps({str(exported): {"format": "jsonlines"}}),
            ITEM_PIPELINES=json.dumps({**json.loads(WITHOUT_INDEX), "keeping.Texts": 400}),
        )
        items = map(json.loads, exported.read_text().splitlines() if exported.exists() else [])
        yield Web(site, crawled, {item["url"].removeprefix(site.url): item for item in items})


ENDS = {
    # path: (what came of it, how often it was asked for)
    "/noindex": ("done/document", 1),
    "/from-noindex": ("failed/not-found", 1),  # its links are followed all the same
    "/from-header-noindex": ("failed/not-found", 1),
    "/half": ("done/document", TRIES),
    "/first-of-half": ("failed/not-found", 1),
    "/half-once": ("done/document", 2),
    "/second-half": ("failed/not-found", 1),
    "/half-missing": ("failed/not-found", 1),  # half of an error says as much as a whole one
    "/away": ("done/redirect", 1),
    "/to-draft": ("done/redirect", 1),
    "/private": ("failed/robots-disallowed", 0),
    "/waits": ("failed/removed", 0),
    "/film": ("failed/not-indexable", 1),
    "/odd": ("failed/server-error", 1),
    "/map.xml": ("done/sitemap", 1),
    "/only-in-the-map": ("failed/not-found", 1),
    "/moved-map.xml": ("done/redirect", 1),
    "/other-map.xml": ("done/sitemap", 1),
    "/only-in-the-other": ("failed/not-found", 1),
    "/named-by-its-twin": ("done/duplicate", 1),
    "/nearly": ("done/document", 1),
}


@pytest.mark.parametrize("path", ENDS)
def test_each_url_comes_to_its_end(web: Web, path: str) -> None:
    assert (web.crawled.reason(web.url(path)), web.site.times(path)) == ENDS[path]


@pytest.mark.parametrize(
    "path", ["/draft", "/draft-2", "/calendar/1", "/from-nofollow", "/from-header-nofollow"]
)
def test_what_is_not_to_be_followed_is_never_asked_for(web: Web, path: str) -> None:
    assert web.site.times(path) == 0


@pytest.mark.parametrize("tries", range(TRIES))
def test_half_a_page_comes_to_nothing_while_tries_are_left_and_then_to_what_was_received(
    web: Web, tries: int
) -> None:
    fetches = [row[3:7] for row in dumped(web.crawled.folder)["fetches"] if row[0] == web.url("/half")]

    is_last = tries + 1 == TRIES
    expected = ("done", "document", False) if is_last else ("failed", "unreachable", True)
    assert sorted(fetches, key=lambda row: row[3])[tries] == (*expected, tries)


# ---- who may index, and who may follow


@pytest.mark.parametrize("path", ["/noindex", "/header-noindex", "/", "/nofollow", "/header-nofollow"])
def test_a_page_has_a_text_unless_it_is_not_to_be_indexed_and_says_so(web: Web, path: str) -> None:
    text = web.text(path)

    assert web.document(path).noindex == ("noindex" in path) == (text is None)
    assert text is None or text.title


@pytest.mark.parametrize("path", ["/nofollow", "/header-nofollow"])
def test_links_of_a_page_that_is_not_to_be_followed_are_kept_as_such(web: Web, path: str) -> None:
    assert (web.url(path), web.url(f"/from-{path[1:]}"), "nofollow") in web.crawled.edges()


def test_links_are_counted_by_the_reason_for_which_they_are_not_followed(web: Web) -> None:
    assert web.crawled.frontier["states"]["refused"] == {
        "domain": 1,  # of the redirect
        "foreign": 1,  # of the sitemap
        "location": 1,
        "nofollow": 2,
        "scheme": 2,
        "scope": 2,
    }


# ---- what is kept of an answer


def test_what_is_no_document_is_not_fetched_to_its_end_unless_it_is_small(web: Web) -> None:
    kept = web.kept()

    assert (kept["/film"].response.body, kept["/clip"].response.body) == (b"", b"c" * 1_000)
    assert "/only-in-the-map" in kept  # sitemaps are, however large


def test_a_status_that_no_table_holds_is_kept_as_the_highest(web: Web) -> None:
    assert web.crawled.fetch(web.url("/odd")).status == 999


def test_a_redirect_out_of_bounds_is_an_edge_and_no_url_to_fetch(web: Web) -> None:
    edges = web.crawled.edges()

    assert (web.url("/away"), "http://away.test/", "redirect") in edges
    assert (web.url("/to-draft"), web.url("/draft-2"), "redirect") in edges


# ---- the same page twice


def test_the_twin_that_both_name_is_the_original(web: Web) -> None:
    assert web.document("/twin").duplicate_of == web.document("/named-by-its-twin").number


def test_the_bytes_of_a_twin_are_kept_once(web: Web) -> None:
    kept = web.kept()
    second = kept["/named-by-its-twin"]

    assert kept["/twin"].response.body
    assert (second.kind, second.refers_to) == ("revisit", web.url("/twin"))


def test_nearly_the_same_text_is_known_as_such(web: Web) -> None:
    number = web.document("/nearly").number
    with web.catalog() as catalog:
        assert number in catalog.near_duplicates([number])


def test_a_feed_says_of_which_page_an_item_is_a_duplicate(web: Web) -> None:
    assert web.items["/named-by-its-twin"]["duplicate_of"] == web.url("/twin")
    assert {one["duplicate_of"] for path, one in web.items.items() if path != "/named-by-its-twin"} == {None}
