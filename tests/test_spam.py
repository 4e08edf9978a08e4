"""Spam: pages that repeat the query, and farms of links, are marked with a reason and rank lower."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from conftest import Run, examples
from crawled import link
from hypothesis import given, settings
from hypothesis import strategies as st
from searched import entry, publish

from webcrawler.archive.catalog import Catalog
from webcrawler.linkgraph import farms
from webcrawler.linkgraph.farms import DENSITY, LEAST, MOST, OUTSIDE, SHARE
from webcrawler.search import Searcher

PROSE = (
    "The boat leaves the harbour at dawn and comes back before the tide turns. Its crew has mended nets all "
    "winter, and what they catch is sold on the quay by noon. In a storm nobody sails: the lighthouse keeper "
    "raises a black ball, and children count the waves. Old people remember years without herring, when half "
    "of the village went to work on the railway and wrote home about mountains. Today tourists rent sheds, "
    "photograph ropes and ask when the museum opens, which is on Thursdays, if the key is found in time."
)
TARGET, HONEST = "http://stuffed.example/", "http://honest.example/"

Links = list[tuple[int, int]]


# Words that are repeated


@pytest.fixture
def stuffed_dir(tmp_path: Path) -> Path:
    stuffed = " ".join(["cheap flights"] * 160) + " " + PROSE
    rows = [(TARGET, "Cheap flights", stuffed), (HONEST, "Cheap flights", f"Cheap flights. {PROSE}")]
    publish(tmp_path, map(entry, rows))
    return tmp_path


def test_a_page_stuffed_with_the_query_ranks_below_an_honest_one_and_says_why(stuffed_dir: Path) -> None:
    hits = Searcher(stuffed_dir).search("cheap flights", explain=True)

    assert [hit.url for hit in hits.hits] == [HONEST, TARGET]
    (part,) = [part for part in hits.explanations[1] if part.what == "stuffed"]
    assert "of its words are of the query: × 0.5" in part.detail and part.contribution < 0
    assert "stuffed" not in {part.what for part in hits.explanations[0]}


def test_it_is_never_left_out_and_ranks_as_before_for_other_words(stuffed_dir: Path) -> None:
    plain, marking = Searcher(stuffed_dir, spam=1), Searcher(stuffed_dir)

    assert marking.search("cheap flights").total == 2
    assert marking.rank("lighthouse") == plain.rank("lighthouse")
    before, after = dict(plain.rank("cheap flights")), dict(marking.rank("cheap flights"))
    assert after == pytest.approx({1: before[1] * 0.5, 2: before[2]})


@pytest.mark.parametrize(
    "text",
    [
        "cheap flights " * 20,  # short texts name their subject often
        PROSE + " cheap flights" * 15,  # a quarter of the words
        PROSE + " cheap flights" * 60,  # more than half, as a list of constants may
    ],
)
def test_what_honest_pages_repeat_is_no_mark(tmp_path: Path, text: str) -> None:
    publish(tmp_path, [entry((TARGET, "Cheap flights", text))])

    assert Searcher(tmp_path).rank("cheap flights") == Searcher(tmp_path, spam=1).rank("cheap flights")


# Farms of links


def web(farm: int, others: int) -> Links:
    """A farm whose domains all link to each other and to all others, which are a chain."""
    inside = [(a, b) for a in range(farm) for b in range(farm) if a != b]
    chain = [(farm + n, farm + (n + 1) % others) for n in range(others)]
    return [*inside, *chain, *((a, farm + a % others) for a in range(farm))]


def found(links: Links, domains: int) -> list[int]:
    sources, targets = np.array(links, np.int64).reshape(-1, 2).T
    return farms.farms(sources, targets, domains).tolist()


def test_a_farm_is_found_and_the_web_around_it_is_none() -> None:
    assert found(web(5, 60), 65) == [5] * 5 + [0] * 60


@pytest.mark.parametrize(
    "links, domains, why",
    [
        (web(3, 60), 63, "three domains are friends"),
        (web(5, 20), 25, "a fifth of all domains is the collection"),
        ([*web(5, 60), *((n, n % 5) for n in range(10, 40))], 65, "others link to it"),
        ([link for link in web(8, 90) if abs(link[0] - link[1]) in (1, 7) or max(link) > 7], 98, "a ring"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_farm(links: Links, domains: int, why: str) -> None:
    assert not any(found(links, domains)), why


def test_links_within_a_domain_and_repeated_ones_change_nothing() -> None:
    links = web(5, 60)

    assert found([*links, *links, *((n, n) for n in range(65))], 65) == found(links, 65)


def plainly(links: Links, domains: int) -> list[int]:
    """The same rule, with sets."""
    pairs = {pair for pair in links if pair[0] != pair[1]}
    mutual = {(a, b) for a, b in pairs if (b, a) in pairs}
    linking, sizes = len({a for a, _ in pairs}), [0] * domains
    for first in range(domains):
        group = {first}
        while more := {b for a, b in mutual if a in group} - group:
            group |= more
        to = [pair for pair in pairs if pair[1] in group]
        outside = sum(pair[0] not in group for pair in to)
        dense = sum(a in group for a, _ in mutual) >= DENSITY * len(group) * (len(group) - 1)
        if LEAST <= len(group) <= min(MOST, SHARE * linking) and dense and outside <= OUTSIDE * len(to):
            sizes[first] = len(group)
    return sizes


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 79), st.integers(0, 79)), max_size=60), st.integers(3, 9))
def test_an_independent_implementation_finds_the_same(more: Links, farm: int) -> None:
    links = [*web(farm, 80 - farm), *more]

    assert found(links, 80) == plainly(links, 80)


@pytest.fixture
def farm_dir(tmp_path: Path) -> Path:
    """Five domains that recommend each other, and sixty that nobody knows to be together."""
    crowd = [f"http://crowd{number}.example{number}.test/" for number in range(60)]
    ring = [f"http://farm{number}.farm{number}.test/" for number in range(5)]
    pages = []
    for url in ring:
        recommended = (link(other, "cheap flights") for other in ring if other != url)
        pages.append(entry((url, "Cheap flights", f"{PROSE} {url}"), *recommended))
    for url, following in zip(crowd, [*crowd[1:], crowd[0]], strict=True):
        pages.append(entry((url, "Village", f"{PROSE} {url}"), link(following, "next village")))
    publish(tmp_path, pages)
    return tmp_path


def test_pages_of_a_farm_rank_lower_and_say_why(farm_dir: Path, run: Run) -> None:
    with closing(Catalog(farm_dir / "catalog.sqlite", readonly=True)) as catalog:
        marked = farms.find(catalog)
        (farm_dir / "ranks").mkdir()
        farms.store(farm_dir / "ranks", marked, catalog.identity)
        urls = set(catalog.urls.of(marked.pages.tolist()).values())

    assert urls == {f"http://farm{number}.farm{number}.test/" for number in range(5)}
    before, after = (dict(Searcher(farm_dir, spam=spam).rank("cheap flights")) for spam in (1, 0.25))
    assert after == pytest.approx({number: score * 0.25 for number, score in before.items()})
    parts = Searcher(farm_dir).explain("cheap flights", 1)
    assert [part.detail for part in parts if part.what == "link farm"] == ["of 5 domains: × 0.5"]


def test_farms_of_another_catalog_and_damaged_ones_mark_nothing(farm_dir: Path) -> None:
    before = Searcher(farm_dir).rank("cheap flights")
    (farm_dir / "ranks").mkdir()
    farms.store(farm_dir / "ranks", farms.Farms(np.array([1]), np.array([5])), "another")
    assert Searcher(farm_dir).rank("cheap flights") == before

    (farm_dir / "ranks" / farms.NAME).write_bytes(b"no array")
    assert Searcher(farm_dir).rank("cheap flights") == before


def test_a_catalog_without_links_has_no_farms(tmp_path: Path) -> None:
    publish(tmp_path, [entry((HONEST, "Village", PROSE))])
    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:
        assert not len(farms.find(catalog).pages)
