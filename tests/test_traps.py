"""Traps: which URLs no rule lets in, which part of a server a URL belongs to."""

from __future__ import annotations

import lzma
import re
from collections import Counter
from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localweb import PROJECT
from testdata import data

from webcrawler.urls import UnfetchableUrl, canonical, is_at, outlink, path_prefix, resolve, split
from webcrawler.urls._groups import MAX_PREFIX
from webcrawler.urls._outlink import MAX_PARAMETERS, MAX_SEGMENTS, TRAPS, refusal, trap

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
    refused = Counter[str]()
    with lzma.open(data("urls-real/urls.txt.xz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            with suppress(UnfetchableUrl):
                refused[trap(canonical(resolve(line.strip())))] += 1

    assert refused.keys() == {"", "location"} and refused["location"] < 100


def test_a_path_may_be_refused_by_texts_of_the_operator() -> None:
    assert is_at("http://h/a/Calendar/2024", ["/print/", "/calendar/"])
    assert not is_at("http://calendar.example/x?y=/calendar/", ["/calendar/"])
    assert not is_at("http://h/calendar", ["/calendar/"])
    assert not is_at("http://h/", [])


@pytest.mark.parametrize("page", ["reference/states.md", "explanation/traps.md"])
def test_each_trap_stands_in_the_table_of_reasons_and_in_the_explanation(page: str) -> None:
    explained = re.findall(r"(?m)^\| `(.+?)` \|", (PROJECT / "docs" / page).read_text("utf-8"))

    assert {"location", *TRAPS} <= set(explained)


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


@given(
    st.text(alphabet="/?&=.ab0%-_", max_size=80) | st.text() | st.sampled_from([path for path, _ in PREFIXES])
)
def test_a_prefix_is_bounded_and_its_own_prefix(text: str) -> None:
    prefix = path_prefix(text)

    assert len(prefix) <= MAX_PREFIX
    if text.startswith("/"):
        assert prefix.startswith("/")
        assert path_prefix(prefix) == prefix or len(prefix) == MAX_PREFIX
