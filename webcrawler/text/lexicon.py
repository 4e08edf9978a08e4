"""How the words of a query are looked up in a collection: by their terms in its languages.

Function words say how a text is put together, and not what it is about: a query may skip them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import log
from typing import NamedTuple

from webcrawler.text.analysis import (
    analysed,
    has_stemmer,
    indexed_words,
    lower_case,
    readings,
    symbols,
    tokens_of,
)
from webcrawler.text.compounds import compound, joins_words

SHARE = 2e-3  # of all words of a language: a word that is more frequent says nothing of a text,
RARE = 5e-4  # and one that is less frequent says all it can
LEAST = 0.1


class Lexicon(NamedTuple):
    """What the analysis of a query has to know of a collection."""

    languages: tuple[str, ...] = ()  # of its documents, ISO 639, beside English
    skipped: tuple[str, ...] = ("en",)  # the languages whose function words a query skips
    holds: Callable[[str], bool] = lambda term: False  # tells whether any page has a term

    def read(self, text: str) -> list[tuple[str, str]]:
        """Return the terms of a text, each with how it is spelled.

        The term of a word is that of English, and those of other languages behind it: `news|fr:new`. An
        option (-Wall) and letters with signs (c++) are one term each, if the collection holds it. A compound
        that it does not hold is read as its parts, if it holds those.
        """
        found, start = list[tuple[str, str]](), 0
        for first, end, term in symbols(text):
            if first >= start and self.holds(term):
                # stands for the first word of --no-verify; the index has the others behind it
                _, *others = self._words(text[first:end])
                found += [*self._words(text[start:first]), (term, text[first:end]), *others]
                start = end
        return found + self._words(text[start:])

    def has_option(self, text: str) -> bool:
        """Tell whether a text begins with an option, such as -Wall, that the collection holds."""
        return any(not start and self.holds(term) for start, _, term in symbols(text)[:1])

    def telling(self, word: str) -> float:
        """Return how much a word says, 0 to 1; a query may skip one that says nothing if others are left."""
        return min(telling(word, language) for language in self.skipped)

    def _words(self, text: str) -> list[tuple[str, str]]:
        spelled = indexed_words(text, single=False)
        joining = tuple(filter(joins_words, self.languages))
        found = list[tuple[str, str]]()
        for term, word in zip(map(self._joined, spelled), spelled, strict=True):
            found += (joining and self._parts(term, word, joining)) or [(term, word)]
        return found

    def _joined(self, word: str) -> str:
        joined = [term := readings(word)[0]]
        for language in filter(has_stemmer, self.languages):
            others = (one for one in readings(word, language) if one != term and self.holds(one))
            joined += [f"{language}:{one}" for one in others]
        return "|".join(joined)

    def _parts(self, term: str, word: str, languages: tuple[str, ...]) -> list[tuple[str, str]]:
        """Return the terms of the parts of a word that no page has as a whole."""
        if any(self.holds(bare) for _, bare in parts(term)):
            return []
        for language in languages:
            found = compound(word.capitalize(), language)  # people type nouns without a capital
            if found and all(map(self.holds, found)):
                plain = [bare for bare, _ in analysed(found)]
                return [
                    (part if part == bare else f"{bare}|{language}:{part}", part)
                    for bare, part in zip(plain, found, strict=True)
                ]
        return []


ENGLISH = Lexicon()


def parts(term: str) -> list[tuple[str, str]]:
    """Return the terms for which one stands in a query, each with its language; "" is any."""
    return [(language, bare) for language, _, bare in (one.rpartition(":") for one in term.split("|"))]


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
