"""What does a page ask of robots, in meta elements and X-Robots-Tag headers?"""

from __future__ import annotations

import re

from webcrawler import clock
from webcrawler.parsing.dates import AHEAD_SECONDS, moment

_TOKEN = re.compile(
    r"""unavailable_after\s*:\s*(?P<date>(?:[a-z]+,)?[^,;]+)  # as "Fri, 25 Jun 2032 15:00:00 GMT"
    | max-[\w-]+\s*:\s*[^\s,;]*
    | (?P<robot>\d*[a-z*][^\s,;:]*)\s*:  # whom the rest is for, as "360spider" or "owlbot/1.0"
    | (?P<word>[^\s,;]+)
    """,
    re.VERBOSE,
)


def directives(value: str, robot: str) -> set[str]:
    """Return the words that are for all robots or for this one, lower case.

    "noindex" is one of them once the date of an `unavailable_after` has passed.

    Args:
        robot: its name, lower case.
    """
    words: set[str] = set()
    is_ours = True
    for found in _TOKEN.finditer(value.lower()):
        date, name, word = found.group("date", "robot", "word")
        if name:
            is_ours = name.partition("/")[0] in (robot, "*")
        elif is_ours and date:
            has_passed = moment(date, clock.now() - AHEAD_SECONDS) > 0
            words.update(date.split(), ["noindex"] if has_passed else [])
        elif is_ours and word:
            words.add(word)
    return words
