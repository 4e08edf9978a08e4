"""From text to terms, the same way for documents, queries and the reference domain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from unicodedata import normalize

import Stemmer

MAX_TERM_CHARACTERS = 40
MAX_TOKENS = 100_000  # of one text; the rest is not indexed

# \w leaves out the combining accents that decomposed text has; an apostrophe counts only inside a word.
_WORD = re.compile(r"[\w\u0300-\u036f]+(?:['’][\w\u0300-\u036f]+)*")


def terms(text: str) -> list[str]:
    """Return the terms of a text in their order, without stop words.

    Weakness: scripts that write without spaces (Chinese, Japanese, Thai) give one term a run of letters.
    """
    return [term for term, _ in tokens(text) if term]


def tokens(text: str) -> list[tuple[str, int]]:
    """Return (term, 1 where the word began with a capital) by position; a stop word is "" in its place."""
    return list(tokens_of(words(text)))


def tokens_of(spelled: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Do the same as `tokens` for words that have been split already."""
    return map(_token, spelled)


def words(text: str) -> list[str]:
    """Return the words of a text as they are spelled, at most MAX_TOKENS, each cut at MAX_TERM_CHARACTERS."""
    found = _WORD.findall(text.replace("_", " "))[:MAX_TOKENS]
    if max(map(len, found), default=0) > MAX_TERM_CHARACTERS:
        found = [word[:MAX_TERM_CHARACTERS] for word in found]
    return found


def is_word_character(character: str) -> bool:
    """Tell whether a word could go on with this character."""
    return character.isalnum() or "\u0300" <= character <= "\u036f" or character in "'’"


def lower_case(text: str) -> str:
    """Return the text as words are compared: lower case, compatibility forms and apostrophes made one."""
    return normalize("NFKC", text.lower()).replace("’", "'")


@lru_cache(maxsize=200_000)
def _token(word: str) -> tuple[str, int]:
    lower = lower_case(word)
    if lower in _stop_words():
        return "", 0
    # Porter2 may leave nothing of a word that is all suffix.
    return _stemmer().stemWord(lower)[:MAX_TERM_CHARACTERS] or lower, int(word[0].isupper())


@cache
def _stop_words() -> frozenset[str]:
    lines = files(__package__).joinpath("stopwords.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def _stemmer() -> Stemmer.Stemmer:
    # Its own cache is off: ours holds the whole way from word to term, and stays safe between threads.
    return Stemmer.Stemmer("english", 0)
