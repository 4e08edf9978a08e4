"""Scores of pages, and how they came to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Part(NamedTuple):
    """A row of an explanation."""

    what: str  # "molecular in title"
    detail: str  # how it was computed, for people
    contribution: float


class Factor(NamedTuple):
    """Something that adds to the scores of pages."""

    what: str
    detail: str | Callable[[int], str]  # of all pages, or of the one at a place
    worth: Floats  # first axis: matching pages


class Scores:
    """Scores of matching pages; higher is better."""

    def __init__(self, values: Floats, explain: Callable[[int], list[Part]]) -> None:
        """`explain` gives the rows of the page at a place; their contributions sum up to its value."""
        self.values = values
        self._explain, self._factors = explain, list[Factor]()

    def add(self, factors: Iterable[Factor]) -> None:
        for factor in factors:
            self.values = self.values + factor.worth
            self._factors.append(factor)

    def parts(self, place: int) -> list[Part]:
        """Return where the score of the page at a place comes from."""
        rows = self._explain(place)
        for what, detail, worth in self._factors:
            if worth[place]:
                said = detail if isinstance(detail, str) else detail(place)
                rows.append(Part(what, said, float(worth[place])))
        return rows
