"""The API as an OpenAPI 3.1 document, and as a page made of it; a test checks it against real answers."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from webcrawler import __version__
from webcrawler.realtime import ENOUGH
from webcrawler.search import MAX_HITS
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.web import live
from webcrawler.web.config import Config
from webcrawler.web.parameters import MAX_CHARACTERS
from webcrawler.web.render import page
from webcrawler.web.search_request import HITS, MAX_ADDED, MAX_EXPLAINED, MAX_LIMIT, MAX_WITHIN

Schema = dict[str, Any]
Parameter = tuple[str, Schema, str]

TEXT: Schema = {"type": "string"}
SWITCH: Schema = {"type": "string", "enum": ["0", "1"]}


def _schemas() -> dict[str, dict[str, Schema]]:
    """JSON Schema by object and key: those of the file, with the limits of a search of the web."""
    schemas = tomllib.loads((files("webcrawler.web") / "schemas.toml").read_text("utf-8"))
    row, asked = schemas["LiveRow"], schemas["LiveAsked"]
    for of_strategy in (row["strategy"], asked["strategy"]):
        of_strategy["enum"] = list(live.STRATEGIES)
    row["reason"]["enum"] = ["", *live.ENDS]
    asked["query"]["maxLength"] = live.MAX_QUERY
    asked["strategy"]["default"] = live.DEFAULT
    asked["enough"] |= {"maximum": live.MAX_ENOUGH, "default": ENOUGH}
    for addresses in (asked["seeds"], asked["examples"]):
        addresses["maxItems"] = live.MAX_TYPED
    schemas["Live"] = row | schemas["Live"]
    return schemas


SCHEMAS = _schemas()
OPTIONAL = {"Hit": {"explanation"}, "LiveAsked": set(SCHEMAS["LiveAsked"])}


def whole(least: int, most: int | None = None, default: int | None = None) -> Schema:
    bounds = {"minimum": least, "maximum": most, "default": default}
    return {"type": "integer"} | {name: bound for name, bound in bounds.items() if bound is not None}


def texts(most: int) -> Schema:
    return {"type": "array", "items": TEXT, "maxItems": most}


def known(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


QUERY = ("q", TEXT | {"maxLength": MAX_CHARACTERS}, "the query, in the query language")
SEARCH = [
    QUERY,
    ("page", whole(1, MAX_HITS, 1), f"of the results; no further than {MAX_HITS:,} hits"),
    ("limit", whole(1, MAX_LIMIT, HITS), "hits on a page"),
    ("ranking", {"type": "string", "enum": list(RANKINGS), "default": DEFAULT}, "what comes first"),
    ("within", texts(MAX_WITHIN), "earlier queries: only their hits count; repeated for each"),
    ("add", texts(MAX_ADDED), "words to add; they weigh less; repeated for each"),
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
        "components": {"schemas": {name: _object(name) for name in SCHEMAS}},
    }


def _path(
    summary: str, parameters: list[Parameter], gives: str, *also: tuple[int, str], method: str = "get"
) -> Schema:
    """One operation. What is posted is JSON, and begins with the answer."""
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


def _object(name: str) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [key for key in SCHEMAS[name] if key not in OPTIONAL.get(name, ())],
        "properties": SCHEMAS[name],
    }


async def _as_json(request: Request) -> Response:
    return JSONResponse(document(request.app.state.config))


async def _as_page(request: Request) -> Response:
    """The same document for people."""
    return page(request, "api.html", document=document(request.app.state.config))


ROUTES = [Route("/openapi.json", _as_json), Route("/api", _as_page)]
