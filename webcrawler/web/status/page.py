"""/status: is a crawl running, how fast, what waits, what holds it back; as a page and as JSON.

/status/pages: the first URLs that are broken, or in another state, and which pages link to them.

Plots are SVG with attributes only, as the Content-Security-Policy of our pages allows no styles.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from math import floor, log10
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, Unavailable
from webcrawler.search import span
from webcrawler.web.live import LivePages
from webcrawler.web.parameters import read
from webcrawler.web.render import json_answer, page
from webcrawler.web.status.overview import BIN_SECONDS, Overviews

SLOWEST_REFRESH = 3_600
LISTED, LINKS = 100, 3
BUSY = "others are asking for such a list: try again in a moment"


def routes(overviews: Overviews, live: LivePages, catalog: Path) -> list[Route]:
    turn = asyncio.Lock()  # one at a time: all URLs are read where few are in a state

    async def status(request: Request) -> Response:
        refresh = read(request).whole("refresh", 0, 0, SLOWEST_REFRESH)
        overview = await overviews.newest()
        plots = []
        if overview.rates:
            plots = [
                plot("Pages a second over the last five minutes", overview.rates.recent, BIN_SECONDS),
                plot("Pages a second over the last hour", overview.rates.hour, 60),
            ]
        agents = await live.agents(request)
        answer = page(request, "status.html", now=overview, refresh=refresh, plots=plots, agents=agents)
        answer.headers["Cache-Control"] = "no-store"
        return answer

    async def api(request: Request) -> Response:
        return json_answer(asdict(await overviews.newest()), cache="no-store")

    async def pages(request: Request) -> Response:
        state = read(request).one("state") or "broken"
        if turn.locked():
            raise HTTPException(503, BUSY, {"Retry-After": "2"})
        async with turn:
            found = await asyncio.to_thread(_listed, catalog, state)
        return page(request, "pages.html", state=state, found=found[:LISTED], are_all=len(found) <= LISTED)

    return [Route("/status", status), Route("/api/status", api), Route("/status/pages", pages)]


def _listed(path: Path, state: str) -> list[dict[str, object]]:
    """One more than are shown, where there are more."""
    try:
        catalog = Catalog(path, readonly=True)
    except BadInput as error:  # no fault of the visitor
        if not path.exists():
            return []
        raise Unavailable(str(error)) from error
    with closing(catalog):
        return list(islice(catalog.listed(state, LINKS, to_visitors=True), LISTED + 1))


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars of documents a second, the oldest first; the stretch of the last one has not ended."""

    label: str  # what is plotted, also for people who cannot see it
    values: list[float]
    top: float  # value at the upper edge
    from_when: str  # at the left edge


def plot(label: str, counts: Sequence[int], seconds: int) -> Plot:
    """From counts of so many seconds each."""
    values = [count / seconds for count in counts]
    return Plot(label, values, round_up(max(values)), f"{span(len(values) * seconds)} ago")


def round_up(value: float) -> float:
    """The smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, 10, … that is not below the value."""
    if value <= 0:
        return 1.0
    size = 10.0 ** floor(log10(value))
    return next(size * step for step in (1, 2, 5, 10) if size * step >= value * (1 - 1e-9))
