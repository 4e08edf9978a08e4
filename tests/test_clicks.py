"""Click models: what was opened, freed from where it stood, and made into judgments."""

from __future__ import annotations

import json
import random
from contextlib import closing
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from conftest import Run, examples
from crawled import crawled, fetched
from hypothesis import given, settings
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.index.follower import wait_until_caught_up
from webcrawler.usage import NAME, QueryLog, Shown, judged, query_id
from webcrawler.usage.clicks import RANKS, Counts, counts, fit

DAY = 20_000
A, B, C = (f"http://{name}.example/" for name in "abc")
# (pair, rank from 0, was it opened) of each hit that was shown
Rows = list[tuple[int, int, bool]]


def of(rows: Rows) -> Counts:
    pairs = max((pair for pair, *_ in rows), default=-1) + 1
    columns = [(pair, rank, 1.0, float(clicked)) for pair, rank, clicked in rows]
    pair, rank, shown, clicked = (np.array(column) for column in zip(*columns, strict=True))
    return Counts([("q", str(one)) for one in range(pairs)], pair, rank, shown, clicked, {})


def plain_em(rows: Rows, rounds: int) -> tuple[dict[int, float], dict[int, float]]:
    """The same model, a hit at a time, by the rules of Bayes."""
    ranks, pairs = {rank for _, rank, _ in rows}, {pair for pair, *_ in rows}
    look, like = dict.fromkeys(ranks, 0.5), dict.fromkeys(pairs, 0.5)
    look[0] = 1.0
    for _ in range(rounds):
        looked = {rank: [1.0, 2.0] for rank in ranks}
        liked = {pair: [1.0, 2.0] for pair in pairs}
        for pair, rank, clicked in rows:
            neither_nor = 1 - look[rank] * like[pair]
            looked[rank][0] += 1 if clicked else look[rank] * (1 - like[pair]) / neither_nor
            liked[pair][0] += 1 if clicked else like[pair] * (1 - look[rank]) / neither_nor
            looked[rank][1] += 1
            liked[pair][1] += 1
        look = {rank: a / b for rank, (a, b) in looked.items()} | {0: 1.0}
        like = {pair: a / b for pair, (a, b) in liked.items()}
    return look, like


def visits(seed: int, looks: list[float], likes: list[float], number: int) -> Rows:
    """Simulated users who are shown the pairs in a random order."""
    random, rows = np.random.default_rng(seed), Rows()
    for _ in range(number):
        for rank, pair in enumerate(random.permutation(len(likes))[: len(looks)].tolist()):
            rows.append((pair, rank, bool(random.random() < looks[rank] * likes[pair])))
    return rows


def test_one_page_at_the_first_rank_has_its_share_of_clicks() -> None:
    # 3 of 8 opened; with one case for it and one against it (3 + 1) / (8 + 2)
    rows = [(0, 0, number < 3) for number in range(8)]

    assert fit(of(rows)).attractive == pytest.approx([0.4])


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.booleans()), min_size=1, max_size=30))
def test_an_independent_implementation_fits_the_same(rows: Rows) -> None:
    model, (look, like) = fit(of(rows)), plain_em(rows, 500)

    assert {rank: model.examined[rank] for rank in look} == pytest.approx(look, abs=0.01)
    assert {pair: model.attractive[pair] for pair in like} == pytest.approx(like, abs=0.01)


def test_what_simulated_users_look_at_and_like_is_found_again() -> None:
    looks, likes = [1.0, 0.6, 0.4, 0.25, 0.15], [0.9, 0.7, 0.5, 0.3, 0.1]

    model = fit(of(visits(1, looks, likes, 5_000)))

    assert model.examined[: len(looks)] == pytest.approx(looks, abs=0.04)
    assert model.attractive == pytest.approx(likes, abs=0.04)


