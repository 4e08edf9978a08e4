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


Open = Callable[..., Frontier]


@pytest.fixture
def open_frontier(make_frontier: MakeFrontier) -> Open:
    def make(name: str, **politeness: float) -> Frontier:
        frontier = make_frontier(name=name, **{"server_concurrency": 1, **politeness})
        frontier.expire(alive_seconds=60)
        frontier.discover(PAGES)
        return frontier

    return make


@pytest.fixture
def index(open_frontier: Open) -> Frontier:
    return open_frontier("index")


@pytest.fixture
def search(open_frontier: Open) -> Frontier:
    return open_frontier("search")


def waits_until(frontier: Frontier) -> int:
    return int(frontier.client.zscore(prefix_of(frontier) + "wait", SERVER) or 0)


def next_due(frontier: Frontier) -> int:
    return int(frontier.client.hget(frontier.shared_key("server", SERVER), "next") or 0)


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_a_server_is_due_for_who_waits_for_it_as_soon_as_a_lease_of_another_frontier_ends(
    index: Frontier, search: Frontier, end: Callable[[Frontier, Lease], object]
) -> None:
    lease = lease_one(index)
    assert not search.lease(1).leases

    end(index, lease)

    assert lease_one(search).server == SERVER


def test_who_waits_finds_it_due_after_the_pause(open_frontier: Open) -> None:
    index, search = open_frontier("index", delay=60.0), open_frontier("search", delay=60.0)
    lease = lease_one(index)
    assert not search.lease(1).leases

    fetch(index, lease)

    assert not search.lease(1).leases
    assert waits_until(search) == next_due(search)


def test_all_that_want_a_server_take_turns(index: Frontier, search: Frontier) -> None:
    for holder, other in [(index, search), (search, index)] * 3:
        lease = lease_one(holder)
        let_pass(other, 1.0)
        assert not other.lease(1).leases
        fetch(holder, lease)
        assert waits_until(holder) > waits_until(other) == next_due(other)


def test_a_frontier_that_shares_some_of_the_places_is_called_when_another_frees_one(
    open_frontier: Open,
) -> None:
    index, search = (open_frontier(name, server_concurrency=2) for name in ("index", "search"))
    fetch(index, lease_one(index))
    lease = lease_one(index)
    lease_one(search)
    assert not search.lease(1).leases

    fetch(index, lease)

    assert lease_one(search).server == SERVER


def test_a_frontier_that_was_cleared_does_not_come_back(index: Frontier, search: Frontier) -> None:
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
    client: Redis, open_frontier: Open, steps: list[tuple[str, str]], places: int
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
def told(connection: Connection, search: Frontier) -> Iterator[threading.Event]:
    """Set when the worker of the frontier `search` is."""
    event = threading.Event()
    calls = Calls(connection, search, event.set)
    until_it_listens(search)
    yield event
    calls.stop()


def until_it_listens(search: Frontier) -> None:
    channel = prefix_of(search) + "calls"
    until(lambda: search.client.pubsub_numsub(channel)[0][1] > 0, "it to listen")


@pytest.mark.parametrize("is_cut", [False, True], ids=["", "after its line was cut"])
def test_a_worker_is_told_when_another_frontier_frees_a_place_that_it_waits_for(
    told: threading.Event, index: Frontier, search: Frontier, is_cut: bool
) -> None:
    if is_cut:
        search.client.client_kill_filter(_type="pubsub")
        until_it_listens(search)
    lease = lease_one(index)
    search.lease(1)

    fetch(index, lease)

    assert told.wait(PATIENCE_SECONDS)
