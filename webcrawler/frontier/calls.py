"""Told by Redis when another frontier has freed a place that this one waits for, instead of asking again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing, suppress

from redis.exceptions import RedisError

from webcrawler.connection import Connection
from webcrawler.frontier.frontier import Frontier

LOOK_SECONDS = 1.0  # between looks whether to stop, and after an error


class Calls:
    """Listens in a thread of its own, until `stop`. What is lost with a connection is not made up for.

    Args:
        called: may be called more often than there is something.
    """

    def __init__(self, connection: Connection, frontier: Frontier, called: Callable[[], object]) -> None:
        self._connection, self._called = connection, called
        self._channels = [f"{partition.prefix}calls" for partition in frontier.partitions]
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="calls", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Return when the thread has ended; blocks for up to some seconds where Redis is away."""
        self._end.set()
        with suppress(RedisError):
            self._connection.client.publish(self._channels[0], "")
        self._thread.join()

    def _run(self) -> None:
        with closing(self._connection.new_client(retries=0)) as client:
            heard = client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
            while not self._end.is_set():
                try:
                    if not heard.subscribed:
                        heard.subscribe(*self._channels)
                    if heard.get_message(timeout=LOOK_SECONDS):
                        self._called()
                except RedisError:
                    self._end.wait(LOOK_SECONDS)
