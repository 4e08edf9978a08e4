"""The search form, results, explanations and suggestions: as pages, as JSON, and for browsers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.errors import BadInput
from webcrawler.search import Results, as_dict
from webcrawler.search.rankings import RANKINGS
from webcrawler.web.hosts import host_of
from webcrawler.web.parameters import MAX_ADDED, MAX_NUMBER, MAX_WITHIN, SearchRequest, read, read_search
from webcrawler.web.render import FRESH, json_answer, page, rendered
from webcrawler.web.use import TYPED

NOTHING = SearchRequest("")
PAGES_BEFORE = 4  # numbers shown before the current page


async def home(request: Request, wanted: SearchRequest = NOTHING) -> Response:
    documents = await request.app.state.answers.documents()
    live = request.app.state.live.token(request)
    return page(request, "home.html", wanted=wanted, rankings=RANKINGS, documents=documents, live=live)


def _wanted(request: Request) -> SearchRequest:
    return read_search(read(request), request.headers.get("accept-language", ""))


async def search(request: Request) -> Response:
    wanted = _wanted(request)
    if not wanted.q.strip():
        return await home(request, wanted)
    results = await request.app.state.answers.search(wanted)
    judge = await request.app.state.judge.form(request, wanted)
    used = request.app.state.use.shown(request, wanted, results, TYPED in request.headers)
    return await run_in_threadpool(  # a hundred hits take some 20 ms to render
        page,
        request,
        "results.html",
        wanted=wanted,
        rankings=RANKINGS,
        results=results,
        hits=list(zip(results.hits, results.explanations or repeat([]), strict=False)),
        pages=list(page_numbers(wanted, results)),
        judge=judge,
        used=used,
        live=request.app.state.live.token(request),
        max_added=MAX_ADDED,
        max_within=MAX_WITHIN,
    )


async def explain(request: Request) -> Response:
    given = read(request)
    wanted, number = _wanted(request), given.whole("number", None, 1, MAX_NUMBER)
    found = await request.app.state.answers.explain(wanted, number)
    return page(request, "explain.html", wanted=wanted, rankings=RANKINGS, hit=found.hit, parts=found.parts)


def page_numbers(wanted: SearchRequest, results: Results) -> Iterator[int]:
    """Numbers of pages that certainly exist: some before this one, this one, the next."""
    if results.hits:
        last = wanted.page + (1 if results.more else 0)
        yield from range(max(1, wanted.page - PAGES_BEFORE), last + 1)


async def search_api(request: Request) -> Response:
    """The results; what is asked by a box into which somebody types (`typed=1`) is logged as on the page."""
    wanted = _wanted(request)
    if not wanted.q.strip():
        raise BadInput("q is missing: what to search for")
    results = await request.app.state.answers.search(wanted)
    answer = as_dict(results)
    if read(request).yes("typed", False):
        used = request.app.state.use.shown(request, wanted, results, is_typed=True)
        answer["answer"] = used.id if used else ""
        await run_in_threadpool(_mark, answer["hits"], results)  # takes some ms for a hundred
    return json_answer(answer)


def _mark(hits: list[dict[str, object]], results: Results) -> None:
    for hit, found in zip(hits, results.hits, strict=True):
        hit["marked"] = [piece for piece, _ in results.snippets.mark(found.snippet, found.language)]


async def suggest_api(request: Request) -> Response:
    query = read(request).one("q")
    found = await request.app.state.answers.suggest(query)
    return json_answer({"query": query, "suggestions": found})


async def explain_api(request: Request) -> Response:
    given = read(request)
    wanted, number = _wanted(request), given.whole("number", None, 1, MAX_NUMBER)
    found = await request.app.state.answers.explain(wanted, number)
    return json_answer(
        {
            "query": wanted.q,
            "number": number,
            "url": found.hit.url,
            "title": found.hit.title,
            "relevance": found.hit.relevance,
            "score": found.score,
            "parts": [part._asdict() for part in found.parts],
        }
    )


async def suggest_to_browser(request: Request) -> Response:
    query = read(request).one("q")
    answer = json_answer([query, await request.app.state.answers.suggest(query)])
    answer.headers["Content-Type"] = "application/x-suggestions+json"
    return answer


async def describe_to_browser(request: Request) -> Response:
    """The OpenSearch description. Raises BadInput: without SERVE_URL, the Host header has to name a host."""
    config, host = request.app.state.config, request.headers.get("host", "")
    if not config.url and not host_of(host):
        raise BadInput("the Host header names no host")
    # a client that sends a false Host gets it back, but nobody else: no cache keeps the answer
    here = config.url.rstrip("/") or f"{request.scope['scheme']}://{host}"
    text = rendered(config, "opensearch.xml", here=here)
    headers = {"Cache-Control": FRESH}
    return Response(text, media_type="application/opensearchdescription+xml", headers=headers)


ROUTES = [
    Route("/", home),
    Route("/search", search),
    Route("/explain", explain),
    Route("/api/search", search_api),
    Route("/api/suggest", suggest_api),
    Route("/api/explain", explain_api),
    Route("/suggest", suggest_to_browser),
    Route("/opensearch.xml", describe_to_browser),
]
