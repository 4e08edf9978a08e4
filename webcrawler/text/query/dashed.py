"""Words with a dash before them: options of programs, such as -Wall, or what a page must not have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Dashed(NamedTuple):
    spelled: str  # with its dash
    is_option: bool  # how it was read: the collection holds it as one; else pages with the word are left out


def other_reading(text: str, dashed: Iterable[Dashed]) -> str:
    """Return the query with options as words to leave out, and words to leave out as options.

    "" where there are none.
    """
    other = text
    for spelled, is_option in dict.fromkeys(dashed):
        place = re.compile(rf"(?<![^\s(]){re.escape(spelled)}(?![^\s()])")
        instead = f"NOT {spelled[1:]}" if is_option else f'"{spelled}"'
        other = place.sub(instead.replace("\\", r"\\"), other)
    return other if other != text else ""
