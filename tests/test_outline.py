"""The sections of a page: where a link with a fragment leads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.parsing import parse
from webcrawler.parsing.outline import MAX_SECTIONS
from webcrawler.records import Page

URL = "http://a.example/manual"


def page(html: str) -> Page:
    return parse(html.encode(), URL)


def sections(html: str) -> list[str]:
    """Each as "#fragment heading", after it has been seen that its heading stands where it begins."""
    found = page(html)
    for section in found.sections:
        begins = " ".join(found.text[section.start :].split())
        assert begins.startswith(section.heading.split()[0])
    return [f"#{section.fragment} {section.heading}" for section in found.sections]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<h2 id=a>One</h2>text", ["#a One"]),  # HTML 5, Markdown
        ("<section id=a><h2>One</h2>text", ["#a One"]),  # Sphinx
        ("<div class=sect id=a><div><div><h2>One</h2></div></div>text", ["#a One"]),  # DocBook
        ("<h2><a name=a></a>One</h2>text", ["#a One"]),
        ("<h2><a name=a>One</a></h2>text", ["#a One"]),
        ("<h2>One <a href='#a' id=a>#</a></h2>text", ["#a One"]),  # Node.js
        ("<h2><span id=a>One</span></h2>text", ["#a One"]),  # MediaWiki
        ("<a name=a></a><h2>One</h2>text", ["#a One"]),  # Doxygen
        ("<p>before<a name=a></a><p><h2>One</h2>text", ["#a One"]),
        ("<dl><dt id=a>f(x)<dd>text", ["#a f(x)"]),  # Sphinx
        ("<dl><dt><a name=a></a>f(x)<dd>text", ["#a f(x)"]),  # Texinfo
        ("<dl><a name=a></a><dt>f(x)<dd>text", ["#a f(x)"]),
        ("<a name=a></a><p>PRAGMA x<p>text", ["#a PRAGMA x"]),  # a short line stands for a heading
        ("<table><tr><td><a name=a></a>EBUSY<td>in use<tr><td>x", ["#a EBUSY in use"]),
        ("<h2 id='a b/ö'>One</h2>text", ["#a b/ö One"]),
        # none of its own
        ("<h2>One</h2>text", []),
        ("<p>text<h2>One</h2>text", []),
        ("<div id=a>text<h2>One</h2>text", []),
        ("<dl><dt>f(x)<dd>text", []),
        ("<div id=a><dl><dt>f(x)<dd>text", []),
        ("<h2 id=a></h2>text", []),
        ("<h2 id=''>One</h2>text", []),
        ("<p id=a>text", []),
        ("<input id=a><h2>One</h2>text", []),
        ("text <a name=a></a>goes on", []),
        ("<a name=a></a>" + "a long paragraph " * 20, []),
        ("<template><h2 id=a>One</h2></template>text", []),
        # nor is the heading of the whole page one
        ("<h1 id=top>Page</h1>text<h2 id=a>One</h2>", ["#a One"]),
        ("<h1 id=a>One</h1>text<h1 id=b>Two</h1>", ["#a One", "#b Two"]),
        ("<h2 id=a>One</h2><h1 id=b>Two</h1>", ["#a One", "#b Two"]),
    ],
)
def test_sections_begin_at_headings_definitions_and_lines_with_a_name(html: str, found: list[str]) -> None:
    assert sections(html) == found


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<div id=b><h2 id=a>One</h2>", ["#a One"]),  # its own id
        ("<section id=a><span id=b></span><h2>One</h2>", ["#a One"]),
        ("<section id=b><span id=a></span><h2>One<a href='#a'>¶</a></h2>", ["#a One"]),  # its permalink's
        ("<section id=b><h2><a id=a></a>One</h2>", ["#a One"]),  # one inside
        ("<div id=c><div id=b><a name=a></a><a name=d></a><h2>One</h2>", ["#a One"]),  # the anchor before it
        ("<div id=b><section id=a><h2>One</h2>", ["#a One"]),  # the innermost around it
        ("<h2 id=a>One</h2>x<a name=a></a><a name=b></a><h2>Two</h2>", ["#a One", "#b Two"]),
        # what stands between a name and a heading that links to it
        ("<section id=a>1.2 · <a>source</a><h4>fn <a href='#a'>new</a>()</h4>", ["#a fn new()"]),
    ],
)
def test_of_several_names_the_one_that_the_page_itself_uses_is_taken(html: str, found: list[str]) -> None:
    assert sections(html) == found


@pytest.mark.parametrize(
    ("html", "heading"),
    [
        ("<h2 id=a>One<a href='#a'>¶</a></h2>", "One"),
        ("<h2 id=a><a href='#a'>#</a> One</h2>", "One"),
        ("<dt id=a>f(<em>x</em>)<a href='page.html#a'>¶</a></dt>", "f(x)"),
        ("<h2 id=a>C<a href='c.html'>#</a></h2>", "C#"),
        ("<h2 id=a>One<br>two\n three</h2>", "One two three"),
        (f"<h2 id=a>{'word ' * 100}</h2>", "word " * 39 + "…"),
    ],
)
def test_a_heading_is_plain_words_without_permalinks(html: str, heading: str) -> None:
    assert [section.heading for section in page(html).sections] == [heading]


def test_a_heading_that_is_never_closed_is_none() -> None:
    """The parser gives no end for `<h2>One</h1>`; the rest of the page is in the h2 then."""
    found = page("<h2>One</h1><div id=a>two " + "three " * 200 + "</div>")

    assert (found.sections, found.headings) == ((), ())


@pytest.mark.parametrize("section", ["<h2 id=a{}>x</h2>", "<a name=a{}></a>x<br>"])
def test_a_page_has_no_more_sections_than_a_bound(section: str) -> None:
    html = "".join(section.format(i) for i in range(MAX_SECTIONS + 5))

    assert len(page(html).sections) == MAX_SECTIONS


def test_a_document_that_is_not_html_has_no_sections_as_no_fragment_leads_into_it() -> None:
    found = parse(b"<h2 id=a>One</h2>", "http://a.example/notes.md", "text/markdown")

    assert (found.headings, found.sections) == (("One",), ())


PIECES = ["<h2 id=a>", "</h2>", "<h3>", "<dt id=b>", "</dt>", "<a name=c>", "<a href='#a'>¶</a>", "</a>"]
PIECES += ["<div id=d>", "</div>", "<p>", "word ", "\n", "<a id=e></a>", "<section id=f>", "<script id=g>"]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_sections_come_in_order_each_at_its_place_with_a_name_of_its_own(pieces: list[str]) -> None:
    found = page("".join(pieces))

    starts = [section.start for section in found.sections]
    assert starts == sorted(set(starts))
    assert all(0 <= start < len(found.text) and not found.text[start].isspace() for start in starts)
    assert len({section.fragment for section in found.sections}) == len(starts)
    assert all(section.heading for section in found.sections)
