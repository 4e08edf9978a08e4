"""How good was an order? Cho 1998, section 3, worked out by hand, and by counting."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.evaluation import Metrics, measures
from webcrawler.evaluation.hotness import Importance, conditions
from webcrawler.evaluation.hotness import check as check_hot
from webcrawler.evaluation.measures import Evaluator, check_flush, kept
from webcrawler.evaluation.recorded import Recorded
from webcrawler.linkgraph import Graph
from webcrawler.records import Text

orders = st.integers(1, 40).flatmap(lambda pages: st.permutations(range(pages)))


def array(*values: float) -> np.ndarray:
    return np.array(values)


def graph_of(*outlinks: list[int]) -> Graph:
    sources = [source for source, targets in enumerate(outlinks) for _ in targets]
    return Graph.of(sources, [target for targets in outlinks for target in targets], len(outlinks))


# ---- Crawl & Stop with Threshold


def test_p_st_is_the_share_of_the_hot_pages_found() -> None:
    hot = array(True, False, True, False)

    curve = measures.p_st(array(1, 2, 3, 0), hot)

    assert curve.tolist() == [0, 50, 50, 100]
    assert measures.area(curve) == 50


@given(orders, st.data())
def test_p_st_counts(order: list[int], data: st.DataObject) -> None:
    hot = data.draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order)).filter(any))

    curve = measures.p_st(np.array(order), np.array(hot))

    for k in range(1, len(order) + 1):
        assert curve[k - 1] == pytest.approx(100 * sum(hot[page] for page in order[:k]) / sum(hot))


@given(st.integers(1, 300), st.integers(1, 300))
def test_an_ideal_crawler_finds_hot_pages_alone_until_it_has_all(pages: int, hot: int) -> None:
    hot = min(hot, pages)
    curve = measures.p_st(np.arange(pages), np.arange(pages) < hot)

    at_percents = measures.ideal(pages, hot)

    assert at_percents[0] == 0
    assert at_percents[100] == 100
    for percent in range(1, 101):
        k = pages * percent // 100
        if k and pages * percent % 100 == 0:
            assert at_percents[percent] == pytest.approx(curve[k - 1])


@pytest.mark.parametrize(
    ("curve", "pages", "expected"),
    [
        (np.arange(1, 201) / 2.0, 200, {percent: percent for percent in range(101)}),  # P_ST = K / 2
        (array(10, 100), 2, {0: 0, 1: 10, 74: 10, 75: 100, 100: 100}),
        (array(10, 20, 30), 10, {30: 30, 34: 30, 35: None, 100: None}),  # none after the last visit
    ],
)
def test_points_at_each_percent_of_the_pages_are_those_of_the_nearest_visit(
    curve: np.ndarray, pages: int, expected: dict[int, float | None]
) -> None:
    points = measures.at_percents(curve, pages)

    assert len(points) == 101
    assert {percent: points[percent] for percent in expected} == expected


# ---- Crawl & Stop


def test_p_cs_compares_with_the_best_as_many_and_those_as_important_as_the_last_of_them() -> None:
    importance = array(5, 1, 4, 3)  # the best are the pages 0, 2, 3, 1

    found = measures.p_cs(array(1, 0, 2, 3), importance, array(1, 2, 3, 4))

    assert found == pytest.approx([0, 50, 200 / 3, 100])
    assert measures.p_cs(array(1, 0), array(2, 2), array(1, 2)).tolist() == [100, 100]  # I(P) >= I(R_K)


@given(orders)
def test_who_visits_the_best_first_has_100_percent_at_all_times(order: list[int]) -> None:
    importance = np.argsort(np.array(order))[::-1]
    best = np.argsort(-importance)

    assert set(measures.p_cs(best, importance, np.arange(1, len(order) + 1))) == {100}


# ---- Limited Buffer Crawl

STAR = graph_of([1, 2, 3], [3], [3, 1], [0])  # IB: 1, 2, 1, 3
CHAIN = graph_of([1], [2], [3], [0])
ORDER = array(0, 1, 2, 3)


@pytest.mark.parametrize(
    ("graph", "size", "flush", "interval", "left"),
    [
        (STAR, 2, "fifo", 1, [2, 3]),  # without judgement the last are kept
        # After 0: {0} · 1: {0 (0), 1 (1)} · 2: of 0 (0), 1 (2), 2 (1) page 0 leaves · 3: page 2 (1) leaves
        (STAR, 2, "ib", 1, [1, 3]),
        # IR': 0: .1 + .9 x3 · 1: .1 + .3 x0 + .45 x2 · 2: .1 + .3 x0 · 3: .1 + .3 x0 + .9 x1 + .45 x2
        (STAR, 2, "ir", 1, [1, 3]),
        (CHAIN, 2, "ib", 2, [2, 3]),  # of equal pages the longest kept leaves
        # the backlink of page 0 comes from the last page, long after it was flushed
        (CHAIN, 1, "ib", 1, [3]),
        (CHAIN, 3, "ib", 1, [1, 2, 3]),
    ],
)
def test_pages_that_were_least_important_by_what_was_known_then_leave_first(
    graph: Graph, size: int, flush: str, interval: int, left: list[int]
) -> None:
    assert kept(graph, ORDER, size, flush, interval).tolist() == left


@given(st.integers(1, 30), st.integers(1, 7), st.sampled_from(["ir", "ib", "fifo"]))
def test_a_buffer_is_full_in_the_end_and_holds_no_page_twice(size: int, interval: int, flush: str) -> None:
    pages = 25
    ring = graph_of(*[[(n + 1) % pages, n * n % pages] for n in range(pages)])

    left = kept(ring, np.arange(pages), size, flush, interval).tolist()

    assert len(set(left)) == len(left) == min(size, pages)


@given(st.integers(1, 25), st.integers(1, 30))
def test_the_least_important_leave_but_not_before_they_are_rated(size: int, interval: int) -> None:
    """One page after the other; all links stand on the first page, so the pages 1 to 12 are best."""
    pages, buffer, rated = 25, list[int](), list[int]()
    for page in range(pages):
        if page % min(interval, max(1, size // 2)) == 0:
            rated = list(buffer)
        if len(buffer) == size:
            leaves = min(rated, key=lambda page: (1 <= page <= 12, page))
            buffer.remove(leaves)
            rated.remove(leaves)
        buffer.append(page)

    left = kept(graph_of(list(range(1, 13)), *[[]] * (pages - 1)), np.arange(pages), size, "ib", interval)

    assert left.tolist() == buffer


def test_a_way_to_flush_that_there_is_not() -> None:
    with pytest.raises(BadInput, match="--flush=best: choose one of ir, ib, fifo"):
        check_flush("best")


# ---- which pages are hot

TITLES = ("Molecular biology", "Home", "Physics", "")
BODIES = ("", "biology " * 10, "biology " * 9, "biological " * 20)


def texts(numbers: list[int]) -> dict[int, Text]:
    return {n: Text(TITLES[n], "", "", "", BODIES[n]) for n in numbers if n != 3}


RECORDED = Recorded(
    STAR,
    np.arange(4),
    ["http://a.com/", "http://a.org/home/x/y", "http://a.org/b/c", "http://a.org/?q=/////"],
    texts=texts,  # type: ignore[arg-type]
)


def hot(text: str, recorded: Recorded = RECORDED, query: str = "") -> list[int]:
    return np.flatnonzero(Importance(recorded, query).hot(conditions(text))).tolist()


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("ib:2", [1, 3]),  # at least as important
        ("ib:3", [3]),
        ("ib:4", []),
        ("if:2", [0, 2]),
        ("ir:0", [0, 1, 2, 3]),
        ("il:0", [0]),  # ".com" and "home" make up for two slashes each
        ("ib:25%", [3]),  # the best percent
        ("ib:50%", [1, 3]),
        ("ib:75%", [0, 1, 2, 3]),  # as important as the third
        ("hub:25%", [0]),
        ("authority:25%", [3]),
        ("is:biology", [0, 1]),  # a word in the title or ten in the body: Cho 1998, section 7
        ("is:Biology+ib:2", [1]),
    ],
)
def test_hot_pages_are_those_that_the_conditions_hold_for(text: str, pages: list[int]) -> None:
    assert hot(text) == pages


def test_is_is_the_cosine_of_words_weighted_by_how_rare_they_are() -> None:
    found = Importance(RECORDED, "biology physics").of("is")

    # Occurrences: molecular 1, biology 1 + 10 + 9, home 1, physics 1; a title word counts 5 times.
    query = math.hypot(1 / 20, 1)
    assert found[0] == pytest.approx(5 / 20 / 20 / query / math.hypot(5 / 20, 5))
    assert found[1] == pytest.approx(10 / 20 / 20 / query / math.hypot(10 / 20, 5))
    assert found[2] == pytest.approx((9 / 20 / 20 + 5) / query / math.hypot(9 / 20, 5))
    assert found[3] == 0
    assert hot("is:25%", query="biology physics") == [2]


def test_ic_adds_occurrences_and_backlinks() -> None:
    assert Importance(RECORDED, "biology").of("ic").tolist() == [5 * 10 + 1, 10 * 10 + 2, 9 * 10 + 1, 3]


def test_texts_and_a_query_are_wanted_by_some() -> None:
    without = Recorded(STAR, np.arange(4), RECORDED.urls)
    with pytest.raises(BadInput, match="need texts"):
        hot("is:biology", without)
    with pytest.raises(BadInput, match="add --query"):
        hot("ic:5")


UNREADABLE = ["", "ib:", "ib:x", "xx:5", "ib:5:5", "ib:5+", "ib:5+ir", "is:", "ib 5", "ib:1e5"]
NO_PERCENTAGE = ["ib:0%", "ib:101%", "ib:-1%", "is:biology+ir:0.0%"]


@pytest.mark.parametrize(
    ("text", "told"), [*product(UNREADABLE, ["--hot="]), *product(NO_PERCENTAGE, ["above 0 %"])]
)
def test_a_hot_that_says_nothing_is_bad_input(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        conditions(text)


@pytest.mark.parametrize("text", ["ic", "ic:5", "is:10%", "ib:1+is:0.5"])
def test_a_query_is_wanted_before_there_is_a_graph(text: str) -> None:
    check_hot([text], "biology")
    for query in ("", "--"):
        with pytest.raises(BadInput, match="add --query"):
            check_hot([text], query)
    check_hot(["is:biology", "ib", "is:biology+ib:5"], "")


# ---- all figures of a crawl


def test_the_figures_of_a_crawl() -> None:
    judge = Evaluator(RECORDED, Metrics(("ib:2", "ib:9", "if"), buffer=0.5, flush="ib", reorder_percent=25))

    figures = judge.figures(ORDER)

    assert figures.auc == {"ib:2": (0 + 50 + 50 + 100) / 4, "ib:9": None}
    assert figures.p_st["ib:2"][::25] == [0, 0, 50, 50, 100]
    assert set(figures.p_st["ib:9"][1:]) == {None}
    assert figures.p_cs["ib"][::25] == [0, 0, 50, 100, 100]
    assert figures.p_cs["if"][::25] == [100, 100, 50, 100, 100]
    assert figures.p_bc == {"ib:2": 100, "ib:9": 0, "ib": 100, "if": 0}


def test_the_figures_of_a_crawl_that_stopped() -> None:
    figures = Evaluator(RECORDED, Metrics(("ib:2",))).figures(ORDER[:2])

    assert figures.auc == {"ib:2": 25}  # of the visits made
    assert figures.p_st["ib:2"][50] == 50
    assert figures.p_st["ib:2"][63] is None
    assert figures.p_cs["ib"][100] is None
    assert len(figures.p_st["ib:2"]) == len(figures.p_cs["ib"]) == 101
    assert figures.p_bc == {}
