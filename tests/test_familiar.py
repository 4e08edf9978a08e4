"""Familiar pages: what the catalog cannot call near, as it is short, or since its server answers any path."""

from __future__ import annotations

import pytest

from webcrawler.archive.familiar import ASKED_AFTER, PATIENCE, Familiar
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.text import simhash
from webcrawler.urls import server, url_id

HOME = "http://www.a.test"
LONG = " ".join(f"word{n} or{n}" for n in range(100))


def entry(path: str, text: str, *links: str, reason: str = "document", home: str = HOME) -> Entry:
    url = home + path
    lease = Lease(url_id(url), url, url, server(url), 1)
    found = tuple(Link(link, url_id(link), link) for link in links)
    said = Text("", "", "", "", text)
    return Entry(Fetch(lease, "done", reason, 1.0), links=found, text=said, simhash=simhash(text))


DAYS = [entry(f"/calendar/2026/11/{day:02}", f"{day} November 2026. Nothing is planned.") for day in range(9)]
SHORT = [
    ("the days of a calendar", DAYS[1], True),
    ("another word", entry("/calendar/2026/12/01", "1 December 2026. Nothing is planned."), False),
    ("the words of its own URL", entry("/calendar/party", "Party. Nothing is planned."), True),
    ("another host of the domain", entry("/x", "nothing is planned", home="http://b.a.test"), True),
    ("another domain", entry("/x", "nothing is planned", home="http://b.test"), False),
    ("a link of another shape", entry("/x", "nothing is planned", HOME + "/month/list"), False),
    ("no text at all", entry("/y", ""), True),
]


@pytest.mark.parametrize(("_", "page", "expected"), SHORT, ids=[row[0] for row in SHORT])
def test_a_short_page_repeats_where_it_has_no_word_and_no_link_that_is_new(
    _: str, page: Entry, expected: bool
) -> None:
    familiar = Familiar()
    assert not any(familiar.repeats(DAYS[n % 9]) for n in range(PATIENCE + 1))

    assert familiar.repeats(page) == expected


def test_pages_that_say_something_new_earn_patience_for_others() -> None:
    familiar = Familiar()
    photos = [entry(f"/photo/{n}", f"sunset {word}") for n, word in enumerate(["bay", "hill", "lake", "sea"])]
    for page in (*[DAYS[0]] * (PATIENCE + 1), *photos):
        assert not familiar.repeats(page)

    assert [familiar.repeats(DAYS[1]) for _ in photos] == [False] * len(photos)
    assert familiar.repeats(DAYS[2])


def test_a_page_like_that_of_an_impossible_path_is_a_repeat() -> None:
    familiar = Familiar()
    before, missing = entry("/a", f"Sorry, no a. {LONG}"), entry("/b", f"Sorry, no b here. {LONG}")
    probe = entry("/0123-no-such-page", f"Sorry, no 0123. {LONG}", reason="probe")

    assert not familiar.repeats(before)
    familiar.repeats(probe)
    assert familiar.repeats(missing)
    assert not familiar.repeats(entry("/c", " ".join(f"quite{n} another" for n in range(100))))
    assert not familiar.repeats(entry("/b", f"Sorry, no b here. {LONG}", home="http://other.test"))


def test_a_server_is_suspect_once_its_repeats_are_clearly_more_than_its_new_pages() -> None:
    familiar, repeat, fresh = Familiar(), (HOME, True), (HOME, False)

    assert familiar.suspects([fresh] * 50 + [repeat] * (ASKED_AFTER - 1)) == []
    assert familiar.suspects([fresh, fresh, repeat, repeat]) == []
    assert familiar.suspects([("http://b.test", True), repeat, repeat]) == [HOME]
    assert familiar.suspects([repeat, fresh, repeat] * 9) == []
