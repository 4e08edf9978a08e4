"""Builds the query server: routes, middleware, and what happens at its start and end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from webcrawler.errors import BadInput
from webcrawler.web import failures, render, search
from webcrawler.web.about import routes as about_routes
from webcrawler.web.cached import routes as cached_routes
from webcrawler.web.config import Config
from webcrawler.web.failures import log_fault
from webcrawler.web.finds import Finds
from webcrawler.web.hosts import BelowRoot, KnownHosts
from webcrawler.web.judge import Judge
from webcrawler.web.live import LivePages
from webcrawler.web.monitoring import CountRequests, Metrics
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
    answers, judge, live = search.Answers(config, metrics), Judge(config, metrics), LivePages(config)
    finds, use = Finds(config), Use(config)
    routes: list[Route] = [
        *search.ROUTES,
        *render.ROUTES,
        *about_routes(config),
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
        exception_handlers=failures.HANDLERS,
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
