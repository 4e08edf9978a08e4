"""A frontier in several parts: the same promises, each part on a node of its own."""

from __future__ import annotations

import pytest
import redis
from conftest import MakeFrontier
from frontiers import done, fail, fetch, let_pass, links
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.frontier import Budgets, Frontier, inspect, upkeep
from webcrawler.frontier.partitions import Partitions

URLS = [f"http://s{n}.test/{page}" for n in range(20) for page in "ab"]


def opened(make_frontier: MakeFrontier, mode: str = "breadth", **more: object) -> Frontier:
    frontier = make_frontier(mode, partitions=8, **more)
    frontier.discover(links(*URLS))
    return frontier


def test_a_frontier_in_parts_visits_every_url_once(make_frontier: MakeFrontier) -> None:
    frontier = opened(make_frontier)
    visited = []
    while leases := frontier.lease(5).leases:
        for lease in leases:
            fetch(frontier, lease)
        visited += [lease.url for lease in leases]
        more = [f"http://new{len(visited)}.test/", *URLS[:3]] if len(visited) < 60 else []
        assert frontier.complete([done(lease, *more) for lease in leases])[-1] >= 0

    assert set(visited) >= set(URLS)
    assert len(visited) == len(set(visited))
    assert inspect.stats(frontier)["done"] == inspect.stats(frontier)["seen"] == len(visited)


def test_parts_are_leased_from_in_turn(make_frontier: MakeFrontier) -> None:
    """Cho, Garcia-Molina and Page 1998, 5.1: one URL from each queue."""
    frontier = opened(make_frontier)

    first = frontier.lease(8).leases

    assert len({frontier.partitions.of_server(lease.server) for lease in first}) == len(first) > 4


def test_every_key_lies_in_the_part_of_its_server(make_frontier: MakeFrontier, client: redis.Redis) -> None:
    frontier = opened(make_frontier)
    for lease in frontier.lease(9).leases:
        fetch(frontier, lease)

    for key in client.scan_iter():
        part, _, name = key.decode().partition("}:")
        kind, _, server = name.removeprefix("index:").partition(":")
        if kind in ("queue", "site", "server"):
            assert frontier.partitions.of_server(server).base == part + "}:"


def test_answers_are_in_the_order_of_what_was_asked(make_frontier: MakeFrontier) -> None:
    frontier = opened(make_frontier, tries=2)
    leases = frontier.lease(16).leases
    frontier.complete([done(leases[3])])

    answers = [fail(frontier, lease, retry=n % 2 == 0) for n, lease in enumerate(leases)]
    assert answers == [-1 if n == 3 else int(n % 2 == 0) for n in range(len(leases))]


def test_servers_of_one_domain_share_a_part_so_that_its_budget_holds(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(partitions=8, budgets=Budgets(domain=5))

    assert frontier.discover(links(*(f"http://s{n}.a.test/" for n in range(50)))) == 5


def test_leases_of_a_dead_worker_come_back_from_all_parts(make_frontier: MakeFrontier) -> None:
    frontier = opened(make_frontier)
    dead = make_frontier("breadth", worker="bob", partitions=8)
    dead.expire(alive_seconds=5)
    taken = len(dead.lease(16).leases)
    let_pass(frontier, 6)

    assert frontier.expire() == taken == 16
    assert frontier.workers() == []


def test_peek_rescore_and_clear_reach_all_parts(make_frontier: MakeFrontier, client: redis.Redis) -> None:
    frontier = opened(make_frontier, "random")
    assert sorted(inspect.peek(frontier, 99)) == sorted(URLS)

    fifo = make_frontier("random", partitions=8)
    assert upkeep.rescore(fifo, "random") == len(URLS)
    assert upkeep.clear(frontier) == len(URLS)
    assert client.dbsize() == 0


def test_who_does_not_say_how_many_parts_gets_those_that_are_there(make_frontier: MakeFrontier) -> None:
    frontier = opened(make_frontier)

    assert (
        inspect.stats(make_frontier("breadth", partitions=0))["seen"] == inspect.stats(frontier)["seen"] == 40
    )


def test_another_number_of_parts_is_refused(make_frontier: MakeFrontier) -> None:
    opened(make_frontier)

    with pytest.raises(BadInput, match="FRONTIER_PARTITIONS=8"):
        make_frontier("breadth", partitions=4)


@given(st.integers(1, 500), st.integers(0, 10**6))
def test_a_server_has_one_part_for_ever(number: int, server: int) -> None:
    partitions = Partitions.of("index", number)

    part = partitions.of_server(f"http://s{server}.test")

    assert part in partitions
    assert part == Partitions.of("index", number).of_server(f"http://s{server}.test")
