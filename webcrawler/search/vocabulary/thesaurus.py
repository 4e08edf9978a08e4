"""Which words go together? A thesaurus from the crawl's own co-occurrence. Arithmetic only.

Two words are related where they stand in the same passages more often than chance has it (normalized
pointwise mutual information, Bouma 2009; only where Dunning's 1993 likelihood ratio is significant), and
where they keep the same company (cosine of the vectors of such associations, Schütze 1998). The strength is
the geometric mean of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

PARTS = 64  # that are counted apart: one a server, or several small ones
TOGETHER = 3  # passages
SIGNIFICANT = 10.83  # of chi-square with one degree of freedom: one in a thousand by chance
COMPANY = 100  # associations a word keeps
RELATED = 12
WEAKEST = 0.2
_BLOCK = 250  # words whose pairs with all others are in memory at a time: 5 bytes each
_PAIRS = 5_000  # compared at a time

Floats = NDArray[np.float64]


class Related(NamedTuple):
    """Pairs of words by number, by ascending `of`, the strongest first."""

    of: NDArray[np.int32]
    words: NDArray[np.int32]
    strengths: NDArray[np.float32]  # up to 1


def related(passages: sparse.csr_array, servers: NDArray[np.int32]) -> Related:
    """The words that go with each word.

    Args:
        passages: shape (passages, words); 1 where the passage has the word.
        servers: of each passage, ascending.
    Cost: 3 s for 127,000 passages of 28 words among 16,000, in 150 MB.
    """
    pairs = [pair for pair in _associations(passages, servers) if len(pair.of)]
    if not pairs:
        return Related(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    found = Related(*map(np.concatenate, zip(*pairs, strict=True)))
    strengths = np.sqrt(found.strengths * _likeness(found, passages.shape[1]))
    return _best(found.of, found.words, strengths.astype(np.float32))


def _associations(passages: sparse.csr_array, servers: NDArray[np.int32]) -> Iterator[Related]:
    """Pairs with normalized mutual information above 0, less where few servers have them: a block a time."""
    parts = [passages[rows] for rows in _parts(servers)]
    turned = [part.T.tocsr() for part in parts]
    size, words = passages.shape
    often = np.asarray(passages.sum(0), np.float64).ravel()
    for start in range(0, words, _BLOCK):
        block = min(_BLOCK, words - start)
        together = np.zeros(block * words, np.float32)
        spread = np.zeros(block * words, np.uint8)
        for part, columns in zip(parts, turned, strict=True):
            product = (columns[start : start + block] @ part).tocsr()
            places = np.repeat(np.arange(block) * words, np.diff(product.indptr)) + product.indices
            together[places] += product.data
            spread[places] += 1
        for row in range(block):
            one = slice(row * words, (row + 1) * words)
            yield _of_word(start + row, together[one], _trust(spread[one], len(parts)), often, size)


def _of_word(word: int, together: NDArray[np.float32], trust: Floats, often: Floats, size: int) -> Related:
    others = np.flatnonzero(together >= TOGETHER)
    others = others[others != word]
    both, n, m = together[others].astype(float), often[word], often[others]
    information = np.log(both * size / (n * m))
    ratio = likelihood_ratio(both, n, m, size)
    good = np.flatnonzero((information > 0) & (ratio > SIGNIFICANT))
    good = good[np.argsort(-ratio[good] * trust[others[good]], kind="stable")[:COMPANY]]
    # In the same passages always, and nowhere else: 1.
    normal = information[good] / np.maximum(-np.log(both[good] / size), 1e-9)
    strengths = np.minimum(normal, 1.0) * trust[others[good]]
    return Related(np.full(len(good), word, np.int32), others[good].astype(np.int32), strengths)


def likelihood_ratio(both: Floats, n: float, m: Floats, size: int) -> Floats:
    """How surprising it is to see two words together `both` times; -2 log λ of Dunning 1993.

    Args:
        n, m: passages with the one and the other, of `size`.
    """
    cells = (both, n - both, m - both, size - n - m + both)
    margins = (np.full_like(both, n), np.full_like(both, size - n), m, size - m)
    entropies = sum(map(_xlogx, cells)) - sum(map(_xlogx, margins)) + size * np.log(size)
    return np.asarray(2 * entropies)


def _xlogx(x: Floats) -> Floats:
    return x * np.log(np.maximum(x, 1.0))


def _trust(spread: NDArray[np.uint8], parts: int) -> Floats:
    """1 for a pair that all parts have, about 1/2 for one of a single server among many."""
    return spread / (spread + 1.0) * (parts + 1) / parts


def _parts(servers: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """The rows of each part: the largest servers have one of their own."""
    names, places, counts = np.unique(servers, return_inverse=True, return_counts=True)
    part_of, loads = np.zeros(len(names), int), np.zeros(min(PARTS, len(names)), int)
    for server in np.argsort(-counts, kind="stable").tolist():
        part_of[server] = lightest = int(loads.argmin())
        loads[lightest] += counts[server]
    return [np.flatnonzero(part_of[places] == part) for part in range(len(loads))]


def _likeness(pairs: Related, words: int) -> Floats:
    """For each pair the cosine of the vectors of what either goes with."""
    kept = sparse.csr_array((pairs.strengths, (pairs.of, pairs.words)), shape=(words, words))
    lengths = np.sqrt(np.asarray(kept.multiply(kept).sum(1)).ravel())
    vectors = (sparse.diags_array(1 / np.maximum(lengths, 1e-9)) @ kept).tocsr()
    found = [np.zeros(0)]
    for start in range(0, len(pairs.of), _PAIRS):
        some = slice(start, start + _PAIRS)
        product = vectors[pairs.of[some]].multiply(vectors[pairs.words[some]])
        found.append(np.asarray(product.sum(1)).ravel())
    return np.minimum(np.concatenate(found), 1.0)


def _best(of: NDArray[np.int32], words: NDArray[np.int32], strengths: NDArray[np.float32]) -> Related:
    order = np.lexsort((words, -strengths, of))
    of, words, strengths = of[order], words[order], strengths[order]
    firsts = np.searchsorted(of, of)  # where the pairs of this word begin
    good = (np.arange(len(of)) - firsts < RELATED) & (strengths >= WEAKEST)
    return Related(of[good], words[good], strengths[good])
