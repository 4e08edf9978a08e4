"""What a worker writes after its lease was another's changes nothing in the catalog."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_catalog import A, B, C, edges, failure, link, page, redirect, write

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Entry


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        yield catalog


def under(token: int, entry: Entry) -> Entry:
    """The same entry under another lease."""
    return replace(entry, fetch=replace(entry.fetch, lease=entry.fetch.lease._replace(token=token)))


@pytest.mark.parametrize(
    "late",
    [page(A, 99, "late", [link(C)]), failure(A, 99, "not-found"), redirect(A, 99, C)],
    ids=["document", "not found", "redirect"],
)
def test_fetch_under_an_older_lease_is_history_only_however_late_it_was_made(
    catalog: Catalog, late: Entry
) -> None:
    write(catalog, under(2, page(A, 10, "new", [link(B)])))
    before, seq = catalog.fetches.last(A), catalog.last_seq()

    write(catalog, under(1, late))

    assert catalog.texts([1])[1].body == "new"
    assert edges(catalog) == {(A, B, "", "")}
    assert catalog.changes(seq, 10) == []
    assert catalog.fetches.last(A) == before
    assert catalog._db.execute("SELECT fetched FROM fetches ORDER BY token").fetchall() == [(99,), (10,)]


def test_failure_under_a_newer_lease_fences_off_a_document_under_the_older(catalog: Catalog) -> None:
    """The frontier takes no report from the older one either: the URL is tried again, or has failed."""
    write(catalog, under(2, failure(A, 5, "timeout")))
    write(catalog, under(1, page(A, 6, "late")))

    assert catalog.find(A) is None


@settings(max_examples=examples(30), deadline=None)
@given(st.permutations(range(4)), st.lists(st.integers(1, 9), min_size=4, max_size=4, unique=True))
def test_in_whatever_order_and_at_whatever_times_the_newest_lease_counts(
    tokens: list[int], times: list[int]
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Catalog(Path(folder) / "catalog.sqlite")) as catalog,
    ):
        for token, time in zip(tokens, times, strict=True):
            write(catalog, under(token, page(A, time, f"lease {token}")))

        newest = catalog.fetches.last(A)
        assert catalog.texts([1])[1].body == "lease 3"
        assert newest and newest.fetched == times[tokens.index(3)]


def test_of_one_batch_the_newest_lease_counts(catalog: Catalog) -> None:
    write(catalog, under(2, page(A, 1, "new")), under(1, page(A, 2, "late")))

    assert catalog.texts([1])[1].body == "new"


def test_what_is_written_twice_under_one_lease_is_written_once(catalog: Catalog) -> None:
    write(catalog, under(7, page(A, 1, "a")))
    seq = catalog.last_seq()

    write(catalog, under(7, page(A, 1, "a")))

    assert catalog.last_seq() == seq


@pytest.mark.parametrize(("time", "counts"), [(4, False), (5, False), (6, True)])
def test_after_a_fetch_without_a_token_the_time_decides(tmp_path: Path, time: float, counts: bool) -> None:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        write(catalog, page(A, 5, "old"))
        catalog._db.execute("UPDATE fetches SET token = NULL")
        write(catalog, under(7, page(A, time, "new")))

        assert (catalog.texts([1])[1].body == "new") is counts
        assert catalog.last_seq() == 1 + counts
