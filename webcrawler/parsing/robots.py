"""What does a page ask of robots, in meta elements and X-Robots-Tag headers? And how are dates written?"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from webcrawler import clock

EARLIEST = 662_688_000.0  # 1991: before, there was no web
AHEAD_SECONDS = 86_400.0  # a local time without its zone, and clocks that are fast

# W3C Date and Time Formats, as sitemaps.org asks for; also without a zone, or with a space for the T.
_W3C = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?([Zz]|[+-]\d\d:?\d\d)?)?)?)?"
)


def moment(text: str, now: float) -> float:
    """Return a W3C date, or one of RFC 822 as RSS has them, in seconds; 0 for nonsense.

    Nonsense is what cannot be read, lies in the future, or before the web. A day alone stands for its
    beginning; without a zone, a time is UTC.
    """
    text = " ".join(text.split())
    try:
        if found := _W3C.fullmatch(text):
            year, month, day, time, zone = found.groups()
            iso = f"{year}-{month or '01'}-{day or '01'}T{time or '00:00'}{(zone or 'Z').upper()}"
            date = datetime.fromisoformat(iso)
        else:
            date = parsedate_to_datetime(text)
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return seconds if EARLIEST <= seconds <= now + AHEAD_SECONDS else 0.0


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
