"""The best pages of a cluster for one query, as our rankings and result pages read them.

They are few, and numbered from 1 on in the order in which the cluster has them. How often words occur is told
of the whole collection.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Known, unpack, unpack_beginning
from webcrawler.index import LANGUAGE, SERVER, Posted, Reading, Values
from webcrawler.opensearch.buckets import HITS, NONE, Lists, bucket, decoded, opened
from webcrawler.opensearch.collection import Collection
from webcrawler.opensearch.documents import hexadecimal
from webcrawler.records import Document, Text
from webcrawler.search import BEGINNING_BYTES, Listed, Opened, Seen, title_of
from webcrawler.text import parts
from webcrawler.urls import url_id

MOST_BUCKETS = 75  # that are read: a cluster reads no more than 100 doc values
OWN_NUMBERS = 1 << 30  # of pages that this folder does not have: these, and the last bits of their ids


class Candidate(NamedTuple):
    id: str
    source: Mapping[str, Any]
    hits: Mapping[str, Lists]  # by bucket, of the query's terms at least


class Fetched:
    """A segment of candidates, with the hit lists of the query's terms."""

    def __init__(self, pages: Mapping[int, Candidate], collection: Collection) -> None:
        """`pages` by page number."""
        self.numbers = np.array(list(pages), np.int32)
        self.alive = np.ones(len(pages), np.bool_)
        self._sources = [one.source for one in pages.values()]
        self._hits = [one.hits for one in pages.values()]
        self._by_term: dict[str, dict[tuple[str, str], dict[int, bytes]]] = {}  # by bucket
        self._collection = collection

    def posted(self, field: str, term: bytes) -> Posted | None:
        wanted = term.decode()
        if field in (SERVER, LANGUAGE):
            rows = [row for row, source in enumerate(self._sources) if source.get(field) == wanted]
            return Posted(self.numbers[rows], np.ones(len(rows), np.float32), Values.of(()))
        found = self._of(bucket(wanted)).get((field, wanted), {})
        values = Values.of(list(found.values()))
        return Posted(self.numbers[list(found)], values.counts.astype(np.float32), values) if found else None

    def _of(self, name: str) -> Mapping[tuple[str, str], Mapping[int, bytes]]:
        """Return the hit lists of a bucket by field and term, and by row."""
        if name not in self._by_term:
            found = self._by_term[name] = defaultdict[tuple[str, str], dict[int, bytes]](dict)
            for row, hits in enumerate(self._hits):
                for field, lists in hits.get(name, NONE).items():
                    for term, packed in lists.items():
                        found[field, term][row] = packed
        return self._by_term[name]

    def frequency(self, field: str, term: bytes) -> int:
        if field == LANGUAGE:
            return self._collection.languages.get(term.decode(), 0)
        return self._collection.frequency(field, term.decode())

    def starting(self, field: str, letters: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield the languages of the collection; of words only those that were asked for."""
        found = self._collection.languages if field == LANGUAGE else self._words(field)
        for term in sorted(found):
            if term.encode().startswith(letters):
                yield term.encode(), found[term]

    def _words(self, field: str) -> dict[str, int]:
        buckets = (lists for hits in self._hits for lists in hits.values())
        return Counter(term for lists in buckets for term in lists.get(field, ()))

    def lengths(self, field: str) -> NDArray[Any]:
        return np.array([source.get(f"lengths.{field}", 0) for source in self._sources], np.float32)

    def bytes_of(self, column: str, pages: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        wanted = set(pages)
        for number, source in zip(self.numbers.tolist(), self._sources, strict=True):
            if number in wanted:
                yield number, decoded(source.get(column, ""))


class CandidateReading(Reading):
    """A reading of candidates; its figures are those of the collection."""

    def __init__(self, candidates: Sequence[Candidate], collection: Collection) -> None:
        pages = dict(enumerate(candidates, 1))
        crawled = {number: page for number, page in pages.items() if page.source.get("crawled")}
        super().__init__([Fetched(crawled, collection)], [Fetched(pages, collection)], None)
        self.documents, self._collection = collection.documents, collection

    def documents_with(self, term: str) -> int:
        return self._collection.frequency("", term)

    def mean_length(self, field: str) -> float:
        return self._collection.mean_length(field)


class Best:
    """What is known of candidates beside their words, and what is shown of them.

    Args:
        texts: gives the packed main content of those with some ids.
        folder: the searcher's own: its copies are shown.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        texts: Callable[[Sequence[str]], Mapping[str, bytes]],
        folder: Opened,
    ) -> None:
        self._candidates, self._texts, self._folder = candidates, texts, folder
        self._packed: dict[str, bytes] = {}
        self.shown = self

    def ranks_of(self, numbers: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.array([self._source(number).get("rank", 1.0) for number in numbers.tolist()], np.float64)

    def unseen(self) -> NDArray[np.int64]:
        return np.zeros(0, np.int64)

    def changed(self) -> NDArray[np.float64]:
        times = (one.source.get("changed", 0.0) for one in self._candidates)
        return np.array([0.0, *times], np.float64)

    def may_be_shown(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """What may not is not sent to the cluster."""
        return np.ones(len(numbers), np.bool_)

    def linking_to(self, url: str) -> NDArray[np.int64]:
        """The cluster has chosen the pages."""
        return np.zeros(0, np.int64)

    def listed(self, numbers: Sequence[int]) -> dict[int, Listed]:
        places = {one.id: number for number, one in enumerate(self._candidates, 1)}
        found = dict[int, Listed]()
        for number in numbers:
            source = self._source(number)
            older = places.setdefault(source.get("near", ""), len(places) + 1) if "near" in source else number
            found[number] = Listed(source["server"], older)
        return found

    def seen(self, numbers: Sequence[int]) -> dict[int, Seen]:
        crawled = [number for number in numbers if self._source(number).get("crawled")]
        self._packed |= self._texts([self._candidates[number - 1].id for number in crawled])
        return {number: self._seen(number) for number in numbers}

    def whole(self, number: int) -> Text | None:
        packed = self._packed.get(self._candidates[number - 1].id)
        return unpack(packed) if packed else None

    def numbered(self, number: int) -> int:
        pages = enumerate(self._candidates, 1)
        return next((place for place, one in pages if self._asked_by(one, self._own(one)) == number), 0)

    def _seen(self, number: int) -> Seen:
        page = self._candidates[number - 1]
        source, own, packed = page.source, self._own(page), self._packed.get(page.id)
        text = unpack_beginning(packed, BEGINNING_BYTES) if packed else None
        called, crawled = source.get("called", ""), source.get("crawled", False)
        return Seen(
            source["url"],
            self._asked_by(page, own),
            text,
            [called] if called and not title_of(text) else [],
            source.get("fetched", 0.0),
            bool(own and own.place),
            Known(source.get("checked", 0.0), source.get("changed", 0.0), 0.0, 0.0) if crawled else None,
        )

    def _own(self, page: Candidate) -> Document | None:
        return self._folder.catalog.find(page.source["url"]) if self._folder.catalog else None

    def _asked_by(self, page: Candidate, own: Document | None) -> int:
        """Return the number that this folder has for a page, else one that hardly any other page has."""
        return own.number if own else OWN_NUMBERS | (int(page.id, 16) & OWN_NUMBERS - 1)

    def _source(self, number: int) -> Mapping[str, Any]:
        return self._candidates[number - 1].source


def candidate(fields: Mapping[str, Sequence[Any]]) -> Candidate:
    """Make one of the values that a node has read."""
    source = {name: values[0] for name, values in fields.items()}
    hits = opened({name: value for name, value in source.items() if name.startswith(HITS)})
    return Candidate(hexadecimal(url_id(source["url"])), source, hits)


def buckets_of(terms: Iterable[str]) -> list[str]:
    """Return the names of the buckets of some terms, and of beginnings of terms; of many, of the first."""
    return list(dict.fromkeys(bucket(bare) for term in terms for _, bare in parts(term)))[:MOST_BUCKETS]
