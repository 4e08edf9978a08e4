"""IR' and IB' while a crawl goes on, and which waiting URLs they move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from webcrawler.frontier import Known, Ordering
from webcrawler.linkgraph import Estimate, Graph, Rescorer, pagerank
from webcrawler.linkgraph.estimate import Growable

Crawl = list[tuple[int, list[int]]]  # pages in the order of crawling, with their outlinks

pages = st.integers(0, 7)
crawls = st.lists(st.tuples(pages, st.lists(pages, max_size=6)), max_size=12)
once = st.lists(st.tuples(pages, st.lists(pages, max_size=6)), unique_by=lambda page: page[0])


def numbers(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def estimate(crawl: Crawl, update_after_each: bool = False) -> Estimate:
    made = Estimate()
    for source, targets in crawl:
        made.add(source, numbers(*targets))
        if update_after_each:
            made.update(1e-9)
    made.update(1e-9)
    return made


def newest(crawl: Crawl) -> dict[int, set[int]]:
    """The links that hold: those of the newest fetch of each page."""
    return {source: set(targets) - {source} for source, targets in crawl}


def test_a_page_that_nobody_links_to_has_a_tenth() -> None:
    made = Estimate()
    made.know(2)

    assert made.ranks.tolist() == pytest.approx([0.1, 0.1])
    assert made.backlinks.tolist() == [0, 0]
    assert made.crawled.tolist() == [False, False]


def test_ranks_by_hand() -> None:
    """0 -> 1, 2; 1 -> 2; 2 is not crawled: x1 = 0.1 + 0.045, x2 = 0.1 + 0.045 + 0.9·x1."""
    made = estimate([(0, [1, 2]), (1, [2])])

    assert made.ranks == pytest.approx([0.1, 0.145, 0.2755])
    assert made.backlinks.tolist() == [0, 1, 2]
    assert made.crawled.tolist() == [True, True, False]


def test_pages_that_come_again_together_have_their_new_links_alone() -> None:
    made = estimate([(0, [1, 2]), (1, []), (2, [1, 3])])
    for page in range(3):
        made.add(page, numbers(3))
    made.update(1e-9)

    assert made.ranks == pytest.approx([0.1, 0.1, 0.1, 0.37])
    assert made.backlinks.tolist() == [0, 0, 0, 3]


def test_pages_that_come_again_are_counted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each count passes over all known pages."""
    made, counts = estimate([(page, [page + 1]) for page in range(9)]), list[int]()
    count = made._count

    def counted(targets: NDArray[np.int32], by: int) -> None:
        counts.append(by)
        count(targets, by)

    monkeypatch.setattr(made, "_count", counted)
    for page in range(9):
        made.add(page, numbers(0, 5))

    assert made.backlinks[5] == 8
    assert counts == [-1, 1]


def test_an_update_from_where_it_stands_takes_few_rounds() -> None:
    made = estimate([(0, [1]), (1, [2, 3]), (2, [0])])

    assert made.update(1e-3) == 1
    assert made.update(1e-9) == 1


@given(crawls, st.booleans())
def test_the_formula_holds_whatever_is_crawled_and_however_often(crawl: Crawl, update: bool) -> None:
    made, links = estimate(crawl, update), newest(crawl)

    for page in range(len(made.ranks)):
        parents = [source for source, targets in links.items() if page in targets]
        share = sum(made.ranks[source] / len(links[source]) for source in parents)
        assert made.ranks[page] == pytest.approx(0.1 + 0.9 * share, abs=1e-6)
        assert made.backlinks[page] == len(parents)
        assert made.crawled[page] == (page in links)


@pytest.mark.slow
@given(st.lists(st.tuples(pages, pages), min_size=1))
def test_the_order_is_that_of_pagerank_when_all_is_crawled(links: list[tuple[int, int]]) -> None:
    """The missing rule for dangling pages only scales."""
    graph = Graph.of(*zip(*links, strict=True), pages=8)
    made = estimate([(page, graph.outlinks(page).tolist()) for page in range(8)])

    assert made.ranks / made.ranks.mean() == pytest.approx(pagerank(graph, 0.9), abs=1e-6)


