"""`refresh=once`: a pass checks each document once, whoever has checked it, and is over then."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from frontiers import links, visit_all
from test_catalog import failure, page, write
from test_freshness import ago

from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Frontier
from webcrawler.refresh import Schedule
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import Collection

A, B = "http://a.test/1", "http://a.test/2"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """Two documents of ten days ago, of a server that was asked how it says "not found"."""
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        write(catalog, page(A, ago(10)), page(B, ago(10)))
        catalog._db.execute("UPDATE servers SET probed = 1")
        yield catalog


@pytest.fixture
def crawled(frontier: Frontier) -> Frontier:
    frontier.discover(links(A, B))
    visit_all(frontier)
    return frontier


def refresher(catalog: Catalog, folder: Path, frontier: Frontier) -> Admission:
    return Admission(Collection(catalog, folder, Schedule()), catalog, frontier, 0.3, 0.0)


def test_each_document_is_checked_once_and_then_the_pass_is_over(
    catalog: Catalog, tmp_path: Path, crawled: Frontier
) -> None:
    crawled.refresh = f"once {ago(1)}"
    admission = refresher(catalog, tmp_path, crawled)

    admission.step()
    assert sorted(visit_all(crawled)) == [A, B]
    assert crawled.refresh
    write(catalog, page(A, ago(0.5)), page(B, ago(0.5)))
    admission.step()

    assert (visit_all(crawled), crawled.refresh) == ([], "")


def test_what_failed_in_the_second_in_which_the_pass_began_is_not_asked_for_again(
    catalog: Catalog, tmp_path: Path, crawled: Frontier
) -> None:
    began = math.floor(ago(1)) + 0.2
    crawled.refresh = f"once {began}"
    write(catalog, failure(A, began + 0.3, "server-error"), page(B, began + 0.3))

    refresher(catalog, tmp_path, crawled).step()

    assert (visit_all(crawled), crawled.refresh) == ([], "")


def test_another_refresher_goes_on_with_what_is_left(
    catalog: Catalog, tmp_path: Path, crawled: Frontier
) -> None:
    crawled.refresh = f"once {ago(1)}"
    write(catalog, page(A, ago(0.5)))  # before the first one was killed

    refresher(catalog, tmp_path, crawled).step()

    assert visit_all(crawled) == [B]


def test_what_was_checked_while_a_step_was_made_is_not_checked_again(
    catalog: Catalog, tmp_path: Path, crawled: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawled.refresh = f"once {ago(1)}"
    admission, follow = refresher(catalog, tmp_path, crawled), Collection.follow

    def overtaken(collection: Collection) -> object:
        found = follow(collection)
        write(catalog, page(A, ago(0.5)))  # what another refresher had queued
        return found

    monkeypatch.setattr(Collection, "follow", overtaken)
    admission.step()

    assert visit_all(crawled) == [B]


def test_a_check_in_the_second_in_which_the_pass_began_counts(
    catalog: Catalog, tmp_path: Path, crawled: Frontier
) -> None:
    """The collection keeps whole seconds, by which it is older than the pass."""
    began = math.floor(ago(1)) + 0.6
    crawled.refresh = f"once {began}"
    write(catalog, page(A, began + 0.3))

    admission = refresher(catalog, tmp_path, crawled)
    admission.step()
    assert visit_all(crawled) == [B]
    write(catalog, page(B, ago(0.5)))
    admission.step()

    assert (visit_all(crawled), crawled.refresh) == ([], "")
