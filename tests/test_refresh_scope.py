"""Documents outside the scope of crawls: what its owner has excluded is not checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Run
from frontiers import links, visit_all
from inprocess import command
from localweb import Site
from test_catalog import fetch, page, write
from test_freshness import DAY, outlook_of, told
from test_refresh import LivingSite, Page, once

from webcrawler.archive.catalog import Catalog
from webcrawler.clock import now
from webcrawler.frontier import Frontier
from webcrawler.records import Entry
from webcrawler.refresh import Schedule, admission
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import Collection
from webcrawler.scope import change

IN, OUT, NEW = "http://a.test/docs/in", "http://a.test/out", "http://a.test/new"
DOCS = "http://a.test/docs/*"


def ago(days: float) -> float:
    return now() - days * DAY


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """Two documents, both fetched ten days ago; their server has been asked how it says "not found"."""
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        write(catalog, *[page(url, ago(10), url) for url in (IN, OUT)])
        catalog._db.execute("UPDATE servers SET probed = 1")
        yield catalog


@pytest.fixture
def crawled(frontier: Frontier) -> Frontier:
    frontier.discover(links(IN, OUT, NEW))
    visit_all(frontier)
    return frontier


def include(tmp_path: Path, *patterns: str) -> None:
    change(tmp_path, lambda scope: replace(scope, include=patterns))


@pytest.fixture
def admits(catalog: Catalog, tmp_path: Path, crawled: Frontier) -> Admission:
    return Admission(Collection(catalog, tmp_path, Schedule()), catalog, crawled, 0.3, 0.0)


def queued(admits: Admission, frontier: Frontier, refresh: str) -> set[str]:
    """By one step of a crawl that is begun so."""
    frontier.refresh = f"once {ago(0)}" if refresh == "once" else refresh
    admits.step()
    return set(visit_all(frontier))


@pytest.mark.parametrize("refresh", ["once", "yes", "only"])
def test_only_what_is_within_the_scope_is_queued(
    admits: Admission, tmp_path: Path, crawled: Frontier, refresh: str
) -> None:
    include(tmp_path, DOCS)

    assert queued(admits, crawled, refresh) == {IN}


def test_a_pass_with_nothing_left_within_the_scope_is_over(
    admits: Admission, tmp_path: Path, crawled: Frontier
) -> None:
    include(tmp_path, "http://b.test/*")

    assert queued(admits, crawled, "once") == set()
    assert (crawled.checks(), crawled.refresh) == (0, "")


def test_audits_are_drawn_within_the_scope(
    admits: Admission, tmp_path: Path, crawled: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "AUDITS", 1.0)
    include(tmp_path, DOCS)

    assert queued(admits, crawled, "yes") == {IN}


def test_what_was_missing_when_it_left_the_scope_is_not_asked_for_again(
    admits: Admission, catalog: Catalog, tmp_path: Path, crawled: Frontier
) -> None:
    write(catalog, *[Entry(fetch(url, ago(5), "not-found", status=404)) for url in (IN, OUT)])
    include(tmp_path, DOCS)

    assert queued(admits, crawled, "yes") == {IN}


def test_a_document_that_comes_later_is_held_against_the_scope_too(catalog: Catalog, tmp_path: Path) -> None:
    include(tmp_path, DOCS)
    collection = Collection(catalog, tmp_path, Schedule())
    assert collection.outside().tolist() == [False, True]

    write(catalog, page(NEW, ago(9), "new"))
    collection.follow()

    assert collection.outside().tolist() == [False, True, True]


def test_another_scope_holds_from_the_next_step_on(
    admits: Admission, tmp_path: Path, crawled: Frontier
) -> None:
    include(tmp_path, DOCS)
    assert queued(admits, crawled, "yes") == {IN}

    include(tmp_path)
    assert queued(admits, crawled, "yes") == {OUT}


def test_the_share_outside_is_told(run: Run, catalog: Catalog, tmp_path: Path) -> None:
    include(tmp_path, DOCS)

    found = told(catalog, tmp_path)

    assert (found["documents"], found["outside_scope"]) == (2, 1)
    assert [one["url"] for one in found["oldest"]] == [IN]
    said = run("freshness", folder=tmp_path).out
    assert "1 document is outside the scope and not checked: `webcrawler remove --out-of-scope`" in said


def test_no_scope_is_nothing_to_tell(run: Run, catalog: Catalog, tmp_path: Path) -> None:
    assert told(catalog, tmp_path)["outside_scope"] == 0
    assert "outside" not in run("freshness", folder=tmp_path).out


def test_a_page_outside_says_why_it_does_not_come_again(catalog: Catalog, tmp_path: Path) -> None:
    include(tmp_path, DOCS)

    assert outlook_of(catalog, tmp_path, OUT)["why"].endswith("it is outside the scope")


@pytest.fixture
def living() -> Iterator[LivingSite]:
    site = LivingSite(Site().start(), {"": Page(["docs/a", "b"]), "docs/a": Page([]), "b": Page([])})
    yield site
    site.site.stop()


@pytest.mark.slow
def test_a_narrowed_scope_is_checked_no_wider_and_the_pass_ends(tmp_path: Path, living: LivingSite) -> None:
    once(tmp_path, living)

    after = once(tmp_path, living, "-a", f"exclude={living.site.url}/b", "-a", "refresh=once")

    assert sorted(living.asked) == ["", "docs/a"]
    assert "checked/refused" not in after.log
    assert len(after.documents()) == 3
    assert after.fetch(f"{living.site.url}/b").reason == "document"  # nothing is added to its history
    assert json.loads(command("freshness", "--json", folder=tmp_path).out)["outside_scope"] == 1
