"""From text to terms, the same way for pages, queries and orderings; word frequencies and fingerprints."""

from webcrawler.text import analysis, content
from webcrawler.text.analysis import (
    MAX_TERM_CHARACTERS,
    MAX_TOKENS,
    analysed,
    has_stemmer,
    indexed_words,
    is_unspaced,
    is_word_character,
    lower_case,
    symbols,
    terms,
    tokens,
    tokens_of,
    words,
)
from webcrawler.text.fingerprint import NEAR, distance, simhash
from webcrawler.text.function_words import telling_terms
from webcrawler.text.lexicon import Lexicon, parts
from webcrawler.text.reference import Reference, english, general, load

__all__ = [
    "MAX_TERM_CHARACTERS",
    "MAX_TOKENS",
    "NEAR",
    "Lexicon",
    "Reference",
    "analysed",
    "analysis",
    "content",
    "distance",
    "english",
    "general",
    "has_stemmer",
    "indexed_words",
    "is_unspaced",
    "is_word_character",
    "load",
    "lower_case",
    "parts",
    "simhash",
    "symbols",
    "telling_terms",
    "terms",
    "tokens",
    "tokens_of",
    "words",
]
