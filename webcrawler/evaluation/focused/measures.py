"""How good was a focused crawl? Pure arithmetic over the places of relevant pages among those fetched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

TOP = 100  # of the pool


class Pooled(NamedTuple):
    """How one strategy did; each page of the pool counts once."""

    mean_place: float  # of its pages, in percent of the pool: 0 is best; chance gives 50
    top_share: float  # of the pool's best 100 pages, those that it fetched; in percent


def pooled(fetched: Mapping[str, Sequence[int]], ranked: Sequence[int]) -> dict[str, Pooled]:
    """By strategy.

    Args:
        fetched: page numbers by strategy.
        ranked: page numbers, best first; pages that it lacks do not answer the query, and share the places
            behind all others.
    """
    pool = set().union(*fetched.values())
    answers = [number for number in ranked if number in pool]
    place = {number: float(at) for at, number in enumerate(answers)}
    behind = (len(answers) + len(pool) - 1) / 2  # the mean of the places that are left
    top = set(answers[:TOP])
    last = max(1, len(pool) - 1)
    return {
        strategy: Pooled(
            100 * fmean(place.get(number, behind) for number in set(pages)) / last if pages else 100.0,
            100 * len(top.intersection(pages)) / max(1, len(top)),
        )
        for strategy, pages in fetched.items()
    }


FIRST = 10  # relevant pages: somebody who searches has something to read
MARKS = (100, 300, 1000)  # pages fetched, at which strategies are compared


class Run(NamedTuple):
    """One focused crawl; places are counted from 1."""

    strategy: str  # as it was asked for: "shark"
    query: str
    relevant: int  # pages that it could have found
    fetched: int  # pages, of any kind
    found: tuple[int, ...]  # places of the relevant ones, ascending
    tried: int = 0  # URLs: pages, and what came to none, as redirects do
    seconds: float = 0.0
    seed: int | None = None  # of what was known beforehand
    pool: Pooled | None = None  # beside the others; None where there is no index to rank by

    def at(self, pages: int) -> int:
        """Relevant pages among the first so many."""
        return bisect_right(self.found, pages)

    def harvest(self, pages: int) -> float:
        """The harvest rate: relevant share of the first pages; of fewer where nothing was left to fetch."""
        return self.at(pages) / max(1, min(pages, self.fetched))

    def recall(self, pages: int) -> float:
        """Found share of the relevant pages; 1 where there are none to find."""
        return self.at(pages) / self.relevant if self.relevant else 1.0

    def until(self, relevant: int = FIRST) -> float:
        """Pages fetched when so many relevant ones were there; infinite where they never were."""
        return self.found[relevant - 1] if len(self.found) >= relevant else float("inf")

    def as_json(self, pages: int) -> dict[str, Any]:
        """With its measures; keys as in docs/reference/commands.md."""
        marks = marks_of(pages)
        until = self.until()
        return {
            **self._asdict(),
            "pool": self.pool and {name: round(value, 2) for name, value in self.pool._asdict().items()},
            "found_at": {str(n): self.at(n) for n in marks},
            "harvest_rate": {str(n): round(self.harvest(n), 4) for n in marks},
            "recall": {str(n): round(self.recall(n), 4) for n in marks},
            "first_10": None if until == float("inf") else int(until),
        }


def marks_of(pages: int) -> list[int]:
    """Where crawls of so many pages are measured: at 100, 300, 1000, and at their end."""
    return [*(mark for mark in MARKS if mark < pages), pages]
