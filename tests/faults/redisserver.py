"""A Redis or Valkey of our own on a TCP port of loopback, its log on: to be killed and started again."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

from marked import Mark, until
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from webcrawler.connection.embedded import installed_binaries
from webcrawler.connection.server import first_that_runs

START_SECONDS = 20.0


def impatient(**address: Any) -> Redis:
    """A client that tries once.

    redis-py's own ten tries last four seconds and more while Redis is away: of a driver that is to start the
    worker that brings it back, and that measures how long this takes.
    """
    return Redis(**address, retry=Retry(NoBackoff(), 0))


class RedisServer:
    """Runs from the start on."""

    def __init__(self, folder: Path, mark: Mark) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._mark = folder, mark
        self._binary = first_that_runs(installed_binaries())
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.client = impatient(port=self.port, socket_timeout=10.0)
        self.start()

    def start(self) -> None:
        """From its log; returns when it answers."""
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self._folder, "save": ""}
        options |= {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}
        options |= {"set-max-intset-entries": 4096}
        command = [
            self._binary,
            *(part for name, value in options.items() for part in (f"--{name}", str(value))),
        ]
        with (self._folder.parent / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, env=self._mark.environment, start_new_session=True
            )
        until(self._answers, START_SECONDS, "for Redis")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """In good order."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except RedisError:
            return False
