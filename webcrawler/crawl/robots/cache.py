"""What is known of a server's robots.txt, shared by all workers in Redis.

Key `{crawl:P}:robots:SERVER`: msgpack map {status, body (zlib), fetched, until, failures}. A robots.txt is
kept for 30 days, other answers until they are old. All times are seconds by the clock of the frontier, which
never goes back: clocks of workers may be wrong.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgpack

from webcrawler.frontier import Client, Politeness, now_ms
from webcrawler.robots import Rules, verdict

DAY_SECONDS = 24 * 3600.0  # RFC 9309 2.4
COPY_SECONDS = 30 * DAY_SECONDS  # RFC 9309 2.3.1.4: "a reasonably long period of time"
UNREACHABLE_SECONDS = 3600.0  # after the last try, until anybody asks again
BODY_MAX = 512 * 1024  # RFC 9309 2.5


@dataclass(frozen=True, slots=True)
class Robots:
    """What holds for a server; `rules` is None for complete disallow (RFC 9309 2.3.1.4).

    While the server is unreachable a robots.txt that it once gave holds on for 30 days (2.4 allows it). Then
    it is complete disallow again, the more careful choice of 2.3.1.4.
    """

    rules: Rules | None
    status: int | None  # of the answer that holds
    body: bytes
    fetched: float  # when that answer came
    until: float  # when to ask again
    failures: int = 0  # to reach the server since, in a row
    settled: bool = False  # unreachable, and no tries are left

    def is_old(self, now: float) -> bool:
        return now >= self.until

    def outlives_failure(self, now: float) -> bool:
        """Tell whether it is a robots.txt young enough to hold while its server is unreachable."""
        return self.status is not None and 200 <= self.status < 300 and now < self.fetched + COPY_SECONDS


def judge(
    status: int | None, body: bytes, user_agent: str, known: Robots | None, now: float, polite: Politeness
) -> Robots:
    """Return what holds after an answer (no answer: status None); `known` held before. Blocks up to 0.3 s."""
    rules = verdict(status, body, user_agent)
    if rules is not None:
        return Robots(rules, status, body[:BODY_MAX], now, now + DAY_SECONDS)
    failures = (known.failures if known else 0) + 1
    settled = failures >= polite.tries
    until = now + _pause_seconds(failures, polite)
    if known is not None and known.outlives_failure(now):
        until = min(until, known.fetched + COPY_SECONDS)
        return replace(known, until=until, failures=failures, settled=settled)
    return Robots(None, status, b"", now, until, failures, settled)


def _pause_seconds(failures: int, polite: Politeness) -> float:
    """How long a server that was not reached is left alone, after so many failures in a row, at least one."""
    if failures >= polite.tries:
        return UNREACHABLE_SECONDS
    return polite.backoff * 2.0 ** (failures - 1)


class RobotsCache:
    """Reads and writes in Redis what is known of servers. Its calls block for a round trip or two.

    Args:
        key: gives the Redis key of a server.
        polite: as for `judge`: what is stored is never valid for longer than its tries allow.
    """

    def __init__(
        self, client: Client, key: Callable[[str], str], user_agent: str, polite: Politeness
    ) -> None:
        self._client, self._key, self._user_agent, self._polite = client, key, user_agent, polite

    def get(self, server: str) -> tuple[Robots | None, float]:
        """Return what was put there, old or not (a copy may hold on, failures count on), and the time."""
        key = self._key(server)
        now, packed = now_ms(self._client, key.removesuffix(f"robots:{server}")) / 1000, self._client.get(key)
        try:
            return (self._unpack(packed, now) if packed else None), now
        except (KeyError, TypeError, ValueError, zlib.error):  # written by another version
            return None, now

    def _unpack(self, packed: bytes, now: float) -> Robots:
        known = msgpack.unpackb(packed)
        body = zlib.decompressobj().decompress(known["body"], BODY_MAX)
        failures = int(known["failures"])
        longest = _pause_seconds(failures, self._polite) if failures else DAY_SECONDS
        return Robots(
            verdict(known["status"], body, self._user_agent),
            known["status"],
            body,
            min(float(known["fetched"]), now),  # a clock was set back since, or was ahead when this was put
            min(float(known["until"]), now + longest),
            failures,
            failures >= self._polite.tries,
        )

    def put(self, server: str, robots: Robots, now: float) -> None:
        known = {name: getattr(robots, name) for name in ("status", "fetched", "until", "failures")}
        known["body"] = zlib.compress(robots.body, 1)
        is_copy = robots.outlives_failure(now)
        keep_seconds = (robots.fetched + COPY_SECONDS if is_copy else robots.until) - now
        self._client.set(self._key(server), msgpack.packb(known), ex=max(60, round(keep_seconds)) + 60)
