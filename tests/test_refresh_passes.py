"""`refresh=once`: a pass checks each document once, whoever has checked it, and is over then."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Clock
from frontiers import links, visit_all
from test_catalog import failure, link, page, write
from test_freshness import ago

from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Frontier
from webcrawler.records import Entry
from webcrawler.refresh import Schedule
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import DAY_SECONDS, Collection, now_days

A, B, C = "http://a.test/1", "http://a.test/2", "http://a.test/3"


@pytest.fixture
def catalog(tmp_path: Path, clock: Clock) -> Iterator[Catalog]:
    """Two documents of ten days ago, of a server that was asked how it says "not found"."""
    clock.hold(ago(0))
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


def later(entry: Entry) -> Entry:
    """Under a later lease, whatever the clock says."""
    return replace(entry, fetch=replace(entry.fetch, lease=entry.fetch.lease._replace(token=2)))


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


@pytest.mark.parametrize("days", [0.1, 1, 400])
def test_what_was_fetched_by_a_clock_that_was_ahead_is_checked_once(
    catalog: Catalog, tmp_path: Path, crawled: Frontier, days: float
) -> None:
    write(catalog, page(A, ago(-days)), page(B, ago(-days)))
    crawled.refresh = f"once {ago(0)}"
    admission = refresher(catalog, tmp_path, crawled)

    admission.step()
    assert sorted(visit_all(crawled)) == [A, B]
    write(catalog, later(page(A, ago(0))), later(page(B, ago(0))))
    admission.step()

    assert (visit_all(crawled), crawled.refresh) == ([], "")


def test_a_pass_that_a_clock_ahead_began_ends(catalog: Catalog, tmp_path: Path, crawled: Frontier) -> None:
    """Else all that is fetched from then on would have been fetched before it began."""
    crawled.refresh = f"once {ago(-1)}"
    admission = refresher(catalog, tmp_path, crawled)

    admission.step()
    assert sorted(visit_all(crawled)) == [A, B]
    write(catalog, page(A, ago(0)), page(B, ago(0)))
    admission.step()

    assert (visit_all(crawled), crawled.refresh) == ([], "")


def test_what_is_left_of_a_pass_counts_what_a_clock_ahead_has_fetched(catalog: Catalog) -> None:
    write(catalog, page(A, ago(-1)), page(B, ago(0.5)))

    assert list(catalog.checks.left(ago(1))) == [A]


def test_what_a_clock_ahead_has_checked_is_as_old_as_what_was_checked_now(
    catalog: Catalog, tmp_path: Path, clock: Clock
) -> None:
    write(catalog, page(A, ago(-400)))
    collection = Collection(catalog, tmp_path, Schedule(at_most=1.0))

    clock.move(2 * DAY_SECONDS)

    assert len(collection.schedule.choose(now_days(), 9)) == 2


def test_a_url_that_was_gone_by_a_clock_ahead_is_asked_for_at_once_and_then_in_time(catalog: Catalog) -> None:
    write(catalog, failure(A, ago(-1), "not-found"))
    assert len(catalog.checks.gone(ago(0), 9)) == 1

    write(catalog, later(failure(A, ago(0), "not-found")))

    assert not catalog.checks.gone(ago(-6.9), 9)
    assert len(catalog.checks.gone(ago(-7), 9)) == 1


@pytest.mark.parametrize(
    ("reason", "rarely"),
    [("server-error", 1), ("robots-disallowed", 1), ("certificate-expired", 1), ("not-found", 2)],
)
def test_what_has_failed_is_asked_for_in_three_passes_however_soon_and_then_ever_later(
    catalog: Catalog, reason: str, rarely: float
) -> None:
    first = ago(0)
    write(catalog, failure(C, first, reason))

    for minute in range(1, 4):
        begun = first + 60 * minute
        assert len(catalog.checks.gone(begun + 1, 9, since=begun)) == 1
        write(catalog, failure(C, begun + 1, reason))
    assert catalog.checks.gone(begun + 61, 9, since=begun + 60) == []

    for days in (60, 120, 240):
        due = first + rarely * days * DAY_SECONDS
        assert catalog.checks.gone(due - 1, 9) == []
        assert len(catalog.checks.gone(due, 9)) == 1
        write(catalog, failure(C, due, reason))
    assert catalog.checks.gone(first + 9999 * DAY_SECONDS, 9) == []


def test_what_failed_is_asked_for_as_long_as_a_page_links_to_it(catalog: Catalog) -> None:
    write(catalog, page(A, ago(9), "with it", links=[link(C)]), failure(C, ago(9), "not-found"))
    assert len(catalog.checks.gone(ago(0), 9)) == 1

    write(catalog, later(page(A, ago(8), "without it")))
    assert catalog.checks.gone(ago(0), 9, since=ago(1)) == []

    write(catalog, later(page(A, ago(7), "with it again", links=[link(C)])))
    assert len(catalog.checks.gone(ago(0), 9)) == 1


def test_a_url_that_failed_and_that_no_page_or_sitemap_names_was_a_seed(catalog: Catalog) -> None:
    seed = "http://a.test/seed"
    write(catalog, page(A, ago(9), "a", links=[link(C)]), failure(C, ago(9), "not-found"))
    write(catalog, failure(seed, ago(9), "timeout"))

    assert catalog.checks.failing_unlinked(9) == [(seed, "timeout")]
