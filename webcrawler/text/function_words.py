"""Which words say how a text is put together, and not what it is about?"""

from __future__ import annotations

from functools import cache
from math import log

from webcrawler.text.analysis import analysed, indexed_words, lower_case, terms

SHARE = 2e-3  # of all words of a language: a word that is more frequent says nothing of a text,
RARE = 5e-4  # and one that is less frequent says all it can
LEAST = 0.1


def telling(word: str, language: str = "en") -> float:
    """Return how much a word says of a text, by its frequency in the language: 0 for a function word, to 1.

    Between, the logarithm of the frequency decides. 1 for all words of a language that is not known.
    """
    return _telling(language).get(lower_case(word), 1.0)


def is_function_word(word: str, language: str = "en") -> bool:
    """Tell whether a word is one of the most frequent of a language; no, where wordfreq does not know it."""
    return not telling(word, language)


def telling_terms(text: str, language: str) -> list[str]:
    """Return the terms of a text that say what it is about, as the index has them."""
    if language in ("", "en"):
        return terms(text)
    found = indexed_words(text)
    return [
        term
        for (term, _), word in zip(analysed(found, language), found, strict=True)
        if not is_function_word(word, language)
    ]


@cache
def _telling(language: str) -> dict[str, float]:
    """Return what is less than 1, by the word."""
    import wordfreq  # takes 0.2 s: only a search has to wait for it

    if language not in wordfreq.available_languages("small"):
        return {}
    frequencies: dict[str, float] = wordfreq.get_frequency_dict(language, "small")
    frequent = {word: share for word, share in frequencies.items() if share > RARE}
    return {
        word: 0.0 if share >= SHARE else max(LEAST, log(SHARE / share) / log(SHARE / RARE))
        for word, share in frequent.items()
    }
