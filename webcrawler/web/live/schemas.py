"""What the API says of searches of the web, and takes."""

from __future__ import annotations

from webcrawler.realtime import ENOUGH
from webcrawler.web.live.request import MAX_ENOUGH, MAX_QUERY, MAX_TYPED
from webcrawler.web.live.shown import ENDS
from webcrawler.web.live.strategies import DEFAULT, STRATEGIES
from webcrawler.web.schemas import NUMBER, TEXT, Keys, known, many, whole

ROW: Keys = {
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
SEARCH: Keys = ROW | {"hits": (many(known("LiveHit")), "of the index as it is now, best first")}
HIT: Keys = {
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
VIA: Keys = {
    "url": (TEXT, "of the page with the link"),
    "title": (TEXT, "of that page"),
    "anchor": (TEXT, "the words of the link"),
}
LIST: Keys = {"searches": (many(known("LiveRow")), "the newest first")}
ASKED: Keys = {
    "query": (TEXT | {"maxLength": MAX_QUERY}, "words; needed unless the strategy learns from examples"),
    "strategy": (ROW["strategy"][0] | {"default": DEFAULT}, "how it chooses what to fetch next"),
    "enough": (whole(0, MAX_ENOUGH, ENOUGH), "similar documents that end it; 0: any number"),
    "max_pages": (
        whole(1),
        "documents to fetch; at most SERVE_LIVE_PAGES, which is the default",
    ),
    "max_time": (whole(1), "seconds; at most SERVE_LIVE_SECONDS, which is the default"),
    "seeds": (many(TEXT, MAX_TYPED), "URLs to start from"),
    "examples": (many(TEXT, MAX_TYPED), "URLs of pages to learn from, and to start from"),
}
