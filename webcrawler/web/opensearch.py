"""What a browser needs to search here from its address bar.

Source: OpenSearch 1.1 Draft 6, and its extension "Suggestions".
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.errors import BadInput
from webcrawler.web.guard import CLIENT, host_of
from webcrawler.web.parameters import read
from webcrawler.web.render import FRESH, json_answer

NAMESPACE = "http://a9.com/-/spec/opensearch/1.1/"
HTML, RESULTS, SUGGESTIONS = "text/html", "application/json", "application/x-suggestions+json"
MAX_NAME = 16  # characters, as OpenSearch has it
MAX_LETTERS = 200  # of what is completed: nobody types on from there


async def description(request: Request) -> Response:
    config = request.app.state.config
    here = config.url.rstrip("/") or _as_asked(request)
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


def _as_asked(request: Request) -> str:
    """Whoever sends a false Host gets it back, and nobody else: the answer is kept by no cache."""
    host = request.headers.get("host", "")
    if not host_of(host):
        raise BadInput("the Host header is none")
    return f"{request.scope['scheme']}://{host}"


async def suggest(request: Request) -> Response:
    query = read(request).one("q")
    answer = json_answer([query, await suggestions(request, query)])
    answer.headers["Content-Type"] = SUGGESTIONS
    return answer


async def suggestions(request: Request, query: str) -> list[str]:
    """Whole queries that begin like this one."""
    if not query.strip() or len(query) > MAX_LETTERS:
        return []
    found: list[str] = await request.app.state.answers.ask(
        lambda searcher: searcher.suggest(query), request.scope[CLIENT]
    )
    return found


ROUTES = [Route("/opensearch.xml", description), Route("/suggest", suggest)]
