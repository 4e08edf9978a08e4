"""Traps: which URLs no rule lets in, which part of a server a URL belongs to."""

from __future__ import annotations

import lzma
import re
from collections import Counter
from itertools import permutations
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testdata import data

from webcrawler.urls import (
    UnfetchableUrl,
    canonical,
    is_at,
    outlink,
    path_prefix,
    resolve,
    split,
)
from webcrawler.urls._groups import MAX_PREFIX
from webcrawler.urls._outlink import (
    MAX_NESTED,
    MAX_PARAMETERS,
    MAX_REPEATS,
    MAX_SEGMENTS,
    TRAPS,
    refusal,
    trap,
)

ROOT = Path(__file__).parents[1]

# ---- what is refused

_SEGMENTS = [f"/s{number}" for number in range(MAX_SEGMENTS)]
_PARAMETERS = [f"p{number}={number}" for number in range(MAX_PARAMETERS)]
_BACK = "/login?next=/a"

URLS = [
    # locations: UO 5.1
    ("/cgi-bin/vote.pl?for=1", "location"),
    ("/~user/CGI-BIN/x", "location"),
    ("/cgi-bin", ""),
    ("/cgi-binary/x", ""),
    ("/x?from=/cgi-bin/y", ""),  # where it leads is up to the page
    # one segment again and again
    ("/a/a/a/a", "repeats"),
    ("/a/a/a/a/", "repeats"),
    ("/a/a/a/a?x", "repeats"),
    ("/x/a/a/a/a/y/z.html", "repeats"),
    ("/about/news/about/jobs/about/team/about/", "repeats"),
    ("/a//b//c//d//", "repeats"),
    ("/2024/2024/", ""),
    ("/2024/2024/2024/", ""),
    ("/photos/0/0/0/1/", ""),
    ("/p/h/o/t/o/s/h/o/p/", ""),  # found in the wild
    ("/en/docs/en/docs/", ""),
    ("/std/process/struct.Child/process/Child/index.html", ""),
    ("/a/aa/aaa/aaaa/a.html", ""),
    ("http://example.org/web/2020/http://example.org/", ""),
    # some segments again and again
    ("/a/b/a/b/a/b", "repeats"),
    ("/a/b/a/b/a/b/", "repeats"),
    ("/x/a/b/c/a/b/c/a/b/c/y", "repeats"),
    ("/a/b/a/b/a/bc", ""),
    ("/a/b/a/b/a/c", ""),
    # one parameter again and again
    ("/x?page=2&page=2&page=2&page=2", "repeats"),
    ("/x?tag=a&tag=b&tag=c&tag=d", ""),  # a choice of several
    # more of them than a person would have made
    ("".join(_SEGMENTS), ""),
    ("".join([*_SEGMENTS, "/"]), "depth"),
    ("".join([*_SEGMENTS, "/x"]), "depth"),
    ("/x?" + "/a" * 30, ""),  # slashes of a query make nothing deep
    ("/x?" + "&".join(_PARAMETERS), ""),
    ("/x?" + "&".join([*_PARAMETERS, "q"]), "parameters"),
    # URLs in URLs
    ("/web/2020/http://b.example/?u=http://c.example/", ""),
    ("/out?u=http%3A%2F%2Fb.example%2Fout%3Fu%3Dhttp%253A%252F%252Fc.example%252F", ""),
    ("/out/http://a.example/b/http://c.example/d/http://e.example/", "nested"),
    ("/out?u=http://a&v=http://b&w=http%3A%2F%2Fc", "nested"),
    ("/login?next=" + quote(_BACK, ""), ""),
    ("/login?next=" + quote("/login?next=" + quote(_BACK, ""), ""), ""),
    ("/login?next=" + quote("/login?next=" + quote("/login?next=" + quote(_BACK, ""), ""), ""), "nested"),
    # what many an honest site has
    ("/", ""),
    ("/index.php?title=A&action=edit&section=2", ""),
    ("/2024/05/06/a-title-of-some-length/", ""),
    ("/100%25-wool", ""),
    ("/a%20b/%C3%A9/c", ""),
]


@pytest.mark.parametrize(("path", "reason"), URLS)
def test_what_only_a_trap_looks_like_is_refused_with_a_reason(path: str, reason: str) -> None:
    url = path if path.startswith("http") else f"http://h.example{path}"

    assert refusal(canonical(url), {"http"}) == reason
    assert outlink(url, "http://h.example/").refused == reason


@pytest.mark.parametrize("href", ["a/", "x/../a/", "b/a/", "./a/b/"])
def test_a_relative_link_that_leads_ever_deeper_is_soon_refused(href: str) -> None:
    url, fetched = "http://h.example/dir/", 0
    while not (target := outlink(href, url)).refused:
        url, fetched = target.url, fetched + 1

    assert fetched <= MAX_REPEATS and target.refused == "repeats"


def test_a_page_that_leads_to_itself_by_its_own_url_is_soon_refused() -> None:
    url, fetched = "http://h.example/login", 0
    while not (target := outlink("/login?next=" + quote(url, ""), url)).refused:
        url, fetched = target.url, fetched + 1

    assert fetched <= MAX_NESTED + 1 and target.refused == "nested"


def test_order_of_parameters_is_left_alone() -> None:
    """Ours: a server may tell `?a=1&b=2` from `?b=2&a=1`; what repeats is seen by its content."""
    assert canonical("http://h/?b=2&a=1") != canonical("http://h/?a=1&b=2")


