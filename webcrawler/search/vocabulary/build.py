"""From what a crawl says to its vocabulary: words, and which go together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.search.vocabulary.documents import Collected
from webcrawler.search.vocabulary.spelling import Words
from webcrawler.search.vocabulary.suggestions import suggested
from webcrawler.search.vocabulary.thesaurus import related
from webcrawler.search.vocabulary.vocabulary import Lists, Thesaurus
from webcrawler.text import analysis

WORDS = 100_000  # the most frequent
TERMS = 20_000  # in the thesaurus, the most frequent
TERM_DOCUMENTS = 3  # at least
TERM_SHARE = 1 / 5_000  # of the documents, at least
MANY_SERVERS = 5  # from so many on, a word that only one of them uses is not in the thesaurus
_TERM = re.compile(r"[^\W\d_]{2,}\d{0,4}")  # "unicode", "utf8"; no numbers


def build(catalog: Catalog, until: int) -> Lists:
    """Read the documents of the changes up to that seq."""
    import wordfreq  # 0.2 s, which no reader should wait for

    english: dict[str, float] = wordfreq.get_frequency_dict("en", "small")  # once in a million words and more
    collected = Collected(catalog, until)
    return Lists(_words(collected, english), _thesaurus(collected), suggested(collected, english, catalog))


def _words(collected: Collected, english: Mapping[str, float]) -> Words:
    """Those of the crawl, and those of general English."""
    spelled, documents = list(collected.numbers), np.array(collected.documents, np.int32)
    chosen = np.argsort(-documents, kind="stable")[:WORDS]
    often = {spelled[word]: int(documents[word]) * collected.step for word in chosen.tolist()}
    words = sorted(english.keys() | often.keys())
    counts = np.array([often.get(word, 0) for word in words], np.int32)
    return Words(words, counts, np.array([word in english for word in words], bool))


def _thesaurus(collected: Collected) -> Thesaurus:
    words_of = _terms(collected)
    stems = sorted(words_of)
    spelled, documents = list(collected.numbers), collected.documents
    spellings = [spelled[max(words_of[stem], key=lambda word: (documents[word], -word))] for stem in stems]
    pairs = related(*_passages(collected, [words_of[stem] for stem in stems]))
    starts = np.searchsorted(pairs.of, np.arange(len(stems) + 1)).astype(np.int32)
    return Thesaurus(stems, spellings, starts, pairs.words, pairs.strengths)


def _terms(collected: Collected) -> dict[str, list[int]]:
    """The word numbers of each stem that the thesaurus has."""
    words_of: defaultdict[str, list[int]] = defaultdict(list)
    for (stem, _), word in zip(
        analysis.tokens_of(collected.numbers), collected.numbers.values(), strict=True
    ):
        if len(stem) > 2 and _TERM.fullmatch(stem):
            words_of[stem].append(word)
    many = len(np.unique(collected.passages.arrays()[2])) >= MANY_SERVERS
    counts = {
        stem: sum(map(collected.documents.__getitem__, words))
        for stem, words in words_of.items()
        if not many or sum(map(collected.servers.__getitem__, words)) > 1
    }
    best = sorted(counts, key=lambda stem: (-counts[stem], stem))[:TERMS]
    least = max(TERM_DOCUMENTS, TERM_SHARE * collected.size)
    return {stem: words_of[stem] for stem in best if counts[stem] >= least}


def _passages(collected: Collected, terms: list[list[int]]) -> tuple[sparse.csr_array, NDArray[np.int32]]:
    """Shape (passages, terms), 1 where a passage has the term; the server of each passage."""
    term_of = np.full(len(collected.numbers), -1, np.int32)
    for term, ids in enumerate(terms):
        term_of[ids] = term
    words, ends, servers = collected.passages.arrays()
    found = term_of[words]
    kept = found >= 0
    # Of 4 bytes: as wide as these are, scipy makes all indices.
    starts = np.concatenate([[0], np.cumsum(kept, dtype=np.int32)], dtype=np.int32)[ends]
    ones = np.ones(int(starts[-1]), np.float32)
    matrix = sparse.csr_array((ones, found[kept], starts), shape=(len(servers), len(terms)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix, servers
