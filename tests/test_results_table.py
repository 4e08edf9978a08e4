"""What a terminal shows of a real-time search, from journals made up here."""

from __future__ import annotations

import io
import logging
import sys
from typing import Any

import live
import pytest
from live import found as hit
from rich.cells import cell_len
from rich.console import Console

from webcrawler.commands._results_table import ENDINGS, FILE_COLUMNS, ROWS, ResultsTable
from webcrawler.realtime.journal import KEEP, Found, Journal

VIA = {"url": "http://a.test/", "title": "Nucleic acids", "anchor": "double helix"}


def journal(*hits: Found, **changes: Any) -> Journal:
    return live.journal("j", **{"state": "finished", "reason": "enough", "hits": list(hits), **changes})


def at_the_end(*hits: Found, terminal_columns: int = 0, **changes: Any) -> str:
    """What is left on a terminal of so many columns, or in a file."""
    written = io.StringIO()
    width, is_terminal = terminal_columns or FILE_COLUMNS, bool(terminal_columns)
    console = Console(file=written, width=width, force_terminal=is_terminal, color_system=None)
    ResultsTable(console).end(journal(*hits, **changes))
    return written.getvalue()


def running(height: int, *hits: Found, width: int = 80, **changes: Any) -> list[str]:
    """The lines drawn while the search goes on."""
    written = io.StringIO()
    console = Console(file=written, width=width, height=height, force_terminal=False)  # no thread draws
    shown = ResultsTable(console)
    shown.update(journal(*hits, state="running", reason="", **changes))
    console.print(shown._draw())
    return written.getvalue().splitlines()


# ---- the final table


def test_a_row_says_rank_relevance_title_url_and_where_it_came_from() -> None:
    lines = at_the_end(hit(1), hit(2, source="web", via=VIA)).splitlines()

    origin = "just found: “double helix” on Nucleic acids"
    assert lines[1].split()[:3] == ["#", "rel.", "page,"]
    assert lines[2].split() == ["1", "1000", "Page", "1", "index"]
    assert lines[3].split() == ["http://a.test/1"]
    assert lines[4].split(maxsplit=4) == ["2", "0500", "Page", "2", origin]
    assert lines[5].split() == ["http://a.test/2"]


@pytest.mark.parametrize(
    ("via", "said"),
    [
        (None, ["just found", "as a seed"]),
        (VIA | {"anchor": ""}, ["just found", "on Nucleic acids"]),  # an image
        (VIA | {"title": ""}, ["just found: “double helix”", "on http://a.test/"]),
    ],
)
def test_what_a_link_does_not_say_is_left_out(via: Any, said: list[str]) -> None:
    text = at_the_end(hit(1, source="web", via=via))

    assert all(part in text for part in said)


def test_the_line_above_counts() -> None:
    text = at_the_end(hit(1), fetched=1234, similar=7, seconds=12.4, waiting=56)

    assert text.splitlines()[0] == "“molecular biology”  1,234 fetched  7 of 20 similar  12 s  56 waiting"
    assert "  7 similar  " in at_the_end(enough=0, similar=7)  # any number
    assert at_the_end(query="").startswith("like the examples  ")


@pytest.mark.parametrize("reason", sorted(ENDINGS.keys() - {"nothing_waits"}))
def test_the_last_line_says_why_it_ended(reason: str) -> None:
    assert at_the_end(hit(1), reason=reason).splitlines()[-1] == ENDINGS[reason]
    assert at_the_end(reason=reason).splitlines()[-1] == f"nothing was found: {ENDINGS[reason]}"


def test_where_all_was_fetched_no_other_order_is_recommended() -> None:
    assert at_the_end(hit(1), reason="nothing_left", waiting=0).splitlines()[-1] == ENDINGS["nothing_waits"]
    assert "strategy" not in ENDINGS["nothing_waits"]


@pytest.mark.parametrize("keep", KEEP)
def test_the_line_before_it_says_what_was_kept(keep: str) -> None:
    line = at_the_end(hit(1), keep=keep, kept=12, fetched=1249).splitlines()[-2]

    assert line.startswith("kept 12 of 1,249 pages: ")
    assert "kept" not in at_the_end(keep=keep, fetched=0)


