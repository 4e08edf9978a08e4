"""How often words occur in the pages of a cluster: our rankings weigh words by all pages, not by the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

from webcrawler.errors import Unavailable
from webcrawler.index import DOCUMENT_FIELDS
from webcrawler.opensearch.mapping import TEXTS
from webcrawler.opensearch.query import CRAWLED, Dsl, having
from webcrawler.search import lexicon_of
from webcrawler.text import Lexicon, parts
from webcrawler.text.query import parse

REMEMBERED_SECONDS = 60.0  # figures of the whole collection hardly move
DOUBTED_SECONDS = 1.0  # those of a part, where the rest of a cluster did not answer
AT_ONCE = 50  # terms of a request
MOST_LANGUAGES = 200
HELD = tuple(field for field in TEXTS if field != "cited")  # where a word may stand

Ask = Callable[[tuple[str, ...], Dsl], dict[str, Any]]  # searches some of the indexes
EVERYWHERE = ("pages", "named")


def is_whole(said: dict[str, Any]) -> bool:
    """Tell whether all of a cluster has answered; shards of which it has no copy do not count as failed."""
    return bool(said["_shards"]["successful"] == said["_shards"]["total"])


class Collection:
    """What is remembered of a cluster's pages; for one thread."""

    def __init__(self, ask: Ask) -> None:
        self._asks, self._until, self._is_whole = ask, 0.0, True
        self.documents, self.servers = 0, 0
        self.languages: dict[str, int] = {}  # how many pages are in each, the most first
        self._means: dict[str, float] = {}  # words in a field, of the pages that have it
        self._frequencies: dict[str, dict[str, int]] = {}  # by term and field; "" is any of DOCUMENT_FIELDS
        self._counted: dict[str, int] = {}  # pages by filter

    def refresh(self) -> None:
        """Ask anew for what is older than REMEMBERED_SECONDS.

        Raises:
            Unavailable: the cluster does not answer, or not whether there are pages.
        """
        if monotonic() < self._until:
            return
        if not (figures := self._figures()):
            self.documents = 0
            return
        self.documents, self.servers = figures["crawled"]["doc_count"], figures["crawled"]["servers"]["value"]
        if not (self.documents or self._is_whole):
            raise Unavailable("a part of the cluster does not answer")
        self.languages = {one["key"]: one["doc_count"] for one in figures["languages"]["buckets"]}
        self._means = {field: figures[field]["value"] or 1.0 for field in TEXTS}
        self._frequencies, self._counted = {}, {}
        self._until = monotonic() + (REMEMBERED_SECONDS if self._is_whole else DOUBTED_SECONDS)

    def _ask(self, kinds: tuple[str, ...], body: Dsl) -> dict[str, Any]:
        said = self._asks(kinds, body)
        self._is_whole = is_whole(said)
        if not self._is_whole:
            self._until = min(self._until, monotonic() + DOUBTED_SECONDS)
        return said

    def _figures(self) -> dict[str, Any]:
        """Return none where there is no such collection."""
        wanted: Dsl = {field: {"avg": {"field": f"lengths.{field}"}} for field in TEXTS}
        wanted["languages"] = {"terms": {"field": "language", "size": MOST_LANGUAGES}}
        servers = {"servers": {"cardinality": {"field": "server"}}}
        wanted["crawled"] = {"filter": CRAWLED, "aggs": servers}
        found: dict[str, Any] = self._ask(EVERYWHERE, {"size": 0, "aggs": wanted})
        return dict(found.get("aggregations", {}))

    @property
    def lexicon(self) -> Lexicon:
        return lexicon_of(self.languages, self.documents, self.holds)

    def read(self, texts: Iterable[str]) -> None:
        """Ask for all terms for which the words of some queries may stand, in as few requests as can be."""
        asked, unknown = list(texts), set[str]()

        def holds(term: str) -> bool:
            if term not in self._frequencies:
                unknown.add(term)
            return term in self._frequencies and self.holds(term)

        lexicon = lexicon_of(self.languages, self.documents, holds)
        while True:  # which parts a compound has is asked once it is known that it is no word itself
            terms = {one.term for text in asked for one in parse(text, lexicon=lexicon).terms}
            unknown |= terms - self._frequencies.keys()
            if not unknown:
                return
            self.learn(unknown)
            unknown.clear()

    def learn(self, terms: Iterable[str]) -> None:
        """Ask how many pages have some terms."""
        new = sorted(set(terms) - self._frequencies.keys())
        for start in range(0, len(new), AT_ONCE):
            some = new[start : start + AT_ONCE]
            filters = {
                f"{place} {field}": having([term], [field] if field else DOCUMENT_FIELDS)
                for place, term in enumerate(some)
                for field in ("", *(() if "|" in term else TEXTS))
            }
            body = {"size": 0, "aggs": {"terms": {"filters": {"filters": filters}}}}
            found = self._ask(EVERYWHERE, body)["aggregations"]["terms"]["buckets"]
            for place, term in enumerate(some):
                self._frequencies[term] = {}
                for field in ("", *(() if "|" in term else TEXTS)):
                    self._frequencies[term][field] = found[f"{place} {field}"]["doc_count"]

    def frequency(self, field: str, term: str) -> int:
        """Return how many pages have a term in a field; "" is any of DOCUMENT_FIELDS."""
        if term not in self._frequencies:
            self.learn([term])
        return self._frequencies[term][field]

    def holds(self, term: str) -> bool:
        return any(self.frequency(field, bare) for _, bare in parts(term) for field in HELD)

    def mean_length(self, field: str) -> float:
        return self._means.get(field, 1.0)

    def count(self, filter: Dsl) -> int:
        """Return how many pages that were crawled satisfy a filter."""
        key = repr(filter)
        if key not in self._counted:
            body = {"size": 0, "track_total_hits": True, "query": filter}
            self._counted[key] = int(self._ask(("pages",), body)["hits"]["total"]["value"])
        return self._counted[key]
