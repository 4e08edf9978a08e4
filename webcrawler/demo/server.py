"""Serve answers over HTTP/1.1 on loopback, all servers in one thread."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from http import HTTPStatus

from webcrawler.demo.pages import LAST_MODIFIED, Answer

MAX_HEAD_BYTES = 64 * 1024


class HttpThread:
    """Answers on listening sockets until stopped.

    Args:
        answer: called with the port and the path without query, in the thread.
    """

    def __init__(self, listeners: Sequence[socket.socket], answer: Callable[[int, str], Answer]) -> None:
        self._answer = answer
        _listeners.update(listeners)
        self._is_ready = threading.Event()
        run = partial(asyncio.run, self._serve(listeners))
        self._thread = threading.Thread(target=run, daemon=True, name="demo-web")
        self._thread.start()
        self._is_ready.wait()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._is_stopped.set)
        self._thread.join()

    async def _serve(self, listeners: Sequence[socket.socket]) -> None:
        self._loop, self._is_stopped = asyncio.get_running_loop(), asyncio.Event()
        servers = []
        for listener in listeners:
            converse = partial(self._converse, listener.getsockname()[1])
            servers.append(await asyncio.start_server(converse, sock=listener, limit=MAX_HEAD_BYTES))
        self._is_ready.set()
        await self._is_stopped.wait()
        for server in servers:
            server.close()

    async def _converse(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until the client, a head that is too long or `stop` ends it."""
        lost = (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError)
        with closing(writer), suppress(*lost, asyncio.CancelledError):
            stays = True
            while stays:
                head = await reader.readuntil(b"\r\n\r\n")
                reply, stays = self._reply(port, head.decode("latin-1").removesuffix("\r\n\r\n"))
                writer.write(reply)
                await writer.drain()

    def _reply(self, port: int, head: str) -> tuple[bytes, bool]:
        """The reply to a GET or HEAD, also a conditional one; and whether the connection stays open."""
        request, *fields = head.split("\r\n")
        pairs = (field.partition(":") for field in fields)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        method, _, rest = request.partition(" ")
        path, _, version = rest.rpartition(" ")
        stays = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        if method in ("GET", "HEAD"):
            answer = self._answer(port, path.partition("?")[0])
        else:
            answer, stays = Answer(b"", status=405), False
        if answer.status == 200 and headers.get("if-none-match") == answer.etag:
            answer = answer._replace(status=304)

        lines = [
            f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
            "Server: webcrawler-demo",
            f"Connection: {'keep-alive' if stays else 'close'}",
        ]
        if answer.status != 304:
            lines += [f"Content-Type: {answer.content_type}", f"Content-Length: {len(answer.body)}"]
        if answer.status in (200, 304):
            lines += [f"ETag: {answer.etag}", f"Last-Modified: {LAST_MODIFIED}"]
        if answer.location:
            lines.append(f"Location: {answer.location}")
        body = b"" if answer.status == 304 or method == "HEAD" else answer.body
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body, stays


_listeners: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _close_in_child() -> None:
    """A forked process that outlives us must not keep the ports."""
    for listener in _listeners:
        listener.close()


os.register_at_fork(after_in_child=_close_in_child)
