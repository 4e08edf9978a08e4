"""/metrics, for Prometheus, and a dashboard of them for Grafana."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.resources import files
from itertools import accumulate
from types import MappingProxyType

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webcrawler import metrics
from webcrawler.frontier import CAUSES, Standing
from webcrawler.metrics import COUNTERS, GAUGES, HISTOGRAMS
from webcrawler.web.config import Config
from webcrawler.web.guard import Proxies, networks
from webcrawler.web.status.overview import Overview, Overviews

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.125, 0.25, 0.3, 0.5, 1.0, 2.5, 5.0)  # of the histogram's bins
OTHER = "other"
STATES = ("queued", "leased", "done", "failed", "quarantined")
SERVERS = ("ready", "doubtful", "waiting")
NAN = float("nan")  # unknown, and left out


class Metrics:
    """The counts of one application, in a registry of its own; safe from any thread."""

    def __init__(self, config: Config, overviews: Overviews) -> None:
        self._proxies = Proxies(config.trusted_proxies)
        self._readers = networks("SERVE_METRICS", config.metrics_for)
        self._overviews, self._folders = overviews, config.folders or (config.crawl_dir,)
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
        self._held_back = gauge("webcrawler_held_back", "1 for what holds the crawl back now", ["cause"])
        self._processes = gauge("webcrawler_process_alive", "1 while such a process runs", ["process"])
        self._free = gauge("webcrawler_disk_free_bytes", "Free on the disk of the data folder")
        self._sizes = gauge("webcrawler_disk_used_bytes", "Used by parts of the data folder", ["part"])
        self._states = gauge("webcrawler_frontier_urls", "URLs by state", ["state"])
        self._servers = gauge("webcrawler_frontier_servers", "Servers with URLs, by state", ["state"])
        self._retrying = gauge("webcrawler_frontier_retrying_urls", "URLs to be tried again at a time")
        self._workers = gauge("webcrawler_frontier_workers", "Workers that are alive")
        self._checks, self._refused, self._counted = Checks(), Refused(), Counted()
        for collector in (self._checks, self._refused, self._counted):
            self.registry.register(collector)

    def routes(self) -> list[Route]:
        return [Route("/metrics", self._expose), Route("/grafana.json", _dashboard)]

    async def _expose(self, request: Request) -> Response:
        """Refused behind a proxy that is not configured, as the client is unknown."""
        visitor = self._proxies.visitor(request.scope)
        if visitor is None or not any(visitor in network for network in self._readers):
            return PlainTextResponse("SERVE_METRICS says who may read this.", 403)
        self._set_gauges(await self._overviews.newest())
        self._counted.all = await run_in_threadpool(metrics.read, *self._folders)
        text = await run_in_threadpool(generate_latest, self.registry)
        text = b"".join(line for line in text.splitlines(True) if not line.endswith(b" NaN\n"))
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})

    def _set_gauges(self, overview: Overview) -> None:
        index = overview.views["index"]
        self._documents.set(index.documents or 0)
        self._lag.set(NAN if index.lag is None else index.lag)
        self._alive.set(overview.crawling)
        self._rate.set(overview.rates.per_second if overview.rates else NAN)
        fresh = overview.freshness or {}
        self._fresh.set(_share(fresh.get("current")))
        self._audited.set(_share(fresh.get("audit")))
        self._unchecked.set(fresh.get("unchecked", NAN))
        self._checks.counts = fresh.get("checks", {})
        for cause in CAUSES:
            self._held_back.labels(cause).set(cause == overview.held_back_by)
        for process, is_alive in overview.processes.items():
            self._processes.labels(process).set(is_alive)
        self._free.set(overview.free_bytes)
        for part, size in overview.sizes.items():
            self._sizes.labels(part).set(size)
        self._set_frontier(overview.frontier)

    def _set_frontier(self, frontier: Standing | None) -> None:
        if frontier and not frontier.stats["seen"]:  # a spider of others has one of another name
            frontier = None
        for state in STATES:
            self._states.labels(state).set(frontier.stats[state] if frontier else NAN)
        for state in SERVERS:
            self._servers.labels(state).set(getattr(frontier, state) if frontier else NAN)
        self._retrying.set(frontier.retrying if frontier else NAN)
        self._workers.set(frontier.workers if frontier else NAN)
        if frontier:  # else as it was: a counter must not go down
            self._refused.counts = frontier.stats["refused"]


async def _dashboard(request: Request) -> Response:
    board = (files("webcrawler.web.status") / "grafana.json").read_bytes()
    return Response(board, media_type="application/json")


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


class Refused(Collector):
    """Links that were not taken in, by reason, as the frontier counts them."""

    counts: Mapping[str, int] = MappingProxyType({})

    def collect(self) -> Iterator[Metric]:
        refused = CounterMetricFamily("webcrawler_frontier_refused", "Links not taken in", labels=["reason"])
        for reason, number in self.counts.items():
            refused.add_metric([reason], number)
        yield refused


class Counted(Collector):
    """What the crawl and the processes beside it have counted and timed."""

    all = metrics.Metrics()

    def collect(self) -> Iterator[Metric]:
        for name, kind in COUNTERS.items():
            found = self.all.counts[name]
            if kind.label:
                counter = CounterMetricFamily(f"webcrawler_{name}", kind.says, labels=[kind.label])
                for label, number in found.items():
                    counter.add_metric([label], number)
            else:
                counter = CounterMetricFamily(f"webcrawler_{name}", kind.says, found[""])
            yield counter
        for name, kind in GAUGES.items():  # without a process that says it: no value
            yield GaugeMetricFamily(f"webcrawler_{name}", kind.says, self.all.gauges.get(name))
        for name, kind in HISTOGRAMS.items():
            timed, edges = self.all.timed[name], [*map(floatToGoString, kind.edges), "+Inf"]
            bins = list(zip(edges, accumulate(timed.bins), strict=True))
            yield HistogramMetricFamily(f"webcrawler_{name}", kind.says, bins, timed.sum)


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
