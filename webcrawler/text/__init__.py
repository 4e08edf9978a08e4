"""From text to terms, the same way for pages, queries and orderings; word frequencies and fingerprints."""

from webcrawler.text import analysis
from webcrawler.text.analysis import (
    MAX_TERM_CHARACTERS,
    MAX_TOKENS,
    is_word_character,
    terms,
    tokens,
    tokens_of,
    words,
)
from webcrawler.text.fingerprint import NEAR, distance, simhash
from webcrawler.text.reference import Reference, english, load

__all__ = [
    "MAX_TERM_CHARACTERS",
    "MAX_TOKENS",
    "NEAR",
    "Reference",
    "analysis",
    "distance",
    "english",
    "is_word_character",
    "load",
    "simhash",
    "terms",
    "tokens",
    "tokens_of",
    "words",
]
