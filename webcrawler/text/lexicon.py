"""How the words of a query are looked up in a collection: by their terms in its languages.

Function words say how a text is put together, and not what it is about: a query may skip them. A compound is
looked up by the words of which it is made: "Konfigurationsdatei" of Konfiguration and Datei.

Source: Koehn and Knight 2003, "Empirical Methods for Compound Splitting": the frequencies of the parts in
general language decide, by their geometric mean. Ours prefers fewer parts ("Netzwerkkarte" has no "Netz"),
and splits no word that is frequent itself.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from math import log, prod
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgpack

from webcrawler.text.analysis import (
    analysed,
    has_stemmer,
    indexed_words,
    lower_case,
    readings,
    symbols,
    tokens_of,
    unaccented,
)

SHARE = 2e-3  # of all words of a language: a word that is more frequent says nothing of a text,
RARE = 5e-4  # and one that is less frequent says all it can
LEAST_TELLING = 0.1


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
    return {
        word: 0.0 if share >= SHARE else max(LEAST_TELLING, log(SHARE / share) / log(SHARE / RARE))
        for word, share in listed(language).items()
        if share > RARE
    }


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
    # English words stand in all languages: "snapshot", "framework"
    if frequency > FREQUENT or listed("en").get(lower, 0.0) > frequency:
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
    words = listed(_LISTED.get(language, language))
    known = {word: share for word, share in words.items() if len(word) >= LEAST and word.isalpha()}
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
def listed(language: str) -> dict[str, float]:
    """Return the words of wordfreq's small list with their shares: each one in a million or more.

    Empty for a language without a list. The file is read here, as to import the package takes 0.2 s, and both
    are final: at place n of a list are the words of a share of 10 ** (-n / 100).
    """
    (package,) = find_spec("wordfreq").submodule_search_locations  # type: ignore[union-attr, misc]
    file = Path(package, "data", f"small_{language}.msgpack.gz")
    _, *lists = msgpack.unpackb(gzip.decompress(file.read_bytes())) if file.exists() else [None]
    return {word: 10 ** (-centibels / 100) for centibels, words in enumerate(lists) for word in words}
