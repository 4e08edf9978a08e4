"""The answer to a query, and how programs and people are told it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from webcrawler.records import Hit
from webcrawler.search.facets import Count
from webcrawler.search.matches import Part
from webcrawler.search.snippets import Snippets

LONG_AGO = 30 * 86_400.0  # from when on people are told a day
SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_TIMES = ("fetched", "checked", "changed", "missing_since")  # of a hit


class Related(NamedTuple):
    """A word that goes with a word of the query, by the thesaurus."""

    spelled: str
    of: str  # the word that was typed
    weight: float  # when added; a word that was typed has 1


@dataclass(frozen=True, slots=True)
class Results:
    """Best hits first."""

    # what programs get:
    query: str
    total: int  # pages that satisfy the query
    seconds: float
    hits: list[Hit]
    note: str = ""  # one line on what limits the answer: nothing indexed yet, the deadline
    at_least: bool = False  # there are more than `total`: the search stopped when it had enough
    partial: bool = False  # the deadline cut the search short
    start: int = 0  # hits before these
    more: bool = False  # there are hits after these
    did_you_mean: str = ""  # a whole query
    corrected: str = ""  # the query that was answered instead, in better spellings
    other_reading: str = ""  # the query, its words with a dash read the other way; "" where it has none
    added: list[Related] = field(default_factory=list)  # by the thesaurus, to this query
    related: list[Related] = field(default_factory=list)  # that might be added
    counts: Mapping[str, Sequence[Count]] = field(default_factory=dict)  # by facet, where asked for
    # what they do not get as it is:
    explanations: list[list[Part]] = field(default_factory=list)  # of each hit, where asked for
    snippets: Snippets = field(default_factory=lambda: Snippets(()))  # marks the query's words in a snippet
    asks: bool = True  # there was something to look for
    indexed: bool = True  # False: nothing is indexed yet


def as_dict(results: Results) -> dict[str, Any]:
    """Return what programs get; times are ISO 8601, UTC, or null where there is none."""
    hits = [hit._asdict() | {name: _iso(getattr(hit, name)) for name in _TIMES} for hit in results.hits]
    for hit in hits:
        hit["sections"] = [section._asdict() for section in hit["sections"]]
    for hit, parts in zip(hits, results.explanations, strict=False):
        hit["explanation"] = [part._asdict() for part in parts]
    told = {one.name: getattr(results, one.name) for one in fields(Results)[:-4]}
    return told | {
        "hits": hits,
        "added": [word._asdict() for word in results.added],
        "related": [word._asdict() for word in results.related],
        "counts": {facet: [one._asdict() for one in some] for facet, some in results.counts.items()},
    }


def _iso(seconds: float) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else None


def day(seconds: float) -> str:
    """ "20 Nov 2026"; UTC."""
    then = datetime.fromtimestamp(seconds, UTC)
    return f"{then.day} {then:%b %Y}"


def span(seconds: float) -> str:
    """ "0.5 s", "3 s", "2 min", "5 h", "9 d"; rounded down."""
    for length, name in SPANS:
        if seconds >= length:
            return f"{int(seconds // length):,} {name}"
    return f"{seconds:.1f} s" if 0.05 <= seconds < 0.95 else f"{seconds:.0f} s"


def seen(hit: Hit, now: float) -> str:
    """ "checked 2 h ago, unchanged since 3 Nov 2026", "last seen 3 Nov 2026"; "" for what was never fetched.

    The last time that a page was seen is told as a day: by now it may be gone.
    """
    if not hit.fetched:
        return ""
    if hit.missing_since:
        return f"last seen {day(hit.checked)}"
    was_seen_before = 0 < hit.changed < hit.checked and day(hit.changed) != day(hit.checked)
    unchanged = f", unchanged since {day(hit.changed)}" if was_seen_before else ""
    age = max(0.0, now - hit.checked)
    return f"checked {f'{span(age)} ago' if age < LONG_AGO else f'on {day(hit.checked)}'}{unchanged}"
