"""A Redis that answers and refuses is waited for; what it refused is not half done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from webcrawler.connection import retry
from webcrawler.frontier import Frontier
from webcrawler.job import seed_link

LINKS = [seed_link(f"http://a.example/{number}") for number in range(50)]


@pytest.fixture
def full(frontier: Frontier, client: redis.Redis) -> Iterator[redis.Redis]:
    """Has no more room for anything new in this frontier, as with `maxmemory-policy noeviction`."""
    client.config_set("maxmemory", 1)
    yield client
    client.config_set("maxmemory", 0)


def test_a_start_waits_until_redis_has_room(frontier: Frontier, full: redis.Redis) -> None:
    fresh = retry(lambda: frontier.discover(LINKS), lambda: full.config_set("maxmemory", 0))

    assert fresh == len(LINKS)


def test_a_start_gives_up_where_redis_goes_on_to_refuse(frontier: Frontier, full: redis.Redis) -> None:
    with pytest.raises(redis.exceptions.OutOfMemoryError):
        retry(lambda: frontier.discover(LINKS), lambda: None, seconds=0.0)


def test_what_redis_refused_leaves_nothing_half_done(frontier: Frontier, full: redis.Redis) -> None:
    """An operation either has room for all of it or does none of it, so it may be sent again."""
    before = sorted(full.keys())

    with pytest.raises(redis.exceptions.OutOfMemoryError):
        frontier.discover(LINKS)

    assert sorted(full.keys()) == before
