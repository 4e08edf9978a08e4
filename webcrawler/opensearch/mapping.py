"""The indexes of a collection NAME: their settings, fields and names.

    NAME-pages-000001   pages that were crawled; searched by the alias NAME-pages
    NAME-named-000001   pages that are only linked to; searched by the alias NAME-named
    NAME-state          how far each folder has come

The two do not share an index, as lengths and frequencies of the one would spoil those of the other.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from webcrawler.index import VERSION
from webcrawler.opensearch.buckets import BUCKETS

PAGES, NAMED, STATE = "pages", "named", "state"
TEXTS = ("title", "body", "meta", "around", "words", "part", "anchor", "cited")  # fields of our terms
OUTSIDE = (*BUCKETS, "sections", "vector", "text")  # not in `_source`: doc values
FILLER = "|"  # stands where no term does; no term has it
SCALE = 10  # combined_fields takes no weight below 1: ours times ten, and k1 too, change no order
REFRESH = "2s"
LIVING = {"term": {"gone": False}}  # tombstones are hidden from searches

_KEYWORD = {"type": "keyword"}
_UNSORTED = {"type": "keyword", "doc_values": False}
_KEPT = {"type": "keyword", "index": False}  # only shown
_TIME = {"type": "double"}  # seconds since 1970
_BYTES = {"type": "binary", "doc_values": True}  # quick to read: see `buckets`
_SETTINGS: dict[str, Any] = {
    "auto_expand_replicas": "0-1",
    "codec": "best_compression",
    "max_docvalue_fields_search": 300,  # all buckets at once; usually 100
    "refresh_interval": REFRESH,
    "similarity": {"default": {"type": "BM25", "k1": 2.0 * SCALE, "b": 0.5}},
    "analysis": {
        "tokenizer": {"positions": {"type": "whitespace", "max_token_length": 32_000}},
        "filter": {
            # "a|b" are two terms at one position
            "terms": {"type": "pattern_capture", "preserve_original": False, "patterns": ["([^|]+)"]},
            "filler": {"type": "stop", "stopwords": [FILLER]},
        },
        "analyzer": {
            "default": {"type": "custom", "tokenizer": "positions", "filter": ["terms", "filler"]},
        },
    },
}
_FIELDS: dict[str, Any] = {
    **{name: {"type": "text"} for name in TEXTS},
    "lengths": {"properties": {name: {"type": "integer"} for name in TEXTS}},
    **dict.fromkeys(OUTSIDE, _BYTES),
    "url": _KEYWORD,
    "server": _KEYWORD,
    "domain": _KEYWORD,
    "language": _KEYWORD,
    "home": _KEYWORD,  # the folder that has written it
    "term": {"type": "integer"},  # how often that folder has begun to write anew
    "near": _KEYWORD,
    "site": _UNSORTED,
    "links": _UNSORTED,
    "called": _KEPT,
    "names": _KEPT,
    "rank": {"type": "double"},
    "pagerank": {"type": "rank_feature"},
    "sampled": {"type": "integer"},
    "changed": _TIME,
    "fetched": _TIME,
    "checked": _TIME,
    "crawled": {"type": "boolean"},
    "gone": {"type": "boolean"},
    "gone_at": _TIME,
}
_STATE: dict[str, Any] = {
    "settings": {"number_of_shards": 1, "auto_expand_replicas": "0-1"},
    "mappings": {"dynamic": "strict", "properties": {"said": {"type": "object", "enabled": False}}},
}


def body() -> dict[str, Any]:
    """What the index of pages, or of named ones, is created with: strict, so that a field too many is told.

    `_source` has neither the texts nor what is read by itself.
    """
    return {
        "settings": _SETTINGS,
        "mappings": {
            "dynamic": "strict",
            "_meta": {"webcrawler": digest()},
            "_source": {"excludes": [*TEXTS, *OUTSIDE]},
            "properties": _FIELDS,
        },
    }


def state_body() -> dict[str, Any]:
    return {**_STATE, "mappings": {**_STATE["mappings"], "_meta": {"webcrawler": STATE}}}


def digest() -> str:
    """Tells this mapping, and how documents are made, from others: another one needs new indexes."""
    said = json.dumps([_SETTINGS, _FIELDS, VERSION], sort_keys=True)
    return sha256(said.encode()).hexdigest()[:16]


def creation(kind: str, name: str) -> dict[str, Any]:
    """The body of an index that searches see at once."""
    return {**body(), "aliases": {alias_name(name, kind): {"filter": LIVING}}}


def index_name(name: str, kind: str, generation: int) -> str:
    return f"{name}-{kind}-{generation:06}"


def alias_name(name: str, kind: str) -> str:
    return f"{name}-{kind}"
