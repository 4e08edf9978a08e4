"""Hit lists: where in a field a term stands, how large, and with a capital or not (GO 4.2.5).

This module encodes and decodes one at a time; `postings` decodes many at once. Beside the hits of terms, a
document has a vector: which terms say what it is about, and how often each is there.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple
from zlib import compress, decompress

from whoosh.formats import Format

from webcrawler.index.files import FACE
from webcrawler.text import (
    LEAST_COMPOUND,
    MAX_TERM_CHARACTERS,
    analysed,
    compound,
    indexed_words,
    is_word_character,
    joins_words,
    readings,
    symbols,
    telling_terms,
)

MAX_POSITIONS = 1 << 28  # of one field of one document: those that a hit has room for
ANCHOR_POSITIONS = 64  # from the start of one anchor text to that of the next
HEADING_WORDS = 7  # of a section that are known: three bits
_PLAIN = 2  # the bits of size 0 in a hit
_WIDE = b"\0"  # closes a list of four-byte hits, which so has an odd length

VECTOR_CHARACTERS = 3_000  # of the main content, from its beginning, that a vector tells of
_MOST_TIMES = 255  # occurrences that are told apart in a vector

Vector = dict[str, int]  # term -> occurrences
Span = tuple[int, int, int]  # start and end in characters, relative size -1 … 6


class PlainHit(NamedTuple):
    """One occurrence of a term."""

    position: int  # in words from the start of the field
    size: int  # -1 small, 0 plain, 1 bold or em … 6 h1
    capital: bool


class HitList(Format):  # type: ignore[misc]
    """The value of a posting: GO's plain hits of two bytes (capital 1 bit, size 3 bits, position 12 bits).

    A list with positions above 4,095 has hits of four bytes (position 28 bits); GO would store all of those
    as one position.
    """

    __module__ = FACE  # in pickles

    def decode_hits(self, value: bytes) -> list[PlainHit]:
        return [PlainHit(hit >> 4, (hit >> 1 & 7) - 1, bool(hit & 1)) for hit in _unpack(value)]

    def decode_positions(self, value: bytes) -> list[int]:
        return [hit >> 4 for hit in _unpack(value)]

    def decode_frequency(self, value: bytes) -> int:
        return len(value) // 4 if len(value) & 1 else len(value) // 2


class Field(NamedTuple):
    """A text as the index has it; hits are numbers."""

    spelled: dict[str, list[int]]
    terms: dict[str, list[int]]
    parts: dict[str, list[int]]  # of compounds, where those stand
    positions: list[int]  # of the words that begin at or behind some offsets


def hit_lists(text: str, language: str = "") -> dict[str, list[int]]:
    """Return each term's hits as numbers."""
    return field(text, language).terms


def field(text: str, language: str, spans: Sequence[Span] = (), offsets: Sequence[int] = ()) -> Field:
    """Return a text in a language, ISO 639 or "", with spans of emphasis, as the index has it."""
    edges = {offset for start, end, _ in spans for offset in (start, end)}
    signs = symbols(text)
    cut_words, index = _cut(text, sorted(edges.union(offsets, (start for start, _, _ in signs))))
    sizes = bytearray((_PLAIN,)) * len(cut_words)
    for start, end, size in spans:
        first, last = index[start], index[end]
        sizes[first:last] = bytes((_PLAIN + 2 * size,)) * (last - first)
    by_spelling = _by_spelling(cut_words, sizes)
    found = _by_term(by_spelling, language)
    for start, _, term in signs:
        if (position := index[start]) < len(sizes):
            found[term].append(position << 4 | sizes[position])
    return Field(by_spelling, found, _parts(by_spelling, language), [index[offset] for offset in offsets])


def _by_spelling(spelled: list[str], sizes: bytearray) -> dict[str, list[int]]:
    """Return the hits of each spelling, ascending, from the words of a text and the bits of their sizes."""
    by_spelling: defaultdict[str, list[int]] = defaultdict(list)
    # The innermost loop of the follower: each spelling is analysed only once for a text.
    # 16 times the position is the position in its place in the hit.
    for word, position, size in zip(spelled, count(0, 16), sizes, strict=False):
        by_spelling[word].append(position | size)
    return by_spelling


def _by_term(by_spelling: dict[str, list[int]], language: str) -> defaultdict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for (term, capital), (word, hits) in zip(
        analysed(by_spelling, language), by_spelling.items(), strict=True
    ):
        if capital:
            hits = [hit | 1 for hit in hits]
        for one in (term,) if word.isascii() else readings(word, language):
            found[one] = sorted(found[one] + hits) if one in found else hits
    return found


