"""How good was an order? Cho 1998, section 3, worked out by hand, and by counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.evaluation import Metrics, measures
from webcrawler.evaluation.figures import Evaluator
from webcrawler.evaluation.hotness import Importance, conditions
from webcrawler.evaluation.hotness import check as check_hot
from webcrawler.evaluation.measures import check_flush, kept
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


def test_p_st_of_no_hot_pages_is_no_number() -> None:
    assert math.isnan(measures.area(measures.p_st(array(0, 1), array(False, False))))


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


def test_points_stand_at_each_percent_of_the_pages() -> None:
    curve = np.arange(1, 201) / 2.0  # 200 pages, P_ST = K / 2

    assert measures.at_percents(curve, 200) == list(map(float, range(101)))


def test_points_of_few_pages_are_those_of_the_nearest_visit() -> None:
    points = measures.at_percents(array(10, 100), 2)

    assert points[0] == 0
    assert (points[1], points[74], points[75], points[100]) == (10, 10, 100, 100)


def test_there_are_no_points_after_the_last_visit() -> None:
    points = measures.at_percents(array(10, 20, 30), 10)

    assert points[30] == 30
    assert points[34:36] == [30, None]
    assert points[100] is None


# ---- Crawl & Stop


def test_p_cs_compares_with_the_best_as_many() -> None:
    importance = array(5, 1, 4, 3)  # the best are the pages 0, 2, 3, 1

    found = measures.p_cs(array(1, 0, 2, 3), importance, array(1, 2, 3, 4))

    assert found == pytest.approx([0, 50, 200 / 3, 100])


def test_p_cs_counts_pages_as_important_as_the_last_of_the_best() -> None:
    """I(P) >= I(R_K): of equal ones all are."""
    assert measures.p_cs(array(1, 0), array(2, 2), array(1, 2)).tolist() == [100, 100]


@given(orders)
def test_who_visits_the_best_first_has_100_percent_at_all_times(order: list[int]) -> None:
    importance = np.argsort(np.array(order))[::-1]
    best = np.argsort(-importance)

    assert set(measures.p_cs(best, importance, np.arange(1, len(order) + 1))) == {100}


# ---- Limited Buffer Crawl

STAR = graph_of([1, 2, 3], [3], [3, 1], [0])  # IB: 1, 2, 1, 3
ORDER = array(0, 1, 2, 3)


def test_without_judgement_the_last_pages_are_kept() -> None:
    assert kept(STAR, ORDER, 2, "fifo", 1).tolist() == [2, 3]


def test_pages_with_few_backlinks_leave_first() -> None:
    # After 0: {0} · 1: {0 (0), 1 (1)} · 2: of 0 (0), 1 (2), 2 (1) page 0 leaves · 3: page 2 (1) leaves
    assert kept(STAR, ORDER, 2, "ib", 1).tolist() == [1, 3]


def test_pages_with_little_rank_leave_first() -> None:
    # IR' in the end: 0: .1 + .9 x3 · 1: .1 + .3 x0 + .45 x2 · 2: .1 + .3 x0 · 3: .1 + .3 x0 + .9 x1 + .45 x2
    assert kept(STAR, ORDER, 2, "ir", 1).tolist() == [1, 3]


def test_of_equal_pages_the_longest_kept_leaves() -> None:
    chain = graph_of([1], [2], [3], [0])

    assert kept(chain, ORDER, 2, "ib", 2).tolist() == [2, 3]


def test_a_page_is_judged_by_what_was_known_then() -> None:
    """Page 0 gets its backlink from the last page, long after it was flushed."""
    chain = graph_of([1], [2], [3], [0])

    assert kept(chain, ORDER, 1, "ib", 1).tolist() == [3]
    assert kept(chain, ORDER, 3, "ib", 1).tolist() == [1, 2, 3]


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


def test_hot_pages_are_at_least_as_important() -> None:
    assert hot("ib:2") == [1, 3]
    assert hot("ib:3") == [3]
    assert hot("ib:4") == []
    assert hot("if:2") == [0, 2]
    assert hot("ir:0") == [0, 1, 2, 3]
    assert hot("il:0") == [0]  # ".com" and "home" make up for two slashes each


def test_hot_pages_are_the_best_percent() -> None:
    assert hot("ib:25%") == [3]
    assert hot("ib:50%") == [1, 3]
    assert hot("ib:75%") == [0, 1, 2, 3]  # as important as the third
    assert hot("hub:25%") == [0]
    assert hot("authority:25%") == [3]


def test_a_page_is_on_topic_by_a_word_in_its_title_or_ten_in_its_body() -> None:
    """Cho 1998, section 7."""
    assert hot("is:biology") == [0, 1]
    assert hot("is:Biology+ib:2") == [1]


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


@pytest.mark.parametrize(
    "text", ["", "ib:", "ib:x", "xx:5", "ib:5:5", "ib:5+", "ib:5+ir", "is:", "ib 5", "ib:1e5"]
)
def test_a_hot_that_says_nothing(text: str) -> None:
    with pytest.raises(BadInput, match="--hot="):
        conditions(text)


@pytest.mark.parametrize("text", ["ib:0%", "ib:101%", "ib:-1%", "is:biology+ir:0.0%"])
def test_a_percentage_that_is_none(text: str) -> None:
    with pytest.raises(BadInput, match="above 0 %"):
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
