"""The search for programs: JSON with the parameters of the page."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from webcrawler.errors import BadInput
from webcrawler.search import as_dict
from webcrawler.web.explain import NOT_THERE, explained
from webcrawler.web.guard import CLIENT
from webcrawler.web.openapi import document
from webcrawler.web.opensearch import suggestions
from webcrawler.web.parameters import MAX_NUMBER, read
from webcrawler.web.render import json_answer, page
from webcrawler.web.search_request import asked


async def search(request: Request) -> Response:
    asking = asked(read(request))
    if not asking.q.strip():
        raise BadInput("q is missing: what to search for")
    return json_answer(as_dict(await request.app.state.answers.search(asking, request.scope[CLIENT])))


async def suggest(request: Request) -> Response:
    query = read(request).one("q")
    return json_answer({"query": query, "suggestions": await suggestions(request, query)})


async def explain(request: Request) -> Response:
    given = read(request)
    asking, number = asked(given), given.whole("number", None, 1, MAX_NUMBER)
    found = await explained(request, asking, number)
    if found is None:
        raise HTTPException(404, NOT_THERE)
    return json_answer(
        {
            "query": asking.q,
            "number": number,
            "url": found.hit.url,
            "title": found.hit.title,
            "relevance": found.hit.relevance,
            "score": found.score,
            "parts": [part._asdict() for part in found.parts],
        }
    )


async def openapi(request: Request) -> Response:
    return JSONResponse(document(request.app.state.config))


async def for_people(request: Request) -> Response:
    """The same document, to be read."""
    return page(request, "api.html", document=document(request.app.state.config))


ROUTES = [
    Route("/api", for_people),
    Route("/api/search", search),
    Route("/api/suggest", suggest),
    Route("/api/explain", explain),
    Route("/openapi.json", openapi),
]
