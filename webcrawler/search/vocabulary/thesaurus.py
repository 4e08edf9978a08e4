"""Which words go together? A thesaurus from the crawl's own co-occurrence.

Two words are related if they stand in the same passages more often than by chance (normalized pointwise
mutual information, Bouma 2009; only if Dunning's 1993 likelihood ratio is significant), and if they are
associated with the same words (cosine of the vectors of such associations, Schütze 1998). The strength is the
geometric mean of both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.vocabulary.documents import Collected
from webcrawler.text import analysis

if TYPE_CHECKING:  # slow to import, and a search only reads what was made
    from scipy import sparse

TERMS = 20_000  # in the thesaurus, the most frequent
TERM_DOCUMENTS = 3  # at least
TERM_SHARE = 1 / 5_000  # of the documents, at least
MANY_SERVERS = 5  # from so many on, a word that only one of them uses is not in the thesaurus
PARTS = 64  # that are counted apart: one a server, or several small ones
TOGETHER = 3  # passages
SIGNIFICANT = 10.83  # of chi-square with one degree of freedom: one in a thousand by chance
COMPANY = 100  # associations of a word
RELATED = 12
WEAKEST = 0.2
_BLOCK = 250  # words whose pairs with all others are in memory at a time: 5 bytes each
_PAIRS = 5_000  # compared at a time
_TERM = re.compile(r"[^\W\d_]{2,}\d{0,4}")  # "unicode", "utf8"; no numbers

Floats = NDArray[np.float64]


class Thesaurus(NamedTuple):
    """Which stems go with which, as it is stored."""

    stems: list[str]  # ascending
    spellings: list[str]  # the most frequent word of each
    starts: NDArray[np.int32]  # where in `related` those of each begin; one more for the end
    related: NDArray[np.int32]  # stems by number, the strongest first
    strengths: NDArray[np.float32]  # up to 1


class Related(NamedTuple):
    """Pairs of words by number, by ascending `of`, the strongest first."""

    of: NDArray[np.int32]
    words: NDArray[np.int32]
    strengths: NDArray[np.float32]  # up to 1


def thesaurus(collected: Collected) -> Thesaurus:
    """Make the thesaurus of a crawl."""
    words_of = _terms(collected)
    stems = sorted(words_of)
    spelled, documents = list(collected.numbers), collected.documents
    spellings = [spelled[max(words_of[stem], key=lambda word: (documents[word], -word))] for stem in stems]
    pairs = related(*_passages(collected, [words_of[stem] for stem in stems]))
    starts = np.searchsorted(pairs.of, np.arange(len(stems) + 1)).astype(np.int32)
    return Thesaurus(stems, spellings, starts, pairs.words, pairs.strengths)


def _terms(collected: Collected) -> dict[str, list[int]]:
    """Return the word numbers of each stem that the thesaurus has."""
    words_of: defaultdict[str, list[int]] = defaultdict(list)
    for (stem, _), word in zip(
        analysis.tokens_of(collected.numbers), collected.numbers.values(), strict=True
    ):
        if len(stem) > 2 and _TERM.fullmatch(stem):
            words_of[stem].append(word)
    many = len(np.unique(collected.passages()[2])) >= MANY_SERVERS
    counts = {
        stem: sum(map(collected.documents.__getitem__, words))
        for stem, words in words_of.items()
        if not many or sum(map(collected.servers.__getitem__, words)) > 1
    }
    best = sorted(counts, key=lambda stem: (-counts[stem], stem))[:TERMS]
    least = max(TERM_DOCUMENTS, TERM_SHARE * collected.size)
    return {stem: words_of[stem] for stem in best if counts[stem] >= least}


def _passages(collected: Collected, terms: list[list[int]]) -> tuple[sparse.csr_array, NDArray[np.int32]]:
    """Return 1 where a passage has the term, of shape (passages, terms), and the server of each passage."""
    from scipy import sparse

    term_of = np.full(len(collected.numbers), -1, np.int32)
    for term, ids in enumerate(terms):
        term_of[ids] = term
    words, ends, servers = collected.passages()
    found = term_of[words]
    kept = found >= 0
    # Of 4 bytes: as wide as these are, scipy makes all indices.
    starts = np.concatenate([[0], np.cumsum(kept, dtype=np.int32)], dtype=np.int32)[ends]
    ones = np.ones(int(starts[-1]), np.float32)
    matrix = sparse.csr_array((ones, found[kept], starts), shape=(len(servers), len(terms)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix, servers


def related(passages: sparse.csr_array, servers: NDArray[np.int32]) -> Related:
    """Return the words that go with each word.

    Args:
        passages: shape (passages, words); 1 where the passage has the word.
        servers: of each passage, ascending.
    Takes 3 s for 127,000 passages of 28 words among 16,000, in 150 MB.
    """
    pairs = [pair for pair in _associations(passages, servers) if len(pair.of)]
    if not pairs:
        return Related(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    found = Related(*map(np.concatenate, zip(*pairs, strict=True)))
    strengths = np.sqrt(found.strengths * _likeness(found, passages.shape[1])).astype(np.float32)
    order = np.lexsort((found.words, -strengths, found.of))
    of, words, strengths = found.of[order], found.words[order], strengths[order]
    firsts = np.searchsorted(of, of)  # where the pairs of this word begin
    good = (np.arange(len(of)) - firsts < RELATED) & (strengths >= WEAKEST)
    return Related(of[good], words[good], strengths[good])


def _associations(passages: sparse.csr_array, servers: NDArray[np.int32]) -> Iterator[Related]:
    """Yield the associations of each word, weaker where few servers have them; works block by block."""
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
            # 1 for a pair that all parts have, about 1/2 for one of a single server among many
            trust = spread[one] / (spread[one] + 1.0) * (len(parts) + 1) / len(parts)
            yield _of_word(start + row, together[one], trust, often, size)


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
    """Return how surprising it is to see two words together `both` times; -2 log λ of Dunning 1993.

    Args:
        n, m: passages with the one and the other, of `size`.
    """
    cells = (both, n - both, m - both, size - n - m + both)
    margins = (np.full_like(both, n), np.full_like(both, size - n), m, size - m)
    entropies = sum(map(_xlogx, cells)) - sum(map(_xlogx, margins)) + size * np.log(size)
    return np.asarray(2 * entropies)


def _xlogx(x: Floats) -> Floats:
    return x * np.log(np.maximum(x, 1.0))


def _parts(servers: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """Return the rows of each part: the largest servers have one of their own."""
    names, places, counts = np.unique(servers, return_inverse=True, return_counts=True)
    part_of, loads = np.zeros(len(names), int), np.zeros(min(PARTS, len(names)), int)
    for server in np.argsort(-counts, kind="stable").tolist():
        part_of[server] = lightest = int(loads.argmin())
        loads[lightest] += counts[server]
    return [np.flatnonzero(part_of[places] == part) for part in range(len(loads))]


def _likeness(pairs: Related, words: int) -> Floats:
    """Return for each pair the cosine of the vectors of what either goes with."""
    from scipy import sparse

    kept = sparse.csr_array((pairs.strengths, (pairs.of, pairs.words)), shape=(words, words))
    lengths = np.sqrt(np.asarray(kept.multiply(kept).sum(1)).ravel())
    vectors = (sparse.diags_array(1 / np.maximum(lengths, 1e-9)) @ kept).tocsr()
    found = [np.zeros(0)]
    for start in range(0, len(pairs.of), _PAIRS):
        some = slice(start, start + _PAIRS)
        product = vectors[pairs.of[some]].multiply(vectors[pairs.words[some]])
        found.append(np.asarray(product.sum(1)).ravel())
    return np.minimum(np.concatenate(found), 1.0)
