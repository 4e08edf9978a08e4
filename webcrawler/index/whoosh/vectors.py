"""Which terms say what a document is about: a vector of their frequencies, stored by document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from zlib import compress, decompress

from webcrawler.text import telling_terms

MAX_CHARACTERS = 3_000  # of the main content, from its beginning
_MOST = 255  # occurrences that are told apart

Vector = dict[str, int]  # term -> occurrences


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


def encode(found: Mapping[str, int]) -> bytes:
    """Return a byte for each count, 0, and the terms, one a line; deflated to half of that."""
    counts = bytes(min(count, _MOST) for count in found.values())
    return compress(counts + b"\0" + "\n".join(found).encode(), 3) if found else b""


def decode(data: bytes) -> Vector:
    """Return what `encode` was given; takes 15 µs."""
    counts, _, terms = decompress(data).partition(b"\0") if data else (b"", b"", b"")
    return dict(zip(terms.decode().split("\n"), counts, strict=False))
