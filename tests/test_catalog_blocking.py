"""Blocked servers: somebody wrote in, and what of theirs was indexed goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from test_catalog import A, B, C, D, edges, kinds, link, number_of, page, twins, write
from test_catalog_fencing import under

from webcrawler.archive.catalog import Catalog, Verdict
from webcrawler.errors import Unavailable
from webcrawler.urls import server

BLOCKED = server(A)  # of A and D


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog(tmp_path / "catalog.sqlite")
    yield catalog
    catalog.close()


def fetched(catalog: Catalog, url: str) -> float:
    newest = catalog.fetches.last(url)
    assert newest
    return newest.fetched


def test_a_blocked_server_loses_documents_and_texts_and_keeps_links_and_history(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B)]), page(D, 2, "d"), page(B, 3, "b", [link(A)]))
    seq = catalog.last_seq()

    assert catalog.block(BLOCKED) == 2

    assert [catalog.find(url) is None for url in (A, D, B)] == [True, True, False]
    assert list(catalog.texts([1, 2, 3])) == [number_of(catalog, B)]
    assert sorted(kinds(catalog, seq)) == [(A, "delete"), (D, "delete")]
    assert edges(catalog) == {(A, B, "", ""), (B, A, "", "")}
    assert [fetched(catalog, A), fetched(catalog, D)] == [1, 2]


def test_other_ports_of_the_host_are_other_servers(catalog: Catalog) -> None:
    write(catalog, page(C, 1, "c"))

    assert catalog.block("https://c.test") == 0
    assert catalog.find(C) is not None


def test_of_a_blocked_server_no_document_is_stored_any_more(catalog: Catalog) -> None:
    assert catalog.block(BLOCKED) == 0  # nobody has heard of it yet

    verdict = write(catalog, page(A, 1, "same", [link(C)]), page(B, 2, "same"))

    assert verdict == Verdict()
    assert (catalog.find(A), list(catalog.texts([1, 2, 3]))) == (None, [number_of(catalog, B)])
    assert twins(catalog) == {B: ""}
    assert fetched(catalog, A) == 1


def test_a_duplicate_elsewhere_takes_the_part_of_a_removed_original(catalog: Catalog) -> None:
    twin = replace(page(B, 2, "same", reason="duplicate"), text=None)
    write(catalog, page(A, 1, "same"), page(D, 1.5, "same"), twin, page(C, 3, "same"))
    seq = catalog.last_seq()

    assert catalog.block(BLOCKED) == 2

    assert twins(catalog) == {B: "", C: B}
    assert catalog.texts([number_of(catalog, B)])[number_of(catalog, B)].body == "same"
    assert set(kinds(catalog, seq)) == {(A, "delete"), (D, "delete"), (B, "update"), (C, "update")}


def test_an_unblocked_server_comes_back_with_its_next_fetches(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"))
    catalog.block(BLOCKED)
    write(catalog, under(2, page(D, 2, "d")))

    catalog.unblock(BLOCKED)
    write(catalog, page(A, 1, "a"), under(2, page(D, 2, "d")))
    assert (catalog.find(A), catalog.find(D)) == (None, None)  # these were decided then

    write(catalog, under(3, page(A, 3, "a")))
    assert catalog.find(A) is not None


def test_blocking_twice_removes_nothing_more(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"))
    catalog.block(BLOCKED)
    seq = catalog.last_seq()

    assert (catalog.block(BLOCKED), catalog.last_seq()) == (0, seq)


def test_who_reads_cannot_block(catalog: Catalog, tmp_path: Path) -> None:
    reader = Catalog(tmp_path / "catalog.sqlite", readonly=True)

    with pytest.raises(Unavailable, match="readonly"):
        reader.block(BLOCKED)
    reader.close()
