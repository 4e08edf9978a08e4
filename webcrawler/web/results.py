"""The pages of the search: the form, the results, and why a hit stands where it does."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.search import Results
from webcrawler.search.rankings import RANKINGS
from webcrawler.web.explain import NOT_THERE, explained
from webcrawler.web.guard import CLIENT
from webcrawler.web.judge import JudgeForm
from webcrawler.web.parameters import MAX_NUMBER, read
from webcrawler.web.readable import readable
from webcrawler.web.render import page
from webcrawler.web.search_request import MAX_ADDED, Asking, asked
from webcrawler.web.shown import link, pages, shown
from webcrawler.web.status import view_of


async def home(request: Request) -> Response:
    return await _home(request, Asking(""))


async def _home(request: Request, asking: Asking) -> Response:
    index = await run_in_threadpool(view_of, request.app.state.config.crawl_dir, "index", 0, 0.0)
    live = request.app.state.live.form(request)
    return page(request, "home.html", asking=asking, rankings=RANKINGS, documents=index.documents, live=live)


async def search(request: Request) -> Response:
    asking = asked(read(request))
    if not asking.q.strip():
        return await _home(request, asking)
    results = await request.app.state.answers.search(asking, request.scope[CLIENT])
    judge = await request.app.state.judging.form(request, asking)
    # a hundred hits take some 20 ms to write: others are answered meanwhile
    return await run_in_threadpool(_page, request, asking, results, judge)


def _page(request: Request, asking: Asking, results: Results, judge: JudgeForm | None) -> Response:
    return page(
        request,
        "results.html",
        asking=asking,
        rankings=RANKINGS,
        results=results,
        shown=shown(asking, results),
        pages=list(pages(asking, results)),
        judge=judge,
        live=request.app.state.live.form(request),
        max_added=MAX_ADDED,
    )


async def explain(request: Request) -> Response:
    given = read(request)
    asking, number = asked(given), given.whole("number", None, 1, MAX_NUMBER)
    found = await explained(request, asking, number)
    if found is None:
        raise HTTPException(404, NOT_THERE)
    return page(
        request,
        "explain.html",
        asking=asking,
        rankings=RANKINGS,
        hit=found.hit,
        parts=found.parts,
        link=link(found.hit.url),
        address=readable(found.hit.url),
    )


ROUTES = [Route("/", home), Route("/search", search), Route("/explain", explain)]
