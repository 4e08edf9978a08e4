"""What is looked for: the words of a query, and how much each of them counts."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from webcrawler.errors import BadInput
from webcrawler.index.analysis import terms, tokens, words
from webcrawler.search.reference import english

QUERY_WORDS = 32  # that are looked at
COMMON = 1e-3  # of all words: one as common as this counts next to nothing
LEAST = 1.0  # what any word counts, in nats
ALSO = 0.3  # what words of the thesaurus count beside those of the query


class Wanted(NamedTuple):
    """A query, analysed as documents are; `of` makes it."""

    shares: dict[str, float]  # stem of the query -> its share of the whole weight; they sum to 1
    also: dict[str, float]  # stems beside the query -> what each counts, ALSO of a mean stem's share
    phrase: tuple[str, ...]  # the stems in their order, "" for a stop word between two of them
    joined: frozenset[str]  # what the words are as one word: "fulltextsearch", "fulltext", "textsearch"

    @classmethod
    def of(cls, query: str, also: Sequence[str] = ()) -> Wanted:
        """Read a query and words to add to it.

        Raises:
            BadInput: there is no word in it, or stop words only.
        """
        phrase = _trimmed([stem for stem, _ in tokens(query)])[:QUERY_WORDS]
        stems = [stem for stem in dict.fromkeys(phrase) if stem]
        if not stems:
            raise BadInput(
                f"the query {query[:100]!r} has no word to look for: "
                "give -a query=WORDS, other ones than articles and the like"
            )
        weights = {stem: weight(stem) for stem in stems}
        whole = sum(weights.values())
        extra = dict.fromkeys(stem for word in also for stem in terms(word) if stem not in weights)
        return cls(
            {stem: one / whole for stem, one in weights.items()},
            dict.fromkeys(extra, ALSO / len(stems)),
            tuple(phrase),
            _joined(query),
        )

    @property
    def stems(self) -> list[str]:
        """Of the query alone, once each."""
        return list(self.shares)


def weight(stem: str) -> float:
    """How rare a stem is in general English: ln(COMMON / its share of all words), LEAST or more."""
    return max(LEAST, log(COMMON / english().frequency(stem)))


def _trimmed(stems: list[str]) -> list[str]:
    while stems and not stems[0]:
        stems = stems[1:]
    while stems and not stems[-1]:
        stems = stems[:-1]
    return stems


def _joined(query: str) -> frozenset[str]:
    """Neighbouring words written as one are the same thing: "virtual host", "virtualhost"."""
    spelled = words(query)[:QUERY_WORDS]
    runs = [spelled[i:j] for i in range(len(spelled)) for j in range(i + 2, min(i + 3, len(spelled)) + 1)]
    return frozenset(stem for run in runs for stem in terms("".join(run)))
