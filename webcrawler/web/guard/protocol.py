"""uvicorn's HTTP with time limits: a slow client holds a descriptor, but not for long.

uvicorn itself waits forever for a head, for a body, and for the client to read the answer. For other servers,
docs/explanation/dependencies.md has measurements.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from urllib.parse import quote

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from webcrawler.web.guard.security import HEADERS

MAX_HEAD_BYTES = 49_152  # of a head that has not ended; RequestBounds limits complete ones
BODY_SECONDS = "webcrawler.body_seconds"  # key in the scope: sets the deadline of a body
HEAD_END = b"\r\n\r\n"
ASCII = bytes(range(128))
NO_LINGER = struct.pack("ii", 1, 0)  # the kernel drops what the client has not read, and sends RST


def give_time(scope: Scope, seconds: float) -> None:
    """Let the body of this request take so long from now on, for who is known to send a large one."""
    if set_deadline := scope.get(BODY_SECONDS):
        set_deadline(seconds)


class TimeoutProtocol(HttpToolsProtocol):
    """One connection."""

    head_seconds = 10.0  # for the head of a request, from the start of the connection or its first byte
    body_seconds = 10.0  # for its body
    reading_seconds = 30.0  # for the client to read what was sent

    _deadline: asyncio.TimerHandle | None = None  # of a head or a body
    _unread: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = _in_line = True  # until its end; until the first header
    _is_closed = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._set_deadline(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closed = True
        self._set_deadline(None)
        self._unset_keepalive_if_required()  # after a reset, uvicorn leaves it running
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._set_deadline(self.head_seconds)  # also for an empty line, which begins no message
        if self._in_line:  # bytes above 127 in an address, as scripts send them, are refused by the parser
            line, end, rest = data.partition(b"\n")
            data = quote(line, ASCII).encode() + end + rest
        super().data_received(data)
        if self._in_head:
            before = data.rfind(HEAD_END) + len(HEAD_END) if HEAD_END in data else 0  # of an earlier request
            self._head_bytes = len(data) - before + (0 if before else self._head_bytes)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(431, "The head of this request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[BODY_SECONDS] = self._set_body_deadline  # type: ignore[literal-required]
        self._in_head = True
        self._head_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        self._in_line = False
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._set_deadline(self.body_seconds)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_line = True
        self._set_deadline(None)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():  # with the answer still in its buffer
            self.pause_writing()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self.pause_writing()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None and not self._is_closed:
            self._unread = self.loop.call_later(self.reading_seconds, self._drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _set_deadline(self, seconds: float | None) -> None:
        """Abort unless the client finishes the head or body in time; None: it has."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)

    def _set_body_deadline(self, seconds: float) -> None:
        if self._deadline is not None:  # there is more of it to come
            self._set_deadline(seconds)

    def _drop(self) -> None:
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self.transport.abort()

    def _refuse(self, status: int, line: str) -> None:
        """Answer something that is not a request, and close."""
        if self.transport.is_closing():
            return
        headers = {**HEADERS, "Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(line))}
        lines = [f"{name}: {value}\r\n" for name, value in {**headers, "Connection": "close"}.items()]
        self.transport.write(STATUS_LINE[status] + "".join([*lines, "\r\n", line]).encode("ascii"))
        self.transport.close()
        self.pause_writing()
