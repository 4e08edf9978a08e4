"""From text to terms, the same way for pages, queries and orderings; word frequencies and fingerprints."""

from webcrawler.text import analysis, content
from webcrawler.text.analysis import (
    MAX_TERM_CHARACTERS,
    analysed,
    indexed_words,
    is_word_character,
    lower_case,
    readings,
    symbols,
    terms,
    tokens,
    tokens_of,
    unaccented,
    words,
)
from webcrawler.text.content import NEAR, distance, simhash
from webcrawler.text.lexicon import (
    LEAST_COMPOUND,
    Lexicon,
    compound,
    joins_words,
    listed,
    parts,
    telling_terms,
)
from webcrawler.text.reference import Reference, english, general, overlapping

__all__ = [
    "LEAST_COMPOUND",
    "MAX_TERM_CHARACTERS",
    "NEAR",
    "Lexicon",
    "Reference",
    "analysed",
    "analysis",
    "compound",
    "content",
    "distance",
    "english",
    "general",
    "indexed_words",
    "is_word_character",
    "joins_words",
    "listed",
    "lower_case",
    "overlapping",
    "parts",
    "readings",
    "simhash",
    "symbols",
    "telling_terms",
    "terms",
    "tokens",
    "tokens_of",
    "unaccented",
    "words",
]
