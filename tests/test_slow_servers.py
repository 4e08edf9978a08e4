"""Slow servers never have all the places, and blocked ones none; see also test_frontier_model.py."""

from __future__ import annotations

import pytest
from conftest import MakeFrontier
from frontiers import done, fail, fetch, lease_one, let_pass, links, places, visit, visit_all

from webcrawler.frontier import Frontier, inspect, maintenance

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
SLOW = 3.0


def answer(frontier: Frontier, seconds: float, **report: object) -> None:
    """One page of the server whose turn it is, in so many seconds."""
    lease = lease_one(frontier)
    fetch(frontier, lease, seconds, **report)
    frontier.complete([done(lease)])


# ---- doubtful servers


def test_a_server_is_doubtful_until_it_has_answered_in_time(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(slow=SLOW)
    frontier.discover(links(A, A + "1", A + "2"))

    lease = lease_one(frontier)
    assert lease.doubtful
    fetch(frontier, lease, 0.1)

    assert not lease_one(frontier).doubtful


@pytest.mark.parametrize(("seconds", "report"), [(SLOW, {}), (0.1, {"slow_down": True})])
def test_a_server_that_answers_late_or_asks_for_rest_is_doubtful_again(
    make_frontier: MakeFrontier, seconds: float, report: dict[str, object]
) -> None:
    frontier = make_frontier(slow=SLOW, backoff=1.0)
    frontier.discover(links(A, A + "1", A + "2"))
    answer(frontier, 0.1)

    answer(frontier, seconds, **report)
    let_pass(frontier, 10)

    assert lease_one(frontier).doubtful


def test_a_fast_server_keeps_its_turn_behind_ten_thousand_slow_ones(make_frontier: MakeFrontier) -> None:
    frontier, slow = make_frontier("breadth"), [f"http://slow{n}.test/" for n in range(10_000)]
    frontier.discover(links(A))
    visit(frontier, A + "1", *slow)

    found = frontier.lease(4, doubtful=3).leases

    assert [lease.url for lease in found] == [*slow[:3], A + "1"]


def test_a_wait_is_not_named_for_what_may_not_be_leased(frontier: Frontier) -> None:
    """Else a scheduler would ask again at once, and again."""
    frontier.discover(links(A))

    assert frontier.lease(1, doubtful=0).wait is None
    assert frontier.lease(0).wait == 0


# ---- blocking


def test_a_blocked_server_is_asked_no_more(frontier: Frontier) -> None:
    frontier.discover(links(A, A + "1", B, A + "2"))
    fail(frontier, lease_one(frontier))  # to be tried again
    out = lease_one(frontier)

    decided = frontier.block("http://a.test")

    assert decided == 3  # what was out, what waited, and what was to be tried again
    assert frontier.complete([done(out, C)]) == [-1]
    let_pass(frontier, 100)
    assert visit_all(frontier) == [B]
    assert inspect.stats(frontier)["reasons"] == {"document": 1, "blocked": 3}
    assert places(frontier) == {}


def test_what_is_found_of_a_blocked_server_is_decided_when_its_turn_comes(frontier: Frontier) -> None:
    frontier.block("http://a.test")
    frontier.discover(links(A, B))

    assert visit_all(frontier) == [B]
    assert inspect.stats(frontier)["reasons"] == {"document": 1, "blocked": 1}


def test_a_server_is_blocked_in_all_frontiers(make_frontier: MakeFrontier) -> None:
    realtime = make_frontier(name="realtime:1")
    realtime.discover(links(A))

    make_frontier().block("http://a.test")

    assert realtime.lease(9).leases == []
    assert inspect.stats(realtime)["reasons"] == {"blocked": 1}


def test_thousands_of_urls_are_blocked_in_parts(frontier: Frontier) -> None:
    frontier.discover(links(*(f"{A}{n}" for n in range(2_500))))

    assert frontier.block("http://a.test") == 2_500


def test_a_block_outlives_a_frontier(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links(A, B))
    frontier.block("http://a.test")
    maintenance.clear(frontier)
    frontier = make_frontier()
    frontier.discover(links(A, B))

    assert visit_all(frontier) == [B]
