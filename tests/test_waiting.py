"""A Redis that answers and refuses is waited for; what it refused is not half done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from conftest import MakeFrontier

from webcrawler.connection import retry
from webcrawler.job import seed_link

LINKS = [seed_link(f"http://a.example/{number}") for number in range(50)]


@pytest.fixture
def full(client: redis.Redis) -> Iterator[redis.Redis]:
    """A Redis without room for anything new, as with `maxmemory-policy noeviction`."""
    client.config_set("maxmemory", 1)
    yield client
    client.config_set("maxmemory", 0)


def test_a_start_waits_until_redis_has_room(make_frontier: MakeFrontier, client: redis.Redis) -> None:
    frontier = make_frontier()
    client.config_set("maxmemory", 1)

    fresh = retry(lambda: frontier.discover(LINKS), lambda: client.config_set("maxmemory", 0))

    assert fresh == len(LINKS)


def test_a_start_gives_up_where_redis_goes_on_to_refuse(
    make_frontier: MakeFrontier, client: redis.Redis, request: pytest.FixtureRequest
) -> None:
    frontier = make_frontier()
    request.getfixturevalue("full")

    with pytest.raises(redis.exceptions.OutOfMemoryError):
        retry(lambda: frontier.discover(LINKS), lambda: None, seconds=0.0)


def test_what_redis_refused_leaves_nothing_half_done(
    make_frontier: MakeFrontier, client: redis.Redis, request: pytest.FixtureRequest
) -> None:
    """An operation either has room for all of it or does none of it, so it may be sent again."""
    frontier = make_frontier()
    before = sorted(client.keys())
    request.getfixturevalue("full")

    with pytest.raises(redis.exceptions.OutOfMemoryError):
        frontier.discover(LINKS)

    assert sorted(client.keys()) == before
