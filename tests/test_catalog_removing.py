"""What the owner removed: as blocking, for single URLs, by the file beside the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from test_catalog import A, B, C, D, edges, kinds, link, number_of, page, redirect, twins, write
from test_catalog_blocking import fetched
from test_catalog_fencing import under

from webcrawler.archive.catalog import Catalog, Verdict
from webcrawler.scope import change, expand


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        yield catalog


def remove(folder: Path, *patterns: str) -> None:
    """These patterns and no others."""
    change(folder, lambda scope: replace(scope, removed=tuple(p for one in patterns for p in expand(one))))


def reopen(folder: Path) -> None:
    Catalog(folder / "catalog.sqlite").close()


def take_out(folder: Path, *patterns: str) -> None:
    """Remove these, and have the catalog obey."""
    remove(folder, *patterns)
    reopen(folder)


def test_a_removed_page_loses_document_and_text_and_keeps_links_and_history(
    catalog: Catalog, tmp_path: Path
) -> None:
    write(catalog, page(A, 1, "a", [link(B)]), page(D, 2, "d"), page(B, 3, "b", [link(A)]))
    seq = catalog.last_seq()

    take_out(tmp_path, A)

    assert [catalog.find(url) is None for url in (A, D, B)] == [True, False, False]
    assert set(catalog.texts([1, 2, 3])) == {number_of(catalog, B), number_of(catalog, D)}
    assert kinds(catalog, seq) == [(A, "delete")]
    assert edges(catalog) == {(A, B, "", ""), (B, A, "", "")}
    assert fetched(catalog, A) == 1


def test_a_batch_obeys_what_was_removed_meanwhile(catalog: Catalog, tmp_path: Path) -> None:
    """A crawl that runs has its catalog open."""
    write(catalog, page(A, 1, "a"))
    remove(tmp_path, "http://a.test", C)

    verdict = write(catalog, page(D, 2, "same", [link(C)]), page(B, 3, "same"))

    assert verdict == Verdict()
    assert twins(catalog) == {B: ""}
    assert fetched(catalog, D) == 2
    numbers = {url: number_of(catalog, url) for url in (A, B, C, D)}
    assert catalog.urls.hidden(list(numbers.values())) == {numbers[url] for url in (A, C, D)}


def test_nobody_finds_a_removed_page_by_what_others_call_it(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, 1, "a", [link(B, "the name of B"), link(C, "the name of C")]))
    before = catalog.last_seq()
    numbers = [number_of(catalog, url) for url in (B, C)]

    take_out(tmp_path, B)

    assert numbers[0] in catalog.anchors.changed(before, catalog.last_seq())
    assert [named.url for named in catalog.anchors.findable(numbers)] == [C]


def test_a_removed_page_is_no_link_to_follow(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, 1, "a", [link(B), link(C)]))
    take_out(tmp_path, B)

    assert [far.url for far in catalog.links.open([number_of(catalog, A)])] == [C]


def test_what_is_let_in_again_comes_back_with_its_next_fetch(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, 1, "a"))
    remove(tmp_path, A)
    write(catalog, under(2, page(A, 2, "a")))
    assert catalog.find(A) is None

    remove(tmp_path)
    write(catalog, under(2, page(A, 2, "a")))
    assert catalog.find(A) is None  # this was decided then

    write(catalog, under(3, page(A, 3, "a")))
    assert catalog.find(A) is not None
    assert catalog.urls.hidden([number_of(catalog, A)]) == set()


def test_a_redirect_to_a_removed_page_stays_an_edge(catalog: Catalog, tmp_path: Path) -> None:
    remove(tmp_path, B)

    write(catalog, redirect(A, 1, B))

    assert edges(catalog) == {(A, B, "", "redirect")}
    assert catalog.anchors.findable([number_of(catalog, B)]) == []


def test_obeying_twice_changes_nothing_more(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, 1, "a"))
    take_out(tmp_path, A)
    seq = catalog.last_seq()

    reopen(tmp_path)

    assert catalog.last_seq() == seq


def test_a_catalog_that_was_put_back_from_a_backup_obeys_when_it_is_written_again(tmp_path: Path) -> None:
    remove(tmp_path, A)
    with closing(Catalog(tmp_path / "elsewhere" / "catalog.sqlite")) as older:
        write(older, page(A, 1, "a"), page(B, 1, "b"))
    (tmp_path / "elsewhere" / "catalog.sqlite").rename(tmp_path / "catalog.sqlite")

    reopen(tmp_path)

    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as reader:
        assert (reader.find(A) is None, reader.find(B) is None) == (True, False)
