"""A way to a node that is cut in the middle of what is said."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from select import select
from threading import Thread
from typing import NamedTuple

REQUEST, ANSWER = "request", "answer"


class Cut(NamedTuple):
    """Which requests are cut, or their answers, and after how many bytes; only the first ones."""

    begins: bytes
    side: str
    after: int
    times: int = 3


class Cutting:
    """Passes on what clients and a node say to each other, until it cuts their connection."""

    def __init__(self, node: int, cut: Cut) -> None:
        self.cuts = 0
        self._node, self._cut = node, cut
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                Thread(target=self._pass, args=(self._server.accept()[0],), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", self._node)) as node:
            said, is_cut = Counter[str](), False
            while True:
                for source in select((client, node), (), ())[0]:
                    if not (data := source.recv(1 << 16)):
                        return
                    side, other = (REQUEST, node) if source is client else (ANSWER, client)
                    if side == REQUEST and re.match(rb"[A-Z]+ /", data):  # another one
                        said.clear()
                        is_cut = data.startswith(self._cut.begins) and self.cuts < self._cut.times
                    said[side] += len(data)
                    over = said[side] - self._cut.after if is_cut and side == self._cut.side else 0
                    other.sendall(data[: len(data) - over] if over > 0 else data)
                    if over > 0:
                        self.cuts += 1
                        return


@contextmanager
def cutting(node: int, cut: Cut) -> Iterator[Cutting]:
    """That way to the node of a port, until the block ends."""
    with closing(Cutting(node, cut)) as made:
        yield made