def test_a_good_page_far_down_is_known_by_those_who_look_there() -> None:
    rows = [(0, 0, number % 10 < 3) for number in range(200)]  # a poor page on top, opened by 30 %
    rows += [(1, 1, number % 10 < 2) for number in range(200)]  # below it one that 20 % open,
    rows += [(2, 0, number % 2 == 0) for number in range(200)]  # where others show
    rows += [(2, 1, number % 10 == 0) for number in range(200)]  # that one in five looks

    model = fit(of(rows))

    assert model.attractive[1] > 2 * model.attractive[0]


def log_of(crawl_dir: Path, times: int = 20) -> None:
    """For `radish`, everybody opens B, at rank 1 or 2, and nobody A."""
    orders = [(A, B, C), (B, A, C)]
    shown = [Shown(n, DAY, "radish", 3, 0, True, orders[n % 2]) for n in range(times)]
    other = [Shown(1_000 + n, DAY, "radish", 3, 0, False, (A, B)) for n in range(times)]
    with closing(QueryLog(crawl_dir / NAME, 30)) as log:
        clicks = [(n, orders[n % 2].index(B) + 1) for n in range(times)]
        log.write([*shown, *other], [*clicks, *((1_000 + n, 1) for n in range(times))], DAY)


def test_only_plain_result_pages_are_counted(tmp_path: Path) -> None:
    log_of(tmp_path)

    found = counts(tmp_path)

    columns = zip(found.pair, found.rank, found.shown, found.clicked, strict=True)
    rows = {(found.pairs[pair][1], rank): (shown, clicked) for pair, rank, shown, clicked in columns}
    assert rows == {(A, 0): (10, 0), (B, 1): (10, 10), (C, 2): (20, 0), (B, 0): (10, 10), (A, 1): (10, 0)}
    assert found.queries == {query_id("radish"): ("radish", 20)}


def test_grades_say_how_many_open_what_they_look_at(tmp_path: Path) -> None:
    log_of(tmp_path)

    queries, grades = judged(tmp_path)

    assert queries == {query_id("radish"): "radish"}
    assert grades[query_id("radish")][B] >= 9 and grades[query_id("radish")][A] <= 1


def test_what_was_asked_a_few_times_is_not_judged(tmp_path: Path) -> None:
    log_of(tmp_path, times=9)

    with pytest.raises(BadInput, match="asked 10 times"):
        judged(tmp_path)


def test_an_empty_log_has_nothing_to_fit(tmp_path: Path) -> None:
    with closing(QueryLog(tmp_path / NAME, 30)):
        found = counts(tmp_path)

    assert len(fit(found).examined) == RANKS and not len(found.pairs)


def test_rankings_are_judged_by_clicks(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("ir_measures", reason="the extra `judge` is not installed")
    pages = fetched(A, title="radish and turnip and more"), fetched(B, title="radish")
    crawl = crawled(tmp_path / "crawl", *pages)
    wait_until_caught_up(crawl)
    log_of(crawl)

    answer = run("judge", "clicks", "--rankings", "bm25f", "--json", str(tmp_path / "judged.json"))

    assert answer.status == 0, answer.err
    assert json.loads((tmp_path / "judged.json").read_text())["rankings"]["bm25f"]["Success@1"] == 1


# The simulated users of bench/clicks.py

USERS = run_path(str(Path(__file__).parent.parent / "bench" / "clicks.py"))["USERS"]


def test_a_cascade_user_opens_the_first_hit_that_he_likes_and_leaves() -> None:
    assert USERS["cascade"]([0.0, 1.0, 1.0], random.Random(1)) == [2]
    assert USERS["cascade"]([0.0, 0.0], random.Random(1)) == []


def test_a_position_based_user_looks_at_rank_r_once_in_r_times_whatever_he_has_opened() -> None:
    chance, opened = random.Random(1), np.zeros(4)
    for _ in range(10_000):
        opened[np.array(USERS["position-based"]([1.0] * 4, chance)) - 1] += 1

    assert opened[0] == 10_000
    assert opened / 10_000 == pytest.approx(1 / np.arange(1, 5), abs=0.02)
