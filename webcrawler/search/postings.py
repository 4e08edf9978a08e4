"""Which documents satisfy a query, read from the postings of the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from whoosh.reading import IndexReader

from webcrawler.search.matches import Matches
from webcrawler.search.query import Clause, Query, Unit

FIELDS = ("title", "body")  # the text of a document (WC); the body holds the headings

_BLOCK = 1000  # postings read between two looks at the clock


class Postings:
    """Reads posting lists until a deadline; what was read by then gives a partial answer.

    Documents are Whoosh's document numbers, valid for this reader only. Cost: 1 to 3 µs a posting.
    """

    def __init__(self, reader: IndexReader, late: Callable[[], bool]) -> None:
        self._reader = reader
        self._late = late  # whether the deadline has passed
        self._read: dict[tuple[str, str], dict[int, int]] = {}
        self.partial = False

    def match(self, query: Query) -> Matches:
        """Find the documents that satisfy the query; when partial, some of them.

        Exclusions are read first: a document that could be excluded is never in a partial answer.
        """
        excluded = self._union(clause for clause in query.clauses if clause.sign == "-")
        found = set() if self.partial else self._demanded(query.clauses) - excluded
        lengths = self._reader.column_reader("length", translate=False) if found else {}
        return Matches(
            {document: lengths[document] for document in found},
            {word: self._occurrences(word) for word in dict.fromkeys(query.words)},
            self.partial,
        )

    def _demanded(self, clauses: Iterable[Clause]) -> set[int]:
        """All demanded clauses; without any word among those, at least one plain clause."""
        demanded = [clause for clause in clauses if clause.sign == "+"]
        sets = [self._documents(clause) for clause in demanded]
        if not any(unit.words for clause in demanded for unit in clause.units):
            sets.append(self._union(clause for clause in clauses if not clause.sign))
        return set.intersection(*sets)

    def _union(self, clauses: Iterable[Clause]) -> set[int]:
        return set().union(*map(self._documents, clauses))

    def _documents(self, clause: Clause) -> set[int]:
        return set().union(*map(self._unit, clause.units))

    def _unit(self, unit: Unit) -> set[int]:
        if unit.field == "site":
            return self._site(unit.terms[0])
        fields = (unit.field,) if unit.field else FIELDS
        return set().union(*(self._phrase(field, unit) for field in fields))

    def _phrase(self, field: str, unit: Unit) -> set[int]:
        together = set.intersection(*(set(self._counts(field, word)) for word in unit.words))
        if len(unit.terms) == 1 or not together:
            return together
        places = ((place, term) for place, term in enumerate(unit.terms) if term)
        starts = (self._starts(field, term, place, together) for place, term in places)
        return {document for document, _ in set.intersection(*starts)}

    def _starts(self, field: str, term: str, place: int, documents: set[int]) -> set[tuple[int, int]]:
        """(document, position) wherever a phrase could start that has the term at this place."""
        return {
            (document, position - place)
            for document, matcher in self._postings(field, term)
            if document in documents
            for position in matcher.value_as("positions")
        }

    def _site(self, host: str) -> set[int]:
        """The documents of a host and of those below it; of one server where a port is named."""
        servers = (server.decode() for server in self._reader.lexicon("server"))
        return set().union(*(self._counts("server", server) for server in servers if _is_on(server, host)))

    def _occurrences(self, word: str) -> dict[int, int]:
        """Document to how often the word stands in its title and body."""
        total = dict(self._counts("body", word))
        for document, occurrences in self._counts("title", word).items():
            total[document] = total.get(document, 0) + occurrences
        return total

    def _counts(self, field: str, term: str) -> dict[int, int]:
        """Document to the occurrences of a term in one field."""
        if (field, term) not in self._read:
            self._read[field, term] = {
                document: int(matcher.weight()) for document, matcher in self._postings(field, term)
            }
        return self._read[field, term]

    def _postings(self, field: str, term: str) -> Iterator[tuple[int, Any]]:
        """Each document of a posting list, with the matcher that stands on it; ends at the deadline."""
        read = 0
        for segment, base in self._reader.leaf_readers():
            if (field, term) in segment:
                matcher = segment.postings(field, term)
                while matcher.is_active() and not self._stopped(read):
                    yield base + matcher.id(), matcher
                    matcher.next()
                    read += 1

    def _stopped(self, read: int) -> bool:
        if read % _BLOCK == 0 and self._late():
            self.partial = True
        return self.partial


def _is_on(server: str, host: str) -> bool:
    parts = urlsplit(server)
    return host == parts.netloc or f".{parts.hostname}".endswith(f".{host}")
