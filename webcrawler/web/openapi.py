"""The API as an OpenAPI 3.1 document, written as data; a test holds it against the real answers."""

from __future__ import annotations

from webcrawler import __version__
from webcrawler.search import MAX_HITS
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.web.config import Config
from webcrawler.web.live import schemas as live
from webcrawler.web.parameters import MAX_CHARACTERS
from webcrawler.web.schemas import NUMBER, SWITCH, TABLE, TEXT, YES, Keys, Schema, known, many, whole
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

PART: Keys = {
    "what": (TEXT, "what was counted"),
    "detail": (TEXT, "how"),
    "contribution": (NUMBER, "to the score: they sum up to it"),
}
HIT: Keys = {
    "url": (TEXT, "canonical"),
    "title": (TEXT, "title, else first heading, else what links to it say, else URL"),
    "relevance": (whole(0, 1000), "1000 for the best hit, the others in proportion"),
    "server": (TEXT, "scheme, host and port"),
    "fetched": ({"type": ["string", "null"], "format": "date-time"}, "null: only links to it are known"),
    "snippet": (TEXT, "plain text"),
    "number": (whole(1), "page number: names the page in this data folder"),
    "near_duplicates": (whole(), "further hits that say nearly the same, folded into this one"),
    "from_server": (whole(), "further hits of its server that stand behind those of others"),
    "cached": (YES, "is there a copy at /cached?number=…"),
    "explanation": (many(known("Part")), "only with explain=1"),
}
RELATED: Keys = {
    "spelled": (TEXT, "the word"),
    "of": (TEXT, "the word of the query that it was found for"),
    "weight": (NUMBER, "beside 1 for a word that was typed"),
}
RESULTS: Keys = {
    "query": (TEXT, "as it was understood"),
    "total": (whole(), "pages that satisfy the query"),
    "seconds": (NUMBER, "for the search"),
    "hits": (many(known("Hit")), "best first"),
    "note": (TEXT, "what limits the answer: nothing indexed yet, the deadline; else empty"),
    "at_least": (YES, "there are more than total: the search stopped when it had enough"),
    "partial": (YES, "the deadline ended the search: there may be more, and in another order"),
    "start": (whole(), "hits before these"),
    "more": (YES, "is there another page?"),
    "did_you_mean": (TEXT, "a query with better known spellings, or empty"),
    "added": (many(known("Related")), "words that the thesaurus added to this query"),
    "related": (many(known("Related")), "words that might be added, by add="),
}
SUGGESTIONS: Keys = {
    "query": (TEXT, "as it was asked"),
    "suggestions": (many(TEXT), "whole queries"),
}
EXPLAINED: Keys = {
    "query": (TEXT, "as it was asked"),
    "number": (whole(1), "the page number"),
    "url": (TEXT, "canonical"),
    "title": (TEXT, "as in the results"),
    "relevance": (whole(0, 1000), "as in the results"),
    "score": (NUMBER, "the sum of the parts"),
    "parts": (many(known("Part")), "in the order of the ranking"),
}
STATUS: Keys = {
    "time": (NUMBER, "of this look, seconds since 1970"),
    "crawling": (YES, "does a crawl run on this data folder?"),
    "held_back": (TEXT, "what holds it back now, one sentence"),
    "documents": (whole(), "in the catalog"),
    "rates": (TABLE, "documents: `per_second`, `recent` (60 × 5 s), `hour` (60 × 1 min)"),
    "frontier": (TABLE, "what waits and where; null where it cannot be asked"),
    "frontier_unknown": (TEXT, "why it is null"),
    "outcomes": (TABLE, "fetches by state and reason, where the frontier cannot be asked"),
    "views": (TABLE, "index, anchors, ranks, vocabulary: `documents`, `lag`, `age_seconds`, `rebuilding`"),
    "sizes": (TABLE, "bytes by part of the data folder"),
    "free_bytes": (whole(), "on its disk"),
    "catalog_unknown": (TEXT, "why there are no documents, or empty"),
}
ERROR: Keys = {"error": (TEXT, "one line on what to do")}

SCHEMAS = {
    "Results": RESULTS,
    "Hit": HIT,
    "Part": PART,
    "Related": RELATED,
    "Suggestions": SUGGESTIONS,
    "Explained": EXPLAINED,
    "Status": STATUS,
    "Live": live.SEARCH,
    "LiveRow": live.ROW,
    "LiveHit": live.HIT,
    "LiveVia": live.VIA,
    "LiveList": live.LIST,
    "LiveAsked": live.ASKED,
    "Error": ERROR,
}
OPTIONAL = {"Hit": {"explanation"}, "LiveAsked": set(live.ASKED)}


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