def _parts(by_spelling: dict[str, list[int]], language: str) -> dict[str, list[int]]:
    """Return the hits of the terms that are parts of compounds; none in most languages."""
    if not joins_words(language):
        return {}
    found: dict[str, list[int]] = {}
    for word, hits in by_spelling.items():
        for term in compound(word, language) if len(word) >= LEAST_COMPOUND else ():
            found[term] = sorted({*found[term], *hits}) if term in found else hits
    return found


def section_list(positions: Iterable[int], headings: Iterable[str]) -> bytes:
    """Return a hit list that says where sections begin, from ascending positions; b"" where there are none.

    In the place of a size they have the number of words in the heading, HEADING_WORDS at most.
    """
    lengths = (min(len(indexed_words(heading)), HEADING_WORDS) for heading in headings)
    hits = [position << 4 | length << 1 for position, length in zip(positions, lengths, strict=True)]
    return pack(hits) if hits else b""


def anchor_lists(texts: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return each term's hits as numbers, of anchor texts and how often each counts.

    Each text begins at a multiple of ANCHOR_POSITIONS and is cut at half of that, so no phrase spans two.
    """
    found: defaultdict[str, list[int]] = defaultdict(list)
    start = 0
    for text, times in texts:
        tokens = list(analysed(indexed_words(text)[: ANCHOR_POSITIONS // 2]))
        for _ in range(times):
            for position, (term, capital) in enumerate(tokens, start):
                found[term].append(position << 4 | _PLAIN | capital)
            start += ANCHOR_POSITIONS
    return found


def _cut(text: str, offsets: list[int]) -> tuple[list[str], dict[int, int]]:
    """Return the words, and how many begin before each offset; an offset in a word means the word's start."""
    found: list[str] = []
    index: dict[int, int] = {}
    start = 0
    for offset in offsets:
        edge = _word_start(text, min(max(offset, 0), len(text)), start)
        found += indexed_words(text[start:edge])
        index[offset], start = min(len(found), MAX_POSITIONS), edge
    found += indexed_words(text[start:])
    return found[:MAX_POSITIONS], index


def _word_start(text: str, offset: int, least: int) -> int:
    edge = offset
    # No further than a term is long: in a word of a megabyte nobody sees the difference.
    while edge > max(least, offset - MAX_TERM_CHARACTERS) and all(
        map(is_word_character, text[edge - 1 : edge + 1])
    ):
        edge -= 1
    return offset if offset == len(text) else edge


def pack(hits: list[int]) -> bytes:
    """Return the value of a posting, from hits as numbers."""
    wide = hits[-1] >= 65_536
    packed = array("I" if wide else "H", hits)
    if sys.byteorder != "little":
        packed.byteswap()
    return packed.tobytes() + _WIDE if wide else packed.tobytes()


def _unpack(value: bytes) -> array[int]:
    hits = array("I", value[:-1]) if len(value) & 1 else array("H", value)
    if sys.byteorder != "little":
        hits.byteswap()
    return hits


def vector(
    title: Mapping[str, Sequence[int]], body: Mapping[str, Sequence[int]], most: int, language: str
) -> Vector:
    """Return how often each term occurs in the title and the first words of a text, without function words.

    Args:
        title, body: hits of each spelling, ascending.
        most: words of the body that count.
    """
    found: Vector = {}
    for spelled, end in ((title, 1 << 32), (body, most << 4)):
        first = {word: hits for word, hits in spelled.items() if hits[0] < end}
        for term, hits in zip(telling_terms(list(first), language), first.values(), strict=True):
            if term:
                found[term] = found.get(term, 0) + bisect_left(hits, end)
    return found


def encode_vector(found: Mapping[str, int]) -> bytes:
    """Return a byte for each count, 0, and the terms, one a line; deflated to half of that."""
    counts = bytes(min(count, _MOST_TIMES) for count in found.values())
    return compress(counts + b"\0" + "\n".join(found).encode(), 3) if found else b""


def decode_vector(data: bytes) -> Vector:
    """Return what `encode_vector` was given; takes 15 µs."""
    counts, _, terms = decompress(data).partition(b"\0") if data else (b"", b"", b"")
    return dict(zip(terms.decode().split("\n"), counts, strict=False))
