"""REDIS_URL leads to a node of a real Redis Cluster: three nodes on loopback, in one test with replicas."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import interruptedclient
import pytest
import redis
from conftest import MakeFrontier
from frontiers import done, links
from localweb import Answer, Route, Site, crawl, page
from rediscluster import Cluster, Node, cluster, holds
from waiting import until

from webcrawler.connection import Connection, connect
from webcrawler.errors import BadInput, Unavailable
from webcrawler.frontier import Frontier, Politeness, Report, inspect, maintenance, ordering

pytestmark = pytest.mark.cluster

PARTITIONS = 8
COUNT = "return redis.call('INCR', KEYS[2] .. 'number')"
COUNT_SHA = hashlib.sha1(COUNT.encode()).hexdigest()


@pytest.fixture(scope="module")
def three_nodes() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="wc-") as folder:
        try:
            with cluster(Path(folder)) as formed:
                yield formed
        except BadInput as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no Redis: {error}")


@pytest.fixture
def connection(three_nodes: Cluster, tmp_path: Path) -> Iterator[Connection]:
    """To an empty cluster that is whole."""
    three_nodes.wait()
    with connect(three_nodes.url, tmp_path) as opened:
        opened.client.flushall()
        yield opened


def count_everywhere(client: Any) -> list[Any]:
    """One EVALSHA a partition, in one round trip a node."""
    pipe = client.pipeline(transaction=False)
    for partition in range(PARTITIONS):
        base = f"{{crawl:{partition}}}:"
        pipe.execute_command("EVALSHA", COUNT_SHA, 2, base, f"{base}index:")
    return list(pipe.execute(raise_on_error=False))


def comes_back(connection: Connection) -> None:
    until(lambda: holds(lambda: connection.revive() is None), "the cluster")


def calls(nodes: Cluster, command: str) -> int:
    stats = [node.client.info("commandstats") for node in nodes.nodes]
    return sum(of_node.get(f"cmdstat_{command}", {"calls": 0})["calls"] for of_node in stats)


def test_any_node_leads_to_the_whole_cluster(three_nodes: Cluster, tmp_path: Path) -> None:
    for node in three_nodes.nodes:
        with connect(f"redis://127.0.0.1:{node.port}/0", tmp_path) as connection:
            assert connection.is_cluster
            assert not connection.embedded
            for partition in range(PARTITIONS):
                connection.client.set(f"{{crawl:{partition}}}:word", "gene")
                assert connection.new_client().get(f"{{crawl:{partition}}}:word") == b"gene"


def test_single_server_is_no_cluster(tmp_path: Path) -> None:
    with connect(None, tmp_path) as connection:
        assert not connection.is_cluster


def test_script_is_loaded_on_every_node_and_runs_for_all_partitions(connection: Connection) -> None:
    connection.client.script_load(COUNT)

    assert count_everywhere(connection.client) == [1] * PARTITIONS
    assert count_everywhere(connection.client) == [2] * PARTITIONS


def test_pipeline_costs_no_more_calls_than_it_has(three_nodes: Cluster, connection: Connection) -> None:
    connection.client.script_load(COUNT)
    for node in three_nodes.nodes:
        node.client.config_resetstat()

    count_everywhere(connection.client)

    assert calls(three_nodes, "evalsha") == PARTITIONS
    assert calls(three_nodes, "command|getkeys") == 0


def test_keys_of_two_partitions_in_one_command_are_a_bug_of_ours(connection: Connection) -> None:
    with pytest.raises(ValueError, match="same key slot"):
        connection.client.evalsha(COUNT_SHA, 2, "{crawl:0}:", "{crawl:1}:")


def test_a_command_is_interrupted_while_its_numbers_are_written(
    three_nodes: Cluster, connection: Connection, tmp_path: Path
) -> None:
    ended = interruptedclient.run(three_nodes.url, tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "True True\n")


def test_numbered_database_is_refused_in_one_line(three_nodes: Cluster, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"DB index|only be 0") as caught:
        connect(f"{three_nodes.url}/3", tmp_path)

    assert "\n" not in str(caught.value)


def test_node_that_goes_away_is_waited_for_and_has_lost_nothing(
    three_nodes: Cluster, connection: Connection
) -> None:
    client = connection.client
    client.script_load(COUNT)
    count_everywhere(client)
    three_nodes.nodes[1].kill()

    with pytest.raises(redis.RedisError):
        count_everywhere(client)
    with pytest.raises(Unavailable, match="does not answer"):
        connection.revive()

    three_nodes.nodes[1].start()
    comes_back(connection)
    client.script_load(COUNT)
    numbers = count_everywhere(client)
    assert all(number in (2, 3) for number in numbers), "those whose node was there may have counted"


def test_cluster_without_any_node_is_no_more_than_away(three_nodes: Cluster, connection: Connection) -> None:
    for node in three_nodes.nodes:
        node.kill()

    with pytest.raises(redis.RedisError):
        connection.client.get("{crawl:0}:word")
    with pytest.raises(redis.RedisError):
        count_everywhere(connection.client)
    with pytest.raises(redis.RedisError):
        connection.new_client()
    with pytest.raises(Unavailable):
        connection.revive()

    for node in three_nodes.nodes:
        node.start()
    comes_back(connection)
    assert connection.client.get("{crawl:0}:word") is None


# The frontier, in eight partitions


SERVERS, PAGES = 40, 5
FRONTS = [f"http://www.site{n % SERVERS}.example" for n in range(SERVERS + 1)]
WEB = {  # each page links to the next of its server, and to two of the next server
    f"{front}/{n}": [f"{front}/{(n + 1) % PAGES}", f"{other}/0", f"{other}/{(n * 7) % PAGES}"]
    for front, other in pairwise(FRONTS)
    for n in range(PAGES)
}
SEED = f"{FRONTS[0]}/0"


@pytest.fixture
def make_frontier(connection: Connection) -> Iterator[MakeFrontier]:
    with ExitStack() as opened:

        def make(worker: str) -> Frontier:
            client = opened.enter_context(closing(connection.new_client()))
            polite = Politeness(delay=0.0, server_concurrency=1_000)
            frontier = Frontier(client, ordering("breadth"), "index", polite, worker, partitions=PARTITIONS)
            frontier.open("breadth")
            return frontier

        yield make


def crawl_some(frontier: Frontier, log: list[str]) -> bool:
    """Some pages from lease to decision; False when all are decided."""
    found = frontier.lease(16)
    frontier.fetched([Report(lease, 0.0) for lease in found.leases])
    answers = frontier.complete([done(lease, *WEB[lease.url]) for lease in found.leases])
    log += [lease.url for lease, answer in zip(found.leases, answers, strict=True) if answer >= 0]
    return bool(found.leases or found.queued or found.leased)


def slots_in_use(frontier: Frontier) -> int:
    return sum(frontier.client.exists(slot.prefix + "counts") for slot in frontier.partitions)


def test_every_url_is_leased_once_and_states_add_up(make_frontier: MakeFrontier) -> None:
    frontier, log = make_frontier("ann"), []
    assert frontier.discover(links(SEED)) == 1

    while crawl_some(frontier, log):
        pass

    assert sorted(log) == sorted(WEB)
    states = inspect.stats(frontier)
    assert states["seen"] == states["done"] == len(WEB)
    assert states["queued"] == states["leased"] == states["failed"] == 0
    assert slots_in_use(frontier) == PARTITIONS


def test_what_a_dead_worker_held_comes_back_from_all_partitions(
    make_frontier: MakeFrontier,
) -> None:
    ann, bob = make_frontier("ann"), make_frontier("bob")
    ann.discover(links(*WEB))
    for worker in (ann, bob):
        worker.expire(60)
    held = {lease.url for lease in ann.lease(50).leases}

    assert bob.expire_dead(lambda worker: worker == "ann") == len(held) == 50

    assert inspect.stats(bob)["leased"] == 0
    assert bob.discover(links(*WEB)) == 0
    again = list[str]()
    while leases := bob.lease(50).leases:
        again += [lease.url for lease in leases]
    assert sorted(again) == sorted(WEB)


def test_clearing_forgets_all_partitions(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("ann")
    frontier.discover(links(*WEB))

    assert maintenance.clear(frontier) == len(WEB)

    left = frontier.client.scan_iter(match="*")
    assert {key.rpartition(b":")[2] for key in left} == {b"clock"}, "time does not go back"


def test_node_that_dies_in_mid_crawl_is_waited_for_and_nothing_is_lost(
    three_nodes: Cluster, connection: Connection, make_frontier: MakeFrontier
) -> None:
    frontier, log, faults = make_frontier("ann"), [], 0
    frontier.discover(links(SEED))
    left = True
    while left:
        if not faults and len(log) > len(WEB) // 3:
            three_nodes.nodes[1].kill()
        try:
            left = crawl_some(frontier, log)
        except redis.RedisError:
            faults += 1
            if faults == 3:
                three_nodes.nodes[1].start()
                comes_back(connection)
            if faults >= 3:
                frontier.reclaim(())

    assert faults >= 3
    assert set(log) <= set(WEB), "what was decided by a call whose answer was lost is missing in the log only"
    assert len(log) == len(set(log))
    states = inspect.stats(frontier)
    assert states["seen"] == states["done"] == len(WEB)
    assert states["queued"] == states["leased"] == 0


def test_links_are_sent_again_to_a_node_that_came_back(
    three_nodes: Cluster, connection: Connection, make_frontier: MakeFrontier
) -> None:
    """It may have lost its last writes: what this process knows of it counts no more."""
    frontier = make_frontier("ann")
    frontier.discover(links(*WEB))
    node = three_nodes.nodes[0]
    node.kill()
    node.start()
    comes_back(connection)
    node.client.flushall()

    until(lambda: holds(lambda: frontier.expire() == 0), "the node")

    assert frontier.discover(links(*WEB)) > 0


@pytest.mark.parametrize(
    "deaths", [1, pytest.param(20, marks=pytest.mark.deep("one of the same deaths in CI"))]
)
@pytest.mark.timeout(900)
def test_replica_takes_over_from_a_primary_that_dies_and_nothing_is_lost(tmp_path: Path, deaths: int) -> None:
    with ExitStack() as opened:
        nodes = opened.enter_context(cluster(tmp_path, replicas=True))
        connection = opened.enter_context(connect(nodes.url, tmp_path))
        polite = Politeness(delay=0.0, server_concurrency=1_000)
        frontier = Frontier(connection.client, ordering("breadth"), "x", polite, "ann", partitions=PARTITIONS)
        for death in range(deaths):
            connection.client.flushall()
            frontier.open("breadth")
            frontier.discover(links(SEED))
            crawl_while_a_primary_dies(nodes, connection, frontier, death * len(WEB) // deaths)
            states = inspect.stats(frontier)
            assert states["seen"] == states["done"] == len(WEB)
            assert states["queued"] == states["leased"] == 0


def crawl_while_a_primary_dies(
    nodes: Cluster, connection: Connection, frontier: Frontier, after: int
) -> None:
    """It dies after some pages, and its replica has what it has acknowledged. Then it comes back as one."""
    every = nodes.nodes + nodes.replicas
    log: list[str] = []
    dead: Node | None = None
    left = True

    def copied() -> list[Node]:
        return [node for node in every if holds(node.is_copied)]

    while left:
        if dead is None and len(log) >= after:
            until(copied, "a replica that has all")
            dead = copied()[-1]
            dead.kill()
        try:
            left = crawl_some(frontier, log)
        except redis.RedisError:
            comes_back(connection)
            frontier.reclaim(())
    assert dead
    assert len(log) == len(set(log))
    dead.start()
    nodes.wait()
    until(lambda: len(copied()) == 3, "three replicas")


@pytest.mark.deep("test_node_that_dies_in_mid_crawl_is_waited_for_and_nothing_is_lost")
def test_crawl_outlives_the_death_of_a_node(
    three_nodes: Cluster, connection: Connection, tmp_path: Path
) -> None:
    def break_a_node(_: Site) -> Answer:
        three_nodes.nodes[2].kill()
        until(lambda: three_nodes.nodes[0].state["cluster_state"] == "fail", "the others to miss it")
        three_nodes.nodes[2].start()
        return page("/8", "/9")

    inner: dict[str, Route] = {f"/{n}": page(f"/{n + 1}", "/") for n in range(7)}
    hosts = [f"127.0.0.{n}" for n in range(2, 8)]  # of one host each, so in several partitions
    webs = [Site({**inner, "/8": page(), "/9": page()}, host=host).start() for host in hosts]
    fronts = [f"{site.url}/" for site in webs]
    for site in webs:
        site.routes |= {"/": page(*fronts, "/0"), "/7": page("/8", "/9")}
    webs[0].routes["/7"] = break_a_node

    shared = {"REDIS_URL": three_nodes.url, "FRONTIER_PARTITIONS": PARTITIONS}
    seeds = f"seeds={fronts[0]}"
    crawled = crawl(tmp_path, "index", "-a", seeds, ADDRESSES_ALLOWED="127.0.0.0/8", **shared)
    for site in webs:
        site.stop()

    assert crawled.status == 0, crawled.log
    assert crawled.documents() == {f"{site.url}/{path}" for site in webs for path in ("", *range(10))}
    assert [len(site.pages) for site in webs] == [11] * len(webs), "a page was fetched twice"
    frontier = Frontier(connection.client, ordering("breadth"))
    states = inspect.stats(frontier)
    assert states["seen"] == states["done"] == 11 * len(webs)
    assert 1 < slots_in_use(frontier) <= len(webs)
