"""Answers queries from the index, with snippets from the catalog."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from whoosh.reading import IndexReader

from webcrawler.catalog import Catalog
from webcrawler.errors import BadInput
from webcrawler.records import Hit
from webcrawler.search.folding import Ranked, fold
from webcrawler.search.live import LiveIndex
from webcrawler.search.matches import Contribution
from webcrawler.search.postings import Postings
from webcrawler.search.query import parse
from webcrawler.search.rankings import DEFAULT, make_ranking
from webcrawler.search.reference import Reference, english
from webcrawler.search.snippets import Snippets

MAX_HITS = 1000
DEADLINE_SECONDS = 1.0
_READING = 0.6  # share of the deadline for postings; the rest is for weighing what was read


@dataclass(frozen=True, slots=True)
class Results:
    """The answer to a query, best hits first."""

    query: str
    total: int  # documents that satisfy the query
    seconds: float
    hits: list[Hit]
    near_duplicates: list[int] = field(default_factory=list)  # of each hit: those folded into it
    explanations: list[list[Contribution]] = field(default_factory=list)  # of each hit, word by word
    snippets: Snippets | None = None  # marks the query's words in a snippet
    note: str = ""  # one line on what limits the answer: nothing indexed yet, the deadline


class Searcher:
    """Searches one data folder, also while a follower commits: every search sees the newest commit.

    A thread needs a searcher of its own, as a posting list is read through one file position.
    """

    def __init__(
        self,
        crawl_dir: Path,
        reference: Reference | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        """What is read of the index by the deadline gives a partial answer, and a note says so."""
        self._crawl_dir = crawl_dir
        self._index = LiveIndex(crawl_dir / "index")
        self._reference = reference or english()
        self._deadline_seconds = deadline_seconds

    def search(self, text: str, limit: int = 15, ranking: str = DEFAULT) -> Results:
        """Answer what a person typed; ties go to the older page number.

        Raises:
            BadInput: a query, a limit or a ranking that cannot be.
            Unavailable: the index or the catalog is there and cannot be read.
        """
        started = monotonic()
        query, order = parse(text), make_ranking(ranking, self._reference)
        if not 1 <= limit <= MAX_HITS:
            raise BadInput(f"{limit} hits cannot be shown: ask for 1 to {MAX_HITS}")
        reader = self._index.reader()
        if reader is None:
            note = f"nothing is indexed in {self._crawl_dir} yet: `scrapy crawl index` fills it"
            return Results(query.text, 0, monotonic() - started, [], note=note)
        last = started + self._deadline_seconds * _READING
        matches = Postings(reader, lambda: monotonic() >= last).match(query)
        scores = order.scores(query.words, matches)
        snippets = Snippets(query.words)
        with self._catalog() as catalog:
            best = fold(_ranked(scores, limit, reader, catalog), limit)
            hits = _hits(reader, {document: scores[document] for document in best}, snippets, catalog)
        return Results(
            query.text,
            len(scores),
            monotonic() - started,
            hits,
            list(best.values()),
            [order.explain(query.words, matches, document) for document in best],
            snippets,
            f"stopped after {self._deadline_seconds:g} s: there may be more" if matches.partial else "",
        )

    @contextmanager
    def _catalog(self) -> Iterator[Catalog | None]:
        """Without it there are hits all the same, with no snippets."""
        path = self._crawl_dir / "catalog.sqlite"
        if not path.exists():
            yield None
            return
        with closing(Catalog(path, readonly=True)) as catalog:
            yield catalog


def _hits(
    reader: IndexReader, scores: Mapping[int, float], snippets: Snippets, catalog: Catalog | None
) -> list[Hit]:
    rows = [(reader.stored_fields(document), score) for document, score in scores.items()]
    texts = catalog.texts([stored["number"] for stored, _ in rows]) if catalog else {}
    highest = max(scores.values(), default=0.0) or 1.0
    return [
        Hit(
            url=stored["url"],
            title=stored["title"],
            relevance=round(1000 * score / highest),
            server=stored["server"],
            fetched=stored["fetched"],
            snippet=snippets.cut(texts[stored["number"]].body) if stored["number"] in texts else "",
        )
        for stored, score in rows
    ]


def _ranked(
    scores: Mapping[int, float], limit: int, reader: IndexReader, catalog: Catalog | None
) -> Iterator[Ranked]:
    """All documents, best first; sorted only as far as somebody reads, and one further than is shown."""
    numbers = reader.column_reader("number", translate=False)
    start, end = 0, limit + 1
    while start < len(scores):
        best = [(document, numbers[document]) for document in _best(scores, end, numbers)[start:]]
        older = catalog.near_duplicates([number for _, number in best]) if catalog else {}
        for document, number in best:
            yield Ranked(document, number, older.get(number, number))
        start, end = end, 4 * end


def _best(scores: Mapping[int, float], limit: int, numbers: Any) -> list[int]:
    """The documents with the highest scores; page numbers are looked up only where they can decide."""
    lowest = min(heapq.nlargest(limit, scores.values()), default=0.0)
    contenders = [document for document, score in scores.items() if score >= lowest]
    return sorted(contenders, key=lambda document: (-scores[document], numbers[document]))[:limit]
