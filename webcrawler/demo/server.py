"""Serve answers over HTTP/1.1 on loopback, all servers in one thread."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import weakref
from collections.abc import Callable, Sequence
from http import HTTPStatus

from webcrawler.demo.pages import LAST_MODIFIED, Answer

MAX_HEAD_BYTES = 64 * 1024


class HttpThread:
    """Answers on listening sockets until stopped.

    Args:
        answer: called with the port and the path without query, in the thread.
    """

    def __init__(self, listeners: Sequence[socket.socket], answer: Callable[[int, str], Answer]) -> None:
        self._listeners = listeners
        self._answer = answer
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True, name="demo-web")
        self._connections: weakref.WeakSet[asyncio.BaseTransport] = weakref.WeakSet()
        _close_in_children(listeners)
        self._ready = threading.Event()
        self._thread.start()
        self._ready.wait()  # a stop before the loop runs for good would be forgotten

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        loop = self._loop
        servers = [
            loop.run_until_complete(loop.create_server(self._protocol(listener), sock=listener))
            for listener in self._listeners
        ]
        loop.call_soon(self._ready.set)
        loop.run_forever()
        for server in servers:
            server.close()
        for connection in list(self._connections):
            connection.close()
        loop.run_until_complete(asyncio.sleep(0))  # lets them close
        loop.close()

    def _protocol(self, listener: socket.socket) -> Callable[[], asyncio.Protocol]:
        port: int = listener.getsockname()[1]
        return lambda: _Conversation(lambda path: self._answer(port, path), self._connections)


class _Conversation(asyncio.Protocol):
    """One connection: GET and HEAD, keep-alive, conditional requests."""

    def __init__(
        self, answer: Callable[[str], Answer], connections: weakref.WeakSet[asyncio.BaseTransport]
    ) -> None:
        self._answer = answer
        self._connections = connections
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(transport)

    def data_received(self, data: bytes) -> None:
        *heads, self._unread = (self._unread + data).split(b"\r\n\r\n")
        for head in heads:
            if not self._transport.is_closing():
                self._reply(head.decode("latin-1"))
        if len(self._unread) > MAX_HEAD_BYTES:
            self._transport.close()

    def _reply(self, head: str) -> None:
        request, *fields = head.split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)
        }
        method, _, rest = request.partition(" ")
        path, _, version = rest.rpartition(" ")
        if method not in ("GET", "HEAD"):
            self._send(Answer(b"", status=405), close=True)
            return
        answer = self._answer(path.partition("?")[0])
        if answer.status == 200 and headers.get("if-none-match") == answer.etag:
            answer = answer._replace(status=304)
        close = version != "HTTP/1.1" or headers.get("connection", "").lower() == "close"
        self._send(answer, close, with_body=method == "GET")

    def _send(self, answer: Answer, close: bool, with_body: bool = True) -> None:
        lines = [
            f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
            "Server: webcrawler-demo",
            f"Connection: {'close' if close else 'keep-alive'}",
        ]
        if answer.status != 304:
            lines += [f"Content-Type: {answer.content_type}", f"Content-Length: {len(answer.body)}"]
        if answer.status in (200, 304):
            lines += [f"ETag: {answer.etag}", f"Last-Modified: {LAST_MODIFIED}"]
        if answer.location:
            lines.append(f"Location: {answer.location}")
        body = answer.body if with_body and answer.status != 304 else b""
        self._transport.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        if close:
            self._transport.close()


def _close_in_children(listeners: Sequence[socket.socket]) -> None:
    """Close the listeners in forked processes: one that outlives us must not keep the ports."""
    known = [weakref.ref(listener) for listener in listeners]

    def close() -> None:
        for listener in (reference() for reference in known):
            if listener is not None and listener.fileno() >= 0:
                os.close(listener.detach())

    os.register_at_fork(after_in_child=close)
