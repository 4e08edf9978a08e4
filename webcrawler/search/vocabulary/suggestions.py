"""What somebody may be typing: words and phrases of the crawl, titles, anchor texts.

All weigh by how many pages use or link to them, those of one server up to TAPER: what one server says on
all of its pages weighs less than what several say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.search.vocabulary.completions import Phrases, places_of
from webcrawler.search.vocabulary.documents import TAPER, Collected
from webcrawler.search.vocabulary.phrases import as_query
from webcrawler.search.vocabulary.spelling import spelled
from webcrawler.text import analysis

PHRASES = 60_000  # the likeliest
DOCUMENTS = 2  # tapered: a word or phrase that fewer have is not suggested
PLAIN = 3e-6  # of general English: the more frequent a word is there, the less it says here
PECULIARITY = 0.6
LINKS = 2_000_000  # of which anchors are read
ANCHOR_SHARE = 0.25  # of the links with an anchor that lead to one page: "next" leads to another from each
ANCHOR_PAGES = 4  # that an anchor may lead to all the same
ANCHOR_CHARACTERS = 200
_ANCHORS = " · "  # parts the anchors that a page has for one target


def suggested(collected: Collected, english: Mapping[str, float], catalog: Catalog) -> Phrases:
    """The likeliest queries; `english` has shares of all words."""
    candidates = _Candidates()
    plain = _by_stem(english)
    tokens = analysis.tokens_of(collected.numbers)
    for word, (stem, _), count in zip(collected.numbers, tokens, collected.tapered, strict=True):
        if count >= DOCUMENTS and word.isalpha():
            candidates.add(word, count * min(1.0, PLAIN / plain.get(stem, PLAIN)) ** PECULIARITY)
    for phrase, often in collected.phrases.items():
        if often >= DOCUMENTS:
            candidates.add(phrase, often)
    links = _Links(catalog, collected.server_of)
    for number, title in collected.titles:
        candidates.add(title, links.to(number))
    for anchor, links_with_it in links.anchors():
        candidates.add(anchor, links_with_it)
    return candidates.likeliest()


def _by_stem(english: Mapping[str, float]) -> dict[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for (stem, _), share in zip(analysis.tokens_of(english), english.values(), strict=True):
        found[stem] += share
    return found


class _Candidates:
    """The weightiest use of each, by its words."""

    def __init__(self) -> None:
        self._best: dict[str, tuple[float, str]] = {}

    def add(self, text: str, count: float) -> None:
        if query := as_query(text):
            key = " ".join(analysis.words(spelled(query)))
            self._best[key] = max(self._best.get(key, (0.0, "")), (count, query))
            if len(self._best) > 3 * PHRASES:
                self._best = dict(self._ranked())

    def likeliest(self) -> Phrases:
        best = self._ranked()
        keys = [key for key, _ in best]
        weights = np.log2([1 + count for _, (count, _) in best]).astype(np.float32)
        return Phrases([text for _, (_, text) in best], keys, weights, places_of(keys))

    def _ranked(self) -> list[tuple[str, tuple[float, str]]]:
        return sorted(self._best.items(), key=lambda one: (-one[1][0], one[0]))[:PHRASES]


class _Links:
    """The catalog's links as arrays: anchor by number, target, server of the source."""

    def __init__(self, catalog: Catalog, server_of: NDArray[np.int64]) -> None:
        self._texts: dict[str, int] = {}
        rows = np.fromiter(chain.from_iterable(self._rows(catalog)), np.int64)
        anchors, targets, sources = rows.reshape(-1, 3).T
        servers = server_of[sources - 1]
        self._anchors, _, self._counts = _tapered(anchors, targets, servers)
        _, targets, counts = _tapered(np.zeros_like(anchors), targets, servers)
        self._to = dict(zip(targets.tolist(), counts.tolist(), strict=True))

    def to(self, number: int) -> float:
        return float(self._to.get(number, 0))

    def anchors(self) -> Iterator[tuple[str, float]]:
        """Those that lead to a few pages, with the links to the one they lead to most."""
        size = len(self._texts)
        links = np.bincount(self._anchors, self._counts, size)
        pages = np.bincount(self._anchors, minlength=size)
        best = np.zeros(size)
        np.maximum.at(best, self._anchors, self._counts)
        good = (best >= ANCHOR_SHARE * links) | (pages <= ANCHOR_PAGES)
        for text, number in self._texts.items():
            if good[number]:
                yield text, float(best[number])

    def _rows(self, catalog: Catalog) -> Iterator[tuple[int, int, int]]:
        texts = self._texts
        for source, target, anchor, rel in islice(catalog.links.all(), LINKS):
            if not rel and source != target:
                for text in anchor[:ANCHOR_CHARACTERS].split(_ANCHORS):
                    yield texts.setdefault(text, len(texts)), target, source


def _tapered(
    anchors: NDArray[np.int64], targets: NDArray[np.int64], servers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Each pair of anchor and target once, and how many links have it, those of one server up to TAPER."""
    many_targets, many_servers = (int(some.max(initial=0)) + 1 for some in (targets, servers))
    links, counts = np.unique((anchors * many_targets + targets) * many_servers + servers, return_counts=True)
    pairs, places = np.unique(links // many_servers, return_inverse=True)
    sums = np.bincount(places, np.minimum(counts, TAPER), len(pairs)).astype(np.int64)
    return pairs // many_targets, pairs % many_targets, sums
