"""How long do the downloads of a virtual crawl take, and how soon could it be over?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from math import exp
from statistics import NormalDist
from typing import NamedTuple

SPREAD = 1.0  # standard deviation of the logarithm of servers' times: one in six is 2.7 times slower


class Pace(NamedTuple):
    """Of downloads; seconds."""

    delay: float = 1.0  # between two downloads from a server
    latency: float = 0.5  # of a download, at half of the servers; each server keeps to its own
    downloads: int = 32  # at a time, one from each server

    def seconds(self, server: str) -> float:
        """Return how long a download from a server takes: log-normal over servers, the same in each run."""
        return self.latency * _slowness(server)

    def shortest(self, servers: Iterable[str]) -> float:
        """Return a time before which no crawl of pages on these servers is over.

        Args:
            servers: of each page.
        """
        pages = Counter(servers)
        work = sum(number * self.seconds(server) for server, number in pages.items())
        waits = (
            number * self.seconds(server) + (number - 1) * self.delay for server, number in pages.items()
        )
        return max(work / self.downloads, *waits)


@lru_cache(maxsize=100_000)
def _slowness(server: str) -> float:
    share = int.from_bytes(sha256(server.encode()).digest()[:6], "big")
    return exp(SPREAD * NormalDist().inv_cdf((share + 0.5) / 2**48))
