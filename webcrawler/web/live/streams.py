"""The list as it grows, as server-sent events (WHATWG HTML, 9.2): each is the whole list as HTML.

A browser that reconnects gets the newest list, not those that it has missed.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from webcrawler import pace
from webcrawler.web.failures import NotNow
from webcrawler.web.hosts import client_of

HEARTBEAT_SECONDS = 10.0  # proxies close connections that stay silent
LONGEST_SECONDS = 900.0  # of one stream; the browser then reconnects
AGAIN_MS = 2_000
MOST, MOST_OF_CLIENT = 50, 4  # streams; a browser has six connections, so two are left for everything else
BUSY = "too many watch searches of the web: reload the page now and then"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # the latter is for nginx


class Snapshot(NamedTuple):
    version: str  # differs as soon as anything has changed
    html: str
    is_over: bool


class Streams:
    """The streams of one event loop.

    Args:
        look: reads a search; called in a thread, once for all who watch it.
    """

    def __init__(self, look: Callable[[str], Snapshot]) -> None:
        self._read = look
        self._snapshots: dict[str, tuple[float, asyncio.Task[Snapshot]]] = {}
        self._of_client: Counter[str] = Counter()
        self._is_leaving = False

    def open(self, request: Request, job: str) -> Response:
        """Raises NotNow: there are too many."""
        client = client_of(request)
        if self._of_client.total() >= MOST or self._of_client[client] >= MOST_OF_CLIENT:
            raise NotNow(BUSY)
        if request.method == "HEAD":
            return Response(headers=HEADERS, media_type="text/event-stream")
        self._of_client[client] += 1
        events = self._events(job, request.headers.get("last-event-id", ""))
        return _Stream(events, partial(self._release, client))

    def leave(self) -> None:
        """End all streams, so that the server can end."""
        self._is_leaving = True

    def _release(self, client: str) -> None:
        self._of_client[client] -= 1
        self._of_client += Counter()  # drops clients without any

    async def _events(self, job: str, seen: str) -> AsyncIterator[str]:
        began = spoke = time.monotonic()
        yield f"retry: {AGAIN_MS}\n\n"
        while not self._is_leaving and time.monotonic() - began < LONGEST_SECONDS:
            newest = await self._newest(job)
            if newest.version != seen:
                seen, spoke = newest.version, time.monotonic()
                yield event("list", newest.html, seen)
            if newest.is_over:
                yield event("end", "")
                return
            if time.monotonic() - spoke >= HEARTBEAT_SECONDS:
                spoke = time.monotonic()
                yield ": it goes on\n\n"
            await asyncio.sleep(pace.LIVE_LOOK_SECONDS)

    async def _newest(self, job: str) -> Snapshot:
        """The newest snapshot, read once for all who watch the same search."""
        now = time.monotonic()
        looked, task = self._snapshots.get(job, (0.0, None))
        if task is None or now - looked >= pace.LIVE_LOOK_SECONDS:
            self._snapshots = {
                name: one for name, one in self._snapshots.items() if now - one[0] < LONGEST_SECONDS
            }
            task = asyncio.create_task(run_in_threadpool(self._read, job))
            self._snapshots[job] = now, task
        return await asyncio.shield(task)  # others wait for it, too


class _Stream(StreamingResponse):
    """Calls `on_end` when the answer ends, also when the client left before it began."""

    def __init__(self, events: AsyncIterator[str], on_end: Callable[[], None]) -> None:
        super().__init__(events, headers=HEADERS, media_type="text/event-stream")
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end()


def event(name: str, data: str, id: str = "") -> str:
    """An event as the standard writes it: each line of the data after `data: `."""
    lines = [f"data: {line}" for line in data.replace("\r", "").split("\n")]
    return "\n".join([f"event: {name}", *([f"id: {id}"] if id else []), *lines, "", ""])