def test_the_final_table_has_thirty_rows_at_most() -> None:
    assert at_the_end(*map(hit, range(1, 100))).count("http://") == ROWS == 30


def test_a_note_is_said() -> None:
    assert "note: this is the demo web" in at_the_end(note="this is the demo web").splitlines()


def test_a_url_is_never_cut_in_the_end() -> None:
    url = "http://a.test/" + "q" * 300

    for columns in (0, 60):
        assert url in at_the_end(hit(1, url=url), terminal_columns=columns)  # the terminal breaks the line


@pytest.mark.parametrize("columns", [0, 1, 20, 80])
def test_nothing_is_left_at_the_end_of_a_line(columns: int) -> None:
    lines = at_the_end(hit(1), hit(2, source="web", via=VIA), terminal_columns=columns).splitlines()

    assert lines == [line.rstrip() for line in lines]


# ---- while it goes on


@pytest.mark.parametrize("height", [1, 3, 4, 5, 10, 24, 200])
def test_as_many_rows_as_fit_the_terminal(height: int) -> None:
    lines = running(height, *map(hit, range(1, 100)), note="a note")

    assert len(lines) <= max(height - 1, 3)  # what it says of the whole is always there
    assert sum("http" in line for line in lines) == min(ROWS, max(0, (height - 4) // 2))


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_no_line_is_longer_than_the_terminal(width: int) -> None:
    long = hit(1, title="word " * 100, url="http://a.test/" + "x" * 300, source="web", via=VIA)

    lines = running(24, long, width=width)

    assert max(map(len, lines)) <= width
    assert len(lines) == 4


def test_a_wide_character_takes_two_columns() -> None:
    lines = running(24, hit(1, title="分子生物学" * 40))

    assert 70 < max(map(cell_len, lines)) <= 80


def test_it_says_that_it_is_ending() -> None:
    written = io.StringIO()
    shown = ResultsTable(Console(file=written, width=80, force_terminal=True), is_ending=lambda: True)
    shown.update(journal(state="running"))
    shown.close()

    assert "ending: downloads under way are finished and indexed" in written.getvalue()


def test_nothing_live_without_a_terminal() -> None:
    written = io.StringIO()
    shown = ResultsTable(Console(file=written, width=80, force_terminal=False))

    shown.update(journal(hit(1), state="running"))
    shown.close()

    assert written.getvalue() == ""


def test_a_log_on_the_same_terminal_comes_above_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr(written, "isatty", lambda: True)
    handler = logging.StreamHandler(written)
    monkeypatch.setattr(logging.root, "handlers", [handler])
    shown = ResultsTable(Console(file=written, width=80, force_terminal=True))

    shown.update(journal(hit(1), state="running"))
    logging.getLogger("x").warning("a server is slow")
    while_live = handler.stream
    shown.close()

    assert while_live is not written
    assert handler.stream is written
    assert written.getvalue().rindex("a server is slow\n") < written.getvalue().rindex("Page 1")


# ---- text of strangers


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J\x1b]0;owned\x07", "a\rb\nc\x9b31m", "[bold red]x[/]", "\u202egnp.exe", "\ud800", ":smiley:"],
)
def test_texts_of_pages_are_harmless(text: str) -> None:
    via = {"url": "http://a.test/" + text, "title": text, "anchor": text}
    hostile = hit(1, title=text, url="http://a.test/" + text, source="web", via=via)

    for shown in (at_the_end(hostile, query=text, note=text), "\n".join(running(24, hostile, query=text))):
        assert not set(shown) & set("\x1b\r\x07\x9b\u202e\ud800")
        assert text.startswith(("\x1b", "a", "\u202e", "\ud800")) or text in shown  # it is not markup


def test_many_combining_marks_make_no_endless_line() -> None:
    assert len(at_the_end(hit(1, title="e" + "\u0301" * 100_000))) < 1000
