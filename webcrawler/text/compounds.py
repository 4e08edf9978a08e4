"""Of which words is a compound made? "Konfigurationsdatei" of Konfiguration and Datei.

Source: Koehn and Knight 2003, "Empirical Methods for Compound Splitting": the frequencies of the parts in
general language decide, by their geometric mean. Ours prefers fewer parts ("Netzwerkkarte" has no "Netz"),
and splits no word that is frequent itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from math import prod
from typing import NamedTuple, TypeAlias

from webcrawler.text.analysis import analysed, lower_case, unaccented

LEAST = 4  # letters of a part,
LEAST_OF_MANY = 5  # and of one of three and more
LEAST_COMPOUND = 2 * LEAST  # letters
MOST = 4  # parts
FREQUENT = 1e-5  # of all words: what is more frequent is known as a whole
COMMON = 1e-3  # of all words: what is more frequent says how a sentence is put together
# What may stand between two parts, by ISO 639, and endings that a part may lose there ("Sprachkurs").
_LINKS = {
    "da": ("s", "e", "er"),
    "de": ("s", "es", "n", "en", "er", "e"),
    "fi": ("n",),
    "hu": (),
    "nb": ("s", "e", "er"),
    "nl": ("s", "e", "en", "er"),
    "nn": ("s", "e", "er"),
    "no": ("s", "e", "er"),
    "sv": ("s", "o", "u", "e"),
}
_LOST = {"de": "e", "sv": "ae"}
# Terms of endings that make one word of another, and are words themselves by chance.
_NORDIC = ("skap", "skab", "ring", "los", "ende", "ande", "het")
_ENDINGS = {"de": ("schaft", "heit", "keit"), "nl": ("heid", "schap", "loos", "lijk", "baar")}
_CAPITALS = ("de",)  # whose nouns have a capital; other words are mostly verbs with a prefix
_LISTED = {"nn": "nb", "no": "nb"}  # under which code wordfreq has a language

_Part: TypeAlias = tuple[str, float]  # its term and frequency


class _Words(NamedTuple):
    last: dict[str, float]  # frequency by term
    first: dict[str, _Part]  # by the word, without accents
    beginnings: frozenset[str]  # the first letters of `last`: most of what is no word need not be stemmed


def joins_words(language: str) -> bool:
    """Tell whether a language, ISO 639, writes compounds as one word."""
    return language in _LINKS


@lru_cache(maxsize=200_000)
def compound(word: str, language: str) -> tuple[str, ...]:
    """Return the terms of the parts of a compound, in their order; () for any other word.

    The first call for a language takes a quarter of a second, later ones 25 µs.

    Weakness: words that are rarer than one in a million are not known as parts.
    """
    lower = lower_case(word)
    if len(word) < LEAST_COMPOUND or not word.isalpha() or not joins_words(language):
        return ()
    if language in _CAPITALS and word == lower:
        return ()
    frequency = _words(language).last.get(_term(lower, language), 0.0)
    if frequency > FREQUENT or _english().get(lower, 0.0) > frequency:
        return ()
    best = _best(lower, frequency, language, LEAST, 2)
    best = best or _best(lower, frequency, language, LEAST_OF_MANY, MOST)
    return tuple(term for term, _ in best)


def _best(word: str, frequency: float, language: str, least: int, most: int) -> tuple[_Part, ...]:
    """Return the parts with the highest mean frequency, if they are more frequent than the word; or none."""
    worth = {
        parts: prod(share for _, share in parts) ** (1 / len(parts))
        for parts in _splits(word, language, least, most)
    }
    splits = [parts for parts, mean in worth.items() if mean > frequency]
    return max(splits, key=lambda parts: (-len(parts), worth[parts]), default=())


def _splits(text: str, language: str, least: int, most: int) -> Iterator[tuple[_Part, ...]]:
    """Yield the ways in which a text may be made of parts of at least so many letters."""
    words = _words(language)
    for end in range(least, len(text) - least + 1):
        if text[end : end + LEAST] in words.beginnings and (first := _first(text[:end], language)):
            last = _term(text[end:], language)
            if 0 < (frequency := words.last.get(last, 0.0)) < COMMON:
                yield first, (last, frequency)
            if most > 2:
                yield from ((first, *more) for more in _splits(text[end:], language, least, most - 1))


def _term(word: str, language: str) -> str:
    return next(analysed((word,), language))[0]


@cache
def _words(language: str) -> _Words:
    """Return the words of wordfreq's small list: each one in a million or more, the most frequent first."""
    import wordfreq  # takes 0.2 s: only where there are compounds

    listed: dict[str, float] = wordfreq.get_frequency_dict(_LISTED.get(language, language), "small")
    known = {word: share for word, share in listed.items() if len(word) >= LEAST and word.isalpha()}
    last, first = defaultdict[str, float](float), dict[str, _Part]()
    for (word, share), (term, _) in zip(known.items(), analysed(known, language), strict=True):
        last[term] += share
        if share < COMMON:
            first.setdefault(unaccented(word), (term, share))
    for ending in _ENDINGS.get(language, _NORDIC):
        last.pop(ending, None)
    return _Words(dict(last), first, frozenset(word[:LEAST] for word in known))


def _first(text: str, language: str) -> _Part | None:
    """Return the most frequent word that may stand so in front of another part, if there is one."""
    text, first = unaccented(text), _words(language).first
    words = [text]
    words += (text.removesuffix(link) for link in _LINKS[language] if text.endswith(link))
    words += (text + lost for lost in _LOST.get(language, ""))
    return max((first[word] for word in words if word in first), key=lambda one: one[1], default=None)


@cache
def _english() -> dict[str, float]:
    """English words stand in all languages: "snapshot", "framework"."""
    import wordfreq

    found: dict[str, float] = wordfreq.get_frequency_dict("en", "small")
    return found
