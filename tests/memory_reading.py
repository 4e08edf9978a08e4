"""A small index in memory, with what rankings ask of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Posted, Reading, Values, Vector
from webcrawler.index.hits import PlainHit, field, pack, vector
from webcrawler.index.reader import DOCUMENT_FIELDS
from webcrawler.search.matches import Identifier, Matches, Part, Ranking
from webcrawler.text.query import QueryTerm

Fields = Mapping[str, str]


def encode(hits: Sequence[PlainHit]) -> bytes:
    """Return the value of a posting, from hits by ascending position."""
    return pack([hit.position << 4 | (hit.size + 1) << 1 | hit.capital for hit in hits])


class MemoryReading:
    """Documents by page number; *word* is emphasised, #word# of a heading, Word begins with a capital."""

    def __init__(self, documents: Mapping[int, Fields]) -> None:
        self.size = 1 + max(documents, default=0)
        self.documents = len(documents)
        self._documents = documents

    def posted(self, field: str, term: str) -> Posted:
        found = {
            page: hits
            for page, fields in self._documents.items()
            if (hits := _hits(fields.get(field, ""), term))
        }
        counts = np.array([len(hits) for hits in found.values()], np.float32)
        return Posted(
            np.array(list(found), np.int32), counts, Values.of([encode(hits) for hits in found.values()])
        )

    def frequency(self, field: str, term: str) -> int:
        return len(self.posted(field, term).pages)

    def documents_with(self, term: str) -> int:
        return len(set().union(*(self.posted(field, term).pages.tolist() for field in DOCUMENT_FIELDS)))

    def sections(self, pages: Sequence[int]) -> Values:
        return Values.of([b""] * len(pages))

    def vectors(self, pages: Sequence[int]) -> list[Vector]:
        found = [self._documents[page] for page in pages]
        spelled = [[field(one.get(name, ""), "").spelled for name in ("title", "body")] for one in found]
        return [vector(title, body, 1 << 20, "") for title, body in spelled]

    def lengths(self, field: str) -> NDArray[np.float32]:
        found = np.zeros(self.size, np.float32)
        for page, fields in self._documents.items():
            found[page] = len(fields.get(field, "").split())
        return found

    def mean_length(self, field: str) -> float:
        lengths = self.lengths(field)
        return float(lengths[lengths > 0].mean()) if lengths.any() else 1.0


def _hits(text: str, term: str) -> list[PlainHit]:
    return [
        PlainHit(position, {"*": 1, "#": 4}.get(word[0], 0), word.strip("*#")[0].isupper())
        for position, word in enumerate(text.split())
        if word.strip("*#").lower() == term
    ]


def matches(
    documents: Mapping[int, Fields],
    ranks: Mapping[int, float] | None = None,
    identifiers: Sequence[Identifier] = (),
) -> Matches:
    """All documents satisfy the query; `ranks` are 1 where none is given."""

    def ranks_of(pages: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.array([(ranks or {}).get(page, 1.0) for page in pages.tolist()])

    reading = cast(Reading, cast(Any, MemoryReading(documents)))
    return Matches(np.array(sorted(documents), np.int32), reading, ranks_of, identifiers)


def asked(words: str) -> tuple[QueryTerm, ...]:
    return tuple(QueryTerm(word, word) for word in words.split())


def scores_of(ranking: Ranking, terms: Sequence[QueryTerm], found: Matches) -> NDArray[np.float64]:
    return ranking(terms, found).values


def parts_of(ranking: Ranking, terms: Sequence[QueryTerm], found: Matches, place: int) -> list[Part]:
    return ranking(terms, found).parts([place])[0]
