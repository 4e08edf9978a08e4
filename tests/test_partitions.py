"""A frontier in several parts: the same promises, each part on a node of its own."""

from __future__ import annotations

import pytest
import redis
from conftest import MakeFrontier
from frontiers import done, fail, fetch, lease_one, let_pass, links
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.frontier import Budgets, Done, Frontier, inspect, maintenance
from webcrawler.frontier.intake import LINKS_PER_CALL
from webcrawler.frontier.slots import Partitions
from webcrawler.records import Lease

URLS = [f"http://s{n}.test/{page}" for n in range(20) for page in "ab"]
ALL = LINKS_PER_CALL * 4


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
    assert maintenance.rescore(fifo, "random") == len(URLS)
    assert maintenance.clear(frontier) == len(URLS)
    assert {key.rpartition(b":")[2] for key in client.keys("*")} == {b"clock"}


def test_who_does_not_say_how_many_parts_gets_those_that_are_there(make_frontier: MakeFrontier) -> None:
    opened(make_frontier)

    assert inspect.stats(make_frontier("breadth", partitions=0))["seen"] == len(URLS)


def test_another_number_of_parts_is_refused(make_frontier: MakeFrontier) -> None:
    opened(make_frontier)

    with pytest.raises(BadInput, match="FRONTIER_PARTITIONS=8"):
        make_frontier("breadth", partitions=4)


# ---- links that raise what waits


def lease_of(frontier: Frontier, url: str) -> Lease:
    """The others go back."""
    leases = frontier.lease(ALL).leases
    (found,) = [lease for lease in leases if lease.url == url]
    frontier.release([lease for lease in leases if lease.url != url])
    return found


def priorities(frontier: Frontier) -> dict[str, int]:
    """Of all that waits."""
    leases = frontier.lease(ALL).leases
    frontier.release(leases)
    return {lease.url: lease.priority for lease in leases}


def die_before_completion(frontier: Frontier, page: Done) -> Lease:
    """What is to be taken in before is taken in, and no more; another worker has the page then."""
    frontier.intake.prepare([page])
    frontier.expire(5)
    frontier.expire_dead(lambda _: True)
    return lease_of(frontier, page.lease.url)


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_links_to_all_parts_count_once_however_often_a_worker_dies_before_completion(
    make_frontier: MakeFrontier, deaths: int
) -> None:
    frontier = opened(make_frontier, "backlink")
    lease = lease_of(frontier, URLS[0])
    for _ in range(deaths):
        lease = die_before_completion(frontier, done(lease, *URLS[1:]))

    frontier.complete([done(lease, *URLS[1:])])

    assert priorities(frontier) == dict.fromkeys(URLS[1:], 1)


def test_links_of_two_pages_count_each_although_one_was_repeated(make_frontier: MakeFrontier) -> None:
    frontier = opened(make_frontier, "backlink")
    for url in URLS[:2]:
        lease = die_before_completion(frontier, done(lease_of(frontier, url), *URLS[2:]))
        frontier.complete([done(lease, *URLS[2:])])

    assert priorities(frontier) == dict.fromkeys(URLS[2:], 2)


def test_new_links_of_a_page_that_has_changed_are_taken_in_when_it_is_repeated(
    make_frontier: MakeFrontier,
) -> None:
    frontier = opened(make_frontier, "backlink")
    new = [f"http://new{n}.test/" for n in range(20)]
    lease = die_before_completion(frontier, done(lease_of(frontier, URLS[0]), *URLS[1:]))

    frontier.complete([done(lease, *URLS[1:], *new)])

    assert priorities(frontier) == dict.fromkeys([*URLS[1:], *new], 1)


def test_links_count_once_when_the_answer_to_a_completion_was_lost(make_frontier: MakeFrontier) -> None:
    frontier = opened(make_frontier, "backlink")
    page = done(lease_of(frontier, URLS[0]), *URLS[1:])

    assert [frontier.complete([page]), frontier.complete([page])] == [[0], [-1]]
    assert priorities(frontier) == dict.fromkeys(URLS[1:], 1)


@pytest.mark.parametrize("partitions", [1, 3])
def test_links_of_a_page_too_long_for_one_call_count_once_too(
    make_frontier: MakeFrontier, partitions: int
) -> None:
    frontier = make_frontier("backlink", partitions=partitions)
    urls = [f"http://s{n % 7}.test/{n}" for n in range(LINKS_PER_CALL * 2 + 1)]
    frontier.discover(links("http://first.test/", *urls))
    lease = die_before_completion(frontier, done(lease_of(frontier, "http://first.test/"), *urls))

    frontier.complete([done(lease, *urls)])

    assert priorities(frontier) == dict.fromkeys(urls, 1)


def test_only_modes_whose_links_raise_note_which_pages_have_raised(
    make_frontier: MakeFrontier, client: redis.Redis
) -> None:
    frontier = opened(make_frontier, "breadth")

    frontier.complete([done(lease_one(frontier), *URLS)])

    assert client.keys("*:raised:*") == []


@given(st.integers(1, 500), st.integers(0, 10**6))
def test_a_server_has_one_part_for_ever(number: int, server: int) -> None:
    partitions = Partitions.of("index", number)

    part = partitions.of_server(f"http://s{server}.test")

    assert part in partitions
    assert part == Partitions.of("index", number).of_server(f"http://s{server}.test")