_PARTS = st.lists(
    st.sampled_from(["/a", "/b", "/", "?x=1", "&x=1", "&", "%2525", "http://", "%3A%2F%2F", "/cgi-bin/"])
)


@given(_PARTS)
def test_the_quick_look_misses_nothing_that_a_rule_would_refuse(parts: list[str]) -> None:
    url = canonical("http://h/" + "".join(parts))
    path, _, query = split(url)[1].partition("?")
    broken = [name for name, breaks in TRAPS.items() if breaks(path, query)]

    assert trap(url) == ("location" if "/cgi-bin/" in path else broken[0] if broken else "")


def test_urls_found_in_the_wild_are_let_in_but_for_cgi_bin() -> None:
    with lzma.open(data("urls-real/urls.txt.xz"), "rt", encoding="utf-8") as lines:
        refused = Counter(trap(canonical(url)) for line in lines if (url := _resolved(line)))

    assert refused.keys() == {"", "location"} and refused["location"] < 100


def _resolved(line: str) -> str:
    try:
        return resolve(line.strip())
    except UnfetchableUrl:
        return ""


def test_a_path_may_be_refused_by_texts_of_the_operator() -> None:
    assert is_at("http://h/a/Calendar/2024", ["/print/", "/calendar/"])
    assert not is_at("http://calendar.example/x?y=/calendar/", ["/calendar/"])
    assert not is_at("http://h/calendar", ["/calendar/"])
    assert not is_at("http://h/", [])


def test_each_trap_stands_in_the_table_of_reasons_and_in_the_explanation() -> None:
    states = (ROOT / "docs/reference/states.md").read_text("utf-8")
    traps = (ROOT / "docs/explanation/traps.md").read_text("utf-8")

    for name in ("location", *TRAPS):
        assert re.search(rf"(?m)^\| `{name}` \|", states), name
        assert re.search(rf"(?m)^\| `{name}` \|", traps), name


# ---- path prefixes

PREFIXES = [
    # two directories
    ("/", "/"),
    ("/page.html", "/"),
    ("/a/", "/a/"),
    ("/a/page.html", "/a/"),
    ("/a/b/", "/a/b/"),
    ("/a/b/c/d/page.html", "/a/b/"),
    ("//a/b/c", "//a/"),
    # numbers are one
    ("/calendar/2024/01/02", "/calendar/0/"),
    ("/calendar/2031/12/24/", "/calendar/0/"),
    ("/2024/05/a-title", "/0/0/"),
    ("/3.12/library/re.html", "/0.0/library/"),
    ("/~cs101/notes/", "/~cs0/notes/"),
    # so are long names with a digit
    ("/s/8f14e45fceea167a/page", "/s/0/"),
    ("/s/Zm9vYmFyYmF6cXV4/page", "/s/0/"),
    ("/documentation/installation/", "/documentation/installation/"),
    # a query: its program and its first parameter
    ("/?p=12", "/?p="),
    ("/view.php?id=3", "/view.php?id="),
    ("/view.PHP?id=3&page=2", "/view.PHP?id="),
    ("/a/b/c/d/view.php?id=3", "/a/b/view.php?id="),
    ("/view.php?", "/view.php?"),
    ("/thread.php?1234-a-title", "/thread.php?"),
    ("/calendar?date=2024-01-02", "/?date="),
    ("/wiki/A_page?action=edit", "/wiki/?action="),
    ("/wiki/Another?action=edit", "/wiki/?action="),
    ("/2024/a-title.html?replytocom=77", "/0/?replytocom="),
    ("/pub/?C=M;O=A", "/pub/?C="),
    ("/x?a/b/c=/d/e/", "/?a/b/c="),
    ("/x?flag&id=3", "/?"),
    # bounded
    ("/" + "x" * 100 + "/y/", "/" + "x" * 59),
]


@pytest.mark.parametrize(("path", "prefix"), PREFIXES)
def test_a_path_has_one_prefix(path: str, prefix: str) -> None:
    assert path_prefix(path) == prefix


def test_a_calendar_without_end_has_one_prefix_by_path_and_one_by_query() -> None:
    days = [
        (year, month, day) for year in range(2000, 2100) for month in range(1, 13) for day in range(1, 29)
    ]

    assert {path_prefix(f"/calendar/{year}/{month:02}/{day:02}") for year, month, day in days} == {
        "/calendar/0/"
    }
    assert {path_prefix(f"/calendar?date={year}-{month}-{day}") for year, month, day in days} == {"/?date="}


def test_filters_in_any_order_have_as_many_prefixes_as_there_are_filters() -> None:
    filters = ["colour", "size", "brand", "price", "material", "sort"]
    orders = [order for length in range(1, 7) for order in permutations(filters, length)]

    prefixes = {path_prefix("/shop?" + "&".join(f"{name}=1" for name in order)) for order in orders}

    assert len(orders) == 1_956 and len(prefixes) == len(filters)


@given(
    st.text(alphabet="/?&=.ab0%-_", max_size=80) | st.text() | st.sampled_from([path for path, _ in PREFIXES])
)
def test_a_prefix_is_bounded_and_its_own_prefix(text: str) -> None:
    prefix = path_prefix(text)

    assert len(prefix) <= MAX_PREFIX
    if text.startswith("/") and len(prefix) < MAX_PREFIX:
        assert path_prefix(prefix) == prefix


@given(st.text())
def test_each_url_has_a_prefix(text: str) -> None:
    try:
        url = canonical(resolve(text, "http://base.example/a/b/"))
    except UnfetchableUrl:
        return

    assert path_prefix(split(url)[1]).startswith("/")
