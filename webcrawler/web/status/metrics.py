"""/metrics, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
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
        counter, gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        self.requests = counter("webcrawler_requests", "Requests answered", ["route", "status"])
        self.seconds = Histogram(
            "webcrawler_request_seconds",
            "From a request's head to the end of its answer",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.answers_cached = counter("webcrawler_answers_cached", "Searches answered from memory")
        self.searches_partial = counter("webcrawler_searches_partial", "Searches cut off by their deadline")
        self.judgments = counter("webcrawler_judgments", "Relevance judgments saved", ["grade"])
        self._documents = gauge("webcrawler_index_documents", "Documents in the index")
        self._lag = gauge("webcrawler_index_lag_changes", "Changes of the catalog not yet in the index")
        self._alive = gauge("webcrawler_crawl_alive", "1 while a crawl runs")
        self._rate = gauge("webcrawler_crawl_documents_per_second", "Over the last ten seconds")
        self._fresh = gauge("webcrawler_freshness", "Share of the importance that is current, by estimate")
        self._audited = gauge("webcrawler_freshness_audited", "The same, of documents drawn at random")
        self._unchecked = gauge("webcrawler_documents_unchecked", "Documents that were never fetched again")
        self._checks = Checks()
        self.registry.register(self._checks)
        self._states = gauge("webcrawler_frontier_urls", "URLs by state", ["state"])

    def routes(self) -> list[Route]:
        return [Route("/metrics", self._expose)]

    async def _expose(self, request: Request) -> Response:
        """Refused behind a proxy that is not configured, as the client is unknown."""
        visitor = self._proxies.visitor(request.scope)
        if visitor is None or not any(visitor in network for network in self._readers):
            return PlainTextResponse("SERVE_METRICS says who may read this.", 403)
        self._set_gauges(await self._overviews.newest())
        text = await run_in_threadpool(generate_latest, self.registry)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})

    def _set_gauges(self, overview: Overview) -> None:
        index = overview.views["index"]
        self._documents.set(index.documents or 0)
        self._lag.set(NAN if index.lag is None else index.lag)
        self._alive.set(overview.crawling)
        self._rate.set(overview.rates.per_second if overview.rates else 0)
        fresh = overview.freshness or {}
        self._fresh.set(_share(fresh.get("current")))
        self._audited.set(_share(fresh.get("audit")))
        self._unchecked.set(fresh.get("unchecked", NAN))
        self._checks.counts = fresh.get("checks", {})
        for state in STATES:
            self._states.labels(state).set(overview.frontier.stats[state] if overview.frontier else NAN)


def _share(known: dict[str, float] | None) -> float:
    return known["share"] if known else NAN


class Checks(Collector):
    """Checks by outcome, as the catalog counts them."""

    counts: Mapping[str, int] = MappingProxyType({})

    def collect(self) -> Iterator[Metric]:
        checks = CounterMetricFamily("webcrawler_checks", "Documents fetched again", labels=["outcome"])
        for outcome, number in self.counts.items():
            checks.add_metric([outcome], number)
        yield checks


class CountRequests:
    """Counts requests and their time by route; all paths without a route count as one."""

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
