"""How long a robots.txt holds: RFC 9309, 2.3.1.4 and 2.4; the clock is the test's."""

from __future__ import annotations

import gzip
import zlib

import msgpack
import pytest
import redis
from scrapy.http import Headers

from webcrawler.crawl.compressed import is_whole
from webcrawler.crawl.responses import codings_of
from webcrawler.crawl.robots import BODY_MAX, Robots, RobotsCache, judge
from webcrawler.frontier import Politeness

UA = "FooBot/1.0"
PREFIX = "{crawl:0}:robots:"
KEY = PREFIX + "http://h"
RULES = b"User-agent: *\nDisallow: /secret\nCrawl-delay: 7"
HOUR = 3600.0
DAY = 24 * HOUR
NOW = 1_000_000_000.0
POLITENESS = Politeness(tries=3, backoff=30.0)


def answered(
    status: int | None, body: bytes = RULES, known: Robots | None = None, now: float = NOW
) -> Robots:
    return judge(status, body, UA, known, now, POLITENESS)


def may(robots: Robots) -> tuple[bool, bool]:
    """May /page and /secret be fetched?"""
    if robots.rules is None:
        return False, False
    return robots.rules.allowed("http://h/page"), robots.rules.allowed("http://h/secret")


BY_RULES, EVERYTHING, NOTHING = (True, False), (True, True), (False, False)


# ---- how long an answer holds


@pytest.mark.parametrize(
    ("status", "outcome", "seconds"),
    [
        (200, BY_RULES, DAY),  # 2.4: not more than 24 hours
        (404, EVERYTHING, DAY),
        (302, EVERYTHING, DAY),  # redirected without end
        (503, NOTHING, 30.0),  # ours: FRONTIER_BACKOFF
        (429, NOTHING, 30.0),
        (None, NOTHING, 30.0),
    ],
)
def test_first_answer_holds_for_a_while(status: int, outcome: tuple[bool, bool], seconds: float) -> None:
    robots = answered(status)

    assert may(robots) == outcome
    assert not robots.is_old(NOW + seconds - 1)
    assert robots.is_old(NOW + seconds)


def test_server_that_is_not_reached_is_asked_at_doubling_intervals_then_each_hour() -> None:
    waits = []
    robots = None
    for _ in range(5):
        robots = answered(None, known=robots)
        waits.append((robots.until - NOW, robots.settled))

    assert waits == [(30, False), (60, False), (HOUR, True), (HOUR, True), (HOUR, True)]


def test_an_answer_ends_the_counting_of_failures() -> None:
    failed = answered(503, known=answered(503))

    assert failed.failures == 2
    assert answered(404, known=failed).failures == 0


# ---- a server that can no longer be reached


@pytest.mark.parametrize(
    ("before", "age", "status", "outcome"),
    [
        # 2.4: the cached copy may be used for longer than 24 hours while it is unreachable
        (200, 1 * DAY, 503, BY_RULES),
        (200, 29 * DAY, None, BY_RULES),
        (200, 29 * DAY, 206, BY_RULES),
        (203, 29 * DAY, 429, BY_RULES),
        # 2.3.1.4: undefined means complete disallow; after 30 days we do not assume "unavailable"
        (200, 30 * DAY, 503, NOTHING),
        (200, 31 * DAY, None, NOTHING),
        # what was no robots.txt is no copy of one
        (404, 1 * DAY, 503, NOTHING),
        (302, 1 * DAY, 503, NOTHING),
        (503, 1 * DAY, 503, NOTHING),
        # it is reached again
        (200, 1 * DAY, 404, EVERYTHING),
        (200, 31 * DAY, 404, EVERYTHING),
    ],
)
def test_old_copy_holds_for_thirty_days(
    before: int, age: float, status: int | None, outcome: tuple[bool, bool]
) -> None:
    known = answered(before)

    assert may(answered(status, b"", known, NOW + age)) == outcome


def test_copy_is_thirty_days_old_however_often_the_server_failed_since() -> None:
    robots, now, asked = answered(200), NOW, 0
    while may(robots) == BY_RULES:
        now = robots.until
        robots = answered(503, b"", robots, now)
        asked += 1

    assert now == NOW + 30 * DAY
    assert 29 * 24 - 5 < asked < 29 * 24 + 5, "once an hour"
    assert may(answered(200, known=robots, now=now)) == BY_RULES


# ---- in Redis


@pytest.fixture
def cache(client: redis.Redis) -> RobotsCache:
    return RobotsCache(client, PREFIX.__add__, UA, POLITENESS)


def got(cache: RobotsCache) -> Robots:
    found, _ = cache.get("http://h")
    assert found is not None
    return found


@pytest.mark.parametrize(("status", "outcome"), [(200, BY_RULES), (404, EVERYTHING), (None, NOTHING)])
def test_what_is_put_is_got(cache: RobotsCache, status: int | None, outcome: tuple[bool, bool]) -> None:
    robots = answered(status)

    cache.put("http://h", robots, NOW)

    found = got(cache)
    assert may(found) == outcome
    assert (found.status, found.fetched) == (status, NOW)
    assert (found.until, found.failures) == (robots.until, robots.failures)
    assert cache.get("https://h")[0] is None


