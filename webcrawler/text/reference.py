"""The reference domain: how often a word occurs in general language (WC, The Database)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from webcrawler.text.analysis import indexed_words, is_unspaced
from webcrawler.text.lexicon import listed, parts, telling_terms

_SEGMENTED = ("ja", "ko", "zh")  # whose words are not the index's pairs of characters


class Reference:
    """Frequencies of stems: those of all words with that stem, summed.

    A stem that is not listed counts as often as the rarest word that is: the floor.
    """

    def __init__(
        self,
        words: Iterable[tuple[str, float]],
        unlisted: Callable[[str], float] = lambda stem: 0.0,
        language: str = "en",
    ) -> None:
        """Sum (word, frequency) pairs; `unlisted` gives the frequency of a stem that is not among them."""
        sums: defaultdict[str, float] = defaultdict(float)
        self.floor = math.inf
        for word, frequency in words:
            self.floor = min(self.floor, frequency)
            for stem in filter(None, telling_terms(indexed_words(word), language)):
                sums[stem] += frequency
        self._sums = dict(sums)
        self._unlisted, self._language = unlisted, language

    def frequency(self, term: str) -> float:
        """Return how often a stem occurs, more than 0: a share of all words where the source gives shares.

        Of a term of a query that stands for several, that of this language counts, else the first.
        """
        stems = {"": "", **dict(reversed(parts(term)))}
        stem = stems.get(self._language, stems[""])
        return self._sums.get(stem) or max(self._unlisted(stem), self.floor)


@cache
def english() -> Reference:
    """Return general English by wordfreq's small list: 29,000 words, each one in a million or more.

    Its large list goes down to one in a hundred million: 11 times as many words to analyse.
    Numbers are not listed one by one: wordfreq computes them.
    """
    import wordfreq  # takes 0.2 s: only who asks for these has to wait for it

    return Reference(listed("en").items(), lambda stem: float(wordfreq.word_frequency(stem, "en", "small")))


@cache
def general(language: str) -> Reference | None:
    """Return a language by wordfreq's small list; None where there is none, or it needs further packages."""
    if language == "en":
        return english()
    if language in _SEGMENTED or not listed(language):
        return None
    return Reference(listed(language).items(), language=language)


_LANGUAGES = ("ja", "zh")  # whose words stand side by side; wordfreq lists them


@lru_cache(maxsize=10_000)  # of the terms that visitors ask for there is no end
def overlapping(term: str) -> tuple[str, ...]:
    """Return the words that end with the first character of a word of two, and are more frequent.

    Where one of these stands, the other is hardly meant. () for terms that are no such word.
    """
    share = _shares().get(term) if len(term) == 2 and is_unspaced(term) else None
    if share is None:
        return ()
    return tuple(word for word, often in _shares().items() if word[1] == term[0] and often > share)


@cache
def _shares() -> dict[str, float]:
    """Return how frequent the words of two characters are."""
    lists = map(listed, _LANGUAGES)
    return {word: share for words in lists for word, share in words.items() if len(word) == 2}
