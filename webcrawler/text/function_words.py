"""Which words say how a text is put together, and not what it is about?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log

from webcrawler.text.analysis import analysed, lower_case, tokens_of

SHARE = 2e-3  # of all words of a language: a word that is more frequent says nothing of a text,
RARE = 5e-4  # and one that is less frequent says all it can
LEAST = 0.1


def telling(word: str, language: str = "en") -> float:
    """Return how much a word says of a text, by its frequency in the language: 0 for a function word, to 1.

    Between, the logarithm of the frequency decides. 1 for all words of a language that is not known.
    """
    return _telling(language).get(lower_case(word), 1.0)


def telling_terms(spelled: Sequence[str], language: str) -> list[str]:
    """Return the term of each word as the index has it; "" for those that do not say what a text is about."""
    if language in ("", "en"):
        return [term for term, _ in tokens_of(spelled)]
    return [
        term if telling(word, language) else ""
        for (term, _), word in zip(analysed(spelled, language), spelled, strict=True)
    ]


@cache
def _telling(language: str) -> dict[str, float]:
    """Return what is less than 1, by the word."""
    import wordfreq  # takes 0.2 s: only a search has to wait for it

    if language not in wordfreq.available_languages("small"):
        return {}
    found: dict[str, float] = {}
    # the most frequent first
    for centibels, words in enumerate(wordfreq.get_frequency_list(language, "small")):
        share = wordfreq.cB_to_freq(-centibels)
        if share <= RARE:
            break
        worth = 0.0 if share >= SHARE else max(LEAST, log(SHARE / share) / log(SHARE / RARE))
        found.update(dict.fromkeys(words, worth))
    return found
