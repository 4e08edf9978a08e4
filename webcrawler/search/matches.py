"""What a ranking is given and what it gives back; every ranking is one file beside this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Matches:
    """The documents that satisfy a query, and how often each holds each of its words."""

    lengths: Mapping[int, int]  # document -> its number of words, in title and body, stop words left out
    counts: Mapping[
        str, Mapping[int, int]
    ]  # word -> document -> occurrences; other documents may stand here too
    partial: bool = False  # the deadline cut the search short


class Contribution(NamedTuple):
    """What one word of the query adds to the relevance of a document."""

    word: str  # the stem
    document_weight: float
    query_weight: float
    contribution: float


class Ranking(Protocol):
    def scores(self, words: tuple[str, ...], matches: Matches) -> dict[int, float]:
        """Give each matching document a score, more is better."""

    def explain(self, words: tuple[str, ...], matches: Matches, document: int) -> list[Contribution]:
        """Say where the score of a document comes from; the contributions sum up to it."""
