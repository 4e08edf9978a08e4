"""How many downloads count: one that lasts long stands aside, so that slow servers do not hold up others."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

PATIENCE_SECONDS = 2.0
ASIDE = 15  # times as many may stand aside as are young
DOUBTFUL_SHARE = 0.75  # of the young, at most: the rest is for servers that are known to answer in time
UNLIMITED = 2**31


class Downloads:
    """Those under way by when they began. With a limit of one none stands aside: the order is exact.

    Args:
        limit: of young ones; 0: any number.
        clock: in seconds.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit, self._clock = limit, clock
        self._patience = PATIENCE_SECONDS if limit != 1 else float("inf")
        self._young: dict[Hashable, float] = {}  # when they began, oldest first
        self._doubtful: set[Hashable] = set()  # those of them whose server may not answer in time

    @property
    def scrapy_limit(self) -> int:
        """What Scrapy's own CONCURRENT_REQUESTS has to let through."""
        return self.limit * (1 + ASIDE) if self.limit > 1 else self.limit

    def begin(self, key: Hashable, doubtful: bool = False) -> None:
        self._young[key] = self._clock()
        if doubtful:
            self._doubtful.add(key)

    def end(self, key: Hashable) -> None:
        self._young.pop(key, None)
        self._doubtful.discard(key)

    def wait(self) -> float:
        """Seconds until there is room for one more at the latest; 0 when there is."""
        now = self._clock()
        while self._young:
            oldest = next(iter(self._young))
            age = now - self._young[oldest]
            if age < self._patience:
                return self._patience - age if 0 < self.limit <= len(self._young) else 0.0
            self.end(oldest)
        return 0.0

    def doubtful_room(self) -> int:
        """How many more may be of doubtful servers."""
        if self.limit <= 1:
            return UNLIMITED
        self.wait()  # old ones stand aside
        return max(0, int(DOUBTFUL_SHARE * self.limit) - len(self._doubtful))
