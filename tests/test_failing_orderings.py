"""A user's ordering that fails in the middle of a crawl costs no page."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from failing_orderings import FailsLater
from localweb import Answer, crawl, sites

from webcrawler.errors import BadInput
from webcrawler.frontier import Ordering, Source
from webcrawler.orderings import guarded
from webcrawler.orderings.registry import guard
from webcrawler.records import Lease, Link

PAGES = 30
LINK = Link("http://a.test/", 1, "http://a.test/")
LEASE = Lease(1, "http://a.test/", "http://a.test/", "http://a.test", 1, note=7)
SOURCE = Source(priority=-5, note=3)


def children(number: int) -> Answer:
    """A page that links to two further ones."""
    further = [n for n in (2 * number, 2 * number + 1) if n <= PAGES]
    links = "".join(f'<a href="/{n}">page {n}</a> ' for n in further)
    return Answer(f"<title>Page {number}</title><p>Words of page {number}.</p>{links}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "calls"), [("first_priority", 20), ("note", 20), ("page_note", 20), ("learn", 4), ("plan", 4)]
)
def test_each_page_is_a_document_and_one_line_says_what_failed(
    tmp_path: Path, method: str, calls: int
) -> None:
    routes = {"/": children(1), **{f"/{n}": children(n) for n in range(2, PAGES + 1)}}
    mode = f"failing_orderings.FailsLater?method={method}&calls={calls}"
    # All say nearly the same, and nothing more is to be asked for.
    settings = {"BATCH_DOCUMENTS": 2, "BUDGET_REPEATS": 0}

    with sites(a=routes) as found:
        site = found["a"]
        done = crawl(tmp_path, "index", "-a", f"mode={mode}", "-a", f"seeds={site.url}/", **settings)

    assert done.documents() == {site.url + path for path in routes}
    assert sorted(site.pages) == sorted(routes)  # once each
    states = done.frontier["states"]
    assert (states["done"], states["queued"], states["leased"], states["failed"]) == (PAGES, 0, 0, 0)
    assert done.status == 0
    (line,) = [line for line in done.log.splitlines() if "ZeroDivisionError" in line]
    assert f"mode={mode}: {method} failed: ZeroDivisionError: integer division or modulo by zero;" in line


def test_what_fails_at_once_is_bad_input() -> None:
    with pytest.raises(BadInput, match="ZeroDivisionError"):
        guarded("failing_orderings.FailsLater?method=first_priority&calls=1")


@pytest.mark.parametrize("answer", ["", "not a number"])
def test_a_link_has_the_priority_of_its_page_then_and_a_page_keeps_its_note(answer: str) -> None:
    assert failing("first_priority", answer).first_priority(LINK, SOURCE) == -5
    assert failing("first_priority", answer).first_priority(LINK) == 0
    assert failing("note", answer).note(LINK, SOURCE) == 0
    assert failing("page_note", answer).page_note(None, LEASE) == 7
    assert failing("plan", answer).plan() == ([], [])


def test_each_failure_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    by = failing("first_priority", "")

    with caplog.at_level(logging.ERROR):
        for _ in range(5):
            by.first_priority(LINK)

    assert len(caplog.records) == 1


def failing(method: str, answer: str) -> Ordering:
    return guard(FailsLater(method, answer, calls="1"), "mine")
