"""Near-duplicates: the catalog points each to the oldest that it nearly repeats, search folds them."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_catalog import A, B, C, D, failure, page, write

from webcrawler.archive.catalog import Catalog, Verdict
from webcrawler.records import Entry
from webcrawler.search.display import Ranked, fold
from webcrawler.urls import url_id

S = 0x0123_4567_89AB_CDEF
E = "http://e.test/"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog(tmp_path / "catalog.sqlite")
    yield catalog
    catalog.close()


def says(url: str, time: float, simhash: int, body: str = "") -> Entry:
    return replace(page(url, time, body or f"{url} {simhash}"), simhash=simhash)


def near(catalog: Catalog) -> dict[str, str]:
    """Each near-duplicate and what it nearly repeats, by URL."""
    urls = dict(catalog.urls.all())
    return {urls[number]: urls[older] for number, older in catalog.near_duplicates(list(urls)).items()}


# In the catalog


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        # C differs from A in four bits, from B in one; D in all
        ([says(A, 1, S), says(B, 2, S ^ 0b0111), says(C, 3, S ^ 0b1111), says(D, 4, ~S)], {B: A, C: B}),
        ([says(A, 1, S, "same"), says(B, 2, S, "<i>same")], {B: A}),  # other bytes, the same fingerprint
        ([says(A, 1, 0), says(B, 2, 0), says(C, 3, 1)], {}),  # texts too short for a fingerprint
    ],
)
def test_a_document_is_near_to_the_oldest_that_differs_in_at_most_three_bits(
    catalog: Catalog, entries: list[Entry], expected: dict[str, str]
) -> None:
    write(catalog, *entries)

    assert near(catalog) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("number", "is_near"), [(1, True), (2, True), (3, True), (4, False), (5, False)])
def test_bits_count_wherever_they_stand(catalog: Catalog, number: int, is_near: bool) -> None:
    """The sign among them: 200 pairs, each of a fingerprint of its own and one with so many other bits."""
    chance = random.Random(number)
    pairs = {}
    for n in range(200):
        simhash = chance.getrandbits(64) - 2**63
        other = simhash ^ sum(1 << bit for bit in chance.sample(range(63), number - 1)) ^ -(2**63)
        pairs[f"{A}{n}/two"] = f"{A}{n}/one"
        write(catalog, says(f"{A}{n}/one", 1, simhash), says(f"{A}{n}/two", 1, other))

    assert near(catalog) == (pairs if is_near else {})


def test_a_near_duplicate_is_a_document_like_any_other(catalog: Catalog) -> None:
    verdict = write(catalog, says(A, 1, S), says(B, 2, S ^ 1))

    document, newest = catalog.find(B), catalog.fetches.last(B)
    assert verdict == Verdict(near=frozenset({url_id(B)}))
    assert document and document.duplicate_of == 0
    assert newest and newest.reason == "document"
    assert catalog.texts([document.number])
    assert [change.kind for change in catalog.changes(0, 9)] == ["insert", "insert"]


def test_the_same_bytes_make_a_duplicate_and_no_near_duplicate(catalog: Catalog) -> None:
    verdict = write(catalog, says(A, 1, S, "same"), says(B, 2, S, "same"))

    assert verdict == Verdict(duplicates=frozenset({url_id(B)}))
    assert near(catalog) == {}


@pytest.mark.parametrize("event", [says(A, 9, ~S), says(A, 9, S, "edited"), failure(A, 9, "not-found")])
def test_when_the_oldest_leaves_or_changes_the_next_oldest_takes_its_part(
    catalog: Catalog, event: Entry
) -> None:
    write(catalog, says(A, 1, S), says(B, 2, S ^ 1), says(C, 3, S ^ 2), says(D, 4, S ^ 0b1110))
    assert near(catalog) == {B: A, C: A, D: A}

    write(catalog, event)

    # D differs from B in four bits
    assert {url: older for url, older in near(catalog).items() if url != A} == {C: B, D: C}


def test_what_is_near_to_a_blocked_server_finds_another(catalog: Catalog) -> None:
    write(catalog, says(A, 1, S), says(B, 2, S ^ 1), says(C, 3, S ^ 2))

    catalog.block("http://a.test")

    assert near(catalog) == {C: B}


def test_a_refetch_that_finds_the_same_keeps_its_age(catalog: Catalog) -> None:
    write(catalog, says(A, 1, S), says(B, 2, S ^ 1))

    verdict = write(catalog, says(A, 3, S))

    assert not verdict.near
    assert near(catalog) == {B: A}


fingerprints = st.sets(st.sampled_from([0, 1, 17, 35, 62, 63]), max_size=6).map(
    lambda bits: (S ^ sum(1 << bit for bit in bits)) - (2**64 if 63 in bits else 0)
)
events = st.lists(
    st.tuples(st.sampled_from([A, B, C, D, E]), fingerprints | st.none()), min_size=1, max_size=15
)


def by_definition(history: list[tuple[str, int | None]]) -> dict[str, str]:
    """Who is near to whom after all that, from a list of the documents by their age."""
    ages = count()
    known: dict[str, tuple[int, int]] = {}  # URL -> since, fingerprint
    for url, simhash in history:
        if simhash is None:
            known.pop(url, None)
        elif url not in known or known[url][1] != simhash:
            known[url] = next(ages), simhash
    found: dict[str, str] = {}
    for url, (since, simhash) in known.items():
        older = sorted((age, other, bits) for other, (age, bits) in known.items() if age < since)
        if all(bits != simhash for _, _, bits in older):  # the bytes of none
            near = [other for _, other, bits in older if f"{(bits ^ simhash) % 2**64:b}".count("1") <= 3]
            found |= {url: near[0]} if near else {}
    return found


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(events, st.data())
def test_whatever_comes_and_goes_the_catalog_agrees_with_the_definition(
    history: list[tuple[str, int | None]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        catalog = Catalog(Path(folder) / "catalog.sqlite")
        entries = [
            failure(url, time, "not-found") if simhash is None else says(url, time, simhash, str(simhash))
            for time, (url, simhash) in enumerate(history)
        ]
        written = 0
        while written < len(history):
            end = data.draw(st.integers(written + 1, len(history)))
            write(catalog, *entries[written:end])
            written = end
            assert near(catalog) == by_definition(history[:end])
        catalog.close()


# In search


def folded(hits: list[tuple[int, int]], limit: int = 10) -> dict[int, int]:
    """Of page numbers with what each nearly repeats, else itself: how many are folded into those shown."""
    ranked = (Ranked(number, 1.0, repeats, "http://a.test") for number, repeats in hits)
    return {hit.number: hit.folded for hit in fold(ranked, limit)}


FOLDED = [
    ("nothing is near", [(1, 1), (2, 2)], {1: 0, 2: 0}),
    ("the older one ranks first", [(1, 1), (2, 1), (3, 1)], {1: 2}),
    ("the older one ranks behind", [(2, 1), (1, 1), (3, 1)], {2: 2}),
    ("the older one is not a hit", [(2, 1), (3, 1)], {2: 1}),
    ("others stand between", [(1, 1), (5, 5), (2, 1)], {1: 1, 5: 0}),
    ("near to a hit that is near to another", [(2, 1), (3, 2)], {2: 1}),
    ("near only to what is folded", [(1, 1), (2, 1), (3, 2)], {1: 1, 3: 0}),
]


@pytest.mark.parametrize(("hits", "shown"), [row[1:] for row in FOLDED], ids=[row[0] for row in FOLDED])
def test_hits_after_the_first_that_says_the_same_are_folded(
    hits: list[tuple[int, int]], shown: dict[int, int]
) -> None:
    assert folded(hits) == shown


def test_what_is_folded_takes_no_place_and_reading_ends_with_the_first_that_has_none() -> None:
    def hits() -> Iterator[Ranked]:
        for number, repeats in [(1, 1), (2, 1), (3, 3), (4, 1), (5, 5)]:
            yield Ranked(number, 1.0, repeats, "http://a.test")
        pytest.fail("read on")

    assert [(hit.number, hit.folded) for hit in fold(hits(), 2)] == [(1, 2), (3, 0)]
