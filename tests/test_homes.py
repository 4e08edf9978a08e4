"""A domain has a home: its partition belongs to one of the workers that are alive."""

from __future__ import annotations

import pytest
import redis
from conftest import MakeFrontier
from frontiers import done, fetch, links
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.frontier import Frontier, Politeness, Report, leases, maintenance, ordering, slots
from webcrawler.frontier.homes import Homes, home_of
from webcrawler.urls import registrable_domain

PARTITIONS = [f"{{crawl:{n}}}:index:" for n in range(16)]
URLS = [f"http://s{n}.test/{page}" for n in range(40) for page in "ab"]
ALL = 1_000
workers = st.sets(st.builds("{}@host-{}".format, st.sampled_from("ABC"), st.integers(1, 99)), min_size=1)


# ---- who owns what


@given(workers)
def test_all_workers_agree_on_one_home_for_each_partition(alive: set[str]) -> None:
    homes = {worker: Homes(PARTITIONS, worker) for worker in alive}
    for one in homes.values():
        one.learn(alive)

    for partition in PARTITIONS:
        owners = [worker for worker, one in homes.items() if not one.is_foreign(partition)]
        assert owners == [home_of(partition, alive)]


@given(workers, st.integers(0, 98))
def test_when_a_worker_goes_nothing_moves_between_other_data_folders(alive: set[str], which: int) -> None:
    gone = sorted(alive)[which % len(alive)]
    if len(alive) == 1:
        return
    for partition in PARTITIONS:
        before, after = home_of(partition, alive), home_of(partition, alive - {gone})
        assert before == after or gone[0] in (before[0], after[0])


@given(st.sets(st.integers(1, 99), min_size=2))
def test_within_one_data_folder_only_what_the_worker_had_moves(numbers: set[int]) -> None:
    alive = {f"A@host-{number}" for number in numbers}
    gone = min(alive)
    for partition in PARTITIONS:
        before = home_of(partition, alive)
        assert before == gone or home_of(partition, alive - {gone}) == before


def test_a_domain_stays_in_its_data_folder_when_all_workers_are_started_anew() -> None:
    before, after = ({f"{folder}@host-{n}" for folder in "AAB" for n in some} for some in ((1, 2), (7, 8)))

    for partition in PARTITIONS:
        assert home_of(partition, before)[0] == home_of(partition, after)[0]


def test_a_partition_alone_and_those_of_a_worker_alone_are_nobody_elses() -> None:
    one, alone = Homes(PARTITIONS[:1], "ann"), Homes(PARTITIONS, "ann")
    one.learn(["ann", "bob"])
    alone.learn(["ann"])

    assert not one.are_known
    assert not any(map(alone.is_foreign, PARTITIONS))


