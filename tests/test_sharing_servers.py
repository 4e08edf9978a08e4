"""Several frontiers of one Redis want the same server: they share its places, and none keeps asking."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from conftest import MakeFrontier, examples
from frontiers import done, fail, fetch, lease_one, let_pass, links, prefix_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis
from waiting import PATIENCE_SECONDS, until

from webcrawler.connection import Connection
from webcrawler.frontier import Calls, Frontier, maintenance
from webcrawler.records import Lease

SERVER = "http://a.test"
PAGES = links(*(f"{SERVER}/{n}" for n in range(50)))
ENDS: dict[str, Callable[[Frontier, Lease], object]] = {
    "its download is over": fetch,
    "it is given back": lambda frontier, lease: frontier.release([lease]),
    "it is decided": lambda frontier, lease: frontier.complete([done(lease)]),
    "it has failed": fail,
    "its worker leaves": lambda frontier, lease: frontier.leave(),
    "its worker has died": lambda frontier, lease: frontier.expire_dead(lambda worker: True),
}


@pytest.fixture
def open_frontier(make_frontier: MakeFrontier) -> Callable[[str], Frontier]:
    def make(name: str, **politeness: float) -> Frontier:
        frontier = make_frontier(name=name, **{"server_concurrency": 1, **politeness})
        frontier.expire(alive_seconds=60)
        frontier.discover(PAGES)
        return frontier

    return make


def waits_until(frontier: Frontier) -> int:
    return int(frontier.client.zscore(prefix_of(frontier) + "wait", SERVER) or 0)


def next_due(frontier: Frontier) -> int:
    return int(frontier.client.hget(frontier.shared_key("server", SERVER), "next") or 0)


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_a_server_is_due_for_who_waits_for_it_as_soon_as_a_lease_of_another_frontier_ends(
    open_frontier: Callable[..., Frontier], end: Callable[[Frontier, Lease], object]
) -> None:
    index, search = open_frontier("index"), open_frontier("search")
    lease = lease_one(index)
    assert not search.lease(1).leases

    end(index, lease)

    assert lease_one(search).server == SERVER


def test_who_waits_finds_it_due_after_the_pause(open_frontier: Callable[..., Frontier]) -> None:
    index, search = open_frontier("index", delay=60.0), open_frontier("search", delay=60.0)
    lease = lease_one(index)
    assert not search.lease(1).leases

    fetch(index, lease)

    assert not search.lease(1).leases
    assert waits_until(search) == next_due(search)


def test_all_that_want_a_server_take_turns(open_frontier: Callable[..., Frontier]) -> None:
    frontiers = [open_frontier(name) for name in ("index", "search")]
    holder = frontiers[0]
    for _ in range(6):
        lease, (other,) = lease_one(holder), [one for one in frontiers if one is not holder]
        let_pass(other, 1.0)
        assert not other.lease(1).leases
        fetch(holder, lease)
        assert waits_until(holder) > waits_until(other) == next_due(other)
        holder = other


def test_a_frontier_that_shares_some_of_the_places_is_called_when_another_frees_one(
    open_frontier: Callable[..., Frontier],
) -> None:
    index, search = (
        open_frontier("index", server_concurrency=2),
        open_frontier("search", server_concurrency=2),
    )
    lease = lease_one(index)
    fetch(index, lease)
    lease = lease_one(index)
    lease_one(search)
    assert not search.lease(1).leases

    fetch(index, lease)

    assert lease_one(search).server == SERVER


def test_a_frontier_that_was_cleared_does_not_come_back(open_frontier: Callable[..., Frontier]) -> None:
    index, search = open_frontier("index"), open_frontier("search")
    lease = lease_one(index)
    search.lease(1)
    search.leave()
    maintenance.clear(search)

    fetch(index, lease)

    assert not search.client.keys(prefix_of(search) + "*")


actions = st.tuples(st.sampled_from(["index", "search", "shop"]), st.sampled_from(["lease", *ENDS]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(60))
@given(steps=st.lists(actions, max_size=30), places=st.integers(1, 3))
def test_whatever_happens_nobody_waits_for_a_server_that_nobody_asks(
    client: Redis, open_frontier: Callable[..., Frontier], steps: list[tuple[str, str]], places: int
) -> None:
    client.flushdb()
    some = ["index", "search", "shop"]
    frontiers = {name: open_frontier(name, server_concurrency=places) for name in some}
    held: dict[str, list[Lease]] = {name: [] for name in some}
    for name, action in steps:
        if action == "lease":
            held[name] += frontiers[name].lease(1).leases
        elif held[name]:
            ENDS[action](frontiers[name], held[name].pop())
            if "worker" in action:
                held[name] = []
                frontiers[name].expire(alive_seconds=60)

        active = int(client.hget(frontiers["index"].shared_key("server", SERVER), "active") or 0)
        assert active == sum(len(leases) for leases in held.values()) <= places
    for name, leases in held.items():
        for lease in leases:
            fetch(frontiers[name], lease)

    for frontier in frontiers.values():
        assert waits_until(frontier) <= next_due(frontier) + 50


# ---- the workers are told


@pytest.fixture
def told(connection: Connection, open_frontier: Callable[..., Frontier]) -> Iterator[threading.Event]:
    """Set when the worker of the frontier `search` is."""
    event, search = threading.Event(), open_frontier("search")
    calls = Calls(connection, search, event.set)
    until(lambda: search.client.pubsub_numsub(prefix_of(search) + "calls")[0][1] > 0, "it to listen")
    yield event
    calls.stop()


def test_a_worker_is_told_when_another_frontier_frees_a_place_that_it_waits_for(
    told: threading.Event, open_frontier: Callable[..., Frontier]
) -> None:
    index, search = open_frontier("index"), open_frontier("search")
    lease = lease_one(index)
    search.lease(1)

    fetch(index, lease)

    assert told.wait(PATIENCE_SECONDS)


def test_a_worker_is_told_again_after_its_line_was_cut(
    told: threading.Event, open_frontier: Callable[..., Frontier]
) -> None:
    index, search = open_frontier("index"), open_frontier("search")
    channel = prefix_of(search) + "calls"
    search.client.client_kill_filter(_type="pubsub")
    until(lambda: search.client.pubsub_numsub(channel)[0][1] > 0, "it to listen again")
    lease = lease_one(index)
    search.lease(1)

    fetch(index, lease)

    assert told.wait(PATIENCE_SECONDS)
