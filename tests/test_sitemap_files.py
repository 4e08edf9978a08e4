"""What sitemaps and feeds name, and when it changed; hostile ones cost their parser at most."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testdata import archive

from webcrawler.errors import ParserKilled
from webcrawler.parsing import begins_as_sitemap, parse_sitemap
from webcrawler.parsing.pool import ParserPool
from webcrawler.parsing.robots import EARLIEST, moment
from webcrawler.parsing.sitemap import MAX_ENTRIES, SITEMAP_BYTES
from webcrawler.records import Sitemap

URL = "http://a.test/map/sitemap.xml"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()
URLSET = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


def read(text: str | bytes) -> Sitemap | None:
    body = text if isinstance(text, bytes) else text.encode()
    return parse_sitemap(body, URL, now=NOW)


def named(text: str | bytes) -> list[str] | None:
    """What is fetched, with the day of the change."""
    day = lambda seconds: f" {datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}" if seconds else ""  # noqa: E731
    found = read(text)
    return None if found is None else [link.spelling + day(link.modified) for link in found.links]


def urls(*locs: str) -> str:
    return f"{URLSET}{''.join(f'<url><loc>{loc}</loc></url>' for loc in locs)}</urlset>"


FILES = [
    # (why, the file, what it names)
    ("a sitemap", urls("http://a.test/1", "http://a.test/2"), ["http://a.test/1", "http://a.test/2"]),
    ("blanks around a URL", urls("\n http://a.test/1\n"), ["http://a.test/1"]),
    ("a URL twice is one", urls("http://a.test/1", "http://a.test/1"), ["http://a.test/1"]),
    ("an escaped &", urls("http://a.test/?a&amp;b"), ["http://a.test/?a&b"]),
    ("ours: an & that nobody escaped", urls("http://a.test/?a=1&b=2"), ["http://a.test/?a=1&b=2"]),
    ("& in CDATA", urls("<![CDATA[http://a.test/?a&amp;&b]]>"), ["http://a.test/?a&amp;&b"]),
    ("ours: relative to the sitemap", urls("../1"), ["http://a.test/1"]),
    ("no namespace", "<urlset><url><loc>http://a.test/1</loc></url></urlset>", ["http://a.test/1"]),
    (
        "a prefix that nobody declared",
        "<s:urlset><s:url><s:loc>http://a.test/1</s:loc></s:url></s:urlset>",
        ["http://a.test/1"],
    ),
    (
        "the loc of a picture is not the page's",
        '<urlset xmlns:i="x"><url><i:image><i:loc>http://a.test/p</i:loc></i:image>'
        "<loc>http://a.test/1</loc></url></urlset>",
        ["http://a.test/1"],
    ),
    (
        "a broken end: what came before",
        f"{URLSET}<url><loc>http://a.test/1</loc></url><url><loc>http://a.te",
        ["http://a.test/1"],
    ),
    (
        "blanks before the declaration",
        f"\n <?xml version='1.0'?>{urls('http://a.test/1')}",
        ["http://a.test/1"],
    ),
    ("UTF-16", urls("http://a.test/1").encode("utf-16"), ["http://a.test/1"]),
    (
        "lastmod",
        f"{URLSET}<url><loc>http://a.test/1</loc><lastmod>2026-11-03T10:00:00+01:00</lastmod></url></urlset>",
        ["http://a.test/1 2026-11-03"],
    ),
    (
        "an index",
        "<sitemapindex><sitemap><loc>http://a.test/1.xml.gz</loc><lastmod>2026-11-03</lastmod></sitemap>"
        "</sitemapindex>",
        ["http://a.test/1.xml.gz 2026-11-03"],
    ),
    (
        "text",
        "\ufeffhttp://a.test/1\r\n# no URL\n\n http://a.test/2 ",
        ["http://a.test/1", "http://a.test/2"],
    ),
    (
        "RSS 2.0: items; neither the channel nor its picture",
        "<rss><channel><link>http://a.test/</link><image><url>http://a.test/p</url></image><item>"
        "<title>T</title><link>http://a.test/1</link><pubDate>Tue, 03 Nov 2026 10:00:00 GMT</pubDate>"
        "</item></channel></rss>",
        ["http://a.test/1 2026-11-03"],
    ),
    (
        "RSS: a guid that is a URL, where there is no link",
        "<rss><channel><item><guid>http://a.test/1</guid></item><item><guid>4711</guid></item></channel></rss>",
        ["http://a.test/1"],
    ),
    (
        "RSS 1.0",
        '<rdf:RDF xmlns:rdf="r" xmlns:dc="d"><channel/><item><link>http://a.test/1</link>'
        "<dc:date>2026-11-03</dc:date></item></rdf:RDF>",
        ["http://a.test/1 2026-11-03"],
    ),
    (
        "Atom: the page, not the comments; updated after it was published",
        '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="replies" href="/c"/>'
        '<link href="/1"/><published>2026-11-01T00:00:00Z</published><updated>2026-11-03T00:00:00Z</updated>'
        "</entry></feed>",
        ["http://a.test/1 2026-11-03"],
    ),
    ("a sitemap of nothing", urls(), []),
    ("HTML", "<!doctype html><html><body><a href=http://a.test/1>1</a>", None),
    ("text without URLs", "Not found", None),
    ("nothing", "", None),
]


@pytest.mark.parametrize(("text", "wanted"), [row[1:] for row in FILES], ids=[row[0] for row in FILES])
def test_file_names_these_urls_gzipped_or_not(text: str | bytes, wanted: list[str] | None) -> None:
    body = text if isinstance(text, bytes) else text.encode()

    assert named(body) == wanted
    assert named(gzip.compress(body)) == wanted
    assert named(gzip.compress(body[:9]) + gzip.compress(body[9:])) == wanted  # of several members
    is_sitemap = wanted is not None and b"<" in body
    assert begins_as_sitemap(body) is begins_as_sitemap(gzip.compress(body)) is is_sitemap


# (file, how many URLs, the first of them)
SAMPLES = {
    "rss/feed.rss": (4, "https://www.example.com/blog/post/1 2009-09-06"),
    "sitemaps/do-not-visit.txt": (1, "http://www.example.com/do-not-visit-here"),
    "sitemaps/extension/shinpaideshou-news-sitemap.xml": (
        3,
        "https://shinpaideshou.wordpress.com/2017/04/25/job-opening-reischauer-policy-research-fellow/",
    ),
    "sitemaps/extension/sitemap-mobile.xml": (3, "http://www.example.com/mobile-friendly-1/"),
    "sitemaps/extension/sitemap-news.xml": (2, "http://www.example.org/business/article55.html"),
    "sitemaps/extension/sitemap-videos-tvshow.xml": (1, "https://example.org/my-tv-show/23/13/"),
    "sitemaps/extension/sitemap-videos.xml": (
        3,
        "http://www.example.com/videos/some_video_landing_page.html",
    ),
    "sitemaps/sitemap.index.xml": (15, "https://example.com/sitemap.jss?portalCode=10260&lang=en"),  # no loc
    "sitemaps/sitemap.ns.xml": (2, "http://www.example.com/1"),
    "sitemaps/sitemap.txt.gz": (5, "http://www.example.com/"),
    "sitemaps/xmlSitemap.gz": (5, "http://www.example.com/ 2005-01-01"),
}


def test_samples_of_crawler_commons_are_read() -> None:
    found = {name: named(body) or [] for name, body in archive("sitemaps/sitemaps.tar.xz")}

    assert {name: (len(urls), urls[0]) for name, urls in found.items()} == SAMPLES


def test_however_what_a_sitemap_names_ends_it_is_not_refused() -> None:
    index = read("<sitemapindex><sitemap><loc>/1.xml.gz</loc></sitemap></sitemapindex>")
    pages = read(urls("/1.zip", "/2"))

    assert index and index.is_index and [link.refused for link in index.links] == [""]
    assert pages and not pages.is_index and [link.refused for link in pages.links] == ["", ""]
    assert {link.rel for link in (*index.links, *pages.links)} == {"sitemap"}


@pytest.mark.parametrize(("length", "refused"), [(SITEMAP_BYTES - 1, {}), (SITEMAP_BYTES, {"too-large": 1})])
def test_of_a_file_that_is_too_large_the_beginning_is_read_and_it_is_counted(
    length: int, refused: dict[str, int]
) -> None:
    body = f"{URL}/1\n".encode().ljust(length, b"\n")

    found = parse_sitemap(gzip.compress(body, 1), URL)

    assert found and len(found.links) == 1 and found.refused == refused


@pytest.mark.slow
def test_what_is_no_url_and_what_is_too_much_is_counted() -> None:
    found = read(urls("mailto:a@a.test", *(f"/{n}" for n in range(MAX_ENTRIES + 2))))

    assert found and len(found.links) == MAX_ENTRIES - 1
    assert found.refused == {"scheme": 1, "too-many": 1}


DATES = [
    # (as written, what it means)
    ("2026-11-03", "2026-11-03T00:00:00"),
    ("2026-11", "2026-11-01T00:00:00"),
    ("2026", "2026-01-01T00:00:00"),
    ("2026-11-03T10:20Z", "2026-11-03T10:20:00"),
    ("2026-11-03T10:20:30+02:00", "2026-11-03T08:20:30"),
    ("2026-11-03t10:20:30.125z", "2026-11-03T10:20:30.125000"),
    ("2026-11-03T10:20:30", "2026-11-03T10:20:30"),  # ours: UTC
    ("2026-11-03 10:20:30 +0200", "2026-11-03T08:20:30"),
    ("Tue, 03 Nov 2026 10:20:30 GMT", "2026-11-03T10:20:30"),
    ("Tue, 3 Nov 2026 10:20:30 -0500", "2026-11-03T15:20:30"),
    ("03 Nov 26 10:20 UT", "2026-11-03T10:20:00"),
    ("2026-11-23T06:00:00Z", "2026-11-23T06:00:00"),  # ours: a clock that is fast
    ("2026-11-24T12:00:01Z", ""),  # the future
    ("2099-01-01", ""),
    ("0001-01-01T00:00:00Z", ""),  # "unknown" of some programs
    ("1970-01-01T00:00:00Z", ""),
    ("2026-13-01", ""),
    ("2026-02-30", ""),
    ("yesterday", ""),
    ("{{ page.date }}", ""),
    ("", ""),
]


@pytest.mark.parametrize(("text", "wanted"), DATES)
def test_dates_of_w3c_and_rfc_822_are_read_and_nonsense_is_ignored(text: str, wanted: str) -> None:
    expected = datetime.fromisoformat(wanted).replace(tzinfo=UTC).timestamp() if wanted else 0.0

    assert moment(f" {text}\n", NOW) == expected


@given(st.text())
def test_no_date_raises_or_lies_in_the_future(text: str) -> None:
    assert moment(text, EARLIEST) in (0.0, pytest.approx(EARLIEST, abs=86_400))


@given(st.one_of(st.binary(), st.text("<>&;/![]?ursetloc \n\"'=\ud800").map(lambda text: URLSET + text)))
def test_no_bytes_make_it_raise(body: bytes | str) -> None:
    body = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")

    begins_as_sitemap(body)
    begins_as_sitemap(b"\x1f\x8b" + body)
    parse_sitemap(body, URL)


# ---- hostile files


@pytest.fixture
def pool(request: pytest.FixtureRequest) -> Iterator[ParserPool]:
    """As the settings have it, unless a test gives its seconds."""
    pool = ParserPool(workers=1, timeout_s=getattr(request, "param", 10), memory_mb=384)
    yield pool
    pool.kill()


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BOMBS = {
    "laughs": f'<!DOCTYPE u [<!ENTITY l0 "ha">{LAUGHS}]>{urls("http://a.test/&l9;")}',
    "a file": f'<!DOCTYPE u [<!ENTITY e SYSTEM "file:///etc/passwd">]>{urls("http://a.test/&e;")}',
    "UTF-16": f'<!DOCTYPE u [<!ENTITY e "x">]>{urls("http://a.test/&e;")}'.encode("utf-16"),
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_file_that_declares_entities_is_not_read(text: str | bytes) -> None:
    assert read(text) is None


def test_nothing_external_is_read_for_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "dtd")  # who opens it waits for ever
    doctype = f'<!DOCTYPE urlset SYSTEM "file://{tmp_path}/dtd">'

    assert named(doctype + urls("http://a.test/&nbsp;1")) == ["http://a.test/1"]


@pytest.mark.slow
def test_gzip_bomb_is_inflated_up_to_the_bound(pool: ParserPool) -> None:
    head = f"{URLSET}<url><loc>http://a.test/1</loc></url>".encode()
    bomb = gzip.compress(head + b" " * (2 * SITEMAP_BYTES) + b"<url><loc>http://a.test/2</loc></url>")

    found = pool.parse_sitemap(bomb, URL, "", NOW, ("http",)).result(60)

    assert found and [link.spelling for link in found.links] == ["http://a.test/1"]


LARGE = {
    # what fills the file, how often, and what ends it
    "blank lines": ("\n", SITEMAP_BYTES - 50, "http://a.test/1"),
    "an emoji": (" ", SITEMAP_BYTES - 100, "<url><loc>http://a.test/1</loc></url>😀</urlset>"),
    "entries": ("<url><loc>http://a.test/1</loc></url>", 1_000_000, "</urlset>"),
    "lines": ("http://a.test/1\n", 3_000_000, ""),
}


@pytest.mark.slow
@pytest.mark.parametrize(("filling", "times", "end"), LARGE.values(), ids=LARGE)
def test_large_file_is_read_in_the_memory_and_time_of_a_parser(
    filling: str, times: int, end: str, pool: ParserPool
) -> None:
    body = ((URLSET if "url>" in filling + end else "") + filling * times + end).encode()

    found = pool.parse_sitemap(body, URL, "", NOW, ("http",)).result(60)

    assert found and [link.spelling for link in found.links] == ["http://a.test/1"]


@pytest.mark.slow
@pytest.mark.parametrize("pool", [2], indirect=True, ids=["2 s"])
def test_file_that_takes_too_long_ends_its_parser_and_not_the_next_one(pool: ParserPool) -> None:
    endless = gzip.compress(b"<rss>" + b"<a/>" * (SITEMAP_BYTES // 4))

    with pytest.raises(ParserKilled):
        pool.parse_sitemap(endless, URL, "", NOW, ("http",)).result(60)

    found = pool.parse_sitemap(urls("http://a.test/1").encode(), URL, "", NOW, ("http",)).result(60)
    assert found and len(found.links) == 1
