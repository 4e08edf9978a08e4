"""/metrics: what Prometheus asks for."""

from __future__ import annotations

import time

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webcrawler.web.config import Config
from webcrawler.web.guard import Proxies, networks
from webcrawler.web.status.overview import Overview, Overviews

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.125, 0.25, 0.3, 0.5, 1.0, 2.5, 5.0)  # of the histogram's bins
OTHER = "other"
STATES = ("queued", "leased", "done", "failed", "quarantined")
NAN = float("nan")  # unknown


class Metrics:
    """The counts of one application, in a registry of its own; safe from any thread."""

    def __init__(self, config: Config, overviews: Overviews) -> None:
        self._proxies = Proxies(config.trusted_proxies)
        self._readers = networks("SERVE_METRICS", config.metrics_for)
        self._overviews = overviews
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "webcrawler_requests", "Requests answered", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "webcrawler_request_seconds",
            "From a request's head to the end of its answer",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.answers_cached = Counter(
            "webcrawler_answers_cached", "Searches answered from memory", registry=self.registry
        )
        self.searches_partial = Counter(
            "webcrawler_searches_partial", "Searches cut off by their deadline", registry=self.registry
        )
        self.judgments = Counter(
            "webcrawler_judgments", "Relevance judgments saved", ["grade"], registry=self.registry
        )
        self._documents = self._gauge("webcrawler_index_documents", "Documents in the index")
        self._lag = self._gauge("webcrawler_index_lag_changes", "Changes of the catalog not yet in the index")
        self._alive = self._gauge("webcrawler_crawl_alive", "1 while a crawl runs")
        self._rate = self._gauge("webcrawler_crawl_documents_per_second", "Over the last ten seconds")
        self._states = Gauge("webcrawler_frontier_urls", "URLs by state", ["state"], registry=self.registry)

    def routes(self) -> list[Route]:
        return [Route("/metrics", self._expose)]

    async def _expose(self, request: Request) -> Response:
        if not self._may_read(request.scope):
            return PlainTextResponse("SERVE_METRICS says who may read this.", 403)
        self._set_gauges(await self._overviews.newest())
        text = await run_in_threadpool(generate_latest, self.registry)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})

    def _may_read(self, scope: Scope) -> bool:
        """Not through a proxy that is not named: the client behind it is unknown."""
        found = self._proxies.visitor(scope)
        return found is not None and any(found in network for network in self._readers)

    def _set_gauges(self, overview: Overview) -> None:
        self._documents.set(overview.views["index"].documents or 0)
        lag = overview.views["index"].lag
        self._lag.set(NAN if lag is None else lag)
        self._alive.set(overview.crawling)
        self._rate.set(overview.rates.per_second if overview.rates else 0)
        for state in STATES:
            self._states.labels(state).set(overview.frontier.stats[state] if overview.frontier else NAN)

    def _gauge(self, name: str, what: str) -> Gauge:
        return Gauge(name, what, registry=self.registry)


class CountRequests:
    """Counts each request and its time, by route: paths that no route has are one."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began, status = time.perf_counter(), 500

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            route = getattr(scope.get("route"), "path", OTHER)
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - began)