# ---- what is leased


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody falls behind because the machine is busy; and all are asked each time."""
    monkeypatch.setattr(leases, "PATIENCE_SECONDS", 3600.0)
    monkeypatch.setattr(leases, "IDLE_SECONDS", 0.0)
    monkeypatch.setattr(slots, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(slots, "FOREIGN_SECONDS", 0.0)


@pytest.fixture
def ann(make_frontier: MakeFrontier) -> Frontier:
    return make_frontier(worker="ann", partitions=16)


@pytest.fixture
def bob(make_frontier: MakeFrontier, ann: Frontier) -> Frontier:
    """Both are alive, and know of each other."""
    frontier = make_frontier(worker="bob", partitions=16)
    for worker in (ann, frontier):
        worker.expire(alive_seconds=60)
    for worker in (ann, frontier):
        worker.meet()
    ann.discover(links(*URLS))
    return frontier


def leased(frontier: Frontier, limit: int = ALL) -> set[str]:
    return {lease.url for lease in frontier.lease(limit).leases}


def domains(some: set[str]) -> set[str]:
    return set(map(registrable_domain, some))


def of(frontier: Frontier, *alive: str) -> set[str]:
    """The URLs that are at home with its worker, while these are alive or those that are now."""
    prefixes = {url: frontier.partitions.of_server(url.rpartition("/")[0]).prefix for url in URLS}
    workers = alive or frontier.workers()
    return {url for url, prefix in prefixes.items() if home_of(prefix, workers) == frontier.worker}


def leased_at_last(frontier: Frontier, limit: int = ALL) -> set[str]:
    """All that it leases until it gets nothing."""
    found: set[str] = set()
    while more := leased(frontier, limit):
        assert len(more) <= limit
        found |= more
    return found


def fall_behind(frontier: Frontier) -> None:
    """Its owners have left something due for long."""
    for partition in frontier.partitions:
        frontier.client.hset(partition.prefix + "meta", "caught_up", 0)


def test_each_worker_leases_what_is_at_home_with_it(ann: Frontier, bob: Frontier) -> None:
    assert leased(ann) == of(ann)
    assert leased(bob) == of(bob)
    assert of(ann) | of(bob) == set(URLS)
    assert min(len(of(ann)), len(of(bob))) > 10


@pytest.mark.parametrize("limit", [1, 3, ALL])
def test_what_its_owner_leaves_due_for_long_is_leased_by_another_that_has_nothing_due(
    ann: Frontier, bob: Frontier, limit: int
) -> None:
    own = leased(ann)
    assert not leased(ann, limit), "bob has just come"
    fall_behind(ann)

    assert own | leased_at_last(ann, limit) == set(URLS)


def test_nothing_is_taken_by_who_had_something_to_do_a_moment_ago(
    ann: Frontier, bob: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    leased(ann)
    fall_behind(ann)
    monkeypatch.setattr(leases, "IDLE_SECONDS", 3600.0)
    assert not leased(ann)
    assert ann.lease(ALL).wait, "it looks again, and not at once"

    monkeypatch.setattr(leases, "IDLE_SECONDS", 0.0)
    assert leased(ann)


def test_nothing_is_taken_from_an_owner_that_keeps_up(ann: Frontier, bob: Frontier) -> None:
    leases = [*ann.lease(ALL).leases, *bob.lease(ALL).leases]
    fall_behind(ann)
    assert not leased(bob), "all is leased: bob has caught up"
    for lease in leases:
        fetch(bob, lease)
    bob.complete([done(lease, f"{lease.url}/more") for lease in leases])

    assert leased(ann) == {f"{url}/more" for url in of(ann)}
    assert not leased(ann)


def test_new_urls_are_not_left_to_an_owner_that_leases_checks_only(ann: Frontier, bob: Frontier) -> None:
    fall_behind(ann)
    ann.leases.checks_only = True
    assert not leased(ann)

    assert leased_at_last(bob) == set(URLS)


def test_who_has_something_due_at_home_leases_that_first(ann: Frontier, bob: Frontier) -> None:
    fall_behind(ann)

    assert leased(ann, 5) <= of(ann)


def test_who_has_no_place_for_doubtful_servers_takes_none_of_others(ann: Frontier, bob: Frontier) -> None:
    fall_behind(ann)

    assert not ann.lease(5, doubtful=0).leases


@pytest.mark.parametrize("url", URLS[::4])
def test_few_places_for_doubtful_servers_are_enough_wherever_one_of_them_is(
    make_frontier: MakeFrontier, url: str
) -> None:
    ann, bob = (make_frontier(worker=worker, partitions=16) for worker in ("ann", "bob"))
    for worker in (ann, bob, ann):
        worker.expire(alive_seconds=60)
        worker.meet()
    ann.discover(links(url))

    found = [lease.url for worker in (ann, bob) for lease in worker.lease(2, doubtful=1).leases]
    assert found == [url]


def test_what_belonged_to_a_worker_that_left_belongs_to_those_that_stay(ann: Frontier, bob: Frontier) -> None:
    assert leased(bob)
    bob.leave()
    ann.meet()

    assert leased(ann) == set(URLS)


def test_an_empty_answer_counts_what_waits_at_others(ann: Frontier, bob: Frontier) -> None:
    leased(ann)
    found = ann.lease(2)

    assert not found.leases
    assert (found.queued, found.leased) == (len(of(bob)), len(of(ann)))
    assert found.wait is not None


# ---- how many partitions


def test_a_frontier_for_several_workers_has_a_share_of_partitions_for_each(client: redis.Redis) -> None:
    frontier = Frontier(client, ordering("fifo"))

    assert [maintenance.partitions_for(frontier, agents) for agents in (1, 2, 4, 8)] == [0, 16, 16, 32]


def test_it_has_one_where_redis_knows_already_how_servers_are_treated(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(name="shop")
    frontier.block("http://s.test")

    assert maintenance.partitions_for(Frontier(frontier.client, ordering("fifo")), 4) == 0


def test_other_frontiers_keep_how_servers_are_treated_where_index_crawls_do(ann: Frontier) -> None:
    assert len(Frontier(ann.client, ordering("fifo"), "realtime:x").partitions) == 16


# ---- what had nothing due is not asked again at once


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the test lasts."""
    monkeypatch.setattr(slots, "QUIET_SECONDS", 3600.0)
    monkeypatch.setattr(slots, "FOREIGN_SECONDS", 3600.0)


def questions(frontier: Frontier) -> int:
    """How many operations Redis has run."""
    return int(frontier.client.info("commandstats")["cmdstat_evalsha"]["calls"])


@pytest.mark.usefixtures("quiet")
def test_partitions_without_anything_due_are_not_asked_again(ann: Frontier, bob: Frontier) -> None:
    leased(bob)
    leased(ann)
    ann.lease(2)
    before = questions(ann)

    found = ann.lease(2)

    assert questions(ann) == before
    assert (found.queued, found.leased) == (0, len(URLS))


@pytest.mark.usefixtures("quiet")
def test_what_a_worker_has_brought_itself_is_found_at_once(ann: Frontier, bob: Frontier) -> None:
    leases = ann.lease(ALL).leases
    assert not ann.lease(2).leases

    for lease in leases:
        fetch(ann, lease)
    ann.on(ann.client).complete([done(lease, f"{lease.url}/more") for lease in leases])  # another thread

    assert leased(ann) >= {f"{url}/more" for url in of(ann)}


@pytest.mark.usefixtures("quiet")
def test_a_server_that_may_be_asked_again_at_once_is(ann: Frontier, bob: Frontier) -> None:
    ann.leases.politeness = Politeness(delay=0.0, server_concurrency=1)
    leases = ann.lease(ALL).leases
    assert not ann.lease(ALL).leases

    found = ann.lease(ALL, [Report(lease, 0.0) for lease in leases]).leases

    assert {lease.url for lease in [*leases, *found]} == of(ann)
    assert found


@pytest.mark.usefixtures("quiet")
def test_nobody_believes_that_all_is_done_without_asking(ann: Frontier, bob: Frontier) -> None:
    for worker in (ann, bob):
        worker.complete([done(lease) for lease in worker.lease(ALL).leases])
    assert (ann.lease(2).queued, ann.lease(2).leased) == (0, 0)

    bob.discover(links(*(f"{url}/new" for url in URLS)))

    assert ann.lease(0).queued == len(URLS)


@pytest.mark.usefixtures("quiet")
def test_what_comes_home_is_asked_at_once(ann: Frontier, bob: Frontier) -> None:
    leased(ann)
    assert not leased(ann)
    bob.leave()
    ann.meet()

    assert leased(ann) == set(URLS) - of(ann, "ann", "bob")
