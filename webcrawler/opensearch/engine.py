"""Answers queries by a cluster: it finds and counts the pages, and our rankings put the best in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from webcrawler import clock
from webcrawler.errors import BadInput, Unavailable
from webcrawler.opensearch.buckets import decoded
from webcrawler.opensearch.candidates import Best, Candidate, CandidateReading, buckets_of, candidate
from webcrawler.opensearch.client import Cluster
from webcrawler.opensearch.collection import Collection, is_whole
from webcrawler.opensearch.mapping import NAMED, PAGES, TEXTS, alias_name
from webcrawler.opensearch.query import Dsl, changed, pages
from webcrawler.opensearch.scores import score
from webcrawler.search import (
    CHANGED,
    CRAWLED,
    MOST,
    SERVERS,
    SINCE,
    Answer,
    Count,
    Engine,
    Matched,
    Opened,
    Question,
    all_words,
    site_of,
)
from webcrawler.search.rankings import FEWEST_WORDS
from webcrawler.text import Lexicon, Reference, analysed
from webcrawler.text.query import Query, QueryTerm, nodes, parse

CANDIDATES = 200  # pages that are put in order
SHOWN = ("url", "server", "language", "near", "called", "crawled", "rank", "changed", "fetched", "checked")
LENGTHS = tuple(f"lengths.{name}" for name in TEXTS)
READ = (*SHOWN, *LENGTHS, "sections")  # of each candidate, and the hit lists of the query's words
ONLY: Dsl = {"stored_fields": "_none_"}  # doc values: all else of a page is slow to read
LEAST_SECONDS = 0.05  # for a request, also where the deadline has passed
Late = Callable[[], bool]


class Found(NamedTuple):
    """What the cluster said of a query."""

    candidates: list[Candidate]
    total: int
    partial: bool  # a part of the cluster did not answer
    facets: list[Mapping[str, Any]]

    def beside(self, other: Found) -> Found:
        """Return both; a page that some folder has fetched is none that is only linked to."""
        fetched = {one.id for one in self.candidates}
        others = [one for one in other.candidates if one.id not in fetched]
        return Found(
            self.candidates + others,
            self.total + other.total - (len(other.candidates) - len(others)),
            self.partial or other.partial,
            self.facets + other.facets,
        )


class ClusterEngine:
    """For one thread."""

    def __init__(self, cluster: Cluster, folder: Opened, reference: Reference | None, seconds: float) -> None:
        """`seconds` is the deadline of an answer; `begin` starts it."""
        self._cluster, self._folder, self._reference = cluster, folder, reference
        self._seconds, self._ends = seconds, 0.0
        self.collection = Collection(self._ask)

    def begin(self, texts: Sequence[str]) -> None:
        """Ask for all that the queries of a question need; then the deadline begins."""
        self._ends = monotonic() + self._seconds
        self.collection.refresh()
        if self.collection.documents:
            self.collection.read(texts)
        self._ends = monotonic() + self._seconds

    @property
    def lexicon(self) -> Lexicon:
        return self.collection.lexicon

    def together(self, query: Query, late: Late) -> int:
        """Return how many pages have all words of the query, but for words that no page has; 0 for none."""
        root = all_words(query.root, lambda word: self.lexicon.holds(word.term))
        return 0 if root == nodes.NOTHING else self.collection.count(pages(root))

    def answer(self, query: Query, question: Question, late: Late, shown: bool = True) -> Answer:
        """Find the pages, and put the best of them in order.

        Raises:
            BadInput: there is no such ranking.
            Unavailable: the cluster does not answer in time.
        """
        queries = query, *(parse(text, lexicon=self.lexicon) for text in question.within)
        body = self._body(queries, question)
        leaves = [leaf for one in queries for leaf, wanted in nodes.leaves(one.root) if wanted]
        found = self._find(PAGES, body)
        if found.total < CRAWLED or not shown or nodes.Is("uncrawled") in leaves:
            found = found.beside(self._find(NAMED, body))
        reading = CandidateReading(found.candidates, self.collection)
        best = Best(found.candidates, self._texts, self._folder)
        ranked = _Ranked(reading, best, self._reference, self.collection, found.partial)
        answer = ranked.answer(query, question._replace(facets=False), late, shown)
        counts = _counts(found.facets) if question.facets else {}
        return answer._replace(total=found.total, counts=counts, servers=self.collection.servers)

    def _body(self, queries: Sequence[Query], question: Question) -> dict[str, Any]:
        query, terms = queries[0], [one.term for one in queries[0].terms]
        letters = [leaf.letters for leaf, _ in nodes.leaves(query.root) if isinstance(leaf, nodes.Prefix)]
        terms += [*letters, *(term for term, _ in analysed(letters))]
        terms += [term for one in query.identifiers for term in one.terms]
        filters = [pages(one.root) for one in queries]
        vector = ["vector"] if len(set(terms)) >= FEWEST_WORDS else []
        body = {
            **ONLY,
            "size": CANDIDATES,
            "track_total_hits": True,
            "query": {"bool": {"filter": filters, "should": score(query.terms, query.identifiers)}},
            "docvalue_fields": [*READ, *vector, *buckets_of(terms)],
        }
        if question.sort == CHANGED:
            body["sort"] = [{"changed": {"order": "desc", "missing": "_last"}}]
        return body | ({"aggs": _facets()} if question.facets else {})

    def _find(self, kind: str, body: dict[str, Any]) -> Found:
        said = self._ask((kind,), body)
        some = [candidate(one["fields"]) for one in said["hits"]["hits"]]
        partial = bool(said["timed_out"] or not is_whole(said))
        return Found(some, said["hits"]["total"]["value"], partial, [said.get("aggregations", {})])

    def _texts(self, ids: Sequence[str]) -> dict[str, bytes]:
        if not ids:
            return {}
        wanted = {"ids": {"values": list(ids)}}
        body = {**ONLY, "size": len(ids), "docvalue_fields": ["url", "text"], "query": wanted}
        found = [candidate(one["fields"]) for one in self._ask((PAGES,), body)["hits"]["hits"]]
        return {one.id: decoded(one.source["text"]) for one in found}

    def _ask(self, kinds: tuple[str, ...], body: dict[str, Any]) -> dict[str, Any]:
        names = ",".join(alias_name(self._cluster.name, kind) for kind in kinds)
        left = max(LEAST_SECONDS, self._ends - monotonic())
        try:
            return self._cluster.ask("POST", f"/{names}/_search?ignore_unavailable=true", body, left)
        except BadInput as error:  # not the fault of the person who searches
            raise Unavailable(str(error)) from error


class _Ranked(Engine):
    """Puts candidates in order: the cluster has chosen them, so all of them satisfy the query."""

    def __init__(
        self,
        reading: CandidateReading,
        best: Best,
        reference: Reference | None,
        collection: Collection,
        partial: bool,
    ) -> None:
        super().__init__(reading, best, reference)
        self.lexicon, self._collection, self._partial = collection.lexicon, collection, partial

    def found(self, queries: Sequence[Query], late: Late) -> list[Matched]:
        every = np.ones(self.reading.size, np.bool_)
        every[0] = False
        terms = [term for one in queries for term in self._prefixes(one.root, late)]
        self._collection.learn(one.term for one in terms)
        return [Matched(every, self._partial, False, tuple(terms))]

    def _prefixes(self, root: nodes.Node, late: Late) -> list[QueryTerm]:
        """Return the terms of the candidates for which prefixes stand."""
        some = [leaf for leaf, wanted in nodes.leaves(root) if wanted and isinstance(leaf, nodes.Prefix)]
        return [term for leaf in some for term in self._match(leaf, late).terms]


def _facets() -> Dsl:
    spans = {span: changed(*nodes.Changed(span).times(clock.now())) for span in SINCE}
    return {
        "servers": {"terms": {"field": "server", "size": SERVERS}},
        "languages": {"terms": {"field": "language", "size": SERVERS}},
        "changed": {"filters": {"filters": spans}},
    }


def _counts(facets: Sequence[Mapping[str, Any]]) -> dict[str, list[Count]]:
    """Return the counts of all matches, as `search.results` has them."""
    sites, languages, spans = Counter[str](), Counter[str](), Counter[str]()
    for one in filter(None, facets):
        for bucket in one["servers"]["buckets"]:
            sites[site_of(bucket["key"])] += bucket["doc_count"]
        languages.update({bucket["key"]: bucket["doc_count"] for bucket in one["languages"]["buckets"]})
        spans.update({span: bucket["doc_count"] for span, bucket in one["changed"]["buckets"].items()})
    return {
        "site": [Count(site, pages, f"site:{site}") for site, pages in _most(sites)],
        "language": [Count(code, pages, f"lang:{code}") for code, pages in _most(languages)],
        "changed": [Count(span, spans[span], f"changed:{span}") for span in SINCE if spans[span]],
    }


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST]
