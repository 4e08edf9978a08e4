"""Hits lead to the section that answers, and show an extract of what the page says itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from searched import entry, publish

from webcrawler.archive.catalog import Catalog
from webcrawler.commands._hits import as_text
from webcrawler.records import Entry, Hit, Section, Text
from webcrawler.search import Searcher
from webcrawler.search.snippets import Snippets

URL = "http://a.test/manual"
FILLER = "Words that nobody looks for make this a page of some length."
PARTS = [  # fragment, heading, text
    ("start", "Starting", "Call open before anything else, and close when all is done."),
    ("cursor", "Cursors", "A cursor reads rows. Rows of a table are read in the order of their keys."),
    ("lock", "Locking a table", f"A table is locked while it is written. {FILLER}"),
    ("wait", "Waiting", f"Who waits for a lock, waits for ever. {FILLER} {FILLER} The table may be large."),
]


def page(parts: Sequence[tuple[str, str, str]], title: str = "The manual") -> Entry:
    body, sections = f"{title}\n{FILLER}\n", []
    for fragment, heading, text in parts:
        sections.append(Section(len(body), fragment, heading))
        body += f"{heading}\n{text}\n"
    found = entry((URL, title, body))
    assert found.text
    return replace(found, text=found.text._replace(sections=tuple(sections)))


def hit(folder: Path, query: str, *entries: Entry) -> Hit:
    publish(folder, entries or [page(PARTS)])
    return Searcher(folder, deadline_seconds=60).search(query).hits[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "fragments"),
    [
        ("cursor", ["cursor"]),
        ("rows keys", ["cursor"]),
        ("lock table", ["lock"]),  # in the heading, rather than far apart in the text
        ("waits lock", ["wait"]),
        ("order of their keys", ["cursor"]),
        ("while it is written", ["lock"]),
        ("close", ["start"]),
        ("manual", []),  # the page's title
        ("manual cursor", ["cursor"]),  # the title counts for all sections
        ("nobody looks", []),  # before the first section
    ],
)
def test_a_hit_leads_to_the_section_that_answers(tmp_path: Path, query: str, fragments: list[str]) -> None:
    found = hit(tmp_path, query)

    assert [one.url for one in found.sections][: len(fragments) or None] == [f"{URL}#{f}" for f in fragments]
    assert found.href == (f"{URL}#{fragments[0]}" if fragments else URL)
    assert found.url == URL


def test_words_of_the_pages_title_say_little_of_its_sections(tmp_path: Path) -> None:
    parts = [
        ("config", "Configuration", f"The git rebase, git rebase format. {FILLER} Not interactive."),
        ("mode", "Interactive mode", f"This lists all commits. {FILLER} {FILLER}"),
    ]
    found = hit(tmp_path, "git rebase interactive", page(parts, title="git-rebase"))

    assert found.href == f"{URL}#mode"


def test_three_sections_are_shown_at_most_the_best_first(tmp_path: Path) -> None:
    parts = [(f"s{number}", f"Part {number}", "yeast " * number) for number in range(1, 6)]

    found = hit(tmp_path, "yeast", page(parts)).sections

    assert [one.heading for one in found] == ["Part 5", "Part 4", "Part 3"]


def test_words_behind_a_short_heading_are_not_its_heading(tmp_path: Path) -> None:
    parts = [("e", "Examples", "Call bake_bread(yeast) twice."), ("b", "bake_bread(yeast)", "What it does.")]

    assert hit(tmp_path, "bake bread", page(parts)).href == f"{URL}#b"


def test_a_section_has_its_heading_and_an_extract_that_does_not_repeat_it(tmp_path: Path) -> None:
    (section,) = hit(tmp_path, "cursor").sections

    assert section.heading == "Cursors"
    assert section.snippet.startswith("A cursor reads rows.")


@pytest.mark.parametrize(
    ("fragment", "quoted"),
    [("über uns", "%C3%BCber%20uns"), ('a"b<c>', "a%22b%3Cc%3E"), ("f(x)/y?z", "f(x)/y?z"), ("50%", "50%25")],
)
def test_a_fragment_becomes_part_of_a_url(tmp_path: Path, fragment: str, quoted: str) -> None:
    assert hit(tmp_path, "yeast", page([(fragment, "About", "yeast")])).href == f"{URL}#{quoted}"


def test_two_sections_may_begin_at_the_same_word(tmp_path: Path) -> None:
    found = page([("one", "First", "honey"), ("two", "Second", "yeast")])
    assert found.text
    first, second = found.text.sections
    same = found.text._replace(sections=(first, second, second._replace(fragment="also-two")))

    assert hit(tmp_path, "yeast", replace(found, text=same)).href == f"{URL}#also-two"


def test_a_section_far_down_a_long_page_is_found_and_shown(tmp_path: Path) -> None:
    parts = [(f"s{number}", f"Part {number}", FILLER * 20) for number in range(200)]

    found = hit(tmp_path, "yeast", page([*parts, ("last", "The end", "At last, yeast is named.")]))

    assert found.href == f"{URL}#last"
    assert found.snippet == "At last, yeast is named."


def test_a_page_with_other_sections_than_the_index_knows_is_led_to_as_a_whole(tmp_path: Path) -> None:
    publish(tmp_path, [page(PARTS)])
    changed = page([])
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        catalog.write([(replace(changed, fetch=replace(changed.fetch, fetched=2e9), digest=b"new"), None)])

    (found,) = Searcher(tmp_path, deadline_seconds=60).search("cursor").hits

    assert (found.sections, found.href) == ((), URL)


def test_a_terminal_shows_the_heading_and_leads_to_the_section(tmp_path: Path) -> None:
    publish(tmp_path, [page([("one", "First", "Yeast and yeast."), ("two", "Second", "Yeast.")])])

    lines = as_text(Searcher(tmp_path, deadline_seconds=60).search("yeast")).splitlines()

    assert lines[3:5] == ["1000 The manual › First", f"     {URL}#one"]
    assert f"     Second: {URL}#two" in lines


# Extracts


def test_an_extract_shows_nothing_that_stands_around_the_content(tmp_path: Path) -> None:
    body = "Yeast menu\nYeast is alive, as bakers and brewers have known for long.\nYeast footer\n"
    text = Text("", "", "", "", body, around=((0, 11), (body.index("Yeast footer"), len(body))))

    found = hit(tmp_path, "yeast", replace(entry((URL, "", "")), text=text))

    assert found.snippet == "Yeast is alive, as bakers and brewers have known for long."


def test_an_extract_shows_no_block_that_repeats_over_the_server(tmp_path: Path) -> None:
    pages = [
        entry((f"http://a.test/{n}", "", f"All about yeast\nword{n} and what follows\nYeast, 2026\n"))
        for n in range(5)
    ]

    assert hit(tmp_path, "yeast word3", *pages).snippet == "word3 and what follows"


@pytest.mark.parametrize(
    ("description", "body", "snippet"),
    [
        ("Of bread", "Yeast and\nmore", "Yeast and more"),
        ("Of bread and yeast", "Sourdough and more", "Of bread and yeast"),
        ("Of bread", "Sourdough and more", "Of bread"),  # the query's word is in the title alone
        ("", f"Sourdough\n{FILLER}", f"… {FILLER}"),
    ],
)
def test_an_extract_is_of_the_text_else_of_the_description_else_of_the_beginning(
    tmp_path: Path, description: str, body: str, snippet: str
) -> None:
    text = Text("Yeast", "", description, "", body)

    assert hit(tmp_path, "yeast", replace(entry((URL, "", "")), text=text)).snippet == snippet


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (f"Locks Tables Rows\n{FILLER}\nA table is locked while it is written by somebody.", "A table is"),
        (f"Locking¶\n{FILLER} Locks are held by whoever writes.", "Locks are held"),  # its own sentence
        (f"Tables\nLocks\n{FILLER}", "Tables Locks Words"),  # there is no sentence with either
    ],
)  # fmt: skip
def test_an_extract_is_of_running_text_rather_than_of_a_list(text: str, begins: str) -> None:
    cut = Snippets(("lock", "tabl")).cut(text)

    assert cut.removeprefix("… ").startswith(begins)
    assert "¶" not in cut


def test_an_extract_is_of_where_an_option_stands() -> None:
    text = "A line of words that say no more than others.\n" * 9 + "Use -Wall to see warnings."

    assert "Use -Wall to see" in Snippets(["-wall"]).cut(text)


@pytest.mark.parametrize(
    ("words", "text", "marked"),
    [
        (["sqlite"], "SQLite and sqlite3: SQLITE_LOCKED_SHAREDCACHE", ["SQLite"]),
        (["sqlite", "lock"], "SQLITE_LOCKED is no SQLITE_LOCKED_VTAB", ["SQLITE_LOCKED"]),
        (["lock"], "locks lock's un_lock", ["locks", "lock's"]),
        (["lock"], "well-locked", ["locked"]),  # a hyphen joins nothing
        (["-wall"], "-Wall or a wall", ["-Wall"]),
        (["wall"], "-Wall or a wall", ["Wall", "wall"]),
        (["c++", "c"], "C++ or C", ["C++", "C"]),
    ],
)
def test_marked_is_what_was_asked_for_and_not_all_that_contains_it(
    words: list[str], text: str, marked: list[str]
) -> None:
    assert [piece for piece, is_marked in Snippets(words).mark(text) if is_marked] == marked
