"""Redis' clock may be set back: the frontier's time goes on, so nothing waits for longer than it would.

No test can set the clock of Redis. But all that a clock set back is to the frontier are times in Redis that
lie further ahead of it than before (`set_back`). A second may be lost: the newest time is kept to a second.
"""

from __future__ import annotations

import pytest
from conftest import MakeFrontier
from frontiers import fail, lease_one, let_pass, links, now_ms, set_back, visit

from webcrawler.clock import now
from webcrawler.connection import Connection
from webcrawler.frontier import Frontier, Past, maintenance, slots

A, B = "http://a.test/", "http://b.test/"
HOUR = 3600.0
CLOCK = "{crawl:0}:clock"

by_far = pytest.mark.parametrize("seconds", [2.0, 2 * HOUR, 24 * HOUR, 400 * 24 * HOUR])


@by_far
def test_a_server_is_due_after_its_pause(make_frontier: MakeFrontier, seconds: float) -> None:
    frontier = make_frontier(delay=10.0, server_concurrency=1)
    frontier.discover(links(A, A + "2"))
    visit(frontier)

    set_back(frontier, seconds)

    assert not frontier.lease(1).leases
    let_pass(frontier, 11)
    assert lease_one(frontier).url == A + "2"


@by_far
def test_what_failed_is_tried_again_after_its_pause(make_frontier: MakeFrontier, seconds: float) -> None:
    frontier = make_frontier(backoff=30.0)
    frontier.discover(links(A))
    fail(frontier, lease_one(frontier))

    set_back(frontier, seconds)

    assert not frontier.lease(1).leases
    let_pass(frontier, 31)
    assert lease_one(frontier).url == A


@by_far
def test_a_dead_worker_is_noticed_and_a_living_one_stays(make_frontier: MakeFrontier, seconds: float) -> None:
    ann, bob = make_frontier(worker="ann"), make_frontier(worker="bob")
    ann.discover(links(A, B))
    lease_one(ann), lease_one(bob)
    ann.expire(alive_seconds=5)

    set_back(bob, seconds)
    bob.expire(alive_seconds=60)
    let_pass(bob, 6)

    assert bob.expire() == 1
    assert bob.workers() == ["bob"]
    assert lease_one(bob).url == A


@by_far
def test_a_lease_ends(make_frontier: MakeFrontier, seconds: float) -> None:
    frontier = make_frontier(lease=60.0)
    frontier.discover(links(A))
    lease_one(frontier)

    set_back(frontier, seconds)
    let_pass(frontier, 61)

    assert frontier.expire() == 1


def test_it_may_be_set_back_time_after_time(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(delay=10.0, server_concurrency=1)
    frontier.discover(links(A, A + "2", A + "3"))

    for url in (A, A + "2", A + "3"):
        assert visit(frontier) == url
        set_back(frontier, 2 * HOUR)
        let_pass(frontier, 11)


def test_tokens_go_on_ascending(frontier: Frontier) -> None:
    frontier.discover(links(A, B))
    before = lease_one(frontier).token
    frontier.client.hdel("{crawl:0}:index:counts", "token")  # a server that lost its last writes

    set_back(frontier, 2 * HOUR)

    assert lease_one(frontier).token >= before + (2 * HOUR - 1) * 1_000_000


def test_the_time_of_a_partition_never_goes_back(frontier: Frontier) -> None:
    times = [now_ms(frontier)]

    for ahead in (0, 0, 5_000, 500, 0, 7_200_000, 1):
        newest, known = map(int, frontier.client.get(CLOCK).split())
        frontier.client.set(CLOCK, f"{max(newest, times[-1] + ahead)} {known}")
        times.append(now_ms(frontier))

    assert times == sorted(times)


def test_a_step_back_of_less_than_a_second_is_not_kept(frontier: Frontier) -> None:
    newest = now_ms(frontier) + 900
    frontier.client.set(CLOCK, f"{newest} 0")

    assert newest <= now_ms(frontier) < newest + 100_000
    assert frontier.client.get(CLOCK).split()[1] == b"0"


def test_a_cleared_frontier_does_not_go_back(make_frontier: MakeFrontier) -> None:
    """The catalog refuses what was leased before what it knows."""
    frontier = make_frontier()
    frontier.discover(links(A))
    set_back(frontier, 2 * HOUR)
    before = lease_one(frontier).token
    frontier.leave()

    maintenance.clear(frontier)
    anew = make_frontier()
    anew.discover(links(A))

    assert lease_one(anew).token > before


def test_who_may_only_read_is_told_the_same_time(connection: Connection, frontier: Frontier) -> None:
    client = frontier.client
    newest = now_ms(frontier) + 7_200_000
    client.set(CLOCK, f"{newest} 0")
    client.acl_setuser(
        "reader", enabled=True, nopass=True, keys=["*"], commands=["+@read", "+@connection", "+eval", "+time"]
    )
    own = connection.new_client()
    try:
        own.execute_command("AUTH", "reader", "")
        assert slots.now_ms(own, "{crawl:0}:") >= newest
        assert client.get(CLOCK) == b"%d 0" % newest
    finally:
        own.close()
        client.acl_deluser("reader")


def test_a_fetch_of_a_time_to_come_was_now(make_frontier: MakeFrontier) -> None:
    """So the catalog may have it, of a machine whose clock was ahead."""
    frontier = make_frontier(backoff=30.0)
    frontier.discover(links(A))
    frontier.settle([Past(A, "failed/server-error", now() + 24 * HOUR, tries=1, retry=True)])

    assert not frontier.lease(1).leases
    let_pass(frontier, 31)
    assert lease_one(frontier).url == A
