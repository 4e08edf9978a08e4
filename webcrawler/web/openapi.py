"""The API as an OpenAPI 3.1 document, for programs and as a page; a test checks it against real answers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from webcrawler import __version__
from webcrawler.search import MAX_HITS
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.web.config import Config
from webcrawler.web.parameters import MAX_CHARACTERS
from webcrawler.web.render import page
from webcrawler.web.schemas import OPTIONAL, SCHEMAS, SWITCH, TEXT, Keys, Schema, known, many, whole
from webcrawler.web.search_request import HITS, MAX_ADDED, MAX_EXPLAINED, MAX_LIMIT, MAX_WITHIN

Parameter = tuple[str, Schema, str]

QUERY = ("q", TEXT | {"maxLength": MAX_CHARACTERS}, "the query, in the query language")
SEARCH = [
    QUERY,
    ("page", whole(1, MAX_HITS, 1), f"of the results; no further than {MAX_HITS:,} hits"),
    ("limit", whole(1, MAX_LIMIT, HITS), "hits on a page"),
    ("ranking", {"type": "string", "enum": list(RANKINGS), "default": DEFAULT}, "what comes first"),
    ("within", many(TEXT, MAX_WITHIN), "earlier queries: only their hits count; repeated for each"),
    ("add", many(TEXT, MAX_ADDED), "words to add; they weigh less; repeated for each"),
    ("expand", SWITCH | {"default": "1"}, "may the thesaurus add words where there are few hits?"),
    ("explain", SWITCH | {"default": "0"}, f"give the parts of each score; limit {MAX_EXPLAINED} at most"),
]
TYPED = (*QUERY[:2], "what was typed so far; nothing completes nothing")
PAGE_NUMBER = ("number", whole(1), "the page number of a hit")


def document(config: Config) -> Schema:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "webcrawler",
            "version": __version__,
            "description": "Search over the pages that were crawled.",
        },
        "servers": [{"url": config.url or "/"}],
        "paths": {
            "/api/search": _path("Search", SEARCH, "Results"),
            "/api/suggest": _path("Complete a query as it is typed", [TYPED], "Suggestions"),
            "/api/explain": _path(
                "The parts of one hit's score; the other parameters as in the search that found it",
                [*SEARCH[:-1], PAGE_NUMBER],
                "Explained",
                (404, "no such hit on that page of the results"),
            ),
            "/api/status": _path("The crawl and the index now", [], "Status"),
            **_live(),
        },
        "components": {"schemas": {name: _object(name, keys) for name, keys in SCHEMAS.items()}},
    }


def _path(
    summary: str, parameters: list[Parameter], gives: str, *also: tuple[int, str], method: str = "get"
) -> Schema:
    """What is posted is JSON, and is done after the answer."""
    told = [(400, "asked wrongly"), *also, (429, "too often"), (503, "try again in a moment")]
    responses = {str(status): _answer(why, "Error") for status, why in told}
    described = [
        {
            "name": name,
            "in": "query",
            "required": (name, schema, description) in (QUERY, PAGE_NUMBER),
            "description": description,
            "schema": schema,
        }
        for name, schema, description in parameters
    ]
    good = {"200": _answer("the answer", gives)} if method == "get" else {"202": _answer("begun", gives)}
    return {method: {"summary": summary, "parameters": described, "responses": good | responses}}


def _live() -> Schema:
    not_yours, unknown = (403, "SERVE_LIVE says who may"), (404, "no such search of the web")
    job = {"name": "job", "in": "path", "required": True, "description": "its name", "schema": TEXT}
    start = _path("Search the web now", [], "Live", not_yours, (409, "one of yours runs"), method="post")
    body = {"required": True, "content": {"application/json": {"schema": known("LiveAsked")}}}
    show = _path("A search of the web, as far as it is", [], "Live", not_yours, unknown)
    stop = _path("End such a search; what it found stays", [], "Live", not_yours, unknown, method="post")
    return {
        "/api/live": _path("The searches of the web that you may see", [], "LiveList", not_yours)
        | {"post": start["post"] | {"requestBody": body}},
        "/api/live/{job}": show | {"parameters": [job]},
        "/api/live/{job}/stop": stop | {"parameters": [job]},
    }


def _answer(description: str, name: str) -> Schema:
    return {"description": description, "content": {"application/json": {"schema": known(name)}}}


def _object(kind: str, keys: Keys) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in keys if name not in OPTIONAL.get(kind, ())],
        "properties": {name: schema | {"description": said} for name, (schema, said) in keys.items()},
    }


async def _as_json(request: Request) -> Response:
    return JSONResponse(document(request.app.state.config))


async def _as_page(request: Request) -> Response:
    """The same document, to be read."""
    return page(request, "api.html", document=document(request.app.state.config))


ROUTES = [Route("/openapi.json", _as_json), Route("/api", _as_page)]
