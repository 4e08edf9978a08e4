"""Which queries begin like this? Sorted places in phrases, and bisection."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.vocabulary.spelling import spelled
from webcrawler.text import analysis

_LAST = "\U0010ffff"
AT_START = 2.0  # what a phrase that begins so weighs more than one that has it further on
LONGEST = 100  # characters of what was typed that count


class Phrases(NamedTuple):
    """What queries may be; stored as it is."""

    texts: list[str]
    keys: list[str]  # the words of each, lower case
    weights: NDArray[np.float32]  # how likely somebody asks for it: a logarithm to base 2
    places: NDArray[np.int32]  # as `places_of` gives them


class Completions:
    def __init__(self, phrases: Phrases) -> None:
        self._texts, self._keys, self._weights, self._places = phrases

    def of(self, text: str, limit: int) -> list[str]:
        """Phrases with that text at the start of one of their words; else its last word completed."""
        typed = spelled(text[:LONGEST])
        key = " ".join(analysis.words(typed))
        if not key:
            return []
        found = self._likely(f"{key} " if typed[-1].isspace() else key, limit)
        before, _, last = key.rpartition(" ")
        if before and not found:
            found = [f"{before} {word}" for word in self._likely(last, limit) if " " not in word]
        return found

    def _likely(self, key: str, limit: int) -> list[str]:
        places = range(len(self._places))
        start = bisect_left(places, key, key=self._rest)
        some = self._places[start : bisect_right(places, key + _LAST, key=self._rest)]
        weights = self._weights[some[:, 0]] + AT_START * (some[:, 1] == 0)
        found: dict[tuple[str, ...], str] = {}  # by their terms: plural and singular are one
        for place in _greatest(weights, 6 * limit):
            phrase = int(some[place, 0])
            found.setdefault(tuple(analysis.terms(self._keys[phrase])), self._texts[phrase])
            if len(found) == limit:
                break
        return list(found.values())

    def _rest(self, place: int) -> str:
        phrase, start = self._places[place].tolist()
        rest: str = self._keys[phrase][start:]
        return rest


def places_of(keys: Sequence[str]) -> NDArray[np.int32]:
    """Shape (places, 2): each phrase with each character where a word of it begins, by what follows there."""
    places = [
        (phrase, start)
        for phrase, key in enumerate(keys)
        for start in range(len(key))
        if start == 0 or key[start - 1] == " "
    ]
    places.sort(key=lambda place: keys[place[0]][place[1] :])
    return np.array(places, np.int32).reshape(-1, 2)


def _greatest(weights: NDArray[np.float32], count: int) -> list[int]:
    """The places of the greatest, those first."""
    some = np.arange(len(weights))
    if len(weights) > count:
        some = np.argpartition(-weights, count)[:count]
    found: list[int] = some[np.argsort(-weights[some], kind="stable")].tolist()
    return found
