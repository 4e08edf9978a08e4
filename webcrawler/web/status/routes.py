"""/status: is a crawl alive, how fast, what waits, what holds it back; as a page and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.web.parameters import read
from webcrawler.web.render import json_answer, page
from webcrawler.web.status.activity import BIN_SECONDS
from webcrawler.web.status.overview import Overview, Overviews
from webcrawler.web.status.plots import plot

SLOWEST_REFRESH = 3_600


def routes(overviews: Overviews) -> list[Route]:
    async def status(request: Request) -> Response:
        refresh = read(request).whole("refresh", 0, 0, SLOWEST_REFRESH)
        overview = await overviews.newest()
        answer = page(request, "status.html", now=overview, refresh=refresh, plots=_plots(overview))
        answer.headers["Cache-Control"] = "no-store"
        return answer

    async def api(request: Request) -> Response:
        return json_answer(as_dict(await overviews.newest()), cache="no-store")

    return [Route("/status", status), Route("/api/status", api)]


def as_dict(overview: Overview) -> dict[str, Any]:
    """What /api/status says; the frontier's table of states is `frontier.stats`."""
    return asdict(overview)


def _plots(overview: Overview) -> list[Any]:
    if overview.rates is None:
        return []
    return [
        plot("Pages a second over the last five minutes", overview.rates.recent, BIN_SECONDS),
        plot("Pages a second over the last hour", overview.rates.hour, 60),
    ]
