"""The demo web as a whole: which server answers what, on which ports, and how, over HTTP/1.1."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import socket
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from webcrawler.demo.pages import (
    LAST_MODIFIED,
    NEIGHBOURS,
    NOT_FOUND,
    Answer,
    calendar,
    directory,
    load,
    oddities,
    site,
)
from webcrawler.errors import BadInput

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


SERVERS = 12
PORTS = range(18080, 29000, 20)  # where to begin: below the range from which systems pick ports by themselves
IDENTITY = "/.well-known/webcrawler-demo"  # answers which demo web this is


class DemoWeb:
    """Twelve servers on 127.0.0.1; the first holds a directory of the others.

    Args:
        ports: of the servers, 12 of them. Without them the first free ones are taken at the start.
    """

    def __init__(self, ports: Sequence[int] | None = None) -> None:
        self.ports = list(ports or [])
        self._file: Path | None = None
        self._pages: dict[int, dict[str, Answer]] = {}
        self._thread: HttpThread | None = None
        self.shared = False  # whether another process serves it; it ends with that process
        if self.ports:
            self._build()

    @classmethod
    def for_folder(cls, crawl_dir: Path) -> DemoWeb:
        """Return the demo web of a data folder, which remembers its ports: a resumed crawl finds it."""
        web = cls()
        web._file = crawl_dir / "demo.json"
        return web

    @property
    def seeds(self) -> list[str]:
        """Where a crawl begins; known once the web is started."""
        return [f"http://127.0.0.1:{self.ports[0]}/"] if self.ports else []

    def start(self) -> None:
        """Serve from a thread of this process, unless another process serves the same web already.

        Raises:
            BadInput: another program holds a port, or the folder cannot be written.
        """
        if self._file is None:
            self._listen()
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # another process may start in the same folder
                file.seek(0)
                remembered = file.read()
                self.ports = json.loads(remembered)["ports"] if remembered else self.ports
                self._listen()
                if not remembered:
                    file.write(json.dumps({"ports": self.ports}) + "\n")
        except OSError as error:
            why = f"cannot write to {self._file} ({error.strerror}): set CRAWL_DIR to another folder"
            raise BadInput(why) from error

    def stop(self) -> None:
        """Stop serving; a web that another process serves goes on."""
        if self._thread is not None:
            self._thread.stop()
            self._thread = None

    def __enter__(self) -> DemoWeb:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def answer(self, url: str) -> Answer | None:
        """Return what is served at an absolute URL; None where no server listens."""
        parts = urlsplit(url)
        return self._answer(parts.port or 80, parts.path) if parts.port in self._pages else None

    def _listen(self) -> None:
        listeners = _bind(self.ports) if self.ports else _first_free()
        if listeners:
            self.ports = [listener.getsockname()[1] for listener in listeners]
        self._build()
        if listeners:
            self._thread = HttpThread(listeners, self._answer)
            return
        self.shared = self._is_served_by_another()
        if not self.shared:
            where = f": stop it, or remove {self._file.parent} to begin anew" if self._file else ""
            raise BadInput(f"another program holds a port of {self.ports[0]}-{self.ports[-1]}{where}")

    def _build(self) -> None:
        texts = load()
        if len(self.ports) != SERVERS:
            raise BadInput(f"the demo web needs {SERVERS} ports, not {len(self.ports)}")
        origins = [f"http://127.0.0.1:{port}" for port in self.ports[1:]]
        served = {topic.slug: (topic, origin) for topic, origin in zip(texts, origins, strict=True)}
        first = f"http://127.0.0.1:{self.ports[0]}"
        self._pages = {self.ports[0]: directory(texts, origins) | oddities("directory", {}, first)}
        for topic, port in zip(texts, self.ports[1:], strict=True):
            pages = site(topic, *served[NEIGHBOURS[topic.slug]])
            self._pages[port] = pages | oddities(topic.slug, pages, served[topic.slug][1])

    def _answer(self, port: int, path: str) -> Answer:
        if path == IDENTITY:
            return Answer(self._identity(), "text/plain; charset=utf-8")
        pages = self._pages[port]
        if path.startswith("/calendar/") and pages.get(path) is None:
            return calendar(path) or NOT_FOUND
        return pages.get(path.removesuffix("index.html")) or NOT_FOUND

    def _identity(self) -> bytes:
        digest = hashlib.sha1()
        for pages in self._pages.values():
            for path, answer in pages.items():
                digest.update(path.encode() + answer.body)
        return digest.hexdigest().encode()

    def _is_served_by_another(self) -> bool:
        with closing(HTTPConnection("127.0.0.1", self.ports[0], timeout=2)) as connection:
            try:
                connection.request("GET", IDENTITY)
                return connection.getresponse().read(100) == self._identity()
            except (OSError, HTTPException):
                return False


def _first_free() -> list[socket.socket]:
    for base in PORTS:
        if listeners := _bind(range(base, base + SERVERS)):
            return listeners
    raise BadInput(f"no {SERVERS} free ports in a row between {PORTS.start} and {PORTS.stop}")


def _bind(ports: Sequence[int]) -> list[socket.socket]:
    """Return a listener for each port, or no listener at all where one of the ports is taken."""
    with ExitStack() as opened:
        try:
            listeners = [
                opened.enter_context(socket.create_server(("127.0.0.1", port), backlog=128)) for port in ports
            ]
        except OSError:
            return []
        opened.pop_all()
    return listeners