def test_old_copy_is_got_with_its_failures_and_goes_on_to_hold(cache: RobotsCache) -> None:
    cache.put("http://h", answered(503, known=answered(200)), NOW)

    found = got(cache)
    assert found.failures == 1
    assert may(found) == BY_RULES
    assert may(answered(None, b"", found, NOW + 29 * DAY)) == BY_RULES
    assert may(answered(None, b"", found, NOW + 31 * DAY)) == NOTHING


@pytest.mark.parametrize(
    ("status", "known", "at_least"),
    [(200, None, 30 * DAY), (404, None, DAY), (503, None, 60), (503, 200, 30 * DAY), (503, 404, 60)],
)
def test_robots_txt_is_kept_for_thirty_days_other_answers_until_they_are_old(
    client: redis.Redis, cache: RobotsCache, status: int, known: int | None, at_least: float
) -> None:
    cache.put("http://h", answered(status, known=answered(known) if known else None), NOW)

    assert at_least <= client.ttl(KEY) <= at_least + 120


def test_no_more_is_kept_than_counts(client: redis.Redis, cache: RobotsCache) -> None:
    cache.put("http://h", answered(200, RULES + b"\n" + b"#" * 10_000_000), NOW)

    assert may(got(cache)) == BY_RULES
    assert len(got(cache).body) == BODY_MAX
    assert client.strlen(KEY) < 10_000, "compressed"


def redis_now(client: redis.Redis) -> float:
    seconds, micros = client.time()
    return seconds + micros / 1e6


def test_time_is_that_of_redis(client: redis.Redis, cache: RobotsCache) -> None:
    before = redis_now(client)

    _, now = cache.get("http://h")  # in whole milliseconds

    assert before - 0.001 < now <= redis_now(client)


def test_time_does_not_go_back_with_the_clock_of_redis(client: redis.Redis, cache: RobotsCache) -> None:
    """Else what a clock far ahead has stored would be new for as long."""
    later = redis_now(client) + 400 * DAY
    cache.put("http://h", answered(200, now=later), later)
    client.set("{crawl:0}:clock", f"{round(later * 1000)} 0")

    found, now = cache.get("http://h")

    assert found is not None and not found.is_old(now)
    assert found.is_old(now + DAY) and now >= later - 1


@pytest.mark.parametrize(
    ("answers", "seconds"),
    [([503], 30), ([503, 503], 60), ([503] * 3, HOUR), ([200], DAY), ([404], DAY), ([200, 503], 30)],
)
@pytest.mark.parametrize("ahead", [DAY, 400 * DAY])
def test_end_that_was_stored_by_a_clock_ahead_is_clamped(
    client: redis.Redis, cache: RobotsCache, answers: list[int], seconds: float, ahead: float
) -> None:
    robots, now = None, redis_now(client)
    for status in answers:
        robots = answered(status, known=robots, now=now + ahead)
    assert robots is not None
    cache.put("http://h", robots, now + ahead)

    found, now = cache.get("http://h")

    assert found is not None and found.fetched <= now
    assert not found.is_old(now)
    assert found.is_old(now + seconds)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x80\x04\x95 a pickle",
        msgpack.packb({}),
        msgpack.packb([1]),
        msgpack.packb({"status": 200, "body": RULES, "until": NOW, "failures": 0}),
        msgpack.packb({"status": 200, "body": RULES, "fetched": NOW, "until": NOW, "failures": 0}),
        msgpack.packb({"status": "200", "body": zlib.compress(b""), "fetched": 0, "until": 0, "failures": 0}),
    ],
)
def test_value_of_another_version_or_of_nobody_is_none(
    client: redis.Redis, cache: RobotsCache, value: bytes
) -> None:
    client.set(KEY, value)

    assert cache.get("http://h")[0] is None


def test_a_value_that_inflates_without_end_is_cut(client: redis.Redis, cache: RobotsCache) -> None:
    cache.put("http://h", answered(200), NOW)
    known = msgpack.unpackb(client.get(KEY))
    known["body"] = zlib.compress(RULES + bytes(64 * 2**20), 9)
    client.set(KEY, msgpack.packb(known))

    assert may(got(cache)) == BY_RULES
    assert len(got(cache).body) == BODY_MAX


@pytest.mark.parametrize(
    ("body", "codings", "whole"),
    [
        (b"User-agent: *", [], True),
        (gzip.compress(b"User-agent: *", mtime=0), [b"gzip"], True),
        (gzip.compress(b"User-agent: *", mtime=0)[:-9], [b"gzip"], False),  # its end is missing
        (b"User-agent: *", [b"gzip"], False),
        (b"User-agent: *", [b"utf-8"], True),  # no content coding: what came is what was meant
        (gzip.compress(b"User-agent: *", mtime=0), [b"aws-chunked", b"gzip"], True),
        (gzip.compress(b"User-agent: *", mtime=0)[:-9], [b"gzip, utf-8"], False),
    ],
)
def test_compressed_body_is_whole_when_its_codings_end(
    body: bytes, codings: list[bytes], whole: bool
) -> None:
    assert is_whole(body, codings_of(Headers({"Content-Encoding": codings}))) is whole
