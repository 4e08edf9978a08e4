"""What stands around the main content of a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.parsing import parse
from webcrawler.parsing.around import MAX_BLOCKS
from webcrawler.records import Page
from webcrawler.text import content

URL = "http://a.example/manual"
PROSE = "The owl hunts at night and sleeps by day. " * 10
OWN = f"<p>{PROSE}</p>"
OWN_TEXT = PROSE.strip()
LINKS = "<li><a href=a>Northern owls</a><li><a href=b>Owls of the south</a><li><a href=c>Barn owls</a>"


def page(html: str) -> Page:
    return parse(html.encode(), URL)


def main(html: str) -> str:
    found = page(html)
    return " ".join(content.outside(found.text, found.around).split())


@pytest.mark.parametrize(
    "html",
    [
        f"<nav>Home Help</nav>{OWN}",
        f"<header><nav>Home Help</nav></header>{OWN}<footer>© 2026</footer>",
        f"<aside>See also</aside>{OWN}",
        f"<div role=navigation>Home Help</div>{OWN}",
        f"<div role=search>Search</div>{OWN}",
        f"<form>Name <button>Send</button></form>{OWN}",
        f"{OWN}<select><option>one<option>two</select>",
        f"<div class=navheader>Prev Next</div>{OWN}<div class=navfooter>Prev Next</div>",  # DocBook
        f"<div id=breadcrumbs>A > B</div>{OWN}",
        f"<div class=sphinxsidebar>On this page</div>{OWN}",
        f"<div class=siteFooter>Imprint</div>{OWN}",
        f"<p class=copyright>© 2026</p>{OWN}",
        f"<div class='cookie-notice'>We use cookies</div>{OWN}",
        f"<div hidden>Menu</div>{OWN}",
        f"<div style='color: red; display:none'>Menu</div>{OWN}",
        f"<ul>{LINKS}</ul>{OWN}",
        f"<div><a href=a>Home</a> <a href=b>Products</a> | <a href=c>Support</a></div>{OWN}",
        f"<table><tr><td>Old site<td>Welcome</table><main>{OWN}</main><div>Last change: today</div>",
        f"Welcome<div role=main>{OWN}</div>Goodbye",
        f"Welcome<article>{OWN}</article>Goodbye",
        f"Welcome<div itemprop=articleBody>{OWN}</div>Goodbye",
        f"<div>Welcome</div><div>{OWN}</div><div>Goodbye</div>",  # most of the prose
        f"<main><div>By Jane Doe</div><div>{OWN}</div></main>",
        f"{OWN}<p><a href='#x'>¶</a>",
    ],
)
def test_what_stands_around_the_main_content_is_told_by_structure(html: str) -> None:
    assert main(html) == OWN_TEXT


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<h1>Owls</h1>", "Owls"),
        ("<div><h2>NAME</h2>owl - a bird</div>", "owl - a bird"),  # an abstract above the sections
        ("<div><h2 id=a>Options</h2>-n</div>", "-n"),
        ("<section id=comments><h2>Comments</h2>begin with #</section>", "begin with #"),
        ("<div class=section id=search><h2>Search</h2>finds</div>", "finds"),
        ("<div class='main-content sidebar-open'>words</div>", "words"),
        ("<tr class=inherit_pub_methods_classWidget><td>void draw()</td></tr>", "void draw()"),
        ("<div id=d00ad1><pre>void draw()</pre></div>", "void draw()"),
        ("<pre><a href=a>int</a> <a href=b>main</a></pre>", "int main"),
        ("<dl><dt><a href=a>main</a><dd><a href=b>int</a></dl>", "main int"),
        ("<div><h3 id=a><a href=a>impl Clone for Owl</a></h3></div>", "impl Clone for Owl"),
        ("<table><tr><td><a href=a>draw</a><td>shows the bird</table>", "draw shows the bird"),
        ("<p>See <a href=a>the barn owl</a>.", "See the barn owl."),
    ],
)
def test_what_belongs_to_the_page_is_kept(html: str, kept: str) -> None:
    is_above = html.startswith(("<h1", "<div><h2>NAME"))
    text = main(f"{html}{OWN}" if is_above else f"{OWN}{html}")

    assert OWN_TEXT in text
    assert kept in text


def test_hidden_copies_of_the_main_content_are_not_it() -> None:
    assert main(f"<main hidden>{OWN}</main><main>{OWN}Fly, owl!</main>") == f"{OWN_TEXT} Fly, owl!"


@pytest.mark.parametrize(
    "html",
    [
        f"<nav>{LINKS}</nav>",  # nothing would be left
        f"<nav>{LINKS}</nav>Hi",
        f"<h1>Contents</h1><ul>{LINKS * 5}</ul>",  # an index
        "<p>short",
        "",
    ],
)
def test_a_page_of_which_little_would_be_left_is_all_main_content(html: str) -> None:
    assert page(html).around == ()


@pytest.mark.parametrize(
    "html",
    [
        f"<form>{OWN}</form>Welcome",  # a page that is one form
        f"<div class=sidebar>{OWN}</div>Welcome",
        f"<main>Loading</main><div>{OWN}</div>",
        f"<article>Teaser</article><div>{OWN}</div>",
    ],
)
def test_what_most_of_the_words_stand_in_is_the_main_content_whatever_its_name(html: str) -> None:
    assert OWN_TEXT in main(html)


def test_sections_of_what_stands_around_are_none_of_the_page() -> None:
    around = "<nav id=n><h2>Menu</h2>Home</nav>", "<footer id=f><h3>About us</h3></footer>"
    html = f"{around[0]}{OWN}<h2 id=a>Owls</h2>fly{around[1]}"

    assert [section.heading for section in page(html).sections] == ["Owls"]


def test_the_language_is_that_of_the_main_content() -> None:
    menu = "<p>Der Uhu jagt in der Nacht und schläft am Tag. Wer ihn hören will, muss früh aufstehen.</p>" * 9

    assert page(f"<nav>{menu}</nav>{OWN * 3}").language == "en"


def test_a_document_that_is_not_html_is_all_main_content() -> None:
    assert parse(f"<nav>Home</nav>{PROSE}".encode(), URL, "text/markdown").around == ()


def test_blocks_past_the_bound_belong_to_the_one_around_them() -> None:
    html = f"<div>{OWN}{'<div>x</div>' * MAX_BLOCKS}<nav>Home</nav></div>"

    assert main(html).endswith("Home")


TAGS = "div /div nav /nav main /main ul li /ul table td p"
PIECES = [f"<{tag}>" for tag in TAGS.split()]
PIECES += ["<p class=footer>", "<p hidden>", "<a href=x>link text</a>", "<a href=#x>¶</a>", "word ", PROSE]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_spans_are_ascending_apart_and_within_the_text_and_leave_some_of_it(pieces: list[str]) -> None:
    found = page("".join(pieces))

    places = [place for span in found.around for place in span]
    assert places == sorted(set(places))
    assert not places or (places[0] >= 0 and places[-1] <= len(found.text))
    assert not found.text or content.outside(found.text, found.around).strip()
