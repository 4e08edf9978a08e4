"""The answer to a query, how programs and people are told it, and what all matches are counted by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from heapq import nlargest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler import clock
from webcrawler.index import Reading
from webcrawler.records import Hit
from webcrawler.search.matches import Part
from webcrawler.search.snippets import Snippets
from webcrawler.text.query import nodes
from webcrawler.urls import DEFAULT_PORTS, host_and_port

LONG_AGO = 30 * 86_400.0  # from when on people are told a day
SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_TIMES = ("fetched", "checked", "changed", "missing_since")  # of a hit


class Count(NamedTuple):
    value: str  # "docs.example.org", "de", "7d"
    pages: int  # of all matches
    filter: str  # added to the query, it leaves these


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


MOST = 10  # values of a facet, those with the most pages
SERVERS = 1_000  # whose pages are counted, those with the most: each takes 40 µs, once for a commit
SINCE = ("7d", "30d", "365d")

Numbers = NDArray[np.int32]


class Labels:
    """What the pages of a commit are counted by; to read it takes 40 µs a server."""

    def __init__(self, reading: Reading) -> None:
        servers = sorted(nlargest(SERVERS, reading.servers, key=reading.servers.__getitem__))
        codes = sorted(reading.languages)
        self._sites = _labelled(reading, "server", ((server, site_of(server)) for server in servers))
        self._languages = _labelled(reading, "language", zip(codes, codes, strict=True))

    def counts(self, pages: Numbers, changed: NDArray[np.float64]) -> dict[str, list[Count]]:
        """Count pages by site, by language and by when they changed.

        Args:
            changed: by page number, seconds since 1970; 0 where it is not known.
        """
        times = changed[pages[pages < len(changed)]]
        return {
            "site": _counted(pages, *self._sites, "site"),
            "language": _counted(pages, *self._languages, "lang"),
            "changed": list(_spans(times)),
        }


def site_of(server: str) -> str:
    """Return what `site:` takes: the host, and the port where it is not that of the scheme."""
    host, port = host_and_port(server)
    host = f"[{host}]" if ":" in host else host
    return host if port == DEFAULT_PORTS[server.partition(":")[0]] else f"{host}:{port}"


def _labelled(reading: Reading, field: str, labels: Iterable[tuple[str, str]]) -> tuple[list[str], Numbers]:
    """Return the labels, and by page number the place of its own among them, -1 for none.

    Args:
        labels: of terms of the field; several terms may have the same.
    """
    places: dict[str, int] = {}
    found = np.full(reading.size, -1, np.int32)
    for term, label in labels:
        found[reading.posted(field, term).pages] = places.setdefault(label, len(places))
    return list(places), found


def _counted(pages: Numbers, labels: list[str], places: Numbers, field: str) -> list[Count]:
    counts = np.bincount(places[pages] + 1, minlength=len(labels) + 1)[1:]
    best = np.argsort(-counts, kind="stable")[:MOST]
    return [
        Count(labels[place], int(counts[place]), f"{field}:{labels[place]}")
        for place in best
        if counts[place]
    ]


def _spans(times: NDArray[np.float64]) -> Iterable[Count]:
    for span in SINCE:
        since, _ = nodes.Changed(span).times(clock.now())
        if count := int(np.count_nonzero((times > 0) & (times >= since))):
            yield Count(span, count, f"changed:{span}")
