"""Which search form is asked, for which word, and when: by what catalog and frontier say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crawled import fetched, link
from frontiers import links
from test_link_rules import BOUNDED, rules

from webcrawler.archive.catalog import Catalog
from webcrawler.crawl.run.forms import Asker
from webcrawler.frontier import Frontier, inspect
from webcrawler.records import FORM, Entry, Link, Text

A = "http://a.test/"
FIND, SEEK = A + "find?q=", A + "seek?q="
WORDS = "wombats burrow while echidnas and platypuses forage beside creeks"


def page(url: str, *found: Link, words: str = WORDS) -> Entry:
    return replace(fetched(url, *found), text=Text("", "", "", "", words))


class Library:
    """A catalog, and what is asked of its forms."""

    def __init__(self, folder: Path, frontier: Frontier) -> None:
        self.folder, self.frontier = folder, frontier
        self.catalog = Catalog(folder / "catalog.sqlite")

    def write(self, *entries: Entry) -> None:
        self.catalog.write([(entry, None) for entry in entries])

    def asker(self, *blanks: str, most: int = 9, site_most: int = 9, **given: Any) -> Asker:
        """One that knows the forms of the catalog, and these of its first page."""
        if blanks:
            self.write(page(A, *(link(blank, rel=FORM) for blank in blanks)))
        found = rules(self.folder, **{"FORMS": A + "*", **given})
        made = Asker(self.catalog, self.frontier, found, most, site_most)
        made.ask()
        return made

    def waiting(self) -> list[str]:
        """The queries that wait; each is decided then, as if it had brought nothing yet."""
        urls = inspect.peek(self.frontier, 9)
        self.frontier.refuse(urls, "removed")
        return urls


@pytest.fixture
def library(tmp_path: Path, frontier: Frontier) -> Iterator[Library]:
    made = Library(tmp_path, frontier)
    with closing(made.catalog):
        yield made


def test_a_word_of_the_site_is_asked_at_a_time(library: Library) -> None:
    asker = library.asker(FIND)

    assert asker.ask()
    (query,) = library.waiting()
    assert query.removeprefix(FIND) in WORDS
    assert asker.queries == 1

    library.write(page(query, link(A + "record"), words="records"))
    assert asker.ask()
    (other,) = library.waiting()
    assert other not in (query, FIND + "records")  # words of results are no words of the site


def test_nothing_is_asked_while_something_of_its_server_waits(library: Library) -> None:
    asker = library.asker(FIND)
    asker.ask()
    library.waiting()
    library.frontier.discover(links(A + "page"))

    assert asker.ask()  # there may be more
    assert asker.queries == 1

    library.waiting()
    library.write(page(A + "page"))
    asker.ask()
    assert asker.queries == 2


def test_the_forms_of_a_server_are_asked_one_after_the_other(library: Library) -> None:
    asker = library.asker(FIND, SEEK)

    asker.ask()

    assert len(library.waiting()) == 1


def test_a_form_whose_hidden_fields_differ_is_one(library: Library) -> None:
    asker = library.asker(A + "find?from=top&q=", A + "find?from=foot&q=", most=1)
    asker.ask()
    (query,) = library.waiting()
    library.write(page(query, link(A + "record")))

    asker.ask()

    assert library.waiting() == []


@pytest.mark.parametrize("forms", ["http://b.test/*", "http://a.test/find*"])
def test_forms_of_pages_that_were_not_chosen_are_not_asked(library: Library, forms: str) -> None:
    """Both the page with the form and what it asks for have to be."""
    assert not library.asker(FIND, FORMS=forms).ask()
    assert library.waiting() == []


def test_what_is_out_of_the_bounds_of_the_crawl_is_not_asked(library: Library) -> None:
    assert not library.asker("http://b.test/find?q=", FORMS="*.test", job=BOUNDED).ask()
    assert library.waiting() == []


@pytest.mark.parametrize("limits", [{"most": 2}, {"site_most": 2}])
def test_so_many_words_are_asked_of_a_form_and_of_a_site(library: Library, limits: dict[str, int]) -> None:
    asker = library.asker(FIND, **limits)

    while asker.ask():
        for query in library.waiting():
            library.write(page(query, link(f"{A}{query[-3:]}"), words=""))

    assert asker.queries == 2


def test_what_an_earlier_crawl_has_asked_is_not_asked_again(library: Library) -> None:
    library.write(page(A, link(FIND, rel=FORM), words="wombats"))
    library.asker().ask()
    (query,) = library.waiting()
    library.write(fetched(query, reason="not-found"))

    later = library.asker()

    assert not later.ask()
    assert (later.queries, library.waiting()) == (0, [])
