"""What a hostile server works with: one request, and the connection that it came on."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

PAUSE_SECONDS = 0.5  # between two bytes of a server that trickles


@dataclass
class Exchange:
    """One request, to be answered badly. `path` is "" where nothing was read yet."""

    path: str
    home: str  # URL of this server, without a slash at its end
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int = 0  # of this request, by server
    depth: int = 0  # of traps: after so many pages they lead nowhere

    @property
    def is_deep(self) -> bool:
        return self.number >= self.depth

    async def send(self, *data: bytes) -> None:
        """As fast as it is read."""
        self.writer.writelines(data)
        await self.writer.drain()

    async def head(self, *lines: str, status: str = "200 OK", kind: str = "text/html") -> None:
        """Status line and header lines, up to the body."""
        typed = f"Content-Type: {kind}" if kind else "X-Type: none"
        given = (f"HTTP/1.1 {status}", typed, *lines, "Connection: close", "")
        await self.send("".join(f"{line}\r\n" for line in given).encode("latin-1"))

    async def answer(
        self, body: bytes | str, *lines: str, status: str = "200 OK", kind: str = "text/html"
    ) -> None:
        """A whole answer, well formed but for what is in it."""
        body = body.encode() if isinstance(body, str) else body
        await self.head(f"Content-Length: {len(body)}", *lines, status=status, kind=kind)
        for start in range(0, len(body), 65_536):
            await self.send(body[start : start + 65_536])

    async def forever(self, data: bytes) -> None:
        while True:
            await self.send(data)

    async def trickle(self, data: bytes) -> None:
        """A byte at a time, for ever."""
        while True:
            for byte in data:
                await self.send(bytes([byte]))
                await asyncio.sleep(PAUSE_SECONDS)

    async def silence(self) -> None:
        """Until the other side hangs up."""
        while await self.reader.read(65_536):
            pass

    def reset(self) -> None:
        """RST in place of FIN."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def page(title: str, *links: str, text: str = "") -> str:
    anchors = " ".join(f'<a href="{link}">to {link[:60]}</a>' for link in links)
    return f"<!doctype html><title>{title}</title><p>{text} {anchors}</p>"


async def requests(reader: asyncio.StreamReader) -> AsyncIterator[str]:
    """The paths that are asked for on a connection."""
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        yield head.split(b" ", 2)[1].decode("latin-1")


def chunked(parts: Iterable[bytes]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
