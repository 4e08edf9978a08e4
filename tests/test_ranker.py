"""Ranks: what waits has the priority that the links say, whatever dies when; search has its ranks."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import networkx
import numpy as np
import pytest
import redis
from frontiers import links
from localweb import Site, crawl, page, sites
from test_catalog import failure, redirect, write
from test_catalog import link as link_to
from test_catalog import page as fetched
from waiting import at_rest, until

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views, hold_crawl, is_crawling
from webcrawler.connection import Connection, connect, serialized, visit
from webcrawler.frontier import Frontier, ordering
from webcrawler.linkgraph import frontier_updates
from webcrawler.linkgraph.frontier_updates import CHUNK, FrontierUpdates, LinkFollower, Ranking
from webcrawler.linkgraph.stored import RankRenewal, Ranks, load, store

SERVER = "http://a.test"
PER_NAT = 32768
NEAR = PER_NAT * 0.01  # of a rank one percent
Start = Callable[[], "Future[None]"]


def url(name: object) -> str:
    return f"{SERVER}/{name}"


def priorities_by_hand(outlinks: dict[str, list[str]]) -> dict[str, int]:
    """x = 0.1 + 0.9 · Σ x(source) / c(source) over the pages crawled, as priorities."""
    known = set(outlinks).union(*outlinks.values())
    rank = dict.fromkeys(known, 0.1)
    for _ in range(200):
        new = dict.fromkeys(known, 0.1)
        for source, targets in outlinks.items():
            for target in targets:
                new[target] += 0.9 * rank[source] / len(targets)
        rank = new
    return {name: round(PER_NAT * math.log(x / 0.1)) for name, x in rank.items()}


class World:
    """A crawl that is alive, as far as anybody can see: its locks, its Redis, its catalog."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder = folder
        self.lock = hold_crawl(folder)
        self.connection: Connection = connect(None, folder)
        self.frontier = Frontier(self.connection.client, ordering(mode))
        self.frontier.open(mode)
        self.catalog = Catalog(folder / "catalog.sqlite")
        self.outlinks: dict[str, list[str]] = {}
        self.time = 0.0

    def fetch(self, name: str, *targets: str, rel: str = "") -> None:
        """A page that was fetched; what it links to waits already, so that no look comes in between."""
        self.time += 1
        self.outlinks[name] = list(targets)
        self.frontier.discover(links(*(url(target) for target in targets)))
        write(self.catalog, fetched(url(name), self.time, name, [link_to(url(t), rel=rel) for t in targets]))

    def priority(self, name: str) -> int:
        score = self.connection.client.zscore(f"{{crawl:0}}:index:queue:{SERVER}", f"/{name}")
        assert score is not None, f"{name} does not wait"
        return -math.floor(score / 2**32)

    def is_reordered(self) -> bool:
        """Does all that waits have the priority that it should have?"""
        wanted = priorities_by_hand(self.outlinks)
        try:
            waiting = wanted.keys() - self.outlinks.keys()
            return all(abs(self.priority(name) - wanted[name]) <= NEAR for name in waiting)
        except redis.ConnectionError:
            return False

    def server_id(self) -> int:
        return int(self.connection.client.info("server")["process_id"])

    def close(self) -> None:
        self.catalog.close()
        self.connection.close()
        self.lock.close()


@pytest.fixture
def mode() -> str:
    return "pagerank"


@pytest.fixture
def world(tmp_path: Path, mode: str) -> Iterator[World]:
    with closing(World(tmp_path, mode)) as world:
        yield world


