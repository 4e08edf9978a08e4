"""How many of all matches are of which site, in which language, changed when: filters with counts."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler import clock
from webcrawler.index import Reading
from webcrawler.text.query import nodes
from webcrawler.urls import DEFAULT_PORTS, host_and_port

MOST = 10  # values of a facet, those with the most pages
SERVERS = 1_000  # whose pages are counted, those with the most: each takes 40 µs, once for a commit
SPANS = ("7d", "30d", "365d")

Numbers = NDArray[np.int32]


class Count(NamedTuple):
    value: str  # "docs.example.org", "de", "7d"
    pages: int  # of all matches
    filter: str  # added to the query, it leaves these


class Labels:
    """What the pages of a commit are counted by; to read it takes 40 µs a server."""

    def __init__(self, reading: Reading) -> None:
        servers = sorted(nlargest(SERVERS, reading.servers, key=reading.servers.__getitem__))
        codes = sorted(reading.languages)
        self._sites = _labelled(reading, "server", ((server, _site(server)) for server in servers))
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


def _site(server: str) -> str:
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
    for span in SPANS:
        since, _ = nodes.Changed(span).times(clock.now())
        if count := int(np.count_nonzero((times > 0) & (times >= since))):
            yield Count(span, count, f"changed:{span}")
