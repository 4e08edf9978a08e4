"""The query language: from what a person typed to a tree that a page satisfies or not.

    molecular biology           some or all of the words
    +genome -yeast              required, excluded
    "double helix" "a b c"~5    next to each other · within five words of each other, in any order
    dna~5 repair                the word and the next one within five words
    (cat OR dog) AND NOT fish   OR, AND, NOT, parentheses
    title:dna  genom*           in the title · words that begin so
    site:example.org  link:URL  on that host or below it · pages that link there
    changed:7d                  within seven days; changed:>2026-11-01, changed:2026-11-01..2026-11-20
    after:2026-11-01            from that day on; before:2026-12, before:2027
    lang:de                     in German
    is:uncrawled                never fetched: found by what links say

Any text is a query: `parse` never raises, takes linear time, and says in notes what it left out. Signs,
quotes, parentheses and fields that make no sense are read as plain words.
"""

from webcrawler.text.query import nodes
from webcrawler.text.query.grammar import MAX_WORDS, Query, expanded, parse
from webcrawler.text.query.words import MAX_CHARACTERS, QueryTerm, other_reading

__all__ = [
    "MAX_CHARACTERS",
    "MAX_WORDS",
    "Query",
    "QueryTerm",
    "expanded",
    "nodes",
    "other_reading",
    "parse",
]
