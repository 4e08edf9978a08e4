"""Serves hostile behaviours and a control site of normal pages, each on a loopback address of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from zoo.exchange import Exchange, page, requests

Serve = Callable[[Exchange], Awaitable[None]]
CONTROL = "127.77.0.1"
NETWORK = "127.77.0.0/16"


@dataclass(frozen=True)
class Behaviour:
    """One way to misbehave, and what may come of it."""

    id: str
    name: str
    serve: Serve
    outcomes: frozenset[str]  # that "/" may come to
    scheme: str
    finds: Sequence[str] = ()  # paths that must be documents in the end
    raw: bool = False  # misbehaves from the connection on, robots.txt or not
    robots: bool = False  # its robots.txt is where it misbehaves
    certificate: Callable[[], ssl.SSLContext] | None = None  # speaks TLS
    addresses: int = 1  # that it is served on


class Kind(list[Behaviour]):
    """The behaviours of one kind, in a file. `given` is what else a behaviour has."""

    def __init__(self, scheme: str = "http") -> None:
        super().__init__()
        self._scheme = scheme

    def __call__(self, id: str, *outcomes: str, **given: Any) -> Callable[[Serve], Serve]:
        """Registers a function that serves one behaviour, under its name."""

        def register(serve: Serve) -> Serve:
            self.each(id, *outcomes, **given)(**{serve.__name__: serve})
            return serve

        return register

    def each(self, id: str, *outcomes: str, **given: Any) -> Callable[..., None]:
        """Registers functions under the names that they are given, which may all come to the same."""

        def register(**served: Serve) -> None:
            for name, serve in served.items():
                self.append(Behaviour(id, name, serve, frozenset(outcomes), self._scheme, **given))

        return register


class Listening(Protocol):
    async def listen(self) -> list[asyncio.Server]: ...


L = TypeVar("L", bound=Listening)


@contextlib.contextmanager
def served(site: L) -> Iterator[L]:
    """It listens meanwhile, in an event loop of a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    servers = asyncio.run_coroutine_threadsafe(site.listen(), loop).result(30)
    try:
        yield site
    finally:
        asyncio.run_coroutine_threadsafe(_close(servers), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _close(servers: list[asyncio.Server]) -> None:
    for server in servers:
        server.close()
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Zoo:
    """The behaviours, and the control site."""

    def __init__(self, behaviours: Sequence[Behaviour], normal_pages: int, depth: int = 50) -> None:
        """Have traps lead nowhere after `depth` pages."""
        self.behaviours, self._pages, self._depth = tuple(behaviours), normal_pages, depth
        self._asked: Counter[str] = Counter()
        self.port = 0

    def home(self, behaviour: Behaviour) -> str:
        """The server of a behaviour, as the frontier names it."""
        return f"{behaviour.scheme}://{hosts(behaviour, self.behaviours.index(behaviour))[0]}:{self.port}"

    @property
    def seeds(self) -> list[str]:
        return [f"http://{CONTROL}:{self.port}/", *(f"{self.home(one)}/" for one in self.behaviours)]

    @property
    def normal_pages(self) -> set[str]:
        """All of the control site."""
        site = f"http://{CONTROL}:{self.port}/"
        return {site, *(f"{site}page/{number}" for number in range(2, self._pages + 1))}

    async def listen(self) -> list[asyncio.Server]:
        """One port on all addresses, so that the port of the control site is as good as any."""
        control = await asyncio.start_server(self._control, CONTROL, 0)
        self.port = control.sockets[0].getsockname()[1]
        servers = [control]
        for number, behaviour in enumerate(self.behaviours):
            tls = behaviour.certificate() if behaviour.certificate else None
            serve = self._connected(behaviour)
            server = await asyncio.start_server(serve, hosts(behaviour, number), self.port, ssl=tls)
            servers.append(server)
        return servers

    def _connected(self, behaviour: Behaviour) -> Callable[..., Awaitable[None]]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._exchange(behaviour, reader, writer)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()

        return serve

    async def _exchange(
        self, behaviour: Behaviour, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """One answer a connection. But for the trouble, robots.txt is missing and /found a normal page."""
        home = self.home(behaviour)
        if behaviour.raw:
            await behaviour.serve(Exchange("", home, reader, writer))
            return
        async for path in requests(reader):
            exchange = Exchange(path, home, reader, writer, self._asked[behaviour.name], self._depth)
            if path.startswith("/found"):
                await exchange.answer(page(f"{behaviour.name} {path}", text="what stood behind the trouble"))
            elif behaviour.robots != (path == "/robots.txt"):
                status = "404 Not Found" if path == "/robots.txt" else "200 OK"
                await exchange.answer(page(f"{behaviour.name} {path}"), status=status)
            else:
                self._asked[behaviour.name] += 1
                await behaviour.serve(exchange)
            return

    async def _control(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.CancelledError):
            async for path in requests(reader):
                await self._normal(Exchange(path, "", reader, writer))
        writer.close()

    async def _normal(self, exchange: Exchange) -> None:
        """Page n links to 2n and 2n + 1: all are reached from the first in a few steps."""
        name = exchange.path.removeprefix("/page/")
        number = int(name) if name.isdecimal() else 1 if name == "/" else 0
        links = [f"/page/{child}" for child in (2 * number, 2 * number + 1) if child <= self._pages]
        text = page(f"Normal page {number}", *links, text=f"calm words about subject {number}").encode()
        status = b"200 OK" if number else b"404 Not Found"
        head = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
        await exchange.send(head % (status, len(text)), text)


def hosts(behaviour: Behaviour, number: int) -> list[str]:
    """Its loopback addresses; no other behaviour has them."""
    if behaviour.addresses == 1:
        return [f"127.77.1.{number + 1}"]
    return [f"127.77.{2 + number}.{host + 1}" for host in range(behaviour.addresses)]
