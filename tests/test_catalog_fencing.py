"""What a worker writes after its lease was another's changes nothing in the catalog."""

from __future__ import annotations

import sqlite3
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
from webcrawler.archive.catalog._database import statements
from webcrawler.errors import BadInput
from webcrawler.records import Entry
from webcrawler.urls import url_id


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


# A catalog made by version 1: no tokens


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.sqlite"
    rows = (
        "servers VALUES (1, 'http://a.test')",
        f"urls VALUES (1, {url_id(A)}, 1, '/')",
        "documents VALUES (1, 5, 200, '', x'00', 1, NULL, NULL, '', '', 1, 0, 0, NULL, NULL)",
        "fetches VALUES (1, 5, 200, 'done', 'document', 0, 0, 1, 0, x'00', '', NULL, NULL)",
        "changes VALUES (1, 1, 'insert')",
    )
    inserts = [f"INSERT INTO {row}" for row in rows]
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in (*statements("migration-001.sql"), *inserts, "PRAGMA user_version = 1"):
            db.execute(statement)
    return path


@pytest.mark.parametrize(("time", "counts"), [(4, False), (5, False), (6, True)])
def test_with_fetches_older_than_tokens_the_time_decides(old: Path, time: float, counts: bool) -> None:
    with closing(Catalog(old)) as catalog:
        write(catalog, under(7, page(A, time, "new")))

        assert (1 in catalog.texts([1])) is counts
        assert catalog.last_seq() == 1 + counts


def test_an_older_catalog_is_brought_up_to_date_by_who_writes_and_not_by_who_reads(old: Path) -> None:
    with pytest.raises(BadInput, match="`scrapy reindex` brings it up to date"):
        Catalog(old, readonly=True)
    Catalog(old).close()

    with closing(Catalog(old, readonly=True)) as reader:
        assert reader.find(A) is not None and reader.near_duplicates([1]) == {}
