"""Numbers that a person wrote as arguments of a mode: wrong ones are BadInput with one line."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

from webcrawler.errors import BadInput


def whole_number(name: str, text: str, least: int, most: int, bounds: str = "") -> int:
    """At least 0, at most what has a dozen digits. `bounds` says which are right, and what it is for."""
    if not (text.isdecimal() and len(text) <= 12 and least <= int(text) <= most):
        raise BadInput(f"{name}={text[:200]} is no whole number {bounds or f'from {least:,} to {most:,}'}")
    return int(text)


def number(name: str, text: str, is_right: Callable[[float], bool], bounds: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not is_right(value):
        raise BadInput(f"{name}={text[:200]} is no number {bounds}")
    return value
