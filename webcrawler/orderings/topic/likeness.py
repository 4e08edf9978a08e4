"""How much is a page like example pages? For searches by examples alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import log1p, sqrt

from webcrawler.orderings.topic.score import SIMILAR, stems_of, weight
from webcrawler.records import Text

# The mean cosine of two pages of one kind (7 topics and 4 sections of docweb small); of two others: 0.11.
OF_A_KIND = 0.33
SHARE = 0.9  # of the examples' own mean cosine, with which a page counts as similar
LEAST = 0.2  # such a cosine, where the examples have little in common


class Likeness:
    """The mean cosine of a page and each example, set against that of the examples with one another.

    SHARE of the latter gives SIMILAR: examples that differ let pages pass that differ as much. OF_A_KIND
    counts as one more example's, and is all that is known of a single one. Vectors are log(1 + tf) times the
    rarity of the stem in general English. The mean is the product with Rocchio's centroid.

    Weakness: the words of a server's navigation count like others; examples of several servers help.
    """

    def __init__(self) -> None:
        self._sum: dict[str, float] = {}  # of the examples' vectors
        self._number = 0

    def add(self, example: Text) -> None:
        """Learn one more example; one without words says nothing."""
        if found := vector(Counter(stems_of(example))):
            self._number += 1
            for stem, part in found.items():
                self._sum[stem] = self._sum.get(stem, 0.0) + part

    def score(self, text: Text) -> float:
        """0 to 1, SIMILAR and more for pages of the examples' kind; 0 without an example."""
        if not self._number:
            return 0.0
        found = vector(Counter(stems_of(text)))
        mean = sum(part * self._sum.get(stem, 0.0) for stem, part in found.items()) / self._number
        enough = max(LEAST, SHARE * self._among_examples())
        if mean < enough:
            return SIMILAR * mean / enough
        return min(1.0, SIMILAR + (1 - SIMILAR) * (mean - enough) / (1 - enough))

    def _among_examples(self) -> float:
        if self._number == 1:
            return OF_A_KIND
        pairs = sum(part * part for part in self._sum.values()) - self._number  # each has length 1
        return (OF_A_KIND + pairs / (self._number - 1)) / (1 + self._number)


def vector(counts: Mapping[str, int]) -> dict[str, float]:
    """Of length 1, for the stems of a text and how often each occurs; empty without stems."""
    weights = {stem: log1p(number) * weight(stem) for stem, number in counts.items()}
    length = sqrt(sum(part * part for part in weights.values()))
    return {stem: part / length for stem, part in weights.items()}
