"""Scores multiplied by what is known of a page whatever is asked: its language, say."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Part

Floats = NDArray[np.float64]


class Step(NamedTuple):
    what: str
    detail: Callable[[int], str]  # of the page at a place, for people
    worth: Floats  # what it adds to each score


class Adjusted:
    """Scores of matching pages, and how they came to be."""

    def __init__(self, scores: Floats) -> None:
        self.scores = scores
        self._steps: list[Step] = []

    def replace(self, what: str, detail: Callable[[int], str], scores: Floats) -> None:
        self._steps.append(Step(what, detail, scores - self.scores))
        self.scores = scores

    def parts(self, place: int) -> list[Part]:
        """Return a row for each step that changed the score of a page."""
        rows = ((step.what, step.detail, float(step.worth[place])) for step in self._steps)
        return [Part(what, detail(place), worth) for what, detail, worth in rows if worth]
