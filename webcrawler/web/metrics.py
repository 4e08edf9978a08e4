"""/metrics, for Prometheus, with a dashboard for Grafana; /healthz, for load balancers and monitors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webcrawler import metrics
from webcrawler.errors import Unavailable
from webcrawler.frontier import CAUSES
from webcrawler.metrics import PREFIX
from webcrawler.web.config import Config
from webcrawler.web.hosts import is_local
from webcrawler.web.render import UNREADABLE, NotNow, log_fault
from webcrawler.web.status import Overview, Overviews

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.125, 0.25, 0.3, 0.5, 1.0, 2.5, 5.0)  # of the histogram's bins
OTHER = "other"
HEALTH_SECONDS = 5.0  # for an answer of the index
NO_STORE = {"Cache-Control": "no-store"}
STATES = ("queued", "leased", "done", "failed", "quarantined")
SERVERS = ("ready", "doubtful", "waiting")


class Metrics:
    """The counts of one application, in a registry of its own; safe from any thread."""

    def __init__(self, config: Config, overviews: Overviews) -> None:
        self._overviews, self._crawl_dir = overviews, config.crawl_dir
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
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

    def routes(self) -> list[Route]:
        return [
            Route("/metrics", self._expose),
            Route("/grafana.json", _dashboard),
            Route("/healthz", health),
        ]

    async def _expose(self, request: Request) -> Response:
        """For a Prometheus of this machine, or one that a proxy lets through without saying that it does."""
        if not is_local(request):
            return PlainTextResponse("only this machine may read this", 403)
        text = await run_in_threadpool(self._text, await self._overviews.newest())
        return Response(text, headers=NO_STORE | {"Content-Type": CONTENT_TYPE_LATEST})

    def _text(self, overview: Overview) -> bytes:
        return generate_latest(self.registry) + generate_latest(Seen(overview, self._crawl_dir))


async def _dashboard(request: Request) -> Response:
    board = (files("webcrawler.web") / "grafana.json").read_bytes()
    return Response(board, media_type="application/json")


class Seen(Collector):
    """What an overview says, and what the processes of a data folder do. What is unknown has no value."""

    def __init__(self, overview: Overview, crawl_dir: Path) -> None:
        self._overview, self._crawl_dir = overview, crawl_dir

    def collect(self) -> Iterator[Metric]:
        now = self._overview
        yield _gauge("index_documents", "Documents in the index", now["indexed"])
        yield _gauge("index_lag_changes", "Changes of the catalog not yet in the index", now["index_lag"])
        yield _gauge("crawl_alive", "1 while a crawl runs", now["crawling"])
        yield _gauge("crawl_documents_per_second", "Over the last ten seconds", now["per_second"])
        causes = {cause: cause == now["held_back_by"] for cause in CAUSES}
        yield _gauges("held_back", "1 for what holds the crawl back now", "cause", causes)
        yield _gauges("process_alive", "1 while such a process runs", "process", now["processes"])
        yield _gauge("disk_free_bytes", "Free on the disk of the data folder", now["free_bytes"])
        yield _gauges("disk_used_bytes", "Used by parts of the data folder", "part", now["sizes"])
        yield from self._frontier()
        yield from metrics.families(self._crawl_dir)

    def _frontier(self) -> Iterator[Metric]:
        now = self._overview["frontier"]
        if now and not now["stats"]["seen"]:  # a spider of others has one of another name
            now = None
        states = {name: now["stats"][name] for name in STATES} if now else {}
        yield _gauges("frontier_urls", "URLs by state", "state", states)
        servers = {name: now[name] for name in SERVERS} if now else {}
        yield _gauges("frontier_servers", "Servers with URLs, by state", "state", servers)
        retrying, workers = (now["retrying"], now["workers"]) if now else (None, None)
        yield _gauge("frontier_retrying_urls", "URLs to be tried again at a time", retrying)
        yield _gauge("frontier_workers", "Workers that are alive", workers)
        refused = CounterMetricFamily(PREFIX + "frontier_refused", "Links not taken in", labels=["reason"])
        yield _parted(refused, now["stats"]["refused"] if now else {})


def _gauge(name: str, says: str, value: float | None) -> Metric:
    return GaugeMetricFamily(PREFIX + name, says, value)


def _gauges(name: str, says: str, label: str, values: Mapping[str, float]) -> Metric:
    return _parted(GaugeMetricFamily(PREFIX + name, says, labels=[label]), values)


def _parted(family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[str, float]) -> Metric:
    for part, value in values.items():
        family.add_metric([part], value)
    return family


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


async def health(request: Request) -> Response:
    """Asks a search thread whether the index can be read; it is well where nothing is indexed yet."""
    try:
        async with asyncio.timeout(HEALTH_SECONDS):
            await request.app.state.answers.ask(lambda searcher: searcher.check())
    except TimeoutError:
        return JSONResponse({"status": "unwell", "reason": "no search thread is free"}, 503, NO_STORE)
    except Unavailable as error:
        reason = str(error)
        if not isinstance(error, NotNow):
            log_fault(reason)
            reason = UNREADABLE
        return JSONResponse({"status": "unwell", "reason": reason}, 503, NO_STORE)
    return JSONResponse({"status": "ok"}, headers=NO_STORE)
