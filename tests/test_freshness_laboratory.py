"""The laboratory of freshness: worlds that change, policies, and what is measured."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.evaluation import freshness
from webcrawler.evaluation.freshness import Collection, Run, run
from webcrawler.evaluation.freshness.world import (
    ALWAYS_NOW,
    HONEST,
    NEVER_UPDATED,
    World,
    read,
    synthetic,
    window,
)

pytestmark = pytest.mark.slow

SMALL = "synthetic?pages=1000&servers=20&days=90"


def world(*changes: tuple[float, int], pages: int = 2, days: float = 9, **more: object) -> World:
    """Pages of one server, equally important, that change when it is said."""
    times, changed = np.array(changes, float).reshape(-1, 2).T
    none = np.zeros(1, bool)
    given = {"sitemaps": none.astype(int), "noisy": none, **more}
    return World(
        name="by hand",
        seed=0,
        days=days,
        servers=np.zeros(pages, int),
        weights=np.ones(pages),
        rates=np.bincount(changed.astype(int), minlength=pages) / days,
        times=times,
        pages=changed.astype(int),
        **given,  # type: ignore[arg-type]
    )


def figures(source: str, policies: str, budget: float = 0.05, seed: int = 7) -> dict[str, Run]:
    worlds = freshness.worlds([source], [seed], "")
    made = freshness.runs(worlds, policies.split(","), [budget], lambda *progress: None)
    return {run.policy: run for run in made}


# ---- What is measured


def test_page_counts_as_current_until_the_moment_it_changes() -> None:
    collection = Collection(world((1.25, 0), (1.75, 0), (2.5, 1)))

    assert collection.advance(1.0).tolist() == [1, 1]
    assert collection.advance(2.0).tolist() == [0.25, 1]
    assert collection.fresh.tolist() == [False, True]
    assert collection.stale_since[0] == 1.25


def test_fetched_page_is_current_and_tells_whether_it_changed() -> None:
    collection = Collection(world((1.0, 0), (1.5, 0)))
    collection.advance(2.0)

    changed = collection.fetch(np.array([0, 1]))

    assert changed.tolist() == [True, False]
    assert collection.fresh.all()


@pytest.mark.parametrize(
    ("sitemap", "newer"),
    [(HONEST, [True, False]), (ALWAYS_NOW, [True, True]), (NEVER_UPDATED, [False, False])],
)
def test_sitemap_says_what_its_kind_says(sitemap: int, newer: list[bool]) -> None:
    collection = Collection(world((1.0, 0), sitemaps=np.array([sitemap])))
    collection.advance(2.0)

    pages, said = collection.sitemaps(np.array([0]))

    assert pages.tolist() == [0, 1]
    assert said.tolist() == newer


def test_figures_of_a_run_by_hand() -> None:
    """Page 0 changes on day 7 of 9; nothing is ever fetched. Measured are the looks at 6.5, 7 … 8.5."""
    found = run(world((7.0, 0)), "uniform", 1e-9)

    assert found.fresh == pytest.approx(1 - 3 / 5 / 2)  # half of the pages, in three of five looks
    assert found.plain == found.fresh
    assert found.age == pytest.approx((0.5 + 1 + 1.5) / 5 / 2)
    assert found.never == 1
    assert found.reported is None


def test_what_is_spent_and_what_was_wasted() -> None:
    """Two pages a day, one of which changes each half-day: half of the fetches find nothing."""
    found = run(world(*((0.25 + step / 2, 0) for step in range(18))), "uniform", 1.0)

    assert found.used == pytest.approx(1, abs=0.1)
    assert found.wasted == pytest.approx(0.5, abs=0.1)
    assert found.never == 0


@settings(max_examples=examples(20), deadline=None)
@given(st.sampled_from(list(freshness.POLICIES)), st.floats(0.001, 2), st.integers(1, 99))
def test_no_policy_spends_more_than_its_budget(policy: str, budget: float, seed: int) -> None:
    found = run(synthetic("synthetic?pages=60&servers=4&days=10", seed), policy, budget)

    assert found.used <= 1 + 1e-9
    assert 0 <= found.fresh <= 1 + 1e-9


def test_equal_seeds_give_equal_figures() -> None:
    one, other = (figures(SMALL, "expected")["expected"] for _ in range(2))

    assert one._replace(seconds=0) == other._replace(seconds=0)


@pytest.mark.parametrize("policy", ["uniform", "expected", "oracle"])
def test_no_server_takes_more_than_its_cap(policy: str) -> None:
    alone = run(synthetic("synthetic?pages=500&servers=1&days=30&cap=0.25", 1), policy, 0.2)

    assert alone.used == pytest.approx(0.25, abs=0.01)


# ---- Who is better


def test_the_product_beats_round_robin_importance_and_interval_nudging() -> None:
    found = figures(SMALL, "uniform,importance,nutch,stormcrawler,expected", 0.02)

    ours = found.pop("expected")
    best = found.pop("oracle")
    assert all(ours.fresh > other.fresh for other in found.values())
    assert 0.95 * best.fresh < ours.fresh <= best.fresh
    assert ours.reported is not None and ours.reported < 0.03


def test_honest_sitemaps_help_and_useless_ones_hardly_harm() -> None:
    plain, honest, now, never = (
        figures(f"{SMALL}{more}", "expected")["expected"].fresh
        for more in ("", "&honest=1", "&now=1", "&never=1")
    )

    assert honest > plain + 0.01
    assert min(now, never) > plain - 0.02


def test_digest_of_text_is_better_than_of_bytes_where_pages_change_cosmetically() -> None:
    by_text, by_bytes = (
        figures(f"{SMALL}&cosmetic=0.5{more}", "expected")["expected"] for more in ("", "&bytes=1")
    )

    assert by_text.fresh > by_bytes.fresh
    assert by_text.wasted > by_bytes.wasted  # which only seems so: half the servers always differ


# ---- Worlds


def test_synthetic_world_is_as_asked() -> None:
    made = synthetic("synthetic?pages=30000&servers=100&days=50&every=10&static=0.4&biggest=0.3", 3)

    assert len(made.servers) == 30_000
    assert np.mean(made.rates == 0) == pytest.approx(0.4, abs=0.02)
    assert np.mean(made.servers == 0) == pytest.approx(0.3, abs=0.02)
    assert np.all(np.diff(made.times) >= 0) and made.times[-1] < 50
    seen = np.bincount(made.pages, minlength=30_000)
    assert seen.sum() == pytest.approx((made.rates * 50).sum(), rel=0.02)


TRACE = """\
a\tmanual\t\t14000.5,15400.25,15500
b\tmanual\t15500\t14000
c\tother\t\t15000,15700
d\tother\t\t15341
"""


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
def test_trace_keeps_pages_that_were_there_from_first_to_last_year(tmp_path: Path, pack: object) -> None:
    """2012 begins on day 15340 and has 366 days."""
    file = tmp_path / "trace.tsv"
    file.write_bytes(pack(TRACE))  # type: ignore[operator]

    made = window(read([file]), (2012, 2013), "trace")

    assert made.servers.tolist() == [0, 1]  # b is gone, d is too new
    assert made.days == 366
    assert list(zip(made.times, made.pages, strict=True)) == [(60.25, 0), (160, 0), (360, 1)]
    assert made.rates.tolist() == [2 / 366, 1 / 366]


def test_importance_of_traces_is_drawn_by_seed(tmp_path: Path) -> None:
    file = tmp_path / "trace.tsv"
    file.write_text(TRACE)

    one, two = freshness.worlds([str(file)], [1, 2], "2012-2013")

    assert one.weights.tolist() != two.weights.tolist()
    assert one.times.tolist() == two.times.tolist()


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("synthetic?page=3", "no option 'page'; there are pages, servers"),
        ("synthetic?pages=none", "pages must be from 1 to 10,000,000, not 'none'"),
        ("synthetic?pages=nan", "pages must be from 1"),
        ("synthetic?honest=0.6&now=0.6", "shares of the servers, at most 1 together"),
        ("missing.tsv", "cannot read missing.tsv"),
    ],
)
def test_world_that_cannot_be_is_refused_in_one_line(source: str, complaint: str) -> None:
    with pytest.raises(BadInput) as refused:
        freshness.worlds([source], [1], "2012-2015")

    assert complaint in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("line", ["a\tb\t\t", "a\tb\t15000", "a\tb\tgone\t15000", "a b  15000", "\udcff"])
def test_line_that_is_no_trace_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "trace.tsv"
    file.write_bytes((TRACE + line + "\n").encode("utf-8", "surrogateescape"))

    with pytest.raises(BadInput, match="line 5: page, group, day it vanished"):
        read([file])
