"""A TCP proxy before Redis that does what networks do: late answers, lines that die in silence, refusals."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from contextlib import suppress

PIECE_BYTES = 64 * 1024


class Toxics:
    """Listens on a free port of loopback, in a thread of its own; the rest may be set at any time.

    Attributes:
        latency_seconds: how late pieces of an answer are.
        held_back: the share of the pieces that are late.
        says: what is answered to each call in place of Redis, such as b"-LOADING …"; empty: Redis answers.
    """

    def __init__(self, port_of_redis: int) -> None:
        self._to = port_of_redis
        self.latency_seconds, self.held_back = 0.0, 1.0
        self.says = b""
        self._silent = asyncio.Event()
        self._lines: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True, name="toxics").start()
        ready.wait()

    def cut(self) -> None:
        """All lines end at once, with a reset; new ones are taken."""
        self._call(self._abort_all)

    def fall_silent(self) -> None:
        """Nothing passes on the lines that there are, nor ever will; new ones are half open, too."""
        self._call(self._silent.set)

    def heal(self) -> None:
        """New lines work. Those that fell silent stay so: their ends have forgotten each other."""
        self.latency_seconds, self.says = 0.0, b""
        self._call(self._renew)

    def stop(self) -> None:
        """May be called twice."""
        if not self._loop.is_running():
            return
        self._call(self._abort_all)
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _call(self, function: Callable[[], None]) -> None:
        """In the proxy's thread; returns when it is done."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(lambda: (function(), done.set()))
        done.wait()

    def _abort_all(self) -> None:
        for line in self._lines:
            line.transport.abort()

    def _renew(self) -> None:
        self._silent = asyncio.Event()

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._take, "127.0.0.1", 0))
        self.port: int = server.sockets[0].getsockname()[1]
        self._loop.call_soon(ready.set)
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One line from a worker; it keeps the silence that it was born under."""
        silent = self._silent
        self._lines.add(writer)
        try:
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        self._lines.add(to_writer)
        try:
            with suppress(asyncio.CancelledError):  # the proxy ends
                await asyncio.gather(
                    self._pass(reader, to_writer, silent, writer), self._pass(to_reader, writer, silent)
                )
        finally:
            for line in (writer, to_writer):
                self._lines.discard(line)
                line.transport.abort()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        silent: asyncio.Event,
        asker: asyncio.StreamWriter | None = None,
    ) -> None:
        """Bytes of one direction; those of a worker come with the `asker` who may be answered here."""
        unanswered = b""
        with suppress(OSError):
            while piece := await reader.read(PIECE_BYTES):
                if silent.is_set():
                    await asyncio.Event().wait()
                if asker and (self.says or unanswered):
                    calls, unanswered = _calls(unanswered + piece)
                    asker.write((self.says or b"-LOADING until now\r\n") * calls)
                    continue
                if not asker and self.latency_seconds and random.random() < self.held_back:
                    await asyncio.sleep(self.latency_seconds)
                writer.write(piece)
                await writer.drain()
        writer.close()


def _calls(sent: bytes) -> tuple[int, bytes]:
    """How many calls are whole (RESP: arrays of bulk strings), and what is there of the next."""
    calls = begin = 0
    while (end := _end_of_call(sent, begin)) > 0:
        calls, begin = calls + 1, end
    return calls, sent[begin:]


def _end_of_call(sent: bytes, begin: int) -> int:
    """Behind a call that begins there; 0 when it is not whole."""
    line = sent.find(b"\r\n", begin)
    if line < 0:
        return 0
    words, at = int(sent[begin + 1 : line]), line + 2
    for _ in range(words):
        line = sent.find(b"\r\n", at)
        if line < 0:
            return 0
        at = line + 2 + int(sent[at + 1 : line]) + 2
    return at if at <= len(sent) else 0
