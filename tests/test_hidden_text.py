"""Hidden text: words that visitors can't see mark a page if they are stuffed; honest hiding marks nothing."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st
from localweb import Answer, crawl, sites
from searched import entry, publish
from test_rebuild_command import WITH_INDEX
from test_spam import PROSE

from webcrawler.index import reindex
from webcrawler.parsing import parse
from webcrawler.parsing.invisible import FEWEST_WORDS, IN_A_LINE, SHARE
from webcrawler.parsing.styles import colour
from webcrawler.search import Searcher

URL = "http://a.example/"
STUFFED = "cheap flights " * 40
OWN = f"<h1>Harbour</h1><p>{PROSE}</p>"


def hidden(html: str) -> int:
    return parse(html.encode(), URL, "text/html").hidden


# How text is hidden


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "DISPLAY : None !important",
        "color: red; display: none",
        "visibility: hidden",
        "opacity: 0",
        "opacity: 0.0",
        "font-size: 0",
        "font-size:0px",
        "text-indent: -9999px",
        "text-indent:-99999em",
        "position: absolute; left: -9999px",
        "position:fixed;top:-1000em",
        "color: #fff; background-color: white",
        "color: rgb(255, 255, 255); background: #FFFFFF",
        "color: silver; background: #c0c0c0",
    ],
)
@pytest.mark.parametrize("tag", ["div", "p", "span", "h2"])
def test_stuffed_words_that_a_style_hides_mark_a_page(style: str, tag: str) -> None:
    assert hidden(f"{OWN}<{tag} style='{style}'>{STUFFED}</{tag}>") == 80
    assert hidden(f"<style>.kw {{ {style} }}</style>{OWN}<{tag} class='a kw'>{STUFFED}</{tag}>") == 80


@pytest.mark.parametrize(
    "html",
    [
        f"{OWN}<div hidden>{STUFFED}</div>",
        f"{OWN}<div hidden=hidden><p>{STUFFED}</p></div>",
        f"{OWN}<div style='display:none'><div><p>{STUFFED}</p></div></div>",
        f"<body bgcolor=white>{OWN}<font color='#ffffff'>{STUFFED}</font>",
        f"<body bgcolor=#fff>{OWN}<p style='color:white'>{STUFFED}</p>",
        f"<body bgcolor=black>{OWN}<table bgcolor=white><tr><td><font color=white>{STUFFED}</font></table>",
        f"<body text=white bgcolor=white>{STUFFED}",
        f"<style>body {{ background: #fff }} .w {{ color: #fff }}</style>{OWN}<p class=w>{STUFFED}</p>",
        f"<style>#kw {{ display: none }}</style>{OWN}<p id=kw>{STUFFED}</p>",
        f"<style>h6, .other {{ display: none }}</style>{OWN}<h6>{STUFFED}</h6>",
        f"<style>p.kw {{ display: none }}</style>{OWN}<p class=kw>{STUFFED}</p>",
        f"<style>/* .a {{}} */ @import 'a'; .kw {{ display: none }}</style>{OWN}<p class=kw>{STUFFED}",
        f"{OWN}<style>.kw {{ display: none }}</style><p class=kw>{STUFFED}</p>",  # in the body
        f"{OWN}<table><tr><td><div style='display:none'>{STUFFED}</div></td></tr></table>",  # for layout
        f"{OWN}<form><p style='display:none'>{STUFFED}</p></form>",  # one that holds the page
    ],
)
def test_they_do_however_the_page_itself_says_that_they_are_hidden(html: str) -> None:
    assert hidden(html) == 80


@pytest.mark.parametrize(
    "html",
    [
        f"<p>{STUFFED}</p>",  # of which the other rule speaks
        f"<p style='display:block'>{STUFFED}</p>",
        f"<p style='opacity:0.5; font-size:10px; left:-9999px; text-indent:-2em'>{STUFFED}</p>",
        f"<p style='opacity:'>{STUFFED}</p>",
        f"<p style='position:relative; left:-9px'>{STUFFED}</p>",
        f"<p style='color:white'>{STUFFED}</p>",  # on what?
        f"<body bgcolor=white><table bgcolor=black><tr><td><font color=white>{STUFFED}</font></table>",
        f"<body bgcolor=white><div style='background:url(a.png)'><font color=white>{STUFFED}</font></div>",
        f"<body bgcolor=white background=a.png><font color=white>{STUFFED}</font>",
        f"<p style='color:var(--a);background:var(--a)'>{STUFFED}</p>",
        f"<div style='font-size:0'><p style='font-size:16px'>{STUFFED}</p></div>",
        f"<div style='visibility:hidden'><p style='visibility:visible'>{STUFFED}</p></div>",
        f"<div hidden style='display:block'>{STUFFED}</div>",
        f"<div hidden=until-found>{STUFFED}</div>",  # a browser's own search shows it
        f"<details><summary>More</summary>{STUFFED}</details>",
        f"<p aria-hidden=true>{STUFFED}</p>",
        f"<style>.kw {{ display:none }} .kw.open {{ display:block }}</style><p class=kw>{STUFFED}</p>",
        f"<style>.kw {{ display:none }} a:hover + .kw {{ display:block }}</style><p class=kw>{STUFFED}</p>",
        f"<style>.kw {{ opacity:0; transition: opacity 1s }}</style><p class=kw>{STUFFED}</p>",
        f"<style>@media print {{ .kw {{ display:none }} }}</style><p class=kw>{STUFFED}</p>",
        f"<style media=print>.kw {{ display:none }}</style><p class=kw>{STUFFED}</p>",
        f"<style>.kw {{ display:none }} @media tv {{ .kw {{ display:block }} }}</style><p class=kw>{STUFFED}",
        f"<style>body {{ visibility:hidden; animation: shown 8s }}</style><body>{STUFFED}",  # AMP
        f"<body style='visibility:hidden'>{STUFFED}",  # until a script has run
        f"<noscript><style>.kw {{ display:none }}</style></noscript><p class=kw>{STUFFED}</p>",
        f"<style>.a .kw {{ display:none }}</style><p class=kw>{STUFFED}</p>",  # where?
        f"<link rel=stylesheet href=a.css><p class=kw>{STUFFED}</p>",  # external ones are not fetched
        f"<!-- <p style='display:none'> --><p>{STUFFED}</p>",
    ],
)
def test_text_that_is_shown_or_may_be_is_not_hidden(html: str) -> None:
    assert hidden(f"{OWN}{html}") == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("white", "#FFF"), ("#ffffff", "ffffff"), ("rgb(255 0 0)", "red"), ("rgba(0,0,0)", "black"),
     ("Navy", "#000080"), ("peachpuff", "PeachPuff")],
)  # fmt: skip
def test_colours_are_equal_however_they_are_written(one: str, other: str) -> None:
    assert colour(one) == colour(other) != ""


# What is hidden


AWAY = "style='position:absolute; left:-9999px'"
LABELS = "".join(f"<p><span class=sr-only {AWAY}>Link number</span> {n}</p>" for n in range(90))
MENU = "".join(f"<li><a href=/{n}>Cheap flights</a>" for n in range(90))
STARS = "<div>5 out of 5 stars</div>" * 30
CELLS = f"<tr>{'<td>yes<td>no' * 20}" * 9


@pytest.mark.parametrize(
    "html",
    [
        f"<div>{PROSE} {PROSE}</div>",  # a tab, an accordion: sentences repeat few words
        f"<nav>{STUFFED}</nav>",
        f"<ul>{MENU}</ul>",
        f"<div role=dialog>{STUFFED}</div>",
        f"<dialog>{STUFFED}</dialog>",
        f"<select>{'<option>cheap flights to the sea of many islands and back ' * 20}</select>",
        f"<label>{STUFFED}</label>",
        f"<table>{CELLS}</table>",
        f"<pre>{'x = x + 1 ' * 90}</pre>",
        f"<form>{STUFFED}</form>",
        STARS,
        "<p>1 2 3 4 5 6 7 8 9 10</p>" * 20,
        "<p>We use cookies. Cookies help us to serve you; by going on you accept cookies.</p>",
        f"<script>{STUFFED}</script><template>{STUFFED}</template><noscript>{STUFFED}</noscript>",
    ],
)
def test_honest_hiding_is_no_mark(html: str) -> None:
    assert hidden(f"{OWN}<div style='display:none'>{html}</div>") == 0


@pytest.mark.parametrize(
    "html",
    [
        f"<a {AWAY} href='#main'>Skip to content</a>{LABELS}",  # for screen readers
        f"<nav><div><p style='display:none'>{STUFFED}</p></div></nav>",  # a submenu
    ],
)
def test_nor_are_single_labels_and_what_is_within_a_navigation(html: str) -> None:
    assert hidden(f"{OWN}{html}") == 0


def words(count: int, visible: int = 1) -> int:
    return hidden(f"<p>{'visible ' * visible}</p><p style='display:none'>{'cheap ' * count}</p>")


def test_it_takes_many_words_that_are_a_share_of_the_page() -> None:
    assert (words(FEWEST_WORDS - 1), words(FEWEST_WORDS)) == (0, FEWEST_WORDS)
    most = round(FEWEST_WORDS / SHARE) - FEWEST_WORDS
    assert (words(FEWEST_WORDS, most), words(FEWEST_WORDS, most + 1)) == (FEWEST_WORDS, 0)


def test_short_lines_do_not_count() -> None:
    def lines(length: int) -> int:
        line = f"<p>{'cheap ' * length}</p>"
        return hidden(f"{OWN}<div hidden>{line * FEWEST_WORDS}</div>")

    assert (lines(IN_A_LINE - 1), lines(IN_A_LINE)) == (0, IN_A_LINE * FEWEST_WORDS)


def test_half_of_the_words_are_five() -> None:
    few, others = "one two three four five " * 10, " ".join(f"other{n}" for n in range(51))
    more = " ".join(others.split()[:-1])

    assert hidden(f"{OWN}<p hidden>{few}{more}</p>") == 100
    assert hidden(f"{OWN}<p hidden>{few}{others}</p>") == 0


def test_what_is_said_of_a_page_otherwise_is_as_before() -> None:
    few = "cheap " * FEWEST_WORDS
    shown, marked = (parse(f"{OWN}<p {name}>{few}</p>".encode(), URL) for name in ("title=a", "hidden"))

    assert (shown.text, shown.headings, shown.links) == (marked.text, marked.headings, marked.links)
    assert (shown.hidden, marked.hidden) == (0, FEWEST_WORDS)
    (span,) = marked.around  # as anything that is not displayed
    assert shown.around == () and marked.text[slice(*span)].split() == few.split()


PIECES = st.sampled_from(
    [
        *("<p hidden>", "</p>", "<div style='display:none'>", "<div>", "</div>", "<p class=a>", "<p>"),
        *("<body bgcolor=white>", "<table bgcolor=white>", "<td>", "</table>", "<font color=white>"),
        *("</font>", "<style>.a{display:none}", "<style>p{color:#fff}a{background:#fff}", "</style>"),
        *("{", "}", ";", "a ", "b\n", "<a href=a>", "</a>", "<nav>", "<pre>", "<form>", "</form>"),
        *("<title>", "</title>", "<noscript>", "@media x{", "/*", "<p style=':-;'>", "<svg>", STUFFED),
        f"<b style='visibility:visible'>{STUFFED}",
    ]
)


@given(st.lists(PIECES, max_size=30))
def test_whatever_a_page_has_no_more_is_hidden_than_it_says(pieces: list[str]) -> None:
    page = parse("".join(pieces).encode(), URL)

    assert page.hidden == 0 or FEWEST_WORDS <= page.hidden <= len(page.text.split())


# What becomes of the mark


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    """Two pages that say the same, one of them with hidden words, and an index of them."""
    said = f"Cheap flights. {PROSE}"
    marked = entry((f"{URL}marked", "Cheap flights", said))
    assert marked.text
    marked = replace(marked, text=marked.text._replace(hidden=80))
    publish(tmp_path, [marked, entry((f"{URL}honest", "Cheap flights", said))])
    return tmp_path


def test_a_marked_page_ranks_lower_and_says_why(crawl_dir: Path) -> None:
    before, after = (dict(Searcher(crawl_dir, spam=spam).rank("flights")) for spam in (1, 0.25))
    assert after == pytest.approx({1: before[1] * 0.25, 2: before[2]})

    hits = Searcher(crawl_dir).search("flights", explain=True)
    assert [hit.number for hit in hits.hits] == [2, 1]
    (part,) = [part for part in hits.explanations[1] if part.what == "hidden text"]
    assert part.detail == f"80 of {len(f'Cheap flights. {PROSE}'.split())} words: × 0.5"
    assert part.contribution == pytest.approx(-after[1] * 2)
    assert "hidden text" not in {part.what for part in hits.explanations[0]}


def test_the_mark_is_still_there_in_an_index_that_is_built_anew(crawl_dir: Path) -> None:
    before = Searcher(crawl_dir).rank("flights")
    shutil.rmtree(crawl_dir / "index")

    reindex(crawl_dir)

    assert Searcher(crawl_dir).rank("flights") == before


ROUTES = {
    "/": Answer("<title>Start</title><a href=/marked>one</a> <a href=/honest>other</a>"),
    "/marked": Answer(
        f"<title>Cheap flights</title><p>Cheap flights. {PROSE}</p><p style='color:#fff;background:#fff'>"
        f"{'deals tickets ' * 40}</p>"
    ),
    "/honest": Answer(
        f"<title>Cheap flights</title><p>Cheap flights. {' '.join(reversed(PROSE.split()))}</p>"
        f"<p style='color:#000;background:#fff'>{'deals tickets ' * 40}</p>"
    ),
}


@pytest.mark.slow
def test_a_crawled_page_with_hidden_words_ranks_below_the_same_page_without(tmp_path: Path, run: Run) -> None:
    crawled = tmp_path / "crawl"
    with sites(site=dict(ROUTES)) as web:
        done = crawl(crawled, "index", "-a", f"seeds={web['site'].url}/", ITEM_PIPELINES=WITH_INDEX)
        assert done.status == 0, done.log

    def ranked() -> list[tuple[str, list[str]]]:
        hits = json.loads(run("search", "flights", "--explain", "--json").out)["hits"]
        whys = [
            [part["detail"] for part in hit["explanation"] if part["what"] == "hidden text"] for hit in hits
        ]
        return [(hit["url"].rpartition("/")[2], why) for hit, why in zip(hits, whys, strict=True)]

    total = len(f"Cheap flights. {PROSE}".split()) + 80
    expected = [("honest", []), ("marked", [f"80 of {total} words: × 0.5"])]
    reindex(crawled)
    assert ranked() == expected

    for view in ("index", "anchors", "ranks", "vocabulary"):
        shutil.rmtree(crawled / view, ignore_errors=True)
    for file in crawled.glob("catalog.sqlite*"):
        file.unlink()
    run("rebuild")
    reindex(crawled)
    assert ranked() == expected
