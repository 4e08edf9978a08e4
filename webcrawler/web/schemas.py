"""What JSON Schema says of each key in our answers, as data."""

from __future__ import annotations

from typing import Any

from webcrawler.realtime import ENOUGH
from webcrawler.web.live import DEFAULT, ENDS, MAX_ENOUGH, MAX_QUERY, MAX_TYPED, STRATEGIES

Schema = dict[str, Any]
Keys = dict[str, tuple[Schema, str]]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
TABLE: Schema = {"type": ["object", "null"]}
YES: Schema = {"type": "boolean"}
SWITCH: Schema = {"type": "string", "enum": ["0", "1"]}


def whole(least: int = 0, most: int | None = None, default: int | None = None) -> Schema:
    bounds = {"minimum": least, "maximum": most, "default": default}
    return {"type": "integer"} | {name: bound for name, bound in bounds.items() if bound is not None}


def many(of: Schema, most: int | None = None) -> Schema:
    return {"type": "array", "items": of} | ({"maxItems": most} if most else {})


def known(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


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

LIVE_ROW: Keys = {
    "job": (TEXT, "its name"),
    "query": (TEXT, "as it was asked; by examples alone: their typical words, empty until they are in"),
    "strategy": ({"type": "string", "enum": list(STRATEGIES)}, "how it chooses what to fetch next"),
    "state": ({"type": "string", "enum": ["starting", "running", "finished"]}, "how far it is"),
    "reason": ({"type": "string", "enum": ["", *ENDS]}, "why it ended"),
    "started": (NUMBER, "seconds since 1970"),
    "updated": (NUMBER, "when this was written, seconds since 1970"),
    "seconds": (NUMBER, "that it has taken so far"),
    "fetched": (whole(), "documents that it fetched"),
    "similar": (whole(), "of them, those that are similar to what is looked for"),
    "enough": (whole(), "similar ones that end it; 0: any number"),
    "waiting": (whole(), "URLs that may be fetched still"),
    "note": (TEXT, "what else is to be known, one line"),
}
LIVE_SEARCH: Keys = LIVE_ROW | {"hits": (many(known("LiveHit")), "of the index as it is now, best first")}
LIVE_HIT: Keys = {
    "rank": (whole(1), "1 is the best"),
    "relevance": (whole(0, 1000), "1000 for the best hit, the others in proportion"),
    "title": (TEXT, "as in the results of a search"),
    "url": (TEXT, "canonical"),
    "server": (TEXT, "scheme, host and port"),
    "snippet": (TEXT, "plain text"),
    "number": (whole(1), "page number: names the page in this data folder"),
    "similarity": (NUMBER, "to what is looked for, 0 to 1"),
    "source": ({"type": "string", "enum": ["index", "web"]}, "web: this search found it; index: was there"),
    "via": ({"anyOf": [known("LiveVia"), {"type": "null"}]}, "the link that led there"),
}
LIVE_VIA: Keys = {
    "url": (TEXT, "of the page with the link"),
    "title": (TEXT, "of that page"),
    "anchor": (TEXT, "the words of the link"),
}
LIVE_LIST: Keys = {"searches": (many(known("LiveRow")), "the newest first")}
LIVE_ASKED: Keys = {
    "query": (TEXT | {"maxLength": MAX_QUERY}, "words; needed unless the strategy learns from examples"),
    "strategy": (LIVE_ROW["strategy"][0] | {"default": DEFAULT}, "how it chooses what to fetch next"),
    "enough": (whole(0, MAX_ENOUGH, ENOUGH), "similar documents that end it; 0: any number"),
    "max_pages": (
        whole(1),
        "documents to fetch; at most SERVE_LIVE_PAGES, which is the default",
    ),
    "max_time": (whole(1), "seconds; at most SERVE_LIVE_SECONDS, which is the default"),
    "seeds": (many(TEXT, MAX_TYPED), "URLs to start from"),
    "examples": (many(TEXT, MAX_TYPED), "URLs of pages to learn from, and to start from"),
}

SCHEMAS = {
    "Results": RESULTS,
    "Hit": HIT,
    "Part": PART,
    "Related": RELATED,
    "Suggestions": SUGGESTIONS,
    "Explained": EXPLAINED,
    "Status": STATUS,
    "Live": LIVE_SEARCH,
    "LiveRow": LIVE_ROW,
    "LiveHit": LIVE_HIT,
    "LiveVia": LIVE_VIA,
    "LiveList": LIVE_LIST,
    "LiveAsked": LIVE_ASKED,
    "Error": ERROR,
}
OPTIONAL = {"Hit": {"explanation"}, "LiveAsked": set(LIVE_ASKED)}
