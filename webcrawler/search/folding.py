"""Hits that nearly repeat one another: the first is shown, the others are counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Ranked(NamedTuple):
    """A document that answers the query."""

    document: int
    number: int  # its page number
    repeats: int  # the page number of the older document that it nearly repeats, else its own


def fold(ranked: Iterable[Ranked], limit: int) -> dict[int, int]:
    """The documents to show, at most `limit`, best first, each with how many are folded into it.

    A document is folded into one that it nearly repeats, or that nearly repeats it, or the same third one.
    To be near to something folded is not enough: after a few steps those may have nothing in common.
    Reads as far as the first document that has no place: what is folded ranks before that one.
    """
    folded: dict[int, int] = {}
    shown: dict[int, int] = {}  # page number -> the document shown for it
    for document, number, repeats in ranked:
        first = shown.get(number, shown.get(repeats))
        if first is not None:
            folded[first] += 1
        elif len(folded) == limit:
            break
        else:
            folded[document] = 0
            shown[number] = shown[repeats] = document
    return folded
