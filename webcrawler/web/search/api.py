"""The search for programs: JSON with the parameters of the page, and what a browser's address bar needs.

Source: OpenSearch 1.1 Draft 6, and its extension "Suggestions".
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.errors import BadInput
from webcrawler.search import as_dict
from webcrawler.web.guard import CLIENT, host_of
from webcrawler.web.parameters import MAX_NUMBER, read
from webcrawler.web.render import FRESH, json_answer
from webcrawler.web.search.answers import NOT_THERE
from webcrawler.web.search_request import read_search

NAMESPACE = "http://a9.com/-/spec/opensearch/1.1/"
HTML, RESULTS, SUGGESTIONS = "text/html", "application/json", "application/x-suggestions+json"
MAX_NAME = 16  # characters, as OpenSearch has it


async def search(request: Request) -> Response:
    wanted = read_search(read(request))
    if not wanted.q.strip():
        raise BadInput("q is missing: what to search for")
    return json_answer(as_dict(await request.app.state.answers.search(wanted, request.scope[CLIENT])))


async def suggest(request: Request) -> Response:
    query = read(request).one("q")
    found = await request.app.state.answers.suggest(query, request.scope[CLIENT])
    return json_answer({"query": query, "suggestions": found})


async def explain(request: Request) -> Response:
    given = read(request)
    wanted, number = read_search(given), given.whole("number", None, 1, MAX_NUMBER)
    found = await request.app.state.answers.explain(wanted, number, request.scope[CLIENT])
    if found is None:
        raise HTTPException(404, NOT_THERE)
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


async def description(request: Request) -> Response:
    config = request.app.state.config
    here = config.url.rstrip("/") or _base_url(request)
    root = Element("OpenSearchDescription", xmlns=NAMESPACE)
    for name, text in (("ShortName", config.title[:MAX_NAME]), ("Description", "Search what was crawled"),
                       ("InputEncoding", "UTF-8"), ("OutputEncoding", "UTF-8")):  # fmt: skip
        SubElement(root, name).text = text
    page = "q={searchTerms}&page={startPage?}"
    for kind, address in ((HTML, f"/search?{page}"), (RESULTS, f"/api/search?{page}"),
                          (SUGGESTIONS, "/suggest?q={searchTerms}")):  # fmt: skip
        SubElement(root, "Url", type=kind, method="get", template=here + address)
    return Response(
        tostring(root, "utf-8", xml_declaration=True),
        media_type="application/opensearchdescription+xml",
        headers={"Cache-Control": FRESH},
    )


def _base_url(request: Request) -> str:
    """By the Host header. Who sends a false one gets it back, but nobody else: no cache keeps the answer."""
    host = request.headers.get("host", "")
    if not host_of(host):
        raise BadInput("the Host header names no host")
    return f"{request.scope['scheme']}://{host}"


async def suggest_to_browser(request: Request) -> Response:
    query = read(request).one("q")
    answer = json_answer([query, await request.app.state.answers.suggest(query, request.scope[CLIENT])])
    answer.headers["Content-Type"] = SUGGESTIONS
    return answer


ROUTES = [
    Route("/api/search", search),
    Route("/api/suggest", suggest),
    Route("/api/explain", explain),
    Route("/opensearch.xml", description),
    Route("/suggest", suggest_to_browser),
]
