"""In which layer is a page, by its words? Naive Bayes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, log

from webcrawler.orderings.topic import stems_of, vector
from webcrawler.records import Text
from webcrawler.text import english

WORDS = 40  # of a page, the weightiest: Diligenti 2000, section 3.2
OWN = 0.5  # what is said of a word by its layer; the rest by all pages seen
ENGLISH = 1_000  # words of general English that count as seen


def words_of_page(text: Text) -> tuple[str, ...]:
    """The stems that describe it best: frequent there, and rare in general English."""
    found = vector(Counter(stems_of(text)))
    return tuple(sorted(found, key=lambda stem: (-found[stem], stem))[:WORDS])


class LayerModel:
    """The chance of each layer, given the words of a page; layers without a page have none.

    The last layer, of pages that are far from the topic, is there from the start: general English. The chance
    of a word in a layer is mixed with that in all pages seen (Jelinek-Mercer), so that an unknown word speaks
    for no layer. All layers with a page are equally likely beforehand.

    Source: Diligenti 2000, section 3.2. Departs from it: pages that fit no layer are a class of their own,
    as there are such pages here from the start; there, a threshold tells them.
    """

    def __init__(self, layers: int) -> None:
        self._counts = [Counter[str]() for _ in range(layers)]
        self._totals = [0] * layers
        self._all = Counter[str]()

    def add(self, words: Sequence[str], layer: int, times: int = 1) -> None:
        """Adds a page to a layer; `times=-1` takes it away again."""
        for counts in (self._counts[layer], self._all):
            for word in words:
                counts[word] += times
                if not counts[word]:
                    del counts[word]
        self._totals[layer] += times * len(words)

    def chances(self, words: Sequence[str]) -> list[float]:
        """The chance of each layer; they sum to 1."""
        seen, far = sum(self._totals) + ENGLISH, len(self._totals) - 1
        sums = {layer: 0.0 for layer, total in enumerate(self._totals) if total or layer == far}
        for word in words:
            usual = (self._all[word] + ENGLISH * english().frequency(word)) / seen
            for layer in sums:
                total = self._totals[layer]
                own = self._counts[layer][word] / total if total else usual
                sums[layer] += log(OWN * own + (1 - OWN) * usual)
        highest = max(sums.values())
        odds = {layer: exp(one - highest) for layer, one in sums.items()}
        whole = sum(odds.values())
        return [odds.get(layer, 0.0) / whole for layer in range(far + 1)]

    def distance(self, words: Sequence[str]) -> float:
        """The expected layer of a page."""
        return sum(layer * chance for layer, chance in enumerate(self.chances(words)))
