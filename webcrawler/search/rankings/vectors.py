"""The texts of some pages as vectors of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

Floats = NDArray[np.float64]

HALF = 2.0  # occurrences in a text of mean length that weigh half of what endless many would: k1 of bm25f
B = 0.5  # b of its body


class Vectors:
    """One row a text, one column a word; a word weighs count / (count + HALF), less in a long text."""

    def __init__(self, counts: Sequence[Mapping[str, int]]) -> None:
        columns: dict[str, int] = {}
        places = [columns.setdefault(word, len(columns)) for of in counts for word in of]
        self.words = list(columns)
        rows = np.repeat(np.arange(len(counts)), [len(of) for of in counts])
        found = np.array([count for of in counts for count in of.values()], np.float64)
        lengths = np.array([sum(of.values()) for of in counts], np.float64)
        halves = HALF * (1 - B + B * lengths / (lengths.mean() or 1))
        shape = len(counts), len(columns)
        self.weights = csr_array((found / (found + halves[rows]), (rows, places)), shape=shape)

    def centre(self, shares: Floats, most: int) -> dict[str, float]:
        """The words that weigh most in the sum of all texts, each by its share."""
        total = np.asarray(self.weights.T @ shares, np.float64)
        best = np.argsort(-total, kind="stable")[:most]
        return {self.words[column]: float(total[column]) for column in best if total[column]}

    def likeness(self) -> Floats:
        """[texts, texts] cosines of 0 to 1; words that many of the texts have tell less."""
        having = np.bincount(self.weights.indices, minlength=len(self.words))
        rarity = np.log1p((self.weights.shape[0] - having + 0.5) / (having + 0.5))
        found = self.weights @ diags_array(rarity)
        norms = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
        unit = diags_array(1 / np.where(norms, norms, 1)) @ found
        cosines: Floats = (unit @ unit.T).toarray()
        return cosines
