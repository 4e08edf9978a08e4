"""Millions of whole numbers out of a text, in arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import BadInput

DIGITS_MAX = 18  # fit 64 bits
AT_ONCE = 2**24  # bytes: the arrays of one step take ten times as much
BLANK = 32  # and below: blanks, tabs, line ends


def numbers(text: bytes, file: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All numbers in the text, and how many stand in each of its lines; the last line may be unfinished.

    Raises:
        BadInput: there is something else in it; the message names the line.
    """
    values, counts, line = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 1
    for part in _whole_lines(text):
        found, in_lines = _numbers(np.frombuffer(part, np.uint8), part, file, line)
        values.append(found)
        counts.append(in_lines)
        line += len(in_lines)
    return np.concatenate(values), np.concatenate(counts)


def _whole_lines(text: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + AT_ONCE) + 1 or len(text)
        yield text[start:end]
        start = end


def _numbers(
    characters: NDArray[np.uint8], text: bytes, file: Path, line: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    within = characters > BLANK
    starts = np.flatnonzero(within & ~np.concatenate(([False], within[:-1])))
    ends = np.flatnonzero(within & ~np.concatenate((within[1:], [False])))
    wrong = np.flatnonzero(within & ((characters < ord("0")) | (characters > ord("9"))))
    too_long = starts[ends - starts >= DIGITS_MAX]
    if wrong.size or too_long.size:
        raise BadInput(_complaint(text, int(min([*wrong[:1], *too_long[:1]])), file, line))
    newlines = np.flatnonzero(characters == ord("\n"))
    if not text.endswith(b"\n"):
        newlines = np.append(newlines, len(text))
    counts = np.diff(np.searchsorted(starts, newlines), prepend=0)
    return np.fromstring(text, np.int64, sep=" ") if starts.size else np.empty(0, np.int64), counts


def _complaint(text: bytes, at: int, file: Path, line: int) -> str:
    line += text.count(b"\n", 0, at)
    before = re.split(rb"\s", text[max(0, at - 40) : at])[-1]
    word = (before + re.split(rb"\s", text[at : at + 40])[0]).decode("utf-8", "replace")
    return f"{file}, line {line}: {word!r} is no page number; they are 0, 1, 2, …"