@pytest.fixture
def updates(world: World) -> Iterator[FrontierUpdates]:
    made = FrontierUpdates(world.catalog, {"CRAWL_DIR": str(world.folder)})
    yield made
    made.disconnect()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a ranker as a thread; those at work are told to end when the test has."""
    ended = threading.Event()
    with ThreadPoolExecutor() as pool:
        yield lambda: pool.submit(rank, tmp_path, ended.is_set)
        ended.set()


@pytest.fixture
def ranking(world: World, start: Start) -> Future[None]:
    """A ranker at work, which has told the priorities of what a first page links to."""
    ranking = start()
    world.fetch("seed", "a", "b")
    until(world.is_reordered, "priorities by rank")
    return ranking


def rank(folder: Path, stopped: Callable[[], bool] = lambda: False) -> None:
    """Of what `views.derive` does, the ranks alone."""
    with (
        closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog,
        closing(Ranking(catalog, folder, {"CRAWL_DIR": str(folder)})) as ranking,
    ):
        while not stopped():
            ranking.step(crawling := is_crawling(folder))
            if not (crawling or ranking.is_behind()):
                return
            time.sleep(clock.COMPANION_POLL_SECONDS)


def process(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "webcrawler.views", str(folder)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ranks_of(folder: Path) -> Ranks:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        ranks = load(folder / "ranks", catalog.identity)
    assert ranks is not None
    return ranks


# What waits


def test_what_waits_has_the_priority_of_its_rank(world: World, start: Start) -> None:
    start()
    world.fetch("seed", "a", "b", "c")
    world.fetch("a", "b", "d")
    until(world.is_reordered, "priorities by rank")

    world.fetch("b", "c", "d", "e", "seed")
    world.fetch("c", "d")

    until(world.is_reordered, "priorities by rank")
    assert world.priority("d") > world.priority("e")


@pytest.mark.parametrize("mode", ["hot?query=gene&then=pagerank"])
def test_a_mode_of_two_classes_keeps_them(world: World, start: Start) -> None:
    world.fetch("seed", "gene", "other", "third")
    world.fetch("one", "other", "third")
    start()
    wanted = priorities_by_hand(world.outlinks)

    until(lambda: abs(world.priority("other") - wanted["other"]) <= NEAR, "its priority")

    assert world.priority("gene") == pytest.approx(2**19 + wanted["gene"], abs=NEAR)


def test_the_edge_of_a_redirect_counts_and_its_absence_too(world: World, start: Start) -> None:
    world.fetch("seed", "a", "b")
    write(world.catalog, redirect(url("moved"), 1, url("b")))
    world.outlinks["moved"] = ["b"]
    start()
    until(world.is_reordered, "priorities by rank")

    write(world.catalog, failure(url("moved"), 2, "not-found"))

    del world.outlinks["moved"]
    until(world.is_reordered, "priorities by rank")
    assert world.priority("a") == world.priority("b")


@pytest.mark.usefixtures("ranking")
def test_the_links_of_a_page_that_is_fetched_again_replace_the_old_ones(world: World) -> None:
    world.fetch("more", "a", "c")
    until(world.is_reordered, "priorities by rank")

    world.fetch("more", "b")
    world.outlinks["more"] = ["b"]

    until(lambda: world.priority("b") > world.priority("a") > world.priority("c"), "the new order")
    assert world.priority("c") == 0


def test_nofollow_links_do_not_count(world: World, start: Start) -> None:
    world.fetch("seed", "a", "b")
    world.fetch("foe", "a", rel="nofollow")
    world.outlinks["foe"] = []
    start()

    until(world.is_reordered, "priorities by rank")

    assert world.priority("a") == world.priority("b") > 0


def test_a_ranker_is_no_worker_and_keeps_no_server_up(world: World, ranking: Future[None]) -> None:
    assert world.frontier.workers() == []
    server = world.server_id()
    world.connection.close()

    until(lambda: not is_alive(server), "the end of the server")
    assert not ranking.done()


@pytest.mark.parametrize("mode", ["fifo"])
def test_an_ordering_that_follows_no_ranks_costs_no_connection(
    world: World, updates: FrontierUpdates
) -> None:
    world.fetch("seed", "a", "b")
    before = len(world.connection.client.client_list())

    updates.step(lambda: True)

    assert len(world.connection.client.client_list()) == before
    assert world.priority("a") == 0


def test_where_nothing_is_fetched_yet_there_is_nothing_to_tell(
    world: World, updates: FrontierUpdates
) -> None:
    world.frontier.discover(links(url("seed")))

    updates.step(lambda: True)

    assert world.priority("seed") == 0


def test_links_are_taken_in_a_look_later_as_the_frontier_hears_of_them_last(world: World) -> None:
    follower = LinkFollower(world.catalog)
    world.fetch("seed", "a")

    follower.follow()
    assert follower.pages == 0

    follower.follow()
    assert follower.pages == 1


def test_links_that_were_replaced_again_and_again_are_worn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontier_updates, "NEGLIGIBLE", 0)
    world.fetch("seed", "a")
    follower = LinkFollower(world.catalog)
    for other in "bc":
        assert not follower.is_outdated()
        world.fetch("seed", "a", other)
        follower.follow()
        follower.follow()

    assert follower.is_outdated()
    assert not LinkFollower(world.catalog).is_outdated()


def test_a_crawl_that_ends_meanwhile_is_told_no_more(world: World, updates: FrontierUpdates) -> None:
    world.fetch("seed", *(f"p{n}" for n in range(1500)))
    answers = iter([True, False])

    updates.step(lambda: next(answers))

    assert sum(world.priority(f"p{n}") > 0 for n in range(1500)) == CHUNK


def step_until(updates: FrontierUpdates, condition: Callable[[], object]) -> None:
    def is_so() -> object:
        updates.step(lambda: True)
        return condition()

    until(is_so, "what these steps should come to")


def test_a_url_that_was_leased_meanwhile_has_its_priority_when_it_comes_back(
    world: World, updates: FrontierUpdates
) -> None:
    world.fetch("seed", "a", "b")
    leased = world.frontier.lease(1).leases
    assert [lease.url for lease in leased] == [url("a")]
    step_until(updates, lambda: world.priority("b") > 0)
    world.frontier.release(leased)
    assert world.priority("a") == 0

    for news in ("one", "two"):  # within two looks
        world.fetch(f"other-{news}", news)
        step_until(updates, partial(world.priority, news))

    assert world.priority("a") == world.priority("b")


# What modes are there


BROKEN = """
from webcrawler.frontier import Ordering
class Failing(Ordering):
    follows_ranks = True
    def priorities(self, known):
        raise TypeError("no such thing")
