"""The API as an OpenAPI 3.1 document, and as a page made of it; a test checks it against real answers."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from webcrawler import __version__
from webcrawler.realtime import ENOUGH, KEEP
from webcrawler.search import MAX_HITS, SORTS
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.web import live
from webcrawler.web.config import Config
from webcrawler.web.guard import HANDING_OVER
from webcrawler.web.parameters import MAX_CHARACTERS
from webcrawler.web.render import page
from webcrawler.web.search_request import HITS, MAX_ADDED, MAX_EXPLAINED, MAX_LIMIT, MAX_WITHIN

Schema = dict[str, Any]
Parameter = tuple[str, Schema, str]

TEXT: Schema = {"type": "string"}
SWITCH: Schema = {"type": "string", "enum": ["0", "1"]}


@cache
def schemas() -> dict[str, dict[str, Schema]]:
    """JSON Schema by object and key: those of the file, with the limits of a search of the web."""
    found = tomllib.loads((files("webcrawler.web") / "schemas.toml").read_text("utf-8"))
    row, asked = found["LiveRow"], found["LiveAsked"]
    for of_strategy in (row["strategy"], asked["strategy"]):
        of_strategy["enum"] = list(live.STRATEGIES)
    row["reason"]["enum"] = ["", *live.ENDS]
    asked["query"]["maxLength"] = live.MAX_QUERY
    asked["strategy"]["default"] = live.DEFAULT
    asked["enough"] |= {"maximum": live.MAX_ENOUGH, "default": ENOUGH}
    for listed in (asked["seeds"], asked["examples"], asked["domains"]):
        listed["maxItems"] = live.MAX_TYPED
    for of_keep in (row["keep"], asked["keep"]):
        of_keep["enum"] = list(KEEP)
    found["Live"] = row | found["Live"]
    return found


def whole(least: int, most: int | None = None, default: int | None = None) -> Schema:
    bounds = {"minimum": least, "maximum": most, "default": default}
    return {"type": "integer"} | {name: bound for name, bound in bounds.items() if bound is not None}


def texts(most: int) -> Schema:
    return {"type": "array", "items": TEXT, "maxItems": most}


QUERY = ("q", TEXT | {"maxLength": MAX_CHARACTERS}, "the query, in the query language")
SEARCH = [
    QUERY,
    ("page", whole(1, MAX_HITS, 1), f"of the results; no further than {MAX_HITS:,} hits"),
    ("limit", whole(1, MAX_LIMIT, HITS), "hits on a page"),
    ("ranking", {"type": "string", "enum": list(RANKINGS), "default": DEFAULT}, "how relevance is computed"),
    ("sort", {"type": "string", "enum": list(SORTS), "default": SORTS[0]}, "what comes first"),
    ("within", texts(MAX_WITHIN), "earlier queries: only their hits count; repeated for each"),
    ("add", texts(MAX_ADDED), "words to add; they weigh less; repeated for each"),
    ("expand", SWITCH | {"default": "1"}, "may the thesaurus add words where there are few hits?"),
    ("exact", SWITCH | {"default": "0"}, "correct no misspelled words"),
    ("facets", SWITCH | {"default": "0"}, "count all matches by site, by language and by when they changed"),
    ("lang", TEXT, "the asker's language, such as de, in place of Accept-Language"),
    ("explain", SWITCH | {"default": "0"}, f"give the parts of each score; limit {MAX_EXPLAINED} at most"),
]
BOXED = ("typed", SWITCH | {"default": "0"}, "for a box into which somebody types: as the page, it is logged")
TYPED = (*QUERY[:2], "what was typed so far; an empty value gives no completions")
PAGE_NUMBER = ("number", whole(1), "the page number of a hit")
JOB = {"name": "job", "in": "path", "required": True, "description": "its name", "schema": TEXT}

NO_HIT = (404, "no such hit on that page of the results")
NOT_YOURS, UNKNOWN = (403, "not permitted (SERVE_LIVE)"), (404, "no such search of the web")
AGAIN = "try again in a moment"
BUSY = (409, "you already have a search running")
NOT_SENDING = [(401, "not the token"), (403, "it is off (SERVE_PAGES_TOKEN)")]
REFUSING = [
    *NOT_SENDING,
    (413, "too large, also where unpacked: send less at a time"),
    (415, "not sent as application/warc"),
    (422, "no WARC file that can be read"),
]
# Path, method, summary, schema of the answer, parameters, errors beside those that each operation has.
# fmt: off
OPERATIONS: list[tuple[str, str, str, str, list[Parameter], list[tuple[int, str]]]] = [
    ("/api/search", "get", "Search", "Results", [*SEARCH, BOXED], []),
    ("/api/suggest", "get", "Complete a query as it is typed", "Suggestions", [TYPED], []),
    ("/api/explain", "get",
     "The parts of one hit's score; the other parameters as in the search that found it", "Explained",
     [*SEARCH[:-1], PAGE_NUMBER], [NO_HIT]),
    ("/api/status", "get", "The crawl and the index now", "Status", [], []),
    ("/api/live", "get", "The searches of the web that you may see", "LiveList", [], [NOT_YOURS]),
    ("/api/live", "post", "Search the web now", "Live", [], [NOT_YOURS, BUSY]),
    ("/api/live/{job}", "get", "A search of the web, as far as it is", "Live", [], [NOT_YOURS, UNKNOWN]),
    ("/api/live/{job}/stop", "post", "End such a search", "Live", [], [NOT_YOURS, UNKNOWN]),
    (HANDING_OVER, "post", "Hand over what a search on another machine has found", "Received", [], REFUSING),
]
# fmt: on


def document(config: Config) -> Schema:
    paths: dict[str, Schema] = {}
    for path, method, summary, gives, parameters, errors in OPERATIONS:
        # what is posted is done after the answer
        good = (202, "begun", gives) if (method, gives) == ("post", "Live") else (200, "the answer", gives)
        common = [(400, "invalid request"), *errors, (429, "rate limit exceeded"), (503, AGAIN)]
        responses = [good, *((status, why, "Error") for status, why in common)]
        of_path = paths.setdefault(path, {"parameters": [JOB]} if "{job}" in path else {})
        of_path[method] = {
            "summary": summary,
            "parameters": [_parameter(*parameter) for parameter in parameters],
            "responses": {
                str(status): {"description": why, "content": _json(name)} for status, why, name in responses
            },
        }
    paths["/api/live"]["post"]["requestBody"] = {"required": True, "content": _json("LiveAsked")}
    handing_over = paths[HANDING_OVER]["post"]
    handing_over["requestBody"] = {"required": True, "content": {"application/warc": {}}}
    handing_over["security"] = [{"token": []}]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "webcrawler",
            "version": __version__,
            "description": "Search over the pages that were crawled.",
        },
        "servers": [{"url": config.url.rstrip("/") or "/"}],
        "paths": paths,
        "components": {
            "schemas": {name: _object(name) for name in schemas()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _parameter(name: str, schema: Schema, description: str) -> Schema:
    required = (name, schema, description) in (QUERY, PAGE_NUMBER)
    return {"name": name, "in": "query", "required": required, "description": description, "schema": schema}


def _json(name: str) -> Schema:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _object(name: str) -> Schema:
    keys = schemas()[name]
    optional = {"Results": {"answer"}, "Hit": {"explanation", "marked"}, "LiveAsked": set(keys)}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [key for key in keys if key not in optional.get(name, ())],
        "properties": keys,
    }


async def _as_json(request: Request) -> Response:
    return JSONResponse(document(request.app.state.config))


async def _as_page(request: Request) -> Response:
    """The same document for people."""
    return page(request, "api.html", document=document(request.app.state.config))


ROUTES = [Route("/openapi.json", _as_json), Route("/api", _as_page)]
