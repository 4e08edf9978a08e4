"""Ports of loopback: where a server can start later, where nobody listens, and where nobody may come."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from random import SystemRandom

_dead: list[socket.socket] = []


def dead_server() -> str:
    """Where nobody listens, nor can as long as this process lives."""
    _dead.append(held := socket.socket())
    held.bind(("127.0.0.1", 0))
    return f"http://127.0.0.1:{held.getsockname()[1]}"


def free_port() -> int:
    """For a server that is started later: none of those that the system gives to whoever asks for any."""
    while True:
        port = SystemRandom().randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Canary:
    """Listens where nobody may come, and counts who does."""

    def __init__(self, host: str = "127.0.0.2") -> None:
        self.connections = 0
        self._socket = socket.create_server((host, 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://{host}:{self.port}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1  # before whoever came knows it
            connection.close()

    def stop(self) -> None:
        self._socket.close()
