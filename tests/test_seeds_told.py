"""What is said of a seed that fails: why, where it leads, and what to do; once, and again at the end."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from crawled import crawled, fetched

from webcrawler.archive.catalog import Catalog
from webcrawler.crawl.run.seeds import AFTERWARDS, Seeds
from webcrawler.job import seed_link
from webcrawler.records import Fetch, Lease, Link

A, B = "http://a.test/", "http://b.test/"


def fetch(url: str, status: int = 0, error: str = "", to: Link | None = None, **lease: Any) -> Fetch:
    link = seed_link(url)
    of = Lease(link.id, link.url, link.spelling, url.rstrip("/"), 1, **lease)
    return Fetch(of, "failed", "", 1.0, status=status, error=error, target=to)


def told(caplog: pytest.LogCaptureFixture, outcome: str, *fetches: Fetch) -> list[str]:
    """What is said when the last one has come to that."""
    seeds = Seeds([seed_link(A)])
    for one in fetches:
        seeds.fetched(one)
    seeds.settled(fetches[-1].lease, outcome)
    return caplog.messages


def test_a_failure_is_told_with_its_status_and_advice(caplog: pytest.LogCaptureFixture) -> None:
    assert told(caplog, "failed/not-found", fetch(A, 404)) == [
        f"the seed {A} failed: not-found (status 404); check the address{AFTERWARDS}"
    ]


def test_a_reason_without_advice_leads_to_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    answer = f"see `webcrawler frontier explain`{AFTERWARDS}"
    assert told(caplog, "quarantined", fetch(A, 200, "killed")) == [
        f"the seed {A} failed: quarantined (status 200, killed); {answer}"
    ]


def test_what_was_refused_before_it_was_asked_needs_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = told(caplog, "failed/robots-disallowed", fetch(A, error="Refused: robots-disallowed"))

    assert line.startswith(f"the seed {A} failed: robots-disallowed; its robots.txt forbids it")


@pytest.mark.parametrize(("tries", "lines"), [(0, 1), (1, 0)])
def test_of_several_tries_the_first_is_told(caplog: pytest.LogCaptureFixture, tries: int, lines: int) -> None:
    found = told(caplog, "retry/timeout", fetch(A, error="late", tries=tries))

    assert found == [f"the seed {A} failed: timeout (late); it is tried again"] * lines


def test_a_seed_that_leads_elsewhere_is_told_with_where(caplog: pytest.LogCaptureFixture) -> None:
    assert told(caplog, "failed/not-found", fetch(A, 301, to=seed_link(B)), fetch(B, 404)) == [
        f"the seed {A}, which leads to {B}, failed: not-found (status 404); check the address{AFTERWARDS}"
    ]


@pytest.mark.parametrize(
    ("outcome", "one"),
    [
        ("done/document", fetch(A, 200)),
        ("failed/not-found", fetch(B, 404)),  # nobody's seed
        ("failed/not-found", fetch(A, 404, was="done/document")),  # a check
    ],
)
def test_of_anything_else_nothing_is_said(caplog: pytest.LogCaptureFixture, outcome: str, one: Fetch) -> None:
    assert told(caplog, outcome, one) == []


@pytest.mark.parametrize(
    ("seeds", "failing", "are_all"),
    [
        ((A,), {A: "not-found"}, True),
        ((A, A), {A: "not-found"}, True),
        ((A, B), {A: "not-found"}, False),
        ((B,), {}, False),
        ((A, "http://never.test/"), {A: "not-found"}, False),
        ((), {A: "not-found"}, False),  # of earlier runs, as no page links to it
    ],
)
def test_seeds_have_failed_where_each_was_fetched_and_none_is_there(
    tmp_path: Path, seeds: tuple[str, ...], failing: dict[str, str], are_all: bool
) -> None:
    folder = crawled(tmp_path, fetched(A, reason="not-found"), fetched(B))

    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        named = Seeds(map(seed_link, seeds))
        assert named.failing(catalog) == failing
        assert named.are_all(failing, catalog) == are_all