def test_arrays_grow_by_doubling() -> None:
    grown = Growable(np.int32)
    for start in range(0, 5_000, 100):
        grown.append(np.arange(start, start + 100, dtype=np.int32))
    grown.extend_to(5_001, -1)
    grown.extend_to(10, 7)  # nothing: it is longer already

    assert grown.values.tolist() == [*range(5_000), -1]


def test_yields_by_hand() -> None:
    """0 names 1, 2, 3; of these 1 names 4 and 5, 2 nothing new: (1 + 2) / (1 + 2) for 3, too."""
    made = estimate([(0, [1, 2, 3]), (1, [4, 5, 2]), (2, [4, 1])])

    assert made.yields == pytest.approx([1, 1, 1, 1, 1, 1])
    made.add(3, numbers(6, 7, 8))
    assert made.yields == pytest.approx([1, 6 / 4, 6 / 4, 6 / 4, 1, 1, 1, 1, 1])


@pytest.mark.slow
@given(once, st.booleans())
def test_yields_follow_who_named_whom_first(crawl: Crawl, update: bool) -> None:
    made, namer, crawled = estimate(crawl, update), dict[int, int](), list[int]()
    for source, targets in crawl:
        crawled.append(source)
        for target in sorted(set(targets) - {source}):
            namer.setdefault(target, source)
    for page, expected in enumerate(made.yields.tolist()):
        siblings = [one for one in crawled if page in namer and namer.get(one) == namer[page]]
        found = sum(named in siblings for named in namer.values())
        assert expected == pytest.approx((1 + found) / (1 + len(siblings)))


# ---- Rescorer


class Backlinks(Ordering):
    """Most backlinks first."""

    def priorities(self, known: Known) -> NDArray[np.int64]:
        assert len({len(column) for column in known}) == 1
        return known.backlinks.astype(np.int64)


IDS = np.array([10, 11, 12, 13], np.int64)


def changed(rescorer: Rescorer, waiting: list[int], ids: NDArray[np.int64] = IDS) -> dict[int, int]:
    pages, priorities = rescorer.changed(ids, np.isin(np.arange(len(ids)), waiting))
    return dict(zip(pages.tolist(), priorities.tolist(), strict=True))


def test_all_that_wait_are_told_once_and_then_what_changes() -> None:
    made = Estimate()
    rescorer = Rescorer(Backlinks(), made)
    made.add(0, numbers(1, 2))

    assert changed(rescorer, [1, 2, 3]) == {1: 1, 2: 1, 3: 0}
    assert changed(rescorer, [1, 2, 3]) == {}
    made.add(1, numbers(2, 3))
    assert changed(rescorer, [2, 3]) == {2: 2, 3: 1}


def test_what_does_not_wait_is_not_told_and_told_later_if_it_waits_again() -> None:
    made = Estimate()
    rescorer = Rescorer(Backlinks(), made)
    made.add(0, numbers(1, 2))

    assert changed(rescorer, [2]) == {2: 1}
    assert changed(rescorer, [1, 2]) == {1: 1}


def test_what_was_told_and_did_not_wait_is_told_again_and_ever_more_seldom() -> None:
    rescorer = Rescorer(Backlinks(), Estimate())
    assert changed(rescorer, [1, 2]) == {1: 0, 2: 0}
    rescorer.told(np.array([1]), all_waited=False)

    times = []
    for time in range(1, 200):
        told = changed(rescorer, [1, 2])
        assert told in ({}, {1: 0})
        if told:
            times.append(time)
            rescorer.told(np.array([1]), all_waited=False)
    assert times[0] <= 2
    assert 5 <= len(times) <= 9

    rescorer.told(np.array([1]), all_waited=True)
    assert not any(changed(rescorer, [1, 2]) for _ in range(300))


def test_pages_that_are_known_and_linked_from_nowhere_yet_count_as_well() -> None:
    made = Estimate()
    rescorer = Rescorer(Backlinks(), made)

    assert changed(rescorer, [1], IDS[:2]) == {1: 0}
    assert changed(rescorer, [1, 3]) == {3: 0}
    assert changed(rescorer, [], np.zeros(0, np.int64)) == {}
