"""Runs the application: one process, one event loop, until it is told to stop."""

from __future__ import annotations

import errno
import logging
import resource
import socket
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.web.config import Config
from webcrawler.web.hosts import is_loopback

MAX_HEAD_BYTES = 49_152  # of a head that has not ended; RequestBounds limits complete ones
BACKLOG = 2048  # connections that wait in the kernel
IDLE_SECONDS = 15  # between two requests of a connection
LEAVING_SECONDS = 5  # for answers under way, when told to stop


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound and open for connections.

    Raises:
        BadInput: no such host.
        WebcrawlerError: the port is in use, or not ours to take.
    """
    no_host = BadInput(f"--host needs an address of this machine, not {host[:60]!r}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise no_host from None
    family, _, _, _, address = found[0]
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise no_host from None
        fault = error.strerror or error
        raise WebcrawlerError(f"cannot serve on {host}, port {port}: {fault}; try another --port") from None
    return bound


def address_of(bound: socket.socket) -> str:
    """Where a browser of this machine finds it: "http://127.0.0.1:8000"."""
    host, port = bound.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: Starlette, bound: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM; then finish what is being answered.

    A second signal does not wait for that.
    """
    # 1,000 idle clients are 1,000 descriptors; many systems begin with 1,024
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # no warnings of invalid requests
    settings = uvicorn.Config(
        app,
        http="h11",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `app.py` reads them
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=LEAVING_SECONDS,
    )
    _Server(settings).run([bound])


def is_public(config: Config) -> bool:
    """Can other machines connect?"""
    return not is_loopback(config.host)


class _Server(uvicorn.Server):
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """uvicorn would raise the signal again at its end; here, stopping on request is a success."""
        self.force_exit = self.should_exit
        self.should_exit = True
