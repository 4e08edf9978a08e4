"""Redis has lost some keys of a frontier, or refuses what it is asked: the crawl ends, and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis
from conftest import MakeFrontier
from frontiers import done, fail, fetch, let_pass, links, prefix_of
from frontiers import page as fetched
from handmade import HANGS_SECONDS, Make, made, make
from inprocess import command
from localweb import Answer, Site, crawl, page, sites
from redis import exceptions
from test_batch import Room, room
from waiting import at_rest

from webcrawler.connection import connect, is_damage, is_passing
from webcrawler.errors import Unavailable
from webcrawler.frontier import Frontier, inspect

__all__ = ["made", "make", "room"]  # fixtures

A, B, C, D, E = (f"http://127.0.0.{n}" for n in (1, 2, 3, 4, 5))
PAGES = 30


@pytest.fixture
def filled(make_frontier: MakeFrontier) -> Frontier:
    """Has servers that are ready, doubtful and wait, leases, and a URL that is to be tried again."""
    frontier = make_frontier("fifo")
    frontier.discover(links(*(f"{server}/{n}" for n in range(4) for server in (A, B, C, D, E))))
    in_time, slow, waits, _ = frontier.lease(4).leases
    fetch(frontier, in_time)
    frontier.complete([done(in_time)])
    fetch(frontier, slow, 60.0)
    fail(frontier, slow)
    frontier.release([waits])
    frontier.postpone(C, 60.0)
    let_pass(frontier, 5)
    return frontier


def crawl_to_its_end(frontier: Frontier) -> None:
    let_pass(frontier, 3600)
    frontier.expire()
    while leases := frontier.lease(10).leases:
        for lease in leases:
            fetch(frontier, lease)
            frontier.complete([done(lease)])
        let_pass(frontier, 3600)


LOSING = [f"queue:{A}", f"queue:{C}", "ready", "doubtful", "wait", "retry", "tries", "leases", "counts"]


@pytest.mark.parametrize("key", LOSING)
def test_a_frontier_without_a_key_that_says_what_waits_is_noticed(filled: Frontier, key: str) -> None:
    assert filled.client.delete(prefix_of(filled) + key)

    with pytest.raises(exceptions.ResponseError) as raised:
        crawl_to_its_end(filled)

    assert is_damage(raised.value) and not is_passing(raised.value)


OTHERS = [f"site:{A}", "taken", "turns", "domains", "ends", "seen:0000", "workers"]


@pytest.mark.parametrize("key", ["", *OTHERS])
def test_without_other_keys_all_that_waits_is_fetched(filled: Frontier, key: str) -> None:
    filled.client.delete(prefix_of(filled) + key)

    crawl_to_its_end(filled)

    states = inspect.stats(filled)
    assert (states["queued"], states["leased"]) == (0, 1 if key == "ends" else 0)


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (exceptions.ConnectionError("Connection refused"), True),
        (exceptions.TimeoutError("Timeout reading from socket"), True),
        (exceptions.BusyLoadingError("Redis is loading the dataset in memory"), True),
        (exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), True),
        (exceptions.ReadOnlyError("You can't write against a read only replica."), True),
        (exceptions.ClusterDownError("The cluster is down"), True),
        (exceptions.ResponseError("MISCONF Errors writing to the AOF file: No space left on device"), True),
        (exceptions.ResponseError("BUSY Redis is busy running a script."), True),
        (exceptions.ResponseError("Error running script: @user_script:5: -OOM command not allowed"), True),
        (Unavailable("Redis does not answer"), True),
        (exceptions.AuthenticationError("invalid username-password pair"), False),
        (exceptions.NoPermissionError("User x has no permissions to run the 'hget' command"), False),
        (exceptions.ResponseError("ACL failure in script: script: on @user_script:1."), False),
        (exceptions.ResponseError("WRONGTYPE Operation against a key holding the wrong kind"), False),
        (exceptions.ResponseError("user_script:1: attempt to concatenate a nil value"), False),
        (exceptions.ResponseError("unknown command 'EVALSHA'"), False),
        (ZeroDivisionError(), False),
    ],
    ids=str,
)
def test_what_redis_refuses_for_good_does_not_pass(error: Exception, passes: bool) -> None:
    assert is_passing(error) is passes


def test_an_error_that_does_not_pass_ends_the_crawl_with_one_line(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    made = make(f"{A}/")
    made.frontier.client.set(prefix_of(made.frontier) + "leases", "of another kind")

    async def work() -> None:
        await asyncio.wait_for(made.scheduler._feed(), HANGS_SECONDS)
        await asyncio.sleep(0)  # the engine is told by a task of its own

    asyncio.run(work())

    assert made.engine.ended == "scheduler_failed" and made.crawl.has_lost
    assert [record.message for record in caplog.records if "WRONGTYPE" in record.message] == [
        record.message for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")
    ]


def test_no_page_is_blamed_for_what_redis_refuses(room: Room) -> None:
    pages = list(map(fetched, room.lease(f"{A}/", f"{B}/")))
    room.frontier.client.set(prefix_of(room.frontier) + "quarantined", "of another kind")
    room.frontier.client.delete(prefix_of(room.frontier) + "counts")
    room.frontier.client.set(prefix_of(room.frontier) + "counts", "of another kind")
    told: list[Exception] = []

    room.decide(*pages, broken=told.append)

    assert is_damage(told[0])
    with closing(room.catalog()) as catalog:
        assert catalog.fetches.outcomes() == {"done/document": 2}


# ---- crawls


@pytest.fixture
def web() -> Iterator[list[Site]]:
    with sites(a={}, b={}, c={}) as opened:
        for site in opened.values():
            for n in range(PAGES):
                site.routes[f"/{n}"] = page(f"/{2 * n + 1}", f"/{2 * n + 2}")
        yield list(opened.values())


@pytest.mark.slow
@pytest.mark.parametrize("lost", [("queue:", "site:", "taken"), ("leases",), ("counts",)])
def test_a_crawl_that_has_lost_keys_ends_and_the_rebuild_mends_it(
    tmp_path: Path, web: list[Site], lost: tuple[str, ...]
) -> None:
    def lose(site: Site) -> Answer:
        with connect(None, tmp_path) as connected:
            keys = [
                key for key in connected.client.scan_iter() if key.partition(b":index:")[2].startswith(named)
            ]
            connected.client.delete(*keys)
        return found

    named = tuple(name.encode() for name in lost)
    found, web[0].routes["/11"] = web[0].routes["/11"], lose
    seeds = "".join(f"{site.url}/0\n" for site in web)

    ended = crawl(tmp_path, "index", "-a", f"seeds={seeds}", CONCURRENT_REQUESTS=4)

    assert ended.status == 1
    assert "`webcrawler frontier rebuild` fills it again" in ended.log.splitlines()[-1]
    assert command("frontier", "rebuild", folder=at_rest(tmp_path)).status == 0
    again = crawl(tmp_path, "index")
    assert again.status == 0, again.log
    assert again.documents() == {f"{site.url}/{n}" for site in web for n in range(PAGES)}


@pytest.mark.slow
def test_a_redis_that_drops_keys_is_warned_of(tmp_path: Path, web: list[Site], client: redis.Redis) -> None:
    where = client.connection_pool.connection_kwargs["path"]
    client.flushall()
    with pytest.MonkeyPatch.context():
        client.config_set("maxmemory", 2**30)
        logs = []
        for policy in ("allkeys-lru", "noeviction"):
            client.config_set("maxmemory-policy", policy)
            given = {"REDIS_URL": f"unix://{where}", "CLOSESPIDER_TIMEOUT": 60}
            logs.append(crawl(tmp_path / policy, "index", "-a", f"seeds={web[0].url}/29", **given).log)
            client.flushall()
        client.config_set("maxmemory", 0)

    assert ["set its maxmemory-policy to noeviction" in log for log in logs] == [True, False]
