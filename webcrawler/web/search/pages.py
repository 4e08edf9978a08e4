"""The pages for people: the form, the results, and why a hit stands where it does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.records import Hit
from webcrawler.search import Part, Results
from webcrawler.search.rankings import RANKINGS
from webcrawler.text.query import parse
from webcrawler.web.guard import CLIENT
from webcrawler.web.judge import JudgeForm
from webcrawler.web.parameters import MAX_NUMBER, read
from webcrawler.web.readable import link, readable
from webcrawler.web.render import page
from webcrawler.web.search.answers import NOT_THERE
from webcrawler.web.search_request import MAX_ADDED, SearchRequest, read_search
from webcrawler.web.status import view_of

_ALTERNATIVES = re.compile(r"\bOR\b")
PAGES_BEFORE = 4  # numbers shown before the current page


async def home(request: Request) -> Response:
    return await _home(request, SearchRequest(""))


async def _home(request: Request, wanted: SearchRequest) -> Response:
    index = await run_in_threadpool(view_of, request.app.state.config.crawl_dir, "index", 0, 0.0)
    live = request.app.state.live.form(request)
    return page(request, "home.html", wanted=wanted, rankings=RANKINGS, documents=index.documents, live=live)


async def search(request: Request) -> Response:
    wanted = read_search(read(request))
    if not wanted.q.strip():
        return await _home(request, wanted)
    results = await request.app.state.answers.search(wanted, request.scope[CLIENT])
    judge = await request.app.state.judge.form(request, wanted)
    # a hundred hits take some 20 ms to write: others are answered meanwhile
    return await run_in_threadpool(_page, request, wanted, results, judge)


def _page(request: Request, wanted: SearchRequest, results: Results, judge: JudgeForm | None) -> Response:
    return page(
        request,
        "results.html",
        wanted=wanted,
        rankings=RANKINGS,
        results=results,
        hits=hit_views(wanted, results),
        pages=list(page_numbers(wanted, results)),
        judge=judge,
        live=request.app.state.live.form(request),
        max_added=MAX_ADDED,
    )


async def explain(request: Request) -> Response:
    given = read(request)
    wanted, number = read_search(given), given.whole("number", None, 1, MAX_NUMBER)
    found = await request.app.state.answers.explain(wanted, number, request.scope[CLIENT])
    if found is None:
        raise HTTPException(404, NOT_THERE)
    return page(
        request,
        "explain.html",
        wanted=wanted,
        rankings=RANKINGS,
        hit=found.hit,
        parts=found.parts,
        link=link(found.hit.url),
        address=readable(found.hit.url),
    )


@dataclass(frozen=True, slots=True)
class HitView:
    hit: Hit
    link: str  # empty where the URL is none that a browser should follow
    address: str  # the URL as people read it
    title: str
    snippet: list[tuple[str, bool]]  # pieces, and whether each is a word of the query
    cached_url: str
    explain_url: str
    server_url: str  # the same words on its server alone; empty where that has no more
    parts: Sequence[Part]


def hit_views(wanted: SearchRequest, results: Results) -> list[HitView]:
    parts, explain = results.explanations or [[]] * len(results.hits), wanted.explain_url()
    return [_view(wanted, results, hit, of, explain) for hit, of in zip(results.hits, parts, strict=True)]


def page_numbers(wanted: SearchRequest, results: Results) -> Iterator[int]:
    """The numbers of pages that there are for certain: some before, this one, the next."""
    if results.hits:
        last = wanted.page + (1 if results.more else 0)
        yield from range(max(1, wanted.page - PAGES_BEFORE), last + 1)


def of_server(query: str, server: str) -> str:
    """The query for pages of one server, which stands first, as a query may leave a quote open to its end.

    Alternatives go into parentheses, and as they were understood: a stray parenthesis would end ours.
    """
    site = f"site:{server.partition('://')[2]}"
    return f"{site} ({parse(query).root})" if _ALTERNATIVES.search(query) else f"{site} {query}"


def _view(wanted: SearchRequest, results: Results, hit: Hit, parts: Sequence[Part], explain: str) -> HitView:
    address = readable(hit.url)
    return HitView(
        hit,
        link(hit.url),
        address,
        address if not hit.title.strip() or hit.title == hit.url else hit.title,
        [piece for piece in results.snippets.mark(hit.snippet) if piece[0]],
        f"/cached?{urlencode({'number': hit.number, 'q': wanted.q})}",
        f"{explain}{hit.number}",
        wanted.url(q=of_server(wanted.q, hit.server)) if hit.from_server else "",
        parts,
    )


ROUTES = [Route("/", home), Route("/search", search), Route("/explain", explain)]
