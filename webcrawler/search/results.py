"""The answer to a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from webcrawler.records import Hit
from webcrawler.search.facets import Count
from webcrawler.search.scores import Part
from webcrawler.search.snippets import Snippets

_TOLD = (
    "query",
    "total",
    "seconds",
    "hits",
    "note",
    "at_least",
    "partial",
    "start",
    "more",
    "did_you_mean",
    "corrected",
    "other_reading",
)
_TIMES = ("fetched", "checked", "changed", "missing_since")  # of a hit


class Related(NamedTuple):
    """A word that goes with a word of the query, by the thesaurus."""

    spelled: str
    of: str  # the word that was typed
    weight: float  # when added; a word that was typed has 1


@dataclass(frozen=True, slots=True)
class Results:
    """Best hits first."""

    query: str
    total: int  # pages that satisfy the query
    seconds: float
    hits: list[Hit]
    explanations: list[list[Part]] = field(default_factory=list)  # of each hit, where asked for
    snippets: Snippets = field(default_factory=lambda: Snippets(()))  # marks the query's words in a snippet
    note: str = ""  # one line on what limits the answer: nothing indexed yet, the deadline
    start: int = 0  # hits before these
    more: bool = False  # there are hits after these
    partial: bool = False  # the deadline cut the search short
    at_least: bool = False  # there are more than `total`: the search stopped when it had enough
    asks: bool = True  # there was something to look for
    did_you_mean: str = ""  # a whole query
    corrected: str = ""  # the query that was answered instead, in better spellings
    other_reading: str = ""  # the query, its words with a dash read the other way; "" where it has none
    added: list[Related] = field(default_factory=list)  # by the thesaurus, to this query
    related: list[Related] = field(default_factory=list)  # that might be added
    counts: Mapping[str, list[Count]] = field(default_factory=dict)  # by facet, where asked for
    indexed: bool = True  # False: nothing is indexed yet


def as_dict(results: Results) -> dict[str, Any]:
    """Return what programs get; times are ISO 8601, UTC, or null where there is none."""
    hits = [hit._asdict() | {name: _iso(getattr(hit, name)) for name in _TIMES} for hit in results.hits]
    for hit in hits:
        hit["sections"] = [section._asdict() for section in hit["sections"]]
    for hit, parts in zip(hits, results.explanations, strict=False):
        hit["explanation"] = [part._asdict() for part in parts]
    return {name: getattr(results, name) for name in _TOLD} | {
        "hits": hits,
        "added": [word._asdict() for word in results.added],
        "related": [word._asdict() for word in results.related],
        "counts": {facet: [one._asdict() for one in some] for facet, some in results.counts.items()},
    }


def _iso(seconds: float) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else None
