"""The words of a query, and how much each of them counts."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from webcrawler.errors import BadInput
from webcrawler.text import english, terms, tokens, words
from webcrawler.text.query import parse

QUERY_WORDS = 32  # the first ones count
COMMON = 1e-3  # of all words: a word this common counts next to nothing
SIGNS = frozenset(("AND", "OR", "NOT"))  # words that are signs of the query language
LEAST = 1.0  # what any word counts, in nats
ALSO = 0.3  # what a word of the thesaurus counts, as a share of a word of the query


class Wanted(NamedTuple):
    """A query, analysed as documents are; `of` makes it."""

    shares: dict[str, float]  # stem of the query -> its share of the whole weight; they sum to 1
    also: dict[str, float]  # stems beside the query -> what each counts, ALSO of a mean stem's share
    phrase: tuple[str, ...]  # the stems in their order, "" for a stop word between two of them
    spelled: tuple[str, ...]  # the words as typed, in lower case, stop words left out
    joined: frozenset[str]  # neighbouring words as one: "fulltextsearch", "fulltext", "textsearch"

    @classmethod
    def of(cls, query: str, also: Sequence[str] = ()) -> Wanted:
        """Reads a query, which may be in the query language, and words to add to it.

        Raises:
            BadInput: there is no word in it, or stop words only.
        """
        plain = asked_for(query)
        found = list(zip([stem for stem, _ in tokens(plain)], words(plain), strict=True))
        found = _trimmed(found)[:QUERY_WORDS]
        stems = [stem for stem in dict.fromkeys(stem for stem, _ in found) if stem]
        if not stems:
            raise BadInput(
                f"the query {query[:100]!r} has no word to look for: "
                "give other ones than articles and the like"
            )
        weights = {stem: weight(stem) for stem in stems}
        whole = sum(weights.values())
        extra = dict.fromkeys(stem for word in also for stem in terms(word) if stem not in weights)
        return cls(
            {stem: one / whole for stem, one in weights.items()},
            dict.fromkeys(extra, ALSO / len(stems)),
            tuple(stem for stem, _ in found),
            tuple(word.lower() for stem, word in found if stem),
            _joined([word for _, word in found]),
        )

    @property
    def stems(self) -> list[str]:
        """The different stems of the query alone."""
        return list(self.shares)


def weight(stem: str) -> float:
    """How rare a stem is in general English: ln(COMMON / its share of all words), LEAST or more."""
    return max(LEAST, log(COMMON / english().frequency(stem)))


def asked_for(query: str) -> str:
    """The words that a query asks for, if its signs leave some words out: `java` of `java -coffee`."""
    typed = parse(query).terms
    if SIGNS.isdisjoint(words(query)) and sorted(one.term for one in typed) == sorted(terms(query)):
        return query
    return " ".join(one.spelled for one in typed)


def _trimmed(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without leading and trailing stop words."""
    places = [place for place, (stem, _) in enumerate(found) if stem]
    return found[places[0] : places[-1] + 1] if places else []


def _joined(spelled: Sequence[str]) -> frozenset[str]:
    """Stems of two or three neighbouring words written as one: "virtual host" may be "virtualhost"."""
    runs = [spelled[i : i + length] for length in (2, 3) for i in range(len(spelled) - length + 1)]
    return frozenset(stem for run in runs for stem in terms("".join(run)))