class Short(Failing):
    def priorities(self, known):
        return known.ids[:1].astype("int64")[:0]
class Unmade(Ordering):
    def __init__(self):
        raise RuntimeError("out of order")
"""


@pytest.mark.parametrize(
    "told",
    [
        b"this.x",
        b"hot?query=gene&then=this.x",
        b"nonsense",
        b"\xff",
        b"pagerank?\n\x1b[2J=1",
        *(b"broken_ordering." + name for name in (b"Failing", b"Short", b"Unmade")),
    ],
)
def test_a_mode_that_cannot_be_followed_is_one_warning_and_nothing_else(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, told: bytes
) -> None:
    monkeypatch.setattr(clock, "RANKS_IDLE_SECONDS", 0.0)
    monkeypatch.setattr(clock, "RANKS_RETRY_SECONDS", 0.0)
    monkeypatch.syspath_prepend(world.folder)
    (world.folder / "broken_ordering.py").write_text(BROKEN)
    monkeypatch.delitem(sys.modules, "this", raising=False)
    world.fetch("seed", "a", "b")
    own = told.decode(errors="replace") if b"broken" in told else ""
    told_off = FrontierUpdates(world.catalog, {"CRAWL_DIR": str(world.folder), "FRONTIER_MODE": own})
    world.connection.client.hset("{crawl:0}:index:meta", "mode", told)

    for _ in range(3):
        told_off.step(lambda: True)

    assert "this" not in sys.modules
    (said,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert said.getMessage().isprintable()
    world.frontier.set_mode("pagerank")
    step_until(told_off, world.is_reordered)
    told_off.disconnect()


OWN = "from webcrawler.orderings.links import PageRank\nclass Mine(PageRank): pass\n"


@pytest.mark.slow
def test_an_ordering_of_somebodys_own_is_followed_where_the_crawl_says_that_it_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "own_ordering.py").write_text(OWN)
    monkeypatch.syspath_prepend(modules)
    with closing(World(tmp_path, "own_ordering.Mine")) as world:
        world.fetch("seed", "a", "b")

        Views(tmp_path).ensure_started(serialized({}, "own_ordering.Mine"))

        until(world.is_reordered, "priorities by rank")
    at_rest(tmp_path)


# What dies


@pytest.mark.slow
def test_another_ranker_goes_on_after_one_that_was_killed(world: World, start: Start) -> None:
    for n in range(20):
        world.fetch(f"page{n}", *(f"{n}-{m}" for m in range(500)), "all")
    first = process(world.folder)
    until(lambda: world.priority("all") > 0, "the best, which is told first")
    first.kill()
    first.wait()

    start()

    until(world.is_reordered, "priorities by rank")


def test_redis_is_killed_and_started_again_by_the_crawl(world: World, ranking: Future[None]) -> None:
    os.kill(world.server_id(), signal.SIGKILL)
    world.connection.revive()
    world.fetch("a", "b", "c")

    until(world.is_reordered, "priorities by rank")
    assert not ranking.done()


@pytest.mark.usefixtures("ranking")
def test_what_a_redis_that_came_back_has_forgotten_is_told_again(world: World) -> None:
    world.frontier.rescore(links(url("a")), [0])
    for line in world.connection.client.client_list():
        world.connection.client.client_kill_filter(_id=line["id"], skipme=True)

    until(world.is_reordered, "priorities by rank")


# What is stored


@pytest.mark.parametrize("told", ["pagerank", "this.x"], ids=["a mode", "somebody else's mode"])
def test_it_ends_after_the_crawl_and_leaves_ranks(world: World, start: Start, told: str) -> None:
    world.connection.client.hset("{crawl:0}:index:meta", "mode", told)
    ranking = start()
    world.fetch("seed", "a", "b")
    world.lock.close()

    ranking.result(240)
    assert ranks_of(world.folder).seq == world.catalog.last_seq()


def test_stored_ranks_are_those_of_networkx(world: World) -> None:
    world.fetch("seed", "a", "b", "c")
    world.fetch("a", "b", "d")
    world.fetch("b", "seed", "b", "d")
    world.fetch("foe", "d", rel="nofollow")
    write(world.catalog, redirect(url("moved"), 1, url("b")))
    world.lock.close()

    rank(world.folder)

    graph = world.catalog.links.to_networkx()
    rels = networkx.get_edge_attributes(graph, "rel")
    graph.remove_edges_from([edge for edge, rel in rels.items() if rel == "nofollow"])
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    wanted = networkx.pagerank(graph, alpha=0.85, tol=1e-12)
    found = ranks_of(world.folder).of(list(wanted))
    assert found == pytest.approx(len(wanted) * np.array(list(wanted.values())), abs=1e-6)
    assert found.mean() == pytest.approx(1)


def test_a_catalog_restored_from_a_backup_is_ranked_anew(world: World) -> None:
    world.fetch("seed", "a", "b")
    storing = RankRenewal(world.catalog, world.folder / "ranks")
    storing.renew()
    store(world.folder / "ranks", np.ones(9), world.catalog.last_seq() + 7, world.catalog.identity)

    restored = RankRenewal(world.catalog, world.folder / "ranks")

    assert not storing.is_behind()
    assert restored.is_behind()
    restored.renew()
    assert not restored.is_behind()
    assert len(ranks_of(world.folder).values) == 3


def test_ranks_that_are_there_are_not_computed_again(world: World) -> None:
    world.fetch("seed", "a", "b")
    world.lock.close()
    rank(world.folder)
    before = list((world.folder / "ranks").iterdir())

    rank(world.folder)

    assert list((world.folder / "ranks").iterdir()) == before


# A crawl


@pytest.mark.slow
def test_a_crawl_by_pagerank_is_reordered_while_it_goes_on(tmp_path: Path) -> None:
    def after_the_ranker(site: Site) -> object:
        """Answers when the page that most link to waits before the one found first."""
        with closing(visit({"CRAWL_DIR": str(tmp_path)})) as visitor:
            key, score = f"{{crawl:0}}:index:queue:{site.url}", visitor.client.zscore
            until(lambda: score(key, "/high") < score(key, "/low"), "the ranker to reorder")
        return page("/end")

    routes = {"/": page("/one", "/two", "/low", "/high"), "*": page()}
    routes |= {"/one": page("/high"), "/two": after_the_ranker}
    with sites(web=routes) as web:  # type: ignore[arg-type]
        site = web["web"]
        words = ("index", "-a", "mode=pagerank", "-a", f"seeds={site.url}/")
        crawled = crawl(tmp_path, *words, CONCURRENT_REQUESTS=1, RANKER_ENABLED="yes")

    assert crawled.status == 0
    assert site.pages[:4] == ["/", "/one", "/two", "/high"]
    assert ranks_of(at_rest(tmp_path))


@pytest.mark.slow
def test_a_crawl_in_any_order_leaves_ranks(tmp_path: Path) -> None:
    with sites(web={"/": page("/a", "/b"), "*": page()}) as web:
        crawl(tmp_path, "index", "-a", "mode=fifo", "-a", f"seeds={web['web'].url}/", RANKER_ENABLED="yes")

    assert ranks_of(at_rest(tmp_path))


@pytest.mark.slow
def test_ranks_that_are_not_wanted_are_not_made(tmp_path: Path) -> None:
    with sites(web={"/": page("/a"), "*": page()}) as web:
        crawl(tmp_path, "index", "-a", "mode=pagerank", "-a", f"seeds={web['web'].url}/", RANKER_ENABLED="no")

    assert not (at_rest(tmp_path) / "ranks").exists()
