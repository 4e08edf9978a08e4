"""Builds the query server: routes, middleware, what happens at its start and end; and runs it."""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any
from urllib.parse import quote, unquote

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.web import render, search
from webcrawler.web.answers import Answers
from webcrawler.web.cached import routes as cached_routes
from webcrawler.web.config import Config
from webcrawler.web.finds import Finds
from webcrawler.web.hosts import BelowRoot, KnownHosts, is_local, is_loopback
from webcrawler.web.judge import Judge
from webcrawler.web.live import LivePages
from webcrawler.web.metrics import CountRequests, Metrics
from webcrawler.web.render import log_fault, page
from webcrawler.web.security import JUDGING, USED, AllowedOrigins, RequestBounds, SecurityHeaders
from webcrawler.web.status import Overviews
from webcrawler.web.status import routes as status_routes
from webcrawler.web.use import Use

# Whose X-Forwarded-For and X-Forwarded-Proto are believed: of this machine, also where it listens at `::`.
PROXIES = ["127.0.0.0/8", "::ffff:127.0.0.0/104", "::1"]


def make_app(config: Config) -> Starlette:
    """The application for one data folder, which need not exist yet.

    Raises:
        BadInput: a host or origin of the configuration is not valid.
    """
    overviews = Overviews(config)
    metrics = Metrics(config, overviews)
    answers, judge, live = Answers(config, metrics), Judge(config, metrics), LivePages(config)
    finds, use = Finds(config), Use(config)
    routes: list[Route] = [
        *search.ROUTES,
        *render.ROUTES,
        Route("/about", about),
        *cached_routes(config),
        *judge.routes(),
        *live.routes(),
        *finds.routes(),
        *use.routes(),
        *status_routes(overviews, live, config.crawl_dir / "catalog.sqlite"),
        *metrics.routes(),
    ]
    app = Starlette(
        routes=[*routes, Route(unquote(config.root) or "/", search.home)],
        middleware=middleware(config, metrics),
        exception_handlers=render.HANDLERS,
        lifespan=_lifespan,
    )
    app.router.redirect_slashes = False
    # It is unknown whether a proxy takes the path off; /search without a query is the page itself.
    ours = {route.path.split("/")[1] for route in routes} - {"", "search"}
    if unquote(config.root)[1:].partition("/")[0] in ours:
        raise BadInput(
            f"SERVE_URL: {config.root[:100]!r} begins as pages of ours; write https://example.org/find/"
        )
    app.state.config, app.state.metrics = config, metrics
    app.state.overviews = overviews
    app.state.answers, app.state.judge = answers, judge
    app.state.live, app.state.finds, app.state.use = live, finds, use
    # now, so that mistakes in the configuration show at the start, not with the first request
    app.middleware_stack = app.build_middleware_stack()
    return app


def middleware(config: Config, metrics: Metrics) -> list[Middleware]:
    """The outermost first, so that refusals are counted and get security headers as well."""
    return [
        Middleware(ProxyHeadersMiddleware, trusted_hosts=PROXIES),
        Middleware(BelowRoot, config=config),
        Middleware(CountRequests, metrics=metrics),
        Middleware(SecurityHeaders),
        Middleware(AllowedOrigins, config=config),
        Middleware(RequestBounds, posted_to=_posted_to(config)),
        Middleware(KnownHosts, config=config),
    ]


def _posted_to(config: Config) -> set[str]:
    is_on = {JUDGING: config.feedback, USED: config.query_log_days}
    return {path for path, on in is_on.items() if on}


def _log_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """As asyncio does, but that says for each connection that may wait that there are no descriptors left.

    It then tries again as often, also after the end of the server.
    """
    if context["message"] == "socket.accept() out of system resource":
        log_fault(f"no more connections are taken now: {context['exception']}; `ulimit -n` allows more")
    elif "._start_serving(" not in context["message"]:
        loop.default_exception_handler(context)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    asyncio.get_running_loop().set_exception_handler(_log_error)
    app.state.answers.warm()
    app.state.use.start()
    await app.state.live.enter()
    yield
    await app.state.live.leave()
    app.state.finds.close()
    app.state.answers.close()
    app.state.overviews.close()
    app.state.use.close()


ADDRESS = re.compile(r"[^\s@:/?#]+@[^\s@:/?#]+")
WEB = re.compile(r"https?://[^\s]+")


async def about(request: Request) -> Response:
    """For webmasters: who crawls their site, why, what is kept, and how to be left alone."""
    config = request.app.state.config
    link = href_of(config.contact)
    return page(request, "about.html", crawler=config.crawler, link=link, is_owner=is_local(request))


def href_of(contact: str) -> str:
    """Where a contact leads; "" for one that is neither an e-mail address nor a page."""
    if WEB.fullmatch(contact):
        return contact
    return f"mailto:{contact}" if ADDRESS.fullmatch(contact) else ""


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
        http=AnyAddress,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # a middleware reads them
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=LEAVING_SECONDS,
    )
    _Server(settings).run([bound])


def is_public(config: Config) -> bool:
    """Can other machines connect?"""
    return not is_loopback(config.host)


class AnyAddress(H11Protocol):
    """HTTP, also with bytes above 127 in an address, as scripts send them; h11 refuses those."""

    def data_received(self, data: bytes) -> None:
        # at the beginning of a head, not in its middle, nor in a body
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            line, end, rest = data.partition(b"\n")
            data = quote(line, bytes(range(128))).encode() + end + rest
        super().data_received(data)


class _Server(uvicorn.Server):
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """uvicorn would raise the signal again at its end; here, stopping on request is a success."""
        self.force_exit = self.should_exit
        self.should_exit = True
