"""Sizes and spans of time as people read them."""

from __future__ import annotations

RANKINGS = {
    "bm25f": "words, what links say and importance",
    "hitlists": "how large words stand, and how near each other",
    "peculiarity": "words that are rare in English",
}
UNITS = ("bytes", "kB", "MB", "GB", "TB")
SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def size(number: float) -> str:
    """ "1.5 MB"; thousands, as disks are sold."""
    unit = 0
    while number >= 1_000 and unit < len(UNITS) - 1:
        number, unit = number / 1_000, unit + 1
    return f"{number:,.0f} {UNITS[unit]}" if unit == 0 or number >= 100 else f"{number:.1f} {UNITS[unit]}"


def span(seconds: float) -> str:
    """ "0.5 s", "3 s", "2 min", "5 h", "9 d"; rounded down."""
    for length, name in SPANS:
        if seconds >= length:
            return f"{int(seconds // length):,} {name}"
    return f"{seconds:.1f} s" if 0.05 <= seconds < 0.95 else f"{seconds:.0f} s"


def ranking(name: str) -> str:
    """A ranking and what counts in it."""
    return f"{name}: {RANKINGS[name]}" if name in RANKINGS else name
