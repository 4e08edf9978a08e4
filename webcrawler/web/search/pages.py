"""The pages for people: the form, the results, and why a hit stands where it does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.search import Results
from webcrawler.search.rankings import RANKINGS
from webcrawler.web.guard import CLIENT
from webcrawler.web.judge import JudgeForm
from webcrawler.web.parameters import MAX_NUMBER, read
from webcrawler.web.render import page
from webcrawler.web.search.answers import NOT_THERE
from webcrawler.web.search_request import MAX_ADDED, SearchRequest, read_search
from webcrawler.web.status import view_of

PAGES_BEFORE = 4  # numbers shown before the current page


async def home(request: Request) -> Response:
    return await _home(request, SearchRequest(""))


async def _home(request: Request, wanted: SearchRequest) -> Response:
    index = await run_in_threadpool(view_of, request.app.state.config.crawl_dir, "index", 0, 0.0)
    live = request.app.state.live.token(request)
    return page(request, "home.html", wanted=wanted, rankings=RANKINGS, documents=index.documents, live=live)


async def search(request: Request) -> Response:
    wanted = read_search(read(request))
    if not wanted.q.strip():
        return await _home(request, wanted)
    results = await request.app.state.answers.search(wanted, request.scope[CLIENT])
    judge = await request.app.state.judge.form(request, wanted)
    # in a thread: a hundred hits take some 20 ms to render
    return await run_in_threadpool(_page, request, wanted, results, judge)


def _page(request: Request, wanted: SearchRequest, results: Results, judge: JudgeForm | None) -> Response:
    return page(
        request,
        "results.html",
        wanted=wanted,
        rankings=RANKINGS,
        results=results,
        hits=list(zip(results.hits, results.explanations or repeat([]), strict=False)),
        pages=list(page_numbers(wanted, results)),
        judge=judge,
        live=request.app.state.live.token(request),
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
    )


def page_numbers(wanted: SearchRequest, results: Results) -> Iterator[int]:
    """The numbers of pages that there are for certain: some before, this one, the next."""
    if results.hits:
        last = wanted.page + (1 if results.more else 0)
        yield from range(max(1, wanted.page - PAGES_BEFORE), last + 1)


ROUTES = [Route("/", home), Route("/search", search), Route("/explain", explain)]
