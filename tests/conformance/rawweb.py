"""Many servers on loopback, each of which answers with the bytes that it was given: one thread for all."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

Answer = bytes | None  # of one request; None: none, ever


def http(
    status: int | str = 200,
    body: bytes = b"",
    *headers: str,
    kind: str = "text/plain",
    length: int | None = None,
) -> bytes:
    """One HTTP answer, after which the connection is closed."""
    head = (
        f"HTTP/1.1 {status} x",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body) if length is None else length}",
        *headers,
    )
    return "\r\n".join((*head, "Connection: close", "", "")).encode("latin-1") + body


RESET = b"reset"  # the connection is torn down


@dataclass(eq=False)
class Server:
    """One of them; `asked` counts the paths of its requests."""

    answer: Callable[[str], Answer]
    host: str
    port: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    heads: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ")[1].decode("latin-1")
            self.asked[path] += 1
            self.heads.append(head)
            answer = self.answer(path)
            if answer is None:
                await reader.read()  # until the crawler hangs up
            elif answer == RESET:
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            else:
                writer.write(answer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # a crawler that hangs up, on purpose
        finally:
            writer.close()


class RawWeb:
    """Their thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def add(self, answer: Callable[[str], Answer], host: str = "127.0.0.1", port: int = 0) -> Server:
        server = Server(answer, host)
        opening = asyncio.start_server(server.serve, host, port)
        opened = asyncio.run_coroutine_threadsafe(opening, self._loop).result()
        server.port = opened.sockets[0].getsockname()[1]
        return server

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._cancel(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _cancel(self) -> None:
        """Ends those that do not answer."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
