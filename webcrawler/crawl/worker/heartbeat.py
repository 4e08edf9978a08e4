"""Says that this worker lives, from a thread of its own: a busy event loop must not lose leases."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from itertools import count

from redis.exceptions import RedisError

from webcrawler.errors import WebcrawlerError
from webcrawler.frontier import Frontier, searches

logger = logging.getLogger(__name__)

BEAT_SECONDS = 1.5
ALIVE_SECONDS = 6.0  # a dead worker's leases are back within 10 s
SEARCHES_EVERY = 4  # beats


class Heartbeat:
    """Beats at once and then until `stop`; each beat takes back the leases of the dead, too."""

    def __init__(self, frontier: Frontier, revive: Callable[[], object]) -> None:
        self._frontier, self._revive = frontier, revive
        self._end = threading.Event()
        self._beats = count(1)
        self._beat()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(BEAT_SECONDS):
            try:
                self._beat()
            except (RedisError, WebcrawlerError) as error:
                logger.warning("no heartbeat: %s", error)
                self._try_to_revive()

    def _beat(self) -> None:
        sys.audit("webcrawler.heartbeat.before")
        expired = self._frontier.expire(ALIVE_SECONDS)
        if next(self._beats) % SEARCHES_EVERY == 0:
            searches.look_after(self._frontier.client)
        sys.audit("webcrawler.heartbeat.after")
        if expired:
            logger.info("%d leases of workers that died are back in the queue", expired)

    def _try_to_revive(self) -> None:
        try:
            self._revive()
        except WebcrawlerError as error:
            logger.warning("Redis is still away: %s", error)
