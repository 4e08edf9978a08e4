"""A URL that workers die with is leased alone after three deaths, and set aside after two more."""

from __future__ import annotations

from conftest import MakeFrontier
from frontiers import done, fail, lease_one, let_pass, links, prefix_of

from webcrawler.frontier import Again, Frontier, inspect

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def leased(frontier: Frontier, limit: int = 9) -> list[str]:
    return [lease.url for lease in frontier.lease(limit).leases]


def die(make_frontier: MakeFrontier, times: int) -> None:
    """Workers lease what they get, and die with it."""
    for n in range(times):
        victim = make_frontier(worker=f"victim{n}")
        victim.expire(alive_seconds=5)
        victim.lease(9)
        let_pass(victim, 6)
        victim.expire()


def test_what_three_workers_died_with_is_leased_alone_until_it_is_decided(
    make_frontier: MakeFrontier, frontier: Frontier
) -> None:
    frontier.discover(links(A, B, C))
    die(make_frontier, 3)

    for expected in (A, B, C):
        (lease,) = frontier.lease(9).leases
        assert lease.url == expected
        assert leased(frontier) == []
        assert frontier.complete([done(lease)]) == [0]


def test_a_worker_lets_go_of_the_others_before_it_takes_one_alone(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links(A))
    die(make_frontier, 3)
    bob = make_frontier(worker="bob")
    bob.discover(links(B, C))
    alone = lease_one(frontier)
    frontier.release([alone])
    bob_first = make_frontier(worker="bob")  # as `bob`, which takes what is not poison while ann holds it
    frontier.postpone("http://a.test", 10)
    others = bob_first.lease(2).leases
    let_pass(bob_first, 11)

    assert leased(bob_first) == []  # it still holds the others
    bob_first.release(others[:1])
    assert leased(bob_first) == []
    bob_first.complete([done(others[1])])
    assert leased(bob_first) == [A]


def test_other_workers_go_on_beside_it(make_frontier: MakeFrontier) -> None:
    ann, bob = make_frontier(), make_frontier(worker="bob")
    ann.discover(links(A))
    die(make_frontier, 3)
    ann.discover(links(B, C))

    assert leased(ann) == [A]
    assert leased(bob) == [B, C]


def test_the_second_death_of_those_that_held_it_alone_quarantines_it(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links(A, B))
    die(make_frontier, 4)
    assert inspect.stats(frontier)["quarantined"] == 0
    die(make_frontier, 1)

    stats = inspect.stats(frontier)
    assert (stats["quarantined"], stats["queued"]) == (1, 1)
    (found,) = inspect.quarantined(frontier)
    assert (found["url"], found["times"], found["kills"]) == (A, 5, "workers")
    seconds, microseconds = frontier.client.time()  # type: ignore[misc]
    assert 0 < found["quarantined_ms"] <= seconds * 1000 + microseconds // 1000
    assert inspect.explain(frontier, A)["state"] == "quarantined"
    assert leased(frontier) == [B]


def test_what_was_set_aside_is_tried_alone_and_set_aside_again_by_one_death(
    make_frontier: MakeFrontier, frontier: Frontier
) -> None:
    frontier.discover(links(A, B))
    die(make_frontier, 5)

    assert frontier.again([Again(A, "quarantined")]) == 1
    assert leased(make_frontier(worker="bob")) == [A]
    frontier.client.zadd(f"{prefix_of(frontier)}workers", {"bob": 1})
    frontier.expire()

    assert [(one["url"], one["times"]) for one in inspect.quarantined(frontier)] == [(A, 2)]


def test_workers_that_were_silent_while_redis_was_away_are_alive(make_frontier: MakeFrontier) -> None:
    ann, bob = make_frontier(worker="ann"), make_frontier(worker="bob")
    ann.discover(links(A, B))
    for worker in (ann, bob):
        worker.expire(alive_seconds=5)
    bob.lease(9)

    for _ in range(9):
        let_pass(ann, 8)
        assert ann.expire(alive_seconds=5) == 0

    assert inspect.stats(ann)["leased"] == 2


def test_a_worker_that_is_silent_beside_others_is_dead(make_frontier: MakeFrontier) -> None:
    ann, bob = make_frontier(worker="ann"), make_frontier(worker="bob")
    ann.discover(links(A, B))
    for worker in (ann, bob):
        worker.expire(alive_seconds=5)
    bob.lease(9)

    let_pass(ann, 3)
    ann.expire(alive_seconds=5)
    let_pass(ann, 3)

    assert ann.expire(alive_seconds=5) == 2


def test_a_worker_that_leaves_in_good_order_is_no_death(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links(A, B))
    for n in range(9):
        worker = make_frontier(worker=f"w{n}")
        worker.expire(alive_seconds=5)
        worker.lease(9)
        worker.leave()

    assert leased(frontier) == [A, B]


def test_a_lease_that_ends_is_no_death(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(lease=60.0)
    frontier.discover(links(A, B))
    for _ in range(9):
        frontier.lease(9)
        let_pass(frontier, 61)
        frontier.expire()

    assert leased(frontier) == [A, B]


def test_deaths_are_forgotten_with_the_url(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links(A))
    die(make_frontier, 2)
    fail(frontier, lease_one(frontier), retry=False)

    left = {key.decode().rpartition(":")[2] for key in frontier.client.scan_iter()}
    assert not left & {"deaths", "alone", "leases", "downloading"}


def test_alone_is_alone_over_all_partitions(make_frontier: MakeFrontier) -> None:
    """Else the worker's death would be laid at the wrong door."""
    urls = [f"http://s{n}.test/" for n in range(12)]
    frontier = make_frontier(partitions=4)
    frontier.discover(links(*urls))
    victim = make_frontier(worker="victim", partitions=4)
    for _ in range(3):
        victim.expire(alive_seconds=5)
        while victim.lease(12).leases:
            pass
        let_pass(victim, 6)
        assert victim.expire() == len(urls)

    seen, held = [], []
    for _ in range(100):
        held += frontier.lease(12).leases
        assert len(held) <= 1
        if held:
            seen.append(held[0].url)
            frontier.complete([done(held.pop())])

    assert sorted(seen) == sorted(urls)
