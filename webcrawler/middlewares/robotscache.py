"""What is known of a server's robots.txt, shared by all workers in Redis.

Key `{crawl:P}:robots:SERVER`: msgpack map {status, body, until, failures}; it goes when it is old.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import msgpack
import redis

from webcrawler.robots import Rules, verdict

DAY_SECONDS = 24 * 3600.0  # RFC 9309 2.4
UNREACHABLE_SECONDS = 3600.0  # after the last try, until anybody asks again
BODY_MAX = 512 * 1024  # RFC 9309 2.5


@dataclass(frozen=True, slots=True)
class Robots:
    """One answer; `rules` is None while the server is unreachable: complete disallow (RFC 9309 2.3.1.4)."""

    rules: Rules | None
    status: int | None
    body: bytes
    until: float  # when to ask again
    failures: int  # in a row
    settled: bool  # unreachable, and no tries are left

    @classmethod
    def of(cls, status: int | None, body: bytes, failures: int, tries: int, backoff_seconds: float) -> Robots:
        """From what a server answered; `failures` are those before, in a row."""
        rules = verdict(status, body)
        if rules is not None:
            return cls(rules, status, body[:BODY_MAX], time.time() + DAY_SECONDS, 0, False)
        failures += 1
        settled = failures >= tries
        wait = UNREACHABLE_SECONDS if settled else backoff_seconds * 2 ** (failures - 1)
        return cls(None, status, b"", time.time() + wait, failures, settled)

    @property
    def is_old(self) -> bool:
        return time.time() >= self.until


class RobotsCache:
    """Blocking calls: one round trip each, for a thread."""

    def __init__(self, client: redis.Redis, base: str, tries: int) -> None:
        self._client, self._prefix, self._tries = client, f"{base}robots:", tries

    def get(self, server: str) -> Robots | None:
        """What was put there; also when it is old, as long as failures have to be counted on."""
        packed = self._client.get(self._prefix + server)
        if packed is None:
            return None
        known = msgpack.unpackb(packed)
        failures = int(known["failures"])
        rules = verdict(known["status"], known["body"])
        settled = failures >= self._tries
        return Robots(rules, known["status"], known["body"], float(known["until"]), failures, settled)

    def put(self, server: str, robots: Robots) -> None:
        known = {
            "status": robots.status,
            "body": robots.body,
            "until": robots.until,
            "failures": robots.failures,
        }
        keep_seconds = max(60, round(robots.until - time.time())) + 60
        self._client.set(self._prefix + server, msgpack.packb(known), ex=keep_seconds)
